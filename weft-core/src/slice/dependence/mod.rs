//! Pointer dependence: which properties of the addresses of variables and buffers decide something. The check gives
//! each variable and buffer one address, so that a run sees only one outcome of a test of an address.
//!
//! Dependences are joined over all definitions of a register, and over all stores to a state space. If none is found,
//! every branch, guard, address and barrier that is kept is the same wherever variables and buffers lie, as long as
//! they begin at multiples of their declared alignments.

mod base;
mod definitions;
mod memory;
mod pointers;
mod taken;
mod transfer;
mod value;
mod windows;

use std::collections::{BTreeMap, BTreeSet};

use crate::flow::{self, Address, Instr, Operand, Program, Reg, Special};
use crate::ptx::Space;
use crate::ptx::isa::{Effect, Opcode};
pub use base::{AddressRequirement, Base};
use definitions::{BlockDefinitions, ResultId};
use memory::{AccessTarget, Stores, element};
use transfer::Computation;
use value::{ALL, Dependence, MAX_BASES};
use windows::Window;

/// The state spaces that have windows in the generic addresses; an address in no window is in global memory.
const WINDOWS: [Space; 4] = [Space::Shared, Space::Local, Space::Const, Space::Param];

/// The dependence of every register, every result and of memory.
pub struct Dependences<'p> {
    program: &'p Program,
    bases: Vec<Base>,
    /// The pointers that the parameter bank holds: the index of the base, offset and size in bytes.
    pointers: Vec<(usize, u64, u64)>,
    /// For the variables whose addresses are operands, the index of the base, by space and first byte.
    variables: BTreeMap<(u8, u64), usize>,
    /// The set of bases whose addresses have 32 bits.
    narrow: u128,
    /// The set of bases that are functions.
    functions: u128,
    /// The windows of the spaces whose generic addresses the program computes or tests.
    windows: Vec<Window>,
    /// For each register, joined over its definitions; `results` holds the same for each result.
    registers: Vec<Dependence>,
    results: Vec<Dependence>,
    definitions: BlockDefinitions,
    /// For each instruction, the first byte of local memory that it accesses, if that is known.
    locals: Vec<Option<u64>>,
    memory: Stores,
    /// Whether the last iteration stored anything new.
    stored: bool,
    /// Whether generic loads might read parameters.
    loads_parameters: bool,
}

impl<'p> Dependences<'p> {
    /// Computes the dependences of a program. `pointers`: the positions of the arguments that the launch makes pointers
    /// to buffers.
    pub fn of(program: &'p Program, pointers: &BTreeSet<usize>) -> Self {
        let definitions = BlockDefinitions::of(program);
        let results = definitions.results.last().map_or(0, |count| *count as usize);
        let buffers = pointers::buffers(program, pointers);
        let mut dependences = Self {
            program,
            results: vec![Dependence::default(); results],
            definitions,
            locals: flow::known_locals(program),
            bases: buffers.iter().copied().map(Base::Pointer).collect(),
            pointers: pointers::in_bank(program, pointers, &buffers),
            variables: BTreeMap::new(),
            narrow: narrow(program, &buffers),
            functions: 0,
            windows: Vec::new(),
            registers: vec![Dependence::number(ALL); program.registers as usize],
            memory: Stores::default(),
            stored: false,
            loads_parameters: false,
        };
        for instr in &program.code {
            for dest in instr.dests.iter().flatten() {
                dependences.registers[dest.index()] = Dependence::default();
            }
            instr.sources.iter().for_each(|source| dependences.list(source));
            dependences.loads_parameters |= instr.decoded().is_some_and(|decoded| {
                decoded.row.opcode == Opcode::Cvta && decoded.space == Space::Param
            });
        }
        dependences.hold_pointers(&buffers);
        dependences.open_windows();
        loop {
            flow::settle(program, |at| dependences.step(at));
            if !std::mem::take(&mut dependences.stored) {
                return dependences;
            }
        }
    }

    /// Adds the variable to the bases whose address an operand is.
    fn list(&mut self, operand: &Operand) {
        let Operand::Variable { space, first, .. } = *operand else { return };
        let symbol = |variable: &flow::Symbol| variable.space == space && variable.address == first;
        let param = |declared_param: &flow::Param| {
            declared_param.offset <= first
                && first - declared_param.offset < declared_param.size.max(1)
        };
        let base = match space {
            Space::Param => self.program.params.iter().position(param).map(Base::Parameter),
            _ => self.program.symbols.iter().position(symbol).map(Base::Variable),
        };
        let Some(base) = base else { return };
        if let std::collections::btree_map::Entry::Vacant(free) =
            self.variables.entry((space as u8, first))
        {
            free.insert(self.bases.len());
            // A global address has more than 32 bits, and sums of fewer bits might wrap around. The last bit stands for
            // all further bases, some of which might be global.
            if self.bases.len() < MAX_BASES - 1 {
                let base_bit = 1 << self.bases.len();
                match space {
                    Space::Generic => self.functions |= base_bit,
                    Space::Global => {}
                    _ => self.narrow |= base_bit,
                }
            }
            self.bases.push(base);
        }
    }

