//! Pointer dependence: what of the addresses of variables and buffers decides something. The launch gives each one
//! place, so that one outcome of a test of an address is all that a run sees.
//!
//! Joined over all definitions of a register, and over all that is stored to a state space. Silence: no branch, guard,
//! address or barrier that is kept is another one wherever variables and buffers begin at multiples of what their
//! declarations say.

mod base;
mod definitions;
mod memory;
mod transfer;
mod value;

use std::collections::{BTreeMap, BTreeSet};

use super::{Keep, Slice};
use crate::flow::{self, Address, Instr, Operand, Pc, Program, Reg, SHARED_SLOT, Special};
use crate::ptx::Space;
use crate::ptx::isa::{Effect, Modifier, Opcode};
use base::multiple;
pub use base::{Base, Beginning};
use definitions::{BlockDefinitions, ResultId, condition};
use memory::{Stores, element};
use transfer::Computation;
use value::{ALL, Dependence, MAX_BASES};

/// The dependence of every register.
pub struct Dependences<'p> {
    program: &'p Program,
    bases: Vec<Base>,
    /// By space and first byte: variables whose addresses are operands.
    variables: BTreeMap<(u8, u64), usize>,
    /// The bases whose addresses have 32 bits.
    narrow: u128,
    /// The bases that are functions.
    functions: u128,
    /// By register, joined over its definitions; and by result.
    registers: Vec<Dependence>,
    results: Vec<Dependence>,
    definitions: BlockDefinitions,
    memory: Stores,
    /// Whether the last round stored anything new.
    stored: bool,
    /// Whether generic loads may read parameters.
    loads_parameters: bool,
}

impl<'p> Dependences<'p> {
    /// Computes them. `pointers` are the arguments that the launch makes pointers to buffers.
    pub fn of(program: &'p Program, pointers: &BTreeSet<usize>) -> Self {
        let definitions = BlockDefinitions::of(program);
        let results = definitions.results.last().map_or(0, |count| *count as usize);
        let mut own = Self {
            program,
            results: vec![Dependence::default(); results],
            definitions,
            bases: pointers.iter().copied().map(Base::Pointer).collect(),
            variables: BTreeMap::new(),
            narrow: narrow(program, pointers),
            functions: 0,
            registers: vec![Dependence::number(ALL); program.registers as usize],
            memory: Stores::default(),
            stored: false,
            loads_parameters: false,
        };
        for instr in &program.code {
            for dest in instr.dests.iter().flatten() {
                own.registers[dest.index()] = Dependence::default();
            }
            instr.sources.iter().for_each(|source| own.list(source));
            own.loads_parameters |= instr.decoded().is_some_and(|decoded| {
                decoded.row.opcode == Opcode::Cvta && decoded.space == Space::Param
            });
        }
        loop {
            flow::settle(program, |at| own.step(at));
            if !std::mem::take(&mut own.stored) {
                return own;
            }
        }
    }

    /// Lists the variable whose address an operand is.
    fn list(&mut self, operand: &Operand) {
        let Operand::Variable { space, first, .. } = *operand else { return };
        let symbol = |own: &flow::Symbol| own.space == space && own.address == first;
        let param = |own: &flow::Param| own.offset <= first && first - own.offset < own.size.max(1);
        let base = match space {
            Space::Param => self.program.params.iter().position(param).map(Base::Parameter),
            _ => self.program.symbols.iter().position(symbol).map(Base::Variable),
        };
        let Some(base) = base else { return };
        if let std::collections::btree_map::Entry::Vacant(free) =
            self.variables.entry((space as u8, first))
        {
            free.insert(self.bases.len());
            // An address in global memory has more, and sums of fewer bits may wrap around. The last bit is for all
            // further bases, some of which might have more.
            if self.bases.len() < MAX_BASES - 1 {
                let own = 1 << self.bases.len();
                match space {
                    Space::Generic => self.functions |= own,
                    Space::Global => {}
                    _ => self.narrow |= own,
                }
            }
            self.bases.push(base);
        }
    }

    /// Takes an instruction into account; whether anything is new of the registers it writes.
    fn step(&mut self, at: usize) -> bool {
        let program = self.program;
        let instr = &program.code[at];
        let values = self.sources(at);
        if matches!(instr.effect(), Effect::Store | Effect::Atomic) {
            self.store(instr, &values);
        }
        let mut changed = false;
        for (place, dest) in instr.dests.iter().enumerate() {
            let Some(dest) = dest else { continue };
            let result = self.definitions.results[at] as usize + place;
            let new = match instr.effect() {
                Effect::Load | Effect::Atomic => self.loaded(instr, place),
                _ => self.computed(instr, &values, place),
            };
            for own in [&mut self.results[result], &mut self.registers[dest.index()]] {
                let joined = own.join(new);
                changed |= joined != *own;
                *own = joined;
            }
        }
        changed
    }

