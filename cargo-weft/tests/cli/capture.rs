//! Tests of `--capture-nvcc`. A shell script stands for nvcc: it writes a file of "machine code", or with `-ptx` the PTX that
//! lies beside the source.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::{env, fs};

use crate::support::{CLEAN, Folder, RACE, Run};

const NVCC: &str = r#"#!/bin/sh
echo "$@" >> "$NVCC_LOG"
case " $* " in *" -ptx "*) ptx=1;; *) ptx=0;; esac
while [ $# -gt 0 ]; do
    case "$1" in
        -o) out="$2"; shift;;
        *.cu) source="$1";;
    esac
    shift
done
if [ $ptx = 0 ]; then echo code > "$out"; exit 0; fi
if [ -f "${source%.cu}.ptx" ]; then cp "${source%.cu}.ptx" "$out"; exit 0; fi
echo "$source(1): error: no such thing" >&2
exit 2
"#;

/// Returns a build script that compiles these sources to objects.
fn build(sources: &[&str]) -> String {
    let compile = r#"
    let ran = std::process::Command::new(std::env::var_os("NVCC").unwrap_or("nvcc".into()))
        .args(["-O3", "-DN=4", "-gencode", "arch=compute_80,code=sm_80", "-c", source, "-o"])
        .arg(out.join("kernel.o"))
        .status();
    assert!(ran.unwrap().success());"#;
    let one = |source: &&str| format!("\n    let source = {source:?};{compile}");
    let all = sources.iter().map(one).collect::<Vec<_>>().concat();
    format!(
        "fn main() {{\n    println!(\"cargo::rerun-if-changed=build.rs\");\n    \
         let out = std::path::PathBuf::from(std::env::var_os(\"OUT_DIR\").unwrap());{all}\n}}\n"
    )
}

fn package(name: &str, sources: &[&str]) -> Folder {
    let folder = Folder::new(name)
        .with(
            "Cargo.toml",
            format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n"),
        )
        .with("src/lib.rs", "")
        .with("build.rs", build(sources))
        .with("weft.toml", "[default]\nblock = 64\n")
        .with("kernels/own.cu", "")
        .with("kernels/own.ptx", CLEAN)
        .with("kernels/race.cu", "")
        .with("kernels/race.ptx", RACE)
        .with("kernels/broken.cu", "")
        .with("tools/nvcc", NVCC);
    let nvcc = folder.path().join("tools/nvcc");
    fs::set_permissions(nvcc, fs::Permissions::from_mode(0o755)).expect("the script is there");
    folder
}

