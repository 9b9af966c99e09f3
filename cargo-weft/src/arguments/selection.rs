//! Which packages a command is about, and how cargo builds them.

use clap::Args;

/// Which packages are selected, and how cargo builds them.
#[derive(Clone, Debug, Default, Args)]
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
