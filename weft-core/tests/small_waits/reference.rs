//! The memory consistency model of PTX (ISA §8) on all executions of a kernel, event by event.
//!
//! An execution is an order of the writes of each sync word, and what each strong load of one reads. All are tried; those that
//! the axioms forbid, or in which a wait reads what does not let it pass, are none. Loads of a wait that do not let it pass
//! could only add to the order, so that a wait is one load. Of the fences, all Fence-SC orders are tried.

use crate::step::{Change, EVERYONE, Kernel, Order, Scope, Step};

/// What is known of all executions of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Judgement {
    /// How many executions there are in which all waits end, up to the first with a race.
    pub(crate) executions: u32,
    /// Whether there is a race in one of them.
    pub(crate) races: bool,
    /// How many candidates were examined.
    candidates: u32,
}

impl Judgement {
    /// Candidates after which the reference gives up.
    const MOST: u32 = 10_000;

    /// Whether nothing is known, because there are too many candidates.
    pub(crate) const fn is_unknown(self) -> bool {
        !self.races && self.candidates == Self::MOST
    }

    const fn ends(self) -> bool {
        self.races || self.candidates == Self::MOST
    }
}

/// A set of events, a bit each.
type Events = u128;

/// What a thread does at a step.
struct Event {
    cta: u32,
    agent: u32,
    slot: usize,
    step: Step,
}

/// Memory that events access.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Data(u32),
    Sync(usize),
}

impl Event {
    fn place(&self, kernel: &Kernel) -> Option<Place> {
        match self.step {
            Step::Put { word, of_cta } | Step::Get { word, of_cta } => {
                Some(Place::Data(kernel.word(word, of_cta, self.cta)))
            }
            Step::Store { sync, .. }
            | Step::Load { sync, .. }
            | Step::Atomic { sync, .. }
            | Step::Wait { sync, .. } => Some(Place::Sync(sync)),
            Step::Fence { .. } | Step::Barrier => None,
        }
    }

    const fn is_write(&self) -> bool {
        matches!(self.step, Step::Put { .. } | Step::Store { .. } | Step::Atomic { .. })
    }

    const fn is_atomic(&self) -> bool {
        matches!(self.step, Step::Atomic { .. })
    }

    /// Whether it reads a sync word, atomics included.
    const fn asks(&self) -> bool {
        matches!(self.step, Step::Load { .. } | Step::Wait { .. } | Step::Atomic { .. })
    }

    /// Whether what it reads goes into a register: only then can it begin an acquire pattern.
    const fn learns(&self) -> bool {
        self.asks() && !matches!(self.step, Step::Atomic { change: Change::Reduce(_), .. })
    }

    /// The order and the scope, if it is strong.
    fn strength(&self) -> Option<(Order, Scope)> {
        match self.step {
            Step::Store { order, scope, .. }
            | Step::Load { order, scope, .. }
            | Step::Atomic { order, scope, .. }
            | Step::Wait { order, scope, .. } => match order {
                Order::Weak => None,
                // As relaxed for the whole system.
                Order::Volatile => Some((Order::Relaxed, Scope::Sys)),
                _ => Some((order, scope)),
            },
            Step::Fence { scope, .. } => Some((Order::AcqRel, scope)),
            Step::Put { .. } | Step::Get { .. } | Step::Barrier => None,
        }
    }

    fn releases(&self) -> bool {
        self.strength().is_some_and(|(order, _)| matches!(order, Order::Release | Order::AcqRel))
    }

    fn acquires(&self) -> bool {
        self.strength().is_some_and(|(order, _)| matches!(order, Order::Acquire | Order::AcqRel))
    }

    fn is_thread(&self, other: &Self) -> bool {
        (self.cta, self.agent) == (other.cta, other.agent)
    }

    /// Whether both are strong, each for a scope that includes the other's thread (§8.7), or of one thread.
    fn is_morally_strong(&self, other: &Self) -> bool {
        let includes = |scope: Scope| scope != Scope::Cta || self.cta == other.cta;
        let both = self.strength().zip(other.strength());
        self.is_thread(other)
            || both.is_some_and(|((_, one), (_, two))| includes(one) && includes(two))
    }
}

/// The executions of a kernel; without its waits, if so stated.
pub(crate) fn judge(kernel: &Kernel, has_waits: bool) -> Judgement {
    let events = events(kernel, has_waits);
    let model = Model::new(kernel, &events);
    let mut judgement = Judgement::default();
    let mut execution = Execution { writes: Vec::new(), from: vec![None; events.len()] };
    model.each_order(&mut execution, &mut judgement);
    judgement
}

