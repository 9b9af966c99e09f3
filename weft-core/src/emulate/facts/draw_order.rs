//! One order in which the ctas of a launch draw from counters: in turn, one draw each, round after round. An atomic then
//! returns the counter's first value and all steps before its own.
//!
//! Every order that keeps that of each cta's own draws is the order of some schedule, as long as no cta waits for another
//! one. So what goes wrong in this order goes wrong; that nothing does proves nothing.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use super::count::Count;
use crate::emulate::value::lane::Lane;

/// The draws from a counter between two plain stores to it.
#[derive(Debug)]
struct CounterDraws {
    first: Lane,
    /// What each draw adds.
    amount: i64,
    /// By cta: draws of the running pass.
    drawn: BTreeMap<u32, u64>,
}

impl CounterDraws {
    /// Whether each cta took its turn in all rounds but the last, and in that the first ones.
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

/// The draws of all ctas.
#[derive(Debug)]
pub(crate) struct DrawOrder {
    /// How many draw from a counter in global memory.
    ctas: u64,
    lines: BTreeMap<Count, CounterDraws>,
    /// The draws of the running cta; `None`: how many there have been is open.
    of_cta: HashMap<Count, Option<u64>, RandomState>,
    /// Whether some pass was that of no schedule, as far as is known.
    is_broken: bool,
}

impl DrawOrder {
    /// Of so many ctas.
    pub(crate) fn new(ctas: u64) -> Self {
        Self { ctas, lines: BTreeMap::new(), of_cta: HashMap::default(), is_broken: false }
    }

    /// A pass begins.
    pub(crate) fn begin(&mut self) {
        self.lines.values_mut().for_each(|line| line.drawn.clear());
    }

    /// A cta begins.
    pub(crate) fn begin_cta(&mut self) {
        self.of_cta.clear();
    }

    /// A pass ended. It was that of some schedule if the turns that ctas took follow each other without a gap, and if no
    /// cta draws from several counters in an order that the turns contradict.
    pub(crate) fn settle(&mut self) {
        let global =
            || self.lines.iter().filter(|(count, _)| is_global(**count)).map(|draws| draws.1);
        let agrees = |line: &CounterDraws| {
            self.ctas == 1 || global().count() == 1 || line.drawn.values().all(|&own| own <= 1)
        };
        self.is_broken |= !global().all(|line| line.has_no_gap(self.ctas) && agrees(line));
    }

    /// Whether draws happen in this order in some schedule.
    pub(crate) const fn is_kept(&self) -> bool {
        !self.is_broken
    }

    /// Whether the next draw of the running cta is the first of all.
    pub(crate) fn is_first(&self, count: Count, cta: u32) -> bool {
        (cta == 0 || !is_global(count)) && !self.of_cta.contains_key(&count)
    }

    /// The first of all draws returns this value.
    pub(crate) fn start(&mut self, count: Count, first: Lane, amount: i64) {
        let line = self.lines.entry(count).or_insert(CounterDraws {
            first,
            amount,
            drawn: BTreeMap::new(),
        });
        (line.first, line.amount) = (first, amount);
    }

    /// The draws are those of no schedule, as far as is known.
    pub(crate) const fn give_up(&mut self) {
        self.is_broken = true;
    }

    /// The next draw of a cta: the first value, and what was added to it before; `None`: open. `is_sure`: whether it
    /// surely happens, and once.
    pub(crate) fn next(
        &mut self,
        count: Count,
        amount: i64,
        cta: u32,
        is_sure: bool,
    ) -> Option<(Lane, u64)> {
        let drawn = self.of_cta.entry(count).or_insert(Some(0));
        let number = drawn.filter(|_| is_sure);
        *drawn = number.map(|number| number + 1);
        let (number, next) = number.zip(*drawn)?;
        // What is stored to a counter in global memory is stored at some time between the draws of other ctas.
        let line = self.lines.get_mut(&count).filter(|line| line.amount == amount);
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
        Some((line.first, before.wrapping_mul(amount.cast_unsigned())))
    }
}

const fn is_global(count: Count) -> bool {
    count.at.is_global
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulate::facts::count::CounterLocation;

    /// Two ctas that draw so often from each of some counters in global memory, in one pass: whether that is the order of
    /// some schedule.
    fn is_kept(draws: &[[u64; 2]]) -> bool {
        let mut order = DrawOrder::new(2);
        for cta in 0..2 {
            order.begin_cta();
            for (at, often) in (0..).zip(draws) {
                let at = CounterLocation { is_global: true, cta: 0, address: at };
                let count = Count { at, number: 0 };
                for _ in 0..often[cta as usize] {
                    if order.is_first(count, cta) {
                        order.start(count, Lane::known(0), 1);
                    }
                    order.next(count, 1, cta, true);
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
