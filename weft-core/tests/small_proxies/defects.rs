//! The defects of a kernel that has nothing open.

use weft_core::finding::{Class, Finding};
use weft_core::launch::{Dim3, Launch};
use weft_core::ptx;

/// Checks the kernel of a text, launched with so many ctas of so many threads. Returns its defects.
pub(crate) fn of(text: &str, ctas: u32, threads: u32) -> Vec<Finding> {
    let module = ptx::parse(text);
    assert!(module.errors.is_empty(), "{:?} in\n{text}", module.errors);
    let line = |extent| Some(Dim3::line(extent).into());
    let launch = Launch { block: line(threads), grid: line(ctas), ..Launch::default() };
    let kernel = module.kernels().next().expect("there is one");
    let report = weft_core::check(&module, kernel, &launch)
        .unwrap_or_else(|error| unreachable!("{error} in\n{text}"));
    let is_defect = |finding: &Finding| match finding.code.class() {
        Class::Open => unreachable!("{} in\n{text}", finding.message),
        class => class == Class::Defect,
    };
    report.findings.into_iter().filter(is_defect).collect()
}
