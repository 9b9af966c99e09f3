//! Finds the parameters that the address of an access comes from: through registers, sums with numbers, merges of
//! branches, `selp`, parameters of device functions, and local memory at known addresses.
//!
//! A parameter that is found holds an address wherever the access is reached. A source counts as unknown if two parts
//! of a sum might both be addresses, or if the value is loaded from elsewhere or computed in some other way.

use std::collections::{BTreeMap, VecDeque};

use smallvec::SmallVec;

use super::constants::Constants;
use super::program::{Instr, Operand, Pc, Program, Reg};
use super::reaching::{Defined, Reaching};
use crate::ptx::Space;
use crate::ptx::isa::{Decoded, Modifier, Opcode};

/// Whether a constant is too small to be the address of a variable.
pub(super) const fn is_number(bits: u64) -> bool {
    const LEAST_ADDRESS: u64 = 1 << 40;
    bits.cast_signed().unsigned_abs() < LEAST_ADDRESS
}

/// The most parameters that are tracked for one value.
const MAX_PARAMETERS: usize = 16;

/// The addresses that a value might hold or contain; a plain number has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PointerSources {
    /// Positions of parameters whose values it might hold plus numbers; ascending.
    params: SmallVec<[usize; 2]>,
    /// Whether it might hold another address.
    unknown: bool,
    /// Whether a store at an address that is not known might have replaced it.
    unsure: bool,
}

impl PointerSources {
    fn is_number(&self) -> bool {
        self.params.is_empty() && !self.unknown
    }

    fn join(&mut self, other: &Self) -> bool {
        let mut changed = other.unknown && !self.unknown || other.unsure && !self.unsure;
        self.unknown |= other.unknown;
        self.unsure |= other.unsure;
        for param in &other.params {
            if let Err(at) = self.params.binary_search(param) {
                if self.params.len() >= MAX_PARAMETERS {
                    changed |= !std::mem::replace(&mut self.unknown, true);
                    continue;
                }
                self.params.insert(at, *param);
                changed = true;
            }
        }
        changed
    }
}

/// One of the values that an operand might have, unless it is a number.
#[derive(Clone, Copy, Debug)]
enum Alternative {
    Param(usize),
    Unknown,
    /// A value that a store at an unknown address might have left.
    Unsure,
    /// The result of a definition, by index of its node.
    Node(usize),
}

type Alternatives = Vec<Alternative>;

/// A definition, as a sum of operands.
#[derive(Debug, Default)]
struct ValueNode {
    addends: SmallVec<[Alternatives; 2]>,
    /// Everything that flows into it.
    all: PointerSources,
    /// What it is an address of.
    address: PointerSources,
}

/// The parameters that a register holds an address from where it is used.
pub(super) struct Traced {
    pub(super) params: Vec<usize>,
    /// Whether there is one such parameter, and the register certainly holds an address from it wherever the use is
    /// reached.
    pub(super) is_sure: bool,
}

/// Returns for each use the parameters whose value, plus numbers, is the address.
pub(super) fn trace(program: &Program, constants: &Constants, uses: &[(Pc, Reg)]) -> Vec<Traced> {
    let reaching = Reaching::of(program, constants);
    let places = BTreeMap::new();
    let mut graph = ValueGraph { program, constants, reaching, places, nodes: Vec::new() };
    let classes: Vec<_> = uses
        .iter()
        .map(|(pc, register)| graph.definitions(Defined::Register(*register), *pc))
        .collect();
    graph.grow();
    graph.settle(|graph, at| {
        let mut held = PointerSources::default();
        graph.nodes[at]
            .addends
            .iter()
            .for_each(|alternatives| graph.join(&mut held, alternatives, |node| &node.all));
        graph.nodes[at].all.join(&held)
    });
    graph.settle(|graph, at| {
        let held = graph.address(at);
        graph.nodes[at].address.join(&held)
    });
    let found = |class: &Alternatives| {
        let mut held = PointerSources::default();
        graph.join(&mut held, class, |node| &node.address);
        let is_sure = held.params.len() == 1 && !held.unknown && !held.unsure;
        Traced { params: held.params.to_vec(), is_sure }
    };
    classes.iter().map(found).collect()
}