fn events(kernel: &Kernel, has_waits: bool) -> Vec<Event> {
    // One of the threads that are no agents stands for all of them: they only read.
    let agents = u32::try_from(kernel.agents.len()).expect("few");
    let agents = if kernel.block > agents { agents + 1 } else { agents };
    let mut events = Vec::new();
    for cta in 0..kernel.ctas {
        for (slot, of) in kernel.slots.iter().enumerate().filter(|(_, of)| of.ctas >> cta & 1 == 1)
        {
            let is_left_out = match of.step {
                Step::Barrier => true,
                Step::Wait { .. } => !has_waits,
                _ => false,
            };
            for agent in (0..agents).filter(|agent| !is_left_out && of.agents >> agent & 1 == 1) {
                events.push(Event { cta, agent, slot, step: of.step });
            }
        }
    }
    assert!(events.len() <= 128, "too many events: {kernel:?}");
    let is_change =
        |step| matches!(step, Step::Put { .. } | Step::Store { .. } | Step::Atomic { .. });
    assert!(kernel.slots.iter().all(|slot| slot.agents != EVERYONE || !is_change(slot.step)));
    events
}

/// A candidate of an execution.
struct Execution {
    /// The writes of each sync word in coherence order.
    writes: Vec<Vec<usize>>,
    /// What each event that reads a sync word reads: a write, or what was there at the launch.
    from: Vec<Option<usize>>,
}

/// What is the same in all executions.
struct Model<'a> {
    kernel: &'a Kernel,
    events: &'a [Event],
    /// The later events of each that are of its thread or behind a barrier of its cta.
    within: Vec<Events>,
    /// The other events that are morally strong with each.
    strong: Vec<Events>,
    /// The first events of the release patterns that end with a write.
    starts: Vec<Events>,
    /// The last events of the acquire patterns that begin with a read.
    ends: Vec<Events>,
    /// The writes of each sync word.
    writes: Vec<Vec<usize>>,
    /// The loads of sync words, atomics apart.
    loads: Vec<usize>,
    /// Pairs of conflicting accesses of different threads that are not morally strong.
    conflicts: Vec<(usize, usize)>,
    /// Pairs of `fence.sc` of different threads that are morally strong.
    fence_pairs: Vec<(usize, usize)>,
}

impl<'a> Model<'a> {
    fn new(kernel: &'a Kernel, events: &'a [Event]) -> Self {
        let all = || 0..events.len();
        let set = |is_in: &dyn Fn(usize) -> bool| -> Events {
            all().filter(|at| is_in(*at)).map(|at| 1 << at).sum()
        };
        let rows = |is_in: &dyn Fn(usize, usize) -> bool| -> Vec<Events> {
            all().map(|one| set(&|two| is_in(one, two))).collect()
        };
        let place = |at: usize| events[at].place(kernel);
        let is_within = |one: usize, two: usize| is_within(kernel, &events[one], &events[two]);
        let is_fence = |at: usize| matches!(events[at].step, Step::Fence { .. });
        let is_po = |one: usize, two: usize| {
            events[one].is_thread(&events[two]) && events[one].slot < events[two].slot
        };
        let is_strong = |at: usize| events[at].strength().is_some();
        // §8.8: a release operation, or one or a fence in front of a strong write; and likewise behind a strong read.
        let starts = rows(&|write, start| {
            let is_pattern =
                is_po(start, write) && (is_fence(start) || place(start) == place(write));
            let begins = start == write || is_pattern;
            events[write].is_write() && is_strong(write) && events[start].releases() && begins
        });
        let ends = rows(&|read, end| {
            let is_pattern = is_po(read, end) && (is_fence(end) || place(end) == place(read));
            let stops = is_fence(end) || events[end].learns();
            let is_end = (end == read || is_pattern) && stops;
            events[read].learns() && is_strong(read) && events[end].acquires() && is_end
        });
        let conflict = |one: usize, two: usize| {
            let is_apart = !events[one].is_thread(&events[two]) && place(one).is_some();
            let is_write = events[one].is_write() || events[two].is_write();
            let is_strong = events[one].is_morally_strong(&events[two]);
            is_apart && place(one) == place(two) && is_write && !is_strong
        };
        let is_sc = |at: usize| matches!(events[at].step, Step::Fence { is_sc: true, .. });
        let fence_pair = |one: usize, two: usize| {
            let is_apart = !events[one].is_thread(&events[two]);
            is_apart && is_sc(one) && is_sc(two) && events[one].is_morally_strong(&events[two])
        };
        let pairs = || all().flat_map(|one| (0..one).map(move |two| (one, two)));
        Self {
            kernel,
            events,
            within: rows(&is_within),
            strong: rows(&|one, two| events[one].is_morally_strong(&events[two])),
            starts,
            ends,
            writes: (0..kernel.syncs.len())
                .map(|sync| {
                    let is_of = |at: &usize| place(*at) == Some(Place::Sync(sync));
                    all().filter(|at| events[*at].is_write()).filter(is_of).collect()
                })
                .collect(),
            loads: all().filter(|at| events[*at].asks() && !events[*at].is_atomic()).collect(),
            conflicts: pairs().filter(|(one, two)| conflict(*one, *two)).collect(),
            fence_pairs: pairs().filter(|(one, two)| fence_pair(*one, *two)).collect(),
        }
    }

