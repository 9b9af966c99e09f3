//! Random placements of a kernel's variables and buffers that fulfil a report's assumptions.

use std::collections::BTreeMap;

use weft_core::finding::{Assumption, Report};
use weft_core::flow::{Placement, Program, Symbol};
use weft_core::ptx::Space;

/// Maximum distance in bytes of a small move.
const NEAR: u64 = 1 << 18;

/// Pseudo-random numbers from a seed.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// Returns the alignment in bytes that the report assumes for an address; `None` if the report assumes its place.
fn assumed(report: &Report, is_it: impl Fn(&str) -> bool) -> Option<u64> {
    let mut multiple = 1;
    for assumption in &report.assumptions {
        match assumption {
            Assumption::Places(names) if names.iter().any(|name| is_it(name)) => return None,
            Assumption::Aligned(all) => {
                let own = all.iter().filter(|(name, ..)| is_it(name)).map(|(_, to, ..)| *to);
                multiple = own.fold(multiple, u64::max);
            }
            _ => {}
        }
    }
    Some(multiple)
}

/// Moves everything whose place the report does not assume. Buffers move by multiples of 2^32 bytes, fewer than `far`
/// of them, plus a small move.
pub(crate) fn moved(program: &Program, report: &Report, dice: &mut Dice, far: u64) -> Placement {
    let mut placement = Placement::default();
    let is_fixed = report.assumptions.contains(&Assumption::SharedFromZero);
    for (space, slot) in
        [(Space::Shared, 1 << 20), (Space::Global, 1 << 42), (Space::Const, 1 << 20)]
    {
        if space != Space::Shared || !is_fixed {
            placement.variables.extend(variables(program, report, space, slot, dice));
        }
    }
    for (position, param) in program.params.iter().enumerate() {
        let name = format!("argument {position}");
        let is_it = |own: &str| own == name || own.starts_with(&format!("{name} ("));
        if let Some(multiple) = assumed(report, is_it) {
            let far = if param.object.is_some() { 0 } else { dice.roll(far) << 32 };
            let multiple = multiple.max(param.pointee_align.unwrap_or(1));
            placement.arguments.insert(position, far + near(multiple, dice));
        }
    }
    placement
}

fn near(multiple: u64, dice: &mut Dice) -> u64 {
    multiple * dice.roll((NEAR / multiple).max(1))
}

/// Returns new addresses for the variables of a state space: they exchange their slots and move within them.
fn variables(
    program: &Program,
    report: &Report,
    space: Space,
    slot: u64,
    dice: &mut Dice,
) -> BTreeMap<String, u64> {
    let is_it = |own: &&Symbol| own.space == space && own.parameter.is_none();
    let own = program.symbols.iter().filter(is_it);
    let is_free = |symbol: &&Symbol| {
        let alike = program.symbols.iter().filter(|own| own.name == symbol.name).count();
        alike == 1
            && program.symbols.iter().filter(|own| own.address == symbol.address).count() == 1
    };
    let multiple = |symbol: &Symbol| {
        Some(assumed(report, |own| own == format!("`{}`", symbol.name))?.max(symbol.align))
    };
    let free: Vec<_> =
        own.filter(is_free).filter_map(|symbol| Some((symbol, multiple(symbol)?))).collect();
    let mut slots: Vec<_> = free.iter().map(|(symbol, _)| symbol.address / slot * slot).collect();
    for at in (1..slots.len()).rev() {
        slots.swap(at, usize::try_from(dice.roll(at as u64 + 1)).expect("few variables"));
    }
    let shifts = free.iter().zip(slots).map(|((symbol, multiple), place)| {
        let shift = place.wrapping_sub(symbol.address).wrapping_add(near(*multiple, dice));
        (symbol.name.clone(), shift)
    });
    shifts.collect()
}