struct ValueGraph<'p> {
    program: &'p Program,
    constants: &'p Constants,
    reaching: Reaching<'p>,
    /// Node indices of definitions.
    places: BTreeMap<(Pc, Defined), usize>,
    nodes: Vec<ValueNode>,
}

impl ValueGraph<'_> {
    /// Returns the nodes of the definitions of a register or slot that reach an instruction.
    fn definitions(&mut self, place: Defined, at: Pc) -> Alternatives {
        let Some(found) = self.reaching.definitions(place, at) else {
            return vec![Alternative::Unknown];
        };
        let node = |pc| {
            let new = self.places.len();
            Alternative::Node(*self.places.entry((pc, place)).or_insert(new))
        };
        found.into_iter().map(node).collect()
    }

    /// Adds the nodes of all definitions that the nodes named so far depend on.
    fn grow(&mut self) {
        let mut work: VecDeque<(Pc, Defined)> = VecDeque::new();
        loop {
            if work.is_empty() {
                let mut new: Vec<_> = self.places.iter().collect();
                new.retain(|(_, at)| **at >= self.nodes.len());
                new.sort_by_key(|(_, at)| **at);
                work.extend(new.into_iter().map(|(key, _)| *key));
            }
            let Some((pc, place)) = work.pop_front() else { return };
            let addends = self.addends(pc, place);
            self.nodes.push(ValueNode { addends, ..ValueNode::default() });
        }
    }

    fn addends(&mut self, pc: Pc, place: Defined) -> SmallVec<[Alternatives; 2]> {
        let instr = &self.program.code[pc.index()];
        let unknown = || [vec![Alternative::Unknown]].into_iter().collect();
        let Some(decoded) = instr.decoded() else { return unknown() };
        let operands: &[usize] = match place {
            Defined::Slot(slot) => {
                let stored = self.constants.elements(instr);
                let Some(at) = stored.iter().position(|known| *known == (slot, 8)) else {
                    return unknown();
                };
                return [self.operand(instr.sources.get(at), pc)].into_iter().collect();
            }
            Defined::Register(register) => match passed(instr, decoded) {
                Passed::Loaded => return [self.loaded(instr, register, pc)].into_iter().collect(),
                Passed::Number => &[],
                Passed::Unknown => return unknown(),
                Passed::One(first) => {
                    return [self.operand(instr.sources.get(first), pc)].into_iter().collect();
                }
                Passed::Either => {
                    let mut all = self.operand(instr.sources.first(), pc);
                    all.extend(self.operand(instr.sources.get(1), pc));
                    return [all].into_iter().collect();
                }
                Passed::Sum => &[0, 1],
            },
        };
        operands.iter().map(|at| self.operand(instr.sources.get(*at), pc)).collect()
    }

    fn operand(&mut self, operand: Option<&Operand>, at: Pc) -> Alternatives {
        match operand {
            Some(Operand::Register(register)) => self.definitions(Defined::Register(*register), at),
            Some(Operand::Constant(bits)) if is_number(*bits) => Vec::new(),
            Some(Operand::Special(_)) => Vec::new(),
            _ => vec![Alternative::Unknown],
        }
    }

    fn loaded(&mut self, instr: &Instr, register: Reg, pc: Pc) -> Alternatives {
        let bytes = instr.decoded().map_or(8, |decoded| u64::from(decoded.ty().bytes()));
        let element = instr.dests.iter().position(|dest| *dest == Some(register)).unwrap_or(0);
        let place = self.constants.place(instr);
        let at = |first: u64| first.wrapping_add(bytes * element as u64);
        match place {
            Some((Space::Param, first)) => match self.program.parameter(at(first), bytes) {
                Some(param) => vec![Alternative::Param(param)],
                None if bytes < 8 => Vec::new(),
                None => vec![Alternative::Unknown],
            },
            _ if bytes < 8 => Vec::new(),
            Some((Space::Local, first)) => {
                let mut found = self.definitions(Defined::Slot(at(first)), pc);
                found.extend(self.reaching.stores_anywhere().then_some(Alternative::Unsure));
                found
            }
            _ => vec![Alternative::Unknown],
        }
    }

    fn join<'n>(
        &'n self,
        held: &mut PointerSources,
        sources: &[Alternative],
        of: impl Fn(&'n ValueNode) -> &'n PointerSources,
    ) {
        for source in sources {
            match source {
                Alternative::Param(param) => {
                    held.join(&PointerSources {
                        params: SmallVec::from_slice(&[*param]),
                        ..PointerSources::default()
                    });
                }
                Alternative::Unknown => held.unknown = true,
                Alternative::Unsure => held.unsure = true,
                Alternative::Node(at) => {
                    held.join(of(&self.nodes[*at]));
                }
            }
        }
    }

    /// Returns what a sum is an address of: only one addend can be an address, all others must be numbers.
    fn address(&self, at: usize) -> PointerSources {
        let is_address = |alternatives: &&Alternatives| {
            let mut held = PointerSources::default();
            self.join(&mut held, alternatives, |node| &node.all);
            !held.is_number()
        };
        let mut held = PointerSources::default();
        let mut addresses = self.nodes[at].addends.iter().filter(is_address);
        match (addresses.next(), addresses.next()) {
            (Some(own), None) => self.join(&mut held, own, |node| &node.address),
            (None, _) => {}
            _ => held.unknown = true,
        }
        held
    }

    /// Applies `step`, which returns whether it changed a node, to all nodes until nothing changes.
    fn settle(&mut self, mut step: impl FnMut(&mut Self, usize) -> bool) {
        let mut readers = vec![Vec::new(); self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            for source in node.addends.iter().flatten() {
                if let Alternative::Node(own) = source {
                    readers[*own].push(at);
                }
            }
        }
        let mut work: VecDeque<usize> = (0..self.nodes.len()).rev().collect();
        let mut waits = vec![true; self.nodes.len()];
        while let Some(at) = work.pop_front() {
            waits[at] = false;
            if step(self, at) {
                for reader in &readers[at] {
                    if !std::mem::replace(&mut waits[*reader], true) {
                        work.push_back(*reader);
                    }
                }
            }
        }
    }
}

