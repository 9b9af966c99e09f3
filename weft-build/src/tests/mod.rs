//! Build scripts with compilers that are shell scripts, which write down how they are called.

#![cfg(unix)]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use tempfile::TempDir;

use crate::script::BuildScript;
use crate::{BuildError, BuiltPtx, Cuda, Rust, hash, nvcc};

mod outputs;
mod saved;

/// An nvcc that compiles: it writes its arguments beside itself, PTX, and the files that it read.
const COMPILES: &str = r#"printf '%s\n' "$@" > "$(dirname "$0")/arguments"
while [ $# -gt 0 ]; do
    case $1 in -o) ptx=$2;; -MF) list=$2;; esac
    shift
done
printf '.version 8.0\n.target sm_80%s\n' "$DEBUG" > "$ptx"
printf 'k.ptx : kernels/k.cu \\\n kernels/tile.h \\\n /cuda/a.h\n' > "$list"
"#;
const REFUSES: &str = "echo 'kernels/k.cu(3): error: no such thing' >&2; exit 2\n";

/// What a build script wrote for cargo.
#[derive(Clone, Default)]
struct Lines(Rc<RefCell<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A package with kernels, a folder for tools, and an `OUT_DIR`.
struct Crate {
    dir: TempDir,
    variables: BTreeMap<OsString, OsString>,
    lines: Lines,
}

impl Crate {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["kernels", "out", "tools"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        for (file, text) in [("k.cu", "source"), ("k.rs", "source"), ("k.ptx", "saved")] {
            fs::write(dir.path().join("kernels").join(file), text).unwrap();
        }
        let own = Self { dir, variables: BTreeMap::new(), lines: Lines::default() };
        let out = own.path("out");
        let package = own.path("");
        own.with("OUT_DIR", out)
            .with("CARGO_MANIFEST_DIR", package)
            .with("TARGET", "a-b-c")
            .with("HOST", "a-b-c")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Adds a tool, which the variable names. Another process writes its file: one that this process had open could not
    /// be executed while a process that another test starts has it open too.
    fn with_tool(self, variable: &str, text: &str) -> Self {
        let file = self.path("tools").join(variable);
        let draft = file.with_extension("draft");
        fs::write(&draft, format!("#!/bin/sh\n{text}")).unwrap();
        let install = Command::new("install").args(["-m", "755"]).args([&draft, &file]).status();
        assert!(install.unwrap().success());
        self.with(variable, file)
    }

    fn script(&self) -> BuildScript<'_> {
        let toolkit = self.path("toolkit");
        BuildScript::new(self.variables.clone(), toolkit, Box::new(self.lines.clone()))
    }

    fn compile(&self, source: Cuda<'_>) -> Result<BuiltPtx, BuildError> {
        source.compile_in(&mut self.script())
    }

    /// Returns the values of the lines for cargo with this key.
    fn told(&self, key: &str) -> Vec<String> {
        let text = String::from_utf8(self.lines.0.borrow().clone()).unwrap();
        let prefix = format!("cargo::{key}=");
        text.lines().filter_map(|line| line.strip_prefix(&prefix)).map(str::to_owned).collect()
    }

    fn arguments(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("tools/arguments")).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

fn source() -> Cuda<'static> {
    Cuda { saved: Some("kernels/k.ptx"), ..Cuda::new("kernels/k.cu", "sm_80") }
}

#[test]
fn nvcc_gets_the_flags() {
    // What cargo and `cc` make of a dev profile does not matter.
    let own = Crate::new().with_tool("NVCC", COMPILES).with("DEBUG", "true").with("OPT_LEVEL", "0");
    let built = own
        .compile(Cuda {
            name: "small",
            include: &["inc", "/opt/inc"],
            define: &["TILE=64", "FAST"],
            flags: &["-std=c++17"],
            ..source()
        })
        .unwrap();
    let (ptx, list) = (own.path("out/small.ptx"), own.path("out/small.d"));
    let (ptx, list) = (ptx.to_str().unwrap(), list.to_str().unwrap());
    let expected = [
        "-ptx",
        "-lineinfo",
        "-arch=sm_80",
        "-Iinc",
        "-I/opt/inc",
        "-DTILE=64",
        "-DFAST",
        "-std=c++17",
        "kernels/k.cu",
        "-o",
        ptx,
        "-MD",
        "-MF",
        list,
    ];
    assert_eq!(own.arguments(), expected);
    assert_eq!(
        built,
        BuiltPtx { path: ptx.into(), from: "kernels/k.cu".into(), is_compiled: true }
    );
    assert!(fs::read_to_string(ptx).unwrap().starts_with(".version"));
    assert_eq!(own.told("warning"), [""; 0]);
}

#[test]
fn what_nvcc_reads_is_watched() {
    let own = Crate::new().with_tool("NVCC", COMPILES);
    own.compile(source()).unwrap();
    let files = ["kernels/k.cu", "kernels/k.ptx", "kernels/tile.h", "/cuda/a.h"];
    assert_eq!(own.told("rerun-if-changed"), files);
    let variables = own.told("rerun-if-env-changed");
    for name in [
        "NVCC",
        "HOST_NVCC",
        "NVCC_a-b-c",
        "NVCC_a_b_c",
        "CUDA_HOME",
        "CUDA_PATH",
        "NVCC_APPEND_FLAGS",
    ] {
        assert!(variables.iter().any(|own| own == name), "{name} in {variables:?}");
    }
}

#[test]
fn without_nvcc_the_saved_ptx_is_taken_silently() {
    let own = Crate::new();
    assert!(nvcc::find(&mut own.script()).unwrap().is_none());
    let built = own.compile(source()).unwrap();
    assert_eq!((built.from.as_str(), built.is_compiled), ("kernels/k.ptx", false));
    assert_eq!(fs::read_to_string(built.path).unwrap(), "saved");
    assert_eq!(own.told("warning"), [""; 0]);
    let error = own.compile(Cuda { saved: None, ..source() }).unwrap_err();
    // What cargo shows of an error that `main` returns.
    let text = format!("{error:?}");
    let start = "no compiler for kernels/k.cu, and no saved PTX is named: ";
    assert!(text.starts_with(start) && text.contains("CUDA_HOME"), "{text}");
    let error = own.compile(Cuda { saved: Some("kernels/j.ptx"), ..source() }).unwrap_err();
    let start = "no compiler for kernels/k.cu, and there is no saved PTX kernels/j.ptx: ";
    assert!(error.to_string().starts_with(start), "{error}");
}

#[test]
fn a_source_that_nvcc_refuses_is_warned_of() {
    let own = Crate::new().with_tool("NVCC", REFUSES);
    let built = own.compile(Cuda { include: &["inc"], ..source() }).unwrap();
    assert_eq!(built.from, "kernels/k.ptx");
    assert_eq!(fs::read_to_string(built.path).unwrap(), "saved");
    let warnings = own.told("warning");
    assert!(warnings[0].contains("kernels/k.ptx is used"), "{warnings:?}");
    assert_eq!(warnings[1], "kernels/k.cu(3): error: no such thing");
    // A header that is corrected is reason enough to try again.
    let files = own.told("rerun-if-changed");
    assert_eq!(files, ["kernels/k.cu", "kernels/k.ptx", "kernels", "inc"]);
    let error = own.compile(Cuda { saved: None, ..source() }).unwrap_err();
    assert!(error.to_string().contains("error: no such thing"), "{error}");
    let own = Crate::new().with_tool("NVCC", REFUSES);
    let error = own.compile(Cuda { saved: Some("kernels/j.ptx"), ..source() }).unwrap_err();
    let start = "kernels/k.cu cannot be compiled, and there is no saved PTX kernels/j.ptx:\n";
    assert!(error.to_string().starts_with(start), "{error}");
    assert_eq!(own.told("warning"), [""; 0], "nothing is used in its place");
}

#[test]
fn a_compiler_that_is_not_there_is_warned_of() {
    let own = Crate::new().with("NVCC", "/nowhere/nvcc");
    assert!(!own.compile(source()).unwrap().is_compiled);
    assert!(
        own.told("warning")[1].starts_with("cannot start `/nowhere/nvcc`"),
        "{:?}",
        own.told("warning")
    );
}

#[test]
fn ptx_for_a_debugger_is_warned_of() {
    let own = Crate::new().with_tool("NVCC", &COMPILES.replace("$DEBUG", ", debug"));
    own.compile(source()).unwrap();
    assert!(own.told("warning")[0].contains("remove `-G`"), "{:?}", own.told("warning"));
}

#[test]
fn a_mistyped_source_is_an_error() {
    let own = Crate::new().with_tool("NVCC", COMPILES);
    let error = own.compile(Cuda { source: "kernels/j.cu", ..source() }).unwrap_err();
    assert!(error.to_string().contains("kernels/j.cu"), "{error}");
}

#[test]
fn saved_ptx_that_is_not_needed_need_not_be_there() {
    let own = Crate::new().with_tool("NVCC", COMPILES);
    own.compile(Cuda { saved: Some("kernels/j.ptx"), ..source() }).unwrap();
    // Cargo would run the script at every build if it watched a file that is not there.
    assert_eq!(own.told("rerun-if-changed"), ["kernels/k.cu", "kernels/tile.h", "/cuda/a.h"]);
}

#[test]
fn a_variable_can_name_a_wrapper() {
    let own = Crate::new().with_tool("NVCC", COMPILES);
    let wrapped = format!("sh {}", own.path("tools/NVCC").display());
    assert!(own.with("NVCC", wrapped).compile(source()).unwrap().is_compiled);
}

#[test]
fn the_nearest_nvcc_is_found() {
    let program = |own: &Crate| {
        let found = nvcc::find(&mut own.script()).unwrap().unwrap();
        Path::new(found.get_program()).to_owned()
    };
    let own = Crate::new();
    for folder in ["home/bin", "path"] {
        fs::create_dir_all(own.path(folder)).unwrap();
        fs::write(own.path(folder).join("nvcc"), "").unwrap();
    }
    let (home, path) = (own.path("home"), own.path("path"));
    let own = own.with("CUDA_PATH", &home);
    assert_eq!(program(&own), home.join("bin/nvcc"));
    let own = own.with("PATH", &path);
    assert_eq!(program(&own), path.join("nvcc"));
    let own = own.with("NVCC", "/other/nvcc");
    assert_eq!(program(&own), Path::new("/other/nvcc"));
    let own = own.with("NVCC_a_b_c", "/own/nvcc");
    assert_eq!(program(&own), Path::new("/own/nvcc"));
}

/// A rustc of some release that compiles as `COMPILES` does.
fn rustc(release: &str) -> String {
    format!(
        r#"if [ "$1" = -vV ]; then echo 'release: {release}'; exit; fi
printf '%s\n' "$@" > "$(dirname "$0")/arguments"
for word; do
    case $word in
        --emit=asm=*) echo compiled > "${{word#--emit=asm=}}";;
        --emit=dep-info=*) echo 'k.ptx: kernels/k.rs kernels/lang.rs' > "${{word#--emit=dep-info=}}";;
    esac
done
"#
    )
}

