//! The cheapest choice with an element of every set, by a SAT solver: weighted partial `MaxSAT` with clauses of positive
//! literals.

use std::collections::BTreeSet;

use rustsat::encodings::pb::{BoundUpper, BoundUpperIncremental, DynamicPolyWatchdog};
use rustsat::instances::{BasicVarManager, Cnf, ManageVars};
use rustsat::solvers::{Solve, SolveIncremental, SolverResult};
use rustsat::types::{Clause, Lit, TernaryVal};
use rustsat_batsat::BasicSolver;

/// What to choose from, and what the choice is measured by.
#[derive(Clone, Debug, Default)]
pub(super) struct HittingSets {
    /// The cost of each element.
    pub(super) costs: Vec<usize>,
    /// Of choices with the same cost, the one with the least sum of these is preferred.
    pub(super) ties: Vec<usize>,
    /// At least one element of each of these is chosen.
    pub(super) sets: Vec<Vec<usize>>,
    /// Of choices with the same cost, one with an element of most of these is preferred, before `ties`.
    pub(super) preferred: Vec<Vec<usize>>,
}

/// Most preferred sets that are looked at.
const MOST_PREFERRED: usize = 24;

impl HittingSets {
    /// Returns the elements of the best choice, ascending; `None` if there is none. Of those that are as good, it is the one
    /// whose last elements come first, whatever the solver found.
    pub(super) fn best(&self) -> Option<Vec<usize>> {
        let kept = self.undominated();
        let index = |at: &usize| kept.binary_search(at).ok();
        let reduced = |set: &Vec<usize>| set.iter().filter_map(index).collect::<Vec<_>>();
        let mut search = MaxSat::new(kept.len());
        for set in &self.sets {
            search.add(reduced(set).into_iter().map(|at| search.elements[at]).collect());
        }
        let elements = search.elements.clone();
        let weighted = |weights: &[usize]| -> Vec<(Lit, usize)> {
            elements.iter().copied().zip(kept.iter().map(|at| weights[*at])).collect()
        };
        search.minimize(&weighted(&self.costs))?;
        let mut missed = Vec::new();
        for set in self.preferred.iter().take(MOST_PREFERRED) {
            let is_missed = search.vars.new_var().pos_lit();
            let chosen = reduced(set).into_iter().map(|at| elements[at]);
            search.add(chosen.chain([is_missed]).collect());
            missed.push((is_missed, 1));
        }
        search.minimize(&missed)?;
        let chosen = search.minimize(&weighted(&self.ties))?;
        let chosen = search.foremost(chosen);
        Some(
            kept.iter()
                .zip(chosen)
                .filter_map(|(at, is_chosen)| is_chosen.then_some(*at))
                .collect(),
        )
    }

    /// Returns the elements that are worth choosing: no other one is in the same sets and costs less, or as much and comes
    /// first. Instructions without an access between them make many points that are alike.
    fn undominated(&self) -> Vec<usize> {
        let mut membership = vec![BTreeSet::new(); self.costs.len()];
        for (number, set) in self.sets.iter().chain(&self.preferred).enumerate() {
            for at in set {
                membership[*at].insert(number);
            }
        }
        let rank = |at: &usize| (self.costs[*at], self.ties[*at], *at);
        let mut kept: Vec<usize> = Vec::new();
        let mut all: Vec<usize> = (0..self.costs.len()).collect();
        all.sort_by_key(rank);
        for at in all {
            let is_dominated =
                kept.iter().any(|better| membership[at].is_subset(&membership[*better]));
            if !is_dominated {
                kept.push(at);
            }
        }
        kept.sort_unstable();
        kept
    }
}

struct MaxSat {
    solver: BasicSolver,
    vars: BasicVarManager,
    elements: Vec<Lit>,
}

impl MaxSat {
    fn new(count: usize) -> Self {
        let mut vars = BasicVarManager::default();
        let elements = (0..count).map(|_| vars.new_var().pos_lit()).collect();
        Self { solver: BasicSolver::default(), vars, elements }
    }

    fn add(&mut self, clause: Clause) {
        self.solver.add_clause(clause).expect("the solver takes clauses of known variables");
    }

