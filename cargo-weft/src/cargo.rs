//! The cargo that commands run.

use std::env;
use std::io;
use std::path::PathBuf;

/// Cargo does not start.
#[derive(Debug, thiserror::Error)]
#[error("cannot start `{}`: {source}; install cargo, or name it in the variable CARGO", .cargo.display())]
pub(crate) struct StartError {
    pub(crate) cargo: PathBuf,
    pub(crate) source: io::Error,
}

/// The cargo that started this, or else the one of the path.
pub(crate) fn path() -> PathBuf {
    env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from)
}
