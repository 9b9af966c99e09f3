//! Tests of `test` and `list` on packages with build scripts.

use std::fs;

use crate::support::{CLEAN, Folder, RACE};

const BUILD: &str = r#"fn main() {
    println!("cargo::rerun-if-changed=kernel.ptx");
    let out = std::path::PathBuf::from(std::env::var_os("OUT_DIR").unwrap());
    std::fs::copy("kernel.ptx", out.join("kernel.ptx")).unwrap();
}
"#;
const BLOCK: &str = "[default]\nblock = 64\n";

fn manifest(name: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n")
}

/// Creates a package, in no workspace, whose build script writes `ptx`.
pub(crate) fn package(name: &str, ptx: &str) -> Folder {
    Folder::new(name)
        .with("Cargo.toml", manifest(name) + "[workspace]\n")
        .with("src/lib.rs", "")
        .with("build.rs", BUILD)
        .with("kernel.ptx", ptx)
}

#[test]
fn ptx_of_a_build_script_is_found() {
    let folder = package("built", RACE).with("weft.toml", BLOCK);
    let run = folder.weft("").exits(100);
    run.says("DEFECT  built::kernel.ptx::race_of_neighbours")
        .says("weft: 0 clean, 1 defect, 0 open");
    folder.weft("weft test -p built").exits(100);
    folder
        .weft("list")
        .exits(0)
        .says("built::kernel.ptx::race_of_neighbours  (no grid stated, block 64)");
    let json = folder.weft("test --message-format json").exits(100);
    json.says("\"package\":\"built\"");
    let any = "[[kernel]]\nname = '.'\nblock = 64\ngrid = \"any\"\nrequires = ['grid.x<9']\n";
    let folder = folder.with("weft.toml", any);
    folder.weft("list").exits(0).says("  (grid any, block 64, grid.x < 9)");
}

#[test]
fn a_binary_is_built_as_far_as_its_build_script() {
    let folder = Folder::new("binary-crate")
        .with(
            "Cargo.toml",
            manifest("binary-crate") + "[workspace]\n[package.metadata.weft.default]\nblock = 64\n",
        )
        .with("src/main.rs", "fn main() {}\n")
        .with("build.rs", BUILD)
        .with("kernel.ptx", CLEAN);
    folder.weft("").exits(0).says("clean   binary-crate::kernel.ptx::own_slot");
}

#[test]
fn saved_ptx_is_found_by_its_pattern() {
    let folder = Folder::new("saved")
        .with("Cargo.toml", manifest("saved") + "[workspace]\n")
        .with("src/lib.rs", "this is no Rust, and need not be: there is no build script to run")
        .with("weft.toml", "ptx = [\"kernels/*.ptx\"]\n".to_owned() + BLOCK)
        .with("kernels/own.ptx", CLEAN);
    folder.weft("").exits(0).says("clean   saved::kernels/own.ptx::own_slot");
}

#[test]
fn a_build_that_fails_is_shown() {
    let folder = package("unbuilt", CLEAN)
        .with("build.rs", "fn main() { compile_error!(\"no kernels today\"); }");
    folder
        .weft("")
        .exits(101)
        .complains("no kernels today")
        .complains("the build of unbuilt failed");
}

#[test]
fn nothing_to_check_is_no_success() {
    let bare = Folder::new("bare")
        .with("Cargo.toml", manifest("bare") + "[workspace]\n")
        .with("src/lib.rs", "");
    bare.weft("").exits(4).complains("nothing to check");
    bare.weft("list").exits(4);
    let run = bare.weft("").exits(4).complains("saved files are named by");
    assert!(!run.err.contains("--capture-nvcc"), "{run:#?}");
    let bare = bare.with("kernels/own.cu", "");
    bare.weft("")
        .exits(4)
        .complains("no selected package has PTX, but there is CUDA C++, such as kernels/own.cu")
        .complains("`weft-build`")
        .complains("`--capture-nvcc`")
        .complains("`cargo weft doctor`");
    bare.weft("doctor").exits(101).says("there is CUDA C++, such as kernels/own.cu");
    // A package with a configuration is meant to be checked.
    let configured = bare.with("weft.toml", BLOCK);
    configured.weft("").exits(101).complains("package `bare` has no PTX");
    let typo = configured.with("weft.toml", "[default]\nblok = 64\n");
    typo.weft("").exits(101).complains("weft.toml:2:1").complains("unknown key `blok`");
}

