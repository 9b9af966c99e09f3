//! Sums of terms, extensions, and what may be one of two values.

use super::super::ops::space_of;
use super::super::origin::{Origin, Region};
use super::super::value::truncate;
use super::{Atoms, Key, Lane, Term, TermId, Terms, gcd};

/// Unknowns in one sum; of more nothing is known.
const MAX_ATOMS: usize = 32;

/// The size of a coefficient or difference.
const fn size(factor: u64) -> u64 {
    factor.cast_signed().unsigned_abs()
}

/// Drift within a width: where sums wrap at 2^bits, that of a power of two. Pointers do not wrap, so that small drift
/// stays as it is.
const fn drift_in(bits: u32, drift: u64) -> u64 {
    const LARGEST: u64 = 1 << 31;
    match bits {
        _ if drift == 0 => 0,
        64.. if drift < LARGEST => drift,
        64.. => 1 << drift.trailing_zeros(),
        _ => gcd(drift, 1 << bits) % (1 << bits),
    }
}

impl Terms {
    /// The lower `from` bits of a term, extended to 64. `is_alone`: no number is added to it.
    pub(in crate::emulate) fn extension(
        &mut self,
        id: TermId,
        from: u32,
        is_signed: bool,
        is_alone: bool,
    ) -> Option<TermId> {
        let id = self.plain(id);
        let id = self.widened(id, from, is_alone)?;
        let narrow = self.sum(from, &[(id, 1)], 0)?;
        let Term { origin, atoms, drift, .. } = self.get(narrow)?.clone();
        // The numbers that are added wrap at the narrow width: at less than 32 bits easily, so that the sum of the
        // extension and the number is then off by a multiple of it.
        let wrap = if (32..64).contains(&from) { 1 << from } else { 0 };
        let drift = if from < 32 && !is_alone { gcd(drift, 1 << from) } else { drift };
        let mut parts = Vec::new();
        if !atoms.all().is_empty() {
            let whole = self.sum_of(from, atoms.all().to_vec(), 0, origin, Region::Number)?;
            let key = Key::Extension(whole, from, is_signed);
            let atom = self.atom(key, origin, Region::Number, 64, wrap);
            if wrap != 0 && !is_alone {
                self.wrapping.insert(atom);
            }
            parts.push((atom, 1));
        }
        self.sum_of(64, parts, drift, origin, Region::Number)
    }

    /// The lower `bits` bits of a term. `None`: they are known.
    pub(in crate::emulate) fn low(&mut self, id: TermId, bits: u32) -> Option<TermId> {
        if self.bits(id) > bits { self.sum(bits, &[(id, 1)], 0) } else { Some(id) }
    }

    /// A term of at least `bits` bits. A narrow value in a wide register has zeros above it.
    pub(in crate::emulate) fn widened(
        &mut self,
        id: TermId,
        bits: u32,
        is_alone: bool,
    ) -> Option<TermId> {
        let own = self.bits(id);
        if own < bits { self.extension(id, own, false, is_alone) } else { Some(id) }
    }

    /// The sum of terms times coefficients, in `bits` bits, plus any multiple of `drift`. `None`: nothing open is left.
    pub(in crate::emulate) fn sum(
        &mut self,
        bits: u32,
        addends: &[(TermId, u64)],
        drift: u64,
    ) -> Option<TermId> {
        let origin = self.origin_among(addends.iter().map(|(id, _)| *id))?;
        let (mut atoms, mut drift, mut region) = (Vec::new(), drift, Region::Number);
        for &(id, factor) in addends {
            let id = self.plain(id);
            let own = self.bits(id);
            let id = if own < bits { self.widened(id, bits, false)? } else { id };
            let term = self.get(id)?;
            drift = gcd(drift, term.drift.wrapping_mul(size(factor)));
            atoms.extend(
                term.atoms.all().iter().map(|&(atom, own)| (atom, own.wrapping_mul(factor))),
            );
            region = region.plus(match term.region {
                _ if bits <= 32 => Region::Number,
                Region::Number => Region::Number,
                own if factor == 1 => own,
                _ => Region::Unclear,
            });
        }
        self.sum_of(bits, atoms, drift, origin, region)
    }

