//! Finds the variables of local memory that only instructions access whose addresses are known.
//!
//! Any other variable is *lost*: its address gets to memory other than local memory, to a call that is not linked in, or to an
//! access at an unknown address that is computed from it.

use std::collections::{BTreeMap, BTreeSet};

use smallvec::SmallVec;

use super::constants::Constants;
use super::program::{Instr, Operand, Program};
use crate::ptx::Space;
use crate::ptx::isa::Effect;

/// Bytes of a word of local memory that can hold an address.
const WORD: u64 = 8;

/// The most variables that a value is followed for.
const MOST_VARIABLES: usize = 4;

/// Variables, by their positions in [`LocalAddresses::extents`], each once.
type Variables = SmallVec<[u32; MOST_VARIABLES]>;

/// The variables whose addresses the value of each register or word of local memory might be computed from, joined over
/// all that writes there.
struct LocalAddresses<'p> {
    program: &'p Program,
    constants: &'p Constants,
    /// The first and the last byte of each variable of local memory, ascending.
    extents: Vec<(u64, u64)>,
    registers: Vec<Variables>,
    words: BTreeMap<u64, Variables>,
    /// Lost variables.
    lost: BTreeSet<u32>,
}

/// Returns the first and the last byte of each variable of local memory that only instructions access whose addresses are
/// known, ascending.
pub(super) fn followed(program: &Program, constants: &Constants) -> Vec<(u64, u64)> {
    let symbols = program.symbols.iter().enumerate();
    let local = symbols.filter(|(_, symbol)| symbol.space == Space::Local && symbol.size > 0);
    let mut extents: Vec<_> = local.map(|(at, _)| program.extent_of(at)).collect();
    extents.sort_unstable();
    let mut addresses = LocalAddresses {
        program,
        constants,
        extents,
        registers: vec![Variables::new(); program.registers as usize],
        words: BTreeMap::new(),
        lost: BTreeSet::new(),
    };
    addresses.settle();
    for instr in &program.code {
        let Some(lost) = addresses.lost_by(instr) else { return Vec::new() };
        addresses.lost.extend(lost);
    }
    addresses.lose_stored();
    let LocalAddresses { extents, lost, .. } = addresses;
    let followed = (0..).zip(extents).filter(|(at, _)| !lost.contains(at));
    followed.map(|(_, extent)| extent).collect()
}

impl LocalAddresses<'_> {
    fn settle(&mut self) {
        let program = self.program;
        loop {
            let mut is_stored = false;
            super::settle(program, |at| {
                let instr = &program.code[at];
                is_stored |= self.store(instr);
                self.write(instr)
            });
            if !is_stored {
                return;
            }
        }
    }

    /// Loses the variables whose addresses lie in lost variables: an access that is not followed might load them there.
    fn lose_stored(&mut self) {
        loop {
            let before = self.lost.len();
            for (word, stored) in &self.words {
                let is_lost = |variable: u32| self.lost.contains(&variable);
                if self.variables_in(*word).any(is_lost) {
                    self.lost.extend(stored);
                }
            }
            if self.lost.len() == before {
                return;
            }
        }
    }

    /// The variables that some byte of a word lies in.
    fn variables_in(&self, word: u64) -> impl Iterator<Item = u32> + use<> {
        let first = self.extents.partition_point(|(_, last)| *last < word);
        let end = self.extents.partition_point(|(first, _)| *first < word.saturating_add(WORD));
        let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        number(first)..number(end)
    }

    /// The variable that an address lies in.
    fn variable_at(&self, address: u64) -> Option<u32> {
        let at = self.extents.partition_point(|(first, _)| *first <= address).checked_sub(1)?;
        u32::try_from(at).ok().filter(|_| address <= self.extents[at].1)
    }

    /// The words of local memory at a known address that an instruction accesses.
    fn words_of(&self, instr: &Instr) -> Option<impl Iterator<Item = u64> + use<>> {
        let (decoded, (Space::Local, first)) = (instr.decoded()?, self.constants.place(instr)?)
        else {
            return None;
        };
        let bytes = u64::from(decoded.ty().bytes()) * u64::from(decoded.vector());
        let last = first.saturating_add(bytes.saturating_sub(1));
        Some((first / WORD..=last / WORD).map(|word| word * WORD))
    }

    /// Takes what an instruction stores into account; returns whether a word might hold more addresses by it.
    fn store(&mut self, instr: &Instr) -> bool {
        if instr.effect() != Effect::Store {
            return false;
        }
        let stored = self.read(instr);
        let mut changed = false;
        for word in self.words_of(instr).into_iter().flatten().filter(|_| !stored.is_empty()) {
            changed |= add(self.words.entry(word).or_default(), &stored, &mut self.lost);
        }
        changed
    }

    /// Takes the results of an instruction into account; returns whether one might be computed from more addresses.
    fn write(&mut self, instr: &Instr) -> bool {
        let mut found = self.read(instr);
        for word in self.words_of(instr).into_iter().flatten() {
            found.extend(self.words.get(&word).into_iter().flatten().copied());
        }
        let mut changed = false;
        for dest in instr.dests.iter().flatten() {
            changed |= add(&mut self.registers[dest.index()], &found, &mut self.lost);
        }
        changed
    }

    /// The variables from whose addresses the operands of an instruction might be computed.
    fn read(&self, instr: &Instr) -> Variables {
        let mut found = Variables::new();
        for source in &instr.sources {
            match source {
                Operand::Register(register) | Operand::Not(register) => {
                    found.extend_from_slice(&self.registers[register.index()]);
                }
                Operand::Variable { space: Space::Local, first, .. } => {
                    found.extend(self.variable_at(*first));
                }
                _ => {}
            }
        }
        found
    }

    /// The variables that an instruction loses; `None`: it might access any variable.
    fn lost_by(&self, instr: &Instr) -> Option<Variables> {
        let base = instr.address.and_then(|address| address.base);
        let based = base.map_or(Variables::new(), |base| self.registers[base.index()].clone());
        let is_local = instr.address.is_some_and(|address| address.space == Space::Local);
        let is_known = self.words_of(instr).is_some();
        if is_local && !is_known && based.is_empty() {
            return None;
        }
        let mut lost = if is_known { Variables::new() } else { based };
        let keeps = match instr.effect() {
            Effect::Compute | Effect::Load => true,
            Effect::Store => is_known,
            _ => false,
        };
        if !keeps {
            lost.extend(self.read(instr));
        }
        Some(lost)
    }
}

/// Adds variables to those of a value; returns whether there are more than before. Those of a value that has too many are
/// lost.
fn add(to: &mut Variables, found: &[u32], lost: &mut BTreeSet<u32>) -> bool {
    let mut changed = false;
    for variable in found {
        if to.contains(variable) || lost.contains(variable) {
            continue;
        }
        changed = true;
        to.push(*variable);
        if to.len() > MOST_VARIABLES {
            lost.extend(to.drain(..));
        }
    }
    changed
}
