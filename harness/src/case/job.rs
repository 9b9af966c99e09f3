//! A job: one kernel under one launch. The check runs when the result is first asked for, and all cases of the job
//! share it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use weft_core::finding::{Chart, Check, Code, Report};
use weft_core::launch::{Launch, Options};
use weft_core::mutate::{self, Mutant, Mutants};
use weft_core::ptx::{Function, Module};
use weft_core::{BlockSource, ChartError, ChartedKernel, CheckError, KnownBlock};

use super::guard::guarded;
use super::{Checker, Outcome, RecordNote, outside};
use crate::config::{Allow, ConfigPlace};
use crate::discover::PtxFile;
use crate::name::KernelName;
use crate::signature::ParameterNames;

/// One kernel under one launch, or a PTX file that cannot be read.
#[derive(Debug)]
pub struct Job {
    /// The name of the package.
    pub package: String,
    /// The directory of the package.
    pub dir: PathBuf,
    /// The PTX file.
    pub file: Arc<PtxFile>,
    /// The module that was read from `file`.
    pub module: Arc<Module>,
    /// The name of the kernel; empty for a file that cannot be read.
    pub kernel: KernelName,
    /// The kernel's part of the case's name: the short name if it is unique in the file, otherwise the mangled name.
    pub title: String,
    /// The label of the launch, if the kernel has several launches.
    pub label: Option<String>,
    /// The launch configuration.
    pub launch: Launch,
    /// Where the settings of the launch are stated, by their keys; nothing of those that a command line states.
    pub places: BTreeMap<String, ConfigPlace>,
    /// Whether the launch has the block of `[default]`, because nothing states one for this kernel.
    pub has_default_block: bool,
    /// The `allow` entries for this kernel and launch, and those of the baseline.
    pub allow: Vec<Allow>,
    /// The `allow` entries whose last day has passed.
    pub ended: Vec<Allow>,
    /// The reason for which the launch is not checked; `None`: it is.
    pub skip: Option<String>,
    /// What the record says that the launch comes from; `None`: the launch is not recorded.
    pub recorded: Option<RecordNote>,
    pub(super) checker: Checker,
    pub(super) unread: Option<JobError>,
    pub(super) outcome: OnceLock<Outcome>,
}

/// Why a kernel could not be checked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// The launch does not fit the kernel.
    #[error("{error}{}", place.as_deref().map(told).unwrap_or_default())]
    Check {
        /// What does not fit.
        error: CheckError,
        /// Where that is stated, if it is in a configuration.
        place: Option<Box<ConfigPlace>>,
    },
    /// There is nothing to draw a chart of.
    #[error(transparent)]
    Chart(#[from] ChartError),
    /// The file is not valid PTX. One message for each error, with its position.
    #[error("{}", .0.join("\n"))]
    Read(Vec<String>),
    /// The file is saved PTX, and its source has changed since it was compiled.
    #[error("{0}")]
    Outdated(String),
    /// The file has no kernel with this name.
    #[error("{file}: there is no kernel `{kernel}` in this file")]
    NoKernel {
        /// The kernel's name in the PTX.
        kernel: String,
        /// The file.
        file: String,
    },
    /// The configuration says that the kernel is not to be checked.
    #[error("skipped: {}", weft_core::report::escape(.reason))]
    Skipped {
        /// The reason in the configuration.
        reason: String,
    },
    /// The checker panicked: a bug of the checker.
    #[error(
        "the checker itself failed on {subject}: {message}\n\
         this is a bug of cargo-weft, not of the kernel; please report it on the issue page of its repository, with \
         this message and the PTX file"
    )]
    Panic {
        /// The kernel with its file and launch, or the file.
        subject: String,
        /// The message of the panic.
        message: String,
    },
}

/// Returns where a setting is stated, to follow an error about it.
fn told(place: &ConfigPlace) -> String {
    format!("\nstated at {place}{}", place.excerpt())
}

impl Job {
    /// Returns the result. The first call computes it, later calls share it.
    pub fn run(&self) -> Outcome {
        self.outcome().clone()
    }

    /// Like [`Job::run`], but returns a reference.
    pub fn outcome(&self) -> &Outcome {
        self.outcome.get_or_init(|| Outcome::new(self.check(), self))
    }

