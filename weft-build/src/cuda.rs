//! CUDA C++ to PTX.

use std::iter;
use std::path::Path;

use crate::attempt::{self, Attempt};
use crate::built::{BuildError, BuiltPtx, Compilation};
use crate::script::BuildScript;
use crate::{nvcc, stamp};

/// A `.cu` file that nvcc compiles to PTX. Made by [`Cuda::new`], with what differs in front of it:
///
/// ```no_run
/// # use weft_build::Cuda;
/// let kernels = Cuda { define: &["TILE=64"], name: "saxpy_64", ..Cuda::new("kernels/saxpy.cu", "sm_80") };
/// kernels.compile()?;
/// # Ok::<(), weft_build::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Cuda<'a> {
    /// The source, relative to the package.
    pub source: &'a str,
    /// The architecture, such as `sm_80`: the oldest devices that the PTX is for.
    pub arch: &'a str,
    /// The name of the file in `OUT_DIR`, without `.ptx`; by default that of the source. Sources that are compiled twice,
    /// or have the same name in different folders, need another one: it is an error if two make the same file.
    pub name: &'a str,
    /// Saved PTX, relative to the package, for machines without nvcc.
    pub saved: Option<&'a str>,
    /// Folders in which nvcc looks for included files.
    pub include: &'a [&'a str],
    /// Macros, as `NAME` or `NAME=VALUE`.
    pub define: &'a [&'a str],
    /// Further flags of nvcc, such as `-std=c++17`.
    pub flags: &'a [&'a str],
}

impl<'a> Cuda<'a> {
    /// Returns a source without anything that can be left out.
    pub fn new(source: &'a str, arch: &'a str) -> Self {
        let name = Path::new(source).file_stem().and_then(|stem| stem.to_str()).unwrap_or(source);
        Self { source, arch, name, saved: None, include: &[], define: &[], flags: &[] }
    }

    /// Compiles the source with nvcc to PTX in `OUT_DIR`, or puts the saved PTX there. Cargo shows a warning if nvcc cannot
    /// compile the source, or if the saved PTX says that its source has changed since. Tells cargo when to run the build
    /// script again.
    ///
    /// nvcc is the one that `NVCC` names (or the other variables of the crate `cc`), otherwise that on the search path,
    /// in `CUDA_HOME`, in `CUDA_PATH`, or in `/usr/local/cuda`.
    ///
    /// # Errors
    /// No source; neither nvcc nor saved PTX; a source that nvcc cannot compile, without saved PTX; another source that
    /// makes the same file; files that cannot be read or written.
    pub fn compile(&self) -> Result<BuiltPtx, BuildError> {
        self.compile_in(&mut BuildScript::of_process())
    }

    pub(crate) fn compile_in(&self, script: &mut BuildScript<'_>) -> Result<BuiltPtx, BuildError> {
        let files = Compilation::new(script, self.source, self.name, self.saved)?;
        let files = Compilation { include: self.include, options: self.options(), ..files };
        let attempt = match nvcc::find(script)? {
            None => Attempt::NoCompiler(nvcc::REMEDY),
            Some(mut command) => {
                command.current_dir(script.package()?).args(["-ptx", "-lineinfo"]);
                command.arg(format!("-arch={}", self.arch));
                command.args(self.include.iter().map(|folder| format!("-I{folder}")));
                command.args(self.define.iter().map(|name| format!("-D{name}")));
                command.args(self.flags).arg(self.source).arg("-o").arg(&files.ptx);
                command.args(["-MD", "-MF"]).arg(&files.depfile);
                attempt::run(&mut command)
            }
        };
        files.settle(script, attempt)
    }

    /// Returns the options that saved PTX must have been compiled with.
    fn options(&self) -> String {
        let arch = format!("-arch={}", self.arch);
        let define = self.define.iter().map(|name| format!("-D{name}"));
        let all: Vec<String> = iter::once(arch)
            .chain(define)
            .chain(self.flags.iter().map(ToString::to_string))
            .collect();
        stamp::options(all.iter().map(String::as_str))
    }
}
