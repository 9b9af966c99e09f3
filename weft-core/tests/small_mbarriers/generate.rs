//! Generates kernels: random commands, rounds of arrivals and waits, and pipelines. Half of the latter two are then
//! damaged in one place.

use crate::copies;
use crate::dice::Dice;
use crate::kernel::{Arrival, Command, Group, Kernel, MAX_COMMANDS, OBJECTS, Object, Target, Word};
use crate::mutate;

/// The kind of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Theme {
    /// Few commands, without any plan.
    Random,
    /// One phase after the other, each with its arrivals and then its waits.
    Rounds,
    /// A producer and consumers, with an mbarrier for each direction.
    Pipeline,
    /// One of the others, with asynchronous copies.
    Copies,
}

/// The groups of a kernel: the first thread and the number of lanes.
const LAYOUTS: &[&[(usize, usize)]] = &[
    &[(0, 1), (1, 1)],
    &[(0, 1), (32, 1)],
    &[(0, 1), (33, 1)],
    &[(0, 2), (32, 1)],
    &[(1, 1), (32, 2)],
    &[(0, 1), (1, 1), (32, 1)],
    &[(0, 1), (32, 1), (33, 1)],
    &[(0, 2), (32, 2)],
    &[(0, 2), (32, 1), (33, 1)],
    &[(0, 1), (1, 1), (32, 1), (33, 1)],
];

/// Generates a kernel.
pub(crate) fn kernel(dice: &mut Dice, theme: Theme) -> Kernel {
    let layout = dice.pick(LAYOUTS).iter();
    let group = |&(first, lanes)| Group { first, lanes, commands: Vec::new() };
    let groups = layout.map(group).collect();
    let mut kernel = Kernel { counts: [0; OBJECTS].map(|_| 1 + dice.roll(3)), groups };
    match theme {
        Theme::Random => random(&mut kernel, dice, any_command),
        Theme::Rounds => rounds(&mut kernel, dice),
        Theme::Pipeline => pipeline(&mut kernel, dice),
        Theme::Copies => with_copies(&mut kernel, dice),
    }
    if matches!(theme, Theme::Rounds | Theme::Pipeline) {
        peek(&mut kernel, dice);
    }
    if theme != Theme::Random && dice.chance(50) {
        let any = if theme == Theme::Copies { copies::any_command } else { any_command };
        mutate::damage(&mut kernel, dice, any);
    }
    kernel.normalize();
    kernel
}

/// Puts peeks in front of some waits, at times a few commands ahead.
fn peek(kernel: &mut Kernel, dice: &mut Dice) {
    let chance = dice.pick(&[0, 0, 40]);
    for group in &mut kernel.groups {
        let mut at = 0;
        while at < group.commands.len() {
            let command = group.commands[at];
            if let Command::Wait { object, target, acquires } = command
                && group.commands.len() < MAX_COMMANDS
                && dice.chance(chance)
            {
                let ahead = at.saturating_sub(dice.pick(&[0, 0, 1, 2]));
                let acquires = acquires && !dice.chance(5);
                group.commands.insert(ahead, Command::Peek { object, target, acquires });
                at += 1;
            }
            at += 1;
        }
    }
}

const fn arrive(object: Object) -> Arrival {
    Arrival { object, count: 1, expects: None, drops: false, releases: true }
}

fn any_word(dice: &mut Dice) -> Word {
    dice.pick(&[Word::Is(0), Word::Is(0), Word::Is(1), Word::OfLane])
}