    /// Returns this job under another launch, not checked yet.
    #[must_use]
    pub fn under(&self, launch: Launch) -> Self {
        Self {
            package: self.package.clone(),
            dir: self.dir.clone(),
            file: Arc::clone(&self.file),
            module: Arc::clone(&self.module),
            kernel: self.kernel.clone(),
            title: self.title.clone(),
            label: self.label.clone(),
            launch,
            places: self.places.clone(),
            has_default_block: self.has_default_block,
            allow: self.allow.clone(),
            ended: self.ended.clone(),
            skip: self.skip.clone(),
            recorded: self.recorded.clone(),
            checker: self.checker.clone(),
            unread: self.unread.clone(),
            outcome: OnceLock::new(),
        }
    }

    /// Whether the result is known.
    pub fn is_settled(&self) -> bool {
        self.outcome.get().is_some()
    }

    /// Sets the result to the report of an earlier check of the same kernel in the same PTX under the same launch,
    /// instead of checking again. Has no effect if the result is already known.
    pub fn recall(&self, report: Report) -> &Outcome {
        self.outcome.get_or_init(|| Outcome::new(Ok(report), self))
    }

    /// Whether there is nothing to check: the file cannot be read, or the configuration skips the kernel.
    pub fn is_left_out(&self) -> bool {
        self.is_unread() || self.skip.is_some()
    }

    /// Whether this job stands for a file that cannot be read rather than for a kernel.
    pub fn is_unread(&self) -> bool {
        self.unread.is_some()
    }

    /// Returns the job's name: `PACKAGE::FILE::KERNEL[@LAUNCH]`, or `PACKAGE::FILE::read` for a file that cannot be
    /// read.
    pub fn name(&self) -> String {
        let label = self.label.as_ref().map(|label| format!("@{label}")).unwrap_or_default();
        format!("{}::{}::{}{label}", self.package, self.file.display, self.title)
    }

    /// Returns the job's name, without the package for a file that was named on the command line.
    pub fn short_name(&self) -> String {
        let name = self.name();
        name.strip_prefix("::").map_or(name.clone(), str::to_owned)
    }

    /// Returns the name of one test case of the job: `PACKAGE::FILE::KERNEL[@LAUNCH]::CHECK`.
    pub fn case(&self, check: Check) -> String {
        format!("{}::{}", self.name(), check.name())
    }

    /// Returns the names by which the kernel's arguments can be stated; none for a file that cannot be read.
    pub fn parameters(&self) -> ParameterNames {
        let kernel = self.module.kernel(&self.kernel.mangled);
        kernel.map_or_else(ParameterNames::default, |kernel| {
            ParameterNames::new(&self.module, kernel, self.launch.names.clone())
        })
    }

    /// Returns the grid, the block and what is required in words, such as `grid any, block 64, n <= 1024`, without the
    /// arguments. A block that the launch does not state is the kernel's own, or a guess.
    pub fn launch_in_words(&self) -> String {
        match self.known_block() {
            Some(KnownBlock { size, source: BlockSource::Guessed }) => {
                self.in_words(&format!("block {size}, a guess within .maxntid"))
            }
            Some(KnownBlock { size, .. }) => self.in_words(&format!("block {size}")),
            None => self.stated_in_words(),
        }
    }

    /// Returns the block that the launch or the kernel states, or a guess within the kernel's bound; `None` if there is none,
    /// or if the launch contradicts the kernel.
    pub fn known_block(&self) -> Option<KnownBlock> {
        let kernel = self.module.kernel(&self.kernel.mangled)?;
        let known = || weft_core::known_block(&self.module, kernel, &self.launch).ok().flatten();
        guarded(&self.subject(), known).ok().flatten()
    }

    /// Returns what the launch states of grid and block, and what is required, in words.
    fn stated_in_words(&self) -> String {
        let block = self.launch.block;
        self.in_words(
            &block.map_or_else(|| "no block stated".to_owned(), |block| format!("block {block}")),
        )
    }

    fn in_words(&self, block: &str) -> String {
        let grid = self.launch.grid;
        let grid = grid.map_or_else(|| "no grid stated".to_owned(), |grid| format!("grid {grid}"));
        let required = self.launch.requires.iter().map(|requirement| format!(", {requirement}"));
        format!("{grid}, {block}{}", required.collect::<String>())
    }

