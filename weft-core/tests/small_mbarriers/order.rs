//! Judges a kernel by the happens-before of one of its schedules: whether that schedule speaks for all of them, and which
//! accesses race.
//!
//! One schedule speaks for all if, by happens-before,
//!
//! - every command in phase n+1 of an mbarrier knows that phase n is complete: a successful wait on n happens before it,
//!   or all commands of phase n do;
//! - every wait on phase n happens before an arrival of phase n+1, if that phase completes;
//! - every wait for a parity that observes phase n knows, when it begins, that phase n-1 is complete: otherwise it might
//!   observe phase n-2. This includes waits that never end;
//! - every wait that a peek decides is for the same phase as the peek, unless the peek fails in every schedule;
//! - every expectation of bytes happens before an arrival of its phase, so that the phase cannot complete without it,
//!   and no more bytes are complete than expected; likewise, every arrival that follows copies and that the count does
//!   not contain.
//!
//! When an arrival that follows copies happens, its lane does not know: only a wait for its phase tells. Such a wait knows
//! the copies, and nothing else that the lane did; but whatever comes before an arrival that the count contains is a cause
//! of the phase, which is enough for the rules above.

use crate::kernel::{Command, Kernel, OBJECTS, Object, Target, peek_of};
use crate::machine::Machine;
use crate::model::{Event, Pairs, conflicts};
use crate::object::Phase;
use crate::run::{Executed, Run};

/// What one schedule shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "independent things to say")]
pub(crate) struct Judgement {
    /// Some command is not known to come after the phase before its own.
    pub(crate) runs_ahead: bool,
    /// Some wait might observe a later phase.
    pub(crate) waits_late: bool,
    /// Some wait might observe an earlier phase.
    pub(crate) waits_early: bool,
    /// Some bytes might be expected too late, or are never expected.
    pub(crate) expects_late: bool,
    /// Some wait might be left out although the peek that decides it is for another phase.
    pub(crate) guesses: bool,
    /// Some arrival comes after the phase before its own, but no wait has observed that phase. The PTX manual demands
    /// one; nothing depends on it.
    pub(crate) unwaited: bool,
    /// Conflicting accesses that happen in no order.
    pub(crate) races: Pairs,
}

impl Judgement {
    /// Whether the schedule speaks for all schedules.
    pub(crate) const fn is_ordered(&self) -> bool {
        !(self.runs_ahead
            || self.waits_late
            || self.waits_early
            || self.expects_late
            || self.guesses)
    }
}

pub(crate) fn judge(kernel: &Kernel, run: &Run) -> Judgement {
    let mut found = Judgement::default();
    for own in &run.executed {
        let (Some(object), Some(phase)) = (own.command.object(), own.phase) else { continue };
        match own.command {
            Command::Wait { .. } => {
                found.waits_late |= !is_in_time(run, own, object, phase);
            }
            Command::Peek { .. } => {}
            _ if phase == 0 => {}
            command => {
                let was_waited_for = is_waited_for(run, own, object, phase - 1);
                found.runs_ahead |= !was_waited_for && !knows_all(run, own, object, phase - 1);
                let arrives = matches!(command, Command::Arrive(_) | Command::Follow { .. });
                found.unwaited |= arrives && !was_waited_for;
            }
        }
    }
    found.waits_early = run.executed.iter().chain(&run.blocked).any(|own| is_early(run, own));
    found.guesses = run.executed.iter().chain(&run.blocked).any(|own| is_guess(kernel, run, own));
    let phases = (0..OBJECTS)
        .flat_map(|object| (0..=run.last.objects[object].phase).map(move |phase| (object, phase)));
    found.expects_late = phases.into_iter().any(|(object, phase)| !is_bound(run, object, phase));
    let conflicts = conflicts(&Machine::new(kernel));
    found.races = conflicts.into_iter().filter(|pair| is_race(run, *pair)).collect();
    found
}

