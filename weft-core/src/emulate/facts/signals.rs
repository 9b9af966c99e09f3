//! Signals: atomics by which threads tell others through a location in global memory how far they have come, as the blocks
//! of a reduction do that count how many of them are done. If all that ever changes the location is that each of so many
//! atomics adds one number to it, its value says how many of them have happened. The last of them comes after all others.
//!
//! How many there are is found while ctas run. It is known in later passes, if all ctas of the launch ran to their ends.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use foldhash::fast::RandomState;
use smallvec::SmallVec;

use crate::emulate::value::lane::{SymbolId, WARP};
use crate::flow::PlaceId;

/// An atomic of a cta on a location that signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signal {
    /// The first byte of the location in global memory.
    pub location: u64,
    /// Its number among those of its cta.
    pub number: u32,
}

/// What threads can wait for at a location that signals: that all of its signals are sent, or that it holds a value which one
/// store alone leaves there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SignalKey {
    /// The first byte of the location in global memory.
    pub location: u64,
    /// The value; `None`: all signals.
    pub value: Option<u64>,
}

impl SignalKey {
    /// All signals of a location.
    pub const fn all(location: u64) -> Self {
        Self { location, value: None }
    }
}

/// The signals that the lanes of a warp have sent by an instruction.
pub(crate) type Sent = [Option<Signal>; WARP];

/// How an atomic changes the location of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SignalStep {
    /// The bytes of the location.
    pub(crate) bytes: u32,
    /// The number that it adds.
    pub(crate) amount: i64,
    /// The largest value to which it adds the number (`atom.inc`).
    pub(crate) most: u64,
    /// What the location held before the launch.
    pub(crate) first: u64,
    /// Whether it is only assumed that the location held that.
    pub(crate) is_assumed: bool,
}

/// All that changes a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SignalLocation {
    bytes: u32,
    /// How each of its signals changes it; `None`: not all alike, or something else changes it.
    step: Option<SignalStep>,
    /// The number of signals.
    count: u64,
    /// Which cta of the pass signalled last, counted as they began, and whether some cta has signalled more than once.
    run: u32,
    are_several: bool,
}

impl SignalLocation {
    /// Whether a thread that waits for a value of the location goes on only when all signals have been sent. `passes`: whether
    /// it goes on with a value, if that is known.
    fn lets_pass_at_last(&self, passes: &dyn Fn(u64) -> Option<bool>) -> bool {
        let (Some(step), Some(results)) = (self.step, self.results()) else { return false };
        // The last one must not wrap around.
        let end = results.last + results.amount;
        let limit = 1_i128 << (8 * step.bytes - 1);
        let fits = (0..limit).contains(&end) && results.last < i128::from(step.most);
        let of = |value: i128| u64::try_from(value).ok().and_then(passes);
        let mut before = (0..self.count).map(|at| results.first + i128::from(at) * results.amount);
        let is_clear = fits && results.amount != 0 && self.count <= MAX_AWAITED;
        is_clear && before.all(|value| of(value) == Some(false)) && of(end) == Some(true)
    }

    /// What the signals return, one after the other: the first value, the number that is added each time, and how many
    /// there are. `None` if that is not known, or if a sum wraps around.
    fn results(&self) -> Option<SignalResults> {
        let step = self.step?;
        let (first, amount) = (i128::from(step.first), i128::from(step.amount));
        let last = amount.checked_mul(i128::from(self.count) - 1)?.checked_add(first)?;
        let limit = 1_i128 << (8 * step.bytes - 1);
        // The last one might wrap around: what it returns is right nevertheless.
        let fits = |value: i128| (0..limit).contains(&value) && value <= i128::from(step.most);
        (fits(first) && fits(last)).then_some(SignalResults { first, amount, last })
    }
}

/// What the signals of a location return: `first`, `first + amount` and so on to `last`. None of the values has its highest
/// bit set, so that they are the same with and without a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SignalResults {
    first: i128,
    amount: i128,
    last: i128,
}

impl SignalResults {
    /// Whether a condition holds of the last result alone. If it holds of some result and of the last, it has to hold of all
    /// between them, as a comparison by order does.
    pub(crate) fn only_of_last(self, holds: impl Fn(i128) -> bool) -> bool {
        self.first != self.last && holds(self.last) && !holds(self.last - self.amount)
    }

    /// The last result.
    pub(crate) fn last(self) -> u64 {
        u64::try_from(self.last).expect("results are no negative numbers")
    }

    /// Whether the last result, and no other, is this number.
    pub(crate) const fn is_last(self, number: i128) -> bool {
        self.last == number && self.amount != 0
    }
}

/// Most locations, and results of signals, that are kept.
const MAX_LOCATIONS: usize = 1 << 16;

/// Most signals of a location of which a thread can wait for all.
const MAX_AWAITED: u64 = 1 << 12;

/// Most passes that find other signals than the pass before.
const MAX_CHANGES: u32 = 4;

