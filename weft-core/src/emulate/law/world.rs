//! Test data: random expressions over open atoms, with their symbolic values and their numbers under one assignment.

use std::cell::Cell;

use crate::emulate::facts::Facts;
use crate::emulate::ops::{compute, eval};
use crate::emulate::value::lane::{LaneMask, WARP, truncate};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::register::Value;
use crate::flow::{BlockId, Pc};
use crate::ptx::isa::{self, Decoded, Modifier, Opcode};

/// Operations with the widths of their result and operands in bits; a width of 1 is a predicate.
const OPERATIONS: [(&str, &[u32]); 74] = [
    ("add.u16", &[16, 16, 16]),
    ("add.u32", &[32, 32, 32]),
    ("add.s32", &[32, 32, 32]),
    ("add.u64", &[64, 64, 64]),
    ("sub.u16", &[16, 16, 16]),
    ("sub.u32", &[32, 32, 32]),
    ("sub.u64", &[64, 64, 64]),
    ("sub.s64", &[64, 64, 64]),
    ("neg.s16", &[16, 16]),
    ("neg.s32", &[32, 32]),
    ("neg.s64", &[64, 64]),
    ("not.b32", &[32, 32]),
    ("not.b64", &[64, 64]),
    ("mul.lo.u16", &[16, 16, 16]),
    ("mul.lo.u32", &[32, 32, 32]),
    ("mul.lo.s64", &[64, 64, 64]),
    ("mul.hi.u32", &[32, 32, 32]),
    ("mul.wide.u16", &[32, 16, 16]),
    ("mul.wide.s16", &[32, 16, 16]),
    ("mul.wide.u32", &[64, 32, 32]),
    ("mul.wide.s32", &[64, 32, 32]),
    ("mul24.lo.u32", &[32, 32, 32]),
    ("mad.lo.u32", &[32, 32, 32, 32]),
    ("mad.lo.s64", &[64, 64, 64, 64]),
    ("mad.wide.u16", &[32, 16, 16, 32]),
    ("mad.wide.s16", &[32, 16, 16, 32]),
    ("mad.wide.u32", &[64, 32, 32, 64]),
    ("mad.wide.s32", &[64, 32, 32, 64]),
    ("shl.b16", &[16, 16, 32]),
    ("shl.b32", &[32, 32, 32]),
    ("shl.b64", &[64, 64, 32]),
    ("shr.u32", &[32, 32, 32]),
    ("shr.s32", &[32, 32, 32]),
    ("shr.u64", &[64, 64, 32]),
    ("shr.s64", &[64, 64, 32]),
    ("and.b32", &[32, 32, 32]),
    ("and.b64", &[64, 64, 64]),
    ("or.b32", &[32, 32, 32]),
    ("or.b64", &[64, 64, 64]),
    ("xor.b32", &[32, 32, 32]),
    ("min.u32", &[32, 32, 32]),
    ("max.s32", &[32, 32, 32]),
    ("min.s64", &[64, 64, 64]),
    ("max.u64", &[64, 64, 64]),
    ("min.s16", &[16, 16, 16]),
    ("bfe.u32", &[32, 32, 32, 32]),
    ("cvt.u16.u8", &[16, 16]),
    ("cvt.s16.s8", &[16, 16]),
    ("cvt.u32.u8", &[32, 32]),
    ("cvt.s32.s8", &[32, 32]),
    ("cvt.s8.s32", &[32, 32]),
    ("cvt.u8.u32", &[32, 32]),
    ("cvt.sat.s8.s32", &[32, 32]),
    ("cvt.sat.u8.s32", &[32, 32]),
    ("cvt.u32.u16", &[32, 16]),
    ("cvt.s32.s16", &[32, 16]),
    ("cvt.u16.u32", &[16, 32]),
    ("cvt.s16.s32", &[32, 32]),
    ("cvt.u64.u8", &[64, 32]),
    ("cvt.s64.s8", &[64, 32]),
    ("cvt.u64.u16", &[64, 16]),
    ("cvt.s64.s16", &[64, 16]),
    ("cvt.u64.u32", &[64, 32]),
    ("cvt.u64.u32", &[64, 32]),
    ("cvt.s64.s32", &[64, 32]),
    ("cvt.s64.s32", &[64, 32]),
    ("cvt.u64.s32", &[64, 32]),
    ("cvt.u32.u64", &[32, 64]),
    ("cvt.s32.s64", &[32, 64]),
    ("cvt.s16.u64", &[64, 64]),
    ("selp.b32", &[32, 32, 32, 1]),
    ("selp.b64", &[64, 64, 64, 1]),
    ("setp.lt.u32", &[1, 32, 32]),
    ("setp.eq.s64", &[1, 64, 64]),
];

