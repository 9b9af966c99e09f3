//! Launches of a record that no kernel is checked under.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::{self, Display, Formatter};

use serde_json::Value;
use weft_core::report::escape;

use super::folder::Record;
use super::recorded::RecordedLaunch;
use crate::name::demangle;

/// Launches of a kernel that cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LostLaunch {
    /// The name of the kernel in its module; `None`: it cannot be read.
    pub kernel: Option<String>,
    /// Why they cannot be checked.
    pub reason: String,
}

/// Why a launch without PTX is not checked, if the record does not say why there is none.
const NO_PTX: &str = "no PTX of its module was kept";

impl LostLaunch {
    /// Returns the launch of a line that cannot be read; `None` if it is not that of a launch.
    pub(super) fn of_line(line: &str, place: &str, error: &serde_json::Error) -> Option<Self> {
        let line: Value = serde_json::from_str(line).ok()?;
        let is_launch = line.get("record").is_some_and(|kind| kind == "launch");
        let kernel = line.get("kernel").and_then(Value::as_str).map(str::to_owned);
        is_launch.then(|| Self::unread(kernel, place, &error.to_string()))
    }

    /// Returns the name of the kernel as its author wrote it, safe to print.
    pub fn title(&self) -> Option<String> {
        self.kernel.as_deref().map(|name| escape(&demangle(name)).into_owned())
    }

    /// Returns a launch that cannot be read.
    pub(super) fn unread(kernel: Option<String>, place: &str, said: &str) -> Self {
        let reason = format!(
            "{place}: the launch cannot be read: {said}; record anew by `cargo weft record`"
        );
        Self { kernel, reason }
    }
}

impl Error for LostLaunch {}

impl Display for LostLaunch {
    /// Says what could not be checked.
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let reason = escape(&self.reason);
        match self.title() {
            Some(kernel) => write!(to, "launches of `{kernel}` could not be checked: {reason}"),
            None => write!(to, "a launch could not be checked: {reason}"),
        }
    }
}

impl Record {
    /// Returns the launches of kernels that neither a module of the record nor one in `present` has, and those that cannot be read. `has`:
    /// whether a module that is checked has the kernel of a launch, built anew.
    pub fn lost(
        &self,
        present: &BTreeSet<String>,
        mut has: impl FnMut(&RecordedLaunch) -> bool,
    ) -> BTreeSet<LostLaunch> {
        let is_kept = |own: &&RecordedLaunch| {
            own.module
                .as_ref()
                .is_some_and(|name| present.contains(name) || self.modules.contains(name))
        };
        let lost = |own: &RecordedLaunch| {
            let reason = self.opaque.get(&own.kernel).filter(|_| own.module.is_none());
            let reason = reason.map_or_else(|| NO_PTX.to_owned(), |why| format!("{NO_PTX}: {why}"));
            LostLaunch { kernel: Some(own.kernel.clone()), reason }
        };
        let others = self.launches.iter().filter(|own| !is_kept(own)).filter(|own| !has(own));
        others.map(lost).chain(self.unread.iter().cloned()).collect()
    }
}

/// Returns an error with its causes in one line.
pub(super) fn message(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(own) = cause {
        text = format!("{text}: {own}");
        cause = own.source();
    }
    text
}
