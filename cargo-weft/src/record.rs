//! `cargo weft record`: runs a program with the stand-in for the CUDA driver and runtime, and keeps the launches that it makes.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use weft_harness::record::{Record, RecordError, keep_sources, name_by_contents};

use crate::arguments::RecordArgs;
use crate::exit::{Exit, Failure};
use crate::print::Printer;
use crate::recordings;
use crate::select::{self, RecordPlace};
use crate::termination;

/// Why launches cannot be recorded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordingError {
    #[error("cannot install the stand-in for the CUDA driver in {}", .folder.display())]
    Install { folder: PathBuf, source: io::Error },
    #[error("cannot wait for Ctrl-C")]
    Interrupts(#[from] ctrlc::Error),
    #[error("cannot wait for signals")]
    Signals(#[source] io::Error),
    #[error("cannot start `{}`", .program.display())]
    Start { program: PathBuf, source: io::Error },
    #[error("cannot keep the record in {}", .folder.display())]
    Keep { folder: PathBuf, source: io::Error },
    #[error(transparent)]
    Read(#[from] RecordError),
    #[error("`{}` ended with {status}{}", .program.display(), after(*.is_recorded))]
    Program { program: PathBuf, status: ExitStatus, is_recorded: bool },
    #[error(
        "no launches were seen: the program has not called the stand-in for libcuda.so.1 and libcudart.so, which is the first folder of \
         LD_LIBRARY_PATH. Either it uses no CUDA this time; or it sets that variable anew, has other folders built in (`readelf -d PROGRAM`, \
         RPATH), or opens a library by its path: `LD_DEBUG=libs` shows where it looks"
    )]
    NoProcess,
    #[error(
        "no launches were seen: this program, or a library that it loads, links NVIDIA's static runtime (libcudart_static, the default of nvcc), which works with no \
         driver but NVIDIA's; link with the shared one, which is recorded: `nvcc -cudart shared`, in a build script \
         `cc::Build::new().cuda(true).cudart(\"shared\")`, or `cargo::rustc-link-lib=cudart`"
    )]
    StaticRuntime,
    #[error("no launches were seen: the program used CUDA, but launched no kernel{}", kernels_in(*.modules))]
    NoLaunch { modules: usize },
}

/// Returns what is said of the launches of a program that has failed.
fn after(is_recorded: bool) -> &'static str {
    if is_recorded {
        "; what it launched before is recorded. Kernels do not run while they are recorded, so that tests which compare results fail"
    } else {
        ""
    }
}

/// Returns what is said of modules that were loaded.
fn kernels_in(modules: usize) -> String {
    match modules {
        0 => String::new(),
        1 => " of the module that it loaded".to_owned(),
        count => format!(" of the {count} modules that it loaded"),
    }
}

/// The folder that programs find the driver in, below the target directory.
const DRIVER: &str = "weft/driver";
/// What NVIDIA's runtime library asks of the driver, and nobody else: functions that are not documented.
const STATIC_RUNTIME: &str = "cuGetExportTable";
/// The variable with the folders in which programs find their libraries.
const LIBRARIES: &str = "LD_LIBRARY_PATH";

