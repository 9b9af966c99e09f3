//! One kernel under one launch, checked when its result is first asked for.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use weft_core::CheckError;
use weft_core::finding::{Check, Report};
use weft_core::launch::Launch;
use weft_core::mutate::{self, Mutant, Mutants};
use weft_core::ptx::{Function, Module};

use super::Outcome;
use super::guard::guarded;
use crate::config::Allow;
use crate::discover::PtxFile;
use crate::name::KernelName;

/// What decides about a kernel under a launch: `weft_core::check`.
pub type Checker = fn(&Module, &Function, &Launch) -> Result<Report, CheckError>;

/// One kernel under one launch, or a file that cannot be read.
#[derive(Debug)]
pub struct Job {
    /// The package's name.
    pub package: String,
    /// The package's directory.
    pub dir: PathBuf,
    /// The PTX.
    pub file: Arc<PtxFile>,
    /// The PTX as read.
    pub module: Arc<Module>,
    /// The kernel; empty for a file that cannot be read.
    pub kernel: KernelName,
    /// The kernel's name within the case's name: short where only one kernel of the file has it, else mangled.
    pub title: String,
    /// The launch's label, where the kernel has several.
    pub label: Option<String>,
    /// What it is launched with.
    pub launch: Launch,
    /// Findings that are accepted.
    pub allow: Vec<Allow>,
    pub(super) checker: Checker,
    pub(super) unread: Option<JobError>,
    pub(super) outcome: OnceLock<Outcome>,
}

/// Why a kernel could not be checked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// The launch does not fit the kernel.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// The file is not the PTX that it should be; one error a line, with their places.
    #[error("{}", .0.join("\n"))]
    Read(Vec<String>),
    /// The kernel is not in the file.
    #[error("{file}: there is no kernel `{kernel}` in this file")]
    NoKernel {
        /// The kernel's name in the PTX.
        kernel: String,
        /// The file.
        file: String,
    },
    /// A bug of the checker.
    #[error(
        "the checker itself failed on {subject}: {message}\n\
         this is a bug of cargo-weft, not of the kernel; please report it on the issue page of its repository, with \
         this message and the PTX file"
    )]
    Panic {
        /// The kernel with its file and launch, or the file.
        subject: String,
        /// What the panic says.
        message: String,
    },
}

impl Job {
    /// The result, computed by the first call and shared by all later ones.
    pub fn run(&self) -> Outcome {
        self.outcome().clone()
    }

    /// The result by reference.
    pub fn outcome(&self) -> &Outcome {
        self.outcome.get_or_init(|| Outcome::new(self.check(), self))
    }

    /// Takes for the result what an earlier check of the same kernel in the same PTX under the same launch said. A result
    /// that is there already stays.
    pub fn recall(&self, report: Report) -> &Outcome {
        self.outcome.get_or_init(|| Outcome::new(Ok(report), self))
    }

    /// Whether it stands for a file that cannot be read rather than for a kernel.
    pub fn is_unread(&self) -> bool {
        self.unread.is_some()
    }

    /// `PACKAGE::FILE::KERNEL[@LAUNCH]`, or `PACKAGE::FILE::read` for a file that cannot be read.
    pub fn name(&self) -> String {
        let label = self.label.as_ref().map(|label| format!("@{label}")).unwrap_or_default();
        format!("{}::{}::{}{label}", self.package, self.file.display, self.title)
    }

    /// `PACKAGE::FILE::KERNEL[@LAUNCH]::CHECK`.
    pub fn case(&self, check: Check) -> String {
        format!("{}::{}", self.name(), check.name())
    }

    /// The launch as configured, in a few words: `grid 2, block 64`, without the arguments.
    pub fn launch_in_words(&self) -> String {
        let grid =
            self.launch.grid.map_or_else(|| "one cta".to_owned(), |grid| format!("grid {grid}"));
        let block = self
            .launch
            .block
            .map_or_else(|| "the kernel's own block".to_owned(), |block| format!("block {block}"));
        format!("{grid}, {block}")
    }

    /// The mutants of the kernel; none if it could not be checked.
    pub fn mutants(&self) -> Result<Mutants, JobError> {
        let Ok(report) = &self.outcome().report else { return Ok(Mutants::default()) };
        let Some(kernel) = self.module.kernel(&self.kernel.mangled) else {
            return Ok(Mutants::default());
        };
        guarded(&self.subject(), || mutate::mutants(&self.module, kernel, report))
    }

    /// What remains of a mutant's report after the findings that are accepted.
    pub fn mutated(&self, mutant: &Mutant) -> Result<Report, JobError> {
        let report = guarded(&format!("a mutant of {}", self.subject()), || {
            let module = mutant.apply(&self.module);
            let kernel = module
                .kernel(&self.kernel.mangled)
                .expect("a mutant has the kernel it was made of");
            assert!(module.errors.is_empty(), "a mutant is PTX: {}", mutant.replacement);
            (self.checker)(&module, kernel, &self.launch)
        })??;
        let outcome = Outcome::new(Ok(report), self);
        Ok(outcome.remaining().expect("of a report something remains").clone())
    }

    /// What it is about, where the checker fails.
    fn subject(&self) -> String {
        let name = weft_core::report::escape(&self.kernel.mangled);
        format!(
            "kernel `{name}` of {}, launched with {}",
            self.file.display,
            self.launch_in_words()
        )
    }

    fn check(&self) -> Result<Report, JobError> {
        if let Some(error) = &self.unread {
            return Err(error.clone());
        }
        let (name, file) = (&self.kernel.mangled, &self.file.display);
        let Some(kernel) = self.module.kernel(name) else {
            return Err(JobError::NoKernel { kernel: name.clone(), file: file.clone() });
        };
        guarded(&self.subject(), || (self.checker)(&self.module, kernel, &self.launch))?
            .map_err(JobError::from)
    }
}
