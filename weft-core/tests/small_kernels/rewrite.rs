//! Rewrites code: replaces instructions by others and adjusts the targets of jumps.

use crate::code::Op;

/// The origin of instructions that were inserted.
pub(crate) const NOWHERE: usize = usize::MAX;

/// Rewritten code.
#[derive(Clone, Debug)]
pub(crate) struct Rewritten {
    pub(crate) code: Vec<Op>,
    /// For each instruction, the index of its original.
    pub(crate) origin: Vec<usize>,
}

impl Rewritten {
    pub(crate) fn place(&self, place: usize) -> usize {
        self.origin[place]
    }
}

/// Replaces each instruction by `by(index, instruction)`, which must add no jumps. A jump to an instruction then goes
/// to the first one that replaces it, or, if there is none, to the next.
pub(crate) fn replaced(code: &[Op], by: impl Fn(usize, &Op) -> Vec<(Op, usize)>) -> Rewritten {
    let (mut starts, mut parts) = (Vec::new(), Vec::new());
    for (at, op) in code.iter().enumerate() {
        starts.push(parts.len());
        parts.extend(by(at, op));
    }
    starts.push(parts.len());
    let (mut code, origin): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    for op in &mut code {
        aim(op, |target| starts[target]);
    }
    Rewritten { code, origin }
}

/// Changes the targets of an instruction.
fn aim(op: &mut Op, to: impl Fn(usize) -> usize) {
    match op {
        Op::Jump(_, target) => *target = to(*target),
        Op::Switch(_, targets) => targets.iter_mut().for_each(|target| *target = to(*target)),
        _ => {}
    }
}

/// Returns the jump targets of an instruction.
pub(crate) fn targets(op: &Op) -> Vec<usize> {
    match op {
        Op::Jump(_, target) => vec![*target],
        Op::Switch(_, targets) => targets.to_vec(),
        _ => Vec::new(),
    }
}

/// Whether no jump crosses or targets this place, so that all threads that have not ended pass it exactly once.
pub(crate) fn is_common(code: &[Op], place: usize) -> bool {
    let crosses = |(at, op): (usize, &Op)| {
        targets(op).iter().any(|target| (at < place) != (*target < place) || *target == place)
    };
    !code.iter().enumerate().any(crosses)
}

/// Returns the first and the last instruction of each loop; the last one jumps back.
pub(crate) fn loops(code: &[Op]) -> Vec<(usize, usize)> {
    let back = |(at, op): (usize, &Op)| match op {
        Op::Jump(_, target) if *target <= at => Some((*target, at)),
        _ => None,
    };
    code.iter().enumerate().filter_map(back).collect()
}

/// Copies the first iteration of a loop in front of the loop.
pub(crate) fn peeled(code: &[Op], (first, last): (usize, usize)) -> Rewritten {
    let length = last - first + 2;
    let behind = |target: usize| if target < first { target } else { target + length };
    let mut made = Rewritten { code: Vec::new(), origin: Vec::new() };
    let mut copy = |places: std::ops::Range<usize>, to: &dyn Fn(usize) -> usize| {
        for (op, at) in code[places.clone()].iter().zip(places) {
            let mut op = *op;
            aim(&mut op, to);
            made.code.push(op);
            made.origin.push(at);
        }
    };
    // A jump into the loop from outside goes to its first iteration.
    let from_outside = |target: usize| if target == first { first } else { behind(target) };
    copy(0..first, &from_outside);
    let within = |target: usize| {
        if (first + 1..=last).contains(&target) { target } else { behind(target) }
    };
    copy(first..last + 1, &within);
    copy(last..last + 1, &behind);
    copy(first..last + 1, &behind);
    copy(last + 1..code.len(), &from_outside);
    // A thread that leaves after the first iteration continues behind the loop.
    made.code[last + 1] = Op::Jump(None, behind(last + 1));
    made
}
