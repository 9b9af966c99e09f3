//! One kernel under one launch, checked when its result is first asked for.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use weft_core::CheckError;
use weft_core::finding::{Check, Report};
use weft_core::launch::Launch;
use weft_core::ptx::Module;

use super::Outcome;
use crate::config::Allow;
use crate::discover::PtxFile;
use crate::name::KernelName;

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
        "the checker itself failed on kernel `{kernel}` of {file}: {message}\n\
         this is a bug of weft, not of the kernel; please report it together with this PTX file"
    )]
    Panic {
        /// The kernel's name in the PTX; `-` while the file was read.
        kernel: String,
        /// The file.
        file: String,
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

    fn check(&self) -> Result<Report, JobError> {
        if let Some(error) = &self.unread {
            return Err(error.clone());
        }
        let (name, file) = (&self.kernel.mangled, &self.file.display);
        let Some(kernel) = self.module.kernel(name) else {
            return Err(JobError::NoKernel { kernel: name.clone(), file: file.clone() });
        };
        guarded(name, file, || weft_core::check(&self.module, kernel, &self.launch))?
            .map_err(JobError::from)
    }
}

/// Runs `work`; a panic in it becomes an error that names the kernel and the file.
pub(super) fn guarded<T>(
    kernel: &str,
    file: &str,
    work: impl FnOnce() -> T,
) -> Result<T, JobError> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let message =
            text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
        let message = weft_core::report::escape(message).into_owned();
        JobError::Panic { kernel: kernel.to_owned(), file: file.to_owned(), message }
    })
}
