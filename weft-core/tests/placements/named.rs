//! Tests that reports name the variables and buffers whose addresses they make assumptions about, and no others.

use weft_core::finding::Assumption;
use weft_core::launch::{Dim3, Launch};
use weft_core::{check, ptx};

/// Returns the assumptions about addresses in the report of a kernel with these declarations, parameters and body.
fn places(declarations: &str, params: &str, body: &str) -> Vec<String> {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n{declarations}\n.entry k({params})\n{{\n\
         .reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\nmov.u32 %r1, %tid.x;\n{body}\nEND: ret;\n}}\n"
    );
    let module = ptx::parse(&text);
    assert!(module.errors.is_empty(), "{:?}\n{text}", module.errors);
    let kernel = module.kernel("k").expect("the text declares it");
    let launch = Launch {
        block: Some(Dim3::line(1).into()),
        grid: Some(Dim3::line(1).into()),
        shared: Some(4096),
        ..Launch::default()
    };
    let report = check(&module, kernel, &launch).expect("the launch fits");
    assert_eq!(report.findings, [], "{text}");
    report.assumptions.iter().map(told).collect()
}

/// Returns the sentence of an assumption, for pointers that are also aligned to words.
fn told(assumption: &Assumption) -> String {
    let Assumption::Aligned(all) = assumption else { return assumption.sentence().into_owned() };
    let each = all.iter().map(|(name, to, declared, _)| match declared {
        0 => format!("{name} to {to} bytes"),
        _ => format!("{name} to {to} bytes (declared: {declared})"),
    });
    format!("{ALIGNED}{}", each.collect::<Vec<_>>().join(", "))
}

#[test]
fn what_every_typed_pointer_is_aligned_to_is_said_once() {
    let aligned = |all: &[(&str, u64, u64, u64)]| {
        let own = all
            .iter()
            .map(|(name, to, declared, accessed)| ((*name).to_owned(), *to, *declared, *accessed));
        Assumption::Aligned(own.collect()).sentence().into_owned()
    };
    let words = "pointer arguments are aligned to the words that are accessed through them";
    assert_eq!(aligned(&[("p", 4, 0, 4), ("q", 8, 0, 8)]), words);
    assert_eq!(
        aligned(&[("p", 4, 0, 4), ("q", 16, 0, 16)]),
        format!("{words}; beyond that: q to 16 bytes")
    );
    assert_eq!(aligned(&[("q", 8, 0, 4)]), format!("{ALIGNED}q to 8 bytes"));
    assert_eq!(aligned(&[("q", 8, 4, 8)]), format!("{ALIGNED}q to 8 bytes (declared: 4)"));
}

const ALIGNED: &str = "aligned beyond what is declared: ";
const PLACES: &str = "addresses that decide something themselves are those of this check, not null and in ascending order: ";
const PACKED: &str = "shared memory begins at address 0, and its variables lie in it in the order of their declaration";
const WITHIN: &str = "accesses through pointer arguments stay within their buffers";

/// Declarations, a body, and the assumptions about addresses.
type Case<'t> = (&'t str, &'t str, Vec<String>);