#[test]
fn packages_are_selected_by_name() {
    let folder = Folder::new("selection")
        .with("Cargo.toml", "[workspace]\nmembers = [\"one\", \"two\"]\nresolver = \"3\"\n")
        .with("one/Cargo.toml", manifest("one"))
        .with("one/src/lib.rs", "")
        .with("one/weft.toml", "ptx = [\"*.ptx\"]\n".to_owned() + BLOCK)
        .with("one/own.ptx", CLEAN)
        .with("two/Cargo.toml", manifest("two"))
        .with("two/src/lib.rs", "")
        .with("two/weft.toml", "ptx = [\"*.ptx\"]\n".to_owned() + BLOCK)
        .with("two/race.ptx", RACE);
    let run = folder.weft("").exits(100).says("weft: 1 clean, 1 defect, 0 open");
    assert!(run.out.find("one::own.ptx") < run.out.find("two::race.ptx"), "{run:#?}");
    folder.weft("-p one").exits(0).says("weft: 1 clean, 0 defect, 0 open");
    folder.weft("--exclude two").exits(0);
    folder.weft("--manifest-path one/Cargo.toml").exits(0);
    folder.weft("-p three").exits(4).complains("no package `three`").complains("one, two");
    folder.weft("--manifest-path absent/Cargo.toml").exits(101).complains("absent");
}

/// Creates a workspace of `app` and `other`; `app` depends on `kernels`, which is no member and whose build script writes
/// PTX, and on `kernels-dev` for its tests alone.
fn with_dependency(name: &str) -> Folder {
    let app = manifest("app")
        + "[dependencies]\nkernels = { path = \"../../kernels\" }\n"
        + "[dev-dependencies]\nkernels-dev = { path = \"../../kernels-dev\" }\n";
    let folder = Folder::new(name)
        .with("ws/Cargo.toml", "[workspace]\nmembers = [\"app\", \"other\"]\nresolver = \"3\"\n")
        .with("ws/app/Cargo.toml", app)
        .with("ws/app/src/lib.rs", "")
        .with("ws/other/Cargo.toml", manifest("other"))
        .with("ws/other/src/lib.rs", "")
        .with("ws/other/weft.toml", "ptx = [\"*.ptx\"]\n".to_owned() + BLOCK)
        .with("ws/other/own.ptx", CLEAN);
    ["kernels", "kernels-dev"].into_iter().fold(folder, |folder, name| {
        folder
            .with(&format!("{name}/Cargo.toml"), manifest(name) + "[workspace]\n")
            .with(&format!("{name}/src/lib.rs"), "")
            .with(&format!("{name}/build.rs"), BUILD)
            .with(&format!("{name}/weft.toml"), BLOCK)
            .with(&format!("{name}/kernel.ptx"), RACE)
    })
}

#[test]
fn packages_are_selected_by_pattern_and_id() {
    let folder = with_dependency("pattern-and-id");
    let weft = |words: &str| folder.weft(&format!("{words} --manifest-path ws/Cargo.toml"));
    weft("-p oth*").exits(0).says("other::own.ptx::own_slot").says("weft: 1 clean, 0 defect");
    weft("-p other@0.1.0").exits(0).says("weft: 1 clean, 0 defect, 0 open");
    weft("-p x*").exits(4).complains("no package `x*`").complains("app, other");
    weft("-p a[").exits(2).complains("`a[` is no pattern for names of packages");
    weft("-p other@2.0.0").exits(4).complains("other@2.0.0");
    weft("--workspace --exclude o?her").exits(4);
    // A dependency, which is no member.
    weft("-p kernels").exits(100).says("kernels::kernel.ptx::race_of_neighbours");
    weft("-p kernels@0.1.0 -p other").exits(100).says("weft: 1 clean, 1 defect, 0 open");
    weft("-p nobody").exits(4).complains("no package `nobody`").complains("app, other");
}

