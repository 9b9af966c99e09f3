//! The options of the output: format, verbosity, colour.

use clap::ValueEnum;

/// How `test` and `check` print what they find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum MessageFormat {
    /// With excerpts of source and PTX
    #[default]
    Human,
    /// One line for each finding
    Short,
    /// One JSON object for each kernel and launch
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// JUnit XML, for test reports: a case for each kernel, launch and check
    Junit,
    /// Annotations of GitHub Actions, and a table in the summary of the job
    Github,
    /// The messages of a compiler as cargo prints them in JSON, for editors
    Rustc,
}

/// How `list` prints kernels and launches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// One line for each kernel and launch
    #[default]
    Human,
    /// One JSON object for each kernel and launch
    Json,
}

/// How the other commands print what they find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// With excerpts of source and PTX
    #[default]
    Human,
    /// One line for each finding
    Short,
    /// One JSON object for each kernel and launch
    Json,
}

/// How much is printed about clean kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// Nothing.
    Quiet,
    /// A line for each kernel, and the assumptions of all of them.
    Normal,
    /// The full reports.
    Verbose,
}

/// When to use colour, in cargo's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// If the terminal supports it
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// Returns the word in the form that cargo takes.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        }
    }
}

impl From<Color> for anstream::ColorChoice {
    fn from(color: Color) -> Self {
        match color {
            Color::Auto => Self::Auto,
            Color::Always => Self::Always,
            Color::Never => Self::Never,
        }
    }
}
