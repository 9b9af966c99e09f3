//! Finds the cargo executable that commands run.

use std::env;
use std::io;
use std::path::PathBuf;

/// Cargo could not be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot start `{}`: {source}; install cargo, or name it in the variable CARGO", .cargo.display())]
pub(crate) struct StartError {
    pub(crate) cargo: PathBuf,
    pub(crate) source: io::Error,
}

/// Returns the cargo that started this process (`$CARGO`), otherwise `cargo` from the search path.
pub(crate) fn path() -> PathBuf {
    env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from)
}
