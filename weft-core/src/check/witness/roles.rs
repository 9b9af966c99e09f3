//! What a kernel uses numbers for that are passed to it, and which numbers it compares with what memory holds, as far as
//! registers show it. This only guides the choice of values: nothing is concluded from it.

use std::collections::{BTreeMap, BTreeSet};

use crate::flow::{
    Instr, Operand, Params, Pc, Program, Special, known_parameters, settle, sources_of,
};
use crate::ptx::Space;
use crate::ptx::isa::{Effect, Modifier, Opcode};

/// What a number is used for; of several uses, the greatest counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum NumberRole {
    /// Nothing that is known.
    #[default]
    Unknown,
    /// It is compared with what memory holds, as the number of a round is that elements are marked with.
    Element,
    /// A factor, as a stride is.
    Factor,
    /// It is compared with something that all threads count alike: how often they go round a loop.
    Trips,
    /// It is compared with something, by itself or as a part of an expression of numbers that are passed, as a size is.
    Bound,
    /// Another number divides it, as a number of groups divides a number of channels.
    Dividend,
    /// It divides something, as the extents of a shape do.
    Divisor,
    /// An index is multiplied by it, and the high half of the product used: a reciprocal, by which a division is carried
    /// out.
    Reciprocal,
    /// Something is shifted by it, as the last step of such a division.
    Shift,
    /// A quotient of such a division is multiplied by it, and the product subtracted from something: the divisor.
    ShiftDivisor,
}

/// What a register holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Held {
    /// The parameters that it is computed from, if it is computed from nothing else but constants.
    passed: Params,
    /// Whether it was shifted to the right by a number that is passed.
    is_quotient: bool,
    /// The parameters that it is the product of with such a quotient.
    multiple_of: Params,
    /// The parameters that it is what is left of, after something is subtracted.
    rest_of: Params,
    /// The pointers through which it is loaded from memory.
    loaded_through: Params,
    /// Whether it might differ between threads: it is computed from their indices, or from what memory holds.
    differs: bool,
}

impl Held {
    fn and(self, other: Self) -> Self {
        Self {
            passed: self.passed.and(other.passed),
            is_quotient: self.is_quotient || other.is_quotient,
            multiple_of: self.multiple_of.and(other.multiple_of),
            rest_of: self.rest_of.and(other.rest_of),
            loaded_through: self.loaded_through.and(other.loaded_through),
            differs: self.differs || other.differs,
        }
    }

    fn of(passed: Params) -> Self {
        Self { passed, ..Self::default() }
    }

    fn left_of(self) -> Self {
        Self { rest_of: self.passed.and(self.rest_of), ..Self::default() }
    }

    fn is_passed(self) -> bool {
        self.passed != Params::NONE
    }

    fn is_loaded(self) -> bool {
        self.loaded_through != Params::NONE
    }
}

/// What a kernel uses numbers for.
pub(super) struct NumberUses {
    /// The roles of parameters and fields, by position. Only the first 64 are followed.
    pub(super) roles: Vec<NumberRole>,
    /// The constants that elements are compared with, and the numbers next to a constant that orders them, by the position of
    /// the pointer through which the elements are loaded.
    pub(super) compared: BTreeMap<usize, BTreeSet<u64>>,
}

/// Returns what a kernel uses numbers for.
pub(super) fn uses(program: &Program) -> NumberUses {
    let held = held(program);
    NumberUses { roles: roles(program, &held), compared: compared(program, &held) }
}

/// Returns what each register holds.
fn held(program: &Program) -> Vec<Held> {
    let places = known_parameters(program);
    let through = pointers_of_loads(program);
    let mut held = vec![Held::default(); program.registers as usize];
    settle(program, |at| {
        let instr = &program.code[at];
        let mut changed = false;
        for (element, dest) in instr.dests.iter().enumerate() {
            let Some(dest) = dest else { continue };
            let loaded = places[at].and_then(|place| loaded(program, instr, (element, place)));
            let value = loaded.unwrap_or_else(|| {
                let own = value(instr, &held);
                let loaded_through = own.loaded_through.and(through[at]);
                Held { differs: differs(instr, &held), loaded_through, ..own }
            });
            let joined = held[dest.index()].and(value);
            changed |= joined != held[dest.index()];
            held[dest.index()] = joined;
        }
        changed
    });
    held
}

/// Returns the pointers through which each instruction loads. Atomics are left out: what they return is mostly the value of a
/// counter, which is compared with a size.
fn pointers_of_loads(program: &Program) -> Vec<Params> {
    let is_load = |at: &Pc| {
        let instr = &program.code[at.index()];
        let is_elsewhere = instr.address.is_some_and(|address| address.space != Space::Param);
        is_elsewhere && instr.effect() == Effect::Load
    };
    let loads: Vec<Pc> = (0..program.code.len()).map(Pc::at).filter(is_load).collect();
    let mut all = vec![Params::NONE; program.code.len()];
    for (load, sources) in loads.iter().zip(sources_of(program, &loads)) {
        all[load.index()] =
            sources.into_iter().filter_map(Params::one).fold(Params::NONE, Params::and);
    }
    all
}

