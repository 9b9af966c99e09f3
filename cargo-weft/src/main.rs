//! `cargo weft`: finds deadlocks, unsafe barriers and data races in the GPU kernels of a workspace, without a GPU.
//!
//! Builds what has a build script, collects PTX, checks every kernel under every launch of its weft.toml, prints what
//! came of it. The exit code says the same: see [`exit::Exit`].

mod account;
mod arguments;
mod cache;
mod cargo;
mod check;
mod collect;
mod compile;
mod detail;
mod dump;
mod exit;
mod explain;
mod files;
mod list;
mod mutate;
mod options;
mod outside;
mod parallel;
mod print;
mod select;
mod settings;
mod test;

use std::process::ExitCode;

use arguments::Command;
use exit::{Exit, Failure};
use print::Printer;

fn main() -> ExitCode {
    weft_harness::case::hook_panics();
    let (command, output) = arguments::parse(std::env::args_os());
    let mut printer = Printer::new(&output);
    let exit = run(command, &mut printer).unwrap_or_else(|failure| {
        printer.failure(&failure);
        failure.exit()
    });
    exit.into()
}

fn run(command: Command, printer: &mut Printer) -> Result<Exit, Failure> {
    match command {
        Command::Test(arguments) => test::run(&arguments, printer),
        Command::Check(arguments) => check::run(&arguments, printer),
        Command::Mutate(arguments) => mutate::run(&arguments, printer),
        Command::List(arguments) => list::run(&arguments, printer),
        Command::Explain(arguments) => explain::run(arguments.code, printer),
        Command::Dump(what) => dump::run(&what, printer),
    }
}
