//! Several sources of a build script, and several runs of it.

use super::*;

fn named<'a>(source: &'a str, name: &'a str) -> Cuda<'a> {
    Cuda { name, saved: Some("kernels/k.ptx"), ..Cuda::new(source, "sm_80") }
}

fn names(own: &Crate) -> Vec<String> {
    let all = fs::read_dir(own.path("out")).unwrap();
    let mut names: Vec<String> =
        all.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn two_sources_cannot_make_the_same_file() {
    let own = Crate::new().with_tool("NVCC", COMPILES);
    for folder in ["a", "b"] {
        fs::create_dir(own.path("kernels").join(folder)).unwrap();
        fs::write(own.path("kernels").join(folder).join("k.cu"), folder).unwrap();
    }
    let mut script = own.script();
    Cuda::new("kernels/a/k.cu", "sm_80").compile_in(&mut script).unwrap();
    let error = Cuda::new("kernels/b/k.cu", "sm_80").compile_in(&mut script).unwrap_err();
    let text = error.to_string();
    let start =
        "kernels/b/k.cu and kernels/a/k.cu both make k.ptx in OUT_DIR, and one would be lost: ";
    assert!(text.starts_with(start) && text.contains("another `name`"), "{text}");
    named("kernels/b/k.cu", "b").compile_in(&mut script).unwrap();
    // The same source with other macros makes another file too, and the first would be lost.
    let small = Cuda { define: &["TILE=32"], ..Cuda::new("kernels/a/k.cu", "sm_80") };
    assert!(matches!(small.compile_in(&mut script), Err(BuildError::SameName { .. })));
}

#[test]
fn a_source_that_was_not_compiled_can_be_tried_again() {
    let own = Crate::new().with_tool("NVCC", REFUSES);
    let mut script = own.script();
    let without = Cuda { saved: None, ..source() };
    assert!(matches!(without.compile_in(&mut script), Err(BuildError::Refused { .. })));
    source().compile_in(&mut script).unwrap();
}

#[test]
fn ptx_of_sources_that_are_gone_goes() {
    let own = Crate::new();
    fs::write(own.path("out/other.ptx"), "not of this crate").unwrap();
    let mut script = own.script();
    for name in ["one", "two", "three"] {
        named("kernels/k.cu", name).compile_in(&mut script).unwrap();
    }
    // Another program has written this one anew.
    fs::write(own.path("out/three.ptx"), "another text").unwrap();
    let mut script = own.script();
    named("kernels/k.cu", "one").compile_in(&mut script).unwrap();
    let left =
        ["one.ptx", "one.ptx.saved", "other.ptx", "three.ptx", "three.ptx.saved", "weft-build.txt"];
    assert_eq!(names(&own), left);
    // A second source of the same run does not remove the first.
    named("kernels/k.cu", "four").compile_in(&mut script).unwrap();
    let has = |name: &str| names(&own).contains(&name.to_owned());
    assert!(has("one.ptx") && has("four.ptx"));
    // Of the next run, all that this one made goes.
    named("kernels/k.cu", "five").compile_in(&mut own.script()).unwrap();
    assert!(!has("one.ptx") && !has("four.ptx") && has("five.ptx"));
}

#[test]
fn lists_of_compilers_go_too() {
    let own = Crate::new().with_tool("NVCC", COMPILES);
    named("kernels/k.cu", "one").compile_in(&mut own.script()).unwrap();
    assert_eq!(names(&own), ["one.d", "one.ptx", "weft-build.txt"]);
    named("kernels/k.cu", "two").compile_in(&mut own.script()).unwrap();
    assert_eq!(names(&own), ["two.d", "two.ptx", "weft-build.txt"]);
}
