//! Test binaries run with a mutant on, until one fails.

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

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    /// Which test failed, or what became of the binary.
    Failed(String),
    /// It did not end in time.
    Hung,
}

/// A test binary that passes without a mutant.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) binary: Binary,
    /// What a run may take: several times what it took by itself, since the machine has other work.
    limit: Duration,
    /// Its runs follow each other: tests write to folders of their own, but not of each run.
    turn: Mutex<()>,
}

/// A run that waits instead of computing is given up after so many times its limit.
const IDLE: u32 = 20;

/// What a run without a mutant may take.
const LONGEST: Duration = Duration::from_secs(900);

impl Stage {
    /// Times a binary without a mutant; how it ended where it did not pass.
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

    /// Runs the binary with a mutant on.
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

/// What it tells, until it has run for so long on a processor: where the machine has much other work, it may take longer.
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

/// User and system time of a process and of those that it has waited for (proc(5)); `None`: it has ended.
fn processor_time(process: u32) -> Option<Duration> {
    /// Of a second; the kernel tells no other.
    const TICK: u32 = 100;
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Behind the name, which may hold anything, in parentheses.
    let fields = stat.rsplit_once(')')?.1.split_whitespace();
    let ticks: u32 = fields.skip(11).take(4).filter_map(|own| own.parse::<u32>().ok()).sum();
    Some(Duration::from_secs(1) * ticks / TICK)
}

/// The name of the first test that fails, as soon as it does; it disconnects when the output ends.
fn first_failure(output: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(std::result::Result::ok) {
            let failed = line.strip_prefix("test ").and_then(|own| own.strip_suffix("FAILED"));
            if let Some(test) = failed {
                // Nobody listens after the first.
                sender.send(test.trim_end_matches([' ', '.']).to_owned()).ok();
            }
        }
    });
    receiver
}

/// Ends a test binary and what it started.
fn kill(child: &Child) -> Result<()> {
    let group = Pid::from_raw(i32::try_from(child.id())?);
    // It might have ended meanwhile.
    killpg(group, Signal::SIGKILL).ok();
    Ok(())
}
