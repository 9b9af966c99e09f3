//! Tests of `init` and `doctor` on packages with build scripts.

use std::fs;

use weft_harness::config::SCHEMA_URL;

use crate::packages::package;
use crate::support::{CLEAN, Folder, RACE, Run};

/// Kernels with names and lines of `kernel.cu`: `put` races for `stride` 0, `pair<...>` are two of one template, and
/// `bound` has a bound for its block.
const PTX: &str = "\
.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 4 .b8 slots[];
.visible .entry put(.param .u64 put_param_0, .param .u32 put_param_1)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .loc 1 1 0
    ld.param.u64 %rd1, [put_param_0];
    ld.param.u32 %r1, [put_param_1];
    mov.u32 %r2, %tid.y;
    mul.lo.s32 %r3, %r1, %r2;
    mul.wide.u32 %rd2, %r3, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
}
.visible .entry _Z4pairIiEvi(.param .u32 _Z4pairIiEvi_param_0) { .loc 1 2 0
    ret; }
.visible .entry _Z4pairIjEvi(.param .u32 _Z4pairIjEvi_param_0) { .loc 1 2 0
    ret; }
.visible .entry bound(.param .u64 bound_param_0, .param .align 8 .b8 bound_param_1[16]) .maxntid 64, 1, 1
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, slots;
    st.shared.u32 [%r1], 1;
    ret;
}
.file 1 \"kernel.cu\"
";
const SOURCE: &str = "extern \"C\" __global__ void put(int *to, int stride) {}\n\
    template <typename T> __global__ void pair(int n) {}\n";

/// Each cta stores its number to a row of `width` words. The rows begin `pitch` words apart: they overlap where that is less.
const ROWS: &str = "\
.version 8.0
.target sm_80
.address_size 64
.visible .entry rows(.param .u64 to, .param .u32 width, .param .u32 pitch)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r1, [width];
    ld.param.u32 %r2, [pitch];
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %ctaid.x;
    setp.ge.u32 %p1, %r3, %r1;
    @%p1 ret;
    mad.lo.u32 %r5, %r4, %r2, %r3;
    mul.wide.u32 %rd2, %r5, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r4;
    ret;
}
";

fn project(name: &str) -> Folder {
    package(name, PTX).with("kernel.cu", SOURCE)
}

fn read(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).expect("the file is there")
}

