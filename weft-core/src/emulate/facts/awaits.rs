//! Locations in global memory of which threads wait for a value that others store there: flags, and semaphores that ctas hand
//! on from one to the next. If one store alone leaves a value there, whoever has seen the value comes after this store.
//!
//! Which locations these are, and what is stored there, is found while ctas run, and known in later passes.

use std::collections::{BTreeMap, BTreeSet};

use super::signals::SignalKey;

/// What changes a location.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AwaitedLocation {
    bytes: u32,
    /// What it held before the launch, and whether that is only assumed.
    first: (u64, bool),
    /// How many stores leave each value there.
    values: BTreeMap<u64, u32>,
    /// Whether something else changes it.
    is_spoiled: bool,
}

/// What a pass has found out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct AwaitedStores {
    locations: BTreeMap<u64, AwaitedLocation>,
    /// For each signal, what its sender had waited for before.
    chains: BTreeMap<SignalKey, BTreeSet<SignalKey>>,
}

/// Bytes of the widest location.
const WIDEST: u64 = 16;

/// Most locations, and most values of one, that are kept.
const MOST: usize = 1 << 12;

/// Most passes that find other stores than the pass before.
const MAX_CHANGES: u32 = 4;

/// All locations of which threads wait for a value.
#[derive(Debug, Default)]
pub(crate) struct Awaits {
    /// The locations, with their bytes and what they held before the launch.
    asked: BTreeMap<u64, (u32, (u64, bool))>,
    /// Whether the running pass has found some of them.
    is_new: bool,
    running: AwaitedStores,
    known: AwaitedStores,
    changes: u32,
}

impl Awaits {
    /// Prepares for a new pass.
    pub(crate) fn begin(&mut self) {
        self.running = AwaitedStores::default();
        self.is_new = false;
    }

    /// Whether no thread waits for a value.
    pub(crate) fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// Records that a thread waits for a value of a location; `first`: what it held before the launch, and whether that is only assumed.
    pub(crate) fn ask(&mut self, location: u64, bytes: u32, first: (u64, bool)) {
        if self.asked.len() < MOST && !self.asked.contains_key(&location) {
            self.asked.insert(location, (bytes, first));
            self.is_new = true;
        }
    }

    /// Whether threads wait for values of exactly this location.
    pub(crate) fn is_asked(&self, location: u64, bytes: u32) -> bool {
        self.asked.get(&location).is_some_and(|(own, _)| *own == bytes)
    }

    /// Records a write of bytes; `value`: what it leaves there, if it is strong for the whole grid and surely happens once.
    pub(crate) fn write(&mut self, first: u64, bytes: u32, value: Option<u64>) {
        let end = first.saturating_add(u64::from(bytes));
        let around = self.asked.range(first.saturating_sub(WIDEST)..end);
        let met = around.filter(|(at, (own, _))| *at + u64::from(*own) > first);
        for (at, (own, held)) in met {
            let new = AwaitedLocation {
                bytes: *own,
                first: *held,
                values: BTreeMap::new(),
                is_spoiled: false,
            };
            let location = self.running.locations.entry(*at).or_insert(new);
            let value = value.filter(|_| (*at, *own) == (first, bytes));
            match value {
                Some(value) if location.values.len() < MOST => {
                    *location.values.entry(value).or_default() += 1;
                }
                _ => location.is_spoiled = true,
            }
        }
    }

    /// Records that something writes somewhere between these bytes, the last one included.
    pub(crate) fn write_between(&mut self, first: u64, last: u64) {
        let around = self.asked.range(first.saturating_sub(WIDEST)..=last.max(first));
        let met = around.filter(|(at, (own, _))| **at + u64::from(*own) > first);
        let met: Vec<u64> = met.map(|(at, _)| *at).collect();
        for at in met {
            self.write(at, 1, None);
        }
    }

    /// Records what a thread that signals had waited for before.
    pub(crate) fn chain(&mut self, key: SignalKey, before: impl IntoIterator<Item = SignalKey>) {
        let chain = self.running.chains.entry(key).or_default();
        chain.extend(before.into_iter().take(MOST));
    }