/// Whether the command is a wait that is left out if a peek succeeds which is for another phase and does in some
/// schedule.
fn is_guess(kernel: &Kernel, run: &Run, own: &Executed) -> bool {
    let (Command::Wait { object, .. }, Some(phase)) = (own.command, own.phase) else {
        return false;
    };
    let agent = kernel.agents()[own.event.0];
    let Some(peek) = peek_of(&kernel.groups[agent.group].commands, own.event.1) else {
        return false;
    };
    let Some(peek) = run.of((own.event.0, peek)) else { return false };
    let (Command::Peek { object: peeked, .. }, Some(awaited)) = (peek.command, peek.phase) else {
        return false;
    };
    let fails = !has_completed(run, peeked, awaited)
        || arrivals(run, peeked, awaited).any(|arrival| arrival.knows(peek.event));
    (peeked, awaited) != (object, phase) && !fails
}

/// Whether the command is a wait or peek that might observe an earlier phase of the same parity.
fn is_early(run: &Run, own: &Executed) -> bool {
    let (Command::Wait { object, target: Target::Parity(_), .. }
    | Command::Peek { object, target: Target::Parity(_), .. }) = own.command
    else {
        return false;
    };
    let Some(phase) = own.phase else { return false };
    let knows =
        |phase| is_waited_for(run, own, object, phase) || knows_all(run, own, object, phase);
    phase > 0 && !knows(phase - 1)
}

/// Returns the commands that belong to a phase of an mbarrier, without waits and peeks.
fn of_phase(run: &Run, object: Object, phase: Phase) -> impl Iterator<Item = &Executed> {
    run.executed.iter().filter(move |own| {
        let is_wait = matches!(own.command, Command::Wait { .. } | Command::Peek { .. });
        !is_wait && own.command.object() == Some(object) && own.phase == Some(phase)
    })
}

/// Whether a wait that observed the phase happens before a command begins.
fn is_waited_for(run: &Run, own: &Executed, object: Object, phase: Phase) -> bool {
    run.executed.iter().any(|other| {
        let is_wait = matches!(other.command, Command::Wait { .. });
        is_wait
            && other.command.object() == Some(object)
            && other.phase == Some(phase)
            && own.begins_after(other.event)
    })
}

/// Whether all commands of a complete phase happen before a command begins.
fn knows_all(run: &Run, own: &Executed, object: Object, phase: Phase) -> bool {
    of_phase(run, object, phase).all(|other| {
        // When an arrival that follows copies has happened, only a wait tells.
        !matches!(other.command, Command::Follow { .. }) && own.begins_after(other.event)
    })
}

fn has_completed(run: &Run, object: Object, phase: Phase) -> bool {
    run.last.objects[object].phase > phase
}

fn arrivals(run: &Run, object: Object, phase: Phase) -> impl Iterator<Item = &Executed> {
    of_phase(run, object, phase).filter(|own| {
        matches!(own.command, Command::Arrive(_) | Command::Follow { is_expected: true, .. })
    })
}

/// Whether the phase after the one that a wait observed cannot complete without the wait.
fn is_in_time(run: &Run, wait: &Executed, object: Object, phase: Phase) -> bool {
    !has_completed(run, object, phase + 1)
        || arrivals(run, object, phase + 1).any(|arrival| arrival.knows(wait.event))
}

/// Whether a phase that has all its arrivals cannot complete before all bytes that it expects are expected, and before all
/// arrivals have joined it that follow copies and that its count does not contain.
fn is_bound(run: &Run, object: Object, phase: Phase) -> bool {
    let state = run.last.objects[object];
    if !has_completed(run, object, phase) && !state.lacks_bytes_only() {
        return true;
    }
    let (mut expected, mut complete) = (0, 0);
    for own in of_phase(run, object, phase) {
        match own.command {
            Command::Expect { bytes, .. } => {
                expected += bytes;
                let event = own.event;
                if !arrivals(run, object, phase).any(|arrival| arrival.knows(event)) {
                    return false;
                }
            }
            Command::Arrive(arrival) => expected += arrival.expects.unwrap_or(0),
            Command::Complete { bytes, .. } => complete += bytes,
            Command::Follow { is_expected: false, .. } => {
                let event = own.event;
                if !arrivals(run, object, phase).any(|arrival| arrival.knows(event)) {
                    return false;
                }
            }
            _ => {}
        }
    }
    complete <= expected
}

fn is_race(run: &Run, (first, second): (Event, Event)) -> bool {
    let (Some(one), Some(other)) = (run.of(first), run.of(second)) else { return false };
    !one.follows(other) && !other.follows(one)
}
