//! The program that stands in front of nvcc: it runs nvcc as asked, and then repeats the compilation to PTX.
//!
//! The PTX goes to a folder of its own in the `OUT_DIR` of the build script that called nvcc. There it is found as PTX that
//! the build script left itself.

use std::env;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

use super::invocation::{self, ToPtx};
use super::{FAILED, FOLDER, Wrapper};

/// The variables whose words nvcc adds to its arguments, in front and behind.
const PREPENDED: &str = "NVCC_PREPEND_FLAGS";
const APPENDED: &str = "NVCC_APPEND_FLAGS";

/// Runs in place of nvcc; returns its exit code.
pub(super) fn run(wrapper: &Wrapper) -> ExitCode {
    let nvcc = match fs::read_to_string(&wrapper.path_file) {
        Ok(path) => PathBuf::from(path),
        Err(error) => {
            complain(&format!("cannot read {}: {error}", wrapper.path_file.display()));
            return ExitCode::FAILURE;
        }
    };
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    let status = match Command::new(&nvcc).args(&arguments).status() {
        Ok(status) => status,
        Err(error) => {
            complain(&format!("cannot start {}: {error}", nvcc.display()));
            return ExitCode::FAILURE;
        }
    };
    let texts: Option<Vec<String>> =
        arguments.into_iter().map(|word| word.into_string().ok()).collect();
    if let (true, Some(out_dir), Some(texts)) = (status.success(), env::var_os("OUT_DIR"), texts) {
        for compilation in invocation::to_ptx(&expanded(&texts)) {
            repeat(&nvcc, &compilation, Path::new(&out_dir));
        }
    }
    code(status)
}

/// Returns all arguments of nvcc: with those of the variables, and those in files of options.
fn expanded(arguments: &[String]) -> Vec<String> {
    let of_variable = |name| invocation::words(&env::var(name).unwrap_or_default());
    let mut all = Vec::new();
    let given = of_variable(PREPENDED)
        .into_iter()
        .chain(arguments.iter().cloned())
        .chain(of_variable(APPENDED))
        .collect::<Vec<_>>();
    let mut rest = given.into_iter();
    while let Some(word) = rest.next() {
        let file = match word.split_once('=') {
            Some(("-optf" | "--options-file", file)) => Some(file.to_owned()),
            _ if matches!(&word[..], "-optf" | "--options-file") => rest.next(),
            _ => None,
        };
        match file {
            Some(files) => {
                let texts =
                    files.split(',').map(|file| fs::read_to_string(file).unwrap_or_default());
                all.extend(texts.flat_map(|text| invocation::words(&text)));
            }
            None => all.push(word),
        }
    }
    all
}

/// Compiles to PTX. A failure is kept in a file beside the place of the PTX.
fn repeat(nvcc: &Path, compilation: &ToPtx, out_dir: &Path) {
    let package = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let here = env::current_dir().unwrap_or_default();
    let source = here.join(&compilation.source);
    let place =
        out_dir.join(FOLDER).join(name(&source, &compilation.arguments, &[out_dir, &package]));
    let (ptx, failed) = (with_ending(&place, "ptx"), with_ending(&place, FAILED));
    // What an earlier run left is not the result of this one.
    let _ = fs::remove_file(&ptx);
    let _ = fs::remove_file(&failed);
    let started = place.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
        let mut command = Command::new(nvcc);
        command.env_remove(PREPENDED).env_remove(APPENDED);
        command.args(&compilation.arguments).arg("-o").arg(&ptx).output()
    });
    let said = match started {
        Ok(output) if output.status.success() => return,
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    let _ = fs::remove_file(&ptx);
    if let Err(error) = fs::write(&failed, format!("{}\n{said}", source.display())) {
        complain(&format!("cannot write {}: {error}", failed.display()));
    }
}

/// Returns the path of the result in the folder of the captured PTX, without an ending: that of the source in the first of
/// `roots` that contains it, with a hash of the arguments, since a source is often compiled several times. Folders among `roots`
/// have no part in the hash: they differ between machines.
fn name(source: &Path, arguments: &[String], roots: &[&Path]) -> PathBuf {
    let inner = roots.iter().find_map(|root| source.strip_prefix(root).ok()).unwrap_or(source);
    let words = inner.components().filter(|part| matches!(part, Component::Normal(_)));
    let path: PathBuf = words.collect();
    let mut hasher = blake3::Hasher::new();
    for own in arguments {
        let roots = roots.iter().filter_map(|root| root.to_str()).filter(|root| !root.is_empty());
        let own = roots.fold(own.clone(), |own, root| own.replace(root, "."));
        hasher.update(own.as_bytes()).update(&[0]);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.rsplit_once('.').map_or(&*name, |(stem, _)| stem);
    path.with_file_name(format!("{stem}-{}", &hasher.finalize().to_hex()[..8]))
}

/// Returns the path with an ending behind it.
fn with_ending(place: &Path, ending: &str) -> PathBuf {
    let mut path = place.as_os_str().to_owned();
    path.push(".");
    path.push(ending);
    path.into()
}

fn code(status: ExitStatus) -> ExitCode {
    // A compiler that a signal ended has failed.
    ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

#[expect(clippy::print_stderr, reason = "this is nvcc's standard error, not that of `cargo weft`")]
fn complain(text: &str) {
    eprintln!("cargo-weft in front of nvcc: {text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_named_after_their_sources() {
        let roots = [Path::new("/t/out"), Path::new("/p")];
        let name = |source: &str, arguments: &[&str]| {
            let arguments: Vec<_> = arguments.iter().map(|own| (*own).to_owned()).collect();
            let name = name(Path::new(source), &arguments, &roots);
            name.to_str().expect("it is text").to_owned()
        };
        assert!(name("/p/kernels/scan.cu", &[]).starts_with("kernels/scan-"));
        assert!(name("/t/out/made.cu", &[]).starts_with("made-"));
        assert!(name("/cuda/x.cu", &[]).starts_with("cuda/x-"));
        assert!(name("/p/red.f32.cu", &[]).starts_with("red.f32-"));
        let one = name("/p/k.cu", &["-DN=1"]);
        for other in [&["-DN=2"][..], &["-DN=1", "-Iwide"], &["-DN", "=1"]] {
            assert_ne!(one, name("/p/k.cu", other));
        }
        assert_eq!(name("/p/k.cu", &["-I/p/include"]), name("/p/k.cu", &["-I./include"]));
        assert_eq!(with_ending(Path::new("a/red.f32-1"), "ptx"), Path::new("a/red.f32-1.ptx"));
    }
}
