//! The command line as a whole: its subcommands, and what every command takes. It accepts both `cargo-weft X` and the form
//! in which cargo starts it, `cargo-weft weft X`.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use weft_harness::similar;

use super::check::{CheckArgs, List, ReportArgs, Test, TestOptions};
use super::environment;
use super::kernels::given;
use super::repair::{Mutate, Repair};
use super::selection::Selection;
use super::tools::{Completions, Dump, Explain, GraphArgs, Init, Man, RecordArgs};
use crate::options::Color;
use crate::settings::CommandSettings;

#[derive(Debug, Parser)]
#[command(name = "cargo-weft", bin_name = "cargo weft", version, about, styles = clap_cargo::style::CLAP_STYLING)]
#[command(
    after_help = "Exit codes: 0 clean, 100 a defect, 102 open questions only, 101 something could not be checked, \
                        2 a wrong command line, 4 nothing to check, or no package or kernel that is named."
)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    test: TestOptions,
    /// Only kernels and launches whose name contains one of these texts, as for `test`
    #[arg(last = true, value_name = "KERNEL")]
    filters: Vec<String>,
    #[command(flatten)]
    output: OutputArgs,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Build the selected packages and check their kernels (the default)
    Test(Test),
    /// Check PTX files, without cargo
    Check(CheckArgs),
    /// Weaken the synchronization of clean kernels in one place at a time, to find what they do not need
    Mutate(Mutate),
    /// Find the cheapest barriers that make racing kernels clean
    Repair(Repair),
    /// Run a program without a GPU and keep the launches that it makes
    Record(RecordArgs),
    /// Write a first weft.toml and a test for the kernels of a package
    Init(Init),
    /// Say what of the selected packages is checked and what is not seen
    Doctor(Selection),
    /// Check, and write the results as an HTML page
    Report(ReportArgs),
    /// Draw the synchronization of a kernel, and the accesses of a race, as a picture
    Graph(GraphArgs),
    /// List the kernels and launches that `test` would check
    List(List),
    /// Accept the findings that the selected packages have now, in a `weft-baseline.toml` beside each `Cargo.toml`
    Baseline(Selection),
    /// Explain what a finding code means and what to do about it
    Explain(Explain),
    /// Print completions of this command line for a shell
    Completions(Completions),
    /// Print the manual page of this command line, or write one for each command
    Man(Man),
    /// Print what the checker works with
    #[command(subcommand)]
    Dump(Dump),
}

/// Arguments that every command takes.
#[derive(Clone, Debug, Args)]
pub(crate) struct OutputArgs {
    /// Print more: assumptions and allowed findings of each kernel
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Print less: only what is not clean
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// When to use colours
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t)]
    pub(crate) color: Color,
}

/// Parses the command line. On a wrong command line or a request for help it ends the process.
pub(crate) fn parse(words: impl Iterator<Item = OsString>) -> (Command, OutputArgs) {
    parsed(&plain(words.collect())).unwrap_or_else(|error| error.exit())
}

fn parsed(words: &[OsString]) -> Result<(Command, OutputArgs), clap::Error> {
    let conflict = |message: &str| Arguments::command().error(ErrorKind::ArgumentConflict, message);
    let matches = environment::without_empty(Arguments::command())
        .try_get_matches_from(words)
        .map_err(|error| no_command(&error, words).unwrap_or(error))
        .map_err(|error| launch_option(&error).unwrap_or(error))
        .map_err(|error| environment::named(error, &Arguments::command()))?;
    let Arguments { command, test, filters, output } = Arguments::from_arg_matches(&matches)?;
    let Some((_, own)) = matches.subcommand() else {
        return Ok((command.unwrap_or(Command::Test(Test { filters, options: test })), output));
    };
    if given(&Arguments::command(), &matches) {
        return Err(conflict(
            "write the options of `test` after the subcommand: `cargo weft test -p NAME`",
        ));
    }
    let targets = match &command {
        Some(Command::Mutate(own)) => Some(&own.targets),
        Some(Command::Repair(own)) => Some(&own.targets),
        Some(Command::Report(own)) => Some(&own.targets),
        Some(Command::Graph(own)) => Some(&own.targets),
        _ => None,
    };
    match targets.and_then(|targets| targets.conflict(own)) {
        Some(message) => Err(conflict(message)),
        None => Ok((command.unwrap_or(Command::Test(Test { filters, options: test })), output)),
    }
}

/// Returns the whole command line as clap knows it.
pub(super) fn definition() -> clap::Command {
    Arguments::command()
}

/// Returns the error for a word where a subcommand is expected; `None` if that is not what `error` is about. It is no filter:
/// a misspelt subcommand would otherwise check those kernels that happen to be named so.
fn no_command(error: &clap::Error, words: &[OsString]) -> Option<clap::Error> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
    let command = Arguments::command();
    let commands = || command.get_subcommands().map(clap::Command::get_name);
    let has_command = commands().any(|name| words.iter().skip(1).any(|own| own == name));
    if error.kind() != ErrorKind::UnknownArgument || word.starts_with('-') || has_command {
        return None;
    }
    let question = similar::question(word, commands());
    let message = format!(
        "there is no command `{word}`; {question}to check the kernels whose names contain `{word}`, write `cargo weft test {word}`"
    );
    Some(Arguments::command().error(ErrorKind::InvalidSubcommand, message))
}

/// Returns the error for an option that states a launch, for a command that takes none; `None` if that is not what `error` is
/// about. The options that are spelled alike, which clap proposes, mean something else.
fn launch_option(error: &clap::Error) -> Option<clap::Error> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
    let settings = CommandSettings::augment_args(clap::Command::default());
    let is_it =
        |arg: &clap::Arg| arg.get_long().is_some_and(|long| word.strip_prefix("--") == Some(long));
    if error.kind() != ErrorKind::UnknownArgument || !settings.get_arguments().any(is_it) {
        return None;
    }
    let message = format!(
        "`{word}` states a launch: state it in weft.toml for the kernels of packages; `cargo weft check FILE.ptx` takes it for \
         files"
    );
    Some(Arguments::command().error(ErrorKind::UnknownArgument, message))
}

/// Removes the word `weft` that cargo adds: `cargo weft X` starts `cargo-weft weft X`.
fn plain(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_some_and(|word| word == "weft") {
        words.remove(1);
    }
    words
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;
    use crate::options::{Format, ListFormat, MessageFormat};

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_word_that_cargo_adds_is_dropped_once() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(plain(words("cargo-weft weft list")), words("cargo-weft list"));
        assert_eq!(plain(words("cargo-weft list")), words("cargo-weft list"));
        assert_eq!(plain(words("cargo-weft")), words("cargo-weft"));
    }

    #[test]
    fn formats_have_the_documented_names() {
        fn names<F: ValueEnum>() -> Vec<String> {
            let value = |format: &F| Some(format.to_possible_value()?.get_name().to_owned());
            F::value_variants().iter().filter_map(value).collect()
        }
        let all = ["human", "short", "json", "sarif", "junit", "github", "rustc"];
        assert_eq!(names::<MessageFormat>(), all);
        assert_eq!(names::<Format>(), ["human", "short", "json"]);
        assert_eq!(names::<ListFormat>(), ["human", "json"]);
    }
}
