//! Conditions that follow from those around them: what an open value is that both compare with a number.

use super::event::{Events, OrderQuery};
use super::state::Machine;
use crate::emulate::value::lane::{Lane, LaneMask, SymbolId, WARP, lanes, signed, truncate};
use crate::emulate::value::symbolics::{Literal, Relation, Symbolics};
use crate::emulate::value::warp_id::WarpId;
use crate::flow::Condition;
use crate::ptx::Type;

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// The literals that hold or do not hold where these lanes run.
    pub(super) fn literals_of(&self, mask: LaneMask) -> Vec<(Literal, bool)> {
        let symbolics = &self.facts.symbolics;
        let lane = mask.trailing_zeros() as usize % WARP;
        let mut conditions: Vec<(Lane, bool)> = self.facts.splits.outcomes().collect();
        for side in self.may_execute.iter().flat_map(|side| &side.decided) {
            let one = side.condition(lane, symbolics);
            let is_one = lanes(mask).all(|lane| side.condition(lane, symbolics) == one);
            conditions.extend(one.filter(|_| is_one).map(|one| (one, side.holds)));
        }
        let literals =
            conditions.into_iter().map(|(condition, holds)| symbolics.literals(condition, holds));
        literals.flatten().collect()
    }

    /// Whether a condition, open in these lanes, holds because conditions around them say what an open value is that it
    /// compares with a number.
    pub(super) fn known_by_others(
        &mut self,
        warp: WarpId,
        condition: Condition,
        open: LaneMask,
    ) -> Option<bool> {
        let around = self.literals_of(open);
        if around.is_empty() {
            return None;
        }
        let value = self.warps[warp].registers[condition.register].clone();
        let first = self.common_value(&value, open)?;
        let [(literal, is_it)] = self.facts.symbolics.literals(first, true)[..] else {
            return None;
        };
        let about = AtomComparison::of(literal, &self.facts.symbolics)?;
        let given = around.into_iter().find_map(|(literal, holds)| {
            let given = AtomComparison::of(literal, &self.facts.symbolics)?;
            let is_given = given.atom == about.atom;
            is_given.then(|| self.value_by(&given, holds)).flatten()
        })?;
        let outcome = match about.relation {
            Relation::Equal => about.equal() == given,
            _ if about.ty.bits() == about.bits => {
                about.is_less(as_number(about.ty, given.wrapping_add(about.added)))
            }
            _ => return None,
        };
        Some((outcome == is_it) != condition.negated)
    }
}

/// A comparison of an atom plus a number with another number: equal, or less.
pub(super) struct AtomComparison {
    pub(super) atom: SymbolId,
    ty: Type,
    pub(super) relation: Relation,
    added: u64,
    number: u64,
    /// The width of the atom.
    bits: u32,
    /// Whether the atom is on the left.
    is_left: bool,
}

impl AtomComparison {
    /// What a literal says of an atom; `None` if it says nothing of one alone.
    pub(super) fn of(literal: Literal, symbolics: &Symbolics) -> Option<Self> {
        let Literal::Compared(ty, relation, a, b) = literal else { return None };
        let (sum, number, is_left) = match (a.symbol, b.symbol) {
            (Some(symbol), None) => ((symbol, a.bits), b.bits, true),
            (None, Some(symbol)) => ((symbol, b.bits), a.bits, false),
            _ => return None,
        };
        let (atom, added) = symbolics.one_atom(sum)?;
        let bits = symbolics.bits(atom);
        // Of an extended atom, only numbers that it has whichever way it is extended.
        let fits = ty.bits() == bits || ty.bits() > bits && number < 1 << (bits - 1);
        let is_whole = fits && !ty.is_float();
        is_whole.then_some(Self { atom, ty, relation, added, number, bits, is_left })
    }

    /// Whether the atom itself is compared, in its width.
    pub(super) const fn is_plain(&self) -> bool {
        self.added == 0 && self.ty.bits() == self.bits
    }

    /// The value of the atom for which both sides are equal.
    pub(super) const fn equal(&self) -> u64 {
        truncate(self.number.wrapping_sub(self.added), self.bits)
    }

    /// Whether the left side is less than the right one for this value of the atom.
    pub(super) const fn is_less(&self, atom: i128) -> bool {
        let number = as_number(self.ty, self.number);
        if self.is_left { atom < number } else { number < atom }
    }
}

/// The number that bits of a type stand for.
const fn as_number(ty: Type, bits: u64) -> i128 {
    if ty.is_signed() { signed(bits, ty.bits()) as i128 } else { truncate(bits, ty.bits()) as i128 }
}