fn assert_named(kernels: &[Case<'_>]) {
    for (declarations, body, expected) in kernels {
        assert_eq!(places(declarations, "", body), *expected, "{declarations}\n{body}");
    }
}

fn aligned(text: &str) -> Vec<String> {
    vec![format!("{ALIGNED}{text}")]
}

fn in_places(text: &str) -> Vec<String> {
    vec![format!("{PLACES}{text}")]
}

#[test]
fn what_variables_are_aligned_to_is_named() {
    const DYNAMIC: &str = ".extern .shared .align 16 .b8 tile[];";
    const ROUND: &str = "mov.u32 %r2, tile; add.u32 %r2, %r2, 1023; and.b32 %r2, %r2, 0xfffffc00;";
    assert_named(&[
        // Dynamic shared memory whose address is rounded up: beyond its alignment, in one and in two ways, and to its
        // alignment.
        (
            DYNAMIC,
            &format!("{ROUND} st.shared.u32 [%r2], %r1;"),
            aligned("`tile` to 1024 bytes (declared: 16)"),
        ),
        (
            DYNAMIC,
            "mov.u32 %r2, tile; neg.s32 %r3, %r2; and.b32 %r3, %r3, 127; add.u32 %r2, %r2, %r3; st.shared.u32 [%r2], %r1;",
            aligned("`tile` to 128 bytes (declared: 16)"),
        ),
        (
            DYNAMIC,
            "mov.u32 %r2, tile; add.u32 %r2, %r2, 15; and.b32 %r2, %r2, 0xfffffff0; st.shared.u32 [%r2], %r1;",
            vec![],
        ),
        // A swizzle of the address.
        (
            DYNAMIC,
            "mov.u32 %r2, tile; shr.u32 %r3, %r2, 3; and.b32 %r3, %r3, 112; xor.b32 %r2, %r2, %r3; st.shared.u32 [%r2], %r1;",
            aligned("`tile` to 1024 bytes (declared: 16)"),
        ),
        // A swizzle of the index, and vector accesses within and beyond the alignment.
        (
            DYNAMIC,
            "and.b32 %r3, %r1, 3; mov.u32 %r2, tile; xor.b32 %r2, %r2, %r3; st.shared.u8 [%r2], %r1;",
            vec![],
        ),
        (DYNAMIC, "st.shared.v4.u32 [tile], {%r1, %r1, %r1, %r1};", vec![]),
        (
            ".shared .align 4 .b8 a[64];",
            "mov.u32 %r2, a; st.shared.v4.u32 [%r2], {%r1, %r1, %r1, %r1};",
            aligned("`a` to 16 bytes (declared: 4)"),
        ),
        (
            ".shared .align 4 .b8 a[64];",
            "st.shared.v2.u32 [a], {%r1, %r1};",
            aligned("`a` to 8 bytes (declared: 4)"),
        ),
    ]);
}

#[test]
fn bits_of_the_addresses_of_variables_are_named() {
    assert_named(&[
        // Bits of the address of a variable, of one of two variables, and of both.
        (
            ".global .align 4 .b8 g[64];",
            "mov.u64 %rd1, g; and.b64 %rd2, %rd1, 4; setp.ne.u64 %p1, %rd2, 0; @%p1 bra END; st.global.u32 [%rd1], %r1;",
            aligned("`g` to 8 bytes (declared: 4)"),
        ),
        (
            ".global .align 4 .b8 g[64];\n.global .align 4 .b8 h[64];",
            "mov.u64 %rd1, g; mov.u64 %rd2, h; setp.lt.u64 %p1, %rd2, %rd1; @%p1 bra END; st.global.u32 [%rd1], %r1;",
            in_places("`g`, `h`"),
        ),
        (
            ".shared .align 4 .b8 a[64];\n.shared .align 4 .b8 b[64];",
            "mov.u32 %r2, a; mov.u32 %r3, b; sub.u32 %r4, %r3, %r2; add.u32 %r2, %r2, %r4; st.shared.u32 [%r2], %r1;",
            in_places("`a`, `b`"),
        ),
        (
            ".shared .align 4 .b8 a[64];",
            "mov.u32 %r2, a; setp.eq.u32 %p1, %r2, 0; @%p1 bra END; st.shared.u32 [%r2], %r1;",
            in_places("`a`"),
        ),
        (
            "",
            ".local .align 4 .b8 l[64]; mov.u64 %rd1, l; and.b64 %rd1, %rd1, 8; setp.eq.s64 %p1, %rd1, 0; @%p1 bar.sync 0;",
            aligned("`l` to 16 bytes (declared: 4)"),
        ),
        // The upper half of an address, its sign, and bits of it that are used as an address.
        (
            ".global .align 4 .b8 g[64];",
            "mov.u64 %rd1, g; mov.b64 {%r2, %r3}, %rd1; setp.eq.s32 %p1, %r3, 7; @%p1 bra END; st.global.u32 [%rd1], %r1;",
            in_places("`g`"),
        ),
        (
            ".global .align 4 .b8 g[64];",
            "mov.u64 %rd1, g; cvt.u32.u64 %r2, %rd1; shl.b32 %r2, %r2, 29; cvt.s64.s32 %rd2, %r2; shr.u64 %rd2, %rd2, 32; setp.ne.s64 %p1, %rd2, 0; @%p1 bra END; st.global.u32 [%rd1], %r1;",
            in_places("`g`"),
        ),
        (
            ".shared .align 4 .b8 a[64];\n.shared .align 4 .b8 b[64];",
            "mov.u32 %r2, a; not.b32 %r3, %r2; not.b32 %r3, %r3; sub.u32 %r3, %r3, %r2; mov.u32 %r2, b; add.u32 %r2, %r2, %r3; st.shared.u32 [%r2], %r1;",
            in_places("`a`, `b`"),
        ),
    ]);
}

#[test]
fn bits_of_the_addresses_of_functions_are_named() {
    assert_named(&[
        // Bits of the address of a function, the order of two addresses, and a comparison with null.
        (
            ".func f() { ret; }",
            "mov.u64 %rd1, f; and.b64 %rd1, %rd1, 64; setp.eq.s64 %p1, %rd1, 0; @%p1 bar.sync 0;",
            aligned("`f` to 128 bytes (declared: 1)"),
        ),
        (
            ".func f() { ret; }\n.func g() { ret; }",
            "mov.u64 %rd1, f; mov.u64 %rd2, g; setp.lt.u64 %p1, %rd1, %rd2; @%p1 bar.sync 0;",
            in_places("`f`, `g`"),
        ),
        (
            ".func f() { ret; }",
            "mov.u64 %rd1, f; setp.ne.s64 %p1, %rd1, 0; @%p1 bar.sync 0;",
            vec![],
        ),
    ]);
}

#[test]
fn numbers_as_addresses_are_named() {
    assert_named(&[
        // Numbers as addresses of shared memory.
        (".shared .align 16 .b8 a[64];", "st.shared.u32 [4], %r1;", vec![PACKED.to_owned()]),
        (
            ".shared .align 16 .b8 a[64];",
            "mov.u64 %rd1, 4; cvta.shared.u64 %rd1, %rd1; st.u32 [%rd1], %r1; st.shared.u32 [a], %r1;",
            vec![PACKED.to_owned()],
        ),
        // A test for the state space of a number is not an access.
        (
            ".shared .align 16 .b8 a[64];",
            "mov.u64 %rd1, 4; isspacep.shared %p1, %rd1; @%p1 bra END; st.shared.u32 [a], %r1;",
            vec![],
        ),
    ]);
}

#[test]
fn what_is_taken_for_granted_of_generic_addresses_is_named() {
    const WORDS: &str = ".shared .align 16 .b8 a[64];";
    let generic = "mov.u64 %rd1, a; cvta.shared.u64 %rd2, %rd1;";
    let unless_zero =
        |of: &str| format!("setp.ne.u64 %p1, {of}, 0; @%p1 bra END; st.shared.u32 [a+4], %r1;");
    let window = "generic addresses of shared memory";
    let kernels = [
        // The distance from the address within the state space, and the lower half.
        (format!("{generic} sub.u64 %rd3, %rd2, %rd1; {}", unless_zero("%rd3")), format!("{window}, `a`")),
        (
            format!("{generic} sub.u64 %rd3, %rd2, %rd1; cvta.to.shared.u64 %rd3, %rd3; {}", unless_zero("%rd3")),
            format!("{window}, `a`"),
        ),
        (
            format!("{generic} cvt.u32.u64 %r2, %rd2; cvt.u64.u32 %rd3, %r2; sub.u64 %rd3, %rd3, %rd2; {}", unless_zero("%rd3")),
            format!("{window}, `a`"),
        ),
        // Conversion back, and from another state space.
        (
            format!("{generic} cvta.to.shared.u64 %rd3, %rd2; sub.u64 %rd3, %rd3, %rd1; {}", unless_zero("%rd3")),
            String::new(),
        ),
        (format!("{generic} add.u64 %rd3, %rd2, 4; sub.u64 %rd3, %rd3, %rd2; {}", unless_zero("%rd3")), String::new()),
        (format!("{generic} add.u64 %rd3, %rd2, 4; setp.lt.u64 %p1, %rd3, %rd2; @%p1 bra END; st.u32 [%rd3], %r1;"), String::new()),
        (format!("{generic} and.b64 %rd3, %rd2, 15; {}", unless_zero("%rd3")), String::new()),
        (format!("{generic} isspacep.shared %p1, %rd2; @%p1 st.u32 [%rd2], %r1;"), String::new()),
        // Conversion of a number, and the number itself as an address.
        (
            format!("mov.u64 %rd1, 0; cvta.shared.u64 %rd2, %rd1; shr.u64 %rd2, %rd2, 40; {}", unless_zero("%rd2")),
            format!("{PACKED}|{window}"),
        ),
        (
            format!("mov.u64 %rd1, 0x7f0000006c000000; cvta.to.shared.u64 %rd2, %rd1; {}", unless_zero("%rd2")),
            window.to_owned(),
        ),
        ("mov.u64 %rd1, 0x7f0000006c000000; isspacep.shared %p1, %rd1; @%p1 bra END; st.shared.u32 [a+4], %r1;".to_owned(), window.to_owned()),
        (
            "mov.u64 %rd1, 0x7f0000006c000000; isspacep.global %p1, %rd1; @%p1 bra END; st.shared.u32 [a+4], %r1;".to_owned(),
            format!("generic addresses of constant memory, generic addresses of parameter memory, generic addresses of local memory, {window}"),
        ),
    ];
    for (body, expected) in kernels {
        let of_places = |text: &str| match text {
            PACKED => PACKED.to_owned(),
            _ => format!("{PLACES}{text}"),
        };
        let mut expected: Vec<String> =
            expected.split('|').filter(|text| !text.is_empty()).map(of_places).collect();
        expected.reverse();
        let body = format!("st.shared.u32 [a], %r1; {body}");
        assert_eq!(places(WORDS, "", &body), expected, "{body}");
    }
}

/// Parameters, a body, the assumed alignment of the pointer beyond the declared one, and the other assumption.
type PointerCase<'t> = (&'t str, String, &'t str, &'t str);