fn compared(program: &Program, held: &[Held]) -> BTreeMap<usize, BTreeSet<u64>> {
    let mut all: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
    for instr in &program.code {
        let Some(decoded) = instr.decoded().filter(|own| !own.is_float_comparison()) else {
            continue;
        };
        let (Opcode::Setp | Opcode::Set, [one, other, ..]) = (decoded.row.opcode, &*instr.sources)
        else {
            continue;
        };
        let is_equality =
            decoded.modifiers.has(Modifier::Eq) || decoded.modifiers.has(Modifier::Ne);
        for (element, constant) in [(one, other), (other, one)] {
            let Operand::Constant(constant) = *constant else { continue };
            let next = [constant.wrapping_sub(1), constant.wrapping_add(1)];
            let next = next.into_iter().filter(|_| !is_equality);
            let values: BTreeSet<u64> = next.chain([constant]).collect();
            for pointer in of(element, held).loaded_through.all() {
                all.entry(pointer).or_default().extend(&values);
            }
        }
    }
    all
}

fn roles(program: &Program, held: &[Held]) -> Vec<NumberRole> {
    let mut roles = vec![NumberRole::Unknown; program.params.len() + program.fields.len()];
    for instr in &program.code {
        for (at, operand) in instr.sources.iter().enumerate() {
            let operand = of(operand, held);
            let mut add = |params: Params, role: NumberRole| {
                for position in params.all() {
                    if let Some(known) = roles.get_mut(position) {
                        *known = role.max(*known);
                    }
                }
            };
            let role = role(instr, at, held);
            add(operand.passed, role);
            if is_subtracted(instr, at) {
                add(operand.multiple_of, NumberRole::ShiftDivisor);
            }
            if role == NumberRole::Bound {
                add(operand.rest_of, role);
            }
        }
    }
    roles
}

/// Whether the result of an instruction might differ between threads.
fn differs(instr: &Instr, held: &[Held]) -> bool {
    instr.effect() != Effect::Compute || instr.sources.iter().any(|one| of(one, held).differs)
}

fn of(operand: &Operand, held: &[Held]) -> Held {
    match operand {
        Operand::Register(register) => held[register.index()],
        Operand::Special(Special::Ntid(_) | Special::Nctaid(_)) => Held::default(),
        Operand::Special(_) => Held { differs: true, ..Held::default() },
        _ => Held::default(),
    }
}

/// Returns what an instruction computes.
fn value(instr: &Instr, held: &[Held]) -> Held {
    let Some(decoded) = instr.decoded() else { return Held::default() };
    let all = || instr.sources.iter().fold(Held::default(), |all, one| all.and(of(one, held)));
    let is_known = |operand: &Operand| {
        matches!(operand, Operand::Constant(_)) || of(operand, held).is_passed()
    };
    match decoded.row.opcode {
        Opcode::Mov
        | Opcode::Cvt
        | Opcode::Cvta
        | Opcode::Neg
        | Opcode::Abs
        | Opcode::Min
        | Opcode::Max
        | Opcode::Selp => all(),
        Opcode::Add
        | Opcode::Sub
        | Opcode::Mul
        | Opcode::Mad
        | Opcode::Shl
        | Opcode::Shr
        | Opcode::Div
        | Opcode::And
            if instr.sources.iter().all(is_known) =>
        {
            Held::of(all().passed)
        }
        Opcode::Shr => {
            let shift = instr.sources.get(1).map(|shift| of(shift, held));
            Held { is_quotient: shift.is_some_and(Held::is_passed), ..Held::default() }
        }
        Opcode::Sub => instr.sources.first().map_or(Held::default(), |one| of(one, held).left_of()),
        Opcode::Add => Held { rest_of: all().rest_of, ..Held::default() },
        Opcode::Mul => match &*instr.sources {
            [one, other] if of(one, held).is_quotient => {
                Held { multiple_of: of(other, held).passed, ..Held::default() }
            }
            [one, other] if of(other, held).is_quotient => {
                Held { multiple_of: of(one, held).passed, ..Held::default() }
            }
            _ => Held::default(),
        },
        _ => Held::default(),
    }
}

