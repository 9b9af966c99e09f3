//! The only place that writes: results to standard output, errors to standard error.
//!
//! A closed standard output (`| head`) is no error: the remaining output is dropped, and the exit code still gives the
//! verdict.

use std::error::Error;
use std::io::{self, IsTerminal as _, Write};

use anstyle::Style;
use clap_cargo::style;
use indicatif::{ProgressBar, ProgressStyle};
use weft_core::report::escape;
use weft_harness::case::Standing;

use crate::arguments::OutputArgs;
use crate::options::{Color, Verbosity};
use crate::parallel::RunWait;

/// Writes to standard output and standard error with the chosen colour and verbosity.
#[derive(Debug)]
pub(crate) struct Printer {
    /// The colour option as given on the command line, to be passed on to cargo.
    pub(crate) color: Color,
    /// Whether renderers colour their text.
    pub(crate) styled: bool,
    /// How much is printed about clean kernels.
    pub(crate) verbosity: Verbosity,
    closed: bool,
    /// The line that says how the run stands, while there is one: at the bottom of a terminal, on standard error.
    progress: Option<ProgressBar>,
}

/// Where standard error is no terminal, an item that keeps others waiting so many seconds is named once.
const PATIENCE: u32 = 5;

impl Printer {
    /// Creates the printer and sets the use of colour for the whole process.
    pub(crate) fn new(output: &OutputArgs) -> Self {
        anstream::ColorChoice::from(output.color).write_global();
        let styled = anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
        let verbosity = match (output.quiet, output.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Normal,
        };
        Self { color: output.color, styled, verbosity, closed: false, progress: None }
    }

    /// Writes `text` and a line break.
    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        self.text(&format!("{text}\n"))
    }

    /// Writes `text` as it is.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        self.clear();
        let mut out = anstream::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            result => result,
        }
    }

    /// Writes an error with its causes to standard error.
    pub(crate) fn failure(&mut self, failure: &dyn Error) {
        self.complain(&failure.to_string(), failure.source());
    }

    /// Writes an error that concerns `subject` to standard error.
    pub(crate) fn error(&mut self, subject: &str, error: &dyn Error) {
        self.complain(&format!("{subject}: {error}"), error.source());
    }

    /// Writes a warning, which changes no verdict, to standard error; nothing with `--quiet`.
    pub(crate) fn warning(&mut self, warning: &dyn Error) {
        if self.verbosity != Verbosity::Quiet {
            self.tell(&painted("warning", style::WARN), &warning.to_string(), warning.source());
        }
    }

    /// Writes what is worth knowing, which changes no verdict, to standard error; nothing with `--quiet`.
    pub(crate) fn note(&mut self, message: &str) {
        if self.verbosity != Verbosity::Quiet {
            self.tell("note", message, None);
        }
    }

    /// Writes what a reader of the verdicts must know to standard error, also with `--quiet`.
    pub(crate) fn notice(&mut self, message: &str) {
        self.tell("note", message, None);
    }

    /// Says how a run stands while it waits for an item: on a terminal in a line that the next output replaces, elsewhere
    /// in a note if the item keeps others waiting for long. `doing`: what is done with `subject`, such as "checking".
    pub(crate) fn waiting(&mut self, doing: &str, subject: &str, wait: RunWait) {
        let RunWait { seconds, behind, done, all } = wait;
        if self.verbosity == Verbosity::Quiet {
            return;
        }
        if io::stderr().is_terminal() {
            let text = format!("{done} of {all} done; {doing} {} ({seconds} s)", safe(subject));
            let bar = self.progress.get_or_insert_with(|| {
                let style = ProgressStyle::with_template("{wide_msg}");
                let bar = ProgressBar::new_spinner();
                style.map(|style| bar.clone().with_style(style)).unwrap_or(bar)
            });
            bar.set_message(text);
            bar.tick();
        } else if seconds == PATIENCE && behind > 0 {
            let items =
                if behind == 1 { "1 behind it is" } else { &format!("{behind} behind it are") };
            self.note(&format!("still {doing} {subject}; {items} done"));
        }
    }

    fn clear(&mut self) {
        if let Some(bar) = self.progress.take() {
            bar.finish_and_clear();
        }
    }

    fn complain(&mut self, message: &str, cause: Option<&(dyn Error + 'static)>) {
        self.tell(&painted("error", style::ERROR), message, cause);
    }

    /// If standard error cannot be written either, only the exit code remains.
    fn tell(&mut self, word: &str, message: &str, cause: Option<&(dyn Error + 'static)>) {
        self.clear();
        let text = with_causes(format!("{word}: {}", safe(message)), cause) + "\n";
        let _ = anstream::stderr().lock().write_all(text.as_bytes());
    }
}

/// Returns the message of an error with its causes, each on a line.
pub(crate) fn message(error: &dyn Error) -> String {
    with_causes(safe(&error.to_string()), error.source())
}

fn with_causes(message: String, mut cause: Option<&(dyn Error + 'static)>) -> String {
    let mut lines = vec![message];
    while let Some(error) = cause {
        let text = safe(&error.to_string());
        // Some errors already contain the text of their cause.
        if lines.iter().all(|line| !line.contains(&text)) {
            lines.push(format!("  because {text}"));
        }
        cause = error.source();
    }
    lines.join("\n")
}

/// Escapes control characters in a message line by line: the message can contain text from an untrusted file.
fn safe(message: &str) -> String {
    message.lines().map(escape).collect::<Vec<_>>().join("\n")
}

/// Returns the coloured word for a standing in front of a kernel's name, seven columns wide.
pub(crate) fn standing(standing: Standing) -> String {
    match standing {
        Standing::Clean => painted("clean  ", style::GOOD),
        Standing::Allowed => painted("allowed", style::WARN),
        Standing::Skipped => painted("skipped", style::WARN),
        Standing::Open => painted("open   ", style::WARN),
        Standing::Defect => painted("DEFECT ", style::ERROR),
        Standing::Unchecked => painted("ERROR  ", style::ERROR),
    }
}

/// Returns the coloured word for what came of a repair, in front of a kernel's name.
pub(crate) fn repair_word(word: &str) -> String {
    let style = match word.trim() {
        "clean" | "mended" => style::GOOD,
        "refused" => style::WARN,
        _ => style::ERROR,
    };
    painted(word, style)
}

/// Returns what an error begins with, coloured.
pub(crate) fn error_head(head: &str) -> String {
    painted(head, style::ERROR)
}

fn painted(word: &str, style: Style) -> String {
    format!("{style}{word}{style:#}")
}

/// Breaks `text` at spaces into lines of at most `width` characters, as far as its words permit.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        if lines[last].is_empty() {
            lines[last].push_str(word);
        } else if lines[last].chars().count() + 1 + word.chars().count() <= width {
            lines[last].push(' ');
            lines[last].push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn lines_break_at_spaces_only() {
        assert_eq!(wrap("a bb ccc", 4), ["a bb", "ccc"]);
        assert_eq!(wrap("unbreakable a", 4), ["unbreakable", "a"]);
    }
}