/// Runs the command and keeps its launches.
pub(crate) fn run(arguments: &RecordArgs, printer: &mut Printer) -> Result<Exit, Failure> {
    let RecordPlace { target, root } = select::place(&arguments.selection())?;
    let driver = target.join(DRIVER);
    weft_driver::install(&driver)
        .map_err(|source| RecordingError::Install { folder: driver.clone(), source })?;
    let folder = recordings::folder(&target);
    // Other runs might record at the same time: each has a folder of its own until it ends.
    let own = tempfile::Builder::new().prefix("launches-").tempdir_in(&driver);
    let own = own.map_err(|source| RecordingError::Keep { folder: driver.clone(), source })?;
    let own = own.path();
    let status = status(arguments, &driver, (own, &root))?;
    keep_sources(own, &root)
        .map_err(|source| RecordingError::Keep { folder: own.to_owned(), source })?;
    let destination = arguments.save.as_ref().unwrap_or(&folder);
    let record = Record::outline(own).map_err(RecordingError::from)?.unwrap_or_default();
    if record.is_empty() {
        if has_record(destination) {
            let folder = destination.display();
            printer.notice(&format!("the record that is in {folder} stays as it is"));
        }
    } else {
        name_by_contents(own)
            .map_err(|source| RecordingError::Keep { folder: own.to_owned(), source })?;
        move_to(own, destination, arguments.keep)?;
    }
    told(&record, destination, printer)?;
    if !record.is_empty() && !is_read(destination, &folder) {
        let own = destination.display();
        printer.notice(&format!(
            "`cargo weft` does not read {own}; `cargo weft check --record {own}` does, and the `{}` of a package is read by \
             `cargo weft` and `cargo test`",
            Record::SAVED
        ));
    }
    // A program whose runtime library refuses the stand-in mostly fails: why is what matters.
    if is_refused(&record) {
        return Err(RecordingError::StaticRuntime.into());
    }
    if !status.success() {
        let program = PathBuf::from(&arguments.command[0]);
        let is_recorded = !record.launches().is_empty();
        return Err(RecordingError::Program { program, status, is_recorded }.into());
    }
    match record {
        _ if record.processes == 0 => Err(RecordingError::NoProcess.into()),
        _ if !record.is_empty() => Ok(Exit::Clean),
        _ => Err(RecordingError::NoLaunch { modules: record.module_count() }.into()),
    }
}

/// Returns whether a runtime library of NVIDIA's has refused the stand-in before anything was launched. A program that loads modules
/// itself, such as what NVRTC compiles, does not depend on that library.
fn is_refused(record: &Record) -> bool {
    record.is_empty() && record.module_count() == 0 && record.missing.contains(STATIC_RUNTIME)
}

/// Returns whether a folder has a record, of whatever version.
fn has_record(folder: &Path) -> bool {
    Record::outline(folder).map_or(true, |record| record.is_some_and(|own| !own.is_empty()))
}

/// Returns whether `cargo weft` reads the record in a folder: it is that of the workspace, or one that a package keeps.
fn is_read(folder: &Path, own: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let (folder, own) = (real(folder), real(own));
    let kept = folder.ends_with(Record::SAVED).then(|| folder.ancestors().nth(2)).flatten();
    folder == own || kept.is_some_and(|package| package.join("Cargo.toml").is_file())
}

/// Runs the command with the driver in front of any other.
fn status(
    arguments: &RecordArgs,
    driver: &Path,
    (folder, root): (&Path, &Path),
) -> Result<ExitStatus, RecordingError> {
    let program = PathBuf::from(&arguments.command[0]);
    let before = env::var_os(LIBRARIES).unwrap_or_default();
    let folders = [driver.to_owned()].into_iter().chain(env::split_paths(&before));
    let libraries: OsString = env::join_paths(folders).map_err(|error| {
        RecordingError::Install { folder: driver.to_owned(), source: io::Error::other(error) }
    })?;
    let mut command = Command::new(&program);
    command
        .args(&arguments.command[1..])
        .env(LIBRARIES, libraries)
        .env(weft_driver::RECORD, folder)
        .env(weft_driver::ROOT, fs::canonicalize(root).unwrap_or_else(|_| root.to_owned()));
    if let Some(device) = &arguments.device {
        command.env(weft_driver::DEVICE, device);
    }
    if let Some(bytes) = arguments.contents {
        command.env(weft_driver::CONTENTS, bytes.to_string());
    }
    let start = |source| RecordingError::Start { program: program.clone(), source };
    // Ctrl-C reaches the command as well, and ends it; what it has launched until then is kept.
    ctrlc::set_handler(|| ())?;
    termination::forward(folder).map_err(RecordingError::Signals)?;
    let mut child = command.spawn().map_err(start)?;
    child.wait().map_err(start)
}

/// The folders of a record, and the endings of the files in them.
const PARTS: [(&str, &str); 4] =
    [("modules", "ptx"), ("sources", "txt"), ("contents", "hex"), ("launches", "jsonl")];

/// Puts a record into a folder. `is_added`: the record that is there stays, otherwise it is replaced, once the new one is there.
fn move_to(own: &Path, destination: &Path, is_added: bool) -> Result<(), RecordingError> {
    let keep = |source| RecordingError::Keep { folder: destination.to_owned(), source };
    for (part, ending) in PARTS {
        let (from, to) = (own.join(part), destination.join(part));
        let added = add(&from, &to).map_err(keep)?;
        if !is_added {
            remove_others(&added, &to, ending).map_err(keep)?;
        }
    }
    Ok(())
}