    /// The value for which a thread waits at a location, if a single store leaves it there and the thread goes on with no other. `passes`:
    /// whether it goes on with a value, if that is known. Also whether that rests on what the location is assumed to have held.
    pub(crate) fn awaited(
        &self,
        location: u64,
        passes: &dyn Fn(u64) -> Option<bool>,
    ) -> Option<(SignalKey, bool)> {
        let known = self.known.locations.get(&location).filter(|known| !known.is_spoiled)?;
        let (first, is_assumed) = known.first;
        if passes(first) != Some(false) {
            return None;
        }
        let mut found = None;
        for (value, count) in &known.values {
            match passes(*value)? {
                true if found.is_some() || *count != 1 => return None,
                true => found = Some(*value),
                false => {}
            }
        }
        Some((SignalKey { location, value: Some(found?) }, is_assumed))
    }

    /// Whether all that changes a location are stores of known values.
    pub(crate) fn is_flag(&self, location: u64) -> bool {
        self.known.locations.get(&location).is_some_and(|known| !known.is_spoiled)
    }

    /// What comes before a signal beside it: what its sender had waited for, and what comes before that.
    pub(crate) fn before(&self, key: SignalKey) -> BTreeSet<SignalKey> {
        let mut found = BTreeSet::new();
        let mut open = vec![key];
        while let Some(key) = open.pop() {
            let chain = self.known.chains.get(&key).into_iter().flatten();
            open.extend(chain.filter(|before| found.insert(**before)));
        }
        found
    }

    /// Ends a pass; `is_whole`: all ctas of the launch ran to their ends. Returns whether the pass knew all that it needed
    /// from its start.
    pub(crate) fn settle(&mut self, is_whole: bool) -> bool {
        if self.asked.is_empty() {
            return true;
        }
        let found = std::mem::take(&mut self.running);
        if is_whole && !self.is_new && found == self.known {
            return true;
        }
        let was_known = self.known != AwaitedStores::default();
        self.changes += 1;
        let goes_on = is_whole && self.changes <= MAX_CHANGES;
        self.known = if goes_on { found } else { AwaitedStores::default() };
        !was_known && !goes_on
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: u64 = 64;

    fn known(writes: &[(u64, u32, Option<u64>)]) -> Awaits {
        let mut awaits = Awaits::default();
        awaits.ask(AT, 4, (0, false));
        assert!(!awaits.settle(true));
        awaits.begin();
        for (first, bytes, value) in writes {
            awaits.write(*first, *bytes, *value);
        }
        let _ = awaits.settle(true);
        awaits.begin();
        awaits
    }

    fn value(awaits: &Awaits, wanted: u64) -> Option<u64> {
        let found = awaits.awaited(AT, &|value| Some(value == wanted))?;
        found.0.value
    }

    #[test]
    fn a_value_is_that_of_its_only_store() {
        let awaits =
            known(&[(AT, 4, Some(1)), (AT, 4, Some(2)), (AT, 4, Some(2)), (AT, 4, Some(0))]);
        let found = [0, 1, 2, 3].map(|wanted| value(&awaits, wanted));
        assert_eq!(found, [None, Some(1), None, None]);
        // Who goes on with several values has seen either.
        assert_eq!(awaits.awaited(AT, &|value| Some(value > 0)), None);
        assert_eq!(awaits.awaited(AT, &|value| (value != 2).then_some(value == 1)), None);
    }

    #[test]
    fn other_writes_spoil_a_location() {
        for (first, bytes, spoils) in [(60, 8, true), (66, 1, true), (68, 4, false), (64, 4, true)]
        {
            let awaits = known(&[(AT, 4, Some(1)), (first, bytes, None)]);
            assert_eq!(value(&awaits, 1).is_none(), spoils, "{first} {bytes}");
        }
        for (first, last, spoils) in
            [(0, 63, false), (0, 64, true), (67, 90, true), (80, 90, false)]
        {
            let mut awaits = Awaits::default();
            awaits.ask(AT, 4, (0, false));
            assert!(!awaits.settle(true));
            awaits.begin();
            awaits.write(AT, 4, Some(1));
            awaits.write_between(first, last);
            let _ = awaits.settle(true);
            assert_eq!(value(&awaits, 1).is_none(), spoils, "{first} {last}");
        }
    }

    #[test]
    fn what_is_waited_for_is_passed_on() {
        let key = |value| SignalKey { location: AT, value: Some(value) };
        let mut awaits = Awaits::default();
        awaits.ask(AT, 4, (0, false));
        assert!(!awaits.settle(true));
        awaits.begin();
        awaits.chain(key(2), [key(1)]);
        awaits.chain(key(3), [key(2)]);
        let _ = awaits.settle(true);
        assert_eq!(awaits.before(key(3)), [key(1), key(2)].into());
        assert_eq!(awaits.before(key(1)), BTreeSet::new());
    }
}
