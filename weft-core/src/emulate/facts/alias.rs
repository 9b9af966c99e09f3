//! Alias classes, and the representative addresses at which accesses at open addresses are compared. Addresses in one
//! region whose symbolic values have the same atoms are an *alias class*: they differ by a known number of bytes, or by
//! such a number modulo a known modulus. Each class has a range of *representative addresses*, where shadows compare
//! its accesses as they compare accesses at known addresses.
//!
//! Exact symbolic values have one part of the range: accesses that overlap there do overlap. Symbolic values that are
//! known modulo something (*congruent* ones) share another part, modulo the greatest number that divides all their
//! moduli: accesses that overlap there might overlap. Exact accesses of the class, and accesses at known addresses of
//! the region, have *shadow copies* in that part. A pass that finds a new class with congruent values, or a smaller
//! modulus, is run again.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use super::counters::CounterIndex;
use crate::emulate::memory::region::MemoryRegion;
use crate::emulate::value::lane::SymbolId;
use crate::emulate::value::symbolics::gcd;

/// Most classes of one region: all pairs of them are compared.
pub(crate) const MAX_CLASSES: usize = 128;
/// Most classes of one region if its accesses are indexed with unique counter values: each is compared only with
/// itself.
pub(crate) const MAX_COUNTER_CLASSES: usize = 1 << Packed::CLASS_BITS;
/// The cell of offset 0 in the part for exact addresses, which have offsets of up to `MAX_OFFSET` on both sides.
const MIDDLE: i64 = 1 << (Packed::CELL_BITS - 1);
const MAX_OFFSET: i64 = 1 << (Packed::CELL_BITS - 2);

/// The number of an alias class among those of its region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AliasClass(u16);

/// The address, and what belongs to it, at which a lane is compared with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Representative {
    pub(crate) class: AliasClass,
    pub(crate) index: Option<CounterIndex>,
    pub(crate) address: u64,
    /// Whether the address is known only modulo the modulus of the class.
    pub(crate) is_congruent: bool,
    /// For an exact address: the address of its shadow copy among the congruent ones, if it has one.
    pub(crate) shadow_copy: Option<u64>,
}

/// The classes of one region, by their atoms.
type ClassesByAtoms = HashMap<Vec<(SymbolId, u64)>, AliasClass, RandomState>;

/// All alias classes of a check.
#[derive(Debug, Default)]
pub(crate) struct AliasClasses {
    pub(crate) classes: HashMap<MemoryRegion, ClassesByAtoms, RandomState>,
    pub(crate) counts: BTreeMap<MemoryRegion, usize>,
    /// For each class with congruent values: the modulus that they share.
    pub(crate) moduli: BTreeMap<(MemoryRegion, AliasClass), u64>,
    pub(crate) changed: bool,
}

impl AliasClasses {
    /// Whether there are no classes.
    pub(crate) fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// Whether the pass that has ended knew all classes with congruent values and their moduli from its start.
    pub(crate) fn settle(&mut self) -> bool {
        !std::mem::take(&mut self.changed)
    }

    /// The class of these atoms in a region; `None` if there are `most` classes already, or if the region has no
    /// number.
    pub(crate) fn class(
        &mut self,
        region: MemoryRegion,
        atoms: &[(SymbolId, u64)],
        most: usize,
    ) -> Option<AliasClass> {
        let classes = self.classes.entry(region).or_default();
        if let Some(&class) = classes.get(atoms) {
            return Some(class);
        }
        let count = self.counts.entry(region).or_default();
        if *count >= most || region.base.is_some_and(|base| base > Packed::MAX_BASE) {
            return None;
        }
        let class = AliasClass(u16::try_from(*count).ok()?);
        *count += 1;
        classes.insert(atoms.to_vec(), class);
        Some(class)
    }

    /// Joins `new` into the modulus of a class. Returns the modulus that all its congruent values share.
    pub(crate) fn modulus(&mut self, region: MemoryRegion, class: AliasClass, new: u64) -> u64 {
        let known = self.moduli.entry((region, class)).or_insert(0);
        let shared = gcd(*known, new);
        self.changed |= shared != *known;
        *known = shared;
        shared
    }
}

/// The fields of a representative address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packed {
    /// The argument whose buffer the address is in, or the variable.
    base: Option<usize>,
    class: AliasClass,
    is_congruent: bool,
    /// The position in the class.
    cell: u64,
}

impl Packed {
    /// The bit that distinguishes representative addresses from others. The bits below are, from the highest: base plus
    /// one (7 bits, 0 for none), class, whether it is congruent (1 bit), cell.
    const MARK: u64 = 1 << 63;
    const CELL_BITS: u32 = 40;
    const CLASS_BITS: u32 = 15;
    const MAX_BASE: usize = 126;

    fn pack(self) -> u64 {
        let class = u64::from(self.class.0) << 1 | u64::from(self.is_congruent);
        let base = self.base.map_or(0, |base| base as u64 + 1);
        Self::MARK
            | base << (Self::CELL_BITS + Self::CLASS_BITS + 1)
            | class << Self::CELL_BITS
            | self.cell
    }

    fn unpack(address: u64) -> Option<Self> {
        if address & Self::MARK == 0 {
            return None;
        }
        let field = |from: u32, bits: u32| address >> from & ((1 << bits) - 1);
        let base = field(Self::CELL_BITS + Self::CLASS_BITS + 1, 7);
        let class = field(Self::CELL_BITS + 1, Self::CLASS_BITS);
        Some(Self {
            base: usize::try_from(base).expect("seven bits").checked_sub(1),
            class: AliasClass(u16::try_from(class).expect("fifteen bits")),
            is_congruent: field(Self::CELL_BITS, 1) == 1,
            cell: field(0, Self::CELL_BITS),
        })
    }
}