/// Removes from a folder the files of an earlier record that are not in the new one, which has the names `new`; files that no record has
/// stay.
fn remove_others(new: &BTreeSet<OsString>, folder: &Path, ending: &str) -> io::Result<()> {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let entry = entry?;
        let path = entry.path();
        let is_name = |stem: &str| {
            let is_digits =
                |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_hexdigit());
            match ending {
                "jsonl" => stem.split('-').all(is_digits),
                _ => stem.len() == 32 && is_digits(stem),
            }
        };
        let is_of_record = path.extension().is_some_and(|own| own == ending)
            && path.file_stem().and_then(|stem| stem.to_str()).is_some_and(is_name);
        if is_of_record && !new.contains(&entry.file_name()) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Moves the files of a folder to another one. A file that is there has the same contents, since its name is a hash or says which
/// process wrote it when; what is known of sources is that of the later run. Returns their names.
fn add(from: &Path, to: &Path) -> io::Result<BTreeSet<OsString>> {
    let mut names = BTreeSet::new();
    let entries = match fs::read_dir(from) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(names),
        Err(error) => return Err(error),
    };
    fs::create_dir_all(to)?;
    for entry in entries {
        let entry = entry?;
        let target = to.join(entry.file_name());
        // Another file system takes a copy.
        if fs::rename(entry.path(), &target).is_err() {
            fs::copy(entry.path(), target)?;
        }
        names.insert(entry.file_name());
    }
    Ok(names)
}

/// Returns a number with the word for what it counts.
pub(crate) fn counted(count: usize, one: &str, more: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {more}") }
}

/// Says what was recorded.
fn told(record: &Record, folder: &Path, printer: &mut Printer) -> io::Result<()> {
    let kernels: BTreeSet<&str> = record.launches().iter().map(|own| own.kernel.as_str()).collect();
    let refused = record.refused.len();
    if kernels.is_empty() && refused > 0 {
        printer.line(&format!(
            "recorded no launch, and {}, in {}",
            counted(refused, "call that CUDA refuses", "calls that CUDA refuses"),
            folder.display()
        ))?;
    } else if !record.is_empty() {
        printer.line(&format!(
            "recorded {} of {}, by {}, in {}",
            counted(record.launches().len(), "distinct launch", "distinct launches"),
            counted(kernels.len(), "kernel", "kernels"),
            counted(record.processes, "process", "processes"),
            folder.display()
        ))?;
    }
    let doubted = record.doubted().len();
    if doubted > 0 {
        let were = if doubted == 1 { "was" } else { "were" };
        printer.notice(&format!(
            "{doubted} of {} {were} made by a thread after it had read memory that a kernel might have changed, or shared such memory with \
             kernels; kernels do not run here, so on a device other launches might stand there",
            counted(record.launches().len(), "launch", "launches")
        ));
    }
    for call in &record.refused {
        printer.note(&call.to_string());
    }
    for reason in &record.unkept {
        printer.note(&format!("a module of code was not kept: {reason}"));
    }
    for lost in record.lost(&BTreeSet::new(), |_| false) {
        let of = lost.title().map(|own| format!("launches of `{own}`"));
        let of = of.unwrap_or_else(|| "a launch".to_owned());
        printer.notice(&format!("{of} cannot be checked: {}", lost.reason));
    }
    missing(record, printer);
    Ok(())
}

/// Names what the stand-in does not have. NVIDIA's runtime library asks for all that a driver might have, for graphics too, and is said
/// to be there instead; without launches, the error says so.
fn missing(record: &Record, printer: &mut Printer) {
    let has_runtime = record.missing.contains(STATIC_RUNTIME);
    if has_runtime && !is_refused(record) {
        printer.note(
            "a library that the program uses has NVIDIA's static runtime in it, which works with no driver but NVIDIA's; what it \
             launches is not recorded",
        );
    }
    if !has_runtime && !record.missing.is_empty() {
        let names: Vec<&str> = record.missing.iter().map(String::as_str).collect();
        printer.note(&format!(
            "the stand-in does not have {}; the program was told so",
            names.join(", ")
        ));
    }
}
