//! The memory that a call of a library gives values: nothing is computed here, so nobody knows them afterwards.

use crate::memory::Memory;
use crate::status::{Answer, Refusal, Status, refuse};

/// Runs of bytes, at equal distances: the columns of a matrix, the elements of a vector, or the matrices of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Runs {
    /// Where the first one starts.
    pub(crate) start: u64,
    /// Bytes of each.
    pub(crate) length: u64,
    /// Bytes from the start of one to that of the next, no fewer than its length.
    pub(crate) pitch: u64,
    /// How many there are.
    pub(crate) count: u64,
}

/// What a call writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Results {
    /// These bytes.
    Runs(Vec<Runs>),
    /// What only the device's memory says, and the host has not put there.
    Anything,
}

/// Up to so many runs are noted one by one. More are taken for one that covers them: more is unknown then than has to be.
const MOST: u64 = 1 << 12;

/// Matrices of a batch up to which each is noted with its gaps.
const MOST_IN_BATCH: u64 = 1 << 10;

impl Runs {
    /// One run.
    pub(crate) fn one(start: u64, length: u64) -> Self {
        Runs { start, length, pitch: length, count: 1 }
    }

    /// Returns these runs `count` times, `stride` bytes apart. Of more than [`MOST_IN_BATCH`], each is one run with its gaps.
    pub(crate) fn batch(self, stride: u64, count: u64) -> Vec<Self> {
        if count > MOST_IN_BATCH {
            let length = self.span().unwrap_or(u64::MAX);
            return vec![Runs { start: self.start, length, pitch: stride, count }];
        }
        let starts =
            (0..count).map(|index| self.start.saturating_add(index.saturating_mul(stride)));
        starts.map(|start| Runs { start, ..self }).collect()
    }

    /// Returns the bytes from the first to the last one; `None` if there is no such number.
    fn span(self) -> Option<u64> {
        match self.count.checked_sub(1) {
            None => Some(0),
            Some(_) if self.length == 0 => Some(0),
            Some(last) => last.checked_mul(self.pitch)?.checked_add(self.length),
        }
    }

    /// Returns the runs as they are noted: those that touch are one.
    fn merged(self) -> Option<Self> {
        let span = self.span()?;
        let is_one = self.pitch <= self.length || self.count > MOST;
        Some(if is_one { Runs::one(self.start, span) } else { self })
    }
}

impl Results {
    /// Refuses results that are not in one live allocation each. On a device, the kernels of the library would fail.
    pub(crate) fn check(&self, memory: &Memory) -> Answer {
        let Results::Runs(all) = self else { return Ok(()) };
        for runs in all {
            let too_large = || refuse(Status::InvalidValue, "the sizes are too large");
            let span = runs.span().ok_or_else(too_large)?;
            if span > 0 {
                let found = memory.range(runs.start, span, "writes");
                found.map_err(|refusal| Refusal { status: Status::LaunchFailed, ..refusal })?;
            }
        }
        Ok(())
    }

    /// Notes that nobody knows the results.
    pub(crate) fn note(&self, memory: &mut Memory, function: &str) -> Answer {
        self.check(memory)?;
        let Results::Runs(all) = self else {
            memory.compute_anything(function);
            return Ok(());
        };
        for runs in all.iter().filter_map(|runs| runs.merged()) {
            for at in 0..runs.count {
                memory.compute(runs.start + at * runs.pitch, runs.length, function)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, MOST_IN_BATCH, Results, Runs};
    use crate::allocation::Kind;
    use crate::memory::Memory;

    #[test]
    fn runs_touch_or_have_gaps_or_are_too_many() {
        let runs = |length, pitch, count| Runs { start: 64, length, pitch, count };
        assert_eq!(runs(16, 16, 3).merged(), Some(Runs::one(64, 48)));
        assert_eq!(runs(16, 20, 3).merged(), Some(runs(16, 20, 3)));
        assert_eq!(runs(16, 20, MOST + 1).merged(), Some(Runs::one(64, 20 * MOST + 16)));
        assert_eq!(runs(16, 20, 0).span(), Some(0));
        assert_eq!(runs(0, 20, 5).span(), Some(0));
        assert_eq!(runs(16, u64::MAX, 2).merged(), None);
    }

    #[test]
    fn runs_of_a_batch_are_apart() {
        let one = Runs { start: 64, length: 4, pitch: 8, count: 2 };
        let second = Runs { start: 164, ..one };
        assert_eq!(one.batch(100, 2), [one, second]);
        assert_eq!(one.batch(100, 0), []);
        let many = Runs { start: 64, length: 12, pitch: 100, count: MOST_IN_BATCH + 1 };
        assert_eq!(one.batch(100, MOST_IN_BATCH + 1), [many]);
    }

    #[test]
    fn results_are_unknown_and_nothing_beside_them() {
        let mut memory = Memory::default();
        let base = memory.allocate(64, Kind::Device, 0).unwrap();
        memory.set(base, &[7], 64).unwrap();
        let runs = Runs { start: base + 8, length: 4, pitch: 16, count: 2 };
        Results::Runs(vec![runs]).note(&mut memory, "f").unwrap();
        let own = memory.at(base).unwrap();
        assert_eq!(own.known.within(0, 64), [(0, 8), (12, 24), (28, 64)]);
        assert_eq!(own.computed.within(0, 64), [(8, 12), (24, 28)]);
        // What the host sets again is known again.
        memory.set(base, &[7], 16).unwrap();
        assert_eq!(memory.at(base).unwrap().known.within(0, 64), [(0, 24), (28, 64)]);
        let beyond = Runs { start: base + 8, length: 4, pitch: 16, count: 5 };
        let refusal = Results::Runs(vec![beyond]).note(&mut memory, "f").unwrap_err();
        assert_eq!(
            refusal.reason.as_deref(),
            Some("writes bytes 8..76 of an allocation of 64 bytes")
        );
    }
}
