//! Tests of the PTX parser with texts as compilers print them, and with malformed ones.

use weft_core::ptx::{self, Module, ReadErrorKind, Space, Statement, Type};

fn errors(text: &str) -> Vec<String> {
    let module = ptx::parse(text);
    let show = |error: &ptx::ReadError| format!("{} {}", module.position(error.span), error.kind);
    module.errors.iter().map(show).collect()
}

fn head(body: &str) -> String {
    format!(".version 8.0\n.target sm_80\n.address_size 64\n{body}")
}

fn clean(text: &str) -> Module {
    let module = ptx::parse(text);
    assert!(module.errors.is_empty(), "{:?}", module.errors);
    module
}

#[test]
fn the_first_version_reads_like_the_last() {
    let old = clean(
        ".version 1.4\n.target sm_10, map_f64_to_f32\n\
         .entry _Z3addPf (\n.param .u64 __cudaparm_a)\n{\n\
         .reg .u16 %rh<4>;\n.reg .u32 %r<5>;\n\
         .loc 28 10 0\n$LDWbegin__Z3addPf:\n\
         mov.u16 %rh1, %ctaid.x;\nmul.wide.u16 %r1, %rh1, 4;\n\
         @@DWARF this line means nothing\n\
         exit;\n$LDWend__Z3addPf:\n} // _Z3addPf\n",
    );
    assert_eq!(old.version, Some((1, 4)));
    assert!(old.kernel("_Z3addPf").is_some());
}

#[test]
fn declarations_keep_their_parts() {
    let module = clean(&head(
        ".extern .shared .align 16 .b8 dynamic[];\n\
         .visible .const .align 8 .f32 table[2][3] = {1.0, 0f40000000, -3, 4, 5, 6};\n\
         .global .align 8 .u64 pointer = generic(dynamic)+8;\n\
         .visible .entry k(.param .u64 .ptr .global .align 4 p, .param .align 8 .b8 s[24])\n\
         .maxntid 128, 2\n.minnctapersm 2\n{\n.reg .pred %p<3>;\n.reg .b32 %r, %q;\nret;\n}\n",
    ));
    let [dynamic, table, pointer] = &module.variables[..] else { unreachable!("three variables") };
    assert_eq!((dynamic.space, dynamic.size(), dynamic.is_extern), (Space::Shared, 0, true));
    assert_eq!((table.space, table.ty, table.size()), (Space::Const, Type::F32, 24));
    let [table, pointer] = [table, pointer].map(|own| own.init.as_ref().unwrap());
    assert_eq!((table.values, pointer.values, table.addresses.len()), (6, 1, 0));
    assert_eq!(pointer.bytes.as_deref(), Some([0; 8].as_slice()));
    let [address] = &pointer.addresses[..] else { unreachable!("one address") };
    assert_eq!((module.name(address.name), address.at), ("dynamic", 0));
    assert_eq!((address.offset, address.is_generic), (8, true));
    let bytes = table.bytes.as_ref().unwrap();
    assert_eq!((bytes.len(), &bytes[..8]), (24, &[1_f32, 2.0].map(f32::to_le_bytes).concat()[..]));
    assert_eq!(dynamic.init, None);
    let kernel = module.kernel("k").unwrap();
    assert_eq!(kernel.maxntid, Some([128, 2, 1]));
    assert!(kernel.params[0].pointee == Some(Space::Global) && kernel.params[1].size() == 24);
    let variables = kernel.body.as_ref().unwrap().statements.iter();
    assert_eq!(
        variables.filter(|statement| matches!(statement, Statement::Variable(_))).count(),
        3
    );
}

/// Texts as printed by rustc: functions that never return, and labels after sections of debug information.
#[test]
fn a_directive_of_a_declaration_does_not_take_its_semicolon() {
    let module = clean(&head(
        ".func panics\n(\n\t.param .b64 panics_param_0\n)\n.noreturn;\n\
         .func (.param .b32 func_retval0) returns\n(\n\t.param .b64 returns_param_0\n)\n;\n\
         .entry k()\n.maxntid 32, 1, 1\n.pragma \"nounroll\";\n{\nret;\n}\n\
         \t.section\t.debug_info\n\t{\n.b8 1\n\t}\n$L__sec_end0:\n\t.section\t.debug_aranges\n\t{\n\t}\n",
    ));
    let has_body: Vec<bool> =
        module.functions.iter().map(|function| function.body.is_some()).collect();
    assert_eq!(has_body, [false, false, true]);
    assert_eq!(module.kernel("k").unwrap().maxntid, Some([32, 1, 1]));
}

#[test]
fn reading_goes_on_at_the_next_statement() {
    let text = head(
        ".entry k()\n{\n.reg .b32 %r<2>;\nadd.u32 %r0, ;\nmov.u32 %r1, 08;\nret;\n}\n.entry l() { ret; }\n",
    );
    assert_eq!(
        errors(&text),
        ["7:14 expected an operand, found `;`", "8:14 number `08` is out of range"]
    );
    assert_eq!(ptx::parse(&text).kernels().count(), 2);
}

#[test]
fn what_is_no_ptx_is_said_to_be_none() {
    let kind = |text: &str| ptx::parse(text).errors.first().map(|error| error.kind.clone());
    assert_eq!(kind(""), Some(ReadErrorKind::Empty));
    assert_eq!(kind("  // nothing\n"), Some(ReadErrorKind::Empty));
    assert_eq!(kind("\u{7f}ELF\u{1}"), Some(ReadErrorKind::Character('\u{7f}')));
    assert_eq!(kind("int main() {}"), Some(ReadErrorKind::NoVersion));
    assert!(matches!(kind(&head(".entry k() { ret;")), Some(ReadErrorKind::Truncated(_))));
    assert!(matches!(
        kind(&head(".entry k() { ret; } .entry k() { ret; }")),
        Some(ReadErrorKind::Duplicate(_))
    ));
    assert!(matches!(
        kind(&head(".entry k() { mov.b64 {}, 1; }")),
        Some(ReadErrorKind::Expected { .. })
    ));
    let deep = format!("{} {}", "{".repeat(100_000), "}".repeat(100_000));
    assert!(matches!(
        kind(&head(&format!(".entry k() {{ {deep} }}"))),
        Some(ReadErrorKind::Depth(_))
    ));
}
