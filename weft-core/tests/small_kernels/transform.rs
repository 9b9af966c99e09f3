//! Kernels made of kernels.

use crate::code::Op;
use crate::dice::Dice;
use crate::independent::are_independent;
use crate::kernel::{ALL_PREDS, ALL_REGS, Instr, Operand, Place, Use, What};
use crate::print::Printed;
use crate::rewrite::{NOWHERE, Rewritten, is_common, loops, peeled, replaced, targets};

/// Registers and predicates by other names.
pub(crate) fn renamed(mut printed: Printed, dice: &mut Dice) -> Printed {
    let (registers, preds) = (shuffled(ALL_REGS, dice), shuffled(ALL_PREDS, dice));
    let name = |text: &str, prefix: &str, names: &[usize]| {
        let mut parts = text.split(prefix);
        let mut renamed = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            let (digits, rest) = part.split_at(end);
            let new = digits.parse().ok().and_then(|old: usize| names.get(old));
            let new = new.map_or_else(|| digits.to_owned(), usize::to_string);
            renamed.extend([prefix, &new, rest]);
        }
        renamed
    };
    printed.text = name(&name(&printed.text, "%r", &registers), "%p", &preds);
    printed
}

fn shuffled(count: usize, dice: &mut Dice) -> Vec<usize> {
    let mut names: Vec<usize> = (0..count).collect();
    for at in (1..count).rev() {
        names.swap(at, dice.roll(u32::try_from(at + 1).expect("few")) as usize);
    }
    names
}

/// Threads that do what others did: those whose indices differ from their own in these bits.
pub(crate) fn relabelled(mut printed: Printed, bits: u32) -> Printed {
    const INDEX: &str = "mov.u32 %r0, %tid.x;";
    printed.text = printed.text.replace(INDEX, &format!("{INDEX} xor.b32 %r0, %r0, {bits};"));
    printed
}

/// Neighbours that do not depend on each other change places, many times.
pub(crate) fn permuted(code: &[Op], dice: &mut Dice) -> Option<Rewritten> {
    let is_target = |at: usize| code.iter().any(|op| targets(op).contains(&at));
    let fixed: Vec<bool> = (0..=code.len()).map(is_target).collect();
    let mut made = Rewritten { code: code.to_vec(), origin: (0..code.len()).collect() };
    let mut swaps = 0;
    for _ in 0..8 * code.len() {
        let at = dice.roll(u32::try_from(code.len() - 1).expect("short")) as usize;
        if !fixed[at + 1] && are_independent(&made.code[at], &made.code[at + 1]) {
            made.code.swap(at, at + 1);
            made.origin.swap(at, at + 1);
            swaps += 1;
        }
    }
    (swaps > 0).then_some(made)
}

/// Each access of two words is two accesses.
pub(crate) fn split(code: &[Op]) -> Option<Rewritten> {
    let made = replaced(code, |at, op| {
        let both = |whats: [What; 2], guard| {
            whats.map(|what| (Op::Do(Instr { guard, what }), at)).to_vec()
        };
        let next = |place: Place| Place { offset: place.offset + 4, ..place };
        match *op {
            Op::Do(Instr { guard, what: What::StorePair { place, sources: [a, b] } }) => {
                let store = |place, source| What::Store { place, bytes: 4, source };
                both([store(place, a), store(next(place), b)], guard)
            }
            // The first one must not overwrite the index of the second.
            Op::Do(Instr { guard, what: What::LoadPair { dests: [a, b], place } })
                if place.index != Operand::Reg(a) =>
            {
                let load = |place, dest| What::Load { dest, place, bytes: 4 };
                both([load(place, a), load(next(place), b)], guard)
            }
            op => vec![(op, at)],
        }
    });
    (made.code.len() > code.len()).then_some(made)
}

/// The first round of a loop stands before the loop. Lanes that go round it differently often would stand at different
/// barriers and exchanges: loops with such are left out.
pub(crate) fn unrolled(code: &[Op], dice: &mut Dice) -> Option<Rewritten> {
    let waits = |op: &Op| {
        matches!(
            op,
            Op::Do(Instr {
                what: What::Barrier { .. } | What::Vote { .. } | What::Shuffle { .. },
                ..
            })
        )
    };
    let plain: Vec<_> = loops(code)
        .into_iter()
        .filter(|(first, last)| !code[*first..=*last].iter().any(waits))
        .collect();
    (!plain.is_empty()).then(|| peeled(code, dice.pick(&plain)))
}

/// A barrier of its own, for all threads, at every place that all come to.
pub(crate) fn with_barriers(code: &[Op]) -> Rewritten {
    let (how, count, is_aligned) = (Use::Sync, None, true);
    let barrier = What::Barrier { how, name: 2, count, is_aligned, dest: 0, pred: 0 };
    replaced(code, |at, op| {
        let mut ops = vec![(*op, at)];
        if is_common(code, at) {
            ops.insert(0, (Op::Do(Instr { guard: None, what: barrier }), NOWHERE));
        }
        ops
    })
}

/// Without one of its barriers.
pub(crate) fn without_a_barrier(code: &[Op], dice: &mut Dice) -> Option<Rewritten> {
    let is_barrier = |op: &Op| {
        matches!(
            op,
            Op::Do(Instr {
                what: What::Barrier { how: Use::Sync | Use::Arrive, .. } | What::WarpSync { .. },
                ..
            })
        )
    };
    let all: Vec<usize> = (0..code.len()).filter(|at| is_barrier(&code[*at])).collect();
    if all.is_empty() {
        return None;
    }
    let left_out = dice.pick(&all);
    Some(replaced(code, |at, op| if at == left_out { Vec::new() } else { vec![(*op, at)] }))
}