/// All signals of a check.
#[allow(clippy::struct_excessive_bools, reason = "each is about all signals together")]
#[derive(Debug, Default)]
pub(crate) struct Signals {
    /// What the running pass has seen, by the first byte.
    running: BTreeMap<u64, SignalLocation>,
    /// Where the running pass writes at open addresses, or by copies: first and last bytes.
    written: BTreeSet<(u64, u64)>,
    /// What an earlier pass over all ctas saw.
    known: BTreeMap<u64, SignalLocation>,
    /// The signals by what they return.
    of: HashMap<SymbolId, Signal, RandomState>,
    /// Number of ctas that have begun in the running pass, and of signals that the last of these has sent.
    run: u32,
    of_cta: u32,
    /// Whether a condition asked what a signal returned, in the running pass and in some pass.
    is_asked: bool,
    were_asked: bool,
    /// For places of conditions and outcomes: whether these say no more than that a cta is the last one, which each can be.
    sure_cases: BTreeMap<(PlaceId, bool), bool>,
    /// Those of them that the running pass has judged.
    judged: BTreeSet<(PlaceId, bool)>,
    /// Whether some pass had several atomics of one cta, or some at open addresses.
    is_mixed: bool,
    /// Whether there were more locations than are kept.
    is_full: bool,
    changes: u32,
}

impl Signals {
    /// Prepares for a new pass.
    pub(crate) fn begin(&mut self) {
        self.running.clear();
        self.written.clear();
        self.run = 0;
        self.judged.clear();
        self.is_asked = false;
    }

    /// Prepares for the next cta.
    pub(crate) const fn begin_cta(&mut self) {
        self.of_cta = 0;
        self.run += 1;
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.running.is_empty() && self.known.is_empty()
    }

    /// Whether some signal of this or an earlier pass returned a value.
    pub(crate) fn have_returned(&self) -> bool {
        !self.of.is_empty()
    }

    /// Records that an atomic changes a location; `step`: how, if it surely happens, and once. Returns the signal.
    pub(crate) fn send(&mut self, location: u64, bytes: u32, step: Option<SignalStep>) -> Signal {
        self.spoil_others(location, bytes);
        self.is_mixed |= self.of_cta > 0;
        self.of_cta += 1;
        let signal = Signal { location, number: self.of_cta - 1 };
        if self.running.len() >= MAX_LOCATIONS && !self.running.contains_key(&location) {
            self.is_full = true;
            return signal;
        }
        let run = self.run;
        let new = SignalLocation { bytes, step, count: 0, run, are_several: false };
        let known = self.running.entry(location).or_insert(new);
        known.are_several |= known.count > 0 && known.run == run;
        known.run = run;
        if known.step != step || known.bytes != bytes {
            known.step = None;
        }
        known.count += 1;
        signal
    }

    /// Whether a condition asked what a signal returned.
    pub(crate) const fn were_asked(&self) -> bool {
        self.were_asked
    }

    /// Records whether a case is that of the last cta, which each can be; it has to be so for all ctas of a pass.
    pub(crate) fn judge_case(&mut self, case: (PlaceId, bool), is_sure: bool) {
        if self.judged.insert(case) || !is_sure {
            self.sure_cases.insert(case, is_sure);
        }
    }

    /// Whether each cta is in a case in some schedule.
    pub(crate) fn is_sure_case(&self, case: (PlaceId, bool)) -> bool {
        self.sure_cases.get(&case) == Some(&true)
    }

    /// Records an atomic at an open address.
    pub(crate) const fn send_somewhere(&mut self) {
        self.is_mixed = true;
    }

    /// Whether some cta has executed several atomics, or one at an open address: by the first it might have seen what it hands
    /// on by the second.
    pub(crate) const fn are_mixed(&self) -> bool {
        self.is_mixed
    }

    /// Records which symbolic value a signal returned.
    pub(crate) fn returned(&mut self, symbol: SymbolId, signal: Signal) {
        if self.of.len() < MAX_LOCATIONS {
            self.of.insert(symbol, signal);
        }
    }

    /// Records that something else writes these bytes.
    pub(crate) fn spoil(&mut self, first: u64, bytes: u32) {
        self.spoil_others(first, bytes);
        self.spoil_at(first);
    }

    /// Spoils a location, also one at which signals come only later: an earlier pass has seen them.
    fn spoil_at(&mut self, first: u64) {
        if let Some(location) = self.running.get_mut(&first) {
            location.step = None;
        } else if let Some(known) = self.known.get(&first) {
            let none =
                SignalLocation { step: None, count: 0, run: 0, are_several: false, ..*known };
            self.running.insert(first, none);
        }
    }

    /// Records that something writes somewhere between these bytes, the last one included.
    pub(crate) fn spoil_between(&mut self, first: u64, last: u64) {
        if self.written.len() < MAX_LOCATIONS {
            self.written.insert((first, last));
        } else {
            self.is_full = true;
        }
    }