/// Numbers at which widths and signs wrap around, and small ones.
const EDGES: [u64; 26] = [
    0,
    1,
    2,
    3,
    4,
    8,
    12,
    31,
    64,
    127,
    128,
    255,
    256,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0001,
    1 << 17,
    1 << 24,
    0x1ff_ffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffc,
    0xffff_ffff,
    1 << 32,
    u64::MAX,
];

pub(super) struct LawRandom(pub(super) u64);

impl LawRandom {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % most as u64).unwrap()
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// A number of `bits` bits: one of the edges, near one, small, or anything.
    fn number(&mut self, bits: u32) -> u64 {
        let edge = *self.one_of(&EDGES);
        let picked = match self.below(6) {
            0 | 1 => edge,
            2 => edge.wrapping_add(self.next() % 70).wrapping_sub(35),
            3 => self.next() % 70,
            4 => (1 << (bits - 1)) / 2 + self.next() % 4096,
            _ => self.next(),
        };
        truncate(picked, bits)
    }
}

/// An operand: a register that was computed before, or known bits.
enum LawOperand {
    Register(usize),
    Known(Value),
}

/// How a register gets its value.
enum Rule {
    /// An atom with its width in bits, read from memory.
    Atom(usize, u32),
    Operation(Box<Decoded>, Vec<LawOperand>),
    /// Another register plus an unknown multiple of a number, which can differ in each lane.
    Congruent(usize, u64),
    /// Another register plus a multiple of a number, the same multiple in all lanes and registers.
    Iterations(usize, u64),
    /// One of two registers, in each lane not known which.
    Either(usize, usize),
}

/// What the lanes of a register hold; `None` where the manual leaves it open.
pub(super) type LawLanes = [Option<u64>; WARP];

/// A register: its width in bits, how it is computed, and its symbolic value.
pub(super) struct Register {
    pub(super) bits: u32,
    rule: Rule,
    pub(super) value: Value,
}

/// Registers that were computed from each other, and the facts about them.
pub(super) struct World {
    pub(super) facts: Facts,
    pub(super) registers: Vec<Register>,
    atoms: usize,
    /// Whether, in the last assignment, multiples that loops add exceeded their width.
    steps_wrap: Cell<bool>,
}

impl World {
    pub(super) fn new(random: &mut LawRandom) -> Self {
        let (facts, steps_wrap) = (Facts::default(), Cell::new(false));
        let mut world = Self { facts, registers: Vec::new(), atoms: 0, steps_wrap };
        for bits in [32, 64, *random.one_of(&[8, 16, 32, 32])] {
            world.start(bits);
        }
        for _ in 0..16 {
            world.grow(random);
        }
        world
    }

    fn start(&mut self, bits: u32) {
        let at = self.atoms;
        self.atoms += 1;
        let symbol = self.facts.symbolics.initial(Origin::Contents(0), 64 * at as u64, bits / 8);
        // A byte lies in a register of 32 bits, with zeros above it.
        let rule = Rule::Atom(at, bits);
        let bits = if bits == 8 { 32 } else { bits };
        self.registers.push(Register { bits, rule, value: Value::open(symbol) });
    }

    fn of_width(&self, bits: u32) -> Vec<usize> {
        (0..self.registers.len()).filter(|at| self.registers[*at].bits == bits).collect()
    }

    fn grow(&mut self, random: &mut LawRandom) {
        let made = match random.below(12) {
            0 => Some(self.joined(random)),
            1 => self.cancelled(random),
            2 => Some(self.far(random)),
            _ => None,
        };
        let (bits, rule) = made.unwrap_or_else(|| self.operation(random));
        let value = self.symbolic(&rule);
        self.registers.push(Register { bits, rule, value });
    }

    /// Known lanes: all equal, affine, or irregular.
    fn known(random: &mut LawRandom, bits: u32) -> Value {
        let base = random.number(bits);
        match random.below(3) {
            0 => Value::affine_in(base, *random.one_of(&[1, 4, u64::MAX, 1 << 20]), bits),
            1 if random.below(3) == 0 => Value::each(std::array::from_fn(|_| random.number(bits))),
            _ => Value::uniform(base),
        }
    }

    fn operation(&mut self, random: &mut LawRandom) -> (u32, Rule) {
        let (mnemonic, [bits, sources @ ..]) = random.one_of(&OPERATIONS) else { unreachable!() };
        let decoded = isa::decode(mnemonic).unwrap();
        let mut operands = Vec::new();
        for (at, &width) in sources.iter().enumerate() {
            let registers = self.of_width(width);
            // Shift amounts are mostly known and small.
            let is_amount =
                mnemonic.starts_with("sh") && at == 1 || mnemonic.starts_with("bfe") && at > 0;
            operands.push(if is_amount && random.below(4) > 0 {
                LawOperand::Known(Value::uniform(random.next() % 40))
            } else if width == 1 && registers.is_empty() {
                LawOperand::Known(Value::bits(u32::try_from(random.next() >> 32).unwrap()))
            } else if registers.is_empty() || random.below(3) == 0 {
                LawOperand::Known(Self::known(random, width))
            } else {
                // Later registers are chosen more often, which gives deeper expressions.
                let back = random.below(registers.len()).min(random.below(registers.len()));
                LawOperand::Register(registers[registers.len() - 1 - back])
            });
        }
        (*bits, Rule::Operation(Box::new(decoded), operands))
    }