    /// Adds the windows of the spaces whose generic addresses the program computes or tests.
    fn open_windows(&mut self) {
        let mut spaces = BTreeSet::new();
        for decoded in self.program.code.iter().filter_map(Instr::decoded) {
            match (decoded.row.opcode, decoded.space) {
                (Opcode::Isspacep, Space::Global) => spaces.extend(WINDOWS),
                (Opcode::Isspacep | Opcode::Cvta, space) if WINDOWS.contains(&space) => {
                    spaces.insert(space);
                }
                _ => {}
            }
        }
        let declared = self.bases.len();
        for space in spaces {
            let first = self.bases.len();
            self.bases.push(Base::Window(space));
            let mut generic = Vec::new();
            for at in 0..declared {
                let base = self.bases[at];
                if self.space(base) == space {
                    generic.push((at, self.bases.len()));
                    self.bases.push(base);
                }
            }
            self.windows.push(Window { space, first, generic });
        }
    }

    /// Returns the state space that the address of a base is in.
    fn space(&self, base: Base) -> Space {
        match base {
            Base::Pointer(at) => pointee(self.program, at),
            Base::Variable(at) => self.program.symbols[at].space,
            Base::Parameter(_) => Space::Param,
            Base::Window(_) => Space::Generic,
        }
    }

    /// Returns the state space that an access through a base's address leads to.
    fn space_around(&self, base: Base) -> Space {
        match base {
            Base::Window(space) => space,
            base => self.space(base),
        }
    }

    /// Takes an instruction into account; returns whether the dependence of a register that it writes has changed.
    fn step(&mut self, at: usize) -> bool {
        let program = self.program;
        let instr = &program.code[at];
        let values = self.sources(at);
        if matches!(instr.effect(), Effect::Store | Effect::Atomic) {
            self.store(at, instr, &values);
        }
        let mut changed = false;
        for (place, dest) in instr.dests.iter().enumerate() {
            let Some(dest) = dest else { continue };
            let result = self.definitions.results[at] as usize + place;
            let new = match instr.effect() {
                Effect::Load | Effect::Atomic => self.loaded(at, instr, place),
                _ => self.computed(instr, &values, place),
            };
            for dependence in [&mut self.results[result], &mut self.registers[dest.index()]] {
                let joined = dependence.join(new);
                changed |= joined != *dependence;
                *dependence = joined;
            }
        }
        changed
    }

    fn computed(&self, instr: &Instr, values: &[Dependence], dest: usize) -> Dependence {
        match instr.decoded() {
            Some(decoded) => {
                let (operands, parts) = (&*instr.sources, instr.dests.len());
                let (narrow, functions) = (self.narrow, self.functions);
                let windows = &self.windows;
                let computation =
                    Computation { decoded, operands, values, parts, narrow, functions, windows };
                computation.result(dest)
            }
            None => values
                .iter()
                .fold(Dependence::number(ALL), |dependence, value| dependence.join(*value))
                .mixed(ALL),
        }
    }

    /// Returns the dependences of the registers that an instruction reads: operands, then address, then guard.
    fn read(&self, at: usize) -> impl Iterator<Item = Dependence> {
        self.definitions
            .reads(at, &self.program.code[at])
            .map(|(register, from)| self.register(register, from))
    }

    fn register(&self, register: Reg, definition: Option<ResultId>) -> Dependence {
        match definition {
            Some(result) => self.results[result as usize],
            None => self.registers[register.index()],
        }
    }

    /// Returns the dependences of an instruction's operands.
    fn sources(&self, at: usize) -> Vec<Dependence> {
        let mut registers = self.read(at);
        let source = |operand: &Operand| match operand {
            Operand::Register(_) | Operand::Not(_) => registers.next().unwrap_or_default(),
            _ => self.operand(operand),
        };
        self.program.code[at].sources.iter().map(source).collect()
    }

    /// Returns the dependences of the registers of an instruction's address and guard.
    fn address_and_guard(&self, at: usize) -> (Option<Dependence>, Option<Dependence>) {
        let instr = &self.program.code[at];
        let count = instr.reads().count() - instr.address_and_guard().count();
        let mut rest = self.read(at).skip(count);
        let base = instr.address.and_then(|address| address.base).and_then(|_| rest.next());
        (base, rest.next())
    }

