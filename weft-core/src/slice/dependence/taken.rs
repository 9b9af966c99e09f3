//! Collects what a check takes for granted: properties of the addresses of variables, buffers and windows that decide
//! something and that no declaration states.

use std::collections::BTreeMap;

use super::Dependences;
use super::base::{AddressRequirement, Base, multiple};
use super::definitions::condition;
use super::value::{Dependence, MAX_BASES};
use super::windows::Window;
use crate::flow::{self, Address, Instr, Operand, Pc, SHARED_SLOT};
use crate::launch::allocation::BUFFER_ALIGN;
use crate::ptx::Space;
use crate::ptx::isa::{Effect, Modifier, Opcode};
use crate::slice::{Keep, Slice, is_observable};

/// The alignment of windows, as on devices.
const WINDOW_ALIGN: u64 = 1 << 24;

/// Where an instruction accesses memory.
struct Accessing {
    pc: Pc,
    /// What the register in its address depends on; `None` if it has none.
    dependence: Option<Dependence>,
    offset: u64,
    space: Space,
    /// The number of bytes of which the address is a multiple.
    bytes: u64,
}

impl Dependences<'_> {
    /// Whether something accesses shared memory at an address that is not computed from the address of a variable, or by the
    /// descriptor of a matrix, which holds only the lower bits of an address.
    pub fn accesses_shared_by_number(&self) -> bool {
        let is_number = |dependence: Dependence| !dependence.is_nothing() && dependence.based == 0;
        let converts = |(at, instr): (usize, &Instr)| {
            instr.decoded().is_some_and(|decoded| {
                decoded.row.opcode == Opcode::Cvta
                    && decoded.space == Space::Shared
                    && !decoded.modifiers.has(Modifier::To)
                    && self.sources(at).into_iter().all(is_number)
            })
        };
        let mut all = (0..self.program.code.len()).flat_map(|at| self.accesses(at));
        all.any(|own| {
            own.space == Space::Shared
                && is_small(own.offset)
                && own.dependence.is_none_or(is_number)
        }) || self.program.code.iter().enumerate().any(converts)
            || self.program.code.iter().any(Instr::has_descriptors)
    }

    /// Returns what is taken for granted, beyond the program's declarations, by kept instructions and by accesses that
    /// were reached. `reached`: by instruction. `compares`: whether stored values were compared as well.
    pub fn taken_for_granted(
        &self,
        slice: &Slice,
        reached: &[bool],
        compares: bool,
    ) -> BTreeMap<Base, AddressRequirement> {
        let mut taken = BTreeMap::new();
        for ((pc, instr), keep) in (0..).map(Pc).zip(&self.program.code).zip(&slice.keep) {
            if *keep != Keep::Nothing {
                self.record_decisions(pc.index(), instr, &mut taken);
            }
            if reached[pc.index()] && is_observable(self.program, pc) {
                self.record_alignment(pc.index(), &mut taken);
                if compares && instr.effect() == Effect::Store {
                    self.record_stores(pc.index(), &mut taken);
                }
            }
        }
        for (at, block) in
            self.program.blocks.iter().enumerate().filter(|(at, _)| slice.branches[*at])
        {
            if let Some(register) = condition(&block.terminator) {
                self.record_test(self.register(register, self.definitions.branch(at)), &mut taken);
            }
        }
        taken.retain(|base, place| *place > AddressRequirement::Multiple(self.declared(*base)));
        taken
    }

    /// Returns the accesses whose addresses are computed from addresses of variables or buffers in another way than by
    /// adding numbers to one of them, so that they might lead from one to another; and for each, a pointer argument
    /// that its address is computed from, if there is one.
    pub fn strays(&self) -> BTreeMap<Pc, Option<usize>> {
        let mut strays = BTreeMap::new();
        let all = (0..self.program.code.len()).flat_map(|at| self.accesses(at));
        for Accessing { pc, dependence, .. } in all {
            let Some(dependence) = dependence else { continue };
            let is_read = self.bases_in(dependence.read).any(|base| self.is_observed(base));
            if is_read && multiple(dependence.low) == AddressRequirement::Fixed {
                let pointer = |base| match base {
                    // A pointer that the launch states is no number.
                    Base::Pointer(at) if !self.program.is_stated(at) => Some(at),
                    _ => None,
                };
                let mut all = self.bases_in(dependence.based).chain(self.bases_in(dependence.read));
                strays.insert(pc, all.find_map(pointer));
            }
        }
        strays
    }

    /// Returns for each base the size in bytes of the widest access to it that was reached.
    pub fn accessed(&self, reached: &[bool]) -> BTreeMap<Base, u64> {
        let mut taken = BTreeMap::new();
        for pc in (0..self.program.code.len()).map(Pc::at) {
            if reached[pc.index()] && is_observable(self.program, pc) {
                self.record_alignment(pc.index(), &mut taken);
            }
        }
        let multiple = |(base, place): (Base, AddressRequirement)| match place {
            AddressRequirement::Multiple(of) => Some((base, of)),
            AddressRequirement::Fixed => None,
        };
        taken.into_iter().filter_map(multiple).collect()
    }

    /// Records what an instruction's guard, address and, for an instruction that waits, operands depend on.
    fn record_decisions(
        &self,
        at: usize,
        instr: &Instr,
        taken: &mut BTreeMap<Base, AddressRequirement>,
    ) {
        if let Some(dependence) = self.address_and_guard(at).1 {
            self.record_test(dependence, taken);
        }
        for Accessing { dependence, space, .. } in self.accesses(at) {
            let Some(dependence) = dependence else { continue };
            self.take(dependence.read, multiple(dependence.low), taken);
            if dependence.read != 0 && multiple(dependence.low) == AddressRequirement::Fixed {
                // Such an address might lead to anything in the space.
                self.all_in(space).for_each(|base| take(base, AddressRequirement::Fixed, taken));
            }
        }
        match instr.effect() {
            Effect::Barrier | Effect::WarpBarrier | Effect::Multiply | Effect::TensorMemory => {
                self.sources(at).into_iter().for_each(|joined| self.record_test(joined, taken));
            }
            // The mask is the last operand.
            Effect::Exchange => {
                self.sources(at)
                    .into_iter()
                    .last()
                    .into_iter()
                    .for_each(|own| self.record_test(own, taken));
            }
            _ => {}
        }
    }

    /// Records what stored values depend on, because they are compared with the values of other stores.
    fn record_stores(&self, at: usize, taken: &mut BTreeMap<Base, AddressRequirement>) {
        for dependence in self.sources(at) {
            self.take(dependence.read, multiple(dependence.low), taken);
        }
    }

    /// Records that a value decides something by all of its bits.
    fn record_test(&self, dependence: Dependence, taken: &mut BTreeMap<Base, AddressRequirement>) {
        self.take(dependence.read, multiple(dependence.low), taken);
        self.take(dependence.based, AddressRequirement::Fixed, taken);
    }

    /// Records that the addresses of an instruction's accesses must be multiples of the accesses' sizes.
    fn record_alignment(&self, at: usize, taken: &mut BTreeMap<Base, AddressRequirement>) {
        for Accessing { dependence, offset, space, bytes, .. } in self.accesses(at) {
            let place = AddressRequirement::Multiple(bytes);
            if let Some(dependence) = dependence {
                let bases = self.bases_in(dependence.based).filter(|base| self.is_observed(*base));
                bases.for_each(|base| take(base, place, taken));
                continue;
            }
            // A variable that lies by itself has the room around it to itself.
            let around = if self.program.placement.is_near { 0 } else { SHARED_SLOT / 2 };
            let is_it = |symbol: &flow::Symbol| {
                symbol.space == space
                    && offset.wrapping_sub(symbol.address).wrapping_add(around)
                        < around + symbol.size.max(around).max(1)
            };
            if let Some(at) = self.program.symbols.iter().position(is_it) {
                take(Base::Variable(at), place, taken);
            }
        }
    }

    /// The accesses of an instruction: at its address, and those of a bulk copy.
    fn accesses(&self, at: usize) -> Vec<Accessing> {
        let (pc, instr) = (Pc::at(at), &self.program.code[at]);
        let Some(decoded) = instr.decoded() else { return Vec::new() };
        let own = instr.address.map(|Address { space, offset, .. }| {
            let bytes = u64::from(decoded.ty().bytes() * u32::from(decoded.vector()));
            Accessing { pc, dependence: self.address_and_guard(at).0, offset, space, bytes }
        });
        let copied = instr.copied();
        let sources = if copied.is_empty() { Vec::new() } else { self.sources(at) };
        let copied = copied.into_iter().zip(sources).map(|(side, dependence)| {
            let (dependence, offset) = match side.address {
                Operand::Constant(offset) => (None, *offset),
                _ => (Some(dependence), 0),
            };
            let (space, bytes) = (side.space, side.align.into());
            Accessing { pc, dependence, offset, space, bytes }
        });
        own.into_iter().chain(copied).collect()
    }

    fn take(
        &self,
        bases: u128,
        place: AddressRequirement,
        taken: &mut BTreeMap<Base, AddressRequirement>,
    ) {
        for base in self.bases_in(bases) {
            // The position of a parameter in the bank cannot vary.
            let is_fixed = match base {
                Base::Parameter(_) => true,
                Base::Variable(at) if self.program.symbols[at].space == Space::Generic => {
                    place > AddressRequirement::Multiple(flow::FUNCTION_ALIGN)
                }
                _ => false,
            };
            take(base, if is_fixed { AddressRequirement::Fixed } else { place }, taken);
        }
    }

    /// Returns the bases in a set. The generic address of a base depends on its window as well.
    pub(super) fn bases_in(&self, bases: u128) -> impl Iterator<Item = Base> {
        let is_in = move |at: usize| bases >> at.min(MAX_BASES - 1) & 1 == 1;
        let is_in_window = move |window: &&Window| window.generic.iter().any(|(_, at)| is_in(*at));
        let windows = self.windows.iter().filter(is_in_window).map(|own| Base::Window(own.space));
        let bases_there = self.bases.iter().enumerate().filter(move |(at, _)| is_in(*at));
        bases_there.map(|(_, base)| *base).chain(windows)
    }

    /// Returns the bases that an access to a space might lead to.
    fn all_in(&self, space: Space) -> impl Iterator<Item = Base> {
        let is_it = move |base: &Base| space == Space::Generic || self.space(*base) == space;
        let pointers = self.bases.iter().copied().filter(|own| matches!(own, Base::Pointer(_)));
        let variables = self.program.symbols.iter().enumerate();
        let variables = variables.filter(|(_, variable)| variable.parameter.is_none());
        let all = pointers.chain(variables.map(|(at, _)| Base::Variable(at)));
        all.filter(is_it).filter(|base| self.is_observed(*base))
    }

    /// Whether the base lies in memory whose accesses are checked.
    fn is_observed(&self, base: Base) -> bool {
        matches!(self.space(base), Space::Shared | Space::Global)
    }

    /// Returns the declared alignment of a base in bytes; 0 if the declaration of a pointer states none.
    pub fn declared(&self, base: Base) -> u64 {
        match base {
            Base::Variable(at) => self.program.symbols[at].align,
            Base::Pointer(at) if self.program.is_stated(at) => BUFFER_ALIGN,
            // LLVM emits `.align 1` for every pointer of unknown alignment.
            Base::Pointer(at) => {
                let declared = self.program.params.get(at).and_then(|param| param.pointee_align);
                declared.filter(|align| *align > 1).unwrap_or(0)
            }
            Base::Parameter(_) => 1,
            Base::Window(_) => WINDOW_ALIGN,
        }
    }
}

fn take(base: Base, place: AddressRequirement, taken: &mut BTreeMap<Base, AddressRequirement>) {
    let beginning = taken.entry(base).or_insert(place);
    *beginning = place.max(*beginning);
}

/// Whether an offset in shared memory is so small that it leads to no variable by itself.
fn is_small(offset: u64) -> bool {
    !(SHARED_SLOT / 2..1 << 32).contains(&offset)
}
