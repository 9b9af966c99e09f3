//! Computes the representative addresses at which accesses at open addresses are compared.

use super::alias::{
    AliasClass, MAX_CLASSES, MAX_COUNTER_CLASSES, Representative, representative_address,
};
use super::counters::CounterIndex;
use super::store::Facts;
use crate::emulate::memory::region::MemoryRegion;
use crate::emulate::value::lane::{Lane, SymbolId, signed};
use crate::emulate::value::symbolics::gcd;
use crate::flow::addresses::offset_in_buffer;

/// What lanes have in common whose addresses in a region are one symbolic value plus different numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AliasFrame {
    region: MemoryRegion,
    class: AliasClass,
    index: Option<CounterIndex>,
    is_congruent: bool,
    /// For a congruent symbolic value: the modulus of its class.
    modulus: u64,
    /// For an exact symbolic value: the modulus of the congruent values of its class, if the class has any.
    copy_modulus: Option<u64>,
    /// The sum of the numbers that were added before the atoms were extended.
    added: u64,
    /// Modulus of the error that sums which wrap around inside extensions cause (`Symbolics::frame`). Lanes that are
    /// closer to the atoms than half of it are exact whatever wraps around; 0: all lanes are exact.
    frame: u64,
}

impl AliasFrame {
    /// Whether the accesses are indexed with unique counter values.
    pub(crate) const fn is_counter_indexed(&self) -> bool {
        self.index.is_some()
    }
}

impl Facts {
    /// The alias frame of lanes with one symbolic value; `None` if their addresses cannot be compared. Shared addresses
    /// have 32 bits.
    pub(crate) fn alias_frame(
        &mut self,
        region: MemoryRegion,
        symbol: SymbolId,
    ) -> Option<AliasFrame> {
        if region.is_global && region.base.is_none() {
            return None;
        }
        let width = if region.is_global { 64 } else { 32 };
        let whole = if self.symbolics.bits(symbol) < width {
            self.symbolics.shared_extension(symbol, width, false).0
        } else {
            Lane::open(symbol)
        };
        let Lane { bits, symbol } = self.symbolics.low(whole, width);
        let (symbol, added) = self.symbolics.natural(symbol?)?;
        let (modulus, is_congruent) =
            (self.symbolics.modulus(symbol), self.symbolics.is_congruent(symbol));
        if modulus == 1 {
            return None;
        }
        let index = self.counter_index(region, symbol);
        let most = if index.is_some() { MAX_COUNTER_CLASSES } else { MAX_CLASSES };
        let atoms = self.symbolics.atoms(symbol).to_vec();
        let class = self.aliases.class(region, &atoms, most)?;
        let frame = if width == 64 { self.symbolics.frame(&atoms) } else { 0 };
        // If sums wrap around, only a power of two that divides modulus and frame holds. Any other modulus belongs to
        // sums that are assumed not to wrap around.
        let modulus = if modulus.is_power_of_two() { gcd(modulus, frame) } else { modulus };
        self.symbolics.assumes_unwrapped |= is_congruent && !modulus.is_power_of_two();
        let modulus = if is_congruent { self.aliases.modulus(region, class, modulus) } else { 0 };
        let congruent = self.aliases.moduli.get(&(region, class));
        let copy_modulus = congruent.filter(|_| !is_congruent).copied();
        let added = added.wrapping_add(bits);
        Some(AliasFrame { region, class, index, is_congruent, modulus, copy_modulus, added, frame })
    }

    /// The representative of a lane that accesses `bytes` bytes, where `bits` is what the lane adds to the frame's
    /// symbolic value. `None` if the lane cannot be compared.
    pub(crate) fn representative(
        &mut self,
        alias: &AliasFrame,
        bits: u64,
        bytes: u32,
    ) -> Option<Representative> {
        let &AliasFrame { region, class, index, is_congruent, modulus, frame, .. } = alias;
        let offset = offset_in(region, bits.wrapping_add(alias.added));
        if let Some(index) = index {
            self.counters.reach(index, offset, bytes);
        }
        let is_near = |end: i64| frame == 0 || end.unsigned_abs() < frame / 2;
        if !(is_congruent || is_near(offset) && is_near(offset.saturating_add(i64::from(bytes)))) {
            // The lane might be off by a multiple of the frame, so its address is known only modulo the frame.
            let modulus = self.aliases.modulus(region, class, frame);
            let address = representative_address(region, class, true, offset, modulus, bytes)?;
            let (is_congruent, shadow_copy) = (true, None);
            return Some(Representative { class, index, address, is_congruent, shadow_copy });
        }
        let shadow_copy = match alias.copy_modulus {
            Some(modulus) => {
                Some(representative_address(region, class, true, offset, modulus, bytes)?)
            }
            None => None,
        };
        let address = representative_address(region, class, is_congruent, offset, modulus, bytes)?;
        Some(Representative { class, index, address, is_congruent, shadow_copy })
    }

    /// The alias class in which accesses at known addresses of a region have shadow copies, if there is one.
    pub(crate) fn copied_class(&self, region: MemoryRegion) -> Option<AliasClass> {
        if self.aliases.moduli.is_empty() {
            return None;
        }
        let class = *self.aliases.classes.get(&region)?.get([].as_slice())?;
        self.aliases.moduli.contains_key(&(region, class)).then_some(class)
    }

    /// The address of the shadow copy in a class of an access at the known address `bits`, if it has one.
    pub(crate) fn shadow_copy(
        &self,
        region: MemoryRegion,
        class: AliasClass,
        bits: u64,
        bytes: u32,
    ) -> Option<u64> {
        let modulus = *self.aliases.moduli.get(&(region, class))?;
        representative_address(region, class, true, offset_in(region, bits), modulus, bytes)
    }
}

fn offset_in(region: MemoryRegion, bits: u64) -> i64 {
    match region.base {
        Some(argument) if region.is_global => offset_in_buffer(argument, bits),
        // Offsets are signed, so that an access slightly below the symbolic value stays below it.
        _ => signed(bits, 32),
    }
}
