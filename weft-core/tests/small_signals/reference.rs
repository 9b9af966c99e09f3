//! Causality order (PTX ISA §8.9) of what the ctas of a kernel do when one of them is the last, event by event.

use crate::step::{Atomic, Fence, Kernel, Set, Step};

/// What an agent of a cta does: the cta, the number of the step, and the agent.
type Event = (u32, usize, usize);

/// Whether some store and some load of another cta are in no order, or the atomics race, if cta 0 is the last. All ctas do the
/// same, so that this is so for every other one.
pub(crate) fn races(kernel: &Kernel) -> bool {
    let signal = kernel.steps.iter().position(|step| matches!(step, Step::Signal(..)));
    let signal = signal.expect("a cta counts itself");
    let Step::Signal(counter, atomic) = kernel.steps[signal] else { unreachable!("it is one") };
    if atomic == Atomic::OfCta {
        return true;
    }
    let order = Causality { kernel, signal, counter, atomic };
    let events = |cta| {
        let steps = kernel.steps.iter().enumerate();
        steps.flat_map(move |(at, step)| {
            let set = match *step {
                Step::Store(set) => set,
                Step::Load(agent, _) if cta == 0 => 1 << agent,
                _ => 0,
            };
            agents(set).map(move |agent| (cta, at, agent))
        })
    };
    // The next cta of the last one.
    let other = 1;
    let loads = events(0).filter_map(|event| match kernel.steps[event.1] {
        Step::Load(_, word) => Some((event, word)),
        _ => None,
    });
    let loads: Vec<_> = loads.collect();
    let of_word =
        |event: Event, word| matches!(kernel.steps[event.1], Step::Store(_)) && event.2 == word;
    events(other).any(|store| {
        loads.iter().any(|(load, word)| of_word(store, *word) && !order.is_before(store, *load))
    })
}

/// The agents of a set.
fn agents(set: Set) -> impl Iterator<Item = usize> {
    (0..3).filter(move |agent| set >> agent & 1 == 1)
}

struct Causality<'a> {
    kernel: &'a Kernel,
    signal: usize,
    counter: usize,
    atomic: Atomic,
}

impl Causality<'_> {
    /// Whether an event of a cta is an earlier one of the same thread as another, or a barrier lies between the two.
    fn is_within(&self, before: Event, after: Event) -> bool {
        let meets = |step: &Step| matches!(step, Step::Barrier | Step::Leave);
        let are_ordered =
            || before.2 == after.2 || self.kernel.steps[before.1..after.1].iter().any(meets);
        before.0 == after.0 && before.1 < after.1 && are_ordered()
    }

    /// The fences of a cta that are for the whole device, one for each agent that executes it.
    fn fences(&self, cta: u32) -> impl Iterator<Item = (Event, Fence)> {
        let steps = self.kernel.steps.iter().enumerate();
        steps.flat_map(move |(at, step)| {
            let (set, fence) = match *step {
                Step::Fence(set, fence) if fence != Fence::OfCta => (set, fence),
                _ => (0, Fence::OfCta),
            };
            agents(set).map(move |agent| ((cta, at, agent), fence))
        })
    }

    /// Whether an event of another cta comes before an event of the last one in causality order: through an edge from the start
    /// of a release pattern to the end of an acquire pattern, or between two `fence.sc` that cannot be in the other order.
    fn is_before(&self, store: Event, load: Event) -> bool {
        let (sent, seen) = ((store.0, self.signal, self.counter), (0, self.signal, self.counter));
        let is_thread = |event: Event, other: Event| event.2 == other.2;
        let releases = matches!(self.atomic, Atomic::Release | Atomic::AcqRel);
        let acquires = matches!(self.atomic, Atomic::Acquire | Atomic::AcqRel);
        let of_own = self.fences(store.0).map(|(fence, _)| fence);
        let starts = of_own.filter(|fence| is_thread(*fence, sent) && self.is_within(*fence, sent));
        let starts = starts.chain(releases.then_some(sent));
        let of_last = self.fences(0).map(|(fence, _)| fence);
        let ends = of_last.filter(|fence| is_thread(*fence, seen) && self.is_within(seen, *fence));
        let mut ends = ends.chain(acquires.then_some(seen));
        let by_pattern = starts.into_iter().any(|start| self.is_within(store, start))
            && ends.any(|end| self.is_within(end, load));
        let is_sc = |(event, fence): (Event, Fence)| (fence == Fence::Sc).then_some(event);
        let mut before = self.fences(store.0).filter_map(is_sc);
        let mut after = self.fences(0).filter_map(is_sc);
        let by_sc = before.any(|one| self.is_within(store, one) && self.is_within(one, sent))
            && after.any(|one| self.is_within(seen, one) && self.is_within(one, load));
        by_pattern || by_sc
    }
}
