//! Finds the parameters that hold addresses: those declared `.ptr`, and those whose value becomes the base of an
//! access.

use std::collections::BTreeSet;

use super::constants::Constants;
use super::declared::{Field, NumberKind, Param, Params};
use super::layout;
use super::program::{Holds, Instr, Operand, Pc, Program, Reg};
use super::sources::{is_number, trace};
use crate::ptx::Space;
use crate::ptx::isa::{Decoded, Effect, Modifier, Opcode};

/// Marks the parameters and fields that are used as pointers, and finds what each register holds.
pub(super) fn mark(program: &mut Program) {
    let constants = Constants::of(program);
    program.fields = fields(program, &constants);
    let uses = uses(program);
    let places: Vec<_> = uses.iter().map(|(_, at, register)| (*at, *register)).collect();
    let mut is_shared = vec![false; program.params.len()];
    let params = program.params.iter().enumerate();
    let declared: BTreeSet<_> = params
        .filter(|(_, declared_param)| declared_param.pointee.is_some())
        .map(|(at, _)| at)
        .collect();
    let mut sure: BTreeSet<usize> = BTreeSet::new();
    for (found, (space, ..)) in trace(program, &constants, &places).into_iter().zip(uses) {
        sure.extend(found.params.iter().filter(|_| found.is_sure));
        for at in found.params {
            program.guessed.insert(at);
            let count = program.params.len();
            match program.params.get_mut(at) {
                Some(_) if space == Space::Shared => is_shared[at] = true,
                Some(param) if param.size == 8 => {
                    param.pointee = param.pointee.or(Some(Space::Global));
                }
                Some(_) => {}
                None if space == Space::Shared => {}
                None => program.fields[at - count].is_pointer = true,
            }
        }
    }
    program.guessed.retain(|at| !sure.contains(at) && !declared.contains(at));
    place_objects(program, &is_shared);
    program.holds = origins(program);
}

/// Returns for each access the parameters whose value, plus numbers, is its address: by position, with fields of
/// structures numbered after the last parameter.
pub fn sources_of(program: &Program, accesses: &[Pc]) -> Vec<Vec<usize>> {
    let base = |at: &Pc| program.code[at.index()].address.and_then(|address| address.base);
    let uses: Vec<_> = accesses.iter().filter_map(|at| Some((*at, base(at)?))).collect();
    let found = trace(program, &Constants::of(program), &uses);
    let mut found = uses.iter().map(|(at, _)| *at).zip(found).peekable();
    let of = |at: &Pc| {
        let found = found.next_if(|(pc, _)| pc == at);
        found.map(|(_, all)| all.params).unwrap_or_default()
    };
    accesses.iter().map(of).collect()
}

/// Returns the registers that are used as addresses: the space, the instruction and the register.
fn uses(program: &Program) -> Vec<(Space, Pc, Reg)> {
    let mut uses = Vec::new();
    for (instr, pc) in program.code.iter().zip((0..).map(Pc)) {
        let is_access = matches!(
            instr.effect(),
            Effect::Load
                | Effect::Store
                | Effect::Atomic
                | Effect::BulkCopy
                | Effect::Mbarrier
                | Effect::MbarrierWait
                | Effect::Asynchronous
        );
        if let Some(address) = instr.address
            && is_access
            && matches!(address.space, Space::Generic | Space::Global | Space::Shared)
            && let Some(base) = address.base
        {
            uses.push((address.space, pc, base));
        }
        if let Some(Operand::Register(source)) = instr.copied_global() {
            uses.push((Space::Global, pc, *source));
        }
        if is_to_global(instr)
            && let [Operand::Register(source)] = *instr.sources
        {
            uses.push((Space::Global, pc, source));
        }
    }
    uses
}

/// Adds a symbol for each object that a parameter points to in shared or constant memory. In clusters of several ctas, pointers
/// to shared memory have none: their objects would lie where peer addresses do.
fn place_objects(program: &mut Program, is_shared: &[bool]) {
    let mut count = 0;
    for (position, param) in program.params.iter_mut().enumerate() {
        let space = match param.pointee {
            Some(space @ (Space::Shared | Space::Const)) => space,
            None if is_shared[position] => Space::Shared,
            _ => continue,
        };
        let has_place = space != Space::Shared || !program.clusters.are_of_several();
        if has_place && param.is_scalar && matches!(param.size, 4 | 8) {
            param.object = Some(program.symbols.len());
            program.symbols.push(layout::object(count, space, param, position, &program.placement));
            count += 1;
        }
    }
}

/// Returns the pieces of structures that the kernel loads, each once: pieces of eight bytes, which might be pointers,
/// first.
fn fields(program: &Program, constants: &Constants) -> Vec<Field> {
    let mut loaded: Vec<Field> = Vec::new();
    for instr in &program.code {
        for (offset, size) in elements(instr, constants) {
            let holds = |param: &Param| {
                let end = param.offset.saturating_add(param.size);
                !param.is_scalar && param.offset <= offset && offset.saturating_add(size) <= end
            };
            if let Some(param) = program.params.iter().position(holds) {
                let is_float = instr.decoded().is_some_and(|decoded| decoded.ty().is_float());
                let kind = if is_float { NumberKind::Float } else { NumberKind::Unsigned };
                let (is_alone, is_pointer) = (true, false);
                loaded.push(Field { param, offset, size, kind, is_alone, is_pointer });
            }
        }
    }
    loaded.sort_by_key(|field| field.size != 8);
    let mut fields: Vec<Field> = Vec::new();
    for field in loaded {
        match fields.iter_mut().find(|known| known.overlaps(field.offset, field.size)) {
            Some(known) => {
                known.is_alone &= (known.offset, known.size) == (field.offset, field.size);
            }
            None => fields.push(field),
        }
    }
    fields
}

