//! Which parameters hold addresses: those declared `.ptr`, and those whose value becomes the base of an access.

use super::program::{Instr, Operand, Program};
use crate::ptx::Space;
use crate::ptx::isa::{Effect, Modifier, Opcode};

/// Marks the parameters that are used as pointers to global memory.
pub(super) fn mark(program: &mut Program) {
    let origins = origins(program);
    let mut used = Vec::new();
    for instr in &program.code {
        let is_access = matches!(
            instr.effect(),
            Effect::Load | Effect::Store | Effect::Atomic | Effect::Asynchronous
        );
        if let Some(address) = instr.address
            && is_access
            && matches!(address.space, Space::Generic | Space::Global)
            && let Some(base) = address.base
        {
            used.push(origins[base.index()]);
        }
        if is_to_global(instr)
            && let [Operand::Register(source)] = *instr.sources
        {
            used.push(origins[source.index()]);
        }
    }
    for origin in used {
        if let Origin::Param(param) = origin {
            program.params[param].is_pointer = true;
        }
    }
}

/// Whose value a register holds, constants added aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Unknown,
    Param(usize),
    /// More than one thing.
    Mixed,
}

fn is_to_global(instr: &Instr) -> bool {
    instr.decoded().is_some_and(|decoded| {
        decoded.row.opcode == Opcode::Cvta
            && decoded.space == Space::Global
            && decoded.modifiers.has(Modifier::To)
    })
}

/// Flow-insensitive: the join over all definitions of a register.
fn origins(program: &Program) -> Vec<Origin> {
    let mut origins = vec![Origin::Unknown; program.registers as usize];
    let mut changed = true;
    while changed {
        changed = false;
        for instr in &program.code {
            let [Some(dest)] = *instr.dests else { continue };
            let new = origin(program, instr, &origins);
            let joined = match (origins[dest.index()], new) {
                (old, Origin::Unknown) => old,
                (Origin::Unknown, new) => new,
                (old, new) if old == new => old,
                _ => Origin::Mixed,
            };
            if joined != origins[dest.index()] {
                origins[dest.index()] = joined;
                changed = true;
            }
        }
    }
    origins
}

fn origin(program: &Program, instr: &Instr, origins: &[Origin]) -> Origin {
    let Some(decoded) = instr.decoded() else { return Origin::Unknown };
    let of = |operand: &Operand| match operand {
        Operand::Register(register) => origins[register.index()],
        _ => Origin::Unknown,
    };
    match decoded.row.opcode {
        Opcode::Ld => match instr.address {
            Some(address) if address.space == Space::Param && address.base.is_none() => {
                let whole =
                    |param: &super::Param| param.offset == address.offset && param.size == 8;
                program.params.iter().position(whole).map_or(Origin::Unknown, Origin::Param)
            }
            _ => Origin::Unknown,
        },
        Opcode::Mov | Opcode::Cvta => match &*instr.sources {
            [source] => of(source),
            _ => Origin::Unknown,
        },
        Opcode::Add | Opcode::Sub => {
            let sources: Vec<_> =
                instr.sources.iter().map(of).filter(|own| *own != Origin::Unknown).collect();
            match *sources {
                [] => Origin::Unknown,
                [one] => one,
                _ => Origin::Mixed,
            }
        }
        Opcode::Mad => instr.sources.get(2).map_or(Origin::Unknown, of),
        _ => Origin::Unknown,
    }
}
