//! Sums of symbolic values, changes of width, and values that are one of two.
//!
//! An extension is exact: `ext(n + 1)` is an atom of its own, because it is not `ext(n) + 1` where the sum wraps
//! around. Lanes that add different numbers to one symbolic value share an atom instead: `ext(n)` plus the number of
//! each lane, plus an unknown multiple of 2^bits (the *wrap*), where the sum has so many bits, at least 32. The multiple
//! is zero unless the sum wraps around.

use super::operator::Operator;
use super::{Atoms, Extension, Identity, Lane, Sum, SymbolId, SymbolicValue, Symbolics, gcd};
use crate::emulate::value::lane::{signed, truncate};
use crate::emulate::value::origin::{Origin, Region, perhaps_unwritten};
use crate::flow::{Params, space_of};

/// Most atoms of one sum; of a larger sum only origin and region are kept.
const MAX_ATOMS: usize = 32;

/// Magnitude of a coefficient or difference, read as a signed number.
const fn size(factor: u64) -> u64 {
    factor.cast_signed().unsigned_abs()
}

/// The congruence that is left in a sum of `bits` bits. Such a sum wraps around at 2^bits, so only the power of two in
/// the congruence is left. Pointers and indices are assumed not to wrap around, so sums of at least `WIDE` bits keep a
/// small congruence as it is.
const fn congruence_in(bits: u32, congruence: u64) -> u64 {
    const LARGEST: u64 = 1 << 31;
    match bits {
        _ if congruence == 0 => 0,
        WIDE.. if congruence < LARGEST => congruence,
        64.. => 1 << congruence.trailing_zeros(),
        _ => gcd(congruence, 1 << bits) % (1 << bits),
    }
}

/// The congruence of the low `bits` bits of a symbolic value: if the value has more bits, it wraps around at 2^bits
/// first.
const fn congruence_of(value: &SymbolicValue, bits: u32) -> u64 {
    match value.congruence {
        congruence if congruence != 0 && bits < value.bits => gcd(congruence, wrap_of(bits)),
        modulus => modulus,
    }
}

/// The extension of a sum of `from` bits is off by a multiple of this if the sum wraps around; 0 for 64 bits.
const fn wrap_of(from: u32) -> u64 {
    if from < 64 { 1 << from } else { 0 }
}

/// The wrap of a sum that is multiplied by `factor`: only powers of two, because these divide 2^64 and so hold however
/// often the product wraps around; 0 if no bit is left.
const fn scaled(wrap: u64, factor: u64) -> u64 {
    let zeros = wrap.trailing_zeros() + factor.trailing_zeros();
    if zeros < 64 { 1 << zeros } else { 0 }
}

/// Sums of at least this many bits seldom wrap around, so their wrap is kept apart from their congruence; narrower sums
/// wrap around easily.
const WIDE: u32 = 32;

impl Symbolics {
    /// Extends the low `from` bits of a lane to 64, by their sign or by zeros.
    pub(crate) fn extended(&mut self, lane: Lane, from: u32, is_signed: bool) -> Lane {
        let known = truncate(lane.bits, from);
        let Some(id) = lane.symbol else {
            let bits = if is_signed { signed(known, from).cast_unsigned() } else { known };
            return Lane::known(bits);
        };
        let known_bits = self.bits(id);
        if known_bits < from {
            // Zeros lie above the value, so both extensions are the same.
            return self.extended(lane, known_bits, false);
        }
        let Lane { bits: known, symbol: atom } = self.low(lane, from);
        let Some(narrow) = atom else { return self.extended(Lane::known(known), from, is_signed) };
        if from >= 64 {
            return Lane { bits: known, symbol: atom };
        }
        let narrow = self.plain(narrow);
        if let Some(symbol) = self.as_it_is(narrow, known, from, is_signed) {
            return Lane { bits: known, symbol };
        }
        if self.is_stable(narrow) {
            let key = Extension { of: narrow, added: known, from, is_signed };
            let (origin, region) = (self.origin(narrow), Region::Number);
            let origin = origin.unwrap_or(Origin::Register);
            return Lane::open(self.atom(Identity::Extension(key), origin, region, 64));
        }
        Lane {
            bits: signed(known, from).cast_unsigned(),
            symbol: self.shared(narrow, from, is_signed),
        }
    }

