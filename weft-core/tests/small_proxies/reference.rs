//! Judges a list of commands by its happens-before, event by event.

use std::collections::BTreeSet;

use weft_core::finding::Code;

use crate::Found;
use crate::command::{AGENTS, Command};

/// Something that happens: the number of the command, and the agent. What a copy does and when its agent issues it are two
/// events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Of(usize, usize),
    Copied(usize),
}

type Past = BTreeSet<Event>;

/// Returns the pairs of commands that race, and those that only lack a fence.
pub(crate) fn judge(commands: &[Command]) -> Found {
    let pasts = pasts(commands);
    let event = |at: usize| match commands[at] {
        Command::Send(..) | Command::Receive(..) => Event::Copied(at),
        Command::Store(agent, _) | Command::Load(agent, _) => Event::Of(at, agent),
        _ => unreachable!("it accesses nothing"),
    };
    let past = |event: Event| &pasts.iter().find(|(own, _)| *own == event).expect("it happens").1;
    let fences: Vec<Event> = pasts
        .iter()
        .map(|(own, _)| *own)
        .filter(|own| matches!(own, Event::Of(at, _) if matches!(commands[*at], Command::Fence(_))))
        .collect();
    let mut found = Found::new();
    for (last, command) in commands.iter().enumerate() {
        let Some((slots, writes, copies)) = command.access() else { continue };
        for (first, other) in commands[..last].iter().enumerate() {
            let Some((other_slots, other_writes, other_copies)) = other.access() else { continue };
            let overlaps = slots.0 < other_slots.1 && other_slots.0 < slots.1;
            if !overlaps || !writes && !other_writes {
                continue;
            }
            let (before, after) = (event(first), event(last));
            let is_fenced = || {
                fences
                    .iter()
                    .any(|fence| past(*fence).contains(&before) && past(after).contains(fence))
            };
            let code = match past(after).contains(&before) {
                false if copies || other_copies => Code::AsyncRace,
                false => Code::SharedRace,
                true if copies && !other_copies && !is_fenced() => Code::ProxyFence,
                true => continue,
            };
            found.insert(([first, last], code));
        }
    }
    found
}

/// Returns what happens, each event with all that happens before it.
fn pasts(commands: &[Command]) -> Vec<(Event, Past)> {
    let mut known: [Past; AGENTS.len()] = Default::default();
    let mut pasts: Vec<(Event, Past)> = Vec::new();
    let mut sent: [Past; AGENTS.len()] = Default::default();
    for (at, command) in commands.iter().enumerate() {
        let mut happen = |agent: usize, known: &mut Past| {
            pasts.push((Event::Of(at, agent), known.clone()));
            known.insert(Event::Of(at, agent));
        };
        match *command {
            Command::Store(agent, _) | Command::Load(agent, _) => happen(agent, &mut known[agent]),
            Command::Fence(set) => {
                let agents = (0..AGENTS.len()).filter(|agent| set >> agent & 1 == 1);
                agents.for_each(|agent| happen(agent, &mut known[agent]));
            }
            Command::Meet => meet(&mut known),
            Command::MeetWarp(warp) => meet(&mut known[2 * warp..2 * warp + 2]),
            Command::Send(agent, _) => {
                pasts.push((Event::Copied(at), known[agent].clone()));
                sent[agent].insert(Event::Copied(at));
            }
            Command::Sent(agent) => known[agent].append(&mut sent[agent]),
            Command::Receive(agent, _) => {
                // The arrival, which is what others learn, comes before the copy.
                happen(agent, &mut known[agent]);
                pasts.push((Event::Copied(at), known[agent].clone()));
            }
            Command::Await(agent, received) => {
                let Command::Receive(issuer, _) = commands[received] else {
                    unreachable!("only copies to shared memory are waited for")
                };
                let arrival = Event::Of(received, issuer);
                let released = pasts.iter().find(|(own, _)| *own == arrival);
                known[agent].extend(released.expect("it came before").1.iter().copied());
                known[agent].extend([arrival, Event::Copied(received)]);
            }
        }
    }
    pasts
}

/// Lets agents learn what all of them know.
fn meet(known: &mut [Past]) {
    let all: Past = known.iter().flatten().copied().collect();
    known.fill(all);
}
