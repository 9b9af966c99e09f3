//! Tests of the names that a kernel's arguments have in its source.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use weft_core::ptx;
use weft_harness::render::Sources;
use weft_harness::signature::{Signatures, parameter_names};

/// Returns the names of the parameters of `kernel`, which is defined in the first line of a source with `marker`.
/// `types`: the parameters of the PTX, separated by spaces.
fn named(file: &str, source: &str, marker: &str, kernel: &str, types: &str) -> Option<Vec<String>> {
    static COUNT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("signature-{}-{count}", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join(file), source).unwrap();
    let line = source.lines().position(|line| line.contains(marker)).unwrap() + 1;
    let params: Vec<_> = types
        .split_whitespace()
        .enumerate()
        .map(|(at, ty)| match ty.split_once('[') {
            Some((ty, size)) => format!(".param .align 8 .{ty} {kernel}_param_{at}[{size}"),
            None => format!(".param .{ty} {kernel}_param_{at}"),
        })
        .collect();
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry {kernel}({})\n{{\n.loc 1 {line} 0\nret;\n}}\n\
         .file 1 \"{file}\"\n",
        params.join(", ")
    );
    let module = ptx::parse(&text);
    assert!(module.errors.is_empty(), "{:?}", module.errors);
    let names =
        parameter_names(&module, module.kernel(kernel).unwrap(), &Sources::within([dir.as_path()]));
    fs::remove_dir_all(&dir).unwrap();
    names
}

#[track_caller]
fn assert_names(source: &str, types: &str, expected: &[&str]) {
    let marker = if source.contains("/* here */") { "/* here */" } else { "k(" };
    let found = named("k.cu", source, marker, "k", types);
    assert_eq!(found.as_deref().unwrap_or(&["no names".to_owned()]), expected, "{source}");
}

#[track_caller]
fn assert_doubt(source: &str, types: &str) {
    assert_eq!(named("k.cu", source, "k(", "k", types), None, "{source}");
}

#[test]
fn plain_definitions_have_names() {
    assert_names(
        "extern \"C\" __global__ void k(int n, const float *__restrict__ x = nullptr, float c[4]) {}",
        "u32 u64 u64",
        &["n", "x", "c"],
    );
    assert_names(
        "#include <a.h>\ntemplate <typename T, int N = (3 > 2)>\n__global__ void __launch_bounds__(256, 2)\n\
         k(std::array<T, N> a, /* in */ const T* b, // out\n  unsigned long long c, Params const &&d) { if (1) { } }",
        "b8[32] u64 u64 u64",
        &["a", "b", "c", "d"],
    );
    assert_names("static void __global__ k(void) {}", "", &[]);
    assert_names(
        "__global__ std::enable_if_t<true, void> k(const __grid_constant__ P p, bool b) {}",
        "b8[16] u8",
        &["p", "b"],
    );
    assert_names(
        "__global__ void k(T *RESTRICT x, float *MY_RESTRICT y) {}",
        "u64 u64",
        &["x", "y"],
    );
    // Declarations, other functions, text and comments are no definitions.
    assert_names(
        "__global__ void k(int a, int b);\n// __global__ void k(int c, int d) {}\n\
         const char *s = R\"x(__global__ void k(int e, int f) {})x\", *t = \"__global__ void k(int g, int h) {}\";\n\
         void launch(int n, int m) { k<<<1, 1>>>(n, m); }\n__global__ void other(int i, int j) {}\n\
         template __global__ void k<int>(int, int);\n__global__ void\nk(/* here */ int y, int z) { int q = 1'000; char c = '\"'; }",
        "u32 u32",
        &["y", "z"],
    );
}