    /// Tries all coherence orders.
    fn each_order(&self, execution: &mut Execution, judgement: &mut Judgement) {
        let sync = execution.writes.len();
        let Some(writes) = self.writes.get(sync) else {
            self.each_reading(0, execution, judgement);
            return;
        };
        let mut orders = Vec::new();
        self.extend(&mut Vec::new(), writes, &mut orders);
        for order in orders {
            execution.writes.push(order);
            self.each_order(execution, judgement);
            execution.writes.pop();
            if judgement.ends() {
                return;
            }
        }
    }

    /// The orders of writes that agree with what happens within ctas.
    fn extend(&self, order: &mut Vec<usize>, writes: &[usize], orders: &mut Vec<Vec<usize>>) {
        if order.len() == writes.len() {
            orders.push(order.clone());
            return;
        }
        let rest: Vec<_> = writes.iter().copied().filter(|at| !order.contains(at)).collect();
        let is_next = |at: usize| rest.iter().all(|other| self.within[*other] >> at & 1 == 0);
        for next in rest.iter().copied().filter(|at| is_next(*at)) {
            order.push(next);
            self.extend(order, writes, orders);
            order.pop();
        }
    }

    /// Tries whatever loads could read, from that with this number on.
    fn each_reading(&self, load: usize, execution: &mut Execution, judgement: &mut Judgement) {
        let Some(at) = self.loads.get(load).copied() else {
            self.examine(execution, judgement);
            return;
        };
        let Some(Place::Sync(sync)) = self.events[at].place(self.kernel) else { return };
        let mut value = self.kernel.syncs[sync];
        for number in 0..=execution.writes[sync].len() {
            let from = number.checked_sub(1).map(|number| execution.writes[sync][number]);
            value = from.map_or(value, |from| match self.events[from].step {
                Step::Atomic { change: Change::Add(by) | Change::Reduce(by), .. } => value + by,
                Step::Atomic { change: Change::Exchange(value), .. }
                | Step::Store { value, .. } => value,
                _ => value,
            });
            let passes = match self.events[at].step {
                Step::Wait { until, .. } => until.holds(value),
                _ => true,
            };
            if passes && from.is_none_or(|from| self.within[at] >> from & 1 == 0) {
                execution.from[at] = from;
                self.each_reading(load + 1, execution, judgement);
                if judgement.ends() {
                    return;
                }
            }
        }
    }

    /// Whether a candidate is an execution, and has a race.
    fn examine(&self, execution: &mut Execution, judgement: &mut Judgement) {
        judgement.candidates = Judgement::MOST.min(judgement.candidates + 1);
        for writes in &execution.writes {
            // An atomic reads what the write in front of it left (§8.10, atomicity).
            for (number, at) in
                writes.iter().enumerate().filter(|(_, at)| self.events[**at].is_atomic())
            {
                execution.from[*at] = number.checked_sub(1).map(|number| writes[number]);
            }
        }
        if self.is_from_thin_air(execution) {
            return;
        }
        let mut fences = vec![0; self.events.len()];
        let causality = causality(&self.base(execution, &fences), &self.observed(execution));
        if self.is_consistent(execution, &causality) {
            judgement.executions += 1;
            judgement.races = self.races(execution, &mut fences, judgement);
        }
    }

    /// Whether there is a race in some Fence-SC order that goes on from one of some fences: which fences follow each.
    fn races(
        &self,
        execution: &Execution,
        fences: &mut Vec<Events>,
        judgement: &mut Judgement,
    ) -> bool {
        let base = self.base(execution, fences);
        let causality = causality(&base, &self.observed(execution));
        let is_in = |rows: &[Events], one: usize, two: usize| rows[one] >> two & 1 == 1;
        let is_race = |(one, two): &(usize, usize)| {
            !is_in(&causality, *one, *two) && !is_in(&causality, *two, *one)
        };
        if !self.conflicts.iter().any(is_race) || !self.is_consistent(execution, &causality) {
            return false;
        }
        let mut pairs = self.fence_pairs.iter();
        let open = pairs.find(|(one, two)| !is_in(&base, *one, *two) && !is_in(&base, *two, *one));
        let Some((one, two)) = open.copied() else { return true };
        [(one, two), (two, one)].into_iter().any(|(before, after)| {
            judgement.candidates = Judgement::MOST.min(judgement.candidates + 1);
            fences[before] |= 1 << after;
            let races = !judgement.ends() && self.races(execution, fences, judgement);
            fences[before] &= !(1 << after);
            races
        })
    }

