//! What is tried. Each takes any bytes; what it asserts is what it says, and that it comes back.

use std::path::Path;

use weft_core::launch::{Dim3, Launch, Limit};
use weft_core::ptx::{self, Module};
use weft_core::report::json::{self, Subject};
use weft_core::report::{human, short};
use weft_harness::config::Config;
use weft_harness::name::KernelName;

use crate::kernel;

/// Something that is tried.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// What it is called.
    pub name: &'static str,
    /// Tries one input.
    pub run: fn(&[u8]),
}

/// All of them.
pub const ALL: &[Target] = &[
    Target { name: "reader", run: reader },
    Target { name: "config", run: config },
    Target { name: "kernel", run: kernel },
];

/// Instructions that a check of an input may run: most inputs that run for long run for ever.
const MOST: u64 = 1 << 14;

/// The bytes as PTX: its spans lie within the text, and what can be read of it is checked.
pub fn reader(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let module = ptx::parse(&text);
    for error in &module.errors {
        assert!(error.span.range().end <= text.len() && text.get(error.span.range()).is_some());
        assert!(!error.to_string().is_empty());
        module.position(error.span);
    }
    let launch = Launch { block: Some(Dim3::line(48)), ..Launch::default() };
    check(&module, &launch);
}

/// The bytes as a `weft.toml`, and the launches that it gives some kernels.
pub fn config(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let path = Path::new("weft.toml");
    match Config::parse(&text, path) {
        Ok(config) => {
            let names = ["saxpy", "_Z6reducePiS_", "block_sum"].map(KernelName::new);
            for name in &names {
                config.launches(name);
            }
            config.dead_entries(&names);
        }
        Err(error) => assert!(error.to_string().starts_with("weft.toml"), "{error}"),
    }
}

/// The bytes as a sequence of choices: a kernel and a launch, checked.
pub fn kernel(bytes: &[u8]) {
    let (text, launch) = kernel::from_bytes(bytes);
    let module = ptx::parse(&text);
    check(&module, &launch);
}

/// Checks and prints the first kernels of a module.
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
        let source = |_: &str| Some("one line\n".to_owned());
        human::report(module, "k.ptx", &report, &source, false);
        short::report("k.ptx", &report);
        let subject = Subject { package: None, file: "k.ptx", demangled: "k", label: None };
        let allowed = vec![None; report.findings.len()];
        json::kernel(&report, subject, &allowed);
    }
}