/// Returns a random command.
pub(crate) fn any_command(dice: &mut Dice) -> Command {
    let object = dice.roll(2) as usize;
    let bytes = if dice.chance(3) { (1 << 20) - 1 } else { dice.pick(&[16, 16, 16, 32]) };
    match dice.roll(20) {
        0..=5 => {
            let count = if dice.chance(20) { 2 } else { 1 };
            let expects = dice.chance(20).then_some(bytes);
            let (drops, releases) = (dice.chance(7), !dice.chance(7));
            Command::Arrive(Arrival { object, count, expects, drops, releases })
        }
        6 => Command::Expect { object, bytes },
        7 | 8 => Command::Complete { object, bytes },
        9..=14 => {
            let parity = Target::Parity(dice.pick(&[0, 0, 1]));
            let target = if dice.chance(25) { Target::Token } else { parity };
            let acquires = !dice.chance(7);
            if dice.chance(20) {
                Command::Peek { object, target, acquires }
            } else {
                Command::Wait { object, target, acquires }
            }
        }
        15 | 16 => Command::Read(any_word(dice)),
        17 | 18 => Command::Write(any_word(dice)),
        _ => Command::WarpSync,
    }
}

fn random(kernel: &mut Kernel, dice: &mut Dice, any: fn(&mut Dice) -> Command) {
    for group in &mut kernel.groups {
        group.commands = (0..=dice.roll(4)).map(|_| any(dice)).collect();
    }
}

fn with_copies(kernel: &mut Kernel, dice: &mut Dice) {
    match dice.roll(5) {
        0 => random(kernel, dice, copies::any_command),
        1 | 2 => rounds(kernel, dice),
        _ => pipeline(kernel, dice),
    }
    copies::copy(kernel, dice);
}

/// How far a kernel of rounds has been generated.
struct Progress {
    phases: [u32; OBJECTS],
    /// For each mbarrier, the groups that arrive in each phase, with the counts of their arrivals.
    members: [Vec<(usize, u32)>; OBJECTS],
}

fn rounds(kernel: &mut Kernel, dice: &mut Dice) {
    let members = [0; OBJECTS].map(|_| {
        let mut chosen: Vec<usize> = (0..kernel.groups.len()).collect();
        chosen.retain(|_| dice.chance(60));
        if chosen.is_empty() {
            chosen.push(any_group(kernel, dice));
        }
        chosen.into_iter().map(|at| (at, if dice.chance(8) { 2 } else { 1 })).collect()
    });
    let arrivals =
        |of: &Vec<(usize, u32)>| of.iter().map(|(at, count)| lanes(kernel, *at) * count).sum();
    kernel.counts = members.each_ref().map(arrivals);
    let mut progress = Progress { phases: [0; OBJECTS], members };
    for _ in 0..2 + dice.roll(4) {
        let object = dice.roll(2) as usize;
        round(kernel, &mut progress, object, dice);
    }
}

/// Appends the commands of one phase.
fn round(kernel: &mut Kernel, progress: &mut Progress, object: Object, dice: &mut Dice) {
    let word = if dice.chance(75) { Word::Is(object) } else { any_word(dice) };
    let parity = progress.phases[object] % 2;
    let members = progress.members[object].clone();
    if dice.chance(15) {
        // A wait for the phase before, which is complete.
        let target = Target::Parity(1 - parity);
        let (at, _) = dice.pick(&members);
        kernel.groups[at].commands.push(Command::Wait { object, target, acquires: true });
    }
    let writer = dice.pick(&members);
    for &member in &members {
        let (at, _) = member;
        if member == writer && dice.chance(60) {
            kernel.groups[at].commands.push(Command::Write(word));
        } else if dice.chance(20) {
            kernel.groups[at].commands.push(Command::Read(word));
        }
        arrival(kernel, progress, object, member, dice);
    }
    for at in 0..kernel.groups.len() {
        if dice.chance(if members.iter().any(|(member, _)| *member == at) { 92 } else { 10 }) {
            wait(kernel, at, (object, parity), dice);
            if dice.chance(40) {
                kernel.groups[at].commands.push(Command::Read(word));
            }
        }
    }
    progress.phases[object] += 1;
}

fn lanes(kernel: &Kernel, at: usize) -> u32 {
    u32::try_from(kernel.groups[at].lanes).expect("few lanes")
}

