//! Compiles GPU kernels to PTX in a build script.
//!
//! [`Cuda`] compiles CUDA C++ with nvcc, [`Rust`] compiles Rust with rustc. Both write `NAME.ptx` into `OUT_DIR`, with the
//! source lines that reports of cargo-weft and profilers point to, and optimised in every profile: PTX for a debugger
//! (`nvcc -G`) is another program, which `cargo weft` can prove less of. Where there is no compiler, PTX that is saved
//! beside the source takes its place, so that the crate builds on every machine. Cargo runs the build script again if
//! the source, a file that it includes, the saved PTX or a variable that chooses the compiler has changed. PTX that a source
//! made in an earlier run goes when the build script does not compile the source any more.
//!
//! Compiled PTX ends with comments that give the hashes of the sources. Saved PTX that is a copy of it shows whether
//! they have changed since: if so, the build script warns, and `cargo weft` does not check it. Of saved PTX without these
//! comments `cargo weft` says that changes of its source are not seen.
//!
//! In `Cargo.toml`:
//!
//! ```toml
//! [build-dependencies]
//! weft-build = "0.1"
//! ```
//!
//! in `build.rs`:
//!
//! ```no_run
//! use weft_build::{BuildError, Cuda};
//!
//! fn main() -> Result<(), BuildError> {
//!     let kernels = Cuda { saved: Some("kernels/saxpy.ptx"), ..Cuda::new("kernels/saxpy.cu", "sm_80") };
//!     kernels.compile()?;
//!     Ok(())
//! }
//! ```
//!
//! and in `src/lib.rs`:
//!
//! ```ignore
//! pub const PTX: &str = include_str!(concat!(env!("OUT_DIR"), "/saxpy.ptx"));
//! ```
//!
//! Paths are relative to the folder of `Cargo.toml`. `cuda` and `rust` make the commands, `nvcc` finds the CUDA compiler,
//! `attempt` runs a compiler, `depfile` reads which files it read, `built` decides between its PTX and the saved one,
//! `stamp` writes and reads the comments on its sources, by `hash`, `marker` tells cargo-weft of saved PTX, `outputs` is the
//! list of what is made, and `script` is what cargo tells a build script and is told by it.

mod attempt;
mod built;
mod cuda;
mod depfile;
mod hash;
mod marker;
mod nvcc;
mod outputs;
mod rust;
mod script;
mod stamp;
#[cfg(test)]
mod tests;

pub use built::{BuildError, BuiltPtx};
pub use cuda::Cuda;
pub use rust::Rust;
