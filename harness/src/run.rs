//! The `main` function of a crate's own `tests/weft.rs`.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, ColorSetting, Trial};

use crate::cache::Cache;
use crate::case::{
    Job, Package, PlanError, Settle, hook_panics, launch_notes, lost_launches, plan, refused_calls,
    trials_with,
};
use crate::record::MostLaunches;

/// The exit code if the cases cannot be planned, which is libtest's for a failure.
const UNPLANNED: u8 = 101;

/// Checks the PTX of the package in `manifest_dir` as a libtest-compatible test binary, with the process's arguments.
/// `out_dir` is the folder that its build script wrote to; verdicts are kept in the target directory, the parent of
/// `target_tmp`. If the cases cannot be planned, the process fails with the reason, whatever cases its arguments select: no
/// selection may hide that nothing was checked.
pub fn main(
    manifest_dir: &str,
    package: &str,
    out_dir: Option<&str>,
    target_tmp: Option<&str>,
) -> ExitCode {
    let arguments = Arguments::from_args();
    hook_panics();
    let cache = target_tmp
        .filter(|_| !is_set("WEFT_NO_CACHE"))
        .and_then(|tmp| Path::new(tmp).parent())
        .and_then(|target| Cache::of_test_binary(target).ok())
        .map(Arc::new);
    match cases(manifest_dir, package, out_dir, is_coloured(&arguments), cache) {
        Ok((notes, trials)) => {
            for note in notes {
                // If standard error cannot be written, the cases still say what fails.
                let _ = writeln!(std::io::stderr(), "note: {note}");
            }
            libtest_mimic::run(&arguments, trials).exit_code()
        }
        Err(error) => {
            // If standard error cannot be written, the exit code remains.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::from(UNPLANNED)
        }
    }
}

/// Whether a variable of the environment has a value that does not say no.
fn is_set(name: &str) -> bool {
    let value = std::env::var_os(name).unwrap_or_default().to_string_lossy().to_lowercase();
    !["", "0", "n", "no", "f", "false", "off"].contains(&value.as_str())
}

/// Returns the cases of a package, and what is to be said of its PTX before they run.
fn cases(
    manifest_dir: &str,
    package: &str,
    out_dir: Option<&str>,
    color: bool,
    cache: Option<Arc<Cache>>,
) -> Result<(Vec<String>, Vec<Trial>), PlanError> {
    let mut package = Package::open(package, Path::new(manifest_dir), out_dir.map(Path::new))?;
    package.records.most = most_launches()?;
    let settle: Settle = match cache {
        None => Arc::new(|_: &Job| ()),
        Some(cache) => Arc::new(move |job: &Job| {
            if !job.is_settled() {
                for (job, key) in cache.keyed(&[job]) {
                    cache.outcome(job, &key);
                }
            }
        }),
    };
    let jobs = plan(&package)?;
    let mut notes: Vec<String> = package.notes().into_iter().map(|(_, note)| note).collect();
    let of_record = package.recorded_notes().into_iter().chain(launch_notes(&jobs));
    notes.extend(of_record.map(|own| own.text));
    notes.extend(package.records.doubtful_calls().iter().map(ToString::to_string));
    let mut cases = trials_with(jobs, color, &settle);
    cases.extend(refused_calls(&package));
    cases.extend(lost_launches(&package));
    Ok((notes, cases))
}

/// Returns how many recorded launches of a kernel are checked.
fn most_launches() -> Result<MostLaunches, PlanError> {
    match std::env::var(MostLaunches::VARIABLE) {
        Ok(text) if !text.is_empty() => {
            text.parse().map_err(|said| PlanError::MostLaunches { said })
        }
        _ => Ok(MostLaunches::default()),
    }
}

fn is_coloured(arguments: &Arguments) -> bool {
    match arguments.color {
        Some(ColorSetting::Always) => true,
        Some(ColorSetting::Never) => false,
        _ => std::env::var_os("NO_COLOR").is_none() && std::io::stdout().is_terminal(),
    }
}