#[test]
fn dependencies_are_checked_on_demand() {
    let folder = with_dependency("dependencies");
    let weft = |words: &str| folder.weft(&format!("{words} --manifest-path ws/Cargo.toml"));
    weft("").exits(0).says("weft: 1 clean, 0 defect, 0 open");
    let all = weft("--include-deps").exits(100).says("weft: 1 clean, 1 defect, 0 open");
    assert!(!all.out.contains("kernels-dev"), "a dependency of tests is none: {all:#?}");
    weft("-p app").exits(4);
    weft("-p app --include-deps").exits(100).says("weft: 0 clean, 1 defect, 0 open");
    weft("-p other --include-deps").exits(0).says("weft: 1 clean, 0 defect, 0 open");
    weft("--include-deps --exclude kernels").exits(0);
    weft("list --include-deps").exits(0).says("kernels::kernel.ptx::race_of_neighbours");
}

#[test]
fn nothing_is_written_outside_of_the_workspace_unasked() {
    let folder = with_dependency("written-outside");
    let ours = ["ws/app", "ws/other", "kernels", "kernels-dev"].map(|own| folder.path().join(own));
    let there = |name: &str| ours.each_ref().map(|own| own.join(name).exists());
    fs::remove_file(ours[2].join("weft.toml")).expect("the file is there");
    fs::remove_file(ours[1].join("weft.toml")).expect("the file is there");
    let weft = |words: &str| folder.weft(&format!("{words} --manifest-path ws/Cargo.toml"));
    for command in [
        "baseline --include-deps",
        "init --include-deps --dry-run",
        "init --include-deps --config-only",
    ] {
        weft(command)
            .exits(101)
            .complains("nothing is written for package `kernels`")
            .complains("-p kernels");
    }
    assert_eq!(there("weft-baseline.toml")[2..], [false, false]);
    assert_eq!(there("weft.toml")[..3], [false, true, false]);
    // A package that is named is meant. What is written can be told from the paths.
    weft("init -p kernels")
        .exits(0)
        .says("  wrote  kernels/weft.toml")
        .says("added  to kernels/Cargo.toml");
    assert!(there("weft.toml")[2] && there("tests/weft.rs")[2]);
    // So is one that the workspace lists, also as a dependency.
    let root = "[workspace]\nmembers = [\"app\", \"other\"]\nresolver = \"3\"\n\
                [workspace.metadata.weft]\nmanifests = [\"../kernels/Cargo.toml\"]\n";
    let folder = folder
        .with("ws/Cargo.toml", root)
        .with("kernels/Cargo.toml", manifest("kernels") + "[workspace]\n");
    fs::remove_file(folder.path().join("kernels/weft.toml")).expect("it was written");
    folder
        .weft("init --config-only -p app --include-deps --manifest-path ws/Cargo.toml")
        .exits(0)
        .says("  wrote  kernels/weft.toml");
}

#[test]
fn doctor_says_nothing_of_dependencies_without_kernels() {
    let folder = with_dependency("doctor-dependencies")
        .with(
            "kernels/Cargo.toml",
            manifest("kernels") + "[workspace]\n[dependencies]\nplain = { path = \"../plain\" }\n",
        )
        .with("plain/Cargo.toml", manifest("plain") + "[workspace]\n")
        .with("plain/src/lib.rs", "");
    let run = folder.weft("doctor --include-deps --manifest-path ws/Cargo.toml");
    let run = run.exits(0).says("kernels (").says("app (").says("other (");
    assert!(!run.out.contains("plain"), "{run:#?}");
}