    /// A register as loops and branches leave it: known modulo a number, or one of two.
    fn joined(&self, random: &mut LawRandom) -> (u32, Rule) {
        let bits = *random.one_of(&[32, 64]);
        let all = self.of_width(bits);
        let register = *random.one_of(&all);
        let step = *random.one_of(&[4, 12, 1024, 1 << 31, u64::MAX - 7]);
        (
            bits,
            match random.below(3) {
                0 => Rule::Congruent(register, step.cast_signed().unsigned_abs()),
                1 => Rule::Iterations(register, step),
                _ => Rule::Either(register, *random.one_of(&all)),
            },
        )
    }

    /// The difference of two registers that share an atom, so that it might cancel.
    fn cancelled(&self, random: &mut LawRandom) -> Option<(u32, Rule)> {
        let bits = *random.one_of(&[32, 64, 64]);
        let mut all = self.of_width(bits);
        let base = all.swap_remove(random.below(all.len()));
        let classes = self.classes(base);
        all.retain(|other| self.classes(*other) & classes != 0);
        if all.is_empty() {
            return None;
        }
        let operands = vec![LawOperand::Register(base), LawOperand::Register(*random.one_of(&all))];
        let mnemonic = if bits == 32 { "sub.u32" } else { "sub.u64" };
        Some((bits, Rule::Operation(Box::new(isa::decode(mnemonic).unwrap()), operands)))
    }

    /// A register plus a number as large as the error of a sum that wraps around before it is extended and multiplied.
    fn far(&self, random: &mut LawRandom) -> (u32, Rule) {
        let base = *random.one_of(&self.of_width(64));
        let distance = *random.one_of(&[1 << 16, 1 << 32, 1 << 34, u64::MAX << 32]);
        let operands =
            vec![LawOperand::Register(base), LawOperand::Known(Value::uniform(distance))];
        (64, Rule::Operation(Box::new(isa::decode("add.u64").unwrap()), operands))
    }

    /// The atoms in a register, one bit for each atom.
    fn classes(&self, register: usize) -> u32 {
        match &self.registers[register].rule {
            Rule::Atom(at, _) => 1 << at,
            Rule::Operation(_, operands) => operands.iter().fold(0, |all, operand| match operand {
                LawOperand::Register(at) => all | self.classes(*at),
                LawOperand::Known(_) => all,
            }),
            Rule::Congruent(at, _) | Rule::Iterations(at, _) => self.classes(*at),
            Rule::Either(a, b) => self.classes(*a) | self.classes(*b),
        }
    }

    fn symbolic(&mut self, rule: &Rule) -> Value {
        let Self { facts: Facts { symbolics, .. }, registers, .. } = self;
        let origin = Origin::Register;
        match rule {
            Rule::Atom(..) => unreachable!("atoms are there from the start"),
            Rule::Operation(decoded, operands) => {
                let sources: Vec<&Value> = operands
                    .iter()
                    .map(|operand| match operand {
                        LawOperand::Register(at) => &registers[*at].value,
                        LawOperand::Known(value) => value,
                    })
                    .collect();
                compute(symbolics, Pc(0), decoded, &sources, 1, LaneMask::MAX).remove(0)
            }
            Rule::Congruent(at, step) => {
                let (old_value, bits) = (registers[*at].value.clone(), registers[*at].bits.max(32));
                Value::from_lanes(|lane| {
                    symbolics.congruent(old_value.whole(lane), (*step, bits), origin)
                })
            }
            Rule::Iterations(at, step) => {
                let values = registers[*at].value.clone();
                let count = symbolics.iterations(origin, 0, BlockId(0), 1);
                Value::from_lanes(|lane| symbolics.plus(values.whole(lane), count, *step))
            }
            Rule::Either(a, b) => {
                let (a, b) = (registers[*a].value.clone(), registers[*b].value.clone());
                Value::from_lanes(|lane| symbolics.either(a.whole(lane), b.whole(lane), origin))
            }
        }
    }