const LOAD: &str = "ld.param.u64 %rd1, [p];";
const TEST: &str = "and.b64 %rd3, %rd1, 15; setp.ne.u64 %p1, %rd3, 0; @%p1 bra END;";

fn assert_pointers_named(kernels: &[PointerCase<'_>]) {
    for (params, body, aligned, named) in kernels {
        let mut found = places("", params, body);
        found.retain(|own| own != "pointer arguments point to buffers that do not overlap");
        let mut expected = vec![WITHIN.to_owned()];
        expected.extend((!aligned.is_empty()).then(|| format!("{ALIGNED}{aligned}")));
        expected.extend((!named.is_empty()).then(|| format!("{PLACES}{named}")));
        assert_eq!(found, expected, "{params}\n{body}");
    }
}

#[test]
fn what_is_taken_for_granted_of_pointers_is_named() {
    let quad = "st.global.v4.u32 [%rd1], {%r1, %r1, %r1, %r1};";
    let through = "mov.u64 %rd2, p; cvta.param.u64 %rd2, %rd2; ld.u64 %rd1, [%rd2];";
    let null = "setp.eq.u64 %p1, %rd1, 0; @%p1 bra END;";
    assert_pointers_named(&[
        (
            ".param .u64 .ptr .global .align 4 p",
            format!("{LOAD} {quad}"),
            "argument 0 (`p`) to 16 bytes (declared: 4)",
            "",
        ),
        (".param .u64 .ptr .global .align 16 p", format!("{LOAD} {quad}"), "", ""),
        (".param .u64 .ptr .global p", format!("{LOAD} st.global.u32 [%rd1], %r1;"), "", ""),
        (
            ".param .u64 p",
            format!("{LOAD} st.global.u32 [%rd1], %r1;"),
            "argument 0 (`p`) to 4 bytes",
            "",
        ),
        (
            ".param .u64 .ptr .global .align 4 p",
            format!("{through} {TEST} st.global.u32 [%rd1], %r1;"),
            "argument 0 (`p`) to 16 bytes (declared: 4)",
            "",
        ),
        (
            ".param .u64 .ptr .global .align 16 p",
            format!("{LOAD} {null} {quad}"),
            "",
            "argument 0 (`p`)",
        ),
    ]);
}

#[test]
fn what_is_taken_for_granted_of_pointers_that_were_passed_on_is_named() {
    assert_pointers_named(&[
        // Through local memory, and through a shuffle.
        (
            ".param .u64 .ptr .global .align 4 p",
            format!(
                ".local .align 8 .b8 l[8]; {LOAD} st.local.u64 [l], %rd1; ld.local.u64 %rd1, [l]; {TEST} st.global.u32 [%rd1], %r1;"
            ),
            "argument 0 (`p`) to 16 bytes (declared: 4)",
            "",
        ),
        (
            ".param .u64 .ptr .global .align 4 p",
            format!(
                "{LOAD} cvt.u32.u64 %r2, %rd1; shfl.sync.idx.b32 %r2, %r2, 0, 31, 1; and.b32 %r2, %r2, 8; setp.ne.u32 %p1, %r2, 0; @%p1 bra END; st.global.u32 [%rd1], %r1;"
            ),
            "argument 0 (`p`) to 16 bytes (declared: 4)",
            "",
        ),
        // In a structure.
        (
            ".param .align 8 .b8 p[16]",
            format!("ld.param.u64 %rd1, [p+8]; {TEST} st.global.u32 [%rd1], %r1;"),
            "the pointer at byte 8 of argument 0 (`p`) to 16 bytes",
            "",
        ),
        (
            ".param .align 8 .b8 p[16]",
            format!(
                "ld.param.v2.u64 {{%rd2, %rd1}}, [p]; {TEST} st.global.u32 [%rd1], %r1; st.global.u32 [%rd2], %r1;"
            ),
            "the pointer at byte 0 of argument 0 (`p`) to 4 bytes, the pointer at byte 8 of argument 0 (`p`) to 16 bytes",
            "",
        ),
    ]);
}

#[test]
fn what_is_taken_for_granted_of_where_parameters_lie_is_named() {
    let test = "mov.u64 %rd1, q; and.b64 %rd1, %rd1, 8; setp.eq.s64 %p1, %rd1, 0; @%p1 bar.sync 0;";
    let named = |at: usize| vec![format!("{PLACES}the memory of argument {at} (`q`)")];
    assert_eq!(places("", ".param .u64 q, .param .align 16 .b8 p[16]", test), named(0));
    assert_eq!(places("", ".param .align 16 .b8 p[16], .param .u64 q", test), named(1));
}

/// A function that tests bits of its argument.
const CALLEE: &str = ".func f(.param .u64 x)\n{\n.reg .b64 %a, %b;\n.reg .pred %q;\nld.param.u64 %a, [x];\n\
    and.b64 %b, %a, 8;\nsetp.ne.u64 %q, %b, 0;\n@%q bra DONE;\nst.global.u32 [%a], 1;\nDONE: ret;\n}\n";

#[test]
fn what_a_device_function_tests_is_named() {
    let body = "ld.param.u64 %rd1, [p];\n{ .param .u64 given; st.param.u64 [given], %rd1; call f, (given); }";
    let found = places(CALLEE, ".param .u64 .ptr .global .align 4 p", body);
    assert_eq!(
        found,
        [WITHIN.to_owned(), format!("{ALIGNED}argument 0 (`p`) to 16 bytes (declared: 4)")]
    );
}

#[test]
fn what_might_lie_below_the_first_address_is_named() {
    let down = |compare: &str| {
        let body = format!(
            "mov.u32 %r2, words; add.u32 %r3, %r2, 12;\nL: st.shared.u32 [%r3], %r1; sub.u32 %r3, %r3, 4; {compare} @%p1 bra L;"
        );
        places(".shared .align 4 .b8 words[16];", "", &body)
    };
    assert_eq!(down("setp.ge.u32 %p1, %r3, %r2;"), [format!("{PLACES}`words`")]);
    assert_eq!(down("add.u32 %r4, %r3, 4; setp.ne.u32 %p1, %r4, %r2;"), <[String; 0]>::default());
}
