//! Checks PTX that a test has as a text: what a program generates, or NVRTC compiles.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};

use weft_core::finding::Report;

use crate::case::{self, Job, Package, Standing, Surroundings, dead_allows};
use crate::config::{Allow, Config, ConfigPlace};
use crate::discover::PtxFile;
use crate::render::human;

/// What messages call the PTX.
const PTX: &str = "ptx";
/// What messages call the configuration.
const CONFIG: &str = "config";

/// A kernel that passed under one launch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckedKernel {
    /// `PACKAGE::ptx::KERNEL`, with `@LAUNCH` behind it if the launch has a label.
    pub name: String,
    /// Whether it is clean. It passes otherwise if the configuration accepts all that was found, or skips the kernel.
    pub is_clean: bool,
    /// What was proved and found, for people.
    pub report: String,
}

/// Why PTX did not pass: a text of one or more lines. `Debug` is the same text as `Display`, since that is what `unwrap`
/// shows, and a test that returns the error.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct CheckFailure {
    text: String,
}

impl fmt::Debug for CheckFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns the failure that an error of an earlier stage is.
fn failure(error: &impl ToString) -> CheckFailure {
    CheckFailure { text: error.to_string() }
}

/// Checks every kernel in `ptx` under the launches that `config`, the text of a `weft.toml`, states, and returns the kernels
/// and launches. With an empty `config`, kernels are checked for every launch.
///
/// ```
/// let ptx = "
///     .version 8.0
///     .target sm_80
///     .address_size 64
///     .visible .entry fill(.param .u64 out) {
///         .reg .b32 %r<3>;
///         .reg .b64 %rd<4>;
///         ld.param.u64    %rd1, [out];
///         mov.u32         %r1, %tid.x;
///         mov.u32         %r2, %ctaid.x;
///         mul.wide.u32    %rd2, %r1, 4;
///         add.s64         %rd3, %rd1, %rd2;
///         st.global.u32   [%rd3], %r2;
///         ret;
///     }";
/// weft_harness::check(ptx, "default = { block = 128, grid = 1 }").unwrap();
///
/// // All ctas write the same words.
/// let config = "
///     [[kernel]]
///     name = 'fill'
///     block = 128
///     grid = 4
/// ";
/// let failure = weft_harness::check(ptx, config).unwrap_err();
/// assert!(failure.to_string().contains("error[global-race]"));
/// ```
///
/// Positions in errors are those in the two texts. Source files that the PTX names are quoted if they are in the package
/// whose tests run, or in its workspace.
///
/// # Errors
/// A configuration that is wrong; PTX that cannot be read, or has no kernels; kernels with a defect or an open question that
/// no `allow` accepts; an `allow` that accepts nothing.
pub fn check(ptx: &str, config: &str) -> Result<Vec<CheckedKernel>, CheckFailure> {
    let config = Config::parse(config, Path::new(CONFIG)).map_err(|error| failure(&error))?;
    if let Some((_, place)) = config.ptx.first() {
        return Err(failure(&names_files(place)));
    }
    let file = PtxFile {
        path: PathBuf::from(PTX),
        display: PTX.to_owned(),
        text: ptx.into(),
        unread: None,
        saved: None,
    };
    // Cargo sets the variable for tests that it runs, and runs them in the folder of their package.
    let package = env::var("CARGO_PKG_NAME").unwrap_or_default();
    let dir = env::current_dir().unwrap_or_default();
    let package = Package::new(&package, dir, config, vec![file]);
    let jobs = case::plan(&package).map_err(|error| failure(&error))?;
    let mut texts: Vec<String> = jobs.iter().filter_map(unclean).collect();
    texts.extend(dead_allows(&jobs).iter().map(Allow::unused));
    if texts.is_empty() {
        return Ok(jobs.iter().map(checked).collect());
    }
    Err(failure(&texts.join("\n")))
}

fn names_files(place: &ConfigPlace) -> String {
    let excerpt = place.excerpt();
    format!("{place}: `ptx` names files, but the PTX is given as a text; remove the key{excerpt}")
}

/// Returns a kernel that passed.
fn checked(job: &Job) -> CheckedKernel {
    let outcome = job.outcome();
    CheckedKernel {
        name: job.short_name(),
        is_clean: outcome.standing == Standing::Clean,
        report: told(job, outcome.told()),
    }
}

/// Returns the report of a kernel that is not clean.
fn unclean(job: &Job) -> Option<String> {
    let outcome = job.outcome();
    (outcome.standing > Standing::Skipped)
        .then(|| format!("---- {} ----\n{}", job.short_name(), told(job, outcome.remaining())))
}

/// Returns a report of a kernel in words, or why it has none.
fn told(job: &Job, report: Option<&Report>) -> String {
    match (&job.outcome().report, report) {
        (Ok(_), Some(report)) => human::report(Surroundings::of(job).context(false), report),
        (Ok(_), None) => String::new(),
        (Err(error), _) => error.to_string(),
    }
}
