//! mbarrier objects (PTX ISA §9.7.13.15): counters in shared memory that threads and asynchronous copies arrive at.
//!
//! A phase of an object is complete when as many arrivals have come as it expects and all bytes that it expects have
//! been copied; the next phase begins at once.

use std::collections::BTreeMap;

use super::group::CtaRank;

/// An mbarrier object: its cta among those that run together, and its address in the shared memory of that cta.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MbarrierId {
    /// The cta.
    pub cta: CtaRank,
    /// The address of its first byte.
    pub address: u64,
}

/// How an mbarrier object was used wrongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierMisuse {
    /// A count of arrivals that is 0 or above 1048575.
    Count(u64),
    /// It was initialized although it was initialized already.
    Live,
    /// It was used without being initialized.
    Dead,
    /// More threads arrived in a phase than it expects: this many are expected still.
    Overrun(u32),
    /// The bytes that a phase waits for are more than 1048575, or less than none by more than that.
    Bytes(i64),
    /// An arrival that must not complete a phase did.
    Completes,
    /// A wait for a phase that is neither the current one nor the one before.
    Stale,
}

/// What a phase that is not complete waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MbarrierNeed {
    /// Number of arrivals.
    pub arrivals: u32,
    /// Number of bytes; negative if more have been copied than are expected yet.
    pub bytes: i64,
}

/// An object that has been initialized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mbarrier {
    /// Number of arrivals that each later phase expects.
    expected: u32,
    need: MbarrierNeed,
    /// Number of arrivals that the current phase expected when it began.
    begun: u32,
    /// Number of the current phase, from 0.
    phase: u64,
    /// Number of arrivals that the current phase was made to wait for besides the expected ones.
    joined: u32,
    /// All bytes that the current phase was made to expect, and all that were counted as copied in it.
    summands: [u64; 2],
}

/// The largest count of arrivals and of bytes (PTX ISA §9.7.13.15.2).
const MOST: u32 = (1 << 20) - 1;

/// The mbarrier objects of a cta.
#[derive(Clone, Debug, Default)]
pub struct Mbarriers {
    live: BTreeMap<MbarrierId, Mbarrier>,
}

/// A number of arrivals, if an object can count it.
fn counted(count: u64) -> Result<u32, MbarrierMisuse> {
    let count32 = u32::try_from(count).ok();
    count32.filter(|count| (1..=MOST).contains(count)).ok_or(MbarrierMisuse::Count(count))
}

impl Mbarriers {
    /// Bytes of an object, which is aligned as much.
    pub const BYTES: u32 = 8;

    /// Whether no object is initialized.
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// Initializes an object, whose phases expect `count` arrivals.
    ///
    /// # Errors
    /// A count out of range, or an object that is initialized already.
    pub fn init(&mut self, id: MbarrierId, count: u64) -> Result<(), MbarrierMisuse> {
        let expected = counted(count)?;
        let need = MbarrierNeed { arrivals: expected, bytes: 0 };
        match self.live.insert(
            id,
            Mbarrier { expected, need, begun: expected, phase: 0, joined: 0, summands: [0; 2] },
        ) {
            Some(_) => Err(MbarrierMisuse::Live),
            None => Ok(()),
        }
    }

    /// Ends the use of an object.
    ///
    /// # Errors
    /// An object that is not initialized.
    pub fn invalidate(&mut self, id: MbarrierId) -> Result<(), MbarrierMisuse> {
        self.live.remove(&id).map(|_| ()).ok_or(MbarrierMisuse::Dead)
    }

    fn object(&mut self, id: MbarrierId) -> Result<&mut Mbarrier, MbarrierMisuse> {
        self.live.get_mut(&id).ok_or(MbarrierMisuse::Dead)
    }

    /// Counts `count` arrivals at an object. Returns whether that completes the phase. `drops`: later phases expect as
    /// many fewer.
    ///
    /// # Errors
    /// A count out of range, more arrivals than are expected, or an object that is not initialized.
    pub fn arrive(
        &mut self,
        id: MbarrierId,
        count: u64,
        drops: bool,
    ) -> Result<bool, MbarrierMisuse> {
        let count = counted(count)?;
        let object = self.object(id)?;
        let pending = object.need.arrivals;
        object.need.arrivals =
            pending.checked_sub(count).ok_or(MbarrierMisuse::Overrun(pending))?;
        if drops {
            object.expected = object.expected.saturating_sub(count);
        }
        Ok(object.settle())
    }

    /// Makes the current phase of an object wait for one more arrival.
    ///
    /// # Errors
    /// An object that is not initialized.
    pub fn join(&mut self, id: MbarrierId) -> Result<(), MbarrierMisuse> {
        let object = self.object(id)?;
        object.need.arrivals += 1;
        object.joined += 1;
        Ok(())
    }

    /// Makes the current phase of an object wait for so many more bytes; for fewer if the number is negative. Returns
    /// whether that completes the phase.
    ///
    /// # Errors
    /// More bytes than an object can count, or an object that is not initialized.
    pub fn expect(&mut self, id: MbarrierId, added: i64) -> Result<bool, MbarrierMisuse> {
        let object = self.object(id)?;
        let bytes = object.need.bytes.saturating_add(added);
        object.need.bytes = bytes;
        object.summands[usize::from(added < 0)] += added.unsigned_abs();
        if bytes.unsigned_abs() > u64::from(MOST) {
            return Err(MbarrierMisuse::Bytes(bytes));
        }
        Ok(object.settle())
    }

    /// Whether the bytes or the arrivals that the current phase of an object waits for might be out of range if threads did
    /// the same in another order.
    pub fn might_overflow(&self, id: MbarrierId) -> bool {
        self.live.get(&id).is_some_and(|object| {
            let are_many = object.joined > 0 && object.begun.saturating_add(object.joined) > MOST;
            are_many || object.summands.iter().any(|sum| *sum > u64::from(MOST))
        })
    }

    /// The current phase of an object.
    ///
    /// # Errors
    /// An object that is not initialized.
    pub fn phase(&self, id: MbarrierId) -> Result<u64, MbarrierMisuse> {
        self.live.get(&id).map(|object| object.phase).ok_or(MbarrierMisuse::Dead)
    }

    /// What the current phase of an object needs; `None` if it is not initialized.
    pub fn need(&self, id: MbarrierId) -> Option<MbarrierNeed> {
        self.live.get(&id).map(|object| object.need)
    }

    /// The addresses of the initialized objects.
    pub fn addresses(&self) -> impl Iterator<Item = u64> {
        self.live.keys().map(|id| id.address)
    }

    /// The first initialized object of which some bytes lie among these.
    pub fn among(&self, cta: CtaRank, first: u64, bytes: u64) -> Option<MbarrierId> {
        let at = |address| MbarrierId { cta, address };
        let from = first.saturating_sub(u64::from(Self::BYTES) - 1);
        let to = first.saturating_add(bytes);
        self.live.range(at(from)..at(to)).next().map(|(id, _)| *id)
    }
}

impl Mbarrier {
    /// Begins the next phase if the current one is complete. Returns whether it is.
    const fn settle(&mut self) -> bool {
        let is_complete = self.need.arrivals == 0 && self.need.bytes == 0;
        if is_complete {
            self.need.arrivals = self.expected;
            self.begun = self.expected;
            self.joined = 0;
            self.summands = [0; 2];
            self.phase += 1;
        }
        is_complete
    }
}