#[test]
fn a_first_configuration_is_accepted_as_it_is() {
    let folder = project("init-config");
    let manifest = read(&folder, "Cargo.toml");
    folder
        .weft("init --config-only")
        .exits(0)
        .says("init-config: 4 kernels; without a configuration 2 clean, 0 with a defect, 2 open")
        .says("  wrote  weft.toml")
        .says("- run: cargo weft\n");
    let text = read(&folder, "weft.toml");
    for part in [
        "# put(int *to, int stride)\n# Open, ",
        "[[kernel]]\nname = '^put\\b'\n# block = [32, 8]  # a guess; the kernel reads threadIdx.y\n\
         # grid = 1  # a guess; the kernel does not read blockIdx\n\
         # args = { stride = 1024 }  # stride is .u32; pointers need not be given\n",
        "# pair<int>(int n)\n# and 1 more with the same parameters\n# Clean without a table, for ",
        "# [[kernel]]\n# name = '^pair\\b'\n# args = { n = 1024 }  # n is .u32; pointers need not be given\n",
        "# bound(.u64, 16 bytes)\n# Open, race-for-input: ",
        "\n# block = 64  # a guess; at most 64 threads (.maxntid)\n",
        "\n# shared = 4096  # bytes of dynamic shared memory",
        "# args = { 1 = { 0 = 1024, 8 = \"buffer\" } }  # 1 is a structure of 16 bytes",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    assert_eq!(read(&folder, "Cargo.toml"), manifest);
    assert!(!folder.path().join("tests").exists());
    // It decides nothing by itself: the verdicts are those without a configuration.
    folder.weft("").exits(102).says("weft: 2 clean, 0 defect, 2 open");
    let folder = folder
        .with("weft.toml", text.replace("# block = ", "block = ").replace("# grid = ", "grid = "));
    folder.weft("").exits(100).says("block 32x8").says("weft: 2 clean, 2 defect, 0 open");
}

#[test]
fn what_the_host_might_keep_to_is_a_line_that_can_be_used() {
    let folder = package("init-requires", ROWS);
    folder.weft("init --config-only").exits(0).says("0 clean, 0 with a defect, 1 open");
    let text = read(&folder, "weft.toml");
    let comment = "  # if the host keeps to that, the kernel is clean";
    let line = text.lines().find_map(|line| line.strip_suffix(comment)).expect(&text);
    assert_eq!(line, "# requires = [\"pitch >= width\"]");
    let uncommented = text.replace(line, line.trim_start_matches("# "));
    let folder = folder.with("weft.toml", uncommented);
    folder.weft("").exits(0).says("weft: 1 clean, 0 defect, 0 open");
}

#[test]
fn nothing_that_is_there_is_overwritten() {
    let folder = package("init-again", CLEAN);
    let manifest = read(&folder, "Cargo.toml");
    let dry = folder.weft("init --dry-run").exits(0);
    dry.says(&format!("---- weft.toml would be ----\n#:schema {SCHEMA_URL}\n# What `cargo weft`"))
        .says("---- tests/weft.rs would be ----\nweft_harness::main!();")
        .says("+weft-harness = { git = ")
        .says("  cargo weft init\n");
    assert!(!folder.path().join("weft.toml").exists() && read(&folder, "Cargo.toml") == manifest);

    folder.weft("init").exits(0).says("  wrote  tests/weft.rs").says("  added  to Cargo.toml");
    let added = read(&folder, "Cargo.toml");
    let test = "\n[[test]]\nname = \"weft\"\nharness = false\n";
    assert!(added.starts_with(&manifest) && added.contains(test), "{added}");
    assert_eq!(read(&folder, "tests/weft.rs"), "weft_harness::main!();\n");

    // The manifest as it was: what `weft-harness` depends on is not to be fetched here.
    let folder = folder.with("Cargo.toml", manifest).with("weft.toml", "[default]\nblock = 32\n");
    let again = folder.weft("init").exits(0);
    again.says("  kept   weft.toml, which is there already").says("  kept   tests/weft.rs");
    assert_eq!(read(&folder, "weft.toml"), "[default]\nblock = 32\n");
    assert_eq!(read(&folder, "Cargo.toml"), added);
}

#[test]
fn saved_ptx_is_named_and_nothing_is_no_success() {
    let folder = package("init-saved", "").with("build.rs", "fn main() {}");
    folder.weft("init --config-only").exits(101).complains("the file is empty");
    fs::remove_file(folder.path().join("weft.toml")).expect("it was written");
    let folder = folder.with("kernel.ptx", CLEAN).with("saved/race.ptx", RACE);
    folder.weft("init --config-only").exits(0);
    assert!(read(&folder, "weft.toml").contains("\nptx = [\"*.ptx\", \"saved/*.ptx\"]\n"));
    folder.weft("").exits(102).says("clean   init-saved::kernel.ptx::own_slot");
    let bare = Folder::new("init-bare")
        .with("Cargo.toml", "[package]\nname = \"bare\"\nedition = \"2024\"\n[workspace]\n")
        .with("src/lib.rs", "");
    bare.weft("init").exits(4).complains("nothing to check");
}

#[test]
fn doctor_says_what_is_checked() {
    let folder = project("doctor-good");
    folder
        .weft("doctor")
        .exits(0)
        .says("ok      kernel.ptx: 4 kernels, with source lines")
        .says("note    no configuration")
        .says("note    `cargo test` does not run the checks")
        .says("note    nobody states the block of 4 kernels (such as ")
        .says("`cargo weft` checks every kernel that was found");
    let debug = CLEAN.replace("sm_80", "sm_80, debug");
    let folder = folder
        .with("kernel.ptx", debug)
        .with("weft.toml", "[default]\nblock = 64\n[[kernel]]\nname = \"own\"\nskip = \"later\"\n");
    let run = folder.weft("doctor").exits(0);
    assert!(!run.out.contains("nobody states"), "{run:#?}");
    run.says("ok      configuration in weft.toml")
        .says("note    weft.toml skips 1 launch")
        .says("kernel.ptx: 1 kernel, without source lines: ")
        .says("compiled for a debugger");
    let folder = folder.with("weft.toml", "[default]\nblok = 64\n");
    folder.weft("doctor").exits(101).says("weft.toml:2:1: unknown key `blok`");
}

#[test]
fn doctor_knows_the_variable_that_names_nvcc() {
    let folder = project("doctor-nvcc");
    let output = folder.command(&["doctor"]).env("NVCC", "/opt/own/nvcc").output();
    Run::of(output.expect("it starts")).exits(0).says("ok      nvcc: /opt/own/nvcc, as NVCC says");
}

#[test]
fn doctor_says_what_is_not_seen() {
    let build = r#"fn main() {
    let out = std::path::PathBuf::from(std::env::var_os("OUT_DIR").unwrap());
    std::fs::write(out.join("libhost.a"), [b'x'; 70000]).unwrap();
    std::fs::write(out.join("libk.a"), [&[b'x'; 65532][..], b".nv_fatbin"].concat()).unwrap();
    std::fs::write(out.join("k.cubin"), "").unwrap();
}
"#;
    let folder = package("doctor-compiled", "").with("build.rs", build);
    let run = folder.weft("doctor").exits(101);
    run.says("PROBLEM OUT_DIR has compiled GPU code but no PTX (k.cubin, libk.a): machine code is not checked");
    let folder = folder.with("build.rs", "fn main() { std::process::exit(3) }");
    folder.weft("doctor").exits(101).complains("the build of doctor-compiled failed");
    // Cargo keeps what an earlier build script wrote to OUT_DIR.
    let folder = package("doctor-nothing", "").with("build.rs", "fn main() {}");
    folder.weft("doctor").exits(101).complains("nothing to check");
}
