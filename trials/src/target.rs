//! The functions under test. Each takes arbitrary bytes and must return without a panic; its own assertions must hold.

use std::path::Path;
use std::rc::Rc;

use weft_core::launch::{Dim3, Launch, Limit};
use weft_core::ptx::{self, Module};
use weft_core::report::json::{self, Subject};
use weft_core::report::{ReportContext, SourceText, human, short};
use weft_harness::config::Config;
use weft_harness::name::KernelName;
use weft_harness::signature::ParameterNames;

use crate::kernel;

/// A function under test.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name of the target.
    pub name: &'static str,
    /// Runs the target on one input.
    pub run: fn(&[u8]),
}

/// All targets.
pub const ALL: &[Target] = &[
    Target { name: "reader", run: reader },
    Target { name: "config", run: config },
    Target { name: "kernel", run: kernel },
];

/// Maximum number of instructions in the check of an input; most inputs that exceed it do not end.
const MOST: u64 = 1 << 14;

/// Parses the bytes as PTX, asserts that all spans lie within the text, and checks the kernels that were found.
pub fn reader(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let module = ptx::parse(&text);
    for error in &module.errors {
        assert!(error.span.range().end <= text.len() && text.get(error.span.range()).is_some());
        assert!(!error.to_string().is_empty());
        module.position(error.span);
    }
    let launch = Launch { block: Some(Dim3::line(48).into()), ..Launch::default() };
    check(&module, &launch);
}

/// Parses the bytes as a `weft.toml` and computes the launches that it gives to some kernel names.
pub fn config(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let path = Path::new("weft.toml");
    match Config::parse(&text, path) {
        Ok(config) => {
            let names = ["saxpy", "_Z6reducePiS_", "block_sum"].map(KernelName::new);
            for name in &names {
                let names =
                    ParameterNames { ptx: vec!["n".to_owned()], ..ParameterNames::default() };
                if let Err(error) = config.launches(name, &names) {
                    assert!(error.to_string().starts_with("weft.toml"), "{error}");
                }
            }
            config.dead_entries(&names);
        }
        Err(error) => assert!(error.to_string().starts_with("weft.toml"), "{error}"),
    }
}

/// Takes the bytes as a sequence of choices for a kernel and a launch, and checks that kernel.
pub fn kernel(bytes: &[u8]) {
    let (text, launch) = kernel::from_bytes(bytes);
    let module = ptx::parse(&text);
    check(&module, &launch);
}

/// Checks the first kernels of a module and prints the reports.
fn check(module: &Module, launch: &Launch) {
    const KERNELS: usize = 4;
    let limit = Limit { instructions: MOST, ..Limit::default() };
    let launch = Launch { limit, ..launch.clone() };
    for kernel in module.kernels().take(KERNELS) {
        let report = match weft_core::check(module, kernel, &launch) {
            Ok(report) => report,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                continue;
            }
        };
        let source = |_: &str| Some(Rc::new(SourceText::from("one line\n".to_owned())));
        let (ptx, color) = ("k.ptx", false);
        let context = ReportContext {
            module,
            ptx,
            kernel: "k",
            name: "k",
            sources: &source,
            is_allowed: false,
            color,
        };
        human::report(context, &report);
        report.findings.iter().map(|own| short::finding(context, own).len()).max();
        let subject = Subject { package: None, file: "k.ptx", demangled: "k", label: None };
        let allowed = vec![None; report.findings.len()];
        json::kernel(&report, subject, &allowed);
    }
}
