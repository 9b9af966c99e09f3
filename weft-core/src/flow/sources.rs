//! Which parameters the address of an access comes from: through registers, sums with numbers, branches that join,
//! `selp`, parameters of device functions, and local memory at known addresses.
//!
//! What is found is an address wherever the access is reached. Silence: two parts of a sum may both be addresses, the
//! value is loaded from elsewhere, or computed in some other way.

use std::collections::{BTreeMap, VecDeque};

use smallvec::SmallVec;

use super::constants::Constants;
use super::program::{Instr, Operand, Pc, Program, Reg};
use super::reaching::{Place, Reaching};
use crate::ptx::Space;
use crate::ptx::isa::{Decoded, Modifier, Opcode};

/// Whether a constant is no address of a variable.
pub(super) const fn is_number(bits: u64) -> bool {
    const LEAST_ADDRESS: u64 = 1 << 40;
    bits.cast_signed().unsigned_abs() < LEAST_ADDRESS
}

/// Parameters that one value is said to come from.
const MAX_PARAMETERS: usize = 16;

/// What a value may be that is no plain number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Held {
    /// Parameters, plus numbers; ascending.
    params: SmallVec<[usize; 2]>,
    /// Something else that may be an address.
    unknown: bool,
    /// A store at an address that is not known might have replaced it.
    unsure: bool,
}

impl Held {
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

/// One of the values that an operand may have, if it is no number.
#[derive(Clone, Copy, Debug)]
enum Source {
    Param(usize),
    Unknown,
    /// What a store at an address that is not known left.
    Unsure,
    Node(usize),
}

type Alternatives = Vec<Source>;

/// A definition: a sum of operands.
#[derive(Debug, Default)]
struct Node {
    addends: SmallVec<[Alternatives; 2]>,
    /// All that flows into it.
    all: Held,
    /// What it is an address of.
    address: Held,
}

/// The parameters that a use is an address of.
pub(super) struct Traced {
    pub(super) params: Vec<usize>,
    /// Whether it surely is one of the only parameter, wherever it is reached.
    pub(super) is_sure: bool,
}

/// By use: the parameters that it is an address of.
pub(super) fn trace(program: &Program, constants: &Constants, uses: &[(Pc, Reg)]) -> Vec<Traced> {
    let reaching = Reaching::of(program, constants);
    let places = BTreeMap::new();
    let mut graph = Graph { program, constants, reaching, places, nodes: Vec::new() };
    let roots: Vec<_> = uses
        .iter()
        .map(|(pc, register)| graph.definitions(Place::Register(*register), *pc))
        .collect();
    graph.grow();
    graph.settle(|graph, at| {
        let mut held = Held::default();
        graph.nodes[at].addends.iter().for_each(|own| graph.join(&mut held, own, |node| &node.all));
        graph.nodes[at].all.join(&held)
    });
    graph.settle(|graph, at| {
        let held = graph.address(at);
        graph.nodes[at].address.join(&held)
    });
    let found = |root: &Alternatives| {
        let mut held = Held::default();
        graph.join(&mut held, root, |node| &node.address);
        let is_sure = held.params.len() == 1 && !held.unknown && !held.unsure;
        Traced { params: held.params.to_vec(), is_sure }
    };
    roots.iter().map(found).collect()
}

struct Graph<'p> {
    program: &'p Program,
    constants: &'p Constants,
    reaching: Reaching<'p>,
    /// The nodes of definitions.
    places: BTreeMap<(Pc, Place), usize>,
    nodes: Vec<Node>,
}

