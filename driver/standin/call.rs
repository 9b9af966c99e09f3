//! A call of the driver: what it needs, and what becomes of a refusal.

use std::panic::{self, AssertUnwindSafe};
use std::sync::MutexGuard;

use crate::contexts;
use crate::doubt;
use crate::state::{self, State};
use crate::status::{Answer, Refusal, Status, refuse};

/// The state, while a call has it.
pub(crate) type Locked = MutexGuard<'static, State>;

/// A call of one function.
#[derive(Debug)]
pub(crate) struct Call {
    /// Its exported name.
    pub(crate) function: &'static str,
}

#[allow(
    clippy::unused_self,
    reason = "a call is asked, so that nothing but a call locks the state"
)]
impl Call {
    /// Returns the state for a function that needs nothing.
    pub(crate) fn any(&self) -> Locked {
        state::lock()
    }

    /// Returns the state for a function that needs `cuInit`.
    pub(crate) fn ready(&self) -> Result<Locked, Refusal> {
        let state = state::lock();
        state.refuse_fork()?;
        if state.initialised.is_none() {
            return Err(refuse(Status::NotInitialized, "called before cuInit"));
        }
        Ok(state)
    }

    /// Returns the state for a function of a library above the driver. The first call of one begins what the program has not begun: it
    /// initialises the driver, and gives a thread without a live context the primary one.
    pub(crate) fn started(&self) -> Result<Locked, Refusal> {
        let mut state = state::lock();
        state.refuse_fork()?;
        if state.initialised.is_none() {
            state.begin();
        }
        let is_live = contexts::current().is_some_and(|own| state.contexts.context(own).is_ok());
        if !is_live {
            let fresh = state.handle();
            let primary = if state.contexts.retained == 0 {
                state.contexts.retain(fresh)
            } else {
                state.contexts.primary().unwrap_or(fresh)
            };
            contexts::set(primary);
        }
        Ok(state)
    }

    /// Returns the state for a function that needs a current context.
    pub(crate) fn current(&self) -> Result<Locked, Refusal> {
        self.context().map(|(state, _)| state)
    }

    /// Returns the state and the current context.
    pub(crate) fn context(&self) -> Result<(Locked, u64), Refusal> {
        let mut state = self.ready()?;
        let none = || refuse(Status::InvalidContext, "the thread has no current context");
        let handle = contexts::current().ok_or_else(none)?;
        state.contexts.context(handle)?;
        Ok((state, handle))
    }
}

/// Answers a call of the driver, with the number of the result.
pub(crate) fn answer(function: &'static str, body: &dyn Fn(&Call) -> Answer) -> i32 {
    attempt(function, Status::name, body).number()
}

/// Runs the body of a call, notes a refusal under the name that its code has, and returns the result. A panic is a fault of the
/// stand-in; it never reaches the program.
///
/// It is not generic: hundreds of functions use it.
pub(crate) fn attempt(
    function: &'static str,
    name: fn(Status) -> &'static str,
    body: &dyn Fn(&Call) -> Answer,
) -> Status {
    let call = Call { function };
    let done = panic::catch_unwind(AssertUnwindSafe(|| match body(&call) {
        Ok(()) => Status::Success,
        Err(refusal) => {
            let mut state = state::lock();
            state.record.invalid(function, name(refusal.status), &refusal, doubt::own());
            refusal.status
        }
    }));
    done.unwrap_or(Status::Unknown)
}
