//! Decides which neighbouring instructions can be exchanged.

use crate::code::Op;
use crate::kernel::{Array, Instr, Operand, Place, Pred, Reg, What};

/// The registers, predicates and memory that an instruction reads and writes.
#[derive(Clone, Debug, Default)]
struct Uses {
    reads: Vec<Reg>,
    writes: Vec<Reg>,
    asks: Vec<Pred>,
    sets: Vec<Pred>,
    /// The state space that it accesses, and whether it writes.
    memory: Option<(Space, bool)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Space {
    Shared,
    Global,
    Local,
}

const fn space(array: Array) -> Space {
    match array {
        Array::A | Array::B => Space::Shared,
        Array::Out | Array::Data | Array::Either(_) => Space::Global,
        Array::Local => Space::Local,
    }
}

fn registers(operands: &[Operand]) -> Vec<Reg> {
    let register = |operand: &Operand| match operand {
        Operand::Reg(register) => Some(*register),
        Operand::Const(_) => None,
    };
    operands.iter().filter_map(register).collect()
}

/// Returns what an instruction uses; `None` if it synchronizes, branches or is otherwise not movable.
fn uses(op: &Op) -> Option<Uses> {
    let Op::Do(Instr { guard, what }) = op else { return None };
    let none = Uses::default;
    let at = |place: &Place, writes: bool| Some((space(place.array), writes));
    let mut uses = match what {
        What::Move(dest, a) => Uses { reads: registers(&[*a]), writes: vec![*dest], ..none() },
        What::Compute(dest, _, a, b) => {
            Uses { reads: registers(&[*a, *b]), writes: vec![*dest], ..none() }
        }
        What::Test(dest, _, a, b) => {
            Uses { reads: registers(&[*a, *b]), sets: vec![*dest], ..none() }
        }
        What::Select(dest, a, b, pred) => {
            let (reads, writes) = (registers(&[*a, *b]), vec![*dest]);
            Uses { reads, writes, asks: vec![*pred], ..none() }
        }
        What::Load { dest, place, .. } => {
            let (reads, writes) = (registers(&[place.index]), vec![*dest]);
            Uses { reads, writes, memory: at(place, false), ..none() }
        }
        What::LoadPair { dests, place } => {
            let (reads, writes) = (registers(&[place.index]), dests.to_vec());
            Uses { reads, writes, memory: at(place, false), ..none() }
        }
        What::Store { place, source, .. } => {
            Uses { reads: registers(&[place.index, *source]), memory: at(place, true), ..none() }
        }
        What::StorePair { place, sources: [a, b] } => {
            Uses { reads: registers(&[place.index, *a, *b]), memory: at(place, true), ..none() }
        }
        What::Atomic { dest, place, source, compare, .. } => {
            let reads = registers(&[place.index, *source, *compare]);
            let writes = dest.iter().copied().collect();
            Uses { reads, writes, memory: at(place, true), ..none() }
        }
        What::Barrier { .. } | What::WarpSync { .. } | What::Vote { .. } | What::Shuffle { .. } => {
            return None;
        }
        What::Copy { .. } | What::Commit | What::Wait(_) => return None,
    };
    uses.asks.extend(guard.map(|(pred, _)| pred));
    if let Some(Place { array: Array::Either(pred), .. }) = (*what).clone().place_mut() {
        uses.asks.push(*pred);
    }
    Some(uses)
}

/// Whether a thread behaves the same if it executes the two instructions in the opposite order.
pub(crate) fn are_independent(first: &Op, second: &Op) -> bool {
    let (Some(a), Some(b)) = (uses(first), uses(second)) else { return false };
    let meets = |written: &[usize], used: &[usize]| written.iter().any(|own| used.contains(own));
    let is_apart = |a: &Uses, b: &Uses| {
        !meets(&a.writes, &b.reads)
            && !meets(&a.writes, &b.writes)
            && !meets(&a.sets, &b.asks)
            && !meets(&a.sets, &b.sets)
    };
    let meet_in_memory = match (a.memory, b.memory) {
        (Some((a, a_writes)), Some((b, b_writes))) => a == b && (a_writes || b_writes),
        _ => false,
    };
    is_apart(&a, &b) && is_apart(&b, &a) && !meet_in_memory
}
