//! Runs test binaries with an active mutant until one fails.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::tree::{Binary, Result};

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    /// The name of the failed test, or how the binary ended.
    Failed(String),
    /// The run did not end in time.
    Hung,
}

/// A test binary that passes without a mutant.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) binary: Binary,
    /// Maximum processor time of a run: a multiple of the time without a mutant, since the machine has other work.
    limit: Duration,
    /// Serializes the runs of this binary, because its tests write to folders that are unique within one run only.
    turn: Mutex<()>,
}

/// A run that waits instead of computing is ended after this multiple of its limit in real time.
const IDLE: u32 = 20;

/// Maximum processor time of a run without a mutant.
const LONGEST: Duration = Duration::from_secs(900);

impl Stage {
    /// Runs a binary without a mutant. Returns the time it took and its stage, or the outcome if it did not pass.
    pub(crate) fn measure(
        binary: Binary,
    ) -> Result<std::result::Result<(Duration, Self), Outcome>> {
        let began = Instant::now();
        let outcome = run(&binary, None, LONGEST)?;
        let took = began.elapsed();
        let stage =
            Self { binary, limit: took * 5 + Duration::from_secs(20), turn: Mutex::new(()) };
        Ok(if outcome == Outcome::Passed { Ok((took, stage)) } else { Err(outcome) })
    }

    /// Runs the binary with the mutant of this number active.
    pub(crate) fn run(&self, mutant: usize) -> Result<Outcome> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        run(&self.binary, Some(mutant), self.limit)
    }
}

fn run(binary: &Binary, mutant: Option<usize>, limit: Duration) -> Result<Outcome> {
    let mut command = Command::new(&binary.path);
    command.current_dir(&binary.folder).env_remove("WEFT_MUTANT").process_group(0);
    command.envs(mutant.map(|number| ("WEFT_MUTANT", number.to_string())));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let output = child.stdout.take().ok_or("the test has no output")?;
    let ended = wait(&first_failure(output), child.id(), limit);
    if ended != Err(RecvTimeoutError::Disconnected) {
        kill(&child)?;
    }
    let status = child.wait()?;
    Ok(match ended {
        Ok(test) => Outcome::Failed(test),
        Err(RecvTimeoutError::Timeout) => Outcome::Hung,
        Err(RecvTimeoutError::Disconnected) if status.success() => Outcome::Passed,
        Err(RecvTimeoutError::Disconnected) => Outcome::Failed(match status.signal() {
            Some(signal) => format!("killed by signal {signal}"),
            None => "failed".to_owned(),
        }),
    })
}

/// Waits for the first failure or the end of the output. Times out when the process has used `limit` of processor time,
/// so that other work on the machine does not matter, or after [`IDLE`] times as much real time.
fn wait(
    failure: &Receiver<String>,
    process: u32,
    limit: Duration,
) -> std::result::Result<String, RecvTimeoutError> {
    let began = Instant::now();
    loop {
        let ended = failure.recv_timeout(limit);
        let is_over = began.elapsed() > limit * IDLE || processor_time(process) > Some(limit);
        if ended != Err(RecvTimeoutError::Timeout) || is_over {
            return ended;
        }
    }
}

/// Returns user and system time of a process and of the children that it has waited for (proc(5)); `None` if the
/// process has ended.
fn processor_time(process: u32) -> Option<Duration> {
    /// Ticks a second in `/proc`, which is fixed.
    const TICK: u32 = 100;
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The fields follow the process name in parentheses, which can contain any characters.
    let fields = stat.rsplit_once(')')?.1.split_whitespace();
    let ticks: u32 = fields.skip(11).take(4).filter_map(|own| own.parse::<u32>().ok()).sum();
    Some(Duration::from_secs(1) * ticks / TICK)
}

/// Returns a channel that receives the names of failed tests, and disconnects when the output ends.
fn first_failure(output: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(std::result::Result::ok) {
            let failed = line.strip_prefix("test ").and_then(|own| own.strip_suffix("FAILED"));
            if let Some(test) = failed {
                // The receiver is gone after the first failure.
                sender.send(test.trim_end_matches([' ', '.']).to_owned()).ok();
            }
        }
    });
    receiver
}

/// Ends a test binary and the processes that it started.
fn kill(child: &Child) -> Result<()> {
    let group = Pid::from_raw(i32::try_from(child.id())?);
    // The process might have ended already.
    killpg(group, Signal::SIGKILL).ok();
    Ok(())
}
