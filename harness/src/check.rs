//! Checks PTX that a test has as a text: what a program generates, or NVRTC compiles.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::case::{self, Job, Package, PlanError, Standing, Surroundings, dead_allows};
use crate::config::{Allow, Config, ConfigError, ConfigPlace};
use crate::discover::PtxFile;
use crate::render::human;

/// What messages call the PTX.
const PTX: &str = "ptx";
/// What messages call the configuration.
const CONFIG: &str = "config";

/// Why PTX did not pass. `Debug` is the same text as `Display`, since that is what `unwrap` shows, and a test that returns
/// the error.
#[derive(thiserror::Error)]
pub enum CheckFailure {
    /// The configuration is wrong, or the PTX has no kernels.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The configuration names PTX files.
    #[error("{place}: `ptx` names files, but the PTX is given as a text; remove the key{}", place.excerpt())]
    Files {
        /// Where it names the first one.
        place: ConfigPlace,
    },
    /// Kernels are not clean, or could not be checked.
    #[error("{text}")]
    Unclean {
        /// Their reports for people, each below the name of its kernel and launch.
        text: String,
        /// All kernels and launches, those that are clean too.
        jobs: Vec<Job>,
    },
}

impl fmt::Debug for CheckFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<ConfigError> for CheckFailure {
    fn from(error: ConfigError) -> Self {
        Self::Plan(error.into())
    }
}

/// Checks every kernel in `ptx` under the launches that `config`, the text of a `weft.toml`, states, and returns the kernels
/// and launches with their reports. With an empty `config`, kernels are checked for every launch.
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
pub fn check(ptx: &str, config: &str) -> Result<Vec<Job>, CheckFailure> {
    let config = Config::parse(config, Path::new(CONFIG))?;
    if let Some((_, place)) = config.ptx.first() {
        return Err(CheckFailure::Files { place: place.clone() });
    }
    let file = PtxFile {
        path: PathBuf::from(PTX),
        display: PTX.to_owned(),
        text: ptx.into(),
        unread: None,
    };
    // Cargo sets the variable for tests that it runs, and runs them in the folder of their package.
    let package = env::var("CARGO_PKG_NAME").unwrap_or_default();
    let dir = env::current_dir().unwrap_or_default();
    let jobs = case::plan(&Package::new(&package, dir, config, vec![file]))?;
    let mut texts: Vec<String> = jobs.iter().filter_map(unclean).collect();
    texts.extend(dead_allows(&jobs).iter().map(Allow::unused));
    if texts.is_empty() {
        return Ok(jobs);
    }
    Err(CheckFailure::Unclean { text: texts.join("\n"), jobs })
}

/// Returns the report of a kernel that is not clean.
fn unclean(job: &Job) -> Option<String> {
    let outcome = job.outcome();
    if outcome.standing <= Standing::Skipped {
        return None;
    }
    let text = match (&outcome.report, outcome.remaining()) {
        (Ok(_), Some(report)) => human::report(Surroundings::of(job).context(false), report),
        (Ok(_), None) => String::new(),
        (Err(error), _) => error.to_string(),
    };
    Some(format!("---- {} ----\n{text}", job.short_name()))
}
