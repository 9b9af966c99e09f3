//! Which parameters hold addresses: those declared `.ptr`, and those whose value becomes the base of an access.

use super::program::{Field, Holds, Instr, Operand, Program};
use crate::ptx::Space;
use crate::ptx::isa::{Effect, Modifier, Opcode};

/// Constants from here on may be addresses of variables.
const LEAST_ADDRESS: u64 = 1 << 40;

/// Marks the parameters that are used as pointers to global memory.
pub(super) fn mark(program: &mut Program) {
    program.fields = fields(program);
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
        let Holds::Param(at) = origin else { continue };
        let count = program.params.len();
        match program.params.get_mut(at) {
            Some(param) => param.is_pointer = true,
            None => program.fields[at - count].is_pointer = true,
        }
    }
    program.holds = origins;
}

/// Eight bytes of structures that are loaded at once.
fn fields(program: &Program) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    for instr in &program.code {
        for offset in loaded(instr) {
            let holds = |param: &super::Param| {
                let end = param.offset.saturating_add(param.size);
                !param.is_scalar && param.offset <= offset && offset.saturating_add(8) <= end
            };
            let overlaps = |field: &Field| field.offset.abs_diff(offset) < 8;
            if let Some(param) = program.params.iter().position(holds)
                && !fields.iter().any(overlaps)
            {
                fields.push(Field { param, offset, is_pointer: false });
            }
        }
    }
    fields
}

/// The offsets in the bank of the 8-byte elements that an instruction loads from it.
fn loaded(instr: &Instr) -> Vec<u64> {
    match (instr.decoded(), instr.address) {
        (Some(decoded), Some(address))
            if decoded.row.opcode == Opcode::Ld
                && address.space == Space::Param
                && address.base.is_none()
                && decoded.ty().bytes() == 8 =>
        {
            (0..instr.dests.len() as u64).map(|at| address.offset.wrapping_add(8 * at)).collect()
        }
        _ => Vec::new(),
    }
}

impl Holds {
    const fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, origin) | (origin, Self::Nothing) => origin,
            (Self::Param(a), Self::Param(b)) if a == b => Self::Param(a),
            (Self::Variable(a), Self::Variable(b)) if a == b => Self::Variable(a),
            (Self::Number, Self::Number) => Self::Number,
            _ => Self::Mixed,
        }
    }

    /// A sum is an address only of the one address in it.
    const fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, _) | (_, Self::Nothing) => Self::Nothing,
            (Self::Number, origin) | (origin, Self::Number) => origin,
            _ => Self::Mixed,
        }
    }
}

fn is_to_global(instr: &Instr) -> bool {
    instr.decoded().is_some_and(|decoded| {
        decoded.row.opcode == Opcode::Cvta
            && decoded.space == Space::Global
            && decoded.modifiers.has(Modifier::To)
    })
}

fn origins(program: &Program) -> Vec<Holds> {
    let mut origins = vec![Holds::Nothing; program.registers as usize];
    super::settle(program, |at| {
        let instr = &program.code[at];
        let mut changed = false;
        for (at, dest) in instr.dests.iter().enumerate() {
            let Some(dest) = dest else { continue };
            let new = origin(program, instr, at, &origins);
            let joined = origins[dest.index()].join(new);
            changed |= joined != origins[dest.index()];
            origins[dest.index()] = joined;
        }
        changed
    });
    origins
}

fn origin(program: &Program, instr: &Instr, dest: usize, origins: &[Holds]) -> Holds {
    let Some(decoded) = instr.decoded() else { return Holds::Mixed };
    let of = |operand: &Operand| match operand {
        Operand::Register(register) => origins[register.index()],
        Operand::Constant(bits) if *bits < LEAST_ADDRESS => Holds::Number,
        Operand::Variable { space, first, .. } => {
            let mixed = if *space == Space::Param { Holds::Number } else { Holds::Mixed };
            program.variable_at(*space, *first).map_or(mixed, Holds::Variable)
        }
        Operand::Special(_) => Holds::Number,
        _ => Holds::Mixed,
    };
    let source = |at: usize| instr.sources.get(at).map_or(Holds::Mixed, of);
    // What has at most 32 bits is no address; wider values must come of numbers alone.
    let is_narrow = decoded.source_type().bits() <= 32;
    let is_number = |count: usize| {
        (0..count).all(|at| match source(at) {
            Holds::Number | Holds::Nothing => true,
            Holds::Variable(_) => false,
            Holds::Param(_) | Holds::Mixed => is_narrow,
        })
    };
    match decoded.row.opcode {
        Opcode::Ld => match loaded(instr).get(dest) {
            Some(&offset) => parameter(program, offset).map_or(Holds::Mixed, Holds::Param),
            None => Holds::Mixed,
        },
        Opcode::Mov if instr.sources.len() == 1 => source(0),
        Opcode::Cvta if matches!(decoded.space, Space::Global | Space::Shared | Space::Local) => {
            source(0)
        }
        // An address in shared or local memory has 32 bits, in whatever register.
        Opcode::Cvt if is_narrow_address(program, source(0)) => source(0),
        Opcode::Selp => source(0).join(source(1)),
        Opcode::Add | Opcode::Sub => source(0).plus(source(1)),
        Opcode::Mad if is_number(2) => source(2),
        Opcode::Mul
        | Opcode::Shl
        | Opcode::Shr
        | Opcode::Cvt
        | Opcode::And
        | Opcode::Rem
        | Opcode::Bfe
            if is_number(instr.sources.len()) =>
        {
            Holds::Number
        }
        _ => Holds::Mixed,
    }
}

fn is_narrow_address(program: &Program, holds: Holds) -> bool {
    let is_narrow = |at: usize| matches!(program.symbols[at].space, Space::Shared | Space::Local);
    matches!(holds, Holds::Variable(at) if is_narrow(at))
}

/// The parameter or field that is these eight bytes of the bank.
fn parameter(program: &Program, offset: u64) -> Option<usize> {
    let whole = |param: &super::Param| param.offset == offset && param.size == 8;
    let field = || program.fields.iter().position(|field| field.offset == offset);
    program.params.iter().position(whole).or_else(|| Some(program.params.len() + field()?))
}