    /// Returns the extension of `narrow + added` to 64 bits as a plain sum, if that is exact: all atoms of `narrow` are
    /// extensions, and so narrow that the sum cannot wrap around. `Some(None)`: nothing open is left.
    #[allow(clippy::option_option, reason = "nothing open might be left")]
    fn as_it_is(
        &mut self,
        narrow: SymbolId,
        added: u64,
        from: u32,
        is_signed: bool,
    ) -> Option<Option<SymbolId>> {
        let SymbolicValue { origin, atoms, congruence: modulus, .. } = self.get(narrow)?;
        if *modulus != 0 {
            return None;
        }
        let (origin, atoms) = (*origin, atoms.all().to_vec());
        let mut most = u128::from(added);
        for (atom, factor) in &atoms {
            let extension = self.extension(*atom)?;
            // A single signed extension can be negative if the result is extended by its sign again.
            let is_one = atoms.len() == 1 && *factor == 1 && added == 0 && extension.from <= from;
            if extension.is_signed && !(is_one && is_signed) {
                return None;
            }
            let bits = if extension.is_signed { extension.from - 1 } else { extension.from };
            most += u128::from(*factor) * ((1 << bits) - 1);
        }
        let bits = if is_signed { from - 1 } else { from };
        (most < 1 << bits).then(|| self.sum_of(64, atoms, (0, 0), origin, Region::Number))
    }

    /// Extends the low `from` bits of a symbolic value to which lanes add different numbers. Returns what all lanes
    /// share after that, and a width: the number of each lane is then to be extended by its sign from that width.
    pub(crate) fn shared_extension(
        &mut self,
        id: SymbolId,
        from: u32,
        is_signed: bool,
    ) -> (Lane, u32) {
        let known_bits = self.bits(id);
        let (from, is_signed) =
            if known_bits < from { (known_bits, false) } else { (from, is_signed) };
        let Lane { bits, symbol } = self.low(Lane::open(id), from);
        let shared = symbol.and_then(|atom| self.shared(atom, from, is_signed));
        (Lane { bits, symbol: if from < 64 { shared } else { symbol } }, from)
    }

    /// The extension of a symbolic value of `from` bits to which an unspecified number was added.
    fn shared(&mut self, narrow: SymbolId, from: u32, is_signed: bool) -> Option<SymbolId> {
        let narrow = self.plain(narrow);
        let SymbolicValue { origin, atoms, congruence: modulus, .. } = self.get(narrow)?.clone();
        let origin = if from < 64 { origin.extended() } else { origin };
        let mut parts = Vec::new();
        if !atoms.all().is_empty() {
            let of = self.sum_of(from, atoms.all().to_vec(), (0, 0), origin, Region::Number)?;
            let key = Extension { of, added: 0, from, is_signed };
            parts.push((self.atom(Identity::Extension(key), origin, Region::Number, 64), 1));
        }
        let wrap = wrap_of(from);
        self.assumes_unwrapped |= from >= WIDE && !modulus.is_power_of_two() && modulus != 0;
        let off = match modulus {
            _ if from >= WIDE && modulus != 0 => (modulus, 0),
            0 if from >= WIDE => (0, wrap),
            _ => (gcd(modulus, wrap), 0),
        };
        self.sum_of(64, parts, off, origin, Region::Number)
    }

    /// Reduces a lane to its low `bits` bits, if its symbolic value has more.
    pub(crate) fn low(&mut self, lane: Lane, bits: u32) -> Lane {
        let known = truncate(lane.bits, bits);
        let Some(id) = lane.symbol.filter(|id| self.bits(*id) > bits) else {
            return Lane { bits: known, ..lane };
        };
        let (mut added, mut addends) = (known, Vec::new());
        for &(atom, factor) in self.atoms(id) {
            match self.extension(atom) {
                // The low bits of an extension are those of what it extends.
                Some(extension) if extension.from >= bits => {
                    added = added.wrapping_add(extension.added.wrapping_mul(factor));
                    addends.push((extension.of, factor));
                }
                _ => addends.push((atom, factor)),
            }
        }
        let congruence = self.get(id).map_or(1, |value| congruence_of(value, bits));
        if addends.is_empty() || id.as_number().is_some() {
            return Lane { bits: known, symbol: self.sum(bits, &[(id, 1)], 0) };
        }
        Lane { bits: truncate(added, bits), symbol: self.sum(bits, &addends, congruence) }
    }

