//! Tests of what is said of saved PTX that a build script took, and of configurations that no package has.

use crate::support::{CLEAN, Folder, RACE, Run};

/// Copies the file `kernel.ptx` and the marker that `weft-build` leaves.
const BUILD: &str = r#"fn main() {
    println!("cargo::rerun-if-changed=kernel.ptx");
    println!("cargo::rerun-if-changed=marker");
    let out = std::path::PathBuf::from(std::env::var_os("OUT_DIR").unwrap());
    std::fs::copy("kernel.ptx", out.join("kernel.ptx")).unwrap();
    std::fs::copy("marker", out.join("kernel.ptx.saved")).unwrap();
}
"#;
const HEAD: &str = "saved kernels/k.ptx\nsource kernels/k.cu\nremedy install nvcc\n";
const BLOCK: &str = "[default]\nblock = 64\n";

fn manifest(name: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n")
}

/// Adds a package to a folder, in the folder `at`, whose build script takes `ptx` and leaves a marker.
fn with_package(folder: Folder, at: &str, head: &str, (ptx, marker): (&str, &str)) -> Folder {
    folder
        .with(&format!("{at}Cargo.toml"), head)
        .with(&format!("{at}src/lib.rs"), "")
        .with(&format!("{at}build.rs"), BUILD)
        .with(&format!("{at}kernel.ptx"), ptx)
        .with(&format!("{at}marker"), format!("{HEAD}{marker}"))
        .with(&format!("{at}weft.toml"), BLOCK)
}

fn package(name: &str, marker: &str) -> Folder {
    let head = manifest(name) + "[workspace]\n";
    with_package(Folder::new(name), "", &head, (CLEAN, marker))
}

/// Returns the lines of standard error that are notes on saved PTX.
fn notes(run: &Run) -> Vec<&str> {
    run.err
        .lines()
        .filter(|line| line.starts_with("note: ") && line.contains("saved PTX"))
        .collect()
}

#[test]
fn saved_ptx_is_never_silent() {
    let folder = package("saved-unknown", "unknown why\n");
    let told = "note: saved-unknown::kernel.ptx is saved PTX (kernels/k.ptx), not compiled from kernels/k.cu in this \
                build: changes of the source since are not seen (why); install nvcc";
    for command in
        ["", "-q", "list", "test --message-format json", "test --message-format short", "report"]
    {
        let run = folder.weft(command).exits(0);
        assert_eq!(notes(&run), [told], "{command}");
    }
    folder.weft("doctor").exits(0).says("note    kernel.ptx is saved PTX (kernels/k.ptx), not");
    let folder = folder.with("marker", format!("{HEAD}current\n"));
    for command in ["", "doctor"] {
        let run = folder.weft(command).exits(0);
        assert!(!run.err.contains("saved PTX") && !run.out.contains("saved PTX"), "{run:#?}");
    }
}

#[test]
fn quiet_needs_one_line_for_many_files() {
    let folder = Folder::new("saved-many")
        .with("Cargo.toml", "[workspace]\nmembers = [\"one\", \"two\"]\nresolver = \"3\"\n");
    let unknown = (CLEAN, "unknown why\n");
    let folder = with_package(folder, "one/", &manifest("one"), unknown);
    let folder = with_package(folder, "two/", &manifest("two"), unknown);
    assert_eq!(notes(&folder.weft("").exits(0)).len(), 2);
    let run = folder.weft("-q").exits(0);
    let told = "note: 2 files are saved PTX, not compiled in this build: changes of their sources since are not seen: \
                one::kernel.ptx, two::kernel.ptx";
    assert_eq!(notes(&run), [told]);
}

#[test]
fn ptx_that_is_older_than_its_source_is_an_error() {
    let folder = package("saved-changed", "changed kernels/k.cu\n");
    let told = "kernel.ptx: could not be checked: saved PTX (kernels/k.ptx) is older than its source: kernels/k.cu changed \
                since; compile it anew, and save the result: install nvcc";
    let run = folder.weft("").exits(101).complains(&format!("error: {told}"));
    run.says("weft: 0 clean, 0 defect, 0 open, 1 could not be checked");
    folder.weft("-q").exits(101).complains(told);
    folder.weft("list").exits(101).complains(told);
    folder.weft("doctor").exits(101).says(&format!("PROBLEM {told}"));
    for format in ["json", "junit", "sarif", "github", "rustc"] {
        let run = folder.weft(&format!("test --message-format {format}")).exits(101);
        run.says("is older than its source: kernels/k.cu changed since");
    }
    // Not even a defect of the old text is told: it might be repaired in the source.
    let folder = folder.with("kernel.ptx", RACE);
    let run = folder.weft("").exits(101);
    assert!(!run.out.contains("race"), "{run:#?}");
}

#[test]
fn a_configuration_that_no_package_has_is_named() {
    let folder = Folder::new("ignored-config")
        .with("Cargo.toml", "[workspace]\nmembers = [\"one\"]\nresolver = \"3\"\n")
        .with("weft.toml", BLOCK);
    let folder = with_package(folder, "one/", &manifest("one"), (CLEAN, "current\n"));
    let told = "weft.toml is ignored: it is in the folder of a workspace, where there is no package; put it beside the \
                Cargo.toml of the package";
    folder.weft("").exits(0).complains("warning: ").complains(told);
    folder.weft("list").exits(0).complains(told);
    let run = folder.weft("doctor").exits(101).says("  PROBLEM ").says(told);
    assert!(!run.out.contains("checks every kernel"), "{run:#?}");
    // With a package in the folder, the file is that of the package.
    let rooted = package("rooted-config", "current\n");
    let run = rooted.weft("").exits(0);
    assert!(!run.err.contains("ignored"), "{run:#?}");
}

#[cfg(unix)]
#[test]
fn a_link_to_no_configuration_is_an_error() {
    let folder = package("dangling-config", "current\n");
    std::fs::remove_file(folder.path().join("weft.toml")).expect("the file is there");
    std::os::unix::fs::symlink("nowhere.toml", folder.path().join("weft.toml"))
        .expect("a link can be made");
    let told =
        "weft.toml: is a link to nowhere.toml, which is not there; correct or remove the link";
    folder.weft("").exits(101).complains(told);
    folder.weft("doctor").exits(101).says("PROBLEM").says(told);
}
