//! Which packages a command is about, and how cargo builds them.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use weft_harness::record::MostLaunches;

use crate::recordings::LaunchesWord;

/// Which packages are selected, and how cargo builds them.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Selection {
    #[command(flatten)]
    pub(crate) manifest: clap_cargo::Manifest,
    #[command(flatten)]
    pub(crate) workspace: clap_cargo::Workspace,
    /// Check also the kernels of the packages that these depend on
    #[arg(long)]
    pub(crate) include_deps: bool,
    /// Which launches kernels are checked under, if there is a record of `cargo weft record`
    #[arg(long, value_enum, value_name = "WHICH", default_value_t)]
    pub(crate) launches: LaunchesWord,
    #[command(flatten)]
    pub(crate) most: MostArgs,
    #[command(flatten)]
    pub(crate) features: clap_cargo::Features,
    #[command(flatten)]
    pub(crate) resolution: Resolution,
    #[command(flatten)]
    pub(crate) build: BuildFlags,
}

/// How much of a record is checked.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct MostArgs {
    /// How many recorded launches of a kernel are checked, or `all`: those with the smallest and largest sizes and numbers, and those that
    /// differ most (16)
    #[arg(long, value_name = "NUMBER", env = MostLaunches::VARIABLE)]
    pub(crate) most_launches: Option<MostLaunches>,
}

/// Cargo's flags on what it compiles and where to.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct BuildFlags {
    /// Run build scripts in the release profile
    #[arg(short, long, conflicts_with = "profile")]
    release: bool,
    /// Run build scripts in this profile
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Compile for this platform; build scripts run on the host
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// The folder of compiled files, and of kept verdicts
    #[arg(long, value_name = "DIR")]
    pub(crate) target_dir: Option<PathBuf>,
    /// Compile to PTX, too, what build scripts give nvcc to compile to machine code
    #[arg(long)]
    pub(crate) capture_nvcc: bool,
    /// How many jobs cargo runs at a time, and how many kernels are checked at a time
    #[arg(short, long, value_name = "NUMBER", env = "WEFT_JOBS")]
    pub(crate) jobs: Option<NonZeroUsize>,
}

impl Selection {
    /// Returns the selection of a workspace as it is without flags.
    pub(super) fn of_workspace(
        manifest: clap_cargo::Manifest,
        target_dir: Option<PathBuf>,
    ) -> Self {
        Self {
            manifest,
            build: BuildFlags { target_dir, ..BuildFlags::default() },
            ..Self::default()
        }
    }
}

impl BuildFlags {
    /// Returns the flags in the form that cargo takes, without the target directory.
    pub(crate) fn flags(&self) -> Vec<String> {
        let with = |flag: &str, value: Option<String>| value.map(|value| format!("{flag}={value}"));
        let flags = [
            self.release.then(|| "--release".to_owned()),
            with("--profile", self.profile.clone()),
            with("--target", self.target.clone()),
            with("--jobs", self.jobs.map(|number| number.to_string())),
        ];
        flags.into_iter().flatten().collect()
    }
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