    /// The one atom of a sum that is known exactly and has it once, and the number that is added to it; an extension of such a
    /// sum, to which nothing is added, counts as the sum.
    pub(crate) fn one_atom(&self, (sum, added): (SymbolId, u64)) -> Option<(SymbolId, u64)> {
        let [(atom, 1)] = *self.atoms(sum) else { return None };
        if !self.is_stable(sum) {
            return None;
        }
        match self.extension(atom) {
            Some(inner) if added == 0 && inner.from >= self.bits(inner.of) => {
                let [(atom, 1)] = *self.atoms(inner.of) else { return None };
                Some((atom, inner.added))
            }
            Some(_) => None,
            None => Some((atom, added)),
        }
    }

    /// Brings a lane to `bits` bits. A narrow value in a wide register has zeros above it.
    pub(crate) fn at_width(&mut self, lane: Lane, bits: u32) -> Lane {
        match lane.symbol.map(|id| self.bits(id)) {
            Some(narrow) if narrow < bits => {
                let whole = self.extended(lane, narrow, false);
                self.low(whole, bits)
            }
            _ => self.low(lane, bits),
        }
    }

    /// The sum of symbolic values times coefficients in `bits` bits, plus an unknown multiple of `congruence`. No
    /// addend has fewer bits. `None`: nothing open is left.
    pub(crate) fn sum(
        &mut self,
        bits: u32,
        addends: &[(SymbolId, u64)],
        congruence: u64,
    ) -> Option<SymbolId> {
        let origin = self.origin_among(addends.iter().map(|(id, _)| *id))?;
        let is_itself = matches!(addends, [(_, 1)]) && congruence == 0;
        let origin = if is_itself { origin } else { origin.scaled() };
        let (mut atoms, mut modulus, mut wrap) = (Vec::new(), congruence, 0);
        let mut region = Region::Number;
        for &(id, factor) in addends {
            let id = self.plain(id);
            let value = self.get(id)?;
            modulus = gcd(modulus, congruence_of(value, bits).wrapping_mul(size(factor)));
            wrap = gcd(wrap, scaled(value.wrap, factor));
            atoms.extend(
                value
                    .atoms
                    .all()
                    .iter()
                    .map(|&(atom, coefficient)| (atom, coefficient.wrapping_mul(factor))),
            );
            region = region.plus(match value.region {
                _ if bits <= 32 => Region::Number,
                Region::Number => Region::Number,
                own_region if factor == 1 => own_region,
                _ => Region::Unclear,
            });
        }
        self.sum_of(bits, atoms, (modulus, wrap), origin, region)
    }

    fn sum_of(
        &mut self,
        bits: u32,
        mut atoms: Vec<(SymbolId, u64)>,
        (modulus, wrap): (u64, u64),
        origin: Origin,
        region: Region,
    ) -> Option<SymbolId> {
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
        let wrap = if bits > WIDE { wrap } else { 0 };
        // A wrap is kept apart only beside the extensions that cause it. Once these cancel out, it joins the
        // congruence.
        let frame = self.frame(&atoms);
        let is_natural = wrap != 0 && frame != 0 && wrap.is_multiple_of(frame);
        let (residue, wrap) = match congruence_in(bits, modulus) {
            0 if is_natural => (0, wrap),
            own if own != 0 && wrap.is_multiple_of(own) => (own, 0),
            own => (congruence_in(bits, gcd(own, wrap)), 0),
        };
        match (atoms.as_slice(), residue) {
            ([], 0) => return None,
            (_, 1) => return Some(self.anything(origin, region)),
            (many, _) if many.len() > MAX_ATOMS => return Some(self.any(origin, region)),
            (&[(atom, 1)], 0) if wrap == 0 && self.get(atom)?.bits == bits => return Some(atom),
            _ => {}
        }
        let reach = (residue != 0).then_some((origin, region));
        let key = Identity::Sum(Box::new(Sum {
            bits,
            atoms: atoms.clone(),
            congruence: residue,
            wrap,
            reach,
        }));
        let atoms = Atoms::Sum(atoms.into());
        let value = SymbolicValue {
            origin,
            region,
            bits,
            atoms,
            congruence: residue,
            wrap,
            is_exchanged: false,
        };
        Some(self.intern(key, value))
    }

