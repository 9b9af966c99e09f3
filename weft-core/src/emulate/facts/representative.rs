//! Where accesses at open addresses are laid out.

use super::Facts;
use super::alias::{
    AliasClass, MAX_CLASSES, MAX_COUNTER_CLASSES, Representative, representative_address,
};
use super::counters::Queue;
use super::place::Place;
use crate::emulate::value::lane::{Lane, SymbolId, signed};
use crate::emulate::value::symbolics::gcd;
use crate::flow::addresses::offset_in_buffer;

/// What lanes share whose addresses are one term plus numbers, in one place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AliasFrame {
    place: Place,
    class: AliasClass,
    queue: Option<Queue>,
    is_congruent: bool,
    /// In which it is laid out if it drifts, and in which it is mirrored if it does not.
    modulus: u64,
    copy_modulus: Option<u64>,
    /// What was added to symbolic values before they were extended.
    added: u64,
    /// Lanes that are no farther from the term than half of this are where they naturally are, whatever wraps around
    /// before it is extended; 0: all are.
    frame: u64,
}

impl AliasFrame {
    /// Whether it is of accesses that are indexed with tickets.
    pub(crate) const fn has_queue(&self) -> bool {
        self.queue.is_some()
    }
}

impl Facts {
    /// How lanes on one term are laid out. Shared addresses have 32 bits.
    pub(crate) fn alias_frame(&mut self, place: Place, term: SymbolId) -> Option<AliasFrame> {
        if place == (true, None) {
            return None;
        }
        let width = if place.0 { 64 } else { 32 };
        let value = if self.symbolics.bits(term) < width {
            self.symbolics.shared_extension(term, width, false).0
        } else {
            Lane::open(term)
        };
        let Lane { bits, symbol: term } = self.symbolics.low(value, width);
        let (term, added) = self.symbolics.natural(term?)?;
        let (modulus_here, drifts) = (self.symbolics.modulus(term), self.symbolics.drifts(term));
        if modulus_here == 1 {
            return None;
        }
        let queue = self.queue(place, term);
        let most = if queue.is_some() { MAX_COUNTER_CLASSES } else { MAX_CLASSES };
        let atoms = self.symbolics.atoms(term).to_vec();
        let root = self.aliases.class(place, &atoms, most)?;
        let frame = if width == 64 { self.symbolics.frame(&atoms) } else { 0 };
        // Whatever wraps around, a power of two is left that divides both; any other drift is one of sums that do not.
        let modulus_here =
            if modulus_here.is_power_of_two() { gcd(modulus_here, frame) } else { modulus_here };
        self.symbolics.assumes_unwrapped |= drifts && !modulus_here.is_power_of_two();
        let modulus = if drifts { self.aliases.modulus(place, root, modulus_here) } else { 0 };
        let mirrored = self.aliases.moduli.get(&(place, root)).filter(|_| !drifts).copied();
        let added = added.wrapping_add(bits);
        Some(AliasFrame {
            place,
            class: root,
            queue,
            is_congruent: drifts,
            modulus,
            copy_modulus: mirrored,
            added,
            frame,
        })
    }

    /// Where a lane is laid out: these bits from the term on, of an access of so many bytes.
    pub(crate) fn representative(
        &mut self,
        layout: &AliasFrame,
        bits: u64,
        bytes: u32,
    ) -> Option<Representative> {
        let &AliasFrame {
            place,
            class: root,
            queue,
            is_congruent: drifts,
            modulus,
            copy_modulus: mirrored,
            added,
            frame,
        } = layout;
        let offset = offset_at(place, bits.wrapping_add(added));
        if let Some(queue) = queue {
            self.counters.reach(queue, offset, bytes);
        }
        let is_near = |end: i64| frame == 0 || end.unsigned_abs() < frame / 2;
        if !(drifts || is_near(offset) && is_near(offset.saturating_add(i64::from(bytes)))) {
            // It may be a multiple of the frame from where it naturally is.
            let modulus = self.aliases.modulus(place, root, frame);
            let address = representative_address(place, root, true, offset, modulus, bytes)?;
            return Some(Representative {
                class: root,
                queue,
                address,
                is_congruent: true,
                shadow_copy: None,
            });
        }
        let mirror = match mirrored {
            Some(modulus) => {
                Some(representative_address(place, root, true, offset, modulus, bytes)?)
            }
            None => None,
        };
        let address = representative_address(place, root, drifts, offset, modulus, bytes)?;
        Some(Representative {
            class: root,
            queue,
            address,
            is_congruent: drifts,
            shadow_copy: mirror,
        })
    }

    /// The root in which accesses at known addresses of a place are mirrored.
    pub(crate) fn copied_class(&self, place: Place) -> Option<AliasClass> {
        if self.aliases.moduli.is_empty() {
            return None;
        }
        let root = *self.aliases.classes.get(&place)?.get([].as_slice())?;
        self.aliases.moduli.contains_key(&(place, root)).then_some(root)
    }

    /// Where an access at a known address is mirrored in a root.
    pub(crate) fn shadow_copy(
        &self,
        place: Place,
        root: AliasClass,
        bits: u64,
        bytes: u32,
    ) -> Option<u64> {
        let modulus = *self.aliases.moduli.get(&(place, root))?;
        representative_address(place, root, true, offset_at(place, bits), modulus, bytes)
    }
}

fn offset_at(place: Place, bits: u64) -> i64 {
    match place {
        (true, Some(argument)) => offset_in_buffer(argument, bits),
        // What is a little below the term's address stays below it.
        _ => signed(bits, 32),
    }
}
