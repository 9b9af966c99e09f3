//! `--solver COMMAND`: runs an SMT solver that the user has, one process for each question.

use std::io::{self, Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use weft_core::SmtSolver;
use weft_harness::case::Checker;

/// How long a question waits for its answer. A solver that can count its own steps, as z3 does with `rlimit`, gives the
/// same answers in each run.
const PATIENCE: Duration = Duration::from_secs(10);

/// A solver that has answered two questions.
#[derive(Debug)]
pub(crate) struct Solver {
    command: String,
    /// What `--version` prints.
    version: String,
}

/// Why a command is not a solver.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SolverError {
    #[error("`--solver` needs the name of a program, such as `z3`")]
    Empty,
    #[error("cannot start the solver `{program}`: {source}")]
    Start { program: String, source: io::Error },
    #[error(
        "`{command}` is no solver: to a script that asks whether {question}, it answers {printed:?} instead of \
         `{expected}`; it has to take the path of an SMT-LIB script as its last argument, as z3 and cvc5 do"
    )]
    Wrong { command: String, question: &'static str, expected: &'static str, printed: String },
}

/// Answers to questions, and the conditions of those.
const KNOWN: [(&str, &str, &str); 2] = [
    ("sat", "a number can be 5", "(assert (= a0 #x05))"),
    ("unsat", "a number can be 5 and 6", "(assert (= a0 #x05)) (assert (= a0 #x06))"),
];

impl Solver {
    /// Splits a command at spaces and asks the solver two questions whose answers are known.
    pub(crate) fn of_command(command: &str) -> Result<Self, SolverError> {
        let solver = Self { command: command.trim().to_owned(), version: String::new() };
        for (expected, question, conditions) in KNOWN {
            let script = format!(
                "(set-option :produce-models true)\n(set-logic QF_BV)\n(declare-const a0 (_ BitVec 8))\n\
                 {conditions}\n(check-sat)\n(get-value (a0))\n"
            );
            let printed = solver.answer(&script)?;
            if printed.lines().next().map(str::trim_end) != Some(expected) {
                let printed = printed.chars().take(200).collect();
                let command = solver.command;
                return Err(SolverError::Wrong { command, question, expected, printed });
            }
        }
        let version = printed(solver.process()?.arg("--version")).unwrap_or_default();
        Ok(Self { version, ..solver })
    }

    /// Returns what tells this solver from others: its command and what it says of its version.
    pub(crate) fn identity(&self) -> String {
        format!("{}\n{}", self.command, self.version)
    }

    /// Returns a checker that asks the solver.
    pub(crate) fn checker(self) -> Checker {
        Checker::new(move |module, kernel, launch| {
            weft_core::check_with(module, kernel, launch, &self)
        })
    }

    fn process(&self) -> Result<Command, SolverError> {
        let mut words = self.command.split_whitespace();
        let mut process = Command::new(words.next().ok_or(SolverError::Empty)?);
        process.args(words);
        Ok(process)
    }

    /// Returns what the solver prints about a script; empty if it prints nothing in time.
    fn answer(&self, script: &str) -> Result<String, SolverError> {
        let mut process = self.process()?;
        let program = process.get_program().to_owned();
        let failed = |source| {
            let program = program.to_string_lossy().into_owned();
            SolverError::Start { program, source }
        };
        let mut file =
            tempfile::Builder::new().prefix("weft-").suffix(".smt2").tempfile().map_err(failed)?;
        file.write_all(script.as_bytes()).map_err(failed)?;
        printed(process.arg(file.path())).map_err(failed)
    }
}

impl SmtSolver for Solver {
    fn name(&self) -> &str {
        &self.command
    }

    fn run(&self, script: &str) -> Option<String> {
        self.answer(script).ok()
    }
}

/// Returns what a program prints; nothing if it does not end in time.
fn printed(process: &mut Command) -> io::Result<String> {
    let silent = process.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = silent.spawn()?;
    let Some(mut stdout) = child.stdout.take() else { return Ok(String::new()) };
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let read = stdout.read_to_end(&mut text);
        // Nobody waits for it after the limit.
        let _ = sender.send(read.map(|_| text));
    });
    let text = receiver.recv_timeout(PATIENCE);
    end(&mut child)?;
    let text = text.unwrap_or_else(|_| Ok(Vec::new()))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Ends a process, whether it has ended by itself or not.
fn end(child: &mut Child) -> io::Result<()> {
    // The process might have ended in the meantime.
    let _ = child.kill();
    child.wait().map(|_| ())
}
