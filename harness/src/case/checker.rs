//! The function by which jobs check their kernels.

use std::fmt;
use std::sync::Arc;

use weft_core::CheckError;
use weft_core::finding::Report;
use weft_core::launch::Launch;
use weft_core::ptx::{Function, Module};

/// What checks a kernel of a module under a launch: [`weft_core::check`], or another function. Clones share it.
#[derive(Clone)]
pub struct Checker(Arc<CheckFunction>);

type CheckFunction =
    dyn Fn(&Module, &Function, &Launch) -> Result<Report, CheckError> + Send + Sync;

impl Checker {
    /// Makes a checker of a function.
    pub fn new(
        check: impl Fn(&Module, &Function, &Launch) -> Result<Report, CheckError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self(Arc::new(check))
    }

    /// Checks a kernel.
    ///
    /// # Errors
    /// Those of the function.
    pub(super) fn check(
        &self,
        module: &Module,
        kernel: &Function,
        launch: &Launch,
    ) -> Result<Report, CheckError> {
        (self.0)(module, kernel, launch)
    }
}

impl Default for Checker {
    fn default() -> Self {
        Self::new(weft_core::check)
    }
}

impl fmt::Debug for Checker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Checker").finish_non_exhaustive()
    }
}
