//! The language of kernels with mbarriers: a few lanes of one or two warps, each with a straight list of commands.
//!
//! There are two mbarriers, which thread 0 initializes before all threads meet at a `bar.sync`, and two words of shared
//! memory, which it writes. Lanes that no group names skip to the end.

use std::collections::VecDeque;

/// The number of an mbarrier.
pub(crate) type Object = usize;

pub(crate) const OBJECTS: usize = 2;
/// Maximum number of lanes that do something.
pub(crate) const MAX_AGENTS: usize = 4;
/// Maximum number of commands of a group.
pub(crate) const MAX_COMMANDS: usize = 10;

/// A word of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// The word of this number.
    Is(usize),
    /// The first word for even lanes, the second one for odd lanes.
    OfLane,
}

/// What a wait waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The completion of a phase of this parity.
    Parity(u32),
    /// The completion of the phase in which the lane's last arrival at this mbarrier took place.
    Token,
}

/// An arrival at an mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) object: Object,
    pub(crate) count: u32,
    /// The number of bytes that the arrival also expects; the count is 1 then.
    pub(crate) expects: Option<u32>,
    /// Whether it is an `arrive_drop`.
    pub(crate) drops: bool,
    /// Whether it is a release; otherwise `.relaxed`.
    pub(crate) releases: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Arrive(Arrival),
    /// `mbarrier.expect_tx`.
    Expect {
        object: Object,
        bytes: u32,
    },
    /// `mbarrier.complete_tx`.
    Complete {
        object: Object,
        bytes: u32,
    },
    /// A loop around `mbarrier.try_wait` or `mbarrier.test_wait`.
    Wait {
        object: Object,
        target: Target,
        /// Whether it is an acquire; otherwise `.relaxed`.
        acquires: bool,
    },
    /// A single `mbarrier.try_wait` or `mbarrier.test_wait`, whose result decides whether a later wait of the lane is left
    /// out: the first one behind it that no earlier peek decides.
    Peek {
        object: Object,
        target: Target,
        /// Whether it is an acquire; otherwise `.relaxed`.
        acquires: bool,
    },
    Read(Word),
    Write(Word),
    /// `cp.async` from global memory to a word: it is written at some time from then on.
    Copy(Word),
    /// `cp.async.mbarrier.arrive`: the mbarrier is arrived at, at some time after the earlier copies of the lane.
    Follow {
        object: Object,
        /// Whether the count of the mbarrier contains the arrival (`.noinc`); otherwise the phase waits for one more.
        is_expected: bool,
    },
    /// Waits for all copies of the lane.
    WaitCopies,
    /// `bar.warp.sync` of all lanes of the group.
    WarpSync,
}

/// Returns the peek that decides whether a wait is left out, if there is one.
pub(crate) fn peek_of(commands: &[Command], wait: usize) -> Option<usize> {
    let mut pending = VecDeque::new();
    for (at, command) in commands[..wait].iter().enumerate() {
        match command {
            Command::Peek { .. } => pending.push_back(at),
            Command::Wait { .. } => drop(pending.pop_front()),
            _ => {}
        }
    }
    pending.pop_front()
}

impl Command {
    /// Returns the mbarrier that the command is about.
    pub(crate) const fn object(self) -> Option<Object> {
        match self {
            Self::Arrive(Arrival { object, .. })
            | Self::Expect { object, .. }
            | Self::Complete { object, .. }
            | Self::Follow { object, .. }
            | Self::Wait { object, .. }
            | Self::Peek { object, .. } => Some(object),
            _ => None,
        }
    }

    /// Returns the index of the accessed word, and whether it is written.
    pub(crate) const fn access(self, thread: usize) -> Option<(usize, bool)> {
        let (word, writes) = match self {
            Self::Read(word) => (word, false),
            Self::Write(word) | Self::Copy(word) => (word, true),
            _ => return None,
        };
        match word {
            Word::Is(index) => Some((index, writes)),
            Word::OfLane => Some((thread % 2, writes)),
        }
    }
}

/// Lanes of one warp that execute the same commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// The first thread.
    pub(crate) first: usize,
    /// The number of threads: 1 or 2.
    pub(crate) lanes: usize,
    pub(crate) commands: Vec<Command>,
}

/// One lane that does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Agent {
    pub(crate) group: usize,
    pub(crate) thread: usize,
}

/// A place in the text: the number of the group, and the index of the command.
pub(crate) type Place = (usize, usize);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// The count that each mbarrier is initialized with.
    pub(crate) counts: [u32; OBJECTS],
    pub(crate) groups: Vec<Group>,
}

impl Kernel {
    /// Number of threads of a cta.
    pub(crate) const BLOCK: u32 = 64;

    pub(crate) fn has_peeks(&self) -> bool {
        let mut commands = self.groups.iter().flat_map(|group| &group.commands);
        commands.any(|command| matches!(command, Command::Peek { .. }))
    }

    pub(crate) fn agents(&self) -> Vec<Agent> {
        let groups = self.groups.iter().enumerate();
        let lanes = groups.flat_map(|(group, own)| {
            (own.first..own.first + own.lanes).map(move |thread| Agent { group, thread })
        });
        lanes.collect()
    }

    /// Makes the kernel one that can be printed: a wait for a token comes after an arrival that yields it, each peek
    /// decides something, and only groups of several lanes synchronize lanes.
    pub(crate) fn normalize(&mut self) {
        for group in &mut self.groups {
            group.commands.truncate(MAX_COMMANDS);
            let mut arrived = [false; OBJECTS];
            for command in &mut group.commands {
                match command {
                    Command::Arrive(arrival) => {
                        arrived[arrival.object] = true;
                        if arrival.expects.is_some() {
                            arrival.count = 1;
                        }
                    }
                    Command::Wait { object, target, .. } | Command::Peek { object, target, .. }
                        if !arrived[*object] && *target == Target::Token =>
                    {
                        *target = Target::Parity(0);
                    }
                    _ => {}
                }
            }
            let lanes = group.lanes;
            group.commands.retain(|command| lanes > 1 || *command != Command::WarpSync);
            let of = |wait: usize| {
                let is_wait = matches!(group.commands[wait], Command::Wait { .. });
                peek_of(&group.commands, wait).filter(|_| is_wait)
            };
            let used: Vec<usize> = (0..group.commands.len()).filter_map(of).collect();
            let mut numbers = 0..;
            group.commands.retain(|command| {
                let number = numbers.next().expect("there is no end");
                !matches!(command, Command::Peek { .. }) || used.contains(&number)
            });
        }
        self.groups.retain(|group| !group.commands.is_empty());
    }
}
