//! Finds nvcc: by the variables that the crate `cc` reads, on the search path, and where the CUDA toolkit is.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::BuildError;
use crate::script::BuildScript;

/// What to do if there is no nvcc.
pub(crate) const REMEDY: &str =
    "install the CUDA toolkit, or name its compiler in NVCC or its folder in CUDA_HOME";
/// Variables that hold the folder of the CUDA toolkit.
const HOMES: [&str; 2] = ["CUDA_HOME", "CUDA_PATH"];
/// Variables that nvcc itself reads.
const OWN: [&str; 3] = ["NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN"];

/// Returns the command that starts nvcc, without arguments; `None` if there is no nvcc. What a variable names is not looked
/// up, so that a mistake in it shows.
pub(crate) fn find(script: &mut BuildScript<'_>) -> Result<Option<Command>, BuildError> {
    for name in OWN {
        script.watched(name)?;
    }
    let mut named = None;
    for name in variables(script) {
        let value = script.watched(&name)?.map(ToOwned::to_owned);
        named = named.or(value);
    }
    let mut folders: Vec<PathBuf> =
        script.variable("PATH").map(|path| env::split_paths(path).collect()).unwrap_or_default();
    for name in HOMES {
        folders.extend(script.watched(name)?.map(|home| Path::new(home).join("bin")));
    }
    folders.push(script.toolkit.join("bin"));
    if let Some(named) = named {
        return Ok(Some(command(named)));
    }
    let program = format!("nvcc{}", env::consts::EXE_SUFFIX);
    let mut files = folders.iter().map(|folder| folder.join(&program));
    let found = files.find(|file| file.is_file());
    if found.is_none() {
        // Only now: whoever has nvcc would compile again for each change of the search path.
        script.watched("PATH")?;
    }
    Ok(found.map(Command::new))
}

/// Returns the variables that can name nvcc, as `cc` has them: the first that is set counts.
fn variables(script: &BuildScript<'_>) -> Vec<String> {
    let text = |name: &str| script.variable(name).and_then(|value| value.to_str()).unwrap_or("");
    let target = text("TARGET");
    let kind = if text("HOST") == target { "HOST" } else { "TARGET" };
    vec![
        format!("NVCC_{target}"),
        format!("NVCC_{}", target.replace('-', "_")),
        format!("{kind}_NVCC"),
        "NVCC".to_owned(),
    ]
}

/// Returns the command that a variable names: a program, or a program such as `ccache` with arguments.
fn command(named: OsString) -> Command {
    let words: Vec<String> = match named.to_str() {
        Some(text) if !Path::new(&named).is_file() => {
            text.split_whitespace().map(str::to_owned).collect()
        }
        _ => Vec::new(),
    };
    match words.split_first() {
        Some((program, arguments)) => {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
        None => Command::new(named),
    }
}