    /// Whether values come from what depends on them: all that follows a wait does.
    fn is_from_thin_air(&self, execution: &Execution) -> bool {
        let is_wait = |at: usize| matches!(self.events[at].step, Step::Wait { .. });
        let of = |at: usize| if is_wait(at) { self.within[at] } else { 0 };
        let mut rows: Vec<_> = (0..self.events.len()).map(of).collect();
        for (read, from) in execution.from.iter().enumerate() {
            if let Some(from) = from {
                rows[*from] |= 1 << read;
            }
        }
        close(&mut rows);
        rows.iter().enumerate().any(|(at, row)| row >> at & 1 == 1)
    }

    /// The events that observe each write (§8.9.2), through as many atomics as there are in a row.
    fn observed(&self, execution: &Execution) -> Vec<Events> {
        let mut observed = vec![0; self.events.len()];
        for read in (0..self.events.len()).filter(|at| self.events[*at].asks()) {
            let mut seen = read;
            let strong = |seen: usize| {
                execution.from[seen].filter(|from| self.strong[seen] >> *from & 1 == 1)
            };
            while let Some(from) = strong(seen) {
                observed[from] |= 1 << read;
                if !self.events[from].is_atomic() {
                    break;
                }
                seen = from;
            }
        }
        observed
    }

    /// Base causality order (§8.9.5): the events that follow each.
    fn base(&self, execution: &Execution, fences: &[Events]) -> Vec<Events> {
        let mut base: Vec<_> = self.within.iter().zip(fences).map(|(one, two)| one | two).collect();
        for (from, reads) in self.observed(execution).iter().enumerate() {
            for read in members(*reads) {
                for start in members(self.starts[from]) {
                    base[start] |= self.ends[read] & self.strong[start];
                }
            }
        }
        close(&mut base);
        base
    }

    /// The axioms of coherence and causality (§8.10).
    fn is_consistent(&self, execution: &Execution, causality: &[Events]) -> bool {
        let is_before = |one: usize, two: usize| causality[one] >> two & 1 == 1;
        let is_coherent = |writes: &[usize]| {
            let pairs = |later: usize| (0..=later).map(move |earlier| (earlier, later));
            (0..writes.len()).flat_map(pairs).all(|(one, two)| !is_before(writes[two], writes[one]))
        };
        let is_causal = |read: usize| {
            let Some(Place::Sync(sync)) = self.events[read].place(self.kernel) else { return true };
            let writes = &execution.writes[sync];
            let from = execution.from[read];
            let number = from.map_or(0, |from| {
                1 + writes.iter().position(|at| *at == from).expect("it is one of them")
            });
            from.is_none_or(|from| !is_before(read, from))
                && writes[number..].iter().all(|write| !is_before(*write, read))
        };
        execution.writes.iter().all(|writes| is_coherent(writes))
            && (0..self.events.len()).filter(|at| self.events[*at].asks()).all(is_causal)
    }
}

/// Whether an event of a cta is an earlier one of the same thread as another, or a barrier lies between the two.
fn is_within(kernel: &Kernel, before: &Event, after: &Event) -> bool {
    let meets = |slot: &crate::step::Slot| {
        matches!(slot.step, Step::Barrier) && slot.ctas >> before.cta & 1 == 1
    };
    before.cta == after.cta
        && before.slot < after.slot
        && (before.agent == after.agent || kernel.slots[before.slot..after.slot].iter().any(meets))
}

/// Causality order: what is observed, and then base causality order.
fn causality(base: &[Events], observed: &[Events]) -> Vec<Events> {
    let of = |at: usize| members(observed[at]).fold(base[at], |all, at| all | 1 << at | base[at]);
    (0..base.len()).map(of).collect()
}

fn members(set: Events) -> impl Iterator<Item = usize> {
    (0..128).filter(move |at| set >> at & 1 == 1)
}

/// Closes a relation under transitivity.
fn close(rows: &mut [Events]) {
    for middle in 0..rows.len() {
        let through = rows[middle];
        for row in rows.iter_mut().filter(|row| **row >> middle & 1 == 1) {
            *row |= through;
        }
    }
}
