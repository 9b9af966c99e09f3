//! The table of functions of the runtime library: how a line of it becomes a symbol, and what every call of one does first.

use std::process;

use crate::call::{self, Call};
use crate::contexts;
use crate::runtime::errors;
use crate::state;
use crate::status::{Answer, Status, refuse};

/// Makes the functions of a chapter. A line is `symbol(parameters) KIND => body;`, with the kinds of [`exports!`].
macro_rules! runtime {
    ($($symbol:ident $parameters:tt $kind:ident => $body:path;)*) => {
        $(runtime_function!($symbol $parameters $kind $body);)*
    };
}

/// Makes one line of [`runtime!`].
macro_rules! runtime_function {
    ($symbol:ident $parameters:tt one $body:path) => {
        runtime_function!(@one stringify!($symbol), $parameters $body);
    };
    ($symbol:ident $parameters:tt ptds $body:path) => {
        runtime_function!(@one stringify!($symbol), $parameters $body);
        runtime_function!(@one concat!(stringify!($symbol), "_ptds"), $parameters $body);
    };
    ($symbol:ident $parameters:tt ptsz $body:path) => {
        runtime_function!(@one stringify!($symbol), $parameters $body);
        runtime_function!(@one concat!(stringify!($symbol), "_ptsz"), $parameters $body);
    };
    (@one $symbol:expr, ($($name:ident: $type:ty),*) $body:path) => {
        const _: () = {
            // Outside of the function, whose parameters might have its name.
            const BODY: fn(&$crate::call::Call, $($type),*) -> $crate::status::Answer = $body;
            // SAFETY: the symbol is one of the runtime library's, whose place this library takes.
            #[unsafe(export_name = $symbol)]
            extern "C" fn function($($name: $type),*) -> i32 {
                $crate::runtime::functions::answer($symbol, &|call| BODY(call, $($name),*))
            }
        };
    };
}

/// Answers a call of the runtime library. The first one initialises the driver; each gives a thread without a context the primary
/// one. What a call is refused with is what the thread's last error is then.
pub(super) fn answer(function: &'static str, body: &dyn Fn(&Call) -> Answer) -> i32 {
    // The record is for people, who write `<<<...>>>` and know one name for it.
    let is_launch = function.starts_with("__cudaLaunchKernel");
    let function = if is_launch { "cudaLaunchKernel" } else { function };
    let status = call::attempt(function, Status::runtime_name, &|call| {
        prepare()?;
        body(call)
    });
    errors::note(status);
    status.number()
}

/// Initialises the driver, and makes the primary context current where none is.
fn prepare() -> Answer {
    let mut state = state::lock();
    if state.is_forked() {
        let reason = "the process was forked after its first call: CUDA works in its parent alone";
        return Err(refuse(Status::NotInitialized, reason));
    }
    if state.initialised.is_none() {
        state.initialised = Some(process::id());
        state.record.begin();
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
    Ok(())
}