#[test]
fn what_is_in_doubt_has_no_names() {
    let two = "u32 u32";
    for list in [
        "int a",
        "int a, int",
        "int a, unsigned int",
        "int a, Foo",
        "int a, ns::Foo",
        "int a, struct Foo",
        "int a, const Foo",
        "int a, int b MAYBE_UNUSED",
        "int a, Foo b MAYBE_UNUSED",
        "int a, MACRO(b)",
        "ARGS, int b",
        "int a, T... b",
        "int a, void (*f)(int)",
        "int a, int a",
        "int a, int k_param_0",
        "int a,\n#ifdef X\nint b\n#else\nint c\n#endif\n",
        "int a, float b",
        "int a, int *b",
        "long long a, int b",
        "int a, char b",
    ] {
        assert_doubt(&format!("__global__ void k({list}) {{}}"), two);
    }
    assert_doubt("__global__ void k(float *x MAYBE_UNUSED) {}", "u64");
    assert_doubt("#define K __global__ void\nK k(int a, int b) {}", two);
    assert_doubt("__global__ void NAME(k)(int a, int b) {} // k(", two);
    assert_doubt("__global__ void k(int a, int b) REQUIRES(a) {}", two);
    assert_doubt("template <> __global__ void k<int>(int a, int b) {} // k(", two);
    assert_doubt("__global__ void k(int a, int b) {} /* no end", two);
    assert_doubt("__global__ void k(int a, int b) {", two);
    let overloads = "namespace x { __global__ void k(int b, int a) {} }\n";
    assert_doubt(&format!("__global__ void k(int a, int b) {{}}\n{overloads}"), two);
    assert_names(&format!("__global__ void k(int b, int a) {{}}\n{overloads}"), two, &["b", "a"]);
    assert_names(
        "__global__ void k(int a, int b) {}\n__global__ void k(float *z) {}",
        two,
        &["a", "b"],
    );
}

#[test]
fn a_version_that_is_not_compiled_gives_no_names() {
    let two = "u32 u32";
    let bodies = "if (n > 8) x[0] = 1;";
    for other in [
        "__global__ LAUNCH_BOUNDS(256) void k(int n, int m) { // here",
        "KERNEL k(int n, int m) { // here",
        "__global__ void NAME(k)(int n, int m) { // here",
    ] {
        let text = format!(
            "namespace a {{\n#ifdef OLD\n__global__ void k(int m, int n) {{\n#else\n{other}\n#endif\n{bodies}\n}}\n}}\n"
        );
        assert_eq!(named("k.cu", &text, "// here", "k", two), None, "{text}");
        let hidden = format!(
            "#define G 4 /* old:\n__global__ void k(int m, int n) {{\n*/\n{other}\n{bodies}\n}}\n#define E /*\n}}\n*/\n"
        );
        assert_eq!(named("k.cu", &hidden, "// here", "k", two), None, "{hidden}");
    }
    assert_names(
        "#define G 4 /* of k */\n__global__ void\nk(/* here */ int a, int b = -1) {}",
        two,
        &["a", "b"],
    );
    for (default, types) in [
        ("0 TRACE", "u32 u32"),
        ("N", "u32 u32"),
        ("0\n#ifdef X\n, int q = 1\n#endif\n", "u32 u32"),
    ] {
        assert_doubt(&format!("__global__ void k(int a, int b = {default}) {{}}"), types);
    }
    let joined = "__global__ void k( // before: \\ \nint m, int n /*\nint n, int m /* */ ) {}";
    assert_doubt(joined, two);
    let joined = joined.replace("\\ \n", "??/\n");
    assert_doubt(&joined, two);
}

#[test]
fn the_kernel_begins_in_its_definition() {
    let source = "__global__ void k(int a) {}\n// elsewhere\n";
    assert!(named("k.cu", source, "k(", "k", "u32").is_some());
    assert_eq!(named("k.cu", source, "elsewhere", "k", "u32"), None);
    assert_eq!(named("k.txt", source, "k(", "k", "u32"), None);
}

