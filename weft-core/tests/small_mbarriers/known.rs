//! Kernels whose verdict is known: the reference must give it, and the check must not contradict it.

#![allow(clippy::panic, reason = "a disagreement is told in full")]

use weft_core::finding::Verdict;
use weft_core::launch::Schedule;

use crate::compare::check;
use crate::kernel::{Arrival, Command, Group, Kernel, Object, Target, Word};
use crate::object::Misuse;
use crate::reference::{Doubt, Expected, Opinion, opinion};
use crate::suite::{outcome, printed};

use Command::{Complete, Copy, Expect, Read, WaitCopies, WarpSync, Write};

const FULL: Object = 0;
const EMPTY: Object = 1;
const X: Word = Word::Is(0);
const Y: Word = Word::Is(1);

const ARRIVAL: Arrival =
    Arrival { object: 0, count: 1, expects: None, drops: false, releases: true };

const fn arrive(object: Object) -> Command {
    Command::Arrive(Arrival { object, ..ARRIVAL })
}

const fn arrive_expecting(object: Object, bytes: u32) -> Command {
    Command::Arrive(Arrival { object, expects: Some(bytes), ..ARRIVAL })
}

const fn wait(object: Object, parity: u32) -> Command {
    Command::Wait { object, target: Target::Parity(parity), acquires: true }
}

const fn wait_token(object: Object) -> Command {
    Command::Wait { object, target: Target::Token, acquires: true }
}

/// Returns a kernel whose groups are single lanes of two warps.
fn kernel(counts: [u32; 2], agents: &[&[Command]]) -> Kernel {
    let threads = [0, 32, 1, 33];
    let groups = agents.iter().zip(threads);
    let groups = groups.map(|(own, first)| Group { first, lanes: 1, commands: own.to_vec() });
    Kernel { counts, groups: groups.collect() }
}

fn of(counts: [u32; 2], agents: &[&[Command]]) -> Opinion {
    let kernel = kernel(counts, agents);
    for form in 0..4 {
        if let Err(claim) = outcome(&kernel, form) {
            panic!("{claim}");
        }
    }
    opinion(&kernel)
}

fn expected(counts: [u32; 2], agents: &[&[Command]]) -> Expected {
    of(counts, agents).expected
}

/// A producer that fills a buffer three times, and a consumer.
const PRODUCER: [Command; 9] = [
    wait(EMPTY, 1),
    Write(X),
    arrive(FULL),
    wait(EMPTY, 0),
    Write(X),
    arrive(FULL),
    wait(EMPTY, 1),
    Write(X),
    arrive(FULL),
];
const CONSUMER: [Command; 9] = [
    wait(FULL, 0),
    Read(X),
    arrive(EMPTY),
    wait(FULL, 1),
    Read(X),
    arrive(EMPTY),
    wait(FULL, 0),
    Read(X),
    arrive(EMPTY),
];

/// Returns the commands without the one at an index.
fn without(commands: &[Command], at: usize) -> Vec<Command> {
    let mut rest = commands.to_vec();
    rest.remove(at);
    rest
}

/// Returns the commands with another one at an index.
fn with(commands: &[Command], at: usize, command: Command) -> Vec<Command> {
    let mut changed = commands.to_vec();
    changed[at] = command;
    changed
}

#[test]
fn a_pipeline_of_one_stage() {
    assert_eq!(expected([1, 1], &[&PRODUCER, &CONSUMER]), Expected::Clean);
}

/// Two stages, one round: the second write does not wait for the first read.
#[test]
fn a_pipeline_of_two_stages() {
    let producer = [Write(X), arrive(0), Write(Y), arrive(1)];
    let consumer = [wait(0, 0), Read(X), wait(1, 0), Read(Y)];
    assert_eq!(expected([1, 1], &[&producer, &consumer]), Expected::Clean);
}

/// The producer does not wait for the second read: it writes during it, and might arrive before the consumer has seen
/// the phase before.
#[test]
fn a_missing_wait_for_an_empty_buffer() {
    let producer = without(&PRODUCER, 3);
    assert_eq!(expected([1, 1], &[&producer, &CONSUMER]), Expected::Uncertain);
}

