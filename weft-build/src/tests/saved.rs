//! Saved PTX: what is known of the sources that it was compiled from.

use super::*;
use crate::stamp::{self, Freshness};

/// Returns a crate without nvcc whose saved PTX is a copy of what nvcc made of its source.
fn crate_with_saved() -> Crate {
    let own = Crate::new().with_tool("NVCC", COMPILES);
    fs::write(own.path("kernels/tile.h"), "header").unwrap();
    let built = own.compile(source()).unwrap();
    fs::copy(built.path, own.path("kernels/k.ptx")).unwrap();
    // Nothing else than `NVCC` leads to an nvcc.
    own.with("NVCC", "")
}

fn marker(own: &Crate) -> String {
    fs::read_to_string(own.path("out/k.ptx.saved")).unwrap()
}

#[test]
fn compiled_ptx_names_its_sources() {
    let own = Crate::new().with_tool("NVCC", COMPILES);
    fs::write(own.path("kernels/tile.h"), "foobar").unwrap();
    let built = own
        .compile(Cuda { define: &["TILE=64"], flags: &["-I/opt/a", "-std=c++17"], ..source() })
        .unwrap();
    let text = fs::read_to_string(built.path).unwrap();
    let stamp: Vec<&str> =
        text.lines().filter(|line| line.starts_with("// weft-build: ")).collect();
    // FNV-1a of "source" and of "foobar". The header of the toolkit is another one on another machine.
    assert_eq!(
        stamp,
        [
            "// weft-build: options -arch=sm_80 -DTILE=64 -std=c++17",
            &format!("// weft-build: source {:016x} kernels/k.cu", hash::of_text(b"source")),
            "// weft-build: source 85944171f73967e8 kernels/tile.h",
        ]
    );
    assert!(!own.path("out/k.ptx.saved").exists());
}

#[test]
fn files_of_the_package_are_stamped_however_they_are_named() {
    let own = Crate::new();
    let absolute = own.path("kernels/k.rs").to_str().unwrap().to_owned();
    let read = [
        "kernels/k.cu".to_owned(),
        absolute,
        "./kernels/k.ptx".to_owned(),
        "/nowhere/a.h".to_owned(),
    ];
    let text = stamp::of(&own.path(""), "./kernels/k.cu", &read, "");
    let names: Vec<&str> =
        text.lines().skip(1).map(|line| line.rsplit(' ').next().unwrap()).collect();
    assert_eq!(names, ["kernels/k.cu", "kernels/k.rs", "kernels/k.ptx"]);
}

#[test]
fn ptx_whose_sources_are_the_same_is_current() {
    let own = crate_with_saved();
    assert!(!own.compile(source()).unwrap().is_compiled);
    let text = marker(&own);
    let start = "saved kernels/k.ptx\nsource kernels/k.cu\nremedy install the CUDA toolkit, ";
    assert!(text.starts_with(start) && text.ends_with("\ncurrent\n"), "{text}");
    // A checkout on Windows.
    let ptx = fs::read_to_string(own.path("kernels/k.ptx")).unwrap();
    fs::write(own.path("kernels/k.ptx"), ptx.replace('\n', "\r\n")).unwrap();
    own.compile(source()).unwrap();
    assert!(marker(&own).ends_with("\ncurrent\n"), "{}", marker(&own));
    assert_eq!(own.told("warning"), [""; 0]);
}

#[test]
fn a_source_or_a_header_that_changed_is_named() {
    let own = crate_with_saved();
    fs::write(own.path("kernels/tile.h"), "another header").unwrap();
    own.compile(source()).unwrap();
    assert!(marker(&own).ends_with("\nchanged kernels/tile.h\n"), "{}", marker(&own));
    fs::write(own.path("kernels/k.cu"), "another source").unwrap();
    own.compile(source()).unwrap();
    let end = "\nchanged kernels/k.cu\nchanged kernels/tile.h\n";
    assert!(marker(&own).ends_with(end), "{}", marker(&own));
    let warnings = own.told("warning");
    assert_eq!(warnings[0], "kernels/k.ptx is older than its source: kernels/tile.h changed since");
    // A compiler that refuses the source leaves the same PTX.
    let own = own.with_tool("NVCC", REFUSES);
    own.compile(source()).unwrap();
    assert!(marker(&own).ends_with(end), "{}", marker(&own));
    assert!(marker(&own).contains("\nremedy correct what the compiler says"), "{}", marker(&own));
}

#[test]
fn without_a_stamp_nothing_is_known() {
    let own = Crate::new();
    own.compile(source()).unwrap();
    let end = "\nunknown it does not say that it was compiled from kernels/k.cu\n";
    assert!(marker(&own).ends_with(end), "{}", marker(&own));
}

#[test]
fn the_marker_goes_when_the_source_is_compiled() {
    let own = Crate::new();
    own.compile(source()).unwrap();
    assert!(own.path("out/k.ptx.saved").is_file());
    let own = own.with_tool("NVCC", COMPILES);
    own.compile(source()).unwrap();
    assert!(!own.path("out/k.ptx.saved").exists());
}

#[test]
fn what_is_not_known_is_said() {
    let own = crate_with_saved();
    let text = fs::read_to_string(own.path("kernels/k.ptx")).unwrap();
    let judged =
        |source: &str, options: &str| stamp::freshness(&text, &own.path(""), source, options);
    assert_eq!(judged("kernels/k.cu", "-arch=sm_80"), Freshness::Current);
    let Freshness::Unknown(why) = judged("kernels/k.cu", "-arch=sm_90") else { panic!() };
    assert_eq!(
        why,
        "it was compiled with `-arch=sm_80`, and the build script asks for `-arch=sm_90`"
    );
    let Freshness::Unknown(why) = judged("kernels/j.cu", "-arch=sm_80") else { panic!() };
    assert_eq!(why, "it does not say that it was compiled from kernels/j.cu");
    fs::remove_file(own.path("kernels/tile.h")).unwrap();
    let Freshness::Unknown(why) = judged("kernels/k.cu", "-arch=sm_80") else { panic!() };
    assert_eq!(why, "kernels/tile.h is not there");
}

#[test]
fn a_new_search_path_is_reason_to_look_for_nvcc_again() {
    let watches = |own: &Crate| own.told("rerun-if-env-changed").contains(&"PATH".to_owned());
    let own = Crate::new();
    own.compile(source()).unwrap();
    assert!(watches(&own));
    let own = Crate::new().with_tool("NVCC", COMPILES);
    own.compile(source()).unwrap();
    assert!(!watches(&own), "nvcc is there");
}