#[test]
fn mangled_names_are_found_by_their_last_part() {
    let source = "namespace ns { template <int N> __global__ void scale(float *x) {} }";
    for kernel in
        ["_ZN2ns5scaleILi4EEEvPf", "_Z5scalePf", "scale", "_ZN12_GLOBAL__N_15scaleILi4EEEvPf"]
    {
        assert_eq!(named("k.cu", source, "scale(", kernel, "u64").unwrap(), ["x"], "{kernel}");
    }
    assert_eq!(named("k.cu", source, "scale(", "_Z6scalesPf", "u64"), None);
    let rust = "pub unsafe extern \"ptx-kernel\" fn add(x: *mut f32) {}";
    for kernel in ["_RNvCs1234_7mycrate3add", "_ZN7mycrate3add17h0123456789abcdefE", "add"] {
        assert_eq!(named("k.rs", rust, "add(", kernel, "u64").unwrap(), ["x"], "{kernel}");
    }
}

#[test]
fn rust_kernels_have_names_where_each_parameter_is_one() {
    let names = |list: &str, types: &str| {
        let source = format!(
            "mod a {{ const Q: char = '\"'; const S: &str = r#\"fn k(x: u32) {{}}\"#; /* /* */ fn k(y: u32) {{}} */ }}\n\
             #[no_mangle]\npub unsafe extern \"ptx-kernel\" fn k<'a, F: Fn(u32) -> u32>({list}) where F: Copy {{}}\n"
        );
        named("k.rs", &source, "ptx-kernel", "k", types)
    };
    let found = names(
        "a: *mut f32, mut n: u32, r: &'a mut f32, t: &[u8; 4], v: f32,",
        "u64 u32 u64 u64 f32",
    );
    assert_eq!(found.unwrap(), ["a", "n", "r", "t", "v"]);
    assert_eq!(names("p: *const *mut u8", "u64").unwrap(), ["p"]);
    assert_eq!(names("", "").unwrap(), [""; 0]);
    for (list, types) in [
        ("x: &[f32], n: Marker", "u64 u64"),
        ("x: *const [f32], n: ()", "u64 u64"),
        ("x: &str, n: ()", "u64 u64"),
        ("x: *const Alias", "u64"),
        ("Pair(a, b): Pair", "u64"),
        ("_: u32", "u32"),
        ("self", "u32"),
        ("n: u32", "u64"),
        ("n: usize, n: usize", "u64 u64"),
        ("&x: &u32", "u64"),
    ] {
        assert_eq!(names(list, types), None, "{list}");
    }
}

#[test]
fn what_a_macro_of_rust_makes_is_not_known() {
    let source = |head: &str| format!("{head} {{\nfn k(n: u32, m: u32) {{}}\n}}\n");
    let names = |head| named("k.rs", &source(head), "fn k", "k", "u32 u32");
    assert_eq!(names("mod a").unwrap(), ["n", "m"]);
    for head in ["reversed!", "a::reversed ! ", "macro_rules! kernels"] {
        assert_eq!(names(head), None, "{head}");
    }
}

#[test]
fn declarations_are_as_written() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("signature-declarations");
    fs::create_dir_all(&dir).unwrap();
    let source = "__global__ void k(const float *__restrict__ x, // in\n    std::array<int, 4> /* b */ a) {}\n";
    fs::write(dir.join("k.cu"), source).unwrap();
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a, .param .align 4 .b8 b[16])\n\
        {\n.loc 1 1 0\nret;\n}\n.file 1 \"k.cu\"\n";
    let module = ptx::parse(text);
    let signatures = Signatures::of(&module, &Sources::within([dir.as_path()]));
    // `a` is the name of another parameter in the PTX.
    assert!(signatures.parameters(&module, module.kernel("k").unwrap()).is_none());
    let module = ptx::parse(&text.replace("u64 a", "u64 p").replace("b8 b[", "b8 q["));
    let found = signatures.parameters(&module, module.kernel("k").unwrap()).unwrap();
    let written: Vec<_> = found.iter().map(|own| own.declaration.as_str()).collect();
    assert_eq!(written, ["const float *__restrict__ x", "std::array<int, 4> a"]);
}
