//! `cargo weft`: finds deadlocks, unsafe barriers and data races in the GPU kernels of a workspace, without a GPU.
//!
//! The program runs the packages' build scripts, collects the PTX, checks every kernel under every launch of its
//! `weft.toml`, and prints the findings. The exit code summarizes them: see [`exit::Exit`].

mod account;
mod arguments;
mod baseline;
mod body;
mod capture;
mod cargo;
mod check;
mod collect;
mod compile;
mod coverage;
mod detail;
mod doctor;
mod dump;
mod exit;
mod explain;
mod files;
mod formats;
mod gpu_code;
mod graph;
mod ignored;
mod init;
mod list;
mod manual;
mod mutate;
mod nothing;
mod nvcc;
mod options;
mod outside;
mod parallel;
mod print;
mod record;
mod recordings;
mod repair;
mod report;
mod select;
mod settings;
mod solver;
mod subset;
mod targets;
mod termination;
mod test;
mod unlaunched;

use std::process::ExitCode;

use arguments::Command;
use exit::{Exit, Failure};
use print::Printer;

fn main() -> ExitCode {
    if let Some(exit) = capture::as_nvcc() {
        return exit;
    }
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
        Command::Repair(arguments) => repair::run(&arguments, printer),
        Command::Record(arguments) => record::run(&arguments, printer),
        Command::Init(arguments) => init::run(&arguments, printer),
        Command::Doctor(selection) => doctor::run(&selection, printer),
        Command::Report(arguments) => report::run(&arguments, printer),
        Command::Graph(arguments) => graph::run(&arguments, printer),
        Command::List(arguments) => list::run(&arguments, printer),
        Command::Baseline(arguments) => baseline::run(&arguments, printer),
        Command::Explain(arguments) => explain::run(arguments.code, printer),
        Command::Completions(arguments) => manual::completions(arguments, printer),
        Command::Man(arguments) => manual::man(&arguments, printer),
        Command::Dump(what) => dump::run(&what, printer),
    }
}