#[test]
fn rustc_compiles_if_it_accepts_unstable_features() {
    for (release, bootstrap, is_compiled) in
        [("1.95.0", "", false), ("1.95.0", "1", true), ("1.96.0-nightly", "", true)]
    {
        let own =
            Crate::new().with_tool("RUSTC", &rustc(release)).with("RUSTC_BOOTSTRAP", bootstrap);
        let source = Rust { saved: Some("kernels/k.ptx"), ..Rust::new("kernels/k.rs", "sm_80") };
        let built = source.compile_in(&mut own.script()).unwrap();
        assert_eq!(built.is_compiled, is_compiled, "{release} {bootstrap}");
        assert_eq!(own.told("rerun-if-env-changed"), ["RUSTC_BOOTSTRAP"]);
        if !is_compiled {
            assert_eq!(own.told("warning"), [""; 0]);
            continue;
        }
        let text = fs::read_to_string(built.path).unwrap();
        assert!(text.starts_with("compiled\n"), "{text}");
        assert!(
            text.contains("\n// weft-build: options --edition=2024 -Ctarget-cpu=sm_80\n"),
            "{text}"
        );
        assert!(own.told("rerun-if-changed").contains(&"kernels/lang.rs".to_owned()));
        let arguments = own.arguments().join(" ");
        for flag in
            ["--target nvptx64-nvidia-cuda", "target-cpu=sm_80", "debuginfo=line-directives-only"]
        {
            assert!(arguments.contains(flag), "{flag} in {arguments}");
        }
    }
}