impl Graph<'_> {
    /// The nodes of the definitions of a place that reach an instruction.
    fn definitions(&mut self, place: Place, at: Pc) -> Alternatives {
        let Some(found) = self.reaching.definitions(place, at) else {
            return vec![Source::Unknown];
        };
        let node = |pc| {
            let new = self.places.len();
            Source::Node(*self.places.entry((pc, place)).or_insert(new))
        };
        found.into_iter().map(node).collect()
    }

    /// Adds what the definitions depend on that are named so far, and so on.
    fn grow(&mut self) {
        let mut work: VecDeque<(Pc, Place)> = VecDeque::new();
        loop {
            if work.is_empty() {
                let mut new: Vec<_> = self.places.iter().collect();
                new.retain(|(_, at)| **at >= self.nodes.len());
                new.sort_by_key(|(_, at)| **at);
                work.extend(new.into_iter().map(|(key, _)| *key));
            }
            let Some((pc, place)) = work.pop_front() else { return };
            let addends = self.addends(pc, place);
            self.nodes.push(Node { addends, ..Node::default() });
        }
    }

    fn addends(&mut self, pc: Pc, place: Place) -> SmallVec<[Alternatives; 2]> {
        let instr = &self.program.code[pc.index()];
        let unknown = || [vec![Source::Unknown]].into_iter().collect();
        let Some(decoded) = instr.decoded() else { return unknown() };
        let operands: &[usize] = match place {
            Place::Slot(slot) => {
                let stored = self.constants.stored(instr);
                let Some(at) = stored.iter().position(|own| *own == (slot, 8)) else {
                    return unknown();
                };
                return [self.operand(instr.sources.get(at), pc)].into_iter().collect();
            }
            Place::Register(register) => match passed(instr, decoded) {
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
            Some(Operand::Register(register)) => self.definitions(Place::Register(*register), at),
            Some(Operand::Constant(bits)) if is_number(*bits) => Vec::new(),
            Some(Operand::Special(_)) => Vec::new(),
            _ => vec![Source::Unknown],
        }
    }

    fn loaded(&mut self, instr: &Instr, register: Reg, pc: Pc) -> Alternatives {
        let bytes = instr.decoded().map_or(8, |decoded| u64::from(decoded.ty().bytes()));
        let element = instr.dests.iter().position(|dest| *dest == Some(register)).unwrap_or(0);
        let place = self.constants.place(instr);
        let at = |first: u64| first.wrapping_add(bytes * element as u64);
        match place {
            Some((Space::Param, first)) => match self.program.parameter(at(first), bytes) {
                Some(param) => vec![Source::Param(param)],
                None if bytes < 8 => Vec::new(),
                None => vec![Source::Unknown],
            },
            _ if bytes < 8 => Vec::new(),
            Some((Space::Local, first)) => {
                let mut found = self.definitions(Place::Slot(at(first)), pc);
                found.extend(self.reaching.stores_anywhere().then_some(Source::Unsure));
                found
            }
            _ => vec![Source::Unknown],
        }
    }

    fn join<'n>(&'n self, held: &mut Held, sources: &[Source], of: impl Fn(&'n Node) -> &'n Held) {
        for source in sources {
            match source {
                Source::Param(param) => {
                    held.join(&Held { params: SmallVec::from_slice(&[*param]), ..Held::default() });
                }
                Source::Unknown => held.unknown = true,
                Source::Unsure => held.unsure = true,
                Source::Node(at) => {
                    held.join(of(&self.nodes[*at]));
                }
            }
        }
    }

    /// A sum is an address of what its one addend that is no number is an address of.
    fn address(&self, at: usize) -> Held {
        let is_address = |own: &&Alternatives| {
            let mut held = Held::default();
            self.join(&mut held, own, |node| &node.all);
            !held.is_number()
        };
        let mut held = Held::default();
        let mut addresses = self.nodes[at].addends.iter().filter(is_address);
        match (addresses.next(), addresses.next()) {
            (Some(own), None) => self.join(&mut held, own, |node| &node.address),
            (None, _) => {}
            _ => held.unknown = true,
        }
        held
    }

    /// Applies `step`, which says whether it changed a node, until nothing changes.
    fn settle(&mut self, mut step: impl FnMut(&mut Self, usize) -> bool) {
        let mut readers = vec![Vec::new(); self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            for source in node.addends.iter().flatten() {
                if let Source::Node(own) = source {
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

/// What an instruction makes of the addresses among its operands.
enum Passed {
    Loaded,
    Number,
    Unknown,
    /// The operand at this place.
    One(usize),
    /// One of the first two operands.
    Either,
    /// The first two operands together.
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
        // An address in shared memory has 32 bits, in whatever register; what is extended to 64 is a number.
        Opcode::Cvt if source >= ty => Passed::One(0),
        Opcode::Add | Opcode::Sub => Passed::Sum,
        Opcode::Mad => Passed::One(2),
        Opcode::Selp | Opcode::Min | Opcode::Max => Passed::Either,
        // Alignment, upwards and downwards.
        Opcode::And if constant(1).is_some_and(|mask| mask < 0) => Passed::One(0),
        Opcode::Or if constant(1).is_some() => Passed::One(0),
        // No address comes out of these.
        Opcode::And if constant(1).is_some() => Passed::Number,
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
