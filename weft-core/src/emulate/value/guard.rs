//! What has to hold for lanes to be where they are: the open conditions of the branches around them, and how each was
//! decided.

use std::rc::Rc;
use std::sync::Arc;

use super::lane::Lane;
use super::register::Value;
use super::symbolics::{Literal, Symbolics};
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{PlaceId, Reg};

/// One run of a branch on an open condition: instructions spent before it, its place, and one of the ways behind it.
type BranchRun = (u64, PlaceId, usize);

/// A register of a warp as it was written at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WrittenRegister {
    pub(crate) warp: WarpId,
    pub(crate) register: Reg,
    /// Another one after each write.
    pub(crate) version: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    /// A condition that is the same wherever it occurs.
    Condition(Literal),
    /// What a register holds in a lane, of which nothing else is known.
    Register(WrittenRegister, usize),
    /// That a lane goes this way, or that all do alike.
    Branch(BranchRun, Option<usize>),
}

/// A condition, and whether it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Guard {
    by: Subject,
    holds: bool,
}

/// All of these hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guards {
    /// How each branch was decided.
    taken: Arc<[Guard]>,
    /// The same, with all that these say of conditions that they are made of.
    parts: Arc<[Guard]>,
}

/// One side of a branch on an open condition, for each lane.
#[derive(Clone, Debug)]
pub(crate) struct BranchSide {
    /// By lane, and the register that holds it; `None` if it is not one of two sides.
    pub(crate) condition: Option<(Value, WrittenRegister)>,
    pub(crate) run: BranchRun,
    /// Whether the lanes that run it together all go the same way.
    pub(crate) is_one: bool,
    pub(crate) holds: bool,
}

impl BranchSide {
    /// A condition that is the same wherever it occurs.
    fn condition(&self, lane: usize, symbolics: &Symbolics) -> Option<Lane> {
        let whole = self.condition.as_ref().map(|(condition, _)| condition.whole(lane));
        whole.filter(|value| value.symbol.is_none_or(|symbol| symbolics.is_stable(symbol)))
    }

    fn taken(&self, lane: usize, is_together: bool, symbolics: &Symbolics) -> Guard {
        let by = match (self.condition(lane, symbolics), &self.condition) {
            (Some(condition), _) => Subject::Condition(Literal::Itself(condition)),
            (None, Some((_, register))) => Subject::Register(*register, lane),
            (None, None) => {
                Subject::Branch(self.run, (!(self.is_one && is_together)).then_some(lane))
            }
        };
        Guard { by, holds: self.holds }
    }

    fn parts(&self, lane: usize, is_together: bool, symbolics: &Symbolics) -> Vec<Guard> {
        let Some(condition) = self.condition(lane, symbolics) else {
            return vec![self.taken(lane, is_together, symbolics)];
        };
        let literals = symbolics.literals(condition, self.holds).into_iter();
        literals.map(|(literal, holds)| Guard { by: Subject::Condition(literal), holds }).collect()
    }
}

/// The guards of a lane on these sides. `is_together`: the lanes that came to them together still are.
pub(crate) fn of(
    sides: &[Rc<BranchSide>],
    lane: usize,
    is_convergent: bool,
    symbolics: &Symbolics,
) -> Guards {
    Guards {
        taken: sides.iter().map(|side| side.taken(lane, is_convergent, symbolics)).collect(),
        parts: sides.iter().flat_map(|side| side.parts(lane, is_convergent, symbolics)).collect(),
    }
}

impl Guards {
    fn holds(&self, guard: &Guard) -> bool {
        self.taken.contains(guard) || self.parts.contains(guard)
    }
}

/// Guards under which something happened; it surely did if there are none in one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Occurrences(Vec<Arc<[Guard]>>);

impl Occurrences {
    /// More are left out.
    const MAX: usize = 8;

    /// One more.
    pub(crate) fn insert(&mut self, guards: &Guards) {
        self.add(&guards.taken);
        self.add(&guards.parts);
    }

    /// Where one way takes one side of a condition and another one the other side, both together do not depend on it.
    fn add(&mut self, guards: &Arc<[Guard]>) {
        if self.0.len() == Self::MAX
            || self.0.iter().any(|other_guards| is_part(other_guards, guards))
        {
            return;
        }
        let merged: Vec<Arc<[Guard]>> =
            self.0.iter().filter_map(|other| on_either_side(guards, other)).collect();
        self.0.retain(|other| !is_part(guards, other));
        self.0.push(Arc::clone(guards));
        for alternative in &merged {
            self.add(alternative);
        }
    }

    /// Whether what holds is enough for one of them.
    pub(crate) fn is_implied_by(&self, guards: Option<&Guards>) -> bool {
        let holds = |guard: &Guard| guards.is_some_and(|all| all.holds(guard));
        self.0.iter().any(|other_guards| other_guards.iter().all(holds))
    }
}

/// Whether all guards of the first are among those of the second.
fn is_part(some: &[Guard], all: &[Guard]) -> bool {
    some.iter().all(|guard| all.contains(guard))
}

/// What two need besides the one condition of which they take different sides.
fn on_either_side(one: &[Guard], other: &[Guard]) -> Option<Arc<[Guard]>> {
    let is_opposed = |guard: &&Guard| other.contains(&Guard { holds: !guard.holds, ..**guard });
    let mut opposed = one.iter().filter(is_opposed);
    let condition = opposed.next().filter(|_| opposed.next().is_none())?.by;
    let all = one.iter().chain(other.iter().filter(|other_guard| !one.contains(other_guard)));
    Some(all.filter(|kept| kept.by != condition).copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn guard(number: usize, holds: bool) -> Guard {
        Guard { by: Subject::Branch((0, PlaceId(0), number), None), holds }
    }

    fn given(guards: &Arc<[Guard]>) -> Guards {
        Guards { taken: Arc::clone(guards), ..Guards::default() }
    }

    /// All sets of three ways over three conditions: what they imply under every assignment is as if each was tried.
    #[test]
    fn occurrences_hold_where_one_of_them_does() {
        let literals = [None, Some(true), Some(false)];
        let cases: Vec<Arc<[Guard]>> = (0..27)
            .map(|number| {
                let of = |at: usize| literals[number / 3_usize.pow(u32::try_from(at).unwrap()) % 3];
                (0..3).filter_map(|at| Some(guard(at, of(at)?))).collect()
            })
            .collect();
        let assignments = || {
            (0..8_usize).map(|bits| -> Arc<[Guard]> {
                (0..3).map(|at| guard(at, bits >> at & 1 == 1)).collect()
            })
        };
        for number in 0..27_usize.pow(3) {
            let chosen = [number % 27, number / 27 % 27, number / 27 / 27];
            let mut all = Occurrences::default();
            for at in chosen {
                all.add(&cases[at]);
            }
            for known in assignments() {
                let holds = chosen.iter().any(|at| is_part(&cases[*at], &known));
                assert_eq!(all.is_implied_by(Some(&given(&known))), holds, "{chosen:?} {known:?}");
            }
            // What is implied by less is so however the rest is decided.
            for some in &cases {
                let is_sure =
                    assignments().filter(|guards| is_part(some, guards)).all(|other_guards| {
                        chosen.iter().any(|at| is_part(&cases[*at], &other_guards))
                    });
                assert!(is_sure || !all.is_implied_by(Some(&given(some))), "{chosen:?} {some:?}");
            }
        }
    }
}
