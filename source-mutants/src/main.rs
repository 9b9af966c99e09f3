//! Whether the test suite notices faults in the checker's own source.
//!
//! Takes files of `weft-core` and makes many small faults in them (`site`). Each fault alone gives another program: a
//! source mutant. All are compiled into one copy of the workspace (`rewrite`, `tree`), where the environment variable
//! `WEFT_MUTANT` activates one of them. Each mutant is then run by the test binaries, cheapest first, until one fails
//! (`run`).
//!
//! A survivor is a fault that no test detects: either it changes no result (a limit that no input reaches, a shortcut
//! that only saves time), or a test is missing. That all mutants are detected shows only that the tests detect *these*
//! faults: they are small, and missing code has no mutants.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "printing is what it is for")]

mod rewrite;
mod run;
mod site;
mod tree;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;

use clap::Parser;
use nix::sys::resource::{Resource, setrlimit};

use crate::run::{Outcome, Stage};
use crate::site::Mutant;
use crate::tree::{Binary, Result, Tree};

/// Number of mutants that are run at the same time.
const AT_A_TIME: usize = 2;
/// Maximum address space of a run, because a mutant can request all memory.
const MOST_MEMORY: u64 = 8 << 30;
/// Maximum processor seconds of a run, so that it ends even if the measurement was interrupted.
const MOST_SECONDS: u64 = 3600;
/// A test binary that is not run: it keeps verdicts by the hash of the program, which is the same for all mutants.
const LEFT_OUT: &str = "cargo-weft/samples";

/// Makes faults in files of weft-core and reports those that the test suite does not detect.
#[derive(Parser, Debug)]
struct Arguments {
    /// Files or folders below weft-core/src.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Run this many of the mutants, chosen at random.
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Seed of the random choice.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Run one mutant: PATH:LINE:COLUMN#K, as printed.
    #[arg(long, value_name = "ID")]
    only: Option<String>,
    /// Print the mutants and run none.
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    match try_all(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn try_all(arguments: &Arguments) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("no workspace")?;
    let (mutants, names) = mutants(root, &arguments.paths)?;
    let mut chosen = choose(arguments, &names);
    if arguments.list || chosen.is_empty() {
        for &at in &chosen {
            println!("{}  {}", names[at], mutants[at].change);
        }
        println!("{} of {} mutants", chosen.len(), mutants.len());
        return Ok(());
    }
    let folder = root.join("target/mutants");
    let tree = Tree { root, folder: &folder };
    tree.copy()?;
    let asked = chosen.clone();
    let binaries = tree.build(&mutants, &mut chosen)?;
    for at in asked.difference(&chosen) {
        println!("{}  {}: does not compile", names[*at], mutants[*at].change);
    }
    setrlimit(Resource::RLIMIT_AS, MOST_MEMORY, MOST_MEMORY)?;
    setrlimit(Resource::RLIMIT_CPU, MOST_SECONDS, MOST_SECONDS)?;
    let stages = stages(binaries)?;
    let tell = |at: usize, end: &End| println!("{}  {}: {end}", names[at], mutants[at].change);
    let ends = ends(&stages, &chosen, tell)?;
    summarize(&ends, &folder.join("survivors.txt"), |at| {
        format!("{}  {}\n", names[at], mutants[at].change)
    })
}

/// Returns the mutants of all files, and their names: position in the file, and number among the mutants at that
/// position.
fn mutants(root: &Path, paths: &[PathBuf]) -> Result<(Vec<Mutant>, Vec<String>)> {
    let mut files = BTreeSet::new();
    for path in paths {
        let path =
            fs::canonicalize(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let path = path.strip_prefix(fs::canonicalize(root)?)?.to_string_lossy().into_owned();
        files.extend(tree::files(root, &["--", &path])?);
    }
    files.retain(|file| {
        file.starts_with("weft-core/src/")
            && Path::new(file).extension().is_some_and(|own| own == "rs")
    });
    let (mut mutants, mut names) = (Vec::<Mutant>::new(), Vec::new());
    for file in files {
        let found = site::find(&file, &fs::read_to_string(root.join(&file))?)?;
        for (at, own) in found.iter().enumerate() {
            let is_here = |other: &&Mutant| (other.line, other.column) == (own.line, own.column);
            let before = found[..at].iter().filter(is_here).count();
            names.push(format!("{file}:{}:{}#{before}", own.line, own.column));
        }
        mutants.extend(found);
    }
    Ok((mutants, names))
}

/// Returns the mutants that the arguments select.
fn choose(arguments: &Arguments, names: &[String]) -> BTreeSet<usize> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    if let Some(only) = &arguments.only {
        order.retain(|&at| names[at] == *only);
    }
    if let Some(count) = arguments.sample {
        order.sort_by_key(|&at| scatter(arguments.seed.wrapping_add(at as u64 * 0x1_0000)));
        order.truncate(count);
    }
    order.into_iter().collect()
}

/// Returns a pseudo-random number (the output function of `SplitMix64`).
const fn scatter(number: u64) -> u64 {
    let mut z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns the test binaries that pass without a mutant, cheapest first.
fn stages(binaries: Vec<Binary>) -> Result<Vec<Stage>> {
    let mut timed = Vec::new();
    for binary in binaries.into_iter().filter(|own| own.name != LEFT_OUT) {
        let name = binary.name.clone();
        match Stage::measure(binary)? {
            Ok((took, stage)) => {
                println!("{name} takes {took:.1?}");
                timed.push((took, stage));
            }
            Err(outcome) => println!("{name} is left out, without a mutant: {outcome:?}"),
        }
    }
    timed.sort_by_key(|(took, _)| *took);
    Ok(timed.into_iter().map(|(_, stage)| stage).collect())
}

/// The result of a mutant.
#[derive(Clone, Debug)]
enum End {
    Caught { by: String, test: String },
    Hung { by: String },
    Survived,
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Caught { by, test } => write!(f, "caught by {by} ({test})"),
            Self::Hung { by } => write!(f, "hung in {by}"),
            Self::Survived => f.write_str("SURVIVED"),
        }
    }
}

