use super::link;

fn linked(texts: &[&str]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    link(&texts).expect("the texts can be linked")
}

fn refused(texts: &[&str]) -> (String, &'static str) {
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    let refusal = link(&texts).expect_err("the texts cannot be linked");
    (refusal.reason.unwrap_or_default(), refusal.status.name())
}

fn head(version: &str, target: &str) -> String {
    format!(".version {version}\n.target {target}\n.address_size 64\n")
}

/// Returns two texts behind heads that are alike linked, without the head.
fn both(one: &str, other: &str) -> String {
    let head = head("8.0", "sm_80");
    let text = linked(&[&(head.clone() + one), &(head.clone() + other)]);
    text.strip_prefix(&head).expect("the head is the same").to_owned()
}

#[test]
fn one_text_stays_as_it_is() {
    assert_eq!(linked(&[".version 8.0 // no target"]), ".version 8.0 // no target");
}

#[test]
fn the_head_is_the_newest() {
    let texts = [
        head("8.10", "sm_90"),
        head("8.9", "sm_90a, texmode_independent"),
        head("7.0", "sm_80, debug"),
    ];
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    assert_eq!(linked(&texts), head("8.10", "sm_90a, texmode_independent"));
    let narrow = ".version 8.0\n.target sm_80\n.address_size 32\n";
    let (reason, status) = refused(&[&head("8.0", "sm_80"), narrow]);
    assert!(reason.contains("sizes of addresses"), "{reason}");
    assert_eq!(status, "CUDA_ERROR_NOT_SUPPORTED");
}

#[test]
fn a_function_of_another_text_is_declared_as_it_is_defined() {
    let caller = ".extern .func f(.param .b32 a);\n.visible .entry k() { call f, (p); }";
    let callee =
        "// before\n.visible .func f(.param .b32 a) { /* in */ ret; } .visible .entry l() { ret; }";
    let expected = ".visible .func f(.param .b32 a);\n.visible .entry k() { call f, (p); }\n\
        .visible .func f(.param .b32 a) { /* in */ ret; }\n.visible .entry l() { ret; }\n";
    assert_eq!(both(caller, callee), expected);
    // What nobody defines stays a declaration, once.
    let print = ".extern .func vprintf();";
    assert_eq!(both(print, print), ".extern .func vprintf();\n");
}

#[test]
fn variables_of_another_text_stand_before_what_uses_them() {
    let user = ".extern .global .align 4 .b8 t[8];\n.entry k() { ld.global.u32 %r1, [t]; }";
    let owner = ".global .u32 own;\n.visible .global .align 4 .b8 t[8] = {1, 2};";
    assert_eq!(
        both(user, owner),
        ".visible .global .align 4 .b8 t[8] = {1, 2};\n.entry k() { ld.global.u32 %r1, [t]; }\n.global .u32 own;\n"
    );
    let dynamic = ".extern .shared .align 16 .b8 all[];";
    assert_eq!(both(dynamic, dynamic), format!("{dynamic}\n"));
}

#[test]
fn of_weak_definitions_one_counts() {
    let weak = |value: u32| format!(".weak .func f() {{ mov.u32 %r1, {value}; }}");
    assert_eq!(both(&weak(1), &weak(2)), weak(1) + "\n");
    let strong = ".visible .func f() { mov.u32 %r1, 3; }";
    for (one, other) in [(weak(1), strong.to_owned()), (strong.to_owned(), weak(1))] {
        assert_eq!(both(&one, &other), format!("{strong}\n"));
    }
}

#[test]
fn two_definitions_are_refused() {
    let own = head("8.0", "sm_80");
    for text in [".visible .func f() { ret; }", ".entry f() { ret; }", ".visible .global .u32 f;"] {
        let text = own.clone() + text;
        let (reason, status) = refused(&[&text, &text]);
        assert_eq!(reason, "f is defined in two of the texts that are linked");
        assert_eq!(status, "CUDA_ERROR_INVALID_SOURCE");
    }
}

#[test]
fn names_of_one_text_alone_do_not_clash() {
    let one = ".global .u32 n = 1;\n.func add() { ld.global.u32 %r1, [n]; }\n.visible .entry k() { call add, (); }";
    let other = ".global .u32 n = 2;\n.func add() { add.u32 %r1, %r2, n+4; @%p add.u32 %r1, %r1, 1; }\n\
        .visible .entry l() { call add, (); bra add; add: ret; }";
    let expected = ".global .u32 n$1 = 2;\n.func add$1() { add.u32 %r1, %r2, n$1+4; @%p add.u32 %r1, %r1, 1; }\n\
        .visible .entry l() { call add$1, (); bra add$1; add$1: ret; }\n";
    assert_eq!(both(one, other), format!("{one}\n{expected}"));
    // One that another text defines for all, in whatever order they come.
    let all = ".visible .func add() { ret; }";
    let text = both(".func add() { ret; }", all);
    assert_eq!(text, ".func add$0() { ret; }\n.visible .func add() { ret; }\n");
}

#[test]
fn files_and_names_of_inlined_functions_are_those_of_their_text() {
    let text = |file: &str, number: u32| {
        format!(
            ".func f{number}() {{ .loc 1 2 3, function_name $L__info_string0, inlined_at 1 {number} 5; ret; }}\n\
             .file 1 \"{file}\", 12, 34\n.section .debug_str {{ $L__info_string0: .b8 {number} }}\n.section .debug_loc {{ }}\n"
        )
    };
    let own = |file: u32, number: u32, label: &str| {
        format!(
            ".func f{number}() {{ .loc {file} 2 3, function_name {label}, inlined_at {file} {number} 5; ret; }}\n"
        )
    };
    let section =
        |label: &str, number: u32| format!(".section .debug_str {{ {label}: .b8 {number} }}\n");
    let (one, other) = ("$L__info_string0", "$L__info_string0$1");
    let expected =
        |file: u32| own(1, 7, one) + &own(file, 8, other) + &section(one, 7) + &section(other, 8);
    let files = ".file 1 \"a.cu\"\n.file 2 \"b.cu\"\n".to_owned();
    assert_eq!(both(&text("a.cu", 7), &text("b.cu", 8)), files + &expected(2));
    let files = ".file 1 \"a.cu\"\n".to_owned();
    assert_eq!(both(&text("a.cu", 7), &text("a.cu", 8)), files + &expected(1));
}

#[test]
fn texts_that_are_not_understood_are_refused() {
    let own = head("8.0", "sm_80");
    for wrong in [
        "@@DWARF .b8 0",
        ".func f(",
        ".func",
        ".global .u32 x",
        ".section .x {",
        ".file 1",
        ".global .u32 a = {",
    ] {
        let (_, status) = refused(&[&own, &(own.clone() + wrong)]);
        assert_eq!(status, "CUDA_ERROR_NOT_SUPPORTED", "{wrong}");
    }
    let several = own.clone() + ".extern .global .u32 a, b;";
    let (reason, _) = refused(&[&several, &(own + ".visible .global .u32 b;")]);
    assert!(reason.contains("several variables at once (a, b)"), "{reason}");
}
