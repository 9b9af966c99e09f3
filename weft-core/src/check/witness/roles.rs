//! What a kernel uses numbers for that are passed to it, as far as registers show it. This only guides the choice of
//! values: nothing is concluded from it.

use crate::flow::{Instr, Operand, Params, Program, settle};
use crate::ptx::Space;
use crate::ptx::isa::{Effect, Opcode};

/// What a number is used for; of several uses, the greatest counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NumberRole {
    /// Nothing that is known.
    #[default]
    Unknown,
    /// A factor, as a stride is.
    Factor,
    /// It is compared with something, as a size is.
    Bound,
    /// Another number divides it, as a number of groups divides a number of channels.
    Dividend,
    /// It divides something, as the extents of a shape do.
    Divisor,
}

/// Returns the roles of parameters and fields, by position. Only the first 64 are followed.
pub(super) fn roles(program: &Program) -> Vec<NumberRole> {
    let mut held = vec![Params::NONE; program.registers as usize];
    settle(program, |at| {
        let instr = &program.code[at];
        let mut changed = false;
        for (element, dest) in instr.dests.iter().enumerate() {
            let Some(dest) = dest else { continue };
            let joined = held[dest.index()].and(value(program, instr, element, &held));
            changed |= joined != held[dest.index()];
            held[dest.index()] = joined;
        }
        changed
    });
    let mut roles = vec![NumberRole::Unknown; program.params.len() + program.fields.len()];
    for instr in &program.code {
        for (at, operand) in instr.sources.iter().enumerate() {
            let role = role(instr, at, &held);
            for position in params(operand, &held).all() {
                if let Some(known) = roles.get_mut(position) {
                    *known = role.max(*known);
                }
            }
        }
    }
    roles
}

fn params(operand: &Operand, held: &[Params]) -> Params {
    match operand {
        Operand::Register(register) => held[register.index()],
        _ => Params::NONE,
    }
}

/// Returns the parameters that a result is computed from, if it is computed from nothing else but constants.
fn value(program: &Program, instr: &Instr, element: usize, held: &[Params]) -> Params {
    let Some(decoded) = instr.decoded() else { return Params::NONE };
    let is_constant = |operand: &Operand| matches!(operand, Operand::Constant(_));
    match decoded.row.opcode {
        Opcode::Ld if instr.effect() == Effect::Load => loaded(program, instr, element),
        Opcode::Mov
        | Opcode::Cvt
        | Opcode::Cvta
        | Opcode::Neg
        | Opcode::Abs
        | Opcode::Min
        | Opcode::Max
        | Opcode::Selp => {
            instr.sources.iter().fold(Params::NONE, |all, one| all.and(params(one, held)))
        }
        Opcode::Add
        | Opcode::Sub
        | Opcode::Mul
        | Opcode::Shl
        | Opcode::Shr
        | Opcode::Div
        | Opcode::And => match &*instr.sources {
            [one, other] if is_constant(other) => params(one, held),
            [one, other] if is_constant(one) => params(other, held),
            _ => Params::NONE,
        },
        _ => Params::NONE,
    }
}

/// Returns the parameter or field that an element is loaded from.
fn loaded(program: &Program, instr: &Instr, element: usize) -> Params {
    let (Some(decoded), Some(address)) = (instr.decoded(), instr.address) else {
        return Params::NONE;
    };
    if address.space != Space::Param || address.base.is_some() {
        return Params::NONE;
    }
    let bytes = u64::from(decoded.ty().bytes());
    let offset = address.offset.wrapping_add(bytes * element as u64);
    let is_scalar =
        program.params.iter().position(|param| param.is_scalar && param.offset == offset);
    let field = || {
        let at = program.fields.iter().position(|field| field.offset == offset)?;
        Some(program.params.len() + at)
    };
    is_scalar.or_else(field).and_then(Params::one).unwrap_or(Params::NONE)
}

/// Returns the role of a source operand of an instruction.
fn role(instr: &Instr, at: usize, held: &[Params]) -> NumberRole {
    let Some(decoded) = instr.decoded() else { return NumberRole::Unknown };
    let is_passed = |at: usize| {
        instr.sources.get(at).is_some_and(|operand| params(operand, held).all().next().is_some())
    };
    match (decoded.row.opcode, at) {
        (Opcode::Div | Opcode::Rem, 0) if is_passed(1) => NumberRole::Dividend,
        (Opcode::Setp | Opcode::Set, 0 | 1) => NumberRole::Bound,
        (Opcode::Div | Opcode::Rem, 1) => NumberRole::Divisor,
        (Opcode::Mul | Opcode::Mul24 | Opcode::Mad | Opcode::Mad24, 0 | 1) | (Opcode::Shl, 0) => {
            NumberRole::Factor
        }
        _ => NumberRole::Unknown,
    }
}
