//! Checks every extreme text at its small size: each is checked within the time limit or rejected.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use weft_core::launch::{Launch, Limit};
use weft_core::ptx;
use weft_trials::extreme::{ALL, Extreme};

/// Time limit: quadratic work exceeds it by far at these sizes, a busy machine does not.
const PATIENCE: Duration = Duration::from_secs(60);
/// Maximum number of instructions of a check; endless loops run for this long.
const MOST: u64 = 1 << 17;

fn check(extreme: &Extreme) {
    let text = (extreme.text)(extreme.small);
    let module = ptx::parse(&text);
    for error in &module.errors {
        let message = error.to_string();
        assert!(!message.is_empty() && message.len() < 1000, "{}: {message}", extreme.name);
    }
    let launch =
        Launch { limit: Limit { instructions: MOST, ..Limit::default() }, ..Launch::default() };
    // The first kernels stand for all. Finding each of them must not take longer because there are many.
    for kernel in module.kernels().take(50) {
        let report = weft_core::check(&module, kernel, &launch);
        let text = report
            .map_or_else(|error| error.to_string(), |report| format!("{:?}", report.verdict()));
        assert!(!text.is_empty());
    }
}

#[test]
fn every_extreme_ends() {
    for extreme in ALL {
        let (done, wait) = mpsc::channel();
        let worker = thread::spawn(move || {
            check(extreme);
            let _ = done.send(());
        });
        let outcome = wait.recv_timeout(PATIENCE);
        assert!(outcome != Err(mpsc::RecvTimeoutError::Timeout), "{} does not end", extreme.name);
        worker.join().expect(extreme.name);
    }
}