    /// Modulus of the error that the atoms of a sum have if sums inside their extensions wrap around: the error is a
    /// multiple of it. 0: there is no error.
    pub(crate) fn frame(&self, atoms: &[(SymbolId, u64)]) -> u64 {
        let wrap = |&(atom, factor): &(SymbolId, u64)| {
            let extension = self.extension(atom).filter(|extended| extended.from >= WIDE);
            extension.map_or(0, |wide| scaled(wrap_of(wide.from), factor))
        };
        atoms.iter().map(wrap).fold(0, gcd)
    }

    /// Moves the numbers that are added inside extensions out of a symbolic value of 64 bits. Returns what is left,
    /// with the wrap that this causes, and the sum of the numbers; `None` if nothing open is left.
    pub(crate) fn natural(&mut self, id: SymbolId) -> Option<(SymbolId, u64)> {
        let is_added = |(atom, _): &(SymbolId, u64)| {
            self.extension(*atom).is_some_and(|extension| extension.added != 0)
        };
        if !self.atoms(id).iter().any(is_added) {
            return Some((id, 0));
        }
        let SymbolicValue {
            origin, region, bits, atoms, congruence: mut modulus, mut wrap, ..
        } = self.get(id)?.clone();
        let mut added = 0_u64;
        let mut parts = atoms.all().to_vec();
        for (atom, factor) in &mut parts {
            let Some(extended) = self.extension(*atom).filter(|wide| wide.added != 0) else {
                continue;
            };
            let off = scaled(wrap_of(extended.from), *factor);
            if extended.from >= WIDE {
                wrap = gcd(wrap, off);
            } else {
                modulus = gcd(modulus, off);
            }
            let number = signed(extended.added, extended.from).cast_unsigned();
            added = added.wrapping_add(number.wrapping_mul(*factor));
            let key = Identity::Extension(Extension { added: 0, ..extended });
            *atom = self.atom(key, origin, Region::Number, 64);
        }
        Some((self.sum_of(bits, parts, (modulus, wrap), origin, region)?, added))
    }

    /// A value that is one of two lanes, not known which. If the lanes differ only by numbers, it is their sum known
    /// modulo the difference.
    pub(crate) fn either(&mut self, a: Lane, b: Lane, origin: Origin) -> Lane {
        if a == b {
            return a;
        }
        let origins = [a, b].into_iter().filter_map(|lane| self.origin(lane.symbol?));
        let origin = perhaps_unwritten(origins).unwrap_or(origin);
        let width = |lane: Lane| lane.symbol.map(|id| self.bits(id));
        let is_one_width = width(a).zip(width(b)).is_none_or(|(a, b)| a == b);
        let [a, b] = [a, b].map(|lane| {
            let lane = if is_one_width { lane } else { self.at_width(lane, 64) };
            Lane { symbol: lane.symbol.map(|id| self.plain(id)), ..lane }
        });
        let (left, right) = (self.region(a), self.region(b));
        // Addresses in different buffers or state spaces are not one address plus a number.
        let is_one_place = left == right && space_of(a.bits).0 == space_of(b.bits).0;
        let (first, second) = (self.parts(a, b), self.parts(b, a));
        let is_one_sum = (first.0, first.1) == (second.0, second.1);
        if is_one_place && is_one_sum && gcd(first.2, second.2) != 1 {
            let distance = size(a.bits.wrapping_sub(b.bits));
            let congruence = gcd(gcd(first.2, second.2), distance);
            return self.congruent(a, (congruence_in(first.0, congruence), first.0), origin);
        }
        let region = self.region_of_either(a, b);
        Lane::open(self.any(origin, region))
    }

    /// A value that is one of two lanes, chosen by a condition; `holds_for_first`: the outcome that chooses the first.
    /// A choice between pointers to different buffers is then the same value wherever the condition is the same.
    pub(crate) fn either_by(
        &mut self,
        (a, b): (Lane, Lane),
        origin: Origin,
        (condition, holds_for_first): (Lane, bool),
    ) -> Lane {
        let value = self.either(a, b, origin);
        match self.region(value) {
            region @ Region::Among(_) => {
                let [then, otherwise] = if holds_for_first { [a, b] } else { [b, a] };
                let chosen = self.operator(Operator::Chosen);
                Lane::open(self.operation(chosen, &[then, otherwise, condition], region, 64))
            }
            _ => value,
        }
    }

