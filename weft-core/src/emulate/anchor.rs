//! Where accesses at open addresses are compared. Addresses in one buffer whose facts have the same atoms differ by a
//! known number of bytes, or by one up to a multiple of a known modulus. They are laid out side by side at made-up
//! addresses, *anchored*, where shadows compare them as they compare known addresses.
//!
//! A term without drift has an anchor of its own: what meets there meets. Facts with drift share one, modulo the
//! greatest number that divides all their drifts: what meets there may meet. Accesses without drift, and at known
//! addresses of the buffer, are *mirrored* there. A pass that finds a new anchor with drift, or a smaller modulus, has to
//! be run again with it.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use super::facts::Facts;
use super::term::{Lane, TermId, gcd};
use super::ticket::Queue;
use super::value::signed;
use crate::flow::addresses::offset_in_buffer;

/// Anchored addresses: this bit, buffer (7 bits, 0 in shared memory), root (15 bits), drift (1 bit), cell (40 bits).
const ANCHORED: u64 = 1 << 63;
const CELL_BITS: u32 = 40;
const ROOT_BITS: u32 = 15;
const MAX_PLACE: usize = 126;
/// Roots of one place. Tickets are compared among themselves, so that there may be many; others are compared in pairs.
const MAX_ROOTS: usize = 128;
const MAX_TICKETS: usize = 1 << ROOT_BITS;
/// Cells of anchors without modulus are counted from here, up to `MAX_OFFSET` on both sides.
const MIDDLE: i64 = 1 << (CELL_BITS - 1);
const MAX_OFFSET: i64 = 1 << (CELL_BITS - 2);

/// The memory that an anchor is of: whether it is global; the argument in whose buffer it is, or the variable in shared
/// memory; `None`: anywhere, which is anchored in shared memory only.
pub(super) type Place = (bool, Option<usize>);

/// Atoms that addresses in one place share; its number there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Root(u16);

/// Where a lane is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Laid {
    pub(super) root: Root,
    pub(super) queue: Option<Queue>,
    pub(super) address: u64,
    /// The address holds up to a multiple of the modulus.
    pub(super) drifts: bool,
    /// Where it is mirrored.
    pub(super) mirror: Option<u64>,
}

/// Of one place: by atoms.
type Roots = HashMap<Vec<(TermId, u64)>, Root, RandomState>;

/// What lanes share whose addresses are one term plus numbers, in one place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    place: Place,
    root: Root,
    queue: Option<Queue>,
    drifts: bool,
    /// In which it is laid out if it drifts, and in which it is mirrored if it does not.
    modulus: u64,
    mirrored: Option<u64>,
    /// What was added to facts before they were extended.
    added: u64,
    /// Lanes that are no farther from the term than half of this are where they naturally are, whatever wraps around
    /// before it is extended; 0: all are.
    frame: u64,
}

impl Layout {
    /// Whether it is of accesses that are indexed with tickets.
    pub(super) const fn has_queue(&self) -> bool {
        self.queue.is_some()
    }
}

/// All anchors of a check.
#[derive(Debug, Default)]
pub(super) struct Anchors {
    roots: HashMap<Place, Roots, RandomState>,
    counts: BTreeMap<Place, usize>,
    /// Of facts with drift.
    moduli: BTreeMap<(Place, Root), u64>,
    changed: bool,
}

impl Anchors {
    /// Whether nothing was laid out.
    pub(super) fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// Whether the pass that has ended knew all from its start.
    pub(super) fn settle(&mut self) -> bool {
        !std::mem::take(&mut self.changed)
    }

    fn root(&mut self, place: Place, atoms: &[(TermId, u64)], most: usize) -> Option<Root> {
        let roots = self.roots.entry(place).or_default();
        if let Some(&root) = roots.get(atoms) {
            return Some(root);
        }
        let count = self.counts.entry(place).or_default();
        if *count >= most || place.1.is_some_and(|own| own > MAX_PLACE) {
            return None;
        }
        let root = Root(u16::try_from(*count).ok()?);
        *count += 1;
        roots.insert(atoms.to_vec(), root);
        Some(root)
    }

    /// Takes a modulus into account.
    fn modulus(&mut self, place: Place, root: Root, own: u64) -> u64 {
        let known = self.moduli.entry((place, root)).or_insert(0);
        let shared = gcd(*known, own);
        self.changed |= shared != *known;
        *known = shared;
        shared
    }
}

/// A made-up address; `None` if it is beyond what an anchor holds, or bytes would lie on both sides of the modulus.
fn address(
    place: Place,
    root: Root,
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
                .then(|| anchored(place, root, drifts, cell.cast_unsigned()));
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
    Some(anchored(place, root, drifts, (cell + MIDDLE).cast_unsigned()))
}

fn anchored(place: Place, root: Root, drifts: bool, cell: u64) -> u64 {
    let number = u64::from(root.0) << 1 | u64::from(drifts);
    let place = place.1.map_or(0, |own| own as u64 + 1);
    ANCHORED | place << (CELL_BITS + ROOT_BITS + 1) | number << CELL_BITS | cell
}

