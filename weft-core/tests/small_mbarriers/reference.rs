//! What the check must say about a kernel, from all its schedules and the happens-before of one.

use crate::dice::Dice;
use crate::kernel::{Arrival, Command, Group, Kernel, peek_of};
use crate::model::{self, Behaviours};
use crate::object::Misuse;
use crate::order::{self, Judgement};
use crate::run::{self, Acquires, End, Run};

/// Why the check can say anything about a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Doubt {
    /// An expected count drops to zero.
    Dropped,
    /// No wait observes a phase before an arrival of the next one, although the order of the two is certain.
    Unwaited,
    /// Accesses race unless a wait also acquires what arrivals of earlier phases released. This makes a difference only after
    /// relaxed waits.
    Acquired,
    /// No schedule differs from another, but only because of operations that order no memory (`expect_tx`, `complete_tx`,
    /// `.relaxed`), so that PTX's memory model promises nothing.
    Unordered,
}

/// What the check must say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Expected {
    /// No defect.
    Clean,
    /// A defect: the reported races are those of the reference.
    Races,
    /// A defect: every schedule ends in the same deadlock or in misuse, or its races are not certain one by one.
    Broken,
    /// Anything but clean: some schedule deadlocks or misuses an mbarrier, or schedules differ in the phases of commands.
    Uncertain,
    /// Anything.
    Any(Doubt),
}

/// The opinion of the reference on a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Opinion {
    pub(crate) behaviours: Behaviours,
    pub(crate) judgement: Judgement,
    pub(crate) expected: Expected,
}

/// Returns the opinion on a kernel. Panics if the two ways of judging it contradict each other.
pub(crate) fn opinion(kernel: &Kernel) -> Opinion {
    let behaviours = model::explore(kernel);
    let mut dice = Dice::new(1);
    let runs: [Run; 4] = std::array::from_fn(|_| run::run(kernel, Acquires::Phase, &mut dice));
    let judgements = runs.each_ref().map(|run| order::judge(kernel, run));
    for (run, judgement) in runs.iter().zip(&judgements) {
        agree(kernel, &behaviours, run, judgement);
    }
    let [judgement, others @ ..] = judgements;
    let all = order::judge(kernel, &run::run(kernel, Acquires::AllPhases, &mut dice));
    if behaviours.is_well_synchronized() {
        assert!(others.iter().all(|other| *other == judgement), "schedules differ: {kernel:?}");
        let is_same = !judgement.is_ordered() || has_relaxed_wait(kernel) || all == judgement;
        assert!(is_same, "it matters what a wait acquires: {kernel:?}");
    }
    let mut expected = expected(&behaviours, &judgement, &all);
    if expected == Expected::Races && has_blind_peek(kernel) {
        expected = Expected::Broken;
    }
    Opinion { behaviours, judgement, expected }
}

/// Asserts that one schedule speaks for all of them where it claims to, and that it claims to wherever no operation is
/// without order.
fn agree(kernel: &Kernel, behaviours: &Behaviours, run: &Run, judgement: &Judgement) {
    let is_complete = matches!(run.end, End::Finished | End::Stuck);
    // A sum of bytes can be too large in some order of its summands only.
    let has_range = behaviours.misuses.contains(&Misuse::Bytes);
    let context = || format!("{kernel:#?}\n{behaviours:?}\n{:?} {judgement:?}", run.end);
    if is_complete && judgement.is_ordered() && !has_range {
        assert!(behaviours.is_settled(), "some other schedule differs: {}", context());
    }
    if behaviours.is_well_synchronized() {
        let is_within = behaviours.opposed.is_subset(&judgement.races);
        assert!(is_within, "accesses in both orders are ordered: {}", context());
        if !has_unordered(kernel) {
            assert!(judgement.is_ordered(), "no schedule differs: {}", context());
        }
        // What comes before an arrival that follows copies is its cause, and is not ordered before what is behind it.
        if !has_unordered(kernel) && !has_causes(kernel) {
            assert_eq!(judgement.races, behaviours.opposed, "{}", context());
        }
    }
}

/// Whether the kernel has an operation on mbarriers that others can wait for and that orders no memory.
fn has_unordered(kernel: &Kernel) -> bool {
    let all = || kernel.groups.iter().flat_map(|group| &group.commands);
    // Bytes that are not complete yet make a phase wait for arrivals that no other arrival knows of.
    let expects = |own: &Command| matches!(own, Command::Arrive(Arrival { expects: Some(_), .. }));
    let has_bytes = all().any(expects);
    all().any(|command| match command {
        Command::Expect { .. } | Command::Complete { .. } => true,
        Command::Follow { .. } => has_bytes,
        Command::Arrive(Arrival { releases, .. }) => !releases,
        Command::Wait { acquires, .. } | Command::Peek { acquires, .. } => !acquires,
        _ => false,
    })
}

/// Whether the kernel has an arrival that follows copies and that a count contains.
fn has_causes(kernel: &Kernel) -> bool {
    let mut all = kernel.groups.iter().flat_map(|group| &group.commands);
    all.any(|command| matches!(command, Command::Follow { is_expected: true, .. }))
}

/// Whether a peek that acquires nothing decides a wait that does. What is known behind it is not certain, one way or the
/// other: the check examines no races there.
fn has_blind_peek(kernel: &Kernel) -> bool {
    kernel.groups.iter().any(|Group { commands, .. }| {
        commands.iter().enumerate().any(|(at, command)| {
            let peek = peek_of(commands, at).map(|peek| commands[peek]);
            matches!(command, Command::Wait { acquires: true, .. })
                && matches!(peek, Some(Command::Peek { acquires: false, .. }))
        })
    })
}

fn has_relaxed_wait(kernel: &Kernel) -> bool {
    let is_relaxed = |own: &Command| {
        matches!(own, Command::Wait { acquires: false, .. } | Command::Peek { acquires: false, .. })
    };
    kernel.groups.iter().flat_map(|group| &group.commands).any(is_relaxed)
}

/// `all`: the judgement if waits acquire what was released in all earlier phases.
fn expected(behaviours: &Behaviours, judgement: &Judgement, all: &Judgement) -> Expected {
    if behaviours.misuses.contains(&Misuse::Dropped) {
        return Expected::Any(Doubt::Dropped);
    }
    match (behaviours.is_settled(), behaviours.finishes) {
        (false, _) => return Expected::Uncertain,
        (true, false) => return Expected::Broken,
        _ if !judgement.is_ordered() => return Expected::Any(Doubt::Unordered),
        _ => {}
    }
    match (judgement.races.is_empty(), all.races.is_empty(), judgement.unwaited) {
        (false, true, _) => Expected::Any(Doubt::Acquired),
        (false, ..) if judgement.unwaited || judgement.races != all.races => Expected::Broken,
        (false, ..) => Expected::Races,
        (true, _, true) => Expected::Any(Doubt::Unwaited),
        (true, _, false) => Expected::Clean,
    }
}
