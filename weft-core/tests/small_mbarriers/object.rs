//! The mbarrier object, by the rules of the PTX manual.

use crate::kernel::{Arrival, Command};

/// The bounds of the transaction count are this number and its negation.
const MOST_BYTES: i32 = (1 << 20) - 1;

/// The number of a phase; -1 is the one before the first, which counts as complete from the beginning.
pub(crate) type Phase = i8;

/// The state of an mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Mbarrier {
    /// The number of arrivals that the next phase needs.
    expected: u32,
    /// The number of arrivals that are missing in this phase.
    pending: u32,
    /// Bytes that are expected and not complete: negative if more are complete than expected so far.
    bytes: i32,
    /// The current phase.
    pub(crate) phase: Phase,
}

/// A use of an mbarrier that the manual leaves undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misuse {
    /// More arrivals than the phase has pending.
    Arrivals,
    /// A transaction count out of range.
    Bytes,
    /// A token of a phase that is neither the current one nor the one before it.
    Token,
    /// The expected count drops to zero. The manual gives a range from 1, although libcu++ drops to 0 by design.
    Dropped,
}

impl Mbarrier {
    /// Returns the state after `mbarrier.init`.
    pub(crate) const fn new(count: u32) -> Self {
        Self { expected: count, pending: count, bytes: 0, phase: 0 }
    }

    /// Executes a command that changes the object; returns the phase that it belongs to.
    pub(crate) fn apply(&mut self, command: Command) -> Result<Phase, Misuse> {
        let phase = self.phase;
        match command {
            Command::Arrive(Arrival { count, expects, drops, .. }) => {
                if let Some(bytes) = expects {
                    self.transact(bytes, 1)?;
                }
                self.pending = self.pending.checked_sub(count).ok_or(Misuse::Arrivals)?;
                if drops {
                    let rest = self.expected.checked_sub(count).filter(|rest| *rest > 0);
                    self.expected = rest.ok_or(Misuse::Dropped)?;
                }
            }
            Command::Follow { .. } => {
                self.pending = self.pending.checked_sub(1).ok_or(Misuse::Arrivals)?;
            }
            Command::Expect { bytes, .. } => self.transact(bytes, 1)?,
            Command::Complete { bytes, .. } => self.transact(bytes, -1)?,
            _ => unreachable!("{command:?} changes no mbarrier"),
        }
        if self.pending == 0 && self.bytes == 0 {
            self.pending = self.expected;
            self.phase += 1;
        }
        Ok(phase)
    }

    /// Makes the current phase wait for one more arrival; returns the phase.
    pub(crate) const fn join(&mut self) -> Phase {
        self.pending += 1;
        self.phase
    }

    fn transact(&mut self, bytes: u32, sign: i32) -> Result<(), Misuse> {
        let bytes = i32::try_from(bytes).expect("few bytes");
        self.bytes += sign * bytes;
        if self.bytes.abs() > MOST_BYTES { Err(Misuse::Bytes) } else { Ok(()) }
    }

    /// Whether a wait for a phase of this parity succeeds: whether the phase before the current one has it.
    pub(crate) fn is_complete(&self, parity: u32) -> bool {
        u32::from(self.phase.rem_euclid(2).unsigned_abs()) != parity
    }

    /// Whether all arrivals of the current phase have come, so that only bytes are missing.
    pub(crate) const fn lacks_bytes_only(&self) -> bool {
        self.pending == 0
    }
}