    /// Returns the dependence of an operand that is not a register.
    fn operand(&self, operand: &Operand) -> Dependence {
        match operand {
            Operand::Constant(bits) => Dependence::number(
                u8::try_from(u64::BITS - bits.leading_zeros()).expect("at most 64"),
            ),
            Operand::Variable { space, first, .. } => {
                match self.variables.get(&(*space as u8, *first)) {
                    Some(base) => Dependence::address(*base.min(&(MAX_BASES - 1))),
                    None => Dependence::number(ALL),
                }
            }
            Operand::Special(special) => Dependence::number(match special {
                Special::Laneid => 5,
                Special::Tid(_) => 10,
                Special::Ntid(_) => 11,
                _ => 32,
            }),
            Operand::Register(_) | Operand::Not(_) | Operand::Opaque | Operand::Unset => {
                Dependence::number(ALL)
            }
        }
    }

    fn store(&mut self, at: usize, instr: &Instr, values: &[Dependence]) {
        let Some(address) = instr.address else { return };
        let bits = element(instr);
        let all = values.iter().map(|value| value.truncated(bits, self.narrow));
        let target = self.target(at, address);
        self.stored |= self.memory.store(&target, bits, all);
    }

    fn target(&self, at: usize, address: Address) -> AccessTarget {
        let local = self.locals[at];
        AccessTarget {
            local,
            among: if local.is_some() { Vec::new() } else { self.spaces(at, address) },
        }
    }

    /// Returns the state spaces that an access might be in.
    fn spaces(&self, at: usize, address: Address) -> Vec<Space> {
        let based = self.address_and_guard(at).0.filter(|_| address.space == Space::Generic);
        match based {
            Some(dependence)
                if dependence.read == 0
                    && !dependence.is_plain
                    && dependence.based >> (MAX_BASES - 1) == 0 =>
            {
                let spaces: BTreeSet<Space> =
                    self.bases_in(dependence.based).map(|base| self.space_around(base)).collect();
                spaces.into_iter().collect()
            }
            _ => vec![address.space],
        }
    }

    fn loaded(&self, at: usize, instr: &Instr, dest: usize) -> Dependence {
        let Some(address) = instr.address else { return Dependence::number(ALL) };
        let (target, bits) = (self.target(at, address), element(instr));
        let dependence = match address.space {
            Space::Param => self.parameter(address, bits, dest),
            Space::Generic if self.loads_parameters => {
                self.any_parameter(bits).join(self.memory.load(&target, bits, dest))
            }
            _ => self.memory.load(&target, bits, dest),
        };
        let is_signed = instr.decoded().is_some_and(|decoded| decoded.ty().is_signed());
        if is_signed && dependence.based == 0 { dependence.wide(ALL) } else { dependence }
    }

    /// Returns the dependence of an element loaded from the parameter bank.
    fn parameter(&self, address: Address, bits: u8, dest: usize) -> Dependence {
        if address.base.is_some() {
            return self.any_parameter(bits);
        }
        let bytes = u64::from(bits / 8);
        let first = address.offset.wrapping_add(bytes * dest as u64);
        let mut dependence = Dependence::number(bits);
        for (base, offset, size) in self.pointers.iter().copied() {
            let pointer = Dependence::address(base);
            if bytes == size && first == offset {
                return pointer;
            }
            if offset < first.saturating_add(bytes) && first < offset + size {
                dependence = dependence.join(pointer.mixed(bits));
            }
        }
        dependence
    }

    /// Returns the join of all elements that might be loaded from the parameter bank.
    fn any_parameter(&self, bits: u8) -> Dependence {
        let one = |(base, _, size): &(usize, u64, u64)| {
            let dependence = Dependence::address(*base);
            if u64::from(bits / 8) == *size { dependence } else { dependence.mixed(bits) }
        };
        self.pointers.iter().map(one).fold(Dependence::number(bits), Dependence::join)
    }
}

/// Returns the space of the buffer or object with this number.
fn pointee(program: &Program, at: usize) -> Space {
    let object = program.params.get(at).and_then(|param| param.object);
    object.map_or(Space::Global, |object| program.symbols[object].space)
}

/// Returns the set of buffers whose addresses have 32 bits; buffers are the first bases.
fn narrow(program: &Program, buffers: &BTreeSet<usize>) -> u128 {
    let narrow = buffers.iter().enumerate().take(MAX_BASES - 1);
    let narrow = narrow.filter(|(_, at)| pointee(program, **at) != Space::Global);
    narrow.fold(0, |all, (base, _)| all | 1 << base)
}