    /// Returns the mutants of the kernel; none if the kernel could not be checked.
    pub fn mutants(&self) -> Result<Mutants, JobError> {
        let Ok(report) = &self.outcome().report else { return Ok(Mutants::default()) };
        let Some(kernel) = self.module.kernel(&self.kernel.mangled) else {
            return Ok(Mutants::default());
        };
        guarded(&self.subject(), || mutate::mutants(&self.module, kernel, report))
    }

    /// Checks the kernel and returns the chart of a finding, as [`ChartedKernel::chart`] does. `finding`: its number in the report,
    /// from 1; `None`: the first defect.
    ///
    /// # Errors
    /// A launch that does not fit the kernel, a finding that there is not, or a failure of the checker.
    pub fn chart(&self, finding: Option<usize>) -> Result<Chart, JobError> {
        let kernel = self.known_kernel()?;
        let chart = || ChartedKernel::new(&self.module, kernel, &self.launch)?.chart(finding);
        guarded(&self.subject(), chart)?.map_err(JobError::from)
    }

    /// Checks a mutant under the job's launch and returns its report without the findings that an `allow` accepts.
    pub fn mutated(&self, mutant: &Mutant) -> Result<Report, JobError> {
        let module = guarded("a mutant", || mutant.apply(&self.module))?;
        assert!(module.errors.is_empty(), "a mutant is PTX: {}", mutant.replacement);
        // Only what is clean is of interest, so nothing is gained by inputs for what is open.
        let options = Options { witness: 0, ..self.launch.options };
        self.changed(&module, &Launch { options, ..self.launch.clone() })
    }

    /// Checks the kernel in a changed module under a launch like the job's, and returns the report without the findings
    /// that an `allow` accepts. If nothing is changed, the kernel is not checked again.
    pub fn changed(&self, module: &Module, launch: &Launch) -> Result<Report, JobError> {
        let is_known = self.recorded.is_none() && *launch == self.launch;
        if is_known && module.text() == self.module.text() {
            let outcome = self.outcome();
            let report = outcome.remaining().cloned();
            return report.map_or_else(|| outcome.report.clone(), Ok);
        }
        let report = guarded(&format!("a changed form of {}", self.subject()), || {
            let kernel = module.kernel(&self.kernel.mangled).expect("a change keeps the kernel");
            self.checker.check(module, kernel, launch)
        })?;
        let report = report.map_err(|error| self.misfit(error))?;
        let outcome = Outcome::new(Ok(report), self);
        Ok(outcome.remaining().expect("of a report something remains").clone())
    }

    /// Names the kernel, its file and its launch, for the message of a panic.
    fn subject(&self) -> String {
        let name = weft_core::report::escape(&self.kernel.mangled);
        format!(
            "kernel `{name}` of {}, launched with {}",
            self.file.display,
            self.stated_in_words()
        )
    }

    /// Returns the kernel as it was parsed.
    fn known_kernel(&self) -> Result<&Function, JobError> {
        if let Some(error) = &self.unread {
            return Err(error.clone());
        }
        if let Some(reason) = &self.skip {
            return Err(JobError::Skipped { reason: reason.clone() });
        }
        let (name, file) = (&self.kernel.mangled, &self.file.display);
        let missing = || JobError::NoKernel { kernel: name.clone(), file: file.clone() };
        self.module.kernel(name).ok_or_else(missing)
    }

    /// Returns the error of a launch that does not fit, with the place of what does not.
    fn misfit(&self, error: CheckError) -> JobError {
        let place = error.setting().and_then(|key| self.places.get(key));
        JobError::Check { place: place.cloned().map(Box::new), error }
    }

    fn check(&self) -> Result<Report, JobError> {
        let kernel = self.known_kernel()?;
        let checked = |launch: &Launch| {
            guarded(&self.subject(), || self.checker.check(&self.module, kernel, launch))
        };
        let mut result = checked(&self.launch)?;
        let mut moved = self.recorded.as_ref().map(|_| self.launch.clone());
        while let (Err(CheckError::Number { value, .. }), Some(launch)) = (&result, &moved) {
            moved = outside::moved(launch, *value);
            if let Some(launch) = &moved {
                result = checked(launch)?;
            }
        }
        let opened = self.recorded.as_ref().and_then(|_| outside::opened(&self.launch));
        if let (Ok(report), Some(launch)) = (&result, &opened)
            && !report.findings.iter().any(|own| own.code == Code::OutOfBounds)
        {
            result = checked(launch)?;
        }
        result.map_err(|error| self.misfit(error))
    }
}
