//! Random worlds, larger than the exhaustive ones: four or five agents, three barriers, two locations.
//!
//! Takes a seed and a count and returns programs, the same for the same seed. A program is built generation by
//! generation, so that it can run to its end; then up to two of its commands are changed. Many of the programs are
//! well-synchronized.

use crate::machine::{Command, Program};

/// Maximum number of commands of one agent.
const COMMANDS: usize = 7;

/// Returns `count` programs.
pub(crate) fn random_worlds(seed: u64, count: usize) -> impl Iterator<Item = Program> {
    let mut dice = Dice(seed | 1);
    (0..count).map(move |_| world(&mut dice))
}

/// Marsaglia's xorshift, multiplied by a constant.
struct Dice(u64);

impl Dice {
    /// Returns a number below `sides`.
    fn roll(&mut self, sides: u8) -> u8 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 56;
        u8::try_from((high * u64::from(sides)) >> 8).expect("below `sides`")
    }

    fn index(&mut self, length: usize) -> usize {
        usize::from(self.roll(u8::try_from(length).expect("worlds are small")))
    }
}

fn world(dice: &mut Dice) -> Program {
    let agents = 4 + dice.index(2);
    let mut program = Program { agents: vec![Vec::new(); agents] };
    for _ in 0..2 + dice.roll(5) {
        accesses(dice, &mut program);
        generation(dice, &mut program);
    }
    accesses(dice, &mut program);
    for _ in 0..dice.roll(4).saturating_sub(1) {
        mutate(dice, &mut program);
    }
    program
}

/// Adds up to two accesses to some agents.
fn accesses(dice: &mut Dice, program: &mut Program) {
    for _ in 0..dice.roll(3) {
        let agent = dice.index(program.agents.len());
        let access = if dice.roll(2) == 0 { Command::Read } else { Command::Write };
        push(program, agent, access(dice.roll(2)));
    }
}

/// Adds one generation, of all agents in half of the cases, otherwise of some; each joins with a sync, or in one of
/// four cases with an arrive.
fn generation(dice: &mut Dice, program: &mut Program) {
    let everyone = dice.roll(2) == 0;
    let barrier = dice.roll(3);
    let room = |agent: &usize| program.agents[*agent].len() < COMMANDS;
    let participants: Vec<usize> =
        (0..program.agents.len()).filter(room).filter(|_| everyone || dice.roll(2) == 0).collect();
    let count = u8::try_from(participants.len()).expect("few agents");
    for agent in participants {
        let arrive = dice.roll(4) == 0;
        push(
            program,
            agent,
            if arrive {
                Command::Arrive { barrier, count }
            } else {
                Command::Sync { barrier, count }
            },
        );
    }
}

fn push(program: &mut Program, agent: usize, command: Command) {
    if program.agents[agent].len() < COMMANDS {
        program.agents[agent].push(command);
    }
}

/// Removes a command, exchanges it with its neighbour, or changes its kind, its barrier or its count.
fn mutate(dice: &mut Dice, program: &mut Program) {
    let agent = dice.index(program.agents.len());
    let commands = &mut program.agents[agent];
    if commands.is_empty() {
        return;
    }
    let length = commands.len();
    let at = dice.index(length);
    match dice.roll(5) {
        0 => drop(commands.remove(at)),
        1 => commands.swap(at, (at + 1) % length),
        change => commands[at] = changed(dice, commands[at], change),
    }
}

fn changed(dice: &mut Dice, command: Command, change: u8) -> Command {
    match (command, change) {
        (Command::Sync { barrier, count }, 2) => Command::Arrive { barrier, count },
        (Command::Arrive { barrier, count }, 2) => Command::Sync { barrier, count },
        (Command::Sync { count, .. }, 3) => Command::Sync { barrier: dice.roll(3), count },
        (Command::Arrive { count, .. }, 3) => Command::Arrive { barrier: dice.roll(3), count },
        (Command::Sync { barrier, .. }, _) => Command::Sync { barrier, count: dice.roll(7) },
        (Command::Arrive { barrier, .. }, _) => Command::Arrive { barrier, count: dice.roll(7) },
        (Command::Read(location), _) => Command::Write(location),
        (Command::Write(location), _) => Command::Read(location),
    }
}
