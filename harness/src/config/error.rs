//! What can be wrong with a configuration, where, and what to write instead.

use std::fmt;
use std::path::PathBuf;

use weft_core::launch::Misfit;

/// A place in a configuration file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file as it was named by the caller.
    pub path: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display().to_string();
        write!(f, "{}:{}:{}", weft_core::report::escape(&path), self.line, self.column)
    }
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Two places hold the configuration of one package.
    #[error("{}: `[package.metadata.weft]` of {} holds a configuration too; keep one of the two", file.display(), manifest.display())]
    Both {
        /// The `weft.toml`.
        file: PathBuf,
        /// The `Cargo.toml`.
        manifest: PathBuf,
    },
    /// Something in it is wrong.
    #[error("{place}: {problem}")]
    At {
        /// Where.
        place: Place,
        /// What, and what to write instead.
        problem: Problem,
    },
}

/// What is wrong at a place of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Not TOML; the text is the TOML reader's own.
    #[error("{0}")]
    Syntax(String),
    /// Not text in UTF-8.
    #[error("the file is not UTF-8; save it as such")]
    Encoding,
    /// A character that TOML has no place for.
    #[error("a control character, U+{:04X}; remove it", u32::from(*.0))]
    Control(char),
    /// A key that does not exist here.
    #[error("unknown key `{key}`; the keys here are {known}")]
    UnknownKey {
        /// As written.
        key: String,
        /// The keys that exist.
        known: String,
    },
    /// A key that is required.
    #[error("`{key}` is missing: {expected}")]
    Missing {
        /// The key.
        key: &'static str,
        /// What it holds.
        expected: &'static str,
    },
    /// A value of the wrong type or form.
    #[error("`{key}` takes {expected}, not {found}")]
    Value {
        /// The key.
        key: String,
        /// What would be right.
        expected: &'static str,
        /// What was written.
        found: String,
    },
    /// A block size that no device takes.
    #[error("a block of {0} threads: `block` takes 1 to 1024 threads, such as `256` or `[16, 16]`")]
    Block(u64),
    /// A block or grid that no device takes in one dimension.
    #[error(
        "a {key} of {misfit}: `block` takes at most [1024, 1024, 64], `grid` at most [2147483647, 65535, 65535]"
    )]
    Extent {
        /// `block` or `grid`.
        key: &'static str,
        /// What is too large.
        misfit: Misfit,
    },
    /// More ctas than are numbered.
    #[error("a grid of {0} ctas: at most 4294967295 are numbered; check a smaller grid")]
    Grid(u64),
    /// A number that does not fit its buffer element.
    #[error("{value} does not fit {element}")]
    Element {
        /// As written.
        value: String,
        /// The element type.
        element: &'static str,
    },
    /// A regular expression that is none; the text is the regex reader's own.
    #[error("`name` is not a regular expression: {0}")]
    Regex(String),
    /// A file pattern without files.
    #[error("`{pattern}` matches no file under {}; correct or remove it", dir.display())]
    NoFile {
        /// The pattern.
        pattern: String,
        /// The package's directory.
        dir: PathBuf,
    },
    /// A file pattern that is none.
    #[error("not a file pattern: {0}")]
    Glob(&'static str),
    /// A code that does not exist.
    #[error("there is no code `{code}`; the codes are {known}")]
    Code {
        /// As written.
        code: String,
        /// All codes.
        known: String,
    },
    /// Two launches with one label.
    #[error(
        "the label `{label}` is taken by the launch in line {line}; labels name test cases and must differ"
    )]
    DuplicateLabel {
        /// The label.
        label: String,
        /// Where it was used before.
        line: usize,
    },
    /// Settings of one kernel where those of all are stated.
    #[error("`{0}` belongs to a `[[kernel]]`, since it fits one kernel's parameters or findings")]
    KernelOnly(String),
}
