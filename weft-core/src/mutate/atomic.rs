//! Writes atomics as plain accesses: `atom` and `red` (PTX ISA §9.7.13.5, §9.7.13.7) become a load, the operation and a
//! store.

use super::asm::Asm;
use crate::ptx::isa::{Modifier, Opcode};
use crate::ptx::{Space, Type};

/// Operations that one instruction computes, with the instruction.
const PLAIN: [(Modifier, &str); 6] = [
    (Modifier::And, "and"),
    (Modifier::Or, "or"),
    (Modifier::Xor, "xor"),
    (Modifier::Min, "min"),
    (Modifier::Max, "max"),
    (Modifier::Add, "add"),
];

/// Returns the load, the operation and the store; `None` for vectors, for 16 bytes and for operations that are not
/// known.
pub(super) fn plain(asm: &Asm<'_>) -> Option<String> {
    let has_result = asm.decoded.row.opcode == Opcode::Atom;
    let (result, operands) = if has_result {
        let (first, rest) = asm.operands.split_first()?;
        (Some(first).filter(|name| *name != "_"), rest)
    } else {
        (None, asm.operands.as_slice())
    };
    let (address, values) = operands.split_first()?;
    let (bits, space, guard) = (bits(asm)?, space(asm)?, &asm.guard);
    let new = new(asm, bits, values)?;
    let end = result
        .map_or_else(String::new, |result| format!("{guard}mov.b{bits} {result}, %weft_old; "));
    Some(format!(
        "{{ .reg .b{bits} %weft_old, %weft_new; .reg .pred %weft_is; {guard}ld{space}.b{bits} %weft_old, {address}; \
         {new} {guard}st{space}.b{bits} {address}, %weft_new; {end}}}"
    ))
}

fn bits(asm: &Asm<'_>) -> Option<u32> {
    let is_plain = asm.decoded.vector() == 1 && asm.decoded.ty() != Type::B128;
    is_plain.then(|| asm.decoded.ty().bits())
}

fn space(asm: &Asm<'_>) -> Option<&'static str> {
    match asm.decoded.space {
        Space::Generic => Some(""),
        Space::Global => Some(".global"),
        Space::Shared => Some(".shared"),
        _ => None,
    }
}

/// Returns the code that computes `%weft_new` from `%weft_old` and the operands behind the address.
fn new(asm: &Asm<'_>, bits: u32, values: &[String]) -> Option<String> {
    let modifiers = asm.decoded.modifiers;
    let value = values.first()?;
    if modifiers.has(Modifier::Exch) {
        return Some(format!("mov.b{bits} %weft_new, {value};"));
    }
    if modifiers.has(Modifier::Cas) {
        let swap = values.get(1)?;
        return Some(format!(
            "setp.eq.b{bits} %weft_is, %weft_old, {value}; selp.b{bits} %weft_new, {swap}, %weft_old, %weft_is;"
        ));
    }
    if modifiers.has(Modifier::Inc) {
        return Some(format!(
            "add.u32 %weft_new, %weft_old, 1; setp.ge.u32 %weft_is, %weft_old, {value}; \
             selp.b32 %weft_new, 0, %weft_new, %weft_is;"
        ));
    }
    if modifiers.has(Modifier::Dec) {
        // 0 - 1 gives the largest number, which is above the bound like every value that wraps around.
        return Some(format!(
            "sub.u32 %weft_new, %weft_old, 1; setp.ge.u32 %weft_is, %weft_new, {value}; \
             selp.b32 %weft_new, {value}, %weft_new, %weft_is;"
        ));
    }
    let (_, operation) = PLAIN.into_iter().find(|(modifier, _)| modifiers.has(*modifier))?;
    let ty = asm.type_word()?;
    let rounding = if asm.decoded.ty().is_float() && operation == "add" { ".rn" } else { "" };
    Some(format!("{operation}{rounding}.{ty} %weft_new, %weft_old, {value};"))
}