/// Returns the command with the script for nvcc on the search path.
fn with_nvcc(folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = folder.command(arguments);
    for name in ["NVCC", "CUDA_HOME", "CUDA_PATH", "CUDACXX"] {
        command.env_remove(name);
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = [folder.path().join("tools")].into_iter().chain(env::split_paths(&path));
    let path: OsString = env::join_paths(folders).expect("no folder has a colon in its name");
    command.env("PATH", path).env("NVCC_LOG", folder.path().join("log"));
    command
}

fn weft(folder: &Folder, arguments: &str) -> Run {
    let words: Vec<_> = arguments.split_whitespace().collect();
    Run::of(with_nvcc(folder, &words).output().expect("the binary starts"))
}

#[test]
fn kernels_in_machine_code_are_checked() {
    let folder = package("statics", &["kernels/own.cu", "kernels/race.cu"]);
    weft(&folder, "test").exits(101).complains("package `statics` has no PTX");
    let run = weft(&folder, "test --capture-nvcc").exits(100);
    let run = run.says("weft: 1 clean, 1 defect, 0 open").says("::weft-nvcc/kernels/race-");
    run.says("race_of_neighbours");
    let log = fs::read_to_string(folder.path().join("log")).expect("the script was called");
    let repeated: Vec<_> = log.lines().filter(|line| line.contains("-ptx")).collect();
    assert_eq!(repeated.len(), 2, "{log}");
    assert!(
        repeated[0].starts_with("-O3 -DN=4 -ptx -lineinfo -arch=compute_80 kernels/own.cu -o "),
        "{log}"
    );
    // Without the flag, the user's own build is as it was.
    weft(&folder, "test").exits(101).complains("package `statics` has no PTX");
    // What a build script does not compile any more is gone.
    let folder = folder.with("build.rs", build(&["kernels/own.cu"]));
    weft(&folder, "test --capture-nvcc").exits(0).says("weft: 1 clean, 0 defect, 0 open");
}

#[test]
fn nvcc_in_a_variable_is_captured_too() {
    let folder = package("variable", &["kernels/race.cu"]);
    let mut command = with_nvcc(&folder, &["list", "--capture-nvcc"]);
    let nvcc = folder.path().join("tools/nvcc");
    command.env("PATH", env::var_os("PATH").unwrap_or_default());
    command.env("NVCC", format!("env {}", nvcc.display()));
    Run::of(command.output().expect("the binary starts")).exits(0).says("race_of_neighbours");
}

#[test]
fn a_first_configuration_is_for_what_finds_the_kernels() {
    let folder = package("captured-first", &["kernels/own.cu"]);
    let at = |name: &str| folder.path().join(name);
    let manifest = fs::read_to_string(at("Cargo.toml")).expect("it is there");
    fs::remove_file(at("weft.toml")).expect("it is there");
    let run = weft(&folder, "test").exits(4).complains("CUDA C++, such as kernels/broken.cu");
    run.complains("run with `--capture-nvcc`");
    let dry = weft(&folder, "init --capture-nvcc --dry-run").exits(0);
    dry.says("\n  cargo weft init --capture-nvcc\n");
    let run = weft(&folder, "init --capture-nvcc").exits(0);
    let run = run
        .says("  wrote  weft.toml")
        .says("are in PTX that only `--capture-nvcc` makes, which `cargo test` does not see")
        .says("`weft-build`")
        .says("\n  cargo weft --capture-nvcc\n")
        .says("- run: cargo weft --capture-nvcc\n")
        .says("a runner needs no GPU, but nvcc");
    assert!(!run.out.contains("tests/weft.rs") && !at("tests").exists(), "{run:#?}");
    assert_eq!(fs::read_to_string(at("Cargo.toml")).expect("it is there"), manifest);
    weft(&folder, "--capture-nvcc").exits(0).says("weft: 1 clean");
    let doctor = weft(&folder, "doctor --capture-nvcc").exits(0);
    doctor.says("note    `cargo test` has no PTX to check").says("`weft-build`");
    // A package whose build script leaves other PTX has tests for that.
    let copy = "    std::fs::copy(\"kernels/own.ptx\", out.join(\"own.ptx\")).unwrap();\n}\n";
    let both = build(&["kernels/race.cu"]);
    let both = both.strip_suffix("}\n").expect("it ends so").to_owned() + copy;
    let folder = folder.with("build.rs", both);
    let run = weft(&folder, "init --capture-nvcc").exits(0).says("  wrote  tests/weft.rs");
    run.says("some of these kernels are in PTX that only").says("cargo weft --capture-nvcc");
}

#[test]
fn doctor_knows_what_the_test_sees() {
    let folder = package("captured-test", &["kernels/own.cu"]);
    let manifest = fs::read_to_string(folder.path().join("Cargo.toml")).expect("it is there");
    let harness = "[dev-dependencies]\nweft-harness = { path = \"harness\" }\n[[test]]\nname = \"weft\"\nharness = false\n";
    let folder = folder
        .with("Cargo.toml", manifest + harness)
        .with("tests/weft.rs", "fn main() {}\n")
        .with("harness/Cargo.toml", "[package]\nname = \"weft-harness\"\nedition = \"2024\"\n")
        .with("harness/src/lib.rs", "");
    for flags in ["", " --capture-nvcc"] {
        let run = weft(&folder, &format!("doctor{flags}")).exits(101);
        let run =
            run.says("PROBLEM the test `weft` fails in `cargo test`, which has no PTX to check");
        assert!(!run.out.contains("runs the checks too"), "{run:#?}");
    }
    let folder = folder.with("weft.toml", "ptx = [\"kernels/own.ptx\"]\n[default]\nblock = 64\n");
    weft(&folder, "doctor --capture-nvcc")
        .exits(0)
        .says("ok      `cargo test` runs the checks too");
}

#[test]
fn a_build_that_fails_might_have_called_nvcc() {
    let folder = package("captured-failure", &["kernels/own.cu"]);
    let folder = folder.with("build.rs", "fn main() { std::process::exit(3) }");
    let run = weft(&folder, "--capture-nvcc")
        .exits(101)
        .complains("the build of captured-failure failed");
    assert!(!run.err.contains("called nvcc"), "{run:#?}");
}

#[test]
fn what_cannot_be_compiled_to_ptx_is_said() {
    let folder = package("broken", &["kernels/own.cu", "kernels/broken.cu"]);
    let run = weft(&folder, "test --capture-nvcc").exits(101);
    run.complains("package `broken`: nvcc cannot compile")
        .complains("kernels/broken.cu to PTX")
        .complains("error: no such thing")
        .says("weft: 1 clean");
}

#[test]
fn without_nvcc_there_is_nothing_to_capture() {
    let folder = package("absent", &[]);
    let mut command = with_nvcc(&folder, &["test", "--capture-nvcc"]);
    command.env("NVCC", folder.path().join("nowhere/nvcc"));
    let run = Run::of(command.output().expect("the binary starts"));
    run.exits(101).complains("--capture-nvcc: there is no nvcc");
    weft(&folder, "test --capture-nvcc")
        .exits(101)
        .complains("no build script of the selected packages called nvcc");
}
