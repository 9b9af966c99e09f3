//! Runs a compiler.

use std::process::Command;

/// What came of the attempt to compile a kernel.
#[derive(Debug)]
pub(crate) enum Attempt {
    /// The PTX is written. The text is what the compiler warned of.
    Compiled(String),
    /// There is no compiler that could compile it. The text says what to do about it.
    NoCompiler(&'static str),
    /// The compiler could not compile it. The text is what it said.
    Refused(String),
}

/// Runs the compiler and waits for its end.
pub(crate) fn run(command: &mut Command) -> Attempt {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match command.output() {
        Ok(output) if output.status.success() => Attempt::Compiled(text(&output.stderr)),
        Ok(output) => Attempt::Refused(text(&[output.stdout, output.stderr].concat())),
        Err(error) => {
            let program = command.get_program().to_string_lossy();
            Attempt::Refused(format!("cannot start `{program}`: {error}"))
        }
    }
}
