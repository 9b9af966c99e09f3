//! Where accesses at open addresses are compared. Addresses in one buffer whose symbolic values have the same atoms differ
//! by a known number of bytes, or by one up to a multiple of a known modulus. They are laid out side by side at made-up
//! addresses, *anchored*, where shadows compare them as they compare known addresses.
//!
//! A term without drift has an anchor of its own: what meets there meets. Terms with drift share one, modulo the
//! greatest number that divides all their drifts: what meets there may meet. Accesses without drift, and at known
//! addresses of the buffer, are *mirrored* there. A pass that finds a new anchor with drift, or a smaller modulus, has to
//! be run again with it.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use super::counters::Queue;
use super::place::Place;
use crate::emulate::value::lane::SymbolId;
use crate::emulate::value::symbolics::gcd;

/// Anchored addresses: this bit, buffer (7 bits, 0 in shared memory), root (15 bits), drift (1 bit), cell (40 bits).
const REPRESENTATIVE: u64 = 1 << 63;
const CELL_BITS: u32 = 40;
const CLASS_BITS: u32 = 15;
const MAX_PLACE: usize = 126;
/// Roots of one place. Tickets are compared among themselves, so that there may be many; others are compared in pairs.
pub(crate) const MAX_CLASSES: usize = 128;
pub(crate) const MAX_COUNTER_CLASSES: usize = 1 << CLASS_BITS;
/// Cells of anchors without modulus are counted from here, up to `MAX_OFFSET` on both sides.
const MIDDLE: i64 = 1 << (CELL_BITS - 1);
const MAX_OFFSET: i64 = 1 << (CELL_BITS - 2);

/// Atoms that addresses in one place share; its number there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AliasClass(u16);

/// Where a lane is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Representative {
    pub(crate) class: AliasClass,
    pub(crate) queue: Option<Queue>,
    pub(crate) address: u64,
    /// The address holds up to a multiple of the modulus.
    pub(crate) is_congruent: bool,
    /// Where it is mirrored.
    pub(crate) shadow_copy: Option<u64>,
}

/// Of one place: by atoms.
type ClassesByAtoms = HashMap<Vec<(SymbolId, u64)>, AliasClass, RandomState>;

/// All anchors of a check.
#[derive(Debug, Default)]
pub(crate) struct AliasClasses {
    pub(crate) classes: HashMap<Place, ClassesByAtoms, RandomState>,
    pub(crate) counts: BTreeMap<Place, usize>,
    /// Of symbolic values with drift.
    pub(crate) moduli: BTreeMap<(Place, AliasClass), u64>,
    pub(crate) changed: bool,
}

impl AliasClasses {
    /// Whether nothing was laid out.
    pub(crate) fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// Whether the pass that has ended knew all from its start.
    pub(crate) fn settle(&mut self) -> bool {
        !std::mem::take(&mut self.changed)
    }

    pub(crate) fn class(
        &mut self,
        place: Place,
        atoms: &[(SymbolId, u64)],
        most: usize,
    ) -> Option<AliasClass> {
        let roots = self.classes.entry(place).or_default();
        if let Some(&root) = roots.get(atoms) {
            return Some(root);
        }
        let count = self.counts.entry(place).or_default();
        if *count >= most || place.1.is_some_and(|index| index > MAX_PLACE) {
            return None;
        }
        let root = AliasClass(u16::try_from(*count).ok()?);
        *count += 1;
        roots.insert(atoms.to_vec(), root);
        Some(root)
    }

    /// Takes a modulus into account.
    pub(crate) fn modulus(&mut self, place: Place, root: AliasClass, own: u64) -> u64 {
        let known = self.moduli.entry((place, root)).or_insert(0);
        let shared = gcd(*known, own);
        self.changed |= shared != *known;
        *known = shared;
        shared
    }
}

