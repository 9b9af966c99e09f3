//! Finds out for which threads an expression has one value: all of the launch, those of a cta, or only itself.

use foldhash::HashMap;

use super::atom::{Atom, Variance};
use super::expr::{Expr, ExprNode};
use super::result_source::ResultSource;
use super::thread::{ReachCondition, SymbolicThread};
use crate::flow::BlockId;

/// The variances of a thread's expressions.
#[derive(Debug)]
pub(super) struct Variances {
    /// The loops that all threads of a cta go round equally often.
    pub(super) synchronized: Vec<BlockId>,
    of: Vec<Variance>,
    /// For each expression, the synchronized loops on whose iteration it depends: bit `n` for the n-th of them.
    iterations: Vec<u64>,
}

/// What results vary with by themselves.
type ResultVariances = HashMap<Atom, (Variance, u64)>;

/// The most loops that can be synchronized.
const MOST_LOOPS: usize = 64;

impl Variances {
    /// Computes the variances. A loop is synchronized if the conditions on which it is entered and goes on have one
    /// value in a cta as long as its iterations are the same.
    pub(super) fn of(thread: &SymbolicThread) -> Self {
        let mut synchronized: Vec<BlockId> =
            thread.loops.keys().copied().take(MOST_LOOPS).collect();
        loop {
            let found = Self::with(thread, synchronized);
            let is_uniform = |reach: &ReachCondition| found.variance(reach.comes) <= Variance::Cta;
            let stays = |header: &BlockId| {
                let all = &thread.loops[header];
                is_uniform(&all.entry) && all.again.iter().all(is_uniform)
            };
            let kept: Vec<BlockId> = found.synchronized.iter().copied().filter(stays).collect();
            if kept.len() == found.synchronized.len() {
                return found;
            }
            synchronized = kept;
        }
    }

    /// The variances if these loops are synchronized: the least ones under which every unknown varies at least as much
    /// as what it depends on.
    fn with(thread: &SymbolicThread, synchronized: Vec<BlockId>) -> Self {
        let count = thread.exprs.len();
        let mut found =
            Self { synchronized, of: vec![Variance::Launch; count], iterations: vec![0; count] };
        let mut depends: HashMap<Atom, Vec<Expr>> = HashMap::default();
        let mut results = ResultVariances::default();
        for all in thread.loops.values() {
            for (atom, values) in &all.carried {
                let mut values = values.clone();
                // Which of several values is handed on depends on the way that the iteration took.
                if all.again.len() > 1 {
                    values.extend(all.again.iter().map(|reach| reach.holds));
                }
                depends.insert(*atom, values);
            }
        }
        for (atom, source) in &thread.results {
            match source {
                ResultSource::Operands(operands) => {
                    depends.insert(*atom, operands.clone());
                }
                ResultSource::Cta(loops) if loops.iter().all(|own| found.bit(*own) != 0) => {
                    let bits = loops.iter().fold(0, |all, own| all | found.bit(*own));
                    results.insert(*atom, (Variance::Cta, bits));
                }
                ResultSource::Cta(_) | ResultSource::Warp | ResultSource::Other => {
                    results.insert(*atom, (Variance::Thread, 0));
                }
            }
        }
        while found.pass(thread, &depends, &results) {}
        found
    }

    fn pass(
        &mut self,
        thread: &SymbolicThread,
        depends: &HashMap<Atom, Vec<Expr>>,
        results: &ResultVariances,
    ) -> bool {
        let mut changed = false;
        for at in thread.exprs.all() {
            let (mut variance, mut iterations) = (self.variance(at), self.iterations_of(at));
            if let ExprNode::Atom(atom) = thread.exprs.node(at) {
                let (own, bits) = self.own(atom, results);
                variance = variance.max(own);
                iterations |= bits;
                for part in depends.get(&atom).into_iter().flatten() {
                    variance = variance.max(self.variance(*part));
                    iterations |= self.iterations_of(*part);
                }
                if let Atom::Loaded(address, _) = atom {
                    variance = variance.max(self.variance(address));
                    iterations |= self.iterations_of(address);
                }
            }
            for part in thread.exprs.operands(at) {
                variance = variance.max(self.variance(part));
                iterations |= self.iterations_of(part);
            }
            changed |= (variance, iterations) != (self.variance(at), self.iterations_of(at));
            self.of[at.index()] = variance;
            self.iterations[at.index()] = iterations;
        }
        changed
    }

    /// What an unknown varies with by itself.
    fn own(&self, atom: Atom, results: &ResultVariances) -> (Variance, u64) {
        match atom {
            Atom::Tid(_) | Atom::Unknown(_) => (Variance::Thread, 0),
            Atom::Ctaid(_) => (Variance::Cta, 0),
            Atom::Iteration(header) => match self.bit(header) {
                0 => (Variance::Thread, 0),
                bit => (Variance::Cta, bit),
            },
            Atom::Carried(header, _) => match self.bit(header) {
                0 => (Variance::Thread, 0),
                bit => (Variance::Launch, bit),
            },
            _ => results.get(&atom).copied().unwrap_or((Variance::Launch, 0)),
        }
    }

    /// The bit of a synchronized loop; 0 for another one.
    pub(super) fn bit(&self, header: BlockId) -> u64 {
        self.synchronized.iter().position(|own| *own == header).map_or(0, |at| 1 << at)
    }

    /// Returns for which threads an expression has one value, if their iterations of synchronized loops are the same.
    pub(super) fn variance(&self, of: Expr) -> Variance {
        self.of.get(of.index()).copied().unwrap_or(Variance::Thread)
    }

    /// Whether two threads have the same value, if what varies at most as `shared` is the same for both, and so are their
    /// iterations of synchronized loops, but for those of the bits `apart`.
    pub(super) fn is_common(&self, of: Expr, shared: Variance, apart: u64) -> bool {
        self.variance(of) <= shared && self.iterations_of(of) & apart == 0
    }

    /// Returns the synchronized loops on whose iteration an expression depends.
    pub(super) fn iterations_of(&self, of: Expr) -> u64 {
        self.iterations.get(of.index()).copied().unwrap_or(u64::MAX)
    }
}
