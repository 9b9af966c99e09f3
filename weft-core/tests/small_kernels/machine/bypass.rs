//! The reference machine: detects bypassed aligned barriers, on complete traces, for each pair of threads of a warp.
//!
//! A branch, or a guard on an aligned barrier, separates two threads if both execute it in the same iterations of the
//! loops around it and then go to different places. From there, each runs to the merge, the first place that all paths
//! to the end pass. If one thread reaches an aligned barrier before the merge and the other does not, and the other
//! later does anything observable, the other has bypassed the barrier.

use std::collections::HashMap;

use crate::code::Op;
use crate::kernel::{Array, Instr, What};

/// An instruction that a thread executed, and whether its guard held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Executed {
    pub(super) pc: usize,
    pub(super) is_enabled: bool,
}

/// The index of an instruction, and the iterations of the loops around it.
type Instance = (usize, Vec<usize>);

/// The instructions that a thread executed, and the position of each branch and guard in that list.
pub(super) struct Trace<'t> {
    executed: &'t [Executed],
    at: HashMap<Instance, usize>,
}

/// How a thread gets from a branch to its merge.
#[derive(Clone, Copy)]
enum Side {
    /// The thread reaches an aligned barrier first.
    Barrier,
    /// The thread reaches the merge, after this many instructions.
    Merge(usize),
    /// The thread reaches neither.
    Stuck,
}

/// The facts about a kernel that the rule needs.
pub(super) struct Rule<'c> {
    code: &'c [Op],
    /// For each place, the places that all paths from it to the end pass, including itself.
    passed: Vec<Vec<bool>>,
    /// The first and the last place of each loop.
    loops: Vec<(usize, usize)>,
}

impl<'c> Rule<'c> {
    /// Returns the rule of a kernel; `None` if the kernel has no aligned barrier.
    pub(super) fn of(code: &'c [Op]) -> Option<Self> {
        (0..code.len()).find(|pc| is_aligned(code, *pc))?;
        let back = |(pc, op): (usize, &Op)| match op {
            Op::Jump(_, target) if *target <= pc => Some((*target, pc)),
            _ => None,
        };
        let loops = code.iter().enumerate().filter_map(back).collect();
        Some(Self { code, passed: passed(code), loops })
    }

    pub(super) fn trace<'t>(&self, executed: &'t [Executed]) -> Trace<'t> {
        let mut iterations = vec![0; self.loops.len()];
        let mut at = HashMap::new();
        for (index, Executed { pc, .. }) in executed.iter().enumerate() {
            let before = index.checked_sub(1).map(|before| executed[before].pc);
            for ((first, last), iteration) in self.loops.iter().zip(&mut iterations) {
                if !(*first..=*last).contains(pc) {
                    *iteration = 0;
                } else if before == Some(*last) && pc == first {
                    *iteration += 1;
                }
            }
            at.insert((*pc, iterations.clone()), index);
        }
        Trace { executed, at }
    }

    /// Whether one of two threads of a warp bypasses an aligned barrier of the other.
    pub(super) fn is_bypassed(&self, a: &Trace<'_>, b: &Trace<'_>) -> bool {
        a.at.iter().any(|(instance, i)| {
            b.at.get(instance)
                .is_some_and(|j| self.is_bypassed_at(&a.executed[*i..], &b.executed[*j..]))
        })
    }

    /// Whether a barrier is bypassed after one execution of an instruction that separates the two threads. Both traces
    /// begin with that instruction.
    fn is_bypassed_at(&self, a: &[Executed], b: &[Executed]) -> bool {
        let goes_apart = a.len() > 1 && b.len() > 1 && a[1].pc != b[1].pc;
        let is_guarded = is_aligned(self.code, a[0].pc) && a[0] != b[0];
        if !goes_apart && !is_guarded {
            return false;
        }
        let merge = self.merge(a[0].pc);
        match (self.side(a, merge), self.side(b, merge)) {
            (Side::Barrier, Side::Merge(at)) => observes(self.code, &b[at..]),
            (Side::Merge(at), Side::Barrier) => observes(self.code, &a[at..]),
            _ => false,
        }
    }

    fn side(&self, trace: &[Executed], merge: usize) -> Side {
        for (at, executed) in trace.iter().enumerate() {
            if at > 0 && executed.pc == merge {
                return Side::Merge(at);
            }
            if executed.is_enabled && is_aligned(self.code, executed.pc) {
                return Side::Barrier;
            }
        }
        let has_ended =
            |last: &Executed| last.is_enabled && matches!(self.code[last.pc], Op::Exit(_));
        if trace.last().is_some_and(has_ended) { Side::Merge(trace.len()) } else { Side::Stuck }
    }

    /// Returns the first place after `pc` that all paths to the end pass: among all such places, the one from which
    /// most of them are still passed.
    fn merge(&self, pc: usize) -> usize {
        let count = |at: usize| self.passed[at].iter().filter(|own| **own).count();
        let all = (0..self.passed.len()).filter(|at| *at != pc && self.passed[pc][*at]);
        all.max_by_key(|at| count(*at)).expect("the end is passed")
    }
}

fn is_aligned(code: &[Op], pc: usize) -> bool {
    matches!(code[pc], Op::Do(Instr { what: What::Barrier { is_aligned: true, .. }, .. }))
}

/// Whether a thread does anything that other threads can observe.
fn observes(code: &[Op], trace: &[Executed]) -> bool {
    trace.iter().filter(|executed| executed.is_enabled).any(|executed| match code[executed.pc] {
        Op::Do(Instr { what, .. }) => match what {
            What::Load { place, .. }
            | What::Store { place, .. }
            | What::LoadPair { place, .. }
            | What::StorePair { place, .. }
            | What::Atomic { place, .. } => place.array != Array::Local || place.is_generic,
            What::Copy { .. }
            | What::Commit
            | What::Wait(_)
            | What::Barrier { .. }
            | What::WarpSync { .. }
            | What::Vote { .. }
            | What::Shuffle { .. } => true,
            What::Move(..) | What::Compute(..) | What::Test(..) | What::Select(..) => false,
        },
        _ => false,
    })
}

/// Returns the possible successors of an instruction; the end of the code has the index behind the last instruction.
fn successors(code: &[Op], pc: usize) -> Vec<usize> {
    match code[pc] {
        Op::Jump(None, target) => vec![target],
        Op::Jump(Some(_), target) => vec![target, pc + 1],
        Op::Switch(_, targets) => targets.to_vec(),
        Op::Exit(None) => vec![code.len()],
        Op::Exit(Some(_)) => vec![code.len(), pc + 1],
        _ => vec![pc + 1],
    }
}

/// For each place, the places that all paths from it to the end pass, including itself.
fn passed(code: &[Op]) -> Vec<Vec<bool>> {
    let end = code.len();
    let mut passed = vec![vec![true; end + 1]; end + 1];
    passed[end] = vec![false; end + 1];
    passed[end][end] = true;
    loop {
        let mut is_changed = false;
        for pc in (0..end).rev() {
            let mut own = vec![true; end + 1];
            for next in successors(code, pc) {
                own.iter_mut().zip(&passed[next]).for_each(|(own, next)| *own &= next);
            }
            own[pc] = true;
            is_changed |= own != passed[pc];
            passed[pc] = own;
        }
        if !is_changed {
            return passed;
        }
    }
}
