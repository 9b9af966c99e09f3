//! The `main` function of a crate's own `tests/weft.rs`.

use std::io::IsTerminal as _;
use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, ColorSetting, Failed, Trial};

use crate::case::{Package, PlanError, hook_panics, plan, trials_with};

/// Checks the PTX of the package in `manifest_dir` as a libtest-compatible test binary, with the process's arguments.
/// `out_dir` is the folder that its build script wrote to. If the cases cannot be planned, a single case
/// `PACKAGE::plan` fails with the reason.
pub fn main(manifest_dir: &str, package: &str, out_dir: Option<&str>) -> ExitCode {
    let arguments = Arguments::from_args();
    hook_panics();
    let trials = cases(manifest_dir, package, out_dir, is_coloured(&arguments))
        .unwrap_or_else(|error| vec![broken(package, &error)]);
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn cases(
    manifest_dir: &str,
    package: &str,
    out_dir: Option<&str>,
    color: bool,
) -> Result<Vec<Trial>, PlanError> {
    let package = Package::open(package, Path::new(manifest_dir), out_dir.map(Path::new))?;
    Ok(trials_with(plan(&package)?, color))
}

fn broken(package: &str, error: &PlanError) -> Trial {
    let message = error.to_string();
    Trial::test(format!("{package}::plan"), move || Err(Failed::from(message)))
}

fn is_coloured(arguments: &Arguments) -> bool {
    match arguments.color {
        Some(ColorSetting::Always) => true,
        Some(ColorSetting::Never) => false,
        _ => std::env::var_os("NO_COLOR").is_none() && std::io::stdout().is_terminal(),
    }
}
