//! One fixed order in which the ctas of a launch draw from counters: in rounds, in each of which every cta draws once.
//! An atomic then returns what the counter holds after all draws before it.
//!
//! Every order that keeps each cta's own draws in sequence is that of some schedule, as long as no cta waits for
//! another one. So a defect found in this order is a defect; that none is found proves nothing.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use super::counter_update::CounterUpdate;
use super::period::CounterPeriod;
use crate::emulate::value::lane::Lane;

/// The draws from a counter between two plain stores to it.
#[derive(Debug)]
struct CounterDraws {
    first: Lane,
    /// What each draw does.
    update: CounterUpdate,
    /// For each cta: its number of draws in the running pass.
    drawn: BTreeMap<u32, u64>,
}

impl CounterDraws {
    /// Whether every cta drew once in each round but the last, and in the last round the first ctas did.
    fn has_no_gap(&self, ctas: u64) -> bool {
        let draws = |cta: u64| {
            let drawn = u32::try_from(cta).ok().and_then(|cta| self.drawn.get(&cta));
            drawn.copied().unwrap_or(0)
        };
        let (first, last) = (draws(0), draws(ctas.saturating_sub(1)));
        first.saturating_sub(last) <= 1
            && (1..ctas).all(|cta| (last..=draws(cta - 1)).contains(&draws(cta)))
    }
}

/// The draws of all ctas from all counters.
#[derive(Debug)]
pub(crate) struct DrawOrder {
    /// Number of ctas that are run; each might draw from a counter in global memory.
    ctas: u64,
    lines: BTreeMap<CounterPeriod, CounterDraws>,
    /// For each count: the number of draws of the running cta; `None` if it is open.
    of_cta: HashMap<CounterPeriod, Option<u64>, RandomState>,
    /// Whether some pass might have had draws that no schedule has.
    is_broken: bool,
}

impl DrawOrder {
    /// No draws yet, for this many ctas.
    pub(crate) fn new(ctas: u64) -> Self {
        Self { ctas, lines: BTreeMap::new(), of_cta: HashMap::default(), is_broken: false }
    }

    /// Prepares for a new pass.
    pub(crate) fn begin(&mut self) {
        self.lines.values_mut().for_each(|line| line.drawn.clear());
    }

    /// Prepares for the next cta.
    pub(crate) fn begin_cta(&mut self) {
        self.of_cta.clear();
    }

    /// Checks a pass that has ended: its draws are those of some schedule if the turns of the ctas follow each other
    /// without a gap, and if no cta draws from several counters in a sequence that the turns contradict.
    pub(crate) fn settle(&mut self) {
        let global =
            || self.lines.iter().filter(|(count, _)| is_global(**count)).map(|draws| draws.1);
        let agrees = |line: &CounterDraws| {
            self.ctas == 1 || global().count() == 1 || line.drawn.values().all(|&own| own <= 1)
        };
        self.is_broken |= !global().all(|line| line.has_no_gap(self.ctas) && agrees(line));
    }

    /// Whether the draws of all passes so far are those of some schedule.
    pub(crate) const fn is_kept(&self) -> bool {
        !self.is_broken
    }

    /// Whether the next draw of the running cta is the first of all draws of a count.
    pub(crate) fn is_first(&self, count: CounterPeriod, cta: u32) -> bool {
        (cta == 0 || !is_global(count)) && !self.of_cta.contains_key(&count)
    }

    /// Sets the value that the first of all draws returns, and what each draw does.
    pub(crate) fn start(&mut self, count: CounterPeriod, first: Lane, update: CounterUpdate) {
        let line = self.lines.entry(count).or_insert(CounterDraws {
            first,
            update,
            drawn: BTreeMap::new(),
        });
        (line.first, line.update) = (first, update);
    }

    /// Records that the draws might be those of no schedule.
    pub(crate) const fn give_up(&mut self) {
        self.is_broken = true;
    }

    /// The next draw of a cta: the counter's first value, and the number of draws before. `None` if it is open. `is_sure`: the
    /// draw surely happens, exactly once.
    pub(crate) fn next(
        &mut self,
        count: CounterPeriod,
        update: CounterUpdate,
        cta: u32,
        is_sure: bool,
    ) -> Option<(Lane, u64)> {
        let drawn = self.of_cta.entry(count).or_insert(Some(0));
        let number = drawn.filter(|_| is_sure);
        *drawn = number.map(|number| number + 1);
        let (number, next) = number.zip(*drawn)?;
        // A plain store to a counter in global memory happens at an unknown time between the draws of other ctas.
        let line = self.lines.get_mut(&count).filter(|line| line.update == update);
        let Some(line) = line.filter(|_| !is_global(count) || count.number == 0) else {
            self.give_up();
            return None;
        };
        line.drawn.insert(cta, next);
        let before = if is_global(count) {
            number.wrapping_mul(self.ctas).wrapping_add(u64::from(cta))
        } else {
            number
        };
        Some((line.first, before))
    }
}

const fn is_global(count: CounterPeriod) -> bool {
    count.at.is_global
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulate::facts::period::CounterLocation;

    /// Whether the draws of one pass are those of some schedule, if two ctas draw this often from each of several
    /// counters in global memory.
    fn is_kept(draws: &[[u64; 2]]) -> bool {
        let mut order = DrawOrder::new(2);
        for cta in 0..2 {
            order.begin_cta();
            for (at, often) in (0..).zip(draws) {
                let at = CounterLocation { is_global: true, cta: 0, address: at };
                let count = CounterPeriod { at, number: 0 };
                for _ in 0..often[cta as usize] {
                    if order.is_first(count, cta) {
                        order.start(count, Lane::known(0), CounterUpdate::Adds(1));
                    }
                    order.next(count, CounterUpdate::Adds(1), cta, true);
                }
            }
        }
        order.settle();
        order.is_kept()
    }

    #[test]
    fn each_cta_takes_its_turn_in_all_rounds_but_the_last() {
        assert!(
            is_kept(&[[1, 1]]) && is_kept(&[[3, 3]]) && is_kept(&[[3, 2]]) && is_kept(&[[1, 0]])
        );
        assert!(!is_kept(&[[2, 0]]) && !is_kept(&[[3, 1]]) && !is_kept(&[[1, 2]]));
    }

    #[test]
    fn turns_at_several_counters_agree_if_each_cta_draws_once_from_each() {
        assert!(is_kept(&[[1, 1], [1, 1]]) && is_kept(&[[1, 1], [1, 0]]));
        assert!(!is_kept(&[[2, 1], [1, 1]]) && !is_kept(&[[1, 1], [2, 2]]));
    }
}