/// Returns the parameter or field that an element is loaded from; `None` if the instruction loads none.
fn loaded(program: &Program, instr: &Instr, (element, place): (usize, u64)) -> Option<Held> {
    let decoded = instr.decoded().filter(|_| instr.effect() == Effect::Load)?;
    let offset = place.wrapping_add(u64::from(decoded.ty().bytes()) * element as u64);
    let is_scalar =
        program.params.iter().position(|param| param.is_scalar && param.offset == offset);
    let field = || {
        let at = program.fields.iter().position(|field| field.offset == offset)?;
        Some(program.params.len() + at)
    };
    Params::one(is_scalar.or_else(field)?).map(Held::of)
}

fn is_subtracted(instr: &Instr, at: usize) -> bool {
    at == 1 && instr.decoded().is_some_and(|decoded| decoded.row.opcode == Opcode::Sub)
}

/// Returns the role of a source operand of an instruction.
fn role(instr: &Instr, at: usize, held: &[Held]) -> NumberRole {
    let Some(decoded) = instr.decoded() else { return NumberRole::Unknown };
    let source = |at: usize| instr.sources.get(at).map_or(Held::default(), |one| of(one, held));
    let is_constant = |at: usize| matches!(instr.sources.get(at), Some(Operand::Constant(_)));
    let is_product = |at: usize| at < 2 && !decoded.ty().is_float();
    match (decoded.row.opcode, at) {
        (Opcode::Div | Opcode::Rem, _) if decoded.ty().is_float() => NumberRole::Unknown,
        (Opcode::Div | Opcode::Rem, 0) if source(1).is_passed() => NumberRole::Dividend,
        (Opcode::Setp | Opcode::Set, 0 | 1) => {
            let other = source(1 - at);
            if other.is_loaded() {
                return NumberRole::Element;
            }
            let is_count = !is_constant(1 - at) && !other.differs && !other.is_passed();
            if is_count { NumberRole::Trips } else { NumberRole::Bound }
        }
        (Opcode::Div | Opcode::Rem, 1) => NumberRole::Divisor,
        (Opcode::Shl | Opcode::Shr, 1) => NumberRole::Shift,
        (Opcode::Mul | Opcode::Mad, at)
            if is_product(at) && decoded.modifiers.has(Modifier::Hi) =>
        {
            let other = 1 - at;
            if is_constant(other) || source(other).is_passed() {
                NumberRole::Factor
            } else {
                NumberRole::Reciprocal
            }
        }
        (Opcode::Mul | Opcode::Mul24 | Opcode::Mad | Opcode::Mad24, 0 | 1) | (Opcode::Shl, 0) => {
            NumberRole::Factor
        }
        _ => NumberRole::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::NumberRole::{
        Bound, Dividend, Divisor, Factor, Reciprocal, Shift, ShiftDivisor, Trips,
    };
    use super::{NumberRole, uses};
    use crate::flow;
    use crate::ptx;

    #[test]
    fn numbers_have_roles() {
        let names = ["m", "s", "d", "f", "a", "b", "n", "x", "y", "o", "i"];
        let params: Vec<_> = names.iter().map(|name| format!(".param .s64 {name}")).collect();
        let loads = names.map(|name| format!("ld.param.s64 %{name}, [{name}];\n")).concat();
        let registers: Vec<_> = names.iter().map(|name| format!("%{name}")).collect();
        let text = format!(
            ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k({})\n{{\n\
             .reg .s64 {}, %t, %q, %r, %c;\n.reg .u32 %u;\n.reg .pred %p;\n{loads}\
             mov.u32 %u, %tid.x;\ncvt.s64.u32 %t, %u;\n\
             mul.hi.s64 %q, %t, %m;\nadd.s64 %q, %q, %t;\nshr.s64 %q, %q, %s;\n\
             mul.lo.s64 %r, %q, %d;\nsub.s64 %r, %t, %r;\nmul.lo.s64 %q, %q, %f;\n\
             mul.lo.s64 %r, %a, %b;\nsetp.lt.s64 %p, %t, %r;\n\
             sub.s64 %r, %n, %t;\nsetp.lt.s64 %p, %t, %r;\n\
             div.s64 %r, %x, %y;\nadd.s64 %t, %t, %o;\n\
             mov.s64 %c, 0;\nL: add.s64 %c, %c, 1;\nsetp.lt.s64 %p, %c, %i;\n@%p bra L;\nret;\n}}\n",
            params.join(", "),
            registers.join(", ")
        );
        let module = ptx::parse(&text);
        assert!(module.errors.is_empty(), "{:?}", module.errors);
        let program = flow::build(&module, module.kernel("k").expect("it is there"));
        let expected = [
            Reciprocal,
            Shift,
            ShiftDivisor,
            Factor,
            Bound,
            Bound,
            Bound,
            Dividend,
            Divisor,
            NumberRole::Unknown,
            Trips,
        ];
        assert_eq!(uses(&program.expect("it links")).roles, expected);
    }
}
