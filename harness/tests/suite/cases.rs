//! Tests of the way from the files of a package to its test cases.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use weft_core::finding::{Check, Verdict};
use weft_core::launch::{Arg, Fields, Launch};
use weft_harness::case::{
    Checker, JobError, Package, failure, hook_panics, plan, plan_with, trials,
};
use weft_harness::config::Config;
use weft_harness::discover::{globs, in_dir};

const KERNELS: &str = "// made by hand\n\n.version 8.0\n.target sm_80\n.address_size 64\n\
    .visible .entry _Z5scaleILi4EEvPf() { ret; }\n.visible .entry plain() { ret; }\n";
const OVERLOADS: &str = ".version 8.0\n.target sm_80\n.address_size 64\n\
    .visible .entry _Z3addi() { ret; }\n.visible .entry _Z3addf() { ret; }\n";

fn fresh(name: &str, files: &[(&str, &[u8])]) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&dir);
    for (path, contents) in files {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }
    dir
}

fn package(dir: &Path, config: &str) -> Package {
    let config = Config::parse(config, &dir.join("weft.toml")).unwrap();
    Package::new("demo", dir.to_path_buf(), config, in_dir(dir))
}

fn names(package: &Package) -> Vec<String> {
    trials(plan(package).unwrap()).iter().map(|trial| trial.name().to_owned()).collect()
}

#[test]
fn ptx_is_found_by_what_it_holds() {
    let dir = fresh(
        "weft-discover",
        &[
            ("a/kernels.bin", KERNELS.as_bytes()),
            ("b/again.ptx", KERNELS.as_bytes()),
            ("b/broken.ptx", b"\xff\xfe.\0v"),
            ("b/empty.ptx", b""),
            ("note.txt", b"the .version directive"),
        ],
    );
    #[cfg(unix)]
    std::os::unix::fs::symlink(&dir, dir.join("b/loop")).unwrap();
    let found: Vec<String> = in_dir(&dir).into_iter().map(|file| file.display).collect();
    assert_eq!(found, ["a/kernels.bin", "b/broken.ptx", "b/empty.ptx"]);
    assert!(in_dir(&dir.join("absent")).is_empty());

    let pattern = |text: &str| globs(&dir, &[text.to_owned()]);
    assert_eq!(pattern("*/*.bin").unwrap()[0].display, "a/kernels.bin");
    assert!(pattern("*.cubin").unwrap_err().to_string().starts_with("`*.cubin` matches no file"));
}

#[test]
fn cases_are_named_by_package_file_kernel_launch_and_check() {
    let dir =
        fresh("weft-names", &[("k.ptx", KERNELS.as_bytes()), ("o.ptx", OVERLOADS.as_bytes())]);
    let config = "[[kernel]]\nname = \"^plain$\"\n[[kernel.launch]]\nlabel = \"w\"\nblock = 32\n";
    let names = names(&package(&dir, config));
    assert_eq!(names.len(), 12);
    assert_eq!(names[0], "demo::k.ptx::scale<4>::barriers");
    assert_eq!(names[4], "demo::k.ptx::plain@w::shared");
    assert_eq!(names[8], "demo::o.ptx::_Z3addi::global");
}

#[test]
fn nothing_passes_unseen() {
    let dir = fresh("weft-unseen", &[("bad.ptx", b"\xff\xfe"), ("k.ptx", KERNELS.as_bytes())]);
    let whole = package(
        &dir,
        "[[kernel]]\nname = \"^plain$\"\nallow = [{ code = \"limit\", reason = \"r\" }]\n",
    );
    let names = names(&whole);
    assert_eq!((names[0].as_str(), names[7].as_str()), ("demo::bad.ptx::read", "demo::allow"));
    let jobs = plan(&whole).unwrap();
    assert!(
        jobs[0]
            .run()
            .report
            .unwrap_err()
            .to_string()
            .starts_with("bad.ptx:1:1: the file is not UTF-8")
    );

    let none = Package { files: Vec::new(), ..whole.clone() };
    assert!(plan(&none).unwrap_err().to_string().contains("has no PTX"));
    let dead = Package {
        config: Config::parse("[[kernel]]\nname = \"x\"", Path::new("weft.toml")).unwrap(),
        ..whole
    };
    assert!(plan(&dead).is_ok(), "the kernels of an unread file are unknown");
    let dead = Package { files: dead.files[1..].to_vec(), ..dead };
    assert!(plan(&dead).unwrap_err().to_string().starts_with("weft.toml:2:1: no kernel"));
}

/// A panic in one case fails that case only, with the information that a bug report needs; the other cases run.
#[test]
fn a_panic_fails_its_case_alone() {
    let dir = fresh("weft-panic", &[("k.ptx", KERNELS.as_bytes())]);
    let package = package(&dir, "[[kernel]]\nname = \"plain\"\nblock = [16, 2]\n");
    let checker = Checker::new(|module, kernel, launch| {
        assert_ne!(module.name(kernel.name), "plain", "an invariant is broken");
        weft_core::check(module, kernel, launch)
    });
    let jobs = plan_with(&package, &checker);
    hook_panics();
    let jobs = jobs.unwrap();
    assert_eq!(jobs[0].run().report.unwrap().verdict(), Verdict::Clean);
    let error = jobs[1].run().report.unwrap_err();
    assert!(matches!(error, JobError::Panic { .. }));
    let told = error.to_string();
    for part in [
        "kernel `plain` of k.ptx, launched with no grid stated, block 16x2: ",
        "an invariant is broken",
    ] {
        assert!(told.contains(part), "{told}");
    }
    assert!(told.contains("cases.rs:") && told.contains("please report it"), "{told}");
    let told_by = |at: usize| Check::ALL.map(|check| failure(&jobs[at], check, false));
    assert_eq!(told_by(0), [None, None, None]);
    assert_eq!(told_by(1), [Some(told.clone()), Some(told.clone()), Some(told)]);
}

