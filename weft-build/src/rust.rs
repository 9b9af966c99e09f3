//! Rust to PTX.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use crate::attempt::{self, Attempt};
use crate::built::{BuildError, BuiltPtx, Compilation};
use crate::script::BuildScript;
use crate::stamp;

/// What to do if rustc does not accept what kernels need.
const REMEDY: &str = "kernels in Rust take unstable features: build with a nightly toolchain, or set RUSTC_BOOTSTRAP=1";

/// A `.rs` file, with the modules that it names, that rustc compiles to PTX. Made by [`Rust::new`], with what differs in
/// front of it:
///
/// ```no_run
/// # use weft_build::Rust;
/// let kernels = Rust { saved: Some("kernels/sum.ptx"), ..Rust::new("kernels/sum.rs", "sm_80") };
/// kernels.compile()?;
/// # Ok::<(), weft_build::BuildError>(())
/// ```
///
/// A kernel needs `#![feature(abi_ptx)]`, and `core` for the target, which `rustup target add nvptx64-nvidia-cuda` installs.
#[derive(Clone, Copy, Debug)]
pub struct Rust<'a> {
    /// The root of the kernels' crate, relative to the package.
    pub source: &'a str,
    /// The architecture, such as `sm_80`: the oldest devices that the PTX is for.
    pub arch: &'a str,
    /// The name of the file in `OUT_DIR`, without `.ptx`; by default that of the source.
    pub name: &'a str,
    /// Saved PTX, relative to the package, for toolchains that cannot compile the source.
    pub saved: Option<&'a str>,
    /// The edition of the source; by default 2024.
    pub edition: &'a str,
    /// Further flags of rustc, such as `--cfg=small`.
    pub flags: &'a [&'a str],
}

impl<'a> Rust<'a> {
    /// Returns a source without anything that can be left out.
    pub fn new(source: &'a str, arch: &'a str) -> Self {
        let name = Path::new(source).file_stem().and_then(|stem| stem.to_str()).unwrap_or(source);
        Self { source, arch, name, saved: None, edition: "2024", flags: &[] }
    }

    /// Compiles the source to PTX in `OUT_DIR`, or puts the saved PTX there, if the compiler accepts no unstable features or
    /// cannot compile the source. Cargo shows a warning if the source cannot be compiled, or if the saved PTX says that its
    /// source has changed since. Tells cargo when to run the build script again.
    ///
    /// The compiler is the one that compiles the package. It accepts unstable features if it is a nightly one or if
    /// `RUSTC_BOOTSTRAP` is set; this function decides neither.
    ///
    /// # Errors
    /// No source; neither such a compiler nor saved PTX; a source that rustc cannot compile, without saved PTX; another
    /// source that makes the same file; files that cannot be read or written.
    pub fn compile(&self) -> Result<BuiltPtx, BuildError> {
        self.compile_in(&mut BuildScript::of_process())
    }

    pub(crate) fn compile_in(&self, script: &mut BuildScript<'_>) -> Result<BuiltPtx, BuildError> {
        let files = Compilation::new(script, self.source, self.name, self.saved)?;
        let files = Compilation { options: self.options(), ..files };
        let rustc = script.variable("RUSTC").unwrap_or("rustc".as_ref()).to_owned();
        let is_forced = script.watched("RUSTC_BOOTSTRAP")?.is_some();
        let attempt = if is_forced || is_nightly(&rustc) {
            attempt::run(&mut self.command(&rustc, script.package()?, &files))
        } else {
            Attempt::NoCompiler(REMEDY)
        };
        files.settle(script, attempt)
    }

    /// Returns the options that saved PTX must have been compiled with.
    fn options(&self) -> String {
        let own = [format!("--edition={}", self.edition), format!("-Ctarget-cpu={}", self.arch)];
        stamp::options(own.iter().map(String::as_str).chain(self.flags.iter().copied()))
    }

    fn command(&self, rustc: &OsString, package: &Path, files: &Compilation<'_>) -> Command {
        let mut command = Command::new(rustc);
        command.current_dir(package).args(["--edition", self.edition, "--crate-type", "lib"]);
        command.args(["--target", "nvptx64-nvidia-cuda", "-C", "opt-level=3"]);
        command.arg("-C").arg(format!("target-cpu={}", self.arch));
        // `.loc` lines and nothing else: ptxas does not accept all that rustc writes for a debugger.
        command.args(["-C", "debuginfo=line-directives-only", "-C", "codegen-units=1"]);
        // The PTX names sources relative to the package, and is the same in every folder.
        let mut remap = package.as_os_str().to_owned();
        remap.push("/=");
        command.arg("--remap-path-prefix").arg(remap);
        let output = |kind: &str, path: &Path| {
            let mut word = OsString::from(format!("--emit={kind}="));
            word.push(path);
            word
        };
        command.arg(output("asm", &files.ptx)).arg(output("dep-info", &files.depfile));
        command.args(self.flags).arg(self.source);
        command
    }
}

/// Whether a compiler accepts unstable features by itself.
fn is_nightly(rustc: &OsString) -> bool {
    let output = Command::new(rustc).arg("-vV").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let release = |text: &str| {
        let release = text.lines().find_map(|line| line.strip_prefix("release: "))?;
        Some(release.contains("-nightly") || release.contains("-dev"))
    };
    text.ok().and_then(|text| release(&text)).unwrap_or(false)
}