    /// What the registers hold under one assignment of the atoms; `None` where the manual leaves it open.
    pub(super) fn actual(&self, random: &mut LawRandom, is_ordinary: bool) -> Vec<LawLanes> {
        let mut number = |bits: u32| {
            if is_ordinary {
                truncate((1 << (bits.min(40) - 2)) + random.next() % 64, bits)
            } else {
                random.number(bits)
            }
        };
        let atoms: Vec<u64> = (0..self.atoms).map(|_| number(64)).collect();
        let iterations = if is_ordinary { random.next() % 4 } else { random.number(64) };
        let mut all: Vec<LawLanes> = Vec::new();
        self.steps_wrap.set(false);
        for register in &self.registers {
            let added = |start: u64, step: u64, count: u64| {
                let whole = i128::from(step.cast_signed()) * i128::from(count) + i128::from(start);
                let wraps = register.bits < 64 && !(0..1 << register.bits).contains(&whole);
                self.steps_wrap.set(self.steps_wrap.get() || wraps);
                truncate(start.wrapping_add(step.wrapping_mul(count)), register.bits)
            };
            all.push(std::array::from_fn(|lane| match &register.rule {
                Rule::Atom(at, bits) => Some(truncate(atoms[*at], *bits)),
                Rule::Operation(decoded, operands) => {
                    let of = |operand: &LawOperand| match operand {
                        LawOperand::Register(at) => all[*at][lane],
                        LawOperand::Known(value) => Some(value.bits_of(lane)),
                    };
                    let operands: Option<Vec<u64>> = operands.iter().map(of).collect();
                    eval(decoded, &operands?).map(|(result, _)| result)
                }
                Rule::Congruent(at, step) => {
                    // In 64 bits, often enough that the low word wraps around.
                    let most = match register.bits {
                        64 => 40,
                        _ if is_ordinary => 2,
                        _ => 20,
                    };
                    let count = random.next() % (1 << most);
                    all[*at][lane].map(|start| added(start, *step, count))
                }
                Rule::Iterations(at, step) => {
                    all[*at][lane].map(|start| added(start, *step, iterations))
                }
                Rule::Either(a, b) => {
                    if random.below(2) == 0 {
                        all[*a][lane]
                    } else {
                        all[*b][lane]
                    }
                }
            }));
        }
        all
    }

    /// Whether some sum or product of 32 or 64 bits wraps around, as far as the registers show.
    pub(super) fn wraps(&self, actual: &[LawLanes]) -> bool {
        let wraps = |(register, lanes): (&Register, &LawLanes)| {
            let wide = |number: u64| match register.bits {
                64 => i128::from(number.cast_signed()),
                _ => i128::from(truncate(number, 32)),
            };
            let Rule::Operation(decoded, operands) = &register.rule else { return false };
            (0..WARP).any(|lane| {
                let of = |operand: &LawOperand| match operand {
                    LawOperand::Register(at) => wide(actual[*at][lane].unwrap_or(0)),
                    LawOperand::Known(value) => wide(value.bits_of(lane)),
                };
                let a: Vec<i128> = operands.iter().map(of).collect();
                let exact = match (decoded.row.opcode, a.as_slice()) {
                    _ if decoded.modifiers.has(Modifier::Wide) => return false,
                    (Opcode::Add, [x, y]) => x + y,
                    (Opcode::Sub, [x, y]) => x - y,
                    (Opcode::Mul, [x, y]) => x * y,
                    (Opcode::Mad, [x, y, z]) => x * y + z,
                    (Opcode::Shl, [x, y]) => x << (y & 63),
                    (Opcode::Neg, [x]) => -x,
                    _ => return false,
                };
                lanes[lane].is_some_and(|number| wide(number) != exact)
            })
        };
        self.steps_wrap.get() || self.registers.iter().zip(actual).any(wraps)
    }

    /// The expression of a register as text, with those that it is computed from.
    pub(super) fn describe(&self, register: usize) -> String {
        let operand = |operand: &LawOperand| match operand {
            LawOperand::Register(at) => format!("r{at}"),
            LawOperand::Known(value) => format!("{:x?}", value.to_array()),
        };
        let mut lines = Vec::new();
        for (at, Register { bits, rule, .. }) in self.registers[..=register].iter().enumerate() {
            lines.push(match rule {
                Rule::Atom(atom, width) => format!("r{at}: atom {atom} of {width} bits"),
                Rule::Operation(decoded, operands) => {
                    let operands: Vec<_> = operands.iter().map(operand).collect();
                    format!(
                        "r{at} ({bits}): {}{:?} {}",
                        decoded.row.pattern,
                        decoded.types,
                        operands.join(", ")
                    )
                }
                Rule::Congruent(base, step) => format!("r{at}: r{base} + drift {step}"),
                Rule::Iterations(base, step) => format!("r{at}: r{base} + rounds * {step}"),
                Rule::Either(a, b) => format!("r{at}: r{a} or r{b}"),
            });
        }
        lines.join("\n")
    }
}