/// Nobody waits for the empty buffer, but a write cannot miss a phase: the accesses race, and nothing else is wrong.
#[test]
fn an_early_arrival() {
    let producer = [Write(X), arrive(FULL), wait(EMPTY, 0), Write(X)];
    let consumer = [wait(FULL, 0), arrive(EMPTY), Read(X)];
    let opinion = of([1, 1], &[&producer, &consumer]);
    assert_eq!(opinion.expected, Expected::Races);
    assert_eq!(opinion.judgement.races, [((0, 3), (1, 2))].into());
}

/// With the parity that suits a fresh buffer that is full, the first wait never ends.
#[test]
fn a_flipped_parity_that_blocks() {
    let producer = with(&PRODUCER, 0, wait(EMPTY, 0));
    assert_eq!(expected([1, 1], &[&producer, &CONSUMER]), Expected::Broken);
}

/// The consumer's first wait succeeds at once, so that it reads during the write; its second wait, for phase 0, might
/// come after phase 1 and then sees none.
#[test]
fn a_flipped_parity_that_does_not_block() {
    let consumer = with(&CONSUMER[..3], 0, wait(FULL, 1));
    assert_eq!(expected([1, 1], &[&PRODUCER[..3], &consumer]), Expected::Uncertain);
    // Nothing depends on the phase that it observes, if no phase completes after its wait or before it.
    let alone = [wait(FULL, 1), Read(X), arrive(FULL), wait(FULL, 0), Write(X)];
    assert_eq!(expected([1, 1], &[&alone]), Expected::Clean);
}

/// Two agents arrive at an mbarrier for one: in some order, both arrivals are in phases of their own.
#[test]
fn a_count_that_is_too_small() {
    let both = [Write(Word::OfLane), arrive(0), wait(0, 0)];
    assert_eq!(expected([2, 1], &[&both, &both]), Expected::Races, "both lanes are even");
    let both = [arrive(0), wait(0, 0)];
    assert_eq!(expected([2, 1], &[&both, &both]), Expected::Clean);
    assert_eq!(expected([1, 1], &[&both, &both]), Expected::Uncertain);
    assert_eq!(expected([3, 1], &[&both, &both]), Expected::Broken);
}

#[test]
fn bytes_that_are_expected_and_completed() {
    let expecting = [arrive_expecting(0, 32), wait(0, 0)];
    let halves = [Complete { object: 0, bytes: 16 }, Complete { object: 0, bytes: 16 }];
    assert_eq!(expected([1, 1], &[&expecting, &halves]), Expected::Clean);
    assert_eq!(expected([1, 1], &[&expecting, &halves[1..]]), Expected::Broken, "bytes lack");
    assert_eq!(expected([1, 1], &[&expecting]), Expected::Broken, "all bytes lack");
    // The count is complete as well before the last bytes as after them, but if they come first they are too many.
    let more = [Complete { object: 0, bytes: 48 }];
    assert_eq!(expected([1, 1], &[&expecting, &more]), Expected::Broken, "too many bytes");
}

/// `complete_tx` releases nothing.
#[test]
fn bytes_order_no_memory() {
    let expecting = [arrive_expecting(0, 16), wait(0, 0), Read(X)];
    let completing = [Write(X), Complete { object: 0, bytes: 16 }];
    let opinion = of([1, 1], &[&expecting, &completing]);
    assert_eq!(opinion.expected, Expected::Races);
    assert!(opinion.behaviours.opposed.is_empty(), "but no schedule reads before it writes");
}

/// The phase completes before its bytes are expected, if the arrival comes first.
#[test]
fn bytes_that_are_expected_late() {
    let expect = Expect { object: 0, bytes: 16 };
    let complete = Complete { object: 0, bytes: 16 };
    assert_eq!(
        expected([1, 1], &[&[expect], &[complete], &[arrive(0)]]),
        Expected::Uncertain,
        "nothing orders the expectation and the arrival"
    );
    assert_eq!(expected([1, 1], &[&[expect, arrive(0)], &[complete]]), Expected::Clean);
}

