//! The variables of the environment that stand for flags. A flag on the command line overrides its variable.

use std::env;
use std::ffi::OsStr;

use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};

/// Returns the command line without the variables that are empty: these count as unset.
pub(super) fn without_empty(command: Command) -> Command {
    let is_empty = |arg: &Arg| {
        let value = arg.get_env().and_then(env::var_os);
        value.is_some_and(|value| value.is_empty())
    };
    command
        .mut_args(|arg| if is_empty(&arg) { arg.env(Resettable::Reset) } else { arg })
        .mut_subcommands(without_empty)
}

/// Adds the name of the variable to an error about its value. A variable has to be right also where a flag overrides it.
pub(super) fn named(error: clap::Error, command: &Command) -> clap::Error {
    if !matches!(error.kind(), ErrorKind::InvalidValue | ErrorKind::ValueValidation) {
        return error;
    }
    let Some(ContextValue::String(about)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidValue) else {
        return error;
    };
    let Some(flag) = about.split([' ', '=']).next() else { return error };
    let all = command.get_subcommands().chain([command]).flat_map(Command::get_arguments);
    let mut of_flag =
        all.filter(|arg| arg.get_long().is_some_and(|long| flag == format!("--{long}")));
    let is_wrong = |name: &&OsStr| env::var_os(name).is_some_and(|value| value == wrong.as_str());
    match of_flag.find_map(|arg| arg.get_env().filter(is_wrong)) {
        Some(name) => {
            let said = error.render().to_string();
            let said = said.trim_start_matches("error: ").lines().next().unwrap_or_default();
            let message = format!("{said}\nthis is the value of the variable {}", name.display());
            command.clone().error(error.kind(), message)
        }
        None => error,
    }
}