    fn computed(&self, instr: &Instr, values: &[Dependence], dest: usize) -> Dependence {
        match instr.decoded() {
            Some(decoded) => {
                let (operands, parts) = (&*instr.sources, instr.dests.len());
                let (narrow, functions) = (self.narrow, self.functions);
                Computation { decoded, operands, values, parts, narrow, functions }.result(dest)
            }
            None => values
                .iter()
                .fold(Dependence::number(ALL), |own, value| own.join(*value))
                .mixed(ALL),
        }
    }

    /// What an instruction's registers hold: those of its operands, its address and its guard.
    fn read(&self, at: usize) -> impl Iterator<Item = Dependence> {
        self.definitions
            .reads(at, &self.program.code[at])
            .map(|(own, from)| self.register(own, from))
    }

    fn register(&self, register: Reg, definition: Option<ResultId>) -> Dependence {
        match definition {
            Some(result) => self.results[result as usize],
            None => self.registers[register.index()],
        }
    }

    /// What an instruction's operands are.
    fn sources(&self, at: usize) -> Vec<Dependence> {
        let mut registers = self.read(at);
        let own = |operand: &Operand| match operand {
            Operand::Register(_) | Operand::Not(_) => registers.next().unwrap_or_default(),
            _ => self.operand(operand),
        };
        self.program.code[at].sources.iter().map(own).collect()
    }

    /// What the registers of an instruction's address and guard hold.
    fn address_and_guard(&self, at: usize) -> (Option<Dependence>, Option<Dependence>) {
        let instr = &self.program.code[at];
        let count = instr.reads().count() - instr.address_and_guard().count();
        let mut rest = self.read(at).skip(count);
        let base = instr.address.and_then(|address| address.base).and_then(|_| rest.next());
        (base, rest.next())
    }

