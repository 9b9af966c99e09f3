//! What is stored to memory has of addresses: joined over a state space, flow-insensitively, but for the words that the
//! text names in local memory, which hold the parameters of functions.

use std::collections::BTreeMap;

use super::value::{ALL, Dependence};
use crate::flow::{Address, Instr};
use crate::ptx::Space;

/// Joined over elements of up to 32 bits, and of more.
type Stored = [Dependence; 2];

/// What was stored.
#[derive(Default)]
pub(super) struct Stores {
    /// Through addresses in registers: to local, shared and global memory; last: by name to local memory.
    spaces: [Stored; 4],
    /// To local memory by name: by first byte.
    words: BTreeMap<u64, Stored>,
}

/// Where the stores to local memory by name are joined.
const NAMED: usize = 3;

/// Bits of an element of an access.
pub(super) fn element(instr: &Instr) -> u8 {
    let bits = instr.decoded().map_or(64, |decoded| decoded.ty().bits());
    u8::try_from(bits).unwrap_or(ALL).min(ALL)
}

/// The local word that an access names.
fn named(address: Address, bits: u8, at: usize) -> Option<u64> {
    address.named_local().map(|first| first + u64::from(bits / 8) * at as u64)
}

impl Stores {
    /// Takes a store into account; whether anything is new.
    pub(super) fn store(
        &mut self,
        address: Address,
        bits: u8,
        values: impl Iterator<Item = Dependence>,
    ) -> bool {
        let mut changed = false;
        for (at, value) in values.enumerate() {
            let mut join = |own: &mut Stored| {
                let own = &mut own[usize::from(bits > 32)];
                let joined = own.join(value);
                changed |= joined != *own;
                *own = joined;
            };
            if let Some(word) = named(address, bits, at) {
                join(self.words.entry(word).or_default());
                join(&mut self.spaces[NAMED]);
                continue;
            }
            for space in spaces(address.space).filter(|space| *space != NAMED) {
                join(&mut self.spaces[space]);
            }
        }
        changed
    }

    /// What an element that is loaded may be.
    pub(super) fn load(&self, address: Address, bits: u8, at: usize) -> Dependence {
        let own = Dependence::number(bits);
        let Some(word) = named(address, bits, at) else {
            let all = spaces(address.space).map(|space| loaded(self.spaces[space], bits));
            return all.fold(own, Dependence::join);
        };
        let bytes = u64::from(bits / 8).max(1);
        let around = self.words.range(word.saturating_sub(7)..word.saturating_add(bytes));
        let own = own.join(loaded(self.spaces[0], bits));
        around.fold(own, |own, (first, stored)| {
            let whole = loaded(*stored, bits);
            own.join(if *first == word { whole } else { whole.mixed(bits) })
        })
    }
}

/// What an element of so many bits may be that was stored whole, or in parts, or is a part.
fn loaded([narrow, wide]: Stored, bits: u8) -> Dependence {
    match bits {
        ALL => wide.join(narrow.mixed(bits)),
        32 => narrow.join(wide.mixed(bits)),
        _ => narrow.join(wide).mixed(bits),
    }
}

/// The places of `spaces` that an access through a register may concern.
fn spaces(space: Space) -> impl Iterator<Item = usize> {
    let all: &[usize] = match space {
        Space::Local => &[0, NAMED],
        Space::Shared => &[1],
        Space::Global => &[2],
        Space::Generic => &[0, 1, 2, NAMED],
        _ => &[],
    };
    all.iter().copied()
}