fn any_group(kernel: &Kernel, dice: &mut Dice) -> usize {
    dice.roll(u32::try_from(kernel.groups.len()).expect("few groups")) as usize
}

fn wait(kernel: &mut Kernel, at: usize, (object, parity): (Object, u32), dice: &mut Dice) {
    let target = if dice.chance(25) { Target::Token } else { Target::Parity(parity) };
    let has_token =
        |command: &Command| matches!(command, Command::Arrive(own) if own.object == object);
    let commands = &mut kernel.groups[at].commands;
    let target = if commands.iter().any(has_token) { target } else { Target::Parity(parity) };
    if dice.chance(10) {
        commands.push(Command::WarpSync);
    }
    commands.push(Command::Wait { object, target, acquires: !dice.chance(3) });
    if dice.chance(10) {
        commands.push(Command::WarpSync);
    }
}

/// Appends an arrival, at times with bytes that some group completes.
fn arrival(
    kernel: &mut Kernel,
    progress: &mut Progress,
    object: Object,
    (at, count): (usize, u32),
    dice: &mut Dice,
) {
    let lanes = lanes(kernel, at);
    let mut arrival = Arrival { count, releases: !dice.chance(3), ..arrive(object) };
    let mut complete = None;
    let members = &mut progress.members[object];
    if members.len() > 1 && dice.chance(8) {
        arrival.drops = true;
        members.retain(|(member, _)| *member != at);
    } else if count == 1 && dice.chance(25) {
        let (other, _) = dice.pick(members);
        let bytes = 16 * self::lanes(kernel, other) / lanes;
        if dice.chance(20) {
            kernel.groups[at].commands.push(Command::Expect { object, bytes });
        } else {
            arrival.expects = Some(bytes);
        }
        complete = Some((other, Command::Complete { object, bytes: 16 }));
    }
    let arrival = Command::Arrive(arrival);
    if let Some((other, command)) = complete {
        let mut pair = [(at, arrival), (other, command)];
        if dice.chance(50) {
            pair.reverse();
        }
        for (at, command) in pair {
            kernel.groups[at].commands.push(command);
        }
    } else {
        kernel.groups[at].commands.push(arrival);
    }
}

/// The first group produces, and the others consume. The first mbarrier is full, the second one empty.
fn pipeline(kernel: &mut Kernel, dice: &mut Dice) {
    let (full, empty) = (0, 1);
    let consumers: u32 = (1..kernel.groups.len()).map(|at| lanes(kernel, at)).sum();
    kernel.counts = [lanes(kernel, 0), consumers];
    let is_copy = dice.chance(40);
    let word = if lanes(kernel, 0) > 1 { Word::OfLane } else { Word::Is(0) };
    let waits =
        |object, parity| Command::Wait { object, target: Target::Parity(parity), acquires: true };
    let rounds = 1 + dice.roll(3);
    let waits_first = dice.chance(60);
    for round in 0..rounds {
        let producer = &mut kernel.groups[0].commands;
        if waits_first || round > 0 {
            producer.push(waits(empty, 1 - round % 2));
        }
        producer.push(Command::Write(word));
        let expects = is_copy.then_some(16);
        producer.push(Command::Arrive(Arrival { expects, ..arrive(full) }));
        if is_copy {
            let at = if dice.chance(80) { 0 } else { any_group(kernel, dice) };
            kernel.groups[at].commands.push(Command::Complete { object: full, bytes: 16 });
        }
        for group in &mut kernel.groups[1..] {
            group.commands.push(waits(full, round % 2));
            let word = if group.lanes > 1 && dice.chance(50) { Word::OfLane } else { Word::Is(0) };
            group.commands.push(Command::Read(word));
            if round + 1 < rounds || dice.chance(70) {
                group.commands.push(Command::Arrive(arrive(empty)));
            }
        }
    }
}

const _: () = assert!(MAX_COMMANDS >= 10, "three rounds of a pipeline");
