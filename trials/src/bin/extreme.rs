//! `extreme NAME [SIZE]` prints an extreme text, by default at its large size. Without a name it lists the names.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "printing is what it is for")]

use std::process::ExitCode;

use weft_trials::extreme::ALL;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(name) = arguments.next() else {
        for own in ALL {
            println!("{} {}", own.name, own.large);
        }
        return ExitCode::SUCCESS;
    };
    let Some(own) = ALL.iter().find(|own| own.name == name) else {
        eprintln!("there is no `{name}`");
        return ExitCode::FAILURE;
    };
    let size = arguments.next().and_then(|size| size.parse().ok()).unwrap_or(own.large);
    print!("{}", (own.text)(size));
    ExitCode::SUCCESS
}
