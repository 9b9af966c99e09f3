//! Error handling, versions, the profiler: what a thread's last error was, and what codes mean.

use std::cell::Cell;

use crate::call::Call;
use crate::exports::VERSION;
use crate::foreign::{Host, Out};
use crate::runtime::generation;
use crate::status::{self, Answer, Status};

runtime! {
    cudaRuntimeGetVersion(version: Out<i32>) one => version;
    cudaDriverGetVersion(version: Out<i32>) one => driver_version;
    cudaProfilerStart() one => nothing;
    cudaProfilerStop() one => nothing;
    cudaProfilerInitialize(configuration: Host, output: Host, mode: u32) one => initialise_profiler;
}

thread_local! {
    static LAST: Cell<i32> = const { Cell::new(0) };
}

/// Notes the result of a call.
pub(super) fn note(status: Status) {
    if status != Status::Success {
        LAST.set(status.number());
    }
}

/// Returns the last error of the thread, and forgets it.
// SAFETY: the symbol is one of the runtime library's, whose place this library takes.
#[unsafe(no_mangle)]
extern "C" fn cudaGetLastError() -> i32 {
    LAST.replace(0)
}

/// Returns the last error of the thread.
// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn cudaPeekAtLastError() -> i32 {
    LAST.get()
}

/// What the functions below say of a number that is no code.
const UNKNOWN: &str = "unrecognized error code\0";

/// Returns the name of a code.
// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn cudaGetErrorName(error: i32) -> Host {
    text(status::runtime_name(error))
}

/// Returns the sentence that explains a code.
// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn cudaGetErrorString(error: i32) -> Host {
    text(status::sentence(error))
}

fn text(text: Option<&'static str>) -> Host {
    Host::function(text.unwrap_or(UNKNOWN).as_ptr().cast())
}

fn version(_: &Call, version: Out<i32>) -> Answer {
    version.give(generation::current().version())
}

fn driver_version(_: &Call, version: Out<i32>) -> Answer {
    version.give(VERSION)
}

#[allow(clippy::unnecessary_wraps, reason = "the type that the table of functions takes")]
fn nothing(_: &Call) -> Answer {
    Ok(())
}

fn initialise_profiler(call: &Call, _configuration: Host, _output: Host, _mode: u32) -> Answer {
    nothing(call)
}