/// Runs the mutants, several at a time; `tell` is called with each result as soon as it is known.
fn ends(
    stages: &[Stage],
    chosen: &BTreeSet<usize>,
    tell: impl Fn(usize, &End) + Sync,
) -> Result<Vec<(usize, End)>> {
    let next = Mutex::new(chosen.iter().copied());
    let worker = || -> std::result::Result<Vec<(usize, End)>, String> {
        let mut ends = Vec::new();
        while let Some(at) = next.lock().ok().and_then(|mut left| left.next()) {
            let end = end(stages, at).map_err(|error| error.to_string())?;
            tell(at, &end);
            ends.push((at, end));
        }
        Ok(ends)
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_A_TIME).map(|_| scope.spawn(worker)).collect();
        let mut all = Vec::new();
        for worker in workers {
            all.extend(worker.join().map_err(|_| "a worker panicked")??);
        }
        all.sort_by_key(|(at, _)| *at);
        Ok(all)
    })
}

fn end(stages: &[Stage], mutant: usize) -> Result<End> {
    for stage in stages {
        let by = stage.binary.name.clone();
        match stage.run(mutant)? {
            Outcome::Passed => {}
            Outcome::Failed(test) => return Ok(End::Caught { by, test }),
            Outcome::Hung => return Ok(End::Hung { by }),
        }
    }
    Ok(End::Survived)
}

/// Prints the numbers of results of each kind and writes the survivors to a file.
fn summarize(ends: &[(usize, End)], path: &Path, line: impl Fn(usize) -> String) -> Result<()> {
    let count = |is: fn(&End) -> bool| ends.iter().filter(|(_, end)| is(end)).count();
    let survivors = ends.iter().filter(|(_, end)| matches!(end, End::Survived));
    fs::write(path, survivors.map(|(at, _)| line(*at)).collect::<String>())?;
    println!(
        "{} mutants: {} caught, {} hung, {} survived ({})",
        ends.len(),
        count(|end| matches!(end, End::Caught { .. })),
        count(|end| matches!(end, End::Hung { .. })),
        count(|end| matches!(end, End::Survived)),
        path.display()
    );
    Ok(())
}