    fn sum_of(
        &mut self,
        bits: u32,
        mut atoms: Vec<(TermId, u64)>,
        drift: u64,
        origin: Origin,
        region: Region,
    ) -> Option<TermId> {
        atoms.sort_unstable();
        atoms.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 = kept.1.wrapping_add(next.1);
            }
            is_same
        });
        for (_, factor) in &mut atoms {
            *factor = truncate(*factor, bits);
        }
        atoms.retain(|(_, factor)| *factor != 0);
        let drift = drift_in(bits, drift);
        match (atoms.as_slice(), drift) {
            ([], 0) => return None,
            (_, 1) => return Some(self.any(origin, region)),
            (many, _) if many.len() > MAX_ATOMS => return Some(self.any(origin, region)),
            (&[(atom, 1)], 0) if self.get(atom)?.bits == bits => return Some(atom),
            _ => {}
        }
        let wraps =
            atoms.iter().map(|&(atom, factor)| self.modulus(atom).wrapping_mul(size(factor)));
        let modulus = drift_in(bits, wraps.fold(drift, gcd));
        let reach = (drift != 0).then_some((origin, region));
        let key = Key::Sum(Box::new((bits, atoms.clone(), drift, reach)));
        let atoms = Atoms::Sum(atoms.into());
        let (inner, is_exchanged) = (None, false);
        let term = Term { origin, region, bits, atoms, drift, modulus, inner, is_exchanged };
        Some(self.intern(key, term))
    }

    /// One of two lanes, nobody knows which.
    pub(in crate::emulate) fn either(&mut self, a: Lane, b: Lane, origin: Origin) -> Lane {
        if a == b {
            return a;
        }
        let [a, b] = [a, b].map(|lane| Lane { term: lane.term.map(|id| self.plain(id)), ..lane });
        let (left, right) = (self.region(a), self.region(b));
        // Addresses in two buffers, or in two spaces, are not one address plus a number.
        let is_one_place = left == right && space_of(a.bits).0 == space_of(b.bits).0;
        let (first, second) = (self.parts(a, b), self.parts(b, a));
        let is_one_sum = (first.0, first.1) == (second.0, second.1);
        if is_one_place && is_one_sum && gcd(first.2, second.2) != 1 {
            let apart = size(a.bits.wrapping_sub(b.bits));
            return self.drifting(a, gcd(first.2, gcd(second.2, apart)), origin);
        }
        let region = if left == right { left } else { Region::Unclear };
        Lane::open(self.any(origin, region))
    }

    /// A lane plus any multiple of a drift.
    pub(in crate::emulate) fn drifting(&mut self, lane: Lane, drift: u64, origin: Origin) -> Lane {
        if drift == 0 {
            return lane;
        }
        let lane = Lane { term: lane.term.map(|id| self.plain(id)), ..lane };
        let (bits, atoms, own) = self.parts(lane, lane);
        let (atoms, region) = (atoms.to_vec(), self.region(lane));
        let own_region =
            lane.term.and_then(|id| self.get(id)).map_or(Region::Number, |term| term.region);
        match self.sum_of(bits, atoms, gcd(own, drift), origin, own_region) {
            Some(id) if self.modulus(id) != 1 => Lane { bits: lane.bits, term: Some(id) },
            _ => Lane::open(self.any(origin, region)),
        }
    }

    /// Width, atoms and drift of a lane; known bits have the width of the other lane if they fit.
    fn parts(&self, lane: Lane, other: Lane) -> (u32, &[(TermId, u64)], u64) {
        let term = |lane: Lane| lane.term.and_then(|id| self.get(id));
        match (term(lane), term(other)) {
            (Some(term), _) => (term.bits, term.atoms.all(), term.drift),
            (None, Some(other)) if truncate(lane.bits, other.bits) == lane.bits => {
                (other.bits, &[], 0)
            }
            _ => (64, &[], 0),
        }
    }
}
