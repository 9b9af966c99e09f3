//! The `main` function of a crate's own `tests/weft.rs`.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, ColorSetting, Trial};

use crate::case::{Package, PlanError, hook_panics, plan, trials_with};

/// The exit code if the cases cannot be planned, which is libtest's for a failure.
const UNPLANNED: u8 = 101;

/// Checks the PTX of the package in `manifest_dir` as a libtest-compatible test binary, with the process's arguments.
/// `out_dir` is the folder that its build script wrote to. If the cases cannot be planned, the process fails with the
/// reason, whatever cases its arguments select: no selection may hide that nothing was checked.
pub fn main(manifest_dir: &str, package: &str, out_dir: Option<&str>) -> ExitCode {
    let arguments = Arguments::from_args();
    hook_panics();
    match cases(manifest_dir, package, out_dir, is_coloured(&arguments)) {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(error) => {
            // If standard error cannot be written, the exit code remains.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::from(UNPLANNED)
        }
    }
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

fn is_coloured(arguments: &Arguments) -> bool {
    match arguments.color {
        Some(ColorSetting::Always) => true,
        Some(ColorSetting::Never) => false,
        _ => std::env::var_os("NO_COLOR").is_none() && std::io::stdout().is_terminal(),
    }
}
