//! The table of functions of the runtime library: how a line of it becomes a symbol, and what every call of one does first.

use crate::call::{self, Call};
use crate::runtime::errors;
use crate::status::{Answer, Status};

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

/// Answers a call of the runtime library, each of which might be the first one. What a call is refused with is what the thread's last
/// error is then.
pub(super) fn answer(function: &'static str, body: &dyn Fn(&Call) -> Answer) -> i32 {
    // The record is for people, who write `<<<...>>>` and know one name for it.
    let is_launch = function.starts_with("__cudaLaunchKernel");
    let function = if is_launch { "cudaLaunchKernel" } else { function };
    let status = call::attempt(function, Status::runtime_name, &|call| {
        drop(call.started()?);
        body(call)
    });
    errors::note(status);
    status.number()
}
