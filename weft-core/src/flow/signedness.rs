//! Finds the integer parameters that a kernel uses as signed numbers. PTX declares the `int` of CUDA C++ as `.u32`, so that
//! the declaration does not tell.

use std::collections::BTreeMap;

use super::declared::{Field, NumberKind};
use super::fixpoint::ByRegister;
use super::program::{Instr, Operand, Program, Reg};
use crate::ptx::Space;
use crate::ptx::isa::{Decoded, Effect, Modifier, Opcode};

/// How an instruction uses the numbers that it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SignUse {
    /// Its result depends on the sign of this many of its first sources.
    Signed(usize),
    /// The lowest bits of its result are those of a sum or product of this many of its first sources, or of one of them.
    Sum(usize),
    Other,
}

/// Marks each parameter, and each field of a structure, whose value is used as a signed number: in an order, a division, a shift
/// to the right, or an extension to more bits. A use of a sum or a product with the value counts as one of the value.
pub(super) fn mark(program: &mut Program) {
    let signed = signed_registers(program);
    let Program { code, params, fields, .. } = program;
    for instr in code.iter() {
        for (offset, bytes) in loaded_as_signed(instr, &signed) {
            let is_it = |own: u64, size: u64| (own, size) == (offset, bytes);
            let whole = params.iter_mut().filter(|param| is_it(param.offset, param.size));
            whole.for_each(|param| param.is_signed |= param.is_scalar && !param.is_float);
            let is_unsigned =
                |field: &&mut Field| field.is_alone && field.kind == NumberKind::Unsigned;
            let parts = fields.iter_mut().filter(|field| is_it(field.offset, field.size));
            parts.filter(is_unsigned).for_each(|field| field.kind = NumberKind::Signed);
        }
    }
}

/// Returns for each register whether a signed use depends on it.
fn signed_registers(program: &Program) -> Vec<bool> {
    let mut signed = vec![false; program.registers as usize];
    let writers = ByRegister::of(program, |instr| instr.dests.iter().flatten().copied());
    let mut work = halved(program);
    for instr in &program.code {
        if let Some(SignUse::Signed(count)) = instr.decoded().map(sign_use) {
            work.extend(first_sources(instr, count));
        }
    }
    while let Some(register) = work.pop() {
        if std::mem::replace(&mut signed[register.index()], true) {
            continue;
        }
        for writer in writers.of_register(register) {
            let instr = &program.code[writer.index()];
            if let Some(SignUse::Sum(count)) = instr.decoded().map(sign_use) {
                work.extend(first_sources(instr, count));
            }
        }
    }
    signed
}

/// Returns the registers among the first `count` sources of an instruction.
fn first_sources(instr: &Instr, count: usize) -> impl Iterator<Item = Reg> {
    let register = |source: &Operand| match source {
        Operand::Register(register) => Some(*register),
        _ => None,
    };
    instr.sources.iter().take(count).filter_map(register)
}

fn sign_use(decoded: &Decoded) -> SignUse {
    let has = |modifier| decoded.modifiers.has(modifier);
    let (ty, from) = (decoded.ty(), decoded.source_type());
    match decoded.row.opcode {
        Opcode::Setp | Opcode::Set if from.is_signed() && orders(decoded) => SignUse::Signed(2),
        Opcode::Min | Opcode::Max | Opcode::Div | Opcode::Rem if ty.is_signed() => {
            SignUse::Signed(2)
        }
        Opcode::Mul | Opcode::Mad if has(Modifier::Wide) || has(Modifier::Hi) => {
            if ty.is_signed() {
                SignUse::Signed(2)
            } else {
                SignUse::Other
            }
        }
        Opcode::Abs | Opcode::Shr if ty.is_signed() => SignUse::Signed(1),
        Opcode::Cvt if from.is_signed() && (ty.bits() > from.bits() || ty.is_float()) => {
            SignUse::Signed(1)
        }
        Opcode::Mad => SignUse::Sum(3),
        Opcode::Add | Opcode::Sub | Opcode::Mul | Opcode::Selp => SignUse::Sum(2),
        Opcode::Mov | Opcode::Neg | Opcode::Shl => SignUse::Sum(1),
        _ => SignUse::Other,
    }
}

/// Returns the registers to which their own sign bit is added, as compilers write a signed division by a power of two.
fn halved(program: &Program) -> Vec<Reg> {
    let (mut signs, mut found) = (BTreeMap::new(), Vec::new());
    for instr in &program.code {
        let Some(decoded) = instr.decoded() else { continue };
        let last = Operand::Constant(u64::from(decoded.ty().bits()) - 1);
        match (decoded.row.opcode, &*instr.sources, instr.dests.first()) {
            (Opcode::Shr, [Operand::Register(of), amount], Some(Some(sign))) if *amount == last => {
                signs.insert(*sign, *of);
            }
            (Opcode::Add, [Operand::Register(a), Operand::Register(b)], _)
                if signs.get(b) == Some(a) || signs.get(a) == Some(b) =>
            {
                found.extend([*a, *b]);
            }
            _ => {}
        }
    }
    found
}

/// Whether a comparison depends on more than whether the two are equal.
fn orders(decoded: &Decoded) -> bool {
    const ORDERS: [Modifier; 4] = [Modifier::Lt, Modifier::Le, Modifier::Gt, Modifier::Ge];
    ORDERS.into_iter().any(|order| decoded.modifiers.has(order))
}

/// Returns offset and size of each element that an instruction loads from the parameter bank to a signed register.
fn loaded_as_signed(instr: &Instr, signed: &[bool]) -> Vec<(u64, u64)> {
    let is_load = instr.effect() == Effect::Load;
    let address = instr.address.filter(|address| is_load && address.space == Space::Param);
    let address = address.filter(|address| address.base.is_none());
    let (Some(decoded), Some(address)) = (instr.decoded(), address) else { return Vec::new() };
    let bytes = u64::from(decoded.ty().bytes());
    let dests = (0..).zip(&instr.dests);
    let dests = dests.filter(|(_, dest)| dest.is_some_and(|dest| signed[dest.index()]));
    dests.map(|(at, _): (u64, _)| (address.offset.wrapping_add(bytes * at), bytes)).collect()
}
