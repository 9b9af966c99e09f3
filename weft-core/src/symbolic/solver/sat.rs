//! Searches for inputs of a circuit under which wires hold, by the SAT solver batsat, with Tseitin's clauses for each gate
//! that the wires depend on.

use batsat::{Callbacks, ClauseKind, Lit, Solver, SolverInterface, SolverOpts, lbool};

use super::circuit::{Circuit, Gate, Wire};

/// The budget of a search: how many conflicts it meets until it gives up. A number of steps, not a time, so that an answer
/// is the same on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflicts(pub(crate) u64);

/// Stops the solver when it has learnt as many clauses as it is granted: the same ones in each run, unlike a time.
struct LearntLimit {
    left: Conflicts,
}

impl Callbacks for LearntLimit {
    fn on_new_clause(&mut self, _: &[Lit], kind: ClauseKind) {
        if kind == ClauseKind::Learnt {
            self.left.0 = self.left.0.saturating_sub(1);
        }
    }

    fn stop(&self) -> bool {
        self.left.0 == 0
    }
}

/// What a search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchResult {
    Unsatisfiable,
    Satisfiable,
    OutOfBudget,
}

/// A search whose wires can be added one by one.
pub(super) struct Search<'c> {
    circuit: &'c Circuit,
    solver: Solver<LearntLimit>,
    /// By number of the gate: the literal of its output.
    literals: Vec<Option<Lit>>,
    contradicts: bool,
}

impl<'c> Search<'c> {
    /// Returns a search without conditions.
    pub(super) fn new(circuit: &'c Circuit, budget: Conflicts) -> Search<'c> {
        Search {
            circuit,
            solver: Solver::new(SolverOpts::default(), LearntLimit { left: budget }),
            literals: vec![None; circuit.len()],
            contradicts: false,
        }
    }

    /// Adds a wire that has to hold.
    pub(super) fn assert(&mut self, wire: Wire) {
        let mut waiting = vec![wire];
        while let Some(wire) = waiting.pop() {
            match (wire.as_constant(), self.circuit.gate(wire.gate())) {
                (Some(holds), _) => self.contradicts |= !holds,
                (None, Gate::And(a, b)) if !wire.is_complement() => waiting.extend([b, a]),
                _ => {
                    self.define(wire);
                    let literal = self.literal(wire);
                    self.clause(&[literal]);
                }
            }
        }
    }

    /// Searches within what is left of the budget.
    pub(super) fn run(&mut self) -> SearchResult {
        if self.contradicts {
            return SearchResult::Unsatisfiable;
        }
        let result = self.solver.solve_limited(&[]);
        if result == lbool::TRUE {
            SearchResult::Satisfiable
        } else if result == lbool::FALSE {
            SearchResult::Unsatisfiable
        } else {
            SearchResult::OutOfBudget
        }
    }

    /// Returns the value of a wire where the search found one; an input on which nothing depends is zero.
    pub(super) fn value(&self, wire: Wire) -> bool {
        let output = self.literals[wire.gate()];
        let holds = output.is_some_and(|literal| self.solver.value_lit(literal) == lbool::TRUE);
        holds != wire.is_complement()
    }

    fn clause(&mut self, literals: &[Lit]) {
        let mut literals = literals.to_vec();
        self.contradicts |= !self.solver.add_clause_reuse(&mut literals);
    }

    /// Returns the literal of a wire whose gate has been defined.
    fn literal(&self, wire: Wire) -> Lit {
        let output = self.literals[wire.gate()].expect("operands are defined first");
        if wire.is_complement() { !output } else { output }
    }

    /// Adds the clauses of the gate and of all that it depends on.
    fn define(&mut self, wire: Wire) {
        let mut waiting = vec![wire.gate()];
        while let Some(at) = waiting.last().copied() {
            let before = waiting.len();
            if self.literals[at].is_none() {
                let undefined = |wire: &Wire| self.literals[wire.gate()].is_none();
                let operands = operands(self.circuit.gate(at));
                waiting.extend(operands.into_iter().flatten().filter(undefined).map(Wire::gate));
                if waiting.len() == before {
                    self.define_gate(at);
                }
            }
            if waiting.len() == before {
                waiting.pop();
            }
        }
    }

    fn define_gate(&mut self, at: usize) {
        let output = Lit::new(self.solver.new_var_default(), true);
        self.literals[at] = Some(output);
        match self.circuit.gate(at) {
            Gate::Input(_) => {}
            Gate::False => self.clause(&[!output]),
            Gate::And(a, b) => {
                let (a, b) = (self.literal(a), self.literal(b));
                self.clause(&[!output, a]);
                self.clause(&[!output, b]);
                self.clause(&[output, !a, !b]);
            }
            Gate::Xor(a, b) => {
                let (a, b) = (self.literal(a), self.literal(b));
                self.clause(&[!output, a, b]);
                self.clause(&[!output, !a, !b]);
                self.clause(&[output, !a, b]);
                self.clause(&[output, a, !b]);
            }
            Gate::Majority(a, b, c) => {
                let (a, b, c) = (self.literal(a), self.literal(b), self.literal(c));
                for (one, other) in [(a, b), (a, c), (b, c)] {
                    self.clause(&[output, !one, !other]);
                    self.clause(&[!output, one, other]);
                }
            }
            Gate::Choice(c, a, b) => {
                let (c, a, b) = (self.literal(c), self.literal(a), self.literal(b));
                for (condition, chosen) in [(c, a), (!c, b)] {
                    self.clause(&[!condition, !chosen, output]);
                    self.clause(&[!condition, chosen, !output]);
                }
                // Not needed, but it decides the output before the condition.
                self.clause(&[!a, !b, output]);
                self.clause(&[a, b, !output]);
            }
        }
    }
}

/// Returns the operands of a gate.
fn operands(gate: Gate) -> [Option<Wire>; 3] {
    match gate {
        Gate::False | Gate::Input(_) => [None; 3],
        Gate::And(a, b) | Gate::Xor(a, b) => [Some(a), Some(b), None],
        Gate::Majority(a, b, c) | Gate::Choice(a, b, c) => [Some(a), Some(b), Some(c)],
    }
}
