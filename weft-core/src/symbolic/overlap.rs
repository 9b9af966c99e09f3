//! What is added to the system of two threads: that they are different ones and that their accesses overlap, or that what they
//! draw from a counter differs.

use super::assumption::ArithmeticAssumption;
use super::atom::Atom;
use super::compared::BasedAccess;
use super::draws::DrawPair;
use super::poly::Poly;
use super::system::System;
use super::var_bounds::VarBounds;
use super::view::{Copy, Views};
use crate::launch::ExtentBound;

/// Adds that two threads draw different values from a counter.
pub(super) fn differ(
    views: &mut Views<'_>,
    DrawPair { values: [first, second], stride, .. }: DrawPair,
) {
    // Numbers that differ by a multiple of a power of two do so as signed and as unsigned numbers.
    let stride = 1_i128 << stride.trailing_zeros();
    for is_signed in [false, true] {
        let [first, second] = [(first, Copy::First), (second, Copy::Second)]
            .map(|(value, copy)| views.exact(value, is_signed, copy));
        let steps = views.unknown(VarBounds::default());
        let distance = steps.times(stride);
        let Some(rest) = first.minus(&second).zip(distance).and_then(|(own, all)| own.minus(&all))
        else {
            continue;
        };
        views.system.conditions.zero.push(rest);
        views.system.conditions.nonzero.push(steps);
    }
    views.assumed.insert(ArithmeticAssumption::UnwrappedCounters);
}

/// Adds that two accesses overlap; `None` if their addresses are not polynomials. `are_aligned`: those of one size do so only at one
/// address.
pub(super) fn overlap(
    views: &mut Views<'_>,
    first: &BasedAccess,
    second: &BasedAccess,
    are_aligned: bool,
) -> Option<()> {
    let a = views.exact(first.offset, true, Copy::First);
    let b = views.exact(second.offset, true, Copy::Second);
    let distance = a.minus(&b)?;
    let bounds = VarBounds {
        least: Some(1 - i128::from(first.bytes)),
        most: Some(i128::from(second.bytes) - 1),
    };
    let system: &mut System = &mut views.system;
    let is_whole = first.bytes == second.bytes && (are_aligned || first.bytes == 1);
    let by = if is_whole { Poly::default() } else { Poly::var(system.var(bounds)) };
    system.conditions.zero.push(distance.minus(&by)?);
    Some(())
}

/// Adds that the two threads are different ones, of one cta or of two.
pub(super) fn tell_apart(views: &mut Views<'_>, is_cta: bool) {
    let extents = if is_cta { views.launched.block } else { views.launched.grid };
    for (part, extent) in (0..3_u8).zip(extents) {
        if extent == ExtentBound::Is(1) {
            continue;
        }
        let atom = if is_cta { Atom::Tid(part) } else { Atom::Ctaid(part) };
        let (first, second) = (views.natural(atom, Copy::First), views.natural(atom, Copy::Second));
        let difference = first.zip(second).and_then(|(first, second)| first.minus(&second));
        views.system.distinct.extend(difference);
    }
}