    /// What an operand is that is no register.
    fn operand(&self, operand: &Operand) -> Dependence {
        match operand {
            Operand::Constant(bits) => {
                Dependence::number(u8::try_from(u64::BITS - bits.leading_zeros()).unwrap_or(ALL))
            }
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

    fn store(&mut self, instr: &Instr, values: &[Dependence]) {
        let Some(address) = instr.address else { return };
        let bits = element(instr);
        let all = values.iter().map(|value| value.truncated(bits, self.narrow));
        self.stored |= self.memory.store(address, bits, all);
    }

    fn loaded(&self, instr: &Instr, dest: usize) -> Dependence {
        let Some(address) = instr.address else { return Dependence::number(ALL) };
        let bits = element(instr);
        let own = match address.space {
            Space::Param => self.parameter(address, bits, dest),
            Space::Generic if self.loads_parameters => {
                self.any_parameter(bits).join(self.memory.load(address, bits, dest))
            }
            _ => self.memory.load(address, bits, dest),
        };
        let is_signed = instr.decoded().is_some_and(|decoded| decoded.ty().is_signed());
        if is_signed && own.based == 0 { own.wide(ALL) } else { own }
    }

    /// What of pointers an element of the parameter bank holds.
    fn parameter(&self, address: Address, bits: u8, dest: usize) -> Dependence {
        if address.base.is_some() {
            return self.any_parameter(bits);
        }
        let bytes = u64::from(bits / 8);
        let first = address.offset.wrapping_add(bytes * dest as u64);
        let mut own = Dependence::number(bits);
        for (base, offset, size) in self.pointers() {
            let pointer = Dependence::address(base);
            if bytes == size && first == offset {
                return pointer;
            }
            if offset < first.saturating_add(bytes) && first < offset + size {
                own = own.join(pointer.mixed(bits));
            }
        }
        own
    }

    /// What any element of the bank may hold.
    fn any_parameter(&self, bits: u8) -> Dependence {
        let one = |(base, _, size): (usize, u64, u64)| {
            let own = Dependence::address(base);
            if u64::from(bits / 8) == size { own } else { own.mixed(bits) }
        };
        self.pointers().map(one).fold(Dependence::number(bits), Dependence::join)
    }

    /// The pointers that the bank holds: base, offset and bytes.
    fn pointers(&self) -> impl Iterator<Item = (usize, u64, u64)> {
        let place = |base: &Base| match base {
            Base::Pointer(at) => match self.program.params.get(*at) {
                Some(param) => Some((param.offset, param.size)),
                None => self.program.field(*at).map(|field| (field.offset, field.size)),
            },
            _ => None,
        };
        let all = self.bases.iter().enumerate();
        all.filter_map(move |(at, base)| {
            place(base).map(|(offset, size)| (at.min(MAX_BASES - 1), offset, size))
        })
    }
}

/// What is taken for granted.
impl Dependences<'_> {
    /// Whether something accesses shared memory at an address that is not that of a variable plus something.
    pub fn accesses_shared_by_number(&self) -> bool {
        let is_number = |own: Dependence| !own.is_nothing() && own.based == 0;
        let code = self.program.code.iter().enumerate();
        code.into_iter().any(|(at, instr)| match (instr.address, instr.decoded()) {
            (Some(Address { space: Space::Shared, offset, .. }), _) => {
                is_small(offset) && self.address_and_guard(at).0.is_none_or(is_number)
            }
            (None, Some(decoded)) => {
                decoded.row.opcode == Opcode::Cvta
                    && decoded.space == Space::Shared
                    && !decoded.modifiers.has(Modifier::To)
                    && self.sources(at).into_iter().all(is_number)
            }
            _ => false,
        })
    }

    /// What decides something that is kept, or is accessed by an instruction that was reached, beyond what the program
    /// declares. `reached`: by instruction. `compares`: what is stored was compared as well.
    pub fn taken_for_granted(
        &self,
        slice: &Slice,
        reached: &[bool],
        compares: bool,
    ) -> BTreeMap<Base, Beginning> {
        let mut taken = BTreeMap::new();
        for ((pc, instr), keep) in (0..).map(Pc).zip(&self.program.code).zip(&slice.keep) {
            if *keep != Keep::Nothing {
                self.decides(pc.index(), instr, &mut taken);
            }
            if reached[pc.index()] && super::is_observable(self.program, pc) {
                self.is_aligned(pc.index(), instr, &mut taken);
                if compares && instr.effect() == Effect::Store {
                    self.stores(pc.index(), &mut taken);
                }
            }
        }
        for (at, block) in
            self.program.blocks.iter().enumerate().filter(|(at, _)| slice.branches[*at])
        {
            if let Some(register) = condition(&block.terminator) {
                self.tested(self.register(register, self.definitions.branch(at)), &mut taken);
            }
        }
        taken.retain(|base, place| *place > Beginning::Multiple(self.declared(*base)));
        taken
    }

    /// By base, the bytes of the widest access by an instruction that was reached.
    pub fn accessed(&self, reached: &[bool]) -> BTreeMap<Base, u64> {
        let mut taken = BTreeMap::new();
        for (pc, instr) in (0..).map(Pc).zip(&self.program.code) {
            if reached[pc.index()] && super::is_observable(self.program, pc) {
                self.is_aligned(pc.index(), instr, &mut taken);
            }
        }
        let multiple = |(base, place): (Base, Beginning)| match place {
            Beginning::Multiple(of) => Some((base, of)),
            Beginning::Fixed => None,
        };
        taken.into_iter().filter_map(multiple).collect()
    }

    /// What an instruction's guard, address and, if it waits, operands depend on.
    fn decides(&self, at: usize, instr: &Instr, taken: &mut BTreeMap<Base, Beginning>) {
        let (base, guard) = self.address_and_guard(at);
        if let Some(own) = guard {
            self.tested(own, taken);
        }
        if let (Some(own), Some(address)) = (base, instr.address) {
            self.take(own.read, multiple(own.low), taken);
            if own.read != 0 && multiple(own.low) == Beginning::Fixed {
                // It may lead to anything that is in the space.
                self.all_in(address.space).for_each(|base| take(base, Beginning::Fixed, taken));
            }
        }
        match instr.effect() {
            Effect::Barrier | Effect::WarpBarrier => {
                self.sources(at).into_iter().for_each(|own| self.tested(own, taken));
            }
            // The mask stands last.
            Effect::Exchange => {
                self.sources(at)
                    .into_iter()
                    .last()
                    .into_iter()
                    .for_each(|own| self.tested(own, taken));
            }
            _ => {}
        }
    }

    /// What an instruction stores is compared with what others store.
    fn stores(&self, at: usize, taken: &mut BTreeMap<Base, Beginning>) {
        for own in self.sources(at) {
            self.take(own.read, multiple(own.low), taken);
        }
    }

    /// A value decides something by all that it is.
    fn tested(&self, own: Dependence, taken: &mut BTreeMap<Base, Beginning>) {
        self.take(own.read, multiple(own.low), taken);
        self.take(own.based, Beginning::Fixed, taken);
    }

    /// An access needs an address that is a multiple of its size.
    fn is_aligned(&self, at: usize, instr: &Instr, taken: &mut BTreeMap<Base, Beginning>) {
        let (Some(decoded), Some(address)) = (instr.decoded(), instr.address) else { return };
        let place =
            Beginning::Multiple(u64::from(decoded.ty().bytes() * u32::from(decoded.vector())));
        if let Some(own) = self.address_and_guard(at).0 {
            let bases = self.bases_in(own.based).filter(|base| self.is_observed(*base));
            bases.for_each(|base| take(base, place, taken));
            return;
        }
        let offset = address.offset;
        // What lies apart has the room around it to itself.
        let around = if self.program.placement.is_near { 0 } else { SHARED_SLOT / 2 };
        let is_it = |symbol: &flow::Symbol| {
            symbol.space == address.space
                && offset.wrapping_sub(symbol.address).wrapping_add(around)
                    < around + symbol.size.max(around).max(1)
        };
        if let Some(at) = self.program.symbols.iter().position(is_it) {
            take(Base::Variable(at), place, taken);
        }
    }

    fn take(&self, bases: u128, place: Beginning, taken: &mut BTreeMap<Base, Beginning>) {
        for base in self.bases_in(bases) {
            // A parameter's place in the bank is what it is.
            let is_fixed = match base {
                Base::Parameter(_) => true,
                Base::Variable(at) if self.program.symbols[at].space == Space::Generic => {
                    place > Beginning::Multiple(flow::FUNCTION_ALIGN)
                }
                _ => false,
            };
            take(base, if is_fixed { Beginning::Fixed } else { place }, taken);
        }
    }

    fn bases_in(&self, bases: u128) -> impl Iterator<Item = Base> {
        let is_in = move |at: usize| bases >> at.min(MAX_BASES - 1) & 1 == 1;
        self.bases.iter().enumerate().filter(move |(at, _)| is_in(*at)).map(|(_, base)| *base)
    }

    /// What an access to a space may lead to.
    fn all_in(&self, space: Space) -> impl Iterator<Item = Base> {
        let is_any = move |own: Space| own == space || space == Space::Generic;
        let is_it = move |base: &Base| match *base {
            Base::Pointer(at) => is_any(pointee(self.program, at)),
            Base::Variable(at) => is_any(self.program.symbols[at].space),
            Base::Parameter(_) => false,
        };
        let pointers = self.bases.iter().copied().filter(|own| matches!(own, Base::Pointer(_)));
        let variables = self.program.symbols.iter().enumerate();
        let variables = variables.filter(|(_, own)| own.parameter.is_none());
        let all = pointers.chain(variables.map(|(at, _)| Base::Variable(at)));
        all.filter(is_it).filter(|base| self.is_observed(*base))
    }

    /// Whether it is in memory whose accesses are checked.
    fn is_observed(&self, base: Base) -> bool {
        match base {
            Base::Pointer(at) => {
                matches!(pointee(self.program, at), Space::Shared | Space::Global)
            }
            Base::Variable(at) => {
                matches!(self.program.symbols[at].space, Space::Shared | Space::Global)
            }
            Base::Parameter(_) => false,
        }
    }

    /// What a base is declared to be a multiple of; 0 where a pointer's declaration says nothing.
    pub fn declared(&self, base: Base) -> u64 {
        match base {
            Base::Variable(at) => self.program.symbols[at].align,
            // LLVM writes `.align 1` for every pointer of which it knows nothing.
            Base::Pointer(at) => {
                let declared = self.program.params.get(at).and_then(|own| own.pointee_align);
                declared.filter(|align| *align > 1).unwrap_or(0)
            }
            Base::Parameter(_) => 1,
        }
    }
}

fn take(base: Base, place: Beginning, taken: &mut BTreeMap<Base, Beginning>) {
    let own = taken.entry(base).or_insert(place);
    *own = place.max(*own);
}

/// The space of what a pointer argument points to.
fn pointee(program: &Program, at: usize) -> Space {
    let object = program.params.get(at).and_then(|param| param.object);
    object.map_or(Space::Global, |object| program.symbols[object].space)
}

/// The pointers, which are the first bases, whose addresses have 32 bits.
fn narrow(program: &Program, pointers: &BTreeSet<usize>) -> u128 {
    let narrow = pointers.iter().enumerate().take(MAX_BASES - 1);
    let narrow = narrow.filter(|(_, at)| pointee(program, **at) != Space::Global);
    narrow.fold(0, |all, (base, _)| all | 1 << base)
}

/// Whether an offset in shared memory leads to no variable by itself.
fn is_small(offset: u64) -> bool {
    !(SHARED_SLOT / 2..1 << 32).contains(&offset)
}
