//! Conditions under which lanes execute an instruction: the open conditions of the branches around it, and how each was
//! decided. `Guards` is a conjunction of such conditions, `Occurrences` a disjunction of conjunctions.

use std::rc::Rc;
use std::sync::Arc;

use super::lane::Lane;
use super::register::Value;
use super::symbolics::{Literal, Symbolics};
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{PlaceId, Reg};

/// One execution of a branch on an open condition: instructions spent before it, its place, and the index of the block
/// that follows it.
pub(crate) type BranchRun = (u64, PlaceId, usize);

/// A register of a warp as one write left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WrittenRegister {
    pub(crate) warp: WarpId,
    pub(crate) register: Reg,
    /// Number of the write: every write of the register gets another one.
    pub(crate) version: u64,
}

/// What a guard is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GuardSubject {
    /// A condition that has the same value wherever it occurs.
    Condition(Literal),
    /// The condition that a register holds in a lane; of it nothing else is known.
    Register(WrittenRegister, usize),
    /// The choice of a successor by the branch: that of one lane or, for `None`, that of all lanes together.
    Branch(BranchRun, Option<usize>),
}

/// A condition, and whether it is true or false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Guard {
    by: GuardSubject,
    holds: bool,
}

/// A conjunction: all of these guards hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guards {
    /// How each branch around the instruction was decided.
    taken: Arc<[Guard]>,
    /// The same guards with combined conditions replaced by the literals that follow from them.
    parts: Arc<[Guard]>,
}

/// One side of a branch on an open condition, for each lane.
#[derive(Clone, Debug)]
pub(crate) struct BranchSide {
    /// The condition in each lane and the register that holds it; `None` if the branch is not decided by one condition.
    pub(crate) condition: Option<(Value, WrittenRegister)>,
    pub(crate) run: BranchRun,
    /// Whether the lanes that execute the branch together all take the same side.
    pub(crate) is_one: bool,
    pub(crate) holds: bool,
}

impl BranchSide {
    /// The condition of a lane, if it has the same value wherever it occurs.
    pub(crate) fn condition(&self, lane: usize, symbolics: &Symbolics) -> Option<Lane> {
        let whole = self.condition.as_ref().map(|(condition, _)| condition.whole(lane));
        whole.filter(|value| value.symbol.is_none_or(|symbol| symbolics.is_stable(symbol)))
    }

    fn taken(&self, lane: usize, is_together: bool, symbolics: &Symbolics) -> Guard {
        let by = match (self.condition(lane, symbolics), &self.condition) {
            (Some(condition), _) => GuardSubject::Condition(Literal::Itself(condition)),
            (None, Some((_, register))) => GuardSubject::Register(*register, lane),
            (None, None) => {
                GuardSubject::Branch(self.run, (!(self.is_one && is_together)).then_some(lane))
            }
        };
        Guard { by, holds: self.holds }
    }

    fn parts(&self, lane: usize, is_together: bool, symbolics: &Symbolics) -> Vec<Guard> {
        let Some(condition) = self.condition(lane, symbolics) else {
            return vec![self.taken(lane, is_together, symbolics)];
        };
        let literals = symbolics.literals(condition, self.holds).into_iter();
        literals
            .map(|(literal, holds)| Guard { by: GuardSubject::Condition(literal), holds })
            .collect()
    }
}

/// Returns the guards of a lane on these sides. `is_convergent`: the lanes that executed the branches together are
/// still converged.
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

/// The conjunctions of guards under which something happened, as a disjunction. An empty conjunction means that it
/// surely happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Occurrences(Vec<Arc<[Guard]>>);

impl Occurrences {
    /// Most conjunctions that are kept; further ones are left out.
    const MAX: usize = 8;

    /// Adds a conjunction, as the branches decided it and as literals.
    pub(crate) fn insert(&mut self, guards: &Guards) {
        self.add(&guards.taken);
        self.add(&guards.parts);
    }

    /// Adds a conjunction and its resolvents: two conjunctions that differ only in the outcome of one condition
    /// together hold without that condition.
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

    /// Whether one of the conjunctions follows from `guards`; `None` stands for no guards.
    pub(crate) fn is_implied_by(&self, guards: Option<&Guards>) -> bool {
        let holds = |guard: &Guard| guards.is_some_and(|all| all.holds(guard));
        self.0.iter().any(|other_guards| other_guards.iter().all(holds))
    }
}

/// Whether all guards of the first are among those of the second.
fn is_part(some: &[Guard], all: &[Guard]) -> bool {
    some.iter().all(|guard| all.contains(guard))
}

/// The resolvent of two conjunctions: all their guards but the one condition of which they take opposite sides. `None`
/// if that is not exactly one condition.
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
        Guard { by: GuardSubject::Branch((0, PlaceId(0), number), None), holds }
    }

    fn given(guards: &Arc<[Guard]>) -> Guards {
        Guards { taken: Arc::clone(guards), ..Guards::default() }
    }

    /// Every list of three conjunctions over three conditions: `is_implied_by` agrees with trying each conjunction
    /// under every assignment.
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
            // A partial assignment implies only what holds however the rest is decided.
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
