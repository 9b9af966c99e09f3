//! The command line: its subcommands and flags. It accepts both `cargo-weft X` and the form in which cargo starts it,
//! `cargo-weft weft X`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};
use regex::Regex;
use weft_core::finding::Code;

use crate::options::{Color, Format, ListFormat, MessageFormat};
use crate::settings::CommandSettings;
use crate::solver::{Solver, SolverError};

#[derive(Debug, Parser)]
#[command(name = "cargo-weft", bin_name = "cargo weft", version, about, styles = clap_cargo::style::CLAP_STYLING)]
#[command(
    after_help = "Exit codes: 0 clean, 100 a defect, 102 open questions only, 101 something could not be checked, \
                        2 usage, 4 nothing to check."
)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    test: Test,
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
    /// Print what the checker works with
    #[command(subcommand)]
    Dump(Dump),
}

/// Arguments of `cargo weft test`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct Test {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Check every kernel anew, and neither read nor write kept verdicts
    #[arg(long)]
    pub(crate) no_cache: bool,
    #[command(flatten)]
    pub(crate) solver: SolverArgs,
    /// How to print what was found
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) message_format: MessageFormat,
}

/// Arguments of `cargo weft init`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Builds the selected packages, checks their kernels without a configuration, and writes weft.toml, tests/weft.rs \
                  and the entries of Cargo.toml that the test needs. A file that is there already is left as it is."
)]
pub(crate) struct Init {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Write weft.toml only, nothing for `cargo test`
    #[arg(long)]
    pub(crate) config_only: bool,
    /// Print what would be written, and write nothing
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
}

/// Which packages are selected, and how cargo builds them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct Selection {
    #[command(flatten)]
    pub(crate) manifest: clap_cargo::Manifest,
    #[command(flatten)]
    pub(crate) workspace: clap_cargo::Workspace,
    #[command(flatten)]
    pub(crate) features: clap_cargo::Features,
    #[command(flatten)]
    pub(crate) resolution: Resolution,
}

/// Cargo's flags on the lock file and the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct Resolution {
    /// Assert that Cargo.lock stays unchanged
    #[arg(long)]
    locked: bool,
    /// Run without accessing the network
    #[arg(long)]
    offline: bool,
    /// Both --locked and --offline
    #[arg(long)]
    frozen: bool,
}

impl Resolution {
    /// Returns the flags in the form that cargo takes.
    pub(crate) fn flags(self) -> Vec<String> {
        [("--locked", self.locked), ("--offline", self.offline), ("--frozen", self.frozen)]
            .into_iter()
            .filter(|(_, given)| *given)
            .map(|(flag, _)| flag.to_owned())
            .collect()
    }
}

/// Arguments of `cargo weft check`.
#[derive(Clone, Debug, Args)]
pub(crate) struct CheckArgs {
    /// PTX files
    #[arg(required = true, value_name = "FILE.ptx")]
    pub(crate) files: Vec<PathBuf>,
    /// Only kernels whose mangled or demangled name matches
    #[arg(long, value_name = "REGEX")]
    pub(crate) kernel: Option<Regex>,
    #[command(flatten)]
    pub(crate) settings: CommandSettings,
    /// Launches and settings; flags on the command line override them
    #[arg(long, value_name = "weft.toml")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) solver: SolverArgs,
    /// How to print what was found
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) message_format: MessageFormat,
}

/// Which other program is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct SolverArgs {
    /// An SMT solver, asked about races that are neither proved nor refuted: `z3`, `cvc5` or another program,
    /// with its options; it is given the path of an SMT-LIB script
    #[arg(long, value_name = "COMMAND")]
    solver: Option<String>,
}

impl SolverArgs {
    /// Returns the solver that is named, if there is one and it answers.
    pub(crate) fn solver(&self) -> Result<Option<Solver>, SolverError> {
        self.solver.as_deref().map(Solver::of_command).transpose()
    }
}

/// Arguments of `cargo weft mutate`. The kernels are those of `test`, or those of `check` if files are named.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Deletes each barrier, warp barrier and arrival of a clean kernel, weakens it, makes each atomic a load \
                  and a store, and checks again. What is clean even so is advice: the kernel does not need it for this \
                  launch.\n\nExit codes: those of `test` for the kernels as they stand; advice changes none. 101 also if \
                  a mutant could not be checked."
)]
pub(crate) struct Mutate {
    #[command(flatten)]
    pub(crate) targets: KernelArgs,
    /// How to print the advice
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) message_format: Format,
}

/// Arguments of `cargo weft repair`. The kernels are those of `test`, or those of `check` if files are named.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Inserts the cheapest barriers that make a racing kernel clean for all its launches, each placement checked. \
                  Nothing is changed without --write or -o.\n\nExit codes: 0 if every kernel is clean or mended, 100 if barriers \
                  do not mend a kernel with a defect, 102 if they do not mend one with open questions, 101 if something could \
                  not be checked. With --write, a kernel whose source is left as it is counts as not mended."
)]
pub(crate) struct Repair {
    #[command(flatten)]
    pub(crate) targets: KernelArgs,
    /// Find the cheapest barriers of clean kernels instead, those that they have included
    #[arg(long, conflicts_with_all = ["write", "output"])]
    pub(crate) minimize: bool,
    /// Change the source files
    #[arg(long)]
    pub(crate) write: bool,
    /// Change them even if git has uncommitted changes, or if there is no git
    #[arg(long, requires = "write")]
    pub(crate) allow_dirty: bool,
    /// Write the changed PTX to this file, if the kernels are of one file
    #[arg(short, long, value_name = "FILE.ptx")]
    pub(crate) output: Option<PathBuf>,
    /// The factor of a barrier's cost for each loop around it
    #[arg(long, value_name = "FACTOR", default_value = "100", value_parser = factor)]
    pub(crate) loop_cost: f64,
    /// The factor of a barrier's cost for each condition around it
    #[arg(long, value_name = "FACTOR", default_value = "0.5", value_parser = factor)]
    pub(crate) if_cost: f64,
    /// The most placements to check for a kernel
    #[arg(long, value_name = "NUMBER", default_value_t = 200)]
    pub(crate) checks: usize,
    /// How to print the changes
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) message_format: Format,
}