/// The last arrival of a phase knows that it is complete only through a wait or through all other arrivals.
#[test]
fn running_ahead() {
    let rash = [arrive(0), arrive(0)];
    let waiting = [arrive(0), wait(0, 0), arrive(0)];
    assert_eq!(expected([2, 1], &[&waiting, &waiting]), Expected::Clean);
    assert_eq!(expected([2, 1], &[&waiting, &rash]), Expected::Uncertain);
    assert_eq!(expected([1, 1], &[&rash]), Expected::Any(Doubt::Unwaited));
    assert_eq!(expected([1, 1], &[&waiting]), Expected::Clean);
}

/// Nobody waits for phase 0 while it is the last one: the observer might see phase 1 instead and wait for ever.
#[test]
fn a_phase_that_is_missed() {
    let twice = [arrive(0), wait(0, 0), arrive(0)];
    assert_eq!(expected([1, 1], &[&twice, &[wait(0, 0)]]), Expected::Uncertain);
    assert_eq!(expected([1, 1], &[&twice, &[wait(0, 1)]]), Expected::Uncertain);
    let informed = [wait(0, 0), arrive(1)];
    let twice = [arrive(0), wait(1, 0), arrive(0)];
    assert_eq!(expected([1, 1], &[&twice, &informed]), Expected::Clean);
}

#[test]
fn tokens_name_their_phase() {
    let both = [Write(Word::Is(1)), arrive(0), wait_token(0)];
    let other = [arrive(0), wait_token(0), Read(Y), arrive(1), wait_token(1)];
    assert_eq!(expected([2, 1], &[&both, &other]), Expected::Clean);
    let stale = [arrive(0), wait(0, 0), arrive(0)];
    let opinion = of([1, 1], &[&stale, &[wait(0, 0), wait(0, 1), arrive(0), wait_token(0)]]);
    assert_eq!(opinion.expected, Expected::Uncertain, "its first wait can miss phase 0");
    let alone = [arrive(0), arrive(0), wait_token(0)];
    assert_eq!(expected([1, 1], &[&alone]), Expected::Any(Doubt::Unwaited));
}

#[test]
fn relaxed_operations() {
    let weak = Command::Arrive(Arrival { releases: false, ..ARRIVAL });
    let read = [wait(0, 0), Read(X)];
    assert_eq!(expected([1, 1], &[&[Write(X), weak], &read]), Expected::Races);
    let blind = Command::Wait { object: 0, target: Target::Parity(0), acquires: false };
    let writes = [Write(X), arrive(0)];
    assert_eq!(expected([1, 1], &[&writes, &[blind, Read(X)]]), Expected::Races);
    assert_eq!(expected([1, 1], &[&writes, &read]), Expected::Clean);
    // A thread's own relaxed wait tells it that the phase is complete.
    assert_eq!(expected([1, 1], &[&[weak], &[blind, arrive(0)]]), Expected::Clean);
    // A relaxed arrival does not pass on what its thread knows of another mbarrier.
    let first = [arrive(0), wait(1, 0), arrive(0)];
    let weak = Command::Arrive(Arrival { object: 1, releases: false, ..ARRIVAL });
    assert_eq!(expected([1, 1], &[&first, &[wait(0, 0), weak]]), Expected::Any(Doubt::Unordered));
}

#[test]
fn dropped_arrivals() {
    let drop = Command::Arrive(Arrival { drops: true, ..ARRIVAL });
    let leaving = [Write(X), drop];
    let staying = [arrive(0), wait(0, 0), Read(X), arrive(0), wait(0, 1)];
    assert_eq!(expected([2, 1], &[&leaving, &staying]), Expected::Clean);
    let arriving = [Write(X), arrive(0)];
    assert_eq!(expected([2, 1], &[&arriving, &staying]), Expected::Broken, "it still counts");
    assert_eq!(expected([1, 1], &[&leaving]), Expected::Any(Doubt::Dropped));
}