#[test]
fn nothing_is_written_into_cargos_copy_of_a_package() {
    let folder = Folder::new("vendored")
        .with("Cargo.toml", manifest("app") + "[workspace]\n[dependencies]\nkernels = \"0.1\"\n")
        .with("src/lib.rs", "")
        .with(
            ".cargo/config.toml",
            "[source.crates-io]\nreplace-with = \"copies\"\n[source.copies]\ndirectory = \"copies\"\n",
        )
        .with("copies/kernels/Cargo.toml", manifest("kernels"))
        .with("copies/kernels/.cargo-checksum.json", "{\"files\":{}}")
        .with("copies/kernels/src/lib.rs", "")
        .with("copies/kernels/build.rs", BUILD)
        .with("copies/kernels/kernel.ptx", RACE);
    folder.weft("list -p kernels").exits(0).says("kernels::kernel.ptx::race_of_neighbours");
    for command in ["init -p kernels", "baseline --include-deps"] {
        folder.weft(command).exits(101).complains("nothing is written for package `kernels`");
    }
    for name in ["weft.toml", "weft-baseline.toml"] {
        assert!(!folder.path().join("copies/kernels").join(name).exists(), "{name}");
    }
}

#[test]
fn files_of_one_name_in_two_packages_are_told_apart() {
    let folder = Folder::new("same-names")
        .with("Cargo.toml", "[workspace]\nmembers = [\"one\", \"two\"]\nresolver = \"3\"\n");
    let folder = ["one", "two"].into_iter().fold(folder, |folder, name| {
        folder
            .with(&format!("{name}/Cargo.toml"), manifest(name))
            .with(&format!("{name}/src/lib.rs"), "")
            .with(&format!("{name}/weft.toml"), "ptx = [\"*.ptx\"]\n".to_owned() + BLOCK)
            .with(&format!("{name}/k.ptx"), RACE.replace("slots", &format!("slots_{name}")))
    });
    let run = folder.weft("").exits(100).says("`slots_one` + 4").says("`slots_two` + 4");
    assert!(!run.out.contains("alike"), "{run:#?}");
}

#[test]
fn packages_outside_the_workspace_are_checked_with_the_whole_of_it() {
    let folder = Folder::new("outside")
        .with(
            "Cargo.toml",
            "[workspace]\nmembers = [\"one\"]\nexclude = [\"apart\"]\nresolver = \"3\"\n\
             [workspace.metadata.weft]\nmanifests = [\"apart/Cargo.toml\"]\n",
        )
        .with("one/Cargo.toml", manifest("one"))
        .with("one/src/lib.rs", "")
        .with("one/weft.toml", "ptx = [\"*.ptx\"]\n".to_owned() + BLOCK)
        .with("one/own.ptx", CLEAN)
        .with("apart/Cargo.toml", manifest("apart") + "[workspace]\n")
        .with("apart/src/lib.rs", "")
        .with("apart/build.rs", BUILD)
        .with("apart/weft.toml", BLOCK)
        .with("apart/kernel.ptx", RACE);
    let run = folder.weft("").exits(100);
    run.says("clean   one::own.ptx::own_slot")
        .says("DEFECT  apart::kernel.ptx::race_of_neighbours");
    assert!(
        folder.path().join("target/debug").is_dir() && !folder.path().join("apart/target").exists()
    );
    folder.weft("-p one").exits(0);
    folder.weft("--manifest-path one/Cargo.toml").exits(0);
    folder.weft("--manifest-path one/Cargo.toml --workspace").exits(100);
    folder.weft("--exclude apart").exits(0);
    let wrong = "[workspace]\nmembers = [\"one\"]\n[workspace.metadata.weft]\nmanifest = \"apart/Cargo.toml\"\n";
    folder.with("Cargo.toml", wrong).weft("").exits(101).complains("unknown key `manifest`");
}