#[test]
fn bytes_that_are_not_utf_8_matter_outside_of_comments_only() {
    let latin = [KERNELS.as_bytes(), b"// caf\xe9\n.file 1 \"caf\xe9.cu\"\n"].concat();
    let marked = ["\u{feff}".as_bytes(), KERNELS.as_bytes()].concat();
    let dir = fresh("weft-bytes", &[("a.ptx", &latin), ("b.ptx", &marked)]);
    let jobs = plan(&package(&dir, "")).unwrap();
    assert_eq!(jobs.len(), 3);
    assert_eq!(
        jobs[2].run().report.unwrap_err().to_string(),
        "b.ptx:1:1: it starts with a byte order mark; save it as UTF-8 without one"
    );
}

/// A source with two kernels, and the PTX that names it.
const SOURCE: &str =
    "__global__ void scale(float *x, int n) {}\n__global__ void add(float *x, int m) {}\n";
const NAMED: &str = ".version 8.0\n.target sm_80\n.address_size 64\n\
    .visible .entry _Z5scalePfi(.param .u64 _Z5scalePfi_param_0, .param .u32 _Z5scalePfi_param_1)\n\
    {\n.loc 1 1 0\nret;\n}\n\
    .visible .entry _Z3addPfi(.param .u64 _Z3addPfi_param_0, .param .u32 _Z3addPfi_param_1)\n\
    {\n.loc 1 2 0\nret;\n}\n.file 1 \"k.cu\"\n";

/// Returns the launch of each kernel of `NAMED` under a configuration.
fn named(folder: &str, config: &str) -> Result<Vec<Launch>, String> {
    let dir = fresh(folder, &[("k.cu", SOURCE.as_bytes()), ("k.ptx", NAMED.as_bytes())]);
    let jobs = plan(&package(&dir, config)).map_err(|error| error.to_string())?;
    Ok(jobs.into_iter().map(|job| job.launch).collect())
}

#[test]
fn arguments_are_stated_by_their_names_in_the_source() {
    let config = "[[kernel]]\nname = '^scale'\nargs = { n = 7, _Z5scalePfi_param_0 = 'buffer' }\nrequires = ['n<9']\n\
        [[kernel]]\nname = '.'\nargs = { 1 = 8, x = { u8 = [1] } }\n[[kernel.launch]]\nlabel = 'a'\nargs.x.4 = 2\n";
    let launches = named("weft-named", config).unwrap();
    let fields = BTreeMap::from([(4, Arg::Integer(2))]);
    let x = Arg::Fields(Fields { bytes: Some(vec![1]), fields });
    let args = BTreeMap::from([(0, x), (1, Arg::Integer(8))]);
    assert_eq!((&launches[0].args, &launches[1].args), (&args, &args));
    assert_eq!(
        (&*launches[0].names, &*launches[1].names),
        (["x", "n"].map(str::to_owned).as_slice(), ["x", "m"].map(str::to_owned).as_slice())
    );
    assert_eq!(launches[0].requires[0].to_string(), "n < 9");
}

#[test]
fn names_that_do_not_fit_are_errors_with_their_place() {
    let kernel = |name: &str, line: &str| format!("[[kernel]]\nname = '{name}'\n{line}\n");
    for (folder, name, line, expected) in [
        (
            "weft-misspelt",
            "^scale",
            "args = { 0 = 1, nn = 7 }",
            "weft.toml:3:17: kernel `scale(float*, int)` has no parameter `nn`; did you mean `n`? its parameters are `x` (0), `n` (1)",
        ),
        // A table for several kernels: each of them has to have the parameter.
        (
            "weft-one-of-two",
            ".",
            "args = { n = 7 }",
            "weft.toml:3:10: kernel `add(float*, int)` has no parameter `n`; its parameters are `x` (0), `m` (1)",
        ),
        (
            "weft-twice",
            "^add",
            "args = { m = 7, 1 = 8 }",
            "weft.toml:3:17: argument 1 is given twice, as `m` and as `1`; keep one of the two",
        ),
        (
            "weft-required",
            "^add",
            "requires = ['#0 < 9', 'm < 4 && q < 2']",
            "weft.toml:3:23: kernel `add(float*, int)` has no parameter `q`; its parameters are `x` (0), `m` (1)",
        ),
    ] {
        let error = named(folder, &kernel(name, line)).unwrap_err();
        assert!(error.contains(&format!("{expected}\n  |\n3 | ")), "{error}");
    }
    let dir = fresh("weft-unnamed", &[("k.ptx", NAMED.as_bytes())]);
    let error = plan(&package(&dir, &kernel("^add", "args = { m = 7 }"))).unwrap_err().to_string();
    assert!(
        error.contains("`_Z3addPfi_param_1` (1); the names in its source are not known"),
        "{error}"
    );
}
