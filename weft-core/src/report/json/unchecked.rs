//! The line of a kernel or file without a report.

use serde::Serialize;

use super::{Head, Subject, line};

/// Returns the `weft-kernel` line of a kernel or file without a report, without the line break. `verdict`: `skipped` or
/// `unchecked`; `error`: the reason.
pub fn unchecked(kernel: &str, subject: Subject<'_>, verdict: &str, error: &str) -> String {
    line(&UncheckedLine {
        head: Head::of("weft-kernel"),
        package: subject.package,
        kernel,
        demangled: subject.demangled,
        file: subject.file,
        launch: LaunchLabelLine { label: subject.label },
        verdict,
        error,
    })
}

#[derive(Serialize)]
struct UncheckedLine<'a> {
    #[serde(flatten)]
    head: Head,
    package: Option<&'a str>,
    kernel: &'a str,
    demangled: &'a str,
    file: &'a str,
    launch: LaunchLabelLine<'a>,
    verdict: &'a str,
    error: &'a str,
}

#[derive(Serialize)]
struct LaunchLabelLine<'a> {
    label: Option<&'a str>,
}