/// Returns offset and size of each element that an instruction loads from the parameter bank.
fn elements(instr: &Instr, constants: &Constants) -> Vec<(u64, u64)> {
    match (instr.decoded(), constants.place(instr)) {
        (Some(decoded), Some((Space::Param, first))) if instr.effect() == Effect::Load => {
            let size = u64::from(decoded.ty().bytes());
            let count = instr.dests.len() as u64;
            (0..count).map(|at| (first.wrapping_add(size * at), size)).collect()
        }
        _ => Vec::new(),
    }
}

impl Holds {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            _ if self == other => self,
            (Self::Nothing, origin) | (origin, Self::Nothing) => origin,
            (Self::Null, Self::Number) | (Self::Number, Self::Null) => Self::Number,
            _ => match (self.params(), other.params()) {
                (Some(params), Some(others)) => Self::Params(params.and(others)),
                _ => Self::Mixed,
            },
        }
    }

    /// Returns the parameters that the value might be an address of, if it is otherwise null; `None` for other values.
    fn params(self) -> Option<Params> {
        match self {
            Self::Param(at) => Params::one(at),
            Self::Params(params) => Some(params),
            Self::Null => Some(Params::NONE),
            Self::Nothing | Self::Variable(_) | Self::Number | Self::Mixed => None,
        }
    }

    /// Returns what a sum holds: it is an address only if exactly one operand is an address.
    const fn plus(self, other: Self) -> Self {
        if matches!(other, Self::Null) {
            return self;
        }
        match (self, other) {
            (Self::Nothing, _) | (_, Self::Nothing) => Self::Nothing,
            (Self::Null | Self::Number, origin) | (origin, Self::Number) => origin,
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
        Operand::Constant(0) => Holds::Null,
        Operand::Constant(bits) if is_number(*bits) => Holds::Number,
        Operand::Variable { space, first, .. } => {
            // Nothing is accessed at the address of a function.
            if *space == Space::Generic {
                return Holds::Mixed;
            }
            let mixed = if *space == Space::Param { Holds::Number } else { Holds::Mixed };
            program.variable_at(*space, *first).map_or(mixed, Holds::Variable)
        }
        Operand::Special(_) => Holds::Number,
        _ => Holds::Mixed,
    };
    let source = |at: usize| instr.sources.get(at).map_or(Holds::Mixed, of);
    // A value of at most 32 bits is no address in a buffer.
    let is_narrow = decoded.source_type().bits().min(decoded.ty().bits()) <= 32;
    let are_numbers = |count: usize| {
        (0..count).all(|at| match source(at) {
            Holds::Null | Holds::Number | Holds::Nothing => true,
            Holds::Variable(_) | Holds::Mixed => false,
            Holds::Param(at) => is_narrow || !program.is_pointer(at),
            Holds::Params(_) => is_narrow,
        })
    };
    let holds = match decoded.row.opcode {
        _ if decoded.ty().is_packed() => Holds::Mixed,
        Opcode::Ld => held(program, instr, dest),
        Opcode::Mov if instr.sources.len() == 1 => source(0),
        Opcode::Cvta if matches!(decoded.space, Space::Global | Space::Shared | Space::Local) => {
            source(0)
        }
        // An address in shared or local memory has 32 bits, even in a wider register.
        Opcode::Cvt if is_narrow_address(program, source(0)) => source(0),
        Opcode::Selp | Opcode::Min | Opcode::Max => source(0).join(source(1)),
        Opcode::Add => source(0).plus(source(1)),
        Opcode::Sub if matches!(source(1), Holds::Null | Holds::Number) => source(0),
        Opcode::Mad if are_numbers(2) => source(2),
        Opcode::Mul
        | Opcode::Shl
        | Opcode::Shr
        | Opcode::Cvt
        | Opcode::And
        | Opcode::Rem
        | Opcode::Bfe
            if are_numbers(instr.sources.len()) =>
        {
            Holds::Number
        }
        _ => Holds::Mixed,
    };
    let is_number = holds == Holds::Mixed && is_plain(decoded) && are_numbers(instr.sources.len());
    if is_number { Holds::Number } else { holds }
}

/// Whether an instruction makes no address of numbers. A narrow value loaded from memory, or computed from numbers in any way,
/// does not lead from one variable to another, and bits of numbers do not either.
fn is_plain(decoded: &Decoded) -> bool {
    decoded.ty().bits() <= 32 || matches!(decoded.row.opcode, Opcode::Or | Opcode::Xor)
}

fn is_narrow_address(program: &Program, holds: Holds) -> bool {
    let is_narrow = |at: usize| matches!(program.symbols[at].space, Space::Shared | Space::Local);
    matches!(holds, Holds::Variable(at) if is_narrow(at))
}

/// Returns what an element holds that is loaded from the parameter bank.
fn held(program: &Program, instr: &Instr, dest: usize) -> Holds {
    let (Some(decoded), Some(address)) = (instr.decoded(), instr.address) else {
        return Holds::Mixed;
    };
    if address.space != Space::Param || address.base.is_some() {
        return Holds::Mixed;
    }
    let bytes = u64::from(decoded.ty().bytes());
    let Some(at) = program.parameter(address.offset.wrapping_add(bytes * dest as u64), bytes)
    else {
        return Holds::Mixed;
    };
    match program.params.get(at).and_then(Param::shared_object) {
        Some(object) => Holds::Variable(object),
        None if bytes == 8 => Holds::Param(at),
        None => Holds::Mixed,
    }
}
