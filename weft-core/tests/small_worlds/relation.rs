//! The happens-before relation of the Weft paper in full: Figure 4 (PLDI 2015) on one schedule.
//!
//! Takes a [`Program`] and a way to choose the next agent; runs that schedule, builds R over its commands with all its
//! edges, closes it, and returns a [`Judgement`]. That the judgement of one schedule holds for all of them is the
//! paper's theorem, which the model decides for every small world.

use crate::machine::{
    CmdId, Command, Commands, Generation, MAX_AGENTS, PLACES, Program, State, Step, conflicts, only,
};
use crate::model::Pairs;

/// What one schedule shows about all schedules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    Deadlock,
    Error,
    /// Some participant might join before the generation ahead of its own is complete.
    Recycling,
    /// The program is well-synchronized; holds the conflicting accesses that R leaves unordered.
    Ordered(Pairs),
}

/// Chooses the agent that steps. Takes the agents that can step (at least one) and the number of steps so far.
pub(crate) type Schedule = fn(&[usize], usize) -> usize;

/// The first agent runs until it blocks or ends, then the next.
pub(crate) fn lowest(runnable: &[usize], _: usize) -> usize {
    runnable[0]
}

/// The last agent runs until it blocks or ends, then the one before.
pub(crate) fn highest(runnable: &[usize], _: usize) -> usize {
    runnable[runnable.len() - 1]
}

/// The agents take turns.
pub(crate) fn in_turn(runnable: &[usize], steps: usize) -> usize {
    runnable[steps % runnable.len()]
}

/// Judges the program by one of its schedules.
pub(crate) fn judge(program: &Program, schedule: Schedule) -> Judgement {
    match run(program, schedule) {
        Ok(generations) => {
            let relation = Relation::new(program, &generations);
            if generations.iter().all(|g| relation.recycles_safely(program, &generations, g)) {
                Judgement::Ordered(relation.unordered(program))
            } else {
                Judgement::Recycling
            }
        }
        Err(judgement) => judgement,
    }
}

/// Runs one schedule to its end and returns all its generations, including incomplete ones.
fn run(program: &Program, schedule: Schedule) -> Result<Vec<Generation>, Judgement> {
    let agents = program.agents.len();
    let mut state = State::default();
    let mut generations = Vec::new();
    for steps in 0.. {
        let runnable: Vec<usize> =
            (0..agents).filter(|&agent| state.runnable(program, agent)).collect();
        if runnable.is_empty() {
            break;
        }
        let agent = schedule(&runnable, steps);
        match state.step(agents, agent, program.agents[agent][state.next(agent)]) {
            Step::Went => {}
            Step::Completed(generation) => generations.push(generation),
            Step::Fault => return Err(Judgement::Error),
        }
    }
    generations.extend(state.incomplete());
    if state.finished(program) { Ok(generations) } else { Err(Judgement::Deadlock) }
}

/// Returns the commands of a set, in order.
fn members(set: Commands) -> impl Iterator<Item = CmdId> {
    (0..MAX_AGENTS)
        .flat_map(|agent| (0..PLACES).map(move |index| (agent, index)))
        .filter(move |&command| set & only(command) != 0)
}

/// Returns every command of the program.
fn all(program: &Program) -> impl Iterator<Item = CmdId> {
    let agents = program.agents.iter().enumerate();
    agents.flat_map(|(agent, commands)| (0..commands.len()).map(move |index| (agent, index)))
}

fn is_sync(program: &Program, (agent, index): CmdId) -> bool {
    matches!(program.agents[agent][index], Command::Sync { .. })
}

/// R as a boolean matrix: for each command, the set of commands that it happens before.
struct Relation {
    after: [[Commands; PLACES]; MAX_AGENTS],
}

impl Relation {
    /// Program order, arrive to sync and sync to sync within a generation, closed transitively.
    fn new(program: &Program, generations: &[Generation]) -> Self {
        let mut relation = Relation { after: [[0; PLACES]; MAX_AGENTS] };
        for (agent, commands) in program.agents.iter().enumerate() {
            (1..commands.len()).for_each(|index| relation.add((agent, index - 1), (agent, index)));
        }
        for generation in generations {
            for x in members(generation.members) {
                let syncs = members(generation.members).filter(|&y| x != y && is_sync(program, y));
                syncs.for_each(|y| relation.add(x, y));
            }
        }
        relation.close(program);
        relation
    }

    fn add(&mut self, x: CmdId, y: CmdId) {
        self.after[x.0][x.1] |= only(y);
    }

    fn holds(&self, x: CmdId, y: CmdId) -> bool {
        self.after[x.0][x.1] & only(y) != 0
    }

    /// Warshall's algorithm, a row at a time.
    fn close(&mut self, program: &Program) {
        for via in all(program) {
            for x in all(program) {
                if self.holds(x, via) {
                    self.after[x.0][x.1] |= self.after[via.0][via.1];
                }
            }
        }
    }

    /// Whether the generation ahead of this one, on the same barrier, completes before every point that precedes a
    /// participant of this one.
    fn recycles_safely(
        &self,
        program: &Program,
        generations: &[Generation],
        generation: &Generation,
    ) -> bool {
        let ahead = |g: &&Generation| {
            g.barrier == generation.barrier && g.ordinal + 1 == generation.ordinal
        };
        let Some(previous) = generations.iter().find(ahead) else {
            return true;
        };
        members(generation.members).all(|(agent, index)| {
            let point = index.checked_sub(1).map(|before| (agent, before));
            point.is_some_and(|point| self.complete_before(program, previous, point))
        })
    }

    /// Whether the generation is complete whenever the command at `point` has been executed. Its syncs are executed
    /// when it completes, so one of them suffices; without syncs, all arrivals must have been executed.
    fn complete_before(&self, program: &Program, generation: &Generation, point: CmdId) -> bool {
        let done = |command| command == point || self.holds(command, point);
        match members(generation.members).find(|&command| is_sync(program, command)) {
            Some(sync) => done(sync),
            None => members(generation.members).all(done),
        }
    }

    /// Returns the conflicting accesses of which neither happens before the other.
    fn unordered(&self, program: &Program) -> Pairs {
        conflicts(program)
            .into_iter()
            .filter(|&(x, y)| !self.holds(x, y) && !self.holds(y, x))
            .collect()
    }
}
