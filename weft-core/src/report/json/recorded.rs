//! The lines of what a record of launches says beside them.

use serde::Serialize;

use super::{Head, Subject, line};

/// Returns the `weft-unlaunched` line of a kernel that was never launched while launches were recorded, without the line break.
pub fn unlaunched(kernel: &str, subject: Subject<'_>) -> String {
    let Subject { package, file, demangled, .. } = subject;
    line(&UnlaunchedLine { head: Head::of("weft-unlaunched"), package, kernel, demangled, file })
}

#[derive(Serialize)]
struct UnlaunchedLine<'a> {
    #[serde(flatten)]
    head: Head,
    package: Option<&'a str>,
    kernel: &'a str,
    demangled: &'a str,
    file: &'a str,
}

/// A call to the driver that CUDA refuses.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct InvalidCall<'a> {
    /// The function of the driver.
    pub function: &'a str,
    /// The name of CUDA's error.
    pub error: &'a str,
    /// The kernel that the call is about; `None` if it is about none.
    pub kernel: Option<&'a str>,
    /// What is wrong.
    pub message: &'a str,
    /// Whether the program had read memory before that a kernel might have changed, so that the call might be another one on a
    /// device.
    pub after_read: bool,
}

/// Returns the `weft-invalid-call` line, without the line break.
pub fn invalid_call(call: InvalidCall<'_>) -> String {
    line(&InvalidCallLine { head: Head::of("weft-invalid-call"), call })
}

#[derive(Serialize)]
struct InvalidCallLine<'a> {
    #[serde(flatten)]
    head: Head,
    #[serde(flatten)]
    call: InvalidCall<'a>,
}
