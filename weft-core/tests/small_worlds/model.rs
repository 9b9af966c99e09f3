//! The interleaving model: every schedule of a program, by the rules of the machine (Weft, PLDI 2015, §3) and no others.
//!
//! Takes a [`Program`], gives a [`Verdict`]. Each state that some schedule reaches is visited once; nothing is reduced.
//! What the verdict does not mention no schedule does.

use std::collections::{BTreeSet, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use crate::machine::{CmdId, Generation, MAX_AGENTS, PLACES, Program, State, Step, conflicts};

/// Pairs of commands, the one of the lower agent first.
pub(crate) type Pairs = BTreeSet<(CmdId, CmdId)>;

/// What the schedules of a program can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Some schedule gets stuck before every agent has ended.
    pub(crate) deadlock: bool,
    /// Some schedule executes a barrier command with a wrong count.
    pub(crate) error: bool,
    /// No deadlock, no error, and every barrier command takes part in the same generation in all schedules. An
    /// incomplete last generation (arrivals that nobody waits for) is a generation too.
    pub(crate) well_synchronized: bool,
    /// Conflicting accesses that happen in both orders; meaningful only if well-synchronized.
    pub(crate) races: Pairs,
}

/// The verdict, with the races found a second way.
pub(crate) struct Explored {
    pub(crate) verdict: Verdict,
    /// Conflicting accesses that some state has both as the next command of their agents.
    pub(crate) adjacent: Pairs,
}

/// The verdict over all schedules.
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

/// A hash for states: a multiplication a word. The default one would take most of the time.
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

/// What the search has seen so far.
struct Search<'a> {
    program: &'a Program,
    conflicts: Vec<(CmdId, CmdId)>,
    first_then_second: Pairs,
    second_then_first: Pairs,
    adjacent: Pairs,
    /// The generation of each command, once some schedule has shown it.
    generations: [Option<Generation>; PLACES * MAX_AGENTS],
    /// Two schedules put one command into different generations.
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

    /// Notes the order of accesses that the state stands for. Where nothing deadlocks and nothing fails, every state
    /// is on the way of a complete schedule, so "one done, the other not" is "one before the other in some schedule".
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

    /// The state after a step of each agent that can step; notes how a schedule ends.
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

    /// A schedule has this generation: each of its members must be in the same one in all others.
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