/// The place and the offset from an open value there, if an address is made up.
pub fn anchor_of(address: u64) -> Option<(Option<usize>, i64)> {
    if address & ANCHORED == 0 {
        return None;
    }
    let place = usize::try_from((address & !ANCHORED) >> (CELL_BITS + ROOT_BITS + 1)).ok()?;
    let cell = (address & ((1 << CELL_BITS) - 1)).cast_signed();
    Some((place.checked_sub(1), if cell < MAX_OFFSET { cell } else { cell - MIDDLE }))
}

impl Facts {
    /// How lanes on one term are laid out. Shared addresses have 32 bits.
    pub(super) fn layout(&mut self, place: Place, term: TermId) -> Option<Layout> {
        if place == (true, None) {
            return None;
        }
        let width = if place.0 { 64 } else { 32 };
        let own = if self.symbolics.bits(term) < width {
            self.symbolics.shared_extension(term, width, false).0
        } else {
            Lane::open(term)
        };
        let Lane { bits, term } = self.symbolics.low(own, width);
        let (term, added) = self.symbolics.natural(term?)?;
        let (own, drifts) = (self.symbolics.modulus(term), self.symbolics.drifts(term));
        if own == 1 {
            return None;
        }
        let queue = self.queue(place, term);
        let most = if queue.is_some() { MAX_TICKETS } else { MAX_ROOTS };
        let atoms = self.symbolics.atoms(term).to_vec();
        let root = self.anchors.root(place, &atoms, most)?;
        let frame = if width == 64 { self.symbolics.frame(&atoms) } else { 0 };
        // Whatever wraps around, a power of two is left that divides both; any other drift is one of sums that do not.
        let own = if own.is_power_of_two() { gcd(own, frame) } else { own };
        self.symbolics.assumes_unwrapped |= drifts && !own.is_power_of_two();
        let modulus = if drifts { self.anchors.modulus(place, root, own) } else { 0 };
        let mirrored = self.anchors.moduli.get(&(place, root)).filter(|_| !drifts).copied();
        let added = added.wrapping_add(bits);
        Some(Layout { place, root, queue, drifts, modulus, mirrored, added, frame })
    }

    /// Where a lane is laid out: these bits from the term on, of an access of so many bytes.
    pub(super) fn lay_out(&mut self, layout: &Layout, bits: u64, bytes: u32) -> Option<Laid> {
        let &Layout { place, root, queue, drifts, modulus, mirrored, added, frame } = layout;
        let offset = offset_at(place, bits.wrapping_add(added));
        if let Some(queue) = queue {
            self.tickets.reach(queue, offset, bytes);
        }
        let is_near = |end: i64| frame == 0 || end.unsigned_abs() < frame / 2;
        if !(drifts || is_near(offset) && is_near(offset.saturating_add(i64::from(bytes)))) {
            // It may be a multiple of the frame from where it naturally is.
            let modulus = self.anchors.modulus(place, root, frame);
            let address = address(place, root, true, offset, modulus, bytes)?;
            return Some(Laid { root, queue, address, drifts: true, mirror: None });
        }
        let mirror = match mirrored {
            Some(modulus) => Some(address(place, root, true, offset, modulus, bytes)?),
            None => None,
        };
        let address = address(place, root, drifts, offset, modulus, bytes)?;
        Some(Laid { root, queue, address, drifts, mirror })
    }

    /// The root in which accesses at known addresses of a place are mirrored.
    pub(super) fn mirror(&self, place: Place) -> Option<Root> {
        if self.anchors.moduli.is_empty() {
            return None;
        }
        let root = *self.anchors.roots.get(&place)?.get([].as_slice())?;
        self.anchors.moduli.contains_key(&(place, root)).then_some(root)
    }

    /// Where an access at a known address is mirrored in a root.
    pub(super) fn mirrored(&self, place: Place, root: Root, bits: u64, bytes: u32) -> Option<u64> {
        let modulus = *self.anchors.moduli.get(&(place, root))?;
        address(place, root, true, offset_at(place, bits), modulus, bytes)
    }
}

fn offset_at(place: Place, bits: u64) -> i64 {
    match place {
        (true, Some(argument)) => offset_in_buffer(argument, bits),
        // What is a little below the term's address stays below it.
        _ => signed(bits, 32),
    }
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
                address((true, Some(0)), Root(0), modulus != 0, offset, size, bytes)
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
        let mut anchors = Anchors::default();
        let mut has_root = |at| anchors.root((true, Some(at)), &[], MAX_ROOTS).is_some();
        assert!(has_root(MAX_PLACE) && !has_root(MAX_PLACE + 1));
        let last = anchored((true, Some(MAX_PLACE)), Root(0), false, 0);
        assert_eq!(anchor_of(last), Some((Some(MAX_PLACE), 0)));
    }

    #[test]
    fn what_a_pass_read_is_of_this_pass() {
        let mut facts = Facts::new();
        facts.begin();
        assert!(facts.contention.load(true, 8, 4));
        facts.begin();
        assert!(facts.contention.load(true, 16, 4));
        let loaded = facts.take_loaded();
        assert!(!loaded.reads(true, 8) && loaded.reads(true, 16));
    }
}
