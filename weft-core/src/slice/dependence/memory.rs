//! The pointer dependence of memory contents: joined over all stores to a state space, whatever their order. Only words
//! of local memory at known addresses are kept apart: they hold the parameters of functions and the variables of
//! unoptimised code.

use std::collections::BTreeMap;

use super::value::{ALL, Dependence};
use crate::flow::Instr;
use crate::ptx::Space;

/// The join over stored elements of up to 32 bits, and over larger ones.
type StoredDependence = [Dependence; 2];

/// The dependence of all that was stored.
#[derive(Default)]
pub(super) struct Stores {
    /// For local, shared and global memory, and last for local memory at known addresses.
    spaces: [StoredDependence; 4],
    /// For local memory at known addresses, by first byte.
    words: BTreeMap<u64, StoredDependence>,
}

/// The index in `spaces` of the stores to local memory at known addresses.
const NAMED: usize = 3;

/// Returns the bits of an element of an access.
pub(super) fn element(instr: &Instr) -> u8 {
    let bits = instr.decoded().map_or(64, |decoded| decoded.ty().bits());
    u8::try_from(bits).unwrap_or(ALL).min(ALL)
}

/// The memory that an access might touch.
pub(super) struct AccessTarget {
    /// Its first byte in local memory, if that is known.
    pub(super) local: Option<u64>,
    /// The state spaces that it might be in otherwise.
    pub(super) among: Vec<Space>,
}

impl AccessTarget {
    /// Returns the first byte in local memory of element number `at`, where elements have `bits` bits.
    fn word(&self, bits: u8, at: usize) -> Option<u64> {
        self.local.map(|first| first.wrapping_add(u64::from(bits / 8) * at as u64))
    }
}

/// The index in `spaces` of the stores to global memory.
const GLOBAL: usize = 2;

impl Stores {
    /// Takes pointers into account that global memory holds when the kernel starts.
    pub(super) fn hold(&mut self, pointers: impl Iterator<Item = Dependence>) {
        for pointer in pointers {
            let wide = &mut self.spaces[GLOBAL][1];
            *wide = wide.join(pointer);
        }
    }

    /// Takes a store into account; returns whether anything has changed.
    pub(super) fn store(
        &mut self,
        target: &AccessTarget,
        bits: u8,
        values: impl Iterator<Item = Dependence>,
    ) -> bool {
        let mut changed = false;
        for (at, value) in values.enumerate() {
            let mut join = |stored: &mut StoredDependence| {
                let dependence = &mut stored[usize::from(bits > 32)];
                let joined = dependence.join(value);
                changed |= joined != *dependence;
                *dependence = joined;
            };
            if let Some(word) = target.word(bits, at) {
                join(self.words.entry(word).or_default());
                join(&mut self.spaces[NAMED]);
                continue;
            }
            for space in spaces(&target.among).filter(|space| *space != NAMED) {
                join(&mut self.spaces[space]);
            }
        }
        changed
    }

    /// Returns the dependence of an element that is loaded.
    pub(super) fn load(&self, target: &AccessTarget, bits: u8, at: usize) -> Dependence {
        let dependence = Dependence::number(bits);
        let Some(word) = target.word(bits, at) else {
            let all = spaces(&target.among).map(|space| loaded(self.spaces[space], bits));
            return all.fold(dependence, Dependence::join);
        };
        let bytes = u64::from(bits / 8).max(1);
        let around = self.words.range(word.saturating_sub(7)..word.saturating_add(bytes));
        let stored_dependence = dependence.join(loaded(self.spaces[0], bits));
        around.fold(stored_dependence, |joined, (first, stored)| {
            let whole = loaded(*stored, bits);
            joined.join(if *first == word { whole } else { whole.mixed(bits) })
        })
    }
}

/// Returns the dependence of an element of `bits` bits that was stored whole, in parts, or as part of a larger one.
fn loaded([narrow, wide]: StoredDependence, bits: u8) -> Dependence {
    match bits {
        ALL => wide.join(narrow.mixed(bits)),
        32 => narrow.join(wide.mixed(bits)),
        _ => narrow.join(wide).mixed(bits),
    }
}

/// Returns the indices in `Stores::spaces` for an access that can be in any of these state spaces.
fn spaces(among: &[Space]) -> impl Iterator<Item = usize> {
    let of = |space: &Space| -> &[usize] {
        match space {
            Space::Local => &[0, NAMED],
            Space::Shared => &[1],
            Space::Global => &[GLOBAL],
            Space::Generic => &[0, 1, GLOBAL, NAMED],
            _ => &[],
        }
    };
    among.iter().flat_map(of).copied()
}