#[test]
fn misuse() {
    let twice = Command::Arrive(Arrival { count: 2, ..ARRIVAL });
    let opinion = of([1, 1], &[&[twice]]);
    assert_eq!(
        (opinion.expected, &*opinion.behaviours.misuses),
        (Expected::Broken, &[Misuse::Arrivals][..])
    );
    assert_eq!(expected([2, 1], &[&[twice, wait(0, 0)]]), Expected::Clean);
    let most = (1 << 20) - 1;
    let opinion = of([2, 1], &[&[arrive_expecting(0, most), arrive_expecting(0, 1)]]);
    assert_eq!(
        (opinion.expected, &*opinion.behaviours.misuses),
        (Expected::Broken, &[Misuse::Bytes][..])
    );
    // Its bytes keep the phase from completing, although all arrivals have come.
    let opinion = of([1, 1], &[&[arrive_expecting(0, 16), arrive(0)]]);
    assert_eq!(
        (opinion.expected, &*opinion.behaviours.misuses),
        (Expected::Broken, &[Misuse::Arrivals][..])
    );
}

/// An arrival that follows copies, besides those that the count contains, and one of these.
const FOLLOW: Command = Command::Follow { object: 0, is_expected: false };
const COUNTED: Command = Command::Follow { object: 0, is_expected: true };

#[test]
fn copies_that_a_phase_waits_for() {
    let reader = [wait(0, 0), Read(X)];
    let said = |producer: &[Command]| expected([1, 1], &[producer, &reader]);
    assert_eq!(said(&[Copy(X), FOLLOW, arrive(0)]), Expected::Clean);
    assert_eq!(said(&[FOLLOW, Copy(X), arrive(0)]), Expected::Races, "it follows no later copies");
    assert_eq!(said(&[Copy(X), COUNTED]), Expected::Clean);
    assert_eq!(said(&[Copy(X), arrive(0)]), Expected::Races, "an arrival does not wait for copies");
    assert_eq!(said(&[Copy(X), WaitCopies, arrive(0)]), Expected::Clean);
    assert_eq!(
        said(&[Copy(X), WaitCopies, COUNTED]),
        Expected::Clean,
        "it follows all earlier ones"
    );
    assert_eq!(said(&[Copy(X), arrive(0), FOLLOW]), Expected::Broken, "the phase is over");
    assert_eq!(said(&[Write(X), COUNTED]), Expected::Races, "it releases only copies");
    assert_eq!(said(&[Write(X), FOLLOW, arrive(0)]), Expected::Clean);
    assert_eq!(
        said(&[Copy(X), COUNTED, Read(X)]),
        Expected::Races,
        "the thread itself does not wait"
    );
    assert_eq!(said(&[Copy(X), COUNTED, wait(0, 0), Read(X)]), Expected::Clean);
    assert_eq!(said(&[Copy(X), COUNTED, Copy(X)]), Expected::Races, "copies are in no order");
    assert_eq!(
        said(&[Copy(X), COUNTED, COUNTED]),
        Expected::Uncertain,
        "the second one is too many"
    );
}

/// What the thread did before is a cause of the arrival: enough to know that a phase is complete.
#[test]
fn rounds_of_copies() {
    let producer = [Copy(X), COUNTED, wait(EMPTY, 0), Copy(X), COUNTED];
    let consumer = [wait(FULL, 0), Read(X), arrive(EMPTY), wait(FULL, 1), Read(X), arrive(EMPTY)];
    assert_eq!(expected([1, 1], &[&producer, &consumer]), Expected::Clean);
    let rash = without(&producer, 2);
    assert_eq!(expected([1, 1], &[&rash, &consumer]), Expected::Uncertain);
    let early = [wait(FULL, 0), arrive(EMPTY), Read(X), wait(FULL, 1), Read(X), arrive(EMPTY)];
    assert_eq!(expected([1, 1], &[&producer, &early]), Expected::Races);
}