    /// Minimizes a weighted sum by asking for less until there is none, and keeps the least as a bound. Returns which
    /// elements are chosen.
    fn minimize(&mut self, weighted: &[(Lit, usize)]) -> Option<Vec<bool>> {
        // Small numbers make small encodings.
        let common = weighted.iter().fold(0, |common, (_, weight)| gcd(common, *weight)).max(1);
        let weighted: Vec<(Lit, usize)> =
            weighted.iter().map(|(lit, weight)| (*lit, weight / common)).collect();
        let weighted: Vec<(Lit, usize)> =
            weighted.into_iter().filter(|(_, weight)| *weight > 0).collect();
        let sum: usize = weighted.iter().map(|(_, weight)| weight).sum();
        let mut adder: DynamicPolyWatchdog = weighted.iter().copied().collect();
        let (mut bound, mut best) = (Vec::new(), None);
        loop {
            if !self.is_possible(&bound) {
                break;
            }
            let chosen = self.chosen();
            let of = |(lit, weight): &(Lit, usize)| if self.is_true(*lit) { *weight } else { 0 };
            let cost: usize = weighted.iter().map(of).sum();
            best = Some((cost, chosen));
            if cost == 0 {
                break;
            }
            bound = self.bound(&mut adder, cost - 1);
        }
        let (cost, chosen): (usize, Vec<bool>) = best?;
        if cost < sum {
            let units = self.bound(&mut adder, cost);
            for unit in units {
                self.add([unit].into_iter().collect());
            }
        }
        Some(chosen)
    }

    /// Returns the choice within the bounds whose last element comes first, then its last but one, and so on. `chosen`: a choice
    /// within the bounds.
    fn foremost(&mut self, mut chosen: Vec<bool>) -> Vec<bool> {
        let mut fixed = Vec::new();
        for at in (0..chosen.len()).rev() {
            let lit = self.elements[at];
            fixed.push(!lit);
            if chosen[at] {
                if self.is_possible(&fixed) {
                    chosen = self.chosen();
                } else {
                    fixed.pop();
                    fixed.push(lit);
                }
            }
        }
        chosen
    }

    fn is_possible(&mut self, assumed: &[Lit]) -> bool {
        let answer = self.solver.solve_assumps(assumed).expect("the solver has no limit");
        answer == SolverResult::Sat
    }

    /// Returns which elements are in the choice that the solver found.
    fn chosen(&self) -> Vec<bool> {
        self.elements.iter().map(|lit| self.is_true(*lit)).collect()
    }

    fn is_true(&self, lit: Lit) -> bool {
        self.solver.lit_val(lit).is_ok_and(|value| value == TernaryVal::True)
    }

    /// Returns the literals that hold if the sum of an encoding is at most `most`. Each bound has clauses of its own, so only
    /// those that are asked for are encoded.
    fn bound(&mut self, adder: &mut DynamicPolyWatchdog, most: usize) -> Vec<Lit> {
        let mut cnf = Cnf::new();
        let encoded = adder.encode_ub_change(most..=most, &mut cnf, &mut self.vars);
        encoded.expect("the encoding is small");
        cnf.into_iter().for_each(|clause| self.add(clause));
        adder.enforce_ub(most).expect("the bound is encoded")
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All choices of a few elements, compared, as numbers with one bit for each element where they are as good.
    #[test]
    fn the_best_choice_is_the_best() {
        let mut state = 7_u64;
        let mut below = |limit: usize| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            usize::try_from(state >> 33).expect("31 bits") % limit
        };
        for _ in 0..300 {
            let count = 1 + below(7);
            let mut numbers = |most: usize| (0..count).map(|_| below(most)).collect::<Vec<_>>();
            let (costs, ties) = (numbers(9), numbers(5));
            let mut subsets = |most: usize| {
                let sets = (0..below(most)).map(|_| (0..count).filter(|_| below(3) == 0).collect());
                sets.filter(|set: &Vec<usize>| !set.is_empty()).collect::<Vec<_>>()
            };
            let (sets, preferred) = (subsets(6), subsets(3));
            let choice = HittingSets { costs, ties, sets, preferred };
            let measure = |chosen: usize| {
                let has = |at: &usize| chosen >> at & 1 == 1;
                let sum = |of: &[usize]| (0..count).filter(has).map(|at| of[at]).sum::<usize>();
                let missed = choice.preferred.iter().filter(|set| !set.iter().any(has)).count();
                (sum(&choice.costs), missed, sum(&choice.ties), chosen)
            };
            let fits = |chosen: &usize| {
                let has = |at: &&usize| *chosen >> **at & 1 == 1;
                choice.sets.iter().all(|set| set.iter().any(|at| has(&at)))
            };
            let least = (0..1_usize << count).filter(fits).map(measure).min();
            let best = choice.best().map(|chosen| {
                let mask = chosen.iter().fold(0, |mask, at| mask | 1 << at);
                assert!(fits(&mask), "{choice:?}: {chosen:?}");
                measure(mask)
            });
            assert_eq!(best, least, "{choice:?}");
        }
    }
}