/// The representative address of `bytes` bytes at an offset from the atoms of a class. `None` if it is outside of the
/// class's range, or if the bytes would lie on both sides of the modulus.
pub(crate) fn representative_address(
    region: MemoryRegion,
    class: AliasClass,
    is_congruent: bool,
    offset: i64,
    modulus: u64,
    bytes: u32,
) -> Option<u64> {
    let packed = |cell: i64| {
        let cell = cell.cast_unsigned();
        Packed { base: region.base, class, is_congruent, cell }.pack()
    };
    let modulus = i64::try_from(modulus).ok()?;
    let cell = match modulus {
        0 => Some(offset),
        1..MAX_OFFSET => {
            let cell = offset.rem_euclid(modulus);
            return (cell + i64::from(bytes) <= modulus).then(|| packed(cell));
        }
        // A modulus larger than the range: offsets above half of it are negative ones, and no access can lie across the
        // middle.
        _ => {
            let (low, last) = (offset.rem_euclid(modulus), i64::from(bytes.max(1)) - 1);
            let is_upper = |at: i64| at > modulus / 2;
            (is_upper(low) == is_upper(low.saturating_add(last)))
                .then(|| if is_upper(low) { low - modulus } else { low })
        }
    };
    let is_inside = |at: i64| (-MAX_OFFSET..MAX_OFFSET).contains(&at);
    let cell = cell.filter(|cell| is_inside(*cell) && is_inside(cell + i64::from(bytes)))?;
    Some(packed(cell + MIDDLE))
}

/// If an address is a representative: the argument or variable, and the offset from the atoms.
pub fn represented(address: u64) -> Option<(Option<usize>, i64)> {
    let Packed { base, cell, .. } = Packed::unpack(address)?;
    let cell = cell.cast_signed();
    Some((base, if cell < MAX_OFFSET { cell } else { cell - MIDDLE }))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const GLOBAL: MemoryRegion = MemoryRegion { is_global: true, base: Some(0) };

    /// Accesses that overlap modulo the modulus overlap at their representative addresses, if they have any: near the
    /// modulus, near half of it, and near the ends of the range.
    #[test]
    fn accesses_that_overlap_have_representatives_that_do() {
        let moduli = [0, 4, 12, 64, 1 << 20, MAX_OFFSET - 4, MAX_OFFSET, MAX_OFFSET + 64, 1 << 42];
        let mut representative = 0;
        for modulus in moduli {
            let edges = [0, modulus / 2, modulus, -modulus / 2, MAX_OFFSET, -MAX_OFFSET];
            let near = |edge: &i64| (-9..=9).map(move |by| edge + by).collect::<Vec<_>>();
            let offsets: BTreeSet<i64> = edges.iter().flat_map(near).collect();
            let accesses: Vec<_> =
                offsets.iter().flat_map(|at| [1, 4, 8, 16].map(|bytes| (*at, bytes))).collect();
            let lay = |(offset, bytes): (i64, u32)| {
                let size = modulus.cast_unsigned();
                representative_address(GLOBAL, AliasClass(0), modulus != 0, offset, size, bytes)
            };
            // Accesses near the atoms have representatives.
            if !(1..MAX_OFFSET).contains(&modulus) {
                assert!((-9..=9).all(|at| lay((at, 16)).is_some()), "modulo {modulus}");
            }
            for &a in &accesses {
                let Some(first) = lay(a) else { continue };
                for &b in &accesses {
                    let Some(second) = lay(b) else { continue };
                    // The distance from the start of the first access to that of the second.
                    let distance = b.0 - a.0;
                    let behind = if modulus == 0 { distance } else { distance.rem_euclid(modulus) };
                    let overlap = if modulus == 0 {
                        distance < i64::from(a.1) && -distance < i64::from(b.1)
                    } else {
                        behind < i64::from(a.1) || modulus - behind < i64::from(b.1)
                    };
                    let meet = first < second + u64::from(b.1) && second < first + u64::from(a.1);
                    assert_eq!(overlap, meet, "{a:?} {b:?} modulo {modulus}");
                    representative += 1;
                }
            }
        }
        assert!(representative > 100_000, "{representative}");
    }

    #[test]
    fn a_region_beyond_the_last_has_no_classes() {
        let mut aliases = AliasClasses::default();
        let region = |base| MemoryRegion { base: Some(base), ..GLOBAL };
        let mut has_class = |base| aliases.class(region(base), &[], MAX_CLASSES).is_some();
        assert!(has_class(Packed::MAX_BASE) && !has_class(Packed::MAX_BASE + 1));
    }

    #[test]
    fn what_is_packed_comes_back() {
        let class = AliasClass(u16::try_from(MAX_COUNTER_CLASSES - 1).expect("fifteen bits"));
        for (base, is_congruent) in [(None, true), (Some(0), false), (Some(Packed::MAX_BASE), true)]
        {
            let cell = (1 << Packed::CELL_BITS) - 1;
            let packed = Packed { base, class, is_congruent, cell };
            assert_eq!(Packed::unpack(packed.pack()), Some(packed));
        }
        assert_eq!(Packed::unpack(1 << 62), None);
    }
}
