//! A stand-in for the CUDA driver library that runs no kernel and records every launch.
//!
//! Programs find it as `libcuda.so` and `libcuda.so.1`: [`install`] writes it into a folder, which then has to be in
//! `LD_LIBRARY_PATH`. A program that loads it sees one device, allocates, copies and launches; what it launches is
//! written into the folder that [`RECORD`] names. The format is documented in `standin/record.rs`.
//!
//! The stand-in is compiled for 64-bit Linux with glibc, the platforms of CUDA on which the variable above works. Elsewhere [`LIBRARY`]
//! is `None`, and [`install`] says why.

use std::io::{self, Write};
use std::path::Path;

/// Name of the environment variable with the folder of the record. Without it, the stand-in records nothing.
pub const RECORD: &str = "WEFT_RECORD";
/// Name of the environment variable that says what the device is: its target and its number of multiprocessors, as `sm_90,132`.
pub const DEVICE: &str = "WEFT_RECORD_DEVICE";
/// Name of the environment variable with the bytes of the largest allocation whose contents are recorded, 65536 without it.
pub const CONTENTS: &str = "WEFT_RECORD_CONTENTS";

/// The names by which programs look for the driver: with its version when they are linked with it, and often without when they load it.
pub const NAMES: [&str; 2] = ["libcuda.so.1", "libcuda.so"];

/// The names by which programs look for the libraries beside the driver, of which the same file has the functions that frameworks call:
/// cuBLAS, cuBLASLt and cuRAND.
pub const BESIDE: [&str; 10] = [
    "libcublas.so.11",
    "libcublas.so.12",
    "libcublas.so.13",
    "libcublas.so",
    "libcublasLt.so.11",
    "libcublasLt.so.12",
    "libcublasLt.so.13",
    "libcublasLt.so",
    "libcurand.so.10",
    "libcurand.so",
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

/// Writes the library into a folder, which is made if it is missing, under both of its [`NAMES`] and those [`BESIDE`] them. A library that is there is replaced
/// as a whole: programs that use it go on with the old one.
///
/// # Errors
/// `Unsupported` on platforms without the stand-in, and what the system says of the folder.
pub fn install(folder: &Path) -> io::Result<()> {
    let library = LIBRARY.ok_or_else(|| io::Error::new(io::ErrorKind::Unsupported, REASON))?;
    std::fs::create_dir_all(folder)?;
    let [file, link] = NAMES;
    let path = folder.join(file);
    if !std::fs::read(&path).is_ok_and(|present| present == library) {
        let mut fresh = tempfile::NamedTempFile::new_in(folder)?;
        fresh.write_all(library)?;
        fresh.persist(&path)?;
    }
    for name in [link].into_iter().chain(BESIDE) {
        built::link(file, folder, name)?;
    }
    Ok(())
}
