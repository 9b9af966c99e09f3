//! Replays the barriers of a cta: checks that generations complete exactly when they have to (PLDI 2015, §3, and PTX
//! ISA §9.7.13.1), and records whether each barrier is safely recycled (Fig. 4).

use std::collections::BTreeSet;

use weft_core::emulate::{Arrival, BarrierId, WARP, WarpId};
use weft_core::flow::{Operand, Pc, Program};

use super::relation::{Point, Relation};

/// The command of a warp at a barrier.
#[derive(Clone, Debug)]
struct Command {
    warp: WarpId,
    pc: Pc,
    waits: bool,
    /// For each thread of the warp, the point of its command.
    points: Vec<Point>,
}

#[derive(Clone, Debug, Default)]
struct Generation {
    /// The expected number of threads; `None` before the first arrival.
    count: Option<Count>,
    commands: Vec<Command>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    All,
    Given(u64),
    Unknown,
}

/// The completed generation before the current one.
#[derive(Clone, Debug, Default)]
struct Completed {
    /// The point of its completion, if a warp waited for it.
    point: Option<Point>,
    commands: Vec<Command>,
}

/// The barriers of one cta.
#[derive(Debug)]
pub(crate) struct Barriers {
    running: Vec<Generation>,
    completed: Vec<Completed>,
    warps: usize,
    /// Unsafely recycled barriers: an arrival, and an arrival of the generation before that it is not ordered behind.
    pub(crate) recycled: BTreeSet<(Pc, Pc)>,
}

impl Barriers {
    pub(crate) fn new(warps: usize) -> Self {
        Self {
            running: vec![Generation::default(); 16],
            completed: vec![Completed::default(); 16],
            warps,
            recycled: BTreeSet::new(),
        }
    }

    /// Records the arrival of the threads of a warp, which stand at the points `threads`. Returns the points of their
    /// commands.
    pub(crate) fn arrive(
        &mut self,
        arrival: Arrival,
        threads: &[Point],
        program: &Program,
        relation: &mut Relation,
    ) -> Vec<Point> {
        let slot = usize::from(arrival.barrier.name());
        self.check_recycling(arrival, threads, relation);
        let points: Vec<Point> = threads.iter().map(|own| relation.behind(&[*own])).collect();
        let count = match program.code[arrival.pc.index()].sources.get(1) {
            Some(Operand::Constant(count)) => Count::Given(*count),
            // No operand, or only the predicate of a reduction: the barrier has no count.
            None | Some(Operand::Not(_)) => Count::All,
            Some(_) => Count::Unknown,
        };
        let running = &mut self.running[slot];
        let known = *running.count.get_or_insert(count);
        let whole = Count::Given((self.warps * WARP) as u64);
        let is_same = known == count || [known, count].contains(&Count::Unknown);
        let are_whole =
            [Count::All, whole].contains(&known) && [Count::All, whole].contains(&count);
        assert!(is_same || are_whole, "{arrival:?} has another count than {known:?}");
        if count != Count::All {
            running.count = Some(count);
        }
        let Arrival { warp, pc, waits, .. } = arrival;
        running.commands.push(Command { warp, pc, waits, points: points.clone() });
        points
    }

    fn check_recycling(&mut self, arrival: Arrival, threads: &[Point], relation: &Relation) {
        let completed = &self.completed[usize::from(arrival.barrier.name())];
        let is_known = |point: Point| threads.iter().all(|own| relation.holds(point, *own));
        let is_done = |command: &Command| {
            // A warp arrives as a whole: if one of its threads has arrived, all have.
            command.warp == arrival.warp || command.points.iter().any(|point| is_known(*point))
        };
        match completed.point {
            Some(point) if is_known(point) => {}
            Some(_) => {
                let waits = completed.commands.iter().filter(|command| command.waits);
                self.recycled.extend(waits.map(|command| (arrival.pc, command.pc)));
            }
            None => {
                let undone = completed.commands.iter().filter(|command| !is_done(command));
                self.recycled.extend(undone.map(|command| (arrival.pc, command.pc)));
            }
        }
    }

    /// Whether the current generation is complete; `None` if its count is unknown. `is_live` says whether a warp has a
    /// thread that has not ended.
    pub(crate) fn is_due(
        &self,
        barrier: BarrierId,
        is_live: impl Fn(WarpId) -> bool,
    ) -> Option<bool> {
        let running = &self.running[usize::from(barrier.name())];
        let arrived = running.commands.len();
        let has_come = |warp: WarpId| running.commands.iter().any(|command| command.warp == warp);
        Some(match running.count {
            None => false,
            Some(Count::Unknown) => return None,
            Some(Count::Given(count)) => (arrived * WARP) as u64 >= count,
            Some(Count::All) => {
                arrived >= self.warps
                    || (0..self.warps).map(WarpId::new).all(|warp| !is_live(warp) || has_come(warp))
            }
        })
    }

    /// Completes the current generation. Returns the point of the completion and the warps that waited for it.
    pub(crate) fn complete(
        &mut self,
        barrier: BarrierId,
        relation: &mut Relation,
    ) -> (Point, Vec<WarpId>) {
        let slot = usize::from(barrier.name());
        let Generation { commands, .. } = std::mem::take(&mut self.running[slot]);
        let all: Vec<Point> =
            commands.iter().flat_map(|command| &command.points).copied().collect();
        let point = relation.behind(&all);
        let waiting = commands.iter().filter(|command| command.waits).map(|command| command.warp);
        let waiting: Vec<WarpId> = waiting.collect();
        let point_of_waits = (!waiting.is_empty()).then_some(point);
        self.completed[slot] = Completed { point: point_of_waits, commands };
        (point, waiting)
    }
}
