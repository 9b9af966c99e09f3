//! The first call of a library: it begins what the program has not begun of the driver.

use std::process;

use crate::call::{Call, Locked};
use crate::contexts;
use crate::status::{Refusal, Status, refuse};

/// Returns the state. As NVIDIA's libraries do, it initialises the driver, and makes the primary context the current one if the thread has
/// none.
pub(super) fn start(call: &Call) -> Result<Locked, Refusal> {
    let mut state = call.any();
    if state.is_forked() {
        let reason = "the process was forked after cuInit: the driver works in its parent alone";
        return Err(refuse(Status::NotInitialized, reason));
    }
    if state.initialised.is_none() {
        state.initialised = Some(process::id());
        state.record.begin();
    }
    if contexts::current().is_none() {
        let fresh = state.handle();
        let handle = state.contexts.retain(fresh);
        contexts::set(handle);
    }
    Ok(state)
}
