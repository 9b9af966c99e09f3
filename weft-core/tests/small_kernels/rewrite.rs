//! Code to code: each instruction in place of which others stand, and jumps that go where they went.

use crate::code::Op;

/// The place that inserted instructions count for.
pub(crate) const NOWHERE: usize = usize::MAX;

/// Code made of other code.
#[derive(Clone, Debug)]
pub(crate) struct Rewritten {
    pub(crate) code: Vec<Op>,
    /// By place: the place in the code before.
    pub(crate) origin: Vec<usize>,
}

impl Rewritten {
    pub(crate) fn place(&self, place: usize) -> usize {
        self.origin[place]
    }
}

/// With `by(place, instruction)` in place of each instruction, none of them a jump that was not there. A jump to an
/// instruction goes to the first in place of it, or behind.
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

/// Changes where an instruction goes.
fn aim(op: &mut Op, to: impl Fn(usize) -> usize) {
    match op {
        Op::Jump(_, target) => *target = to(*target),
        Op::Switch(_, targets) => targets.iter_mut().for_each(|target| *target = to(*target)),
        _ => {}
    }
}

/// Where an instruction may go, other than on.
pub(crate) fn targets(op: &Op) -> Vec<usize> {
    match op {
        Op::Jump(_, target) => vec![*target],
        Op::Switch(_, targets) => targets.to_vec(),
        _ => Vec::new(),
    }
}

/// Whether threads reach this place by going on from the one before, all of them that have not ended, and once.
pub(crate) fn is_common(code: &[Op], place: usize) -> bool {
    let crosses = |(at, op): (usize, &Op)| {
        targets(op).iter().any(|target| (at < place) != (*target < place) || *target == place)
    };
    !code.iter().enumerate().any(crosses)
}

/// The loops: first and last place, the last one jumping back.
pub(crate) fn loops(code: &[Op]) -> Vec<(usize, usize)> {
    let back = |(at, op): (usize, &Op)| match op {
        Op::Jump(_, target) if *target <= at => Some((*target, at)),
        _ => None,
    };
    code.iter().enumerate().filter_map(back).collect()
}

/// With the first round of a loop before the loop.
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
    // Who comes to the loop from outside comes to its first round.
    let from_outside = |target: usize| if target == first { first } else { behind(target) };
    copy(0..first, &from_outside);
    let within = |target: usize| {
        if (first + 1..=last).contains(&target) { target } else { behind(target) }
    };
    copy(first..last + 1, &within);
    copy(last..last + 1, &behind);
    copy(first..last + 1, &behind);
    copy(last + 1..code.len(), &from_outside);
    // Who does not go round goes on behind the loop.
    made.code[last + 1] = Op::Jump(None, behind(last + 1));
    made
}
