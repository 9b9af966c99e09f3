//! What the threads of a kernel do, command by command.

use crate::dice::Dice;

/// The threads that do something: two lanes of each of two warps.
pub(crate) const AGENTS: [u32; 4] = [0, 1, 32, 33];
/// Number of words of shared memory, each with 16 bytes.
pub(crate) const SLOTS: usize = 3;
/// The most commands of a kernel.
const MOST: usize = 12;

/// A set of agents, a bit for each.
pub(crate) type Set = u32;

/// The words of a copy: the first, and one behind the last.
pub(crate) type Slots = (usize, usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// An agent writes a word.
    Store(usize, usize),
    /// An agent reads a word.
    Load(usize, usize),
    /// Agents execute `fence.proxy.async`.
    Fence(Set),
    /// All threads meet at `bar.sync`.
    Meet,
    /// The lanes of one of the two warps meet at `bar.warp.sync`.
    MeetWarp(usize),
    /// An agent copies words to global memory.
    Send(usize, Slots),
    /// An agent waits until the copies that it sent before have read.
    Sent(usize),
    /// An agent copies global memory to words, and arrives at an mbarrier of this copy's own, which expects the bytes.
    Receive(usize, Slots),
    /// An agent waits for the phase of the copy of this command.
    Await(usize, usize),
}

impl Command {
    /// The words that the command accesses, whether it writes them, and whether a copy does it.
    pub(crate) const fn access(self) -> Option<(Slots, bool, bool)> {
        match self {
            Self::Store(_, slot) => Some(((slot, slot + 1), true, false)),
            Self::Load(_, slot) => Some(((slot, slot + 1), false, false)),
            Self::Send(_, slots) => Some((slots, false, true)),
            Self::Receive(_, slots) => Some((slots, true, true)),
            _ => None,
        }
    }
}

/// Returns a random list of commands.
pub(crate) fn list(dice: &mut Dice) -> Vec<Command> {
    let count = 3 + below(dice, MOST - 2);
    let mut commands: Vec<Command> = Vec::new();
    while commands.len() < count {
        let agent = dice.pick(&[0, 1, 2, 3]);
        let first = below(dice, SLOTS);
        let slots = (first, SLOTS.min(first + 1 + usize::from(dice.chance(50))));
        let received: Vec<usize> = (0..commands.len())
            .filter(|at| matches!(commands[*at], Command::Receive(..)))
            .collect();
        let next = match below(dice, 16) {
            0..=2 => Command::Store(agent, first),
            3..=4 => Command::Load(agent, first),
            5 => Command::Fence(1 << agent),
            6 => Command::Fence(1 + dice.roll(15)),
            7 => Command::Fence(0b1111),
            8..=9 => Command::Meet,
            10 => Command::MeetWarp(agent / 2),
            11..=12 => Command::Send(agent, slots),
            13 => Command::Sent(agent),
            14 => Command::Receive(agent, slots),
            _ if received.is_empty() => continue,
            _ => Command::Await(agent, received[below(dice, received.len())]),
        };
        commands.push(next);
    }
    commands
}

fn below(dice: &mut Dice, count: usize) -> usize {
    dice.roll(u32::try_from(count).expect("few")) as usize
}
