//! The interleaving model: explores every schedule of a program by the rules of the machine (Weft, PLDI 2015, §3).
//!
//! Takes a [`Program`] and returns a [`Verdict`]. Each reachable state is visited once, without any reduction. What the
//! verdict does not mention happens in no schedule.

use std::collections::{BTreeSet, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use crate::machine::{CmdId, Generation, MAX_AGENTS, PLACES, Program, State, Step, conflicts};

/// Pairs of commands, in each the one of the lower agent first.
pub(crate) type Pairs = BTreeSet<(CmdId, CmdId)>;

/// The possible behaviours of all schedules of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Some schedule blocks before every agent has ended.
    pub(crate) deadlock: bool,
    /// Some schedule executes a barrier command with a wrong count.
    pub(crate) error: bool,
    /// No deadlock, no error, and every barrier command belongs to the same generation in all schedules. An incomplete
    /// last generation (arrivals without a wait) counts as a generation.
    pub(crate) well_synchronized: bool,
    /// Conflicting accesses that happen in both orders; meaningful only if the program is well-synchronized.
    pub(crate) races: Pairs,
}

/// The verdict, and the races determined in a second way.
pub(crate) struct Explored {
    pub(crate) verdict: Verdict,
    /// Conflicting accesses that are both next commands of their agents in some state.
    pub(crate) adjacent: Pairs,
}

/// Returns the verdict over all schedules.
pub(crate) fn check(program: &Program) -> Verdict {
    explore(program).verdict
}

/// Visits every state that some schedule reaches.
pub(crate) fn explore(program: &Program) -> Explored {
    assert!(
        program.agents.iter().all(|commands| commands.len() < PLACES),
        "at most seven commands: {program:?}"
    );
    let mut search = Search::new(program);
    let mut seen: HashSet<State, BuildHasherDefault<Mix>> = HashSet::default();
    seen.insert(State::default());
    let mut open = vec![State::default()];
    while let Some(state) = open.pop() {
        search.visit(&state);
        open.extend(
            search.successors(&state).into_iter().flatten().filter(|next| seen.insert(*next)),
        );
    }
    search.explored()
}

/// A hash function for states: one multiplication a word. The default hash function would take most of the time.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        bytes.chunks(8).for_each(|chunk| {
            self.write_u64(chunk.iter().fold(0, |word, &b| word << 8 | u64::from(b)));
        });
    }

    fn write_u8(&mut self, byte: u8) {
        self.write_u64(u64::from(byte));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(29) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}

/// The findings of the search so far.
struct Search<'a> {
    program: &'a Program,
    conflicts: Vec<(CmdId, CmdId)>,
    first_then_second: Pairs,
    second_then_first: Pairs,
    adjacent: Pairs,
    /// The generation of each command, once some schedule has reached it.
    generations: [Option<Generation>; PLACES * MAX_AGENTS],
    /// Whether two schedules put one command into different generations.
    mixed: bool,
    deadlock: bool,
    error: bool,
}

impl<'a> Search<'a> {
    fn new(program: &'a Program) -> Self {
        Search {
            program,
            conflicts: conflicts(program),
            first_then_second: Pairs::new(),
            second_then_first: Pairs::new(),
            adjacent: Pairs::new(),
            generations: [None; PLACES * MAX_AGENTS],
            mixed: false,
            deadlock: false,
            error: false,
        }
    }

    /// Records the order of accesses in this state. If no schedule deadlocks or fails, every state is part of a
    /// complete schedule, so that "one executed, the other not" means "one before the other in some schedule".
    fn visit(&mut self, state: &State) {
        for &(x, y) in &self.conflicts {
            match (state.next(x.0) > x.1, state.next(y.0) > y.1) {
                (true, false) => self.first_then_second.insert((x, y)),
                (false, true) => self.second_then_first.insert((x, y)),
                _ => {
                    state.next(x.0) == x.1 && state.next(y.0) == y.1 && self.adjacent.insert((x, y))
                }
            };
        }
    }

    /// Returns the state after a step of each agent that can step; records how a schedule ends.
    fn successors(&mut self, state: &State) -> [Option<State>; MAX_AGENTS] {
        let mut after = [None; MAX_AGENTS];
        let agents = self.program.agents.len();
        let mut stuck = true;
        for agent in (0..agents).filter(|&agent| state.runnable(self.program, agent)) {
            stuck = false;
            let mut next = *state;
            match next.step(agents, agent, self.program.agents[agent][state.next(agent)]) {
                Step::Went => after[agent] = Some(next),
                Step::Completed(generation) => {
                    self.note(generation);
                    after[agent] = Some(next);
                }
                Step::Fault => self.error = true,
            }
        }
        if stuck {
            self.deadlock |= !state.finished(self.program);
            state.incomplete().for_each(|generation| self.note(generation));
        }
        after
    }

    /// Records a generation of a schedule: each of its members must be in the same generation in all other schedules.
    fn note(&mut self, generation: Generation) {
        for (bit, known) in self.generations.iter_mut().enumerate() {
            if generation.members >> bit & 1 == 1 {
                self.mixed |= *known.get_or_insert(generation) != generation;
            }
        }
    }

    fn explored(self) -> Explored {
        let verdict = Verdict {
            deadlock: self.deadlock,
            error: self.error,
            well_synchronized: !(self.deadlock || self.error || self.mixed),
            races: self.first_then_second.intersection(&self.second_then_first).copied().collect(),
        };
        Explored { verdict, adjacent: self.adjacent }
    }
}