/// When the arrival happens its thread does not know, whatever it knows of the copies: it might wait for the phase after,
/// see the phase before, and go on.
#[test]
fn an_arrival_of_copies_comes_late() {
    let other = [wait(0, 0), Write(X), arrive(0)];
    let said = |own: &[Command]| expected([1, 1], &[own, &other]);
    assert_eq!(said(&[arrive(0), wait(0, 1), Read(X)]), Expected::Clean);
    assert_eq!(said(&[COUNTED, wait(0, 1), Read(X)]), Expected::Uncertain);
    assert_eq!(said(&[Copy(Y), WaitCopies, COUNTED, wait(0, 1), Read(X)]), Expected::Uncertain);
}

#[test]
fn lanes_of_a_warp_are_threads_of_their_own() {
    let lanes = |commands: &[Command]| Kernel {
        counts: [2, 1],
        groups: vec![Group { first: 0, lanes: 2, commands: commands.to_vec() }],
    };
    let other = |word| lanes(&[Write(word), arrive(0), wait(0, 0), Read(Y)]);
    assert_eq!(opinion(&other(Word::OfLane)).expected, Expected::Clean);
    assert_eq!(opinion(&other(X)).judgement.races, [((0, 0), (1, 0))].into());
    let synced = lanes(&[Write(Word::OfLane), WarpSync, Read(Y)]);
    assert_eq!(opinion(&synced).expected, Expected::Clean);
    let copied = lanes(&[Copy(Word::OfLane), WaitCopies, Read(Y)]);
    assert_eq!(opinion(&copied).judgement.races, [((0, 2), (1, 0))].into());
    assert!(outcome(&copied, 0).is_ok(), "a lane waits for its own copies");
    let unsynced = lanes(&[WarpSync, Write(Word::OfLane), Read(Y)]);
    assert_eq!(opinion(&unsynced).judgement.races, [((0, 2), (1, 1))].into());
}

/// A code, the counts, and the commands of each agent.
type Case<'a> = (&'a str, [u32; 2], &'a [&'a [Command]]);

/// The check decides these kernels, and names what is wrong.
#[test]
fn findings_have_the_right_codes() {
    let twice = Command::Arrive(Arrival { count: 2, ..ARRIVAL });
    let relaxed = Command::Arrive(Arrival { releases: false, ..ARRIVAL });
    let both = [arrive(0), wait(0, 0)];
    let stuck = with(&PRODUCER, 0, wait(EMPTY, 0));
    let cases: &[Case<'_>] = &[
        ("", [1, 1], &[&PRODUCER, &CONSUMER]),
        ("deadlock", [1, 1], &[&stuck, &CONSUMER]),
        ("deadlock", [3, 1], &[&both, &both]),
        ("deadlock", [1, 1], &[&[arrive_expecting(0, 16), wait(0, 0)]]),
        ("mbarrier-misuse", [1, 1], &[&[twice]]),
        ("mbarrier-phase", [1, 1], &[&both, &both]),
        ("mbarrier-phase", [1, 1], &[&[arrive(0), wait(0, 0), arrive(0)], &[wait(0, 0)]]),
        ("mbarrier-phase", [1, 1], &[&[arrive(0), wait(0, 0), arrive(0)], &[wait(0, 1)]]),
        ("shared-race", [1, 1], &[&[Write(X), relaxed], &[wait(0, 0), Read(X)]]),
        ("async-race", [1, 1], &[&[FOLLOW, Copy(X), arrive(0)], &[wait(0, 0), Read(X)]]),
        ("mbarrier-misuse", [1, 1], &[&[arrive_expecting(0, 16), COUNTED]]),
        ("mbarrier-phase", [1, 1], &[&[arrive(0)], &[FOLLOW, wait(0, 0)]]),
    ];
    for (code, counts, agents) in cases {
        let printed = printed(&kernel(*counts, agents), 0);
        let said = check(&printed, Schedule::default());
        let is_right = if code.is_empty() {
            said.verdict == Verdict::Clean
        } else {
            said.verdict == Verdict::Defect && said.text.contains(code)
        };
        assert!(is_right, "expected {code:?}\n{}\n{:?}\n{}", printed.text, said.verdict, said.text);
    }
}