    /// The region of a value that is one of two lanes. A known number leads to no buffer if it is used as an address.
    pub(crate) fn region_of_either(&self, a: Lane, b: Lane) -> Region {
        let [left, right] = [a, b].map(|lane| self.region(lane));
        let leads_nowhere =
            |lane: Lane, region: Region| lane.symbol.is_none() && region == Region::Number;
        let nothing = Region::Among(Params::NONE);
        match (left, right) {
            (Region::Number, Region::Number) => Region::Number,
            _ if leads_nowhere(a, left) => nothing.or(right),
            _ if leads_nowhere(b, right) => left.or(nothing),
            _ => left.or(right),
        }
    }

    /// Adds an unknown multiple of `congruence` to a lane, in `width` bits.
    pub(crate) fn congruent(
        &mut self,
        lane: Lane,
        (congruence, width): (u64, u32),
        origin: Origin,
    ) -> Lane {
        if congruence == 0 {
            return lane;
        }
        let region = self.region(lane);
        let Lane { bits, symbol: atom } = self.at_width(lane, width);
        let symbol = atom.map(|id| self.plain(id));
        let (atoms, modulus, own_region) = match symbol.and_then(|id| self.get(id)) {
            Some(value) => (value.atoms.all().to_vec(), value.modulus(), value.region),
            None => (Vec::new(), 0, Region::Number),
        };
        match self.sum_of(width, atoms, (gcd(modulus, congruence), 0), origin, own_region) {
            Some(id) if self.modulus(id) != 1 => Lane { bits, symbol: Some(id) },
            _ => Lane::open(self.any(origin, region)),
        }
    }

    /// Adds `factor` times a symbolic value to a lane.
    pub(crate) fn plus(&mut self, lane: Lane, other: SymbolId, factor: u64) -> Lane {
        let Lane { bits, symbol: atom } = self.at_width(lane, 64);
        let addends: Vec<_> =
            atom.map(|only| (only, 1)).into_iter().chain([(other, factor)]).collect();
        Lane { bits, symbol: self.sum(64, &addends, 0) }
    }

    /// Width, atoms and modulus of a lane; known bits have the width of the other lane if they fit.
    fn parts(&self, lane: Lane, other: Lane) -> (u32, &[(SymbolId, u64)], u64) {
        let value_of = |lane: Lane| lane.symbol.and_then(|id| self.get(id));
        match (value_of(lane), value_of(other)) {
            (Some(value), _) => (value.bits, value.atoms.all(), value.modulus()),
            (None, Some(other)) if truncate(lane.bits, other.bits) == lane.bits => {
                (other.bits, &[], 0)
            }
            _ => (64, &[], 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::addresses::buffer;

    #[test]
    fn a_choice_is_one_value_whichever_side_comes_first() {
        let mut symbolics = Symbolics::default();
        let (a, b) = (Lane::known(buffer(0)), Lane::known(buffer(1)));
        let origin = Origin::Argument(2);
        let [condition, other] = [0, 4].map(|at| Lane::open(symbolics.initial(origin, at, 4)));
        let one = symbolics.either_by((a, b), origin, (condition, true));
        assert!(symbolics.is_stable(one.symbol.unwrap()));
        assert_eq!(symbolics.either_by((b, a), origin, (condition, false)), one);
        assert_ne!(symbolics.either_by((b, a), origin, (condition, true)), one);
        assert_ne!(symbolics.either_by((a, b), origin, (other, true)), one);
        let drifting = Lane::open(symbolics.any_number(origin));
        let unknown = symbolics.either_by((a, b), origin, (drifting, true));
        assert!(!symbolics.is_stable(unknown.symbol.unwrap()));
        assert_eq!(symbolics.region(unknown), symbolics.region(one));
    }

    #[test]
    fn null_or_a_pointer_leads_to_its_buffer_and_is_no_offset() {
        let mut symbolics = Symbolics::default();
        let origin = Origin::Argument(2);
        let (null, a) = (Lane::known(0), Lane::known(buffer(0)));
        let one = symbolics.either(null, a, origin);
        let Region::Among(params) = symbolics.region(one) else { unreachable!("it may be null") };
        assert_eq!(params.all().collect::<Vec<_>>(), [0]);
        // An unknown number can be an address that memory held.
        let number = Lane::open(symbolics.initial(origin, 0, 8));
        let open = symbolics.either(number, a, origin);
        assert_eq!(symbolics.region(open), Region::Unclear);
        let shared = Lane::known(crate::flow::window(crate::ptx::Space::Shared));
        let generic = symbolics.either(shared, a, origin);
        assert_eq!(symbolics.region(generic), Region::Unclear);
    }
}
