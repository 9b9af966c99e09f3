//! A stand-in for the CUDA driver and runtime libraries that runs no kernel and records every launch.
//!
//! It is the driver (`libcuda.so`) and the shared runtime library (`libcudart.so`) in one: [`install`] writes it into a folder, which
//! then has to be in `LD_LIBRARY_PATH`. A program that loads it sees one device, allocates, copies and launches; what it launches is
//! written into the folder that [`RECORD`] names. The format is documented in `standin/record.rs`.
//!
//! The stand-in is compiled for 64-bit Linux with glibc, the platforms of CUDA on which the variable above works. Elsewhere [`LIBRARY`]
//! is `None`, and [`install`] says why.

mod soname;

use std::io::{self, Write};
use std::path::Path;

/// Name of the environment variable with the folder of the record. Without it, the stand-in records nothing.
pub const RECORD: &str = "WEFT_RECORD";
/// Name of the environment variable that says what the device is: its target and its number of multiprocessors, as `sm_90,132`.
pub const DEVICE: &str = "WEFT_RECORD_DEVICE";
/// Name of the environment variable with the folder that paths in the record are relative to, as far as they lead below it.
pub const ROOT: &str = "WEFT_RECORD_ROOT";
/// Name of the environment variable with the bytes of the largest allocation whose contents are recorded, 65536 without it.
pub const CONTENTS: &str = "WEFT_RECORD_CONTENTS";

/// The name of the library, by which programs that are linked with the driver look for it.
pub const NAME: &str = "libcuda.so.1";
/// Other names by which programs load the driver, the runtime library and libraries beside them, or are linked to them: they lead to the
/// same file. A linker that looks for the static runtime library takes a shared one of its name where it comes to it first.
pub const LINKS: [&str; 6] = [
    "libcuda.so",
    "libcudart.so",
    "libcudart_static.so",
    "libcublas.so",
    "libcublasLt.so",
    "libcurand.so",
];
/// The names by which programs that are linked with the runtime library look for it, one for each major version: files of their own
/// that lead to the library (`src/soname.rs` says why).
pub const RUNTIMES: [&str; 3] = ["libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"];

/// The names by which programs look for cuBLAS, cuBLASLt and cuRAND, of which the library has the functions that frameworks call: files
/// like those of the runtime library.
pub const BESIDE: [&str; 7] = [
    "libcublas.so.11",
    "libcublas.so.12",
    "libcublas.so.13",
    "libcublasLt.so.11",
    "libcublasLt.so.12",
    "libcublasLt.so.13",
    "libcurand.so.10",
];

/// The bytes of the library; `None` on platforms that have no stand-in.
pub const LIBRARY: Option<&[u8]> = built::LIBRARY;

/// Why [`LIBRARY`] is `None`.
pub const REASON: &str = "launches can be recorded on 64-bit Linux with glibc only: there programs look for the driver in a folder that they are told";

#[cfg(weft_standin)]
mod built {
    use std::io;
    use std::path::Path;

    pub(super) const LIBRARY: Option<&[u8]> =
        Some(include_bytes!(concat!(env!("OUT_DIR"), "/libcuda.so")));

    /// Makes `folder/link` lead to the file beside it. A link and no copy: a program that is linked with the driver and loads it by its
    /// other name as well has to get one device, not two.
    pub(super) fn link(file: &str, folder: &Path, link: &str) -> io::Result<()> {
        let path = folder.join(link);
        if std::fs::read_link(&path).is_ok_and(|present| present == Path::new(file)) {
            return Ok(());
        }
        let fresh = tempfile::tempdir_in(folder)?;
        let temporary = fresh.path().join(link);
        std::os::unix::fs::symlink(file, &temporary)?;
        std::fs::rename(temporary, path)
    }
}

#[cfg(not(weft_standin))]
mod built {
    use std::io;
    use std::path::Path;

    pub(super) const LIBRARY: Option<&[u8]> = None;

    pub(super) fn link(_file: &str, _folder: &Path, _link: &str) -> io::Result<()> {
        Ok(())
    }
}

/// Whether the value of [`DEVICE`] is one that the stand-in takes: a target such as `sm_90`, and behind a comma the number of
/// multiprocessors.
pub fn is_device(text: &str) -> bool {
    let (target, count) = text.split_once(',').unwrap_or((text, "1"));
    let digits = target.trim().strip_prefix("sm_").unwrap_or_default();
    let digits = digits.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let holds = |text: &str, range: std::ops::Range<u32>| {
        text.parse().is_ok_and(|number: u32| range.contains(&number))
    };
    holds(digits, 10..1000) && holds(count.trim(), 1..4097)
}

/// Writes the library into a folder, which is made if it is missing, under [`NAME`] and all names that lead to it. A file that is
/// there is replaced as a whole: programs that use it go on with the old one.
///
/// # Errors
/// `Unsupported` on platforms without the stand-in, and what the system says of the folder.
pub fn install(folder: &Path) -> io::Result<()> {
    let unsupported = || io::Error::new(io::ErrorKind::Unsupported, REASON);
    let library = LIBRARY.ok_or_else(unsupported)?;
    std::fs::create_dir_all(folder)?;
    write(folder, NAME, library)?;
    for link in LINKS {
        built::link(NAME, folder, link)?;
    }
    for name in RUNTIMES.into_iter().chain(BESIDE) {
        write(folder, name, &soname::library(name, NAME, library).ok_or_else(unsupported)?)?;
    }
    Ok(())
}

/// Writes a file as a whole, unless it is there.
fn write(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let path = folder.join(name);
    if !std::fs::read(&path).is_ok_and(|present| present == bytes) {
        let mut fresh = tempfile::NamedTempFile::new_in(folder)?;
        fresh.write_all(bytes)?;
        fresh.persist(&path)?;
    }
    Ok(())
}
