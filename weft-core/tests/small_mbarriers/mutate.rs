//! Damages a kernel in one place.

use crate::dice::Dice;
use crate::kernel::{Command, Kernel, Target};

/// Changes a count or one command; `any` returns new ones. Rarely, nothing that matters changes.
pub(crate) fn damage(kernel: &mut Kernel, dice: &mut Dice, any: fn(&mut Dice) -> Command) {
    let sides = u32::try_from(kernel.groups.len()).expect("few groups");
    let (group, other) = (dice.roll(sides) as usize, dice.roll(sides) as usize);
    let length = kernel.groups[group].commands.len();
    if length == 0 || dice.chance(12) {
        let count = &mut kernel.counts[dice.roll(2) as usize];
        *count = if dice.chance(50) { *count + 1 } else { (*count - 1).max(1) };
        return;
    }
    let at = dice.roll(u32::try_from(length).expect("few commands")) as usize;
    let commands = &mut kernel.groups[group].commands;
    match dice.roll(7) {
        0 => {
            commands.remove(at);
        }
        1 => commands.insert(at, commands[at]),
        2 => commands.swap(at, (at + 1) % length),
        3 => {
            let command = any(dice);
            commands.insert(at, command);
        }
        4 => commands[at] = any(dice),
        5 => {
            let command = commands.remove(at);
            let target = &mut kernel.groups[other].commands;
            let sides = u32::try_from(target.len()).expect("few commands");
            target.insert(dice.roll(sides + 1) as usize, command);
        }
        _ => commands[at] = changed(commands[at]),
    }
}

/// Returns a command that differs in what it waits for, counts, accesses or orders.
const fn changed(command: Command) -> Command {
    match command {
        Command::Wait { object, target: Target::Parity(parity), acquires } => {
            Command::Wait { object, target: Target::Parity(1 - parity), acquires }
        }
        Command::Wait { object, target, .. } => Command::Wait { object, target, acquires: false },
        Command::Peek { object, target: Target::Parity(parity), acquires } => {
            Command::Peek { object, target: Target::Parity(1 - parity), acquires }
        }
        Command::Peek { object, target, .. } => Command::Peek { object, target, acquires: false },
        Command::Arrive(mut arrival) => {
            arrival.releases = false;
            Command::Arrive(arrival)
        }
        Command::Expect { object, bytes } => Command::Expect { object, bytes: 2 * bytes },
        Command::Complete { object, bytes } => Command::Complete { object, bytes: 2 * bytes },
        Command::Read(word) | Command::Copy(word) => Command::Write(word),
        Command::Write(word) => Command::Read(word),
        Command::Follow { object, is_expected } => {
            Command::Follow { object, is_expected: !is_expected }
        }
        Command::WarpSync | Command::WaitCopies => command,
    }
}