/// A made-up address; `None` if it is beyond what an anchor holds, or bytes would lie on both sides of the modulus.
pub(crate) fn representative_address(
    place: Place,
    root: AliasClass,
    drifts: bool,
    offset: i64,
    modulus: u64,
    bytes: u32,
) -> Option<u64> {
    let modulus = i64::try_from(modulus).ok()?;
    let cell = match modulus {
        0 => Some(offset),
        1..MAX_OFFSET => {
            let cell = offset.rem_euclid(modulus);
            return (cell + i64::from(bytes) <= modulus)
                .then(|| packed(place, root, drifts, cell.cast_unsigned()));
        }
        // So wide that only one side counts. The sides part where nothing may lie across.
        _ => {
            let (low, last) = (offset.rem_euclid(modulus), i64::from(bytes.max(1)) - 1);
            let is_upper = |at: i64| at > modulus / 2;
            (is_upper(low) == is_upper(low.saturating_add(last)))
                .then(|| if is_upper(low) { low - modulus } else { low })
        }
    };
    let is_inside = |at: i64| (-MAX_OFFSET..MAX_OFFSET).contains(&at);
    let cell = cell.filter(|cell| is_inside(*cell) && is_inside(cell + i64::from(bytes)))?;
    Some(packed(place, root, drifts, (cell + MIDDLE).cast_unsigned()))
}

fn packed(place: Place, root: AliasClass, drifts: bool, cell: u64) -> u64 {
    let number = u64::from(root.0) << 1 | u64::from(drifts);
    let place = place.1.map_or(0, |index| index as u64 + 1);
    REPRESENTATIVE | place << (CELL_BITS + CLASS_BITS + 1) | number << CELL_BITS | cell
}

/// The place and the offset from an open value there, if an address is made up.
pub fn represented(address: u64) -> Option<(Option<usize>, i64)> {
    if address & REPRESENTATIVE == 0 {
        return None;
    }
    let place =
        usize::try_from((address & !REPRESENTATIVE) >> (CELL_BITS + CLASS_BITS + 1)).ok()?;
    let cell = (address & ((1 << CELL_BITS) - 1)).cast_signed();
    Some((place.checked_sub(1), if cell < MAX_OFFSET { cell } else { cell - MIDDLE }))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// What overlaps modulo the modulus overlaps where it is laid out, if it is: at the modulus, at its half, and at the
    /// ends of what a root holds.
    #[test]
    fn accesses_that_overlap_are_laid_out_so() {
        let moduli = [0, 4, 12, 64, 1 << 20, MAX_OFFSET - 4, MAX_OFFSET, MAX_OFFSET + 64, 1 << 42];
        let mut laid = 0;
        for modulus in moduli {
            let edges = [0, modulus / 2, modulus, -modulus / 2, MAX_OFFSET, -MAX_OFFSET];
            let near = |edge: &i64| (-9..=9).map(move |by| edge + by).collect::<Vec<_>>();
            let offsets: BTreeSet<i64> = edges.iter().flat_map(near).collect();
            let accesses: Vec<_> =
                offsets.iter().flat_map(|at| [1, 4, 8, 16].map(|bytes| (*at, bytes))).collect();
            let lay = |(offset, bytes): (i64, u32)| {
                let size = modulus.cast_unsigned();
                representative_address(
                    (true, Some(0)),
                    AliasClass(0),
                    modulus != 0,
                    offset,
                    size,
                    bytes,
                )
            };
            // Most are near what the addresses share.
            if !(1..MAX_OFFSET).contains(&modulus) {
                assert!((-9..=9).all(|at| lay((at, 16)).is_some()), "modulo {modulus}");
            }
            for &a in &accesses {
                let Some(first) = lay(a) else { continue };
                for &b in &accesses {
                    let Some(second) = lay(b) else { continue };
                    // How far the second begins behind the first.
                    let apart = b.0 - a.0;
                    let behind = if modulus == 0 { apart } else { apart.rem_euclid(modulus) };
                    let overlap = if modulus == 0 {
                        apart < i64::from(a.1) && -apart < i64::from(b.1)
                    } else {
                        behind < i64::from(a.1) || modulus - behind < i64::from(b.1)
                    };
                    let meet = first < second + u64::from(b.1) && second < first + u64::from(a.1);
                    assert_eq!(overlap, meet, "{a:?} {b:?} modulo {modulus}");
                    laid += 1;
                }
            }
        }
        assert!(laid > 100_000, "{laid}");
    }

    #[test]
    fn a_place_beyond_the_last_has_no_anchors() {
        let mut anchors = AliasClasses::default();
        let mut has_root = |at| anchors.class((true, Some(at)), &[], MAX_CLASSES).is_some();
        assert!(has_root(MAX_PLACE) && !has_root(MAX_PLACE + 1));
        let last = packed((true, Some(MAX_PLACE)), AliasClass(0), false, 0);
        assert_eq!(represented(last), Some((Some(MAX_PLACE), 0)));
    }
}
