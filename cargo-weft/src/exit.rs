//! Exit codes, computed from typed outcomes and errors.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use cargo_metadata::Package;
use weft_harness::case::PlanError;
use weft_harness::record::{LostLaunch, Record, RecordError};

use crate::baseline::BaselineError;
use crate::capture::CaptureError;
use crate::compile::CompileError;
use crate::files::RequestError;
use crate::graph::GraphError;
use crate::init::InitError;
use crate::manual::ManualError;
use crate::nothing::NothingFound;
use crate::record::RecordingError;
use crate::repair::WriteError;
use crate::select::SelectError;
use crate::solver::SolverError;
use crate::subset::NoKernelNamed;

/// How a run ended. The variants are ordered: the run has the worst outcome of its kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Every kernel is proved: 0.
    Clean,
    /// There are open questions, and no defect: 102.
    Open,
    /// There is a defect: 100.
    Defect,
    /// Something could not be checked: 101.
    Unchecked,
    /// There was no kernel to check, or what the command line names is not there: 4, as in nextest.
    Nothing,
    /// The command line is wrong: 2, as in clap.
    Usage,
}

impl Exit {
    /// Returns the number of the exit code.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Usage => 2,
            Self::Nothing => 4,
            Self::Defect => 100,
            Self::Unchecked => 101,
            Self::Open => 102,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why a command could not check some or all of what it was asked to check.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Select(#[from] SelectError),
    #[error(transparent)]
    Compile(#[from] CompileError),
    #[error(transparent)]
    Plan(Box<PlanError>),
    #[error(transparent)]
    Request(Box<RequestError>),
    #[error(
        "`--config` states the launches of one package, but {count} are selected; select one by `-p NAME`"
    )]
    OneConfig { count: usize },
    #[error(transparent)]
    Capture(#[from] CaptureError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Recording(#[from] RecordingError),
    #[error(
        "no launches are recorded, neither in {} nor in the `{}` of a package: run `cargo weft record -- COMMAND`, such as \
         `cargo weft record -- cargo test --no-fail-fast`, or leave out `{option}`",
        .folder.display(), Record::SAVED
    )]
    NoRecord {
        folder: PathBuf,
        /// The option that asks for recorded launches.
        option: &'static str,
    },
    #[error(transparent)]
    Lost(LostLaunch),
    #[error(
        "nothing is written for package `{name}`: its folder is cargo's copy of {source_of_it}"
    )]
    Foreign { name: String, source_of_it: String },
    #[error(transparent)]
    Subset(#[from] NoKernelNamed),
    #[error(transparent)]
    Solver(#[from] SolverError),
    #[error(transparent)]
    Baseline(#[from] BaselineError),
    #[error(transparent)]
    Change(#[from] WriteError),
    #[error(transparent)]
    Manual(#[from] ManualError),
    #[error(transparent)]
    Init(#[from] InitError),
    #[error(transparent)]
    Graph(#[from] GraphError),
    #[error("cannot write the results")]
    Write(#[from] io::Error),
    #[error(
        "nothing is written for package `{name}`: its folder {} is outside of this workspace; name the package by `-p {name}`, \
         or its manifest in [workspace.metadata.weft]",
        .folder.display()
    )]
    OtherWorkspace { name: String, folder: PathBuf },
    #[error(transparent)]
    Nothing(#[from] NothingFound),
}

impl Failure {
    /// Returns why nothing may be written into the folder of a package; `None` if it is the user's own. `is_asked_for`: whether
    /// the package is a member of a workspace that is checked, or named on the command line.
    pub(crate) fn foreign(package: &Package, is_asked_for: bool) -> Option<Self> {
        let name = package.name.to_string();
        match &package.source {
            Some(source) => Some(Self::Foreign { name, source_of_it: source.to_string() }),
            None if is_asked_for => None,
            None => {
                let folder = package.manifest_path.parent().unwrap_or(&package.manifest_path);
                Some(Self::OtherWorkspace { name, folder: folder.into() })
            }
        }
    }

    /// Returns the exit code of this failure.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Nothing(_)
            | Self::Select(SelectError::NoPackage { .. })
            | Self::Graph(
                GraphError::NoLaunch { .. } | GraphError::NoFinding { .. } | GraphError::Skipped,
            ) => Exit::Nothing,
            Self::Subset(error) if !error.is_partial => Exit::Nothing,
            Self::OneConfig { .. }
            | Self::Solver(_)
            | Self::Select(SelectError::Pattern { .. } | SelectError::Id { .. })
            | Self::Graph(GraphError::Several { .. }) => Exit::Usage,
            Self::Request(error) => match **error {
                RequestError::NoKernels { .. }
                | RequestError::NoMatch { is_partial: false, .. } => Exit::Nothing,
                RequestError::Parameter(_) => Exit::Usage,
                RequestError::Read(_)
                | RequestError::Record(_)
                | RequestError::NoRecord { .. }
                | RequestError::Config(_)
                | RequestError::Plan(_)
                | RequestError::NoMatch { .. } => Exit::Unchecked,
            },
            Self::Select(_)
            | Self::Subset(_)
            | Self::Compile(_)
            | Self::Capture(_)
            | Self::Record(_)
            | Self::Recording(_)
            | Self::NoRecord { .. }
            | Self::Lost(_)
            | Self::Foreign { .. }
            | Self::OtherWorkspace { .. }
            | Self::Plan(_)
            | Self::Baseline(_)
            | Self::Change(_)
            | Self::Manual(_)
            | Self::Init(_)
            | Self::Graph(
                GraphError::Kernel { .. } | GraphError::Write { .. } | GraphError::Unread,
            )
            | Self::Write(_) => Exit::Unchecked,
        }
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        Self::Request(Box::new(error))
    }
}
