//! Generates kernels with asynchronous copies: writes become copies that mbarriers follow.

use crate::dice::Dice;
use crate::generate;
use crate::kernel::{Arrival, Command, Group, Kernel, MAX_COMMANDS, Object, Word};

/// Returns a random command of a kernel with copies.
pub(crate) fn any_command(dice: &mut Dice) -> Command {
    let object = dice.roll(2) as usize;
    match dice.roll(10) {
        0 | 1 => Command::Copy(dice.pick(&[Word::Is(0), Word::Is(0), Word::Is(1), Word::OfLane])),
        2 => Command::Follow { object, is_expected: false },
        3 => Command::Follow { object, is_expected: true },
        4 => Command::WaitCopies,
        _ => generate::any_command(dice),
    }
}

/// Turns writes into copies, and makes the next arrival wait for them, mostly.
pub(crate) fn copy(kernel: &mut Kernel, dice: &mut Dice) {
    for group in &mut kernel.groups {
        for at in 0..group.commands.len() {
            if let Command::Write(word) = group.commands[at]
                && dice.chance(80)
            {
                group.commands[at] = Command::Copy(word);
                complete(group, at + 1, dice);
            }
        }
        if dice.chance(10) && group.commands.len() < MAX_COMMANDS {
            let sides = u32::try_from(group.commands.len()).expect("few commands");
            let object: Object = dice.roll(2) as usize;
            let command = Command::Follow { object, is_expected: false };
            group.commands.insert(dice.roll(sides + 1) as usize, command);
        }
    }
}

/// Makes the next arrival of a group from `from` on wait for its copies.
fn complete(group: &mut Group, from: usize, dice: &mut Dice) {
    let next = group.commands[from..].iter().position(|own| matches!(own, Command::Arrive(_)));
    let Some(at) = next.map(|next| from + next) else { return };
    let Command::Arrive(Arrival { object, count, expects, drops, .. }) = group.commands[at] else {
        return;
    };
    let has_room = group.commands.len() < MAX_COMMANDS;
    let is_plain = count == 1 && expects.is_none() && !drops;
    match dice.roll(20) {
        0..=6 if is_plain => group.commands[at] = Command::Follow { object, is_expected: true },
        0..=15 if has_room => {
            let before = if dice.chance(20) { from } else { at };
            group.commands.insert(before, Command::Follow { object, is_expected: false });
        }
        16..=18 if has_room => group.commands.insert(at, Command::WaitCopies),
        _ => {}
    }
}
