//! Runs the checker in a process of its own and reports the time and memory that the process used.

use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// With this as first argument, the benchmark runs the checker with the remaining arguments and prints the resources it
/// used. Each run needs a process of its own, because the operating system reports the peak memory over all children of
/// a process.
pub(crate) const MEASURE: &str = "measure";

/// The result of a check and the resources that it used.
pub(crate) struct Run {
    pub(crate) verdict: String,
    pub(crate) warp_instructions: u64,
    pub(crate) thread_commands: u64,
    pub(crate) generations: u64,
    /// Racing pairs of threads, over all findings.
    pub(crate) pairs: u64,
    pub(crate) usage: Option<Usage>,
}

/// Resources that a process used.
#[derive(Clone, Copy)]
pub(crate) struct Usage {
    /// User and system time on all processors.
    pub(crate) time: Duration,
    pub(crate) peak_kib: u64,
}

/// Checks a file in a process of its own.
pub(crate) fn check(ptx: &Path, grid: u32) -> Result<Run, Box<dyn Error>> {
    let output = Command::new(std::env::current_exe()?)
        .args([MEASURE, "check", "--message-format", "json", "--grid", &grid.to_string()])
        .arg(ptx)
        .stderr(Stdio::inherit())
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let (first, last) = (text.lines().next(), text.lines().last());
    let line: serde_json::Value = serde_json::from_str(first.unwrap_or(""))?;
    let stat = |name: &str| line["stats"][name].as_u64().ok_or(format!("no figures: {line}"));
    let findings = line["findings"].as_array().map_or([].as_slice(), Vec::as_slice);
    let pairs = findings.iter().filter_map(|finding| finding["pairs"].as_object());
    Ok(Run {
        verdict: line["verdict"].as_str().unwrap_or("none").to_owned(),
        warp_instructions: stat("warp_instructions")?,
        thread_commands: stat("thread_commands")?,
        generations: stat("generations")?,
        pairs: pairs.flat_map(|pairs| pairs.values()).filter_map(serde_json::Value::as_u64).sum(),
        usage: last.and_then(Usage::read),
    })
}

/// Runs the checker with this process's standard output, then prints a line with the resources that the checker used.
pub(crate) fn measure(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    // Exit status 100 is a defect, which is expected: some of the kernels race.
    Command::new(env!("CARGO_BIN_EXE_cargo-weft")).args(arguments).status()?;
    if let Some(Usage { time, peak_kib }) = usage()? {
        writeln!(std::io::stdout(), "{} {peak_kib}", time.as_micros())?;
    }
    Ok(())
}

impl Usage {
    /// Parses the line that [`measure`] writes: microseconds and KiB.
    fn read(line: &str) -> Option<Self> {
        let (time, peak) = line.split_once(' ')?;
        Some(Self { time: Duration::from_micros(time.parse().ok()?), peak_kib: peak.parse().ok()? })
    }
}

/// Returns the resources used by the children that have ended.
#[cfg(target_os = "linux")]
fn usage() -> Result<Option<Usage>, Box<dyn Error>> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike as _;

    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    let time = Duration::from_micros(micros.try_into()?);
    Ok(Some(Usage { time, peak_kib: usage.max_rss().try_into()? }))
}

#[cfg(not(target_os = "linux"))]
fn usage() -> Result<Option<Usage>, Box<dyn Error>> {
    Ok(None)
}