    /// Spoils the locations that overlap these bytes and begin elsewhere.
    fn spoil_others(&mut self, first: u64, bytes: u32) {
        const WIDEST: u64 = 16;
        let around = || first.saturating_sub(WIDEST)..first.saturating_add(u64::from(bytes));
        let meets = |(at, location): (&u64, &SignalLocation)| {
            (*at != first && at + u64::from(location.bytes) > first).then_some(*at)
        };
        let mut met: SmallVec<[u64; 4]> = self.running.range(around()).filter_map(meets).collect();
        met.extend(self.known.range(around()).filter_map(meets));
        met.into_iter().for_each(|at| self.spoil_at(at));
    }

    /// The signal that returned a symbolic value.
    pub(crate) fn asked(&mut self, symbol: SymbolId) -> Option<Signal> {
        let signal = self.of.get(&symbol).copied();
        self.is_asked |= signal.is_some();
        self.were_asked |= signal.is_some();
        signal
    }

    /// Records that a thread waits for a value of a location.
    pub(crate) const fn await_value(&mut self) {
        self.is_asked = true;
        self.were_asked = true;
    }

    /// Whether a thread that waits for a value of a location goes on only when all signals have been sent. `passes`: whether
    /// it goes on with a value, if that is known.
    pub(crate) fn lets_pass_at_last(
        &self,
        location: u64,
        passes: &dyn Fn(u64) -> Option<bool>,
    ) -> bool {
        self.known.get(&location).is_some_and(|known| known.lets_pass_at_last(passes))
    }

    /// Whether an earlier pass found out what changes a location.
    pub(crate) fn is_known(&self, location: u64) -> bool {
        self.known.contains_key(&location)
    }

    /// Whether what signals of a location return rests on an assumption about what it held before the launch.
    pub(crate) fn is_assumed(&self, location: u64) -> bool {
        let step = self.known.get(&location).and_then(|known| known.step);
        step.is_some_and(|step| step.is_assumed)
    }

    /// Whether each cta can be the one that sends the last signal of a location: none sends several.
    pub(crate) fn can_be_last(&self, location: u64) -> bool {
        let known = self.known.get(&location);
        known.is_some_and(|known| !known.are_several && known.results().is_some())
    }

    /// What all signals of a location return, if that is known.
    pub(crate) fn results(&self, location: u64) -> Option<SignalResults> {
        self.known.get(&location)?.results()
    }

    /// Ends a pass; `is_whole`: all ctas of the launch ran to their ends. Returns whether the pass knew all that it needed
    /// from its start.
    pub(crate) fn settle(&mut self, is_whole: bool) -> bool {
        if !self.is_asked {
            return true;
        }
        let mut found = std::mem::take(&mut self.running);
        for (first, last) in self.written.iter().filter(|(first, last)| first <= last) {
            found.range_mut(first..=last).for_each(|(_, location)| location.step = None);
        }
        if is_whole && found == self.known {
            return true;
        }
        let was_known = !self.known.is_empty();
        self.changes += 1;
        self.known = if is_whole && !self.is_full && self.changes <= MAX_CHANGES {
            found
        } else {
            BTreeMap::new()
        };
        !was_known && self.known.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: SignalStep =
        SignalStep { bytes: 4, amount: 1, most: u64::MAX, first: 0, is_assumed: false };

    fn settled(steps: &[Option<SignalStep>]) -> Option<SignalResults> {
        let mut signals = Signals::default();
        let symbol = SymbolId::at(0);
        for step in steps {
            let signal = signals.send(64, 4, *step);
            signals.returned(symbol, signal);
        }
        let location = signals.asked(symbol)?.location;
        assert!(!signals.is_known(location) && !signals.settle(true));
        signals.begin();
        signals.results(location)
    }

    #[test]
    fn the_last_of_equal_steps_is_known() {
        for count in 2..6 {
            let results = settled(&vec![Some(STEP); count]).unwrap();
            for number in 0..8 {
                let is_last = number + 1 == count as i128;
                assert_eq!(results.is_last(number), is_last);
                assert_eq!(results.only_of_last(|value| value >= number), is_last);
            }
        }
        let other = SignalStep { amount: 2, ..STEP };
        assert_eq!(settled(&[Some(STEP), Some(other)]), None);
        assert_eq!(settled(&[Some(STEP), None]), None);
    }

    #[test]
    fn counters_that_wrap_around_count_up_to_there() {
        let wrapping = |most| settled(&[Some(SignalStep { most, ..STEP }); 4]);
        assert!(wrapping(2).is_none() && wrapping(3).is_some() && wrapping(4).is_some());
        let last = SignalStep { first: (1 << 31) - 3, ..STEP };
        assert!(settled(&[Some(last); 4]).is_none() && settled(&[Some(last); 3]).is_some());
    }

    #[test]
    fn what_else_writes_a_location_spoils_it() {
        for (first, bytes, spoils) in [(64, 4, true), (60, 8, true), (66, 1, true), (68, 4, false)]
        {
            let mut signals = Signals::default();
            let symbol = SymbolId::at(0);
            for _ in 0..2 {
                let signal = signals.send(64, 4, Some(STEP));
                signals.returned(symbol, signal);
            }
            signals.spoil(first, bytes);
            assert!(signals.asked(symbol).is_some() && !signals.settle(true));
            assert_eq!(signals.results(64).is_none(), spoils, "{first} {bytes}");
        }
    }
}
