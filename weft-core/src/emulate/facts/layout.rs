//! Where accesses at open addresses are laid out.

use super::Facts;
use super::alias::{Laid, MAX_ROOTS, MAX_TICKETS, Root, address};
use super::counters::Queue;
use super::place::Place;
use crate::emulate::value::lane::{Lane, TermId, signed};
use crate::emulate::value::symbolics::gcd;
use crate::flow::addresses::offset_in_buffer;

/// What lanes share whose addresses are one term plus numbers, in one place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    place: Place,
    root: Root,
    queue: Option<Queue>,
    drifts: bool,
    /// In which it is laid out if it drifts, and in which it is mirrored if it does not.
    modulus: u64,
    mirrored: Option<u64>,
    /// What was added to symbolic values before they were extended.
    added: u64,
    /// Lanes that are no farther from the term than half of this are where they naturally are, whatever wraps around
    /// before it is extended; 0: all are.
    frame: u64,
}

impl Layout {
    /// Whether it is of accesses that are indexed with tickets.
    pub(crate) const fn has_queue(&self) -> bool {
        self.queue.is_some()
    }
}

impl Facts {
    /// How lanes on one term are laid out. Shared addresses have 32 bits.
    pub(crate) fn layout(&mut self, place: Place, term: TermId) -> Option<Layout> {
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
    pub(crate) fn lay_out(&mut self, layout: &Layout, bits: u64, bytes: u32) -> Option<Laid> {
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
    pub(crate) fn mirror(&self, place: Place) -> Option<Root> {
        if self.anchors.moduli.is_empty() {
            return None;
        }
        let root = *self.anchors.roots.get(&place)?.get([].as_slice())?;
        self.anchors.moduli.contains_key(&(place, root)).then_some(root)
    }

    /// Where an access at a known address is mirrored in a root.
    pub(crate) fn mirrored(&self, place: Place, root: Root, bits: u64, bytes: u32) -> Option<u64> {
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