/// Arguments of `cargo weft graph`. The kernels are those of `test`, or those of `check` if files are named.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Draws the warps of a cta as lanes, time downwards: generations of barriers as bars, arrivals that do not \
                  wait as arrows, and of a race the two accesses that no barrier orders. Name one kernel with --kernel.\n\n\
                  Exit codes: 0 if the picture was drawn, whatever the verdict, 101 if the kernel could not be checked, 2 if \
                  several kernels or launches match, 4 if there is none."
)]
pub(crate) struct GraphArgs {
    #[command(flatten)]
    pub(crate) targets: KernelArgs,
    /// The launch with this label in weft.toml, if the kernel has several
    #[arg(long, value_name = "LABEL")]
    pub(crate) launch: Option<String>,
    /// Which finding to show, by its place in the report, from 1; the first defect if it is left out
    #[arg(long, value_name = "NUMBER")]
    pub(crate) finding: Option<usize>,
    /// Write the picture to this file instead of standard output
    #[arg(short, long, value_name = "FILE.svg")]
    pub(crate) output: Option<PathBuf>,
}

/// Arguments of `cargo weft report`. The kernels are those of `test`, or those of `check` if files are named.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Writes one page that needs no other file and no network: the verdicts, the findings with their source lines \
                  and pictures of races, the assumptions, and what the codes mean. Prints the path of the page.\n\n\
                  Exit codes: those of `test`."
)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) targets: KernelArgs,
    /// Check every kernel anew, and neither read nor write kept verdicts
    #[arg(long)]
    pub(crate) no_cache: bool,
    #[command(flatten)]
    pub(crate) solver: SolverArgs,
    /// Write the page to this file instead of `weft/report.html` below the target directory
    #[arg(short, long, value_name = "FILE.html")]
    pub(crate) output: Option<PathBuf>,
}

/// Returns a factor of a cost.
fn factor(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if (1e-3..=1e6).contains(&factor) => Ok(factor),
        _ => Err("a factor is a number from 0.001 to 1000000".to_owned()),
    }
}

/// Kernels of packages, or of files.
#[derive(Clone, Debug, Args)]
pub(crate) struct KernelArgs {
    /// PTX files, instead of packages
    #[arg(value_name = "FILE.ptx")]
    pub(crate) files: Vec<PathBuf>,
    /// Only kernels whose mangled or demangled name matches
    #[arg(long, value_name = "REGEX")]
    pub(crate) kernel: Option<Regex>,
    #[command(flatten)]
    pub(crate) settings: CommandSettings,
    /// Launches and settings for the files; flags on the command line override them
    #[arg(long, value_name = "weft.toml", requires = "files")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) selection: Selection,
}

impl KernelArgs {
    /// Returns why arguments cannot be combined; `None` if they can.
    fn conflict(&self) -> Option<&'static str> {
        if self.files.is_empty() && self.settings != CommandSettings::default() {
            Some(
                "launch flags can be given only for files, such as `FILE.ptx --block 64`; packages state their launches in weft.toml",
            )
        } else if !self.files.is_empty() && self.selection != Selection::default() {
            Some("name packages or PTX files, not both")
        } else {
            None
        }
    }
}

/// Arguments of `cargo weft list`.
#[derive(Clone, Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// How to print the kernels
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) message_format: ListFormat,
}

/// Arguments of `cargo weft explain`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Explain {
    /// A code, such as `shared-race`
    #[arg(value_parser = code())]
    pub(crate) code: Code,
}

/// Arguments of `cargo weft dump`.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Dump {
    /// The instructions of PTX, and what the checker does with each
    Isa(DumpIsa),
    /// The keys of weft.toml, as a JSON Schema for editors
    Schema,
}

/// Arguments of `cargo weft dump isa`.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DumpIsa {
    /// As a page of Markdown
    #[arg(long)]
    pub(crate) markdown: bool,
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
    let Arguments { command, test, output } = Arguments::parse_from(plain(words.collect()));
    if command.is_some() && test != Test::default() {
        let message = "write the options of `test` after the subcommand: `cargo weft test -p NAME`";
        Arguments::command().error(ErrorKind::ArgumentConflict, message).exit();
    }
    let targets = match &command {
        Some(Command::Mutate(own)) => Some(&own.targets),
        Some(Command::Repair(own)) => Some(&own.targets),
        Some(Command::Report(own)) => Some(&own.targets),
        Some(Command::Graph(own)) => Some(&own.targets),
        _ => None,
    };
    if let Some(message) = targets.and_then(KernelArgs::conflict) {
        Arguments::command().error(ErrorKind::ArgumentConflict, message).exit();
    }
    (command.unwrap_or(Command::Test(test)), output)
}

/// Removes the word `weft` that cargo adds: `cargo weft X` starts `cargo-weft weft X`.
fn plain(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_some_and(|word| word == "weft") {
        words.remove(1);
    }
    words
}

fn code() -> impl TypedValueParser<Value = Code> {
    PossibleValuesParser::new(Code::ALL.iter().map(|code| code.name()))
        .try_map(|name| Code::from_name(&name).ok_or("no such code"))
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

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
