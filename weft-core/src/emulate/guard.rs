//! What has to hold for lanes to be where they are: the open conditions of the branches around them, and how each was
//! decided.

use std::rc::Rc;
use std::sync::Arc;

use super::term::{Lane, Terms};
use super::value::Value;
use crate::flow::PlaceId;

/// One run of a branch on an open condition: instructions spent before it, its place, and one of the ways behind it.
type Run = (u64, PlaceId, usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// A condition that is the same wherever it occurs.
    Condition(Lane),
    /// A condition of which nothing is known but where it was asked for.
    Branch(Run),
}

/// A condition, and whether it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Guard {
    by: By,
    holds: bool,
}

/// All of these hold.
pub(super) type Guards = Arc<[Guard]>;

/// One side of a branch on an open condition, for each lane.
#[derive(Clone, Debug)]
pub(super) struct Decided {
    /// By lane; `None` if it is not one of two sides.
    pub(super) condition: Option<Value>,
    pub(super) run: Run,
    pub(super) holds: bool,
}

impl Decided {
    fn of(&self, lane: usize, terms: &Terms) -> Guard {
        let whole = self.condition.as_ref().map(|condition| condition.whole(lane));
        let is_stable = |own: &Lane| own.term.is_none_or(|term| terms.is_stable(term));
        let by = whole.filter(is_stable).map_or(By::Branch(self.run), By::Condition);
        Guard { by, holds: self.holds }
    }
}

/// The guards of a lane on these sides.
pub(super) fn of(sides: &[Rc<Decided>], lane: usize, terms: &Terms) -> Guards {
    sides.iter().map(|side| side.of(lane, terms)).collect()
}

/// Guards under which something happened; it surely did if there are none in one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ways(Vec<Guards>);

impl Ways {
    /// More are left out.
    const MAX: usize = 8;

    /// One more. Where it takes one side of a condition and another one the other side, both together do not depend on it.
    pub(super) fn insert(&mut self, guards: &Guards) {
        if self.0.len() == Self::MAX || self.is_implied_by(guards) {
            return;
        }
        let merged: Vec<Guards> =
            self.0.iter().filter_map(|other| on_either_side(guards, other)).collect();
        self.0.retain(|other| !implies(other, guards));
        self.0.push(Arc::clone(guards));
        for own in &merged {
            self.insert(own);
        }
    }

    /// Whether what holds is enough for one of them.
    pub(super) fn is_implied_by(&self, guards: &[Guard]) -> bool {
        self.0.iter().any(|own| implies(guards, own))
    }
}

/// Whether all guards of the second are among those of the first.
fn implies(all: &[Guard], some: &[Guard]) -> bool {
    some.iter().all(|own| all.contains(own))
}

/// What two need besides the one condition of which they take different sides.
fn on_either_side(one: &Guards, other: &Guards) -> Option<Guards> {
    let is_opposed = |own: &&Guard| other.contains(&Guard { holds: !own.holds, ..**own });
    let mut opposed = one.iter().filter(is_opposed);
    let condition = opposed.next().filter(|_| opposed.next().is_none())?.by;
    let all = one.iter().chain(other.iter().filter(|own| !one.contains(own)));
    Some(all.filter(|own| own.by != condition).copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn guard(number: usize, holds: bool) -> Guard {
        Guard { by: By::Branch((0, PlaceId(0), number)), holds }
    }

    /// All sets of up to four ways over three conditions: what they imply under every assignment is as if each was tried.
    #[test]
    fn ways_hold_where_one_of_them_does() {
        let literals = [None, Some(true), Some(false)];
        let ways: Vec<Guards> = (0..27)
            .map(|number| {
                let of = |at: usize| literals[number / 3_usize.pow(u32::try_from(at).unwrap()) % 3];
                (0..3).filter_map(|at| Some(guard(at, of(at)?))).collect()
            })
            .collect();
        let assignments = || {
            (0..8_usize)
                .map(|bits| -> Guards { (0..3).map(|at| guard(at, bits >> at & 1 == 1)).collect() })
        };
        for number in 0..27_usize.pow(3) {
            let chosen = [number % 27, number / 27 % 27, number / 27 / 27];
            let mut all = Ways::default();
            for at in chosen {
                all.insert(&ways[at]);
            }
            for known in assignments() {
                let holds = chosen.iter().any(|at| implies(&known, &ways[*at]));
                assert_eq!(all.is_implied_by(&known), holds, "{chosen:?} {known:?}");
            }
            // What is implied by less is so however the rest is decided.
            for some in &ways {
                let is_sure = assignments()
                    .filter(|own| implies(own, some))
                    .all(|own| chosen.iter().any(|at| implies(&own, &ways[*at])));
                assert!(is_sure || !all.is_implied_by(some), "{chosen:?} {some:?}");
            }
        }
    }
}