/// How an instruction passes on the addresses among its operands.
enum Passed {
    Loaded,
    Number,
    Unknown,
    /// The operand at this index.
    One(usize),
    /// Either of the first two operands.
    Either,
    /// The sum of the first two operands.
    Sum,
}

fn passed(instr: &Instr, decoded: &Decoded) -> Passed {
    let (ty, source) = (decoded.ty().bits(), decoded.source_type().bits());
    let is_wide = ty >= 64 || decoded.modifiers.has(Modifier::Wide);
    let constant = |at: usize| match instr.sources.get(at) {
        Some(Operand::Constant(bits)) => Some(bits.cast_signed()),
        _ => None,
    };
    match decoded.row.opcode {
        _ if decoded.ty().is_packed() => Passed::Number,
        Opcode::Ld | Opcode::Ldu => Passed::Loaded,
        Opcode::Mov if instr.sources.len() == 1 && instr.dests.len() == 1 => Passed::One(0),
        Opcode::Cvta => Passed::One(0),
        // An address in shared memory has 32 bits, even in a wider register; a value extended to 64 bits is a number.
        Opcode::Cvt if source >= ty => Passed::One(0),
        Opcode::Add | Opcode::Sub => Passed::Sum,
        Opcode::Mad => Passed::One(2),
        Opcode::Selp | Opcode::Min | Opcode::Max => Passed::Either,
        // Rounding an address down, and up, to an alignment.
        Opcode::And if constant(1).is_some_and(|mask| mask < 0) => Passed::One(0),
        Opcode::Or | Opcode::Xor if constant(1).is_some() => Passed::One(0),
        Opcode::And if constant(1).is_some() => Passed::Number,
        // As a sum: bits of a number are set in an address, or of the two numbers neither is an address.
        Opcode::And | Opcode::Or | Opcode::Xor if is_wide => Passed::Sum,
        // The result of these is no address.
        Opcode::Cvt
        | Opcode::Mul
        | Opcode::Shl
        | Opcode::Shr
        | Opcode::Div
        | Opcode::Rem
        | Opcode::Bfe => Passed::Number,
        _ if !is_wide => Passed::Number,
        _ => Passed::Unknown,
    }
}
