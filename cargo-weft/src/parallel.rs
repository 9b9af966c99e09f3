//! Processes items on all processors and returns the results in the order of the items.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use rayon::prelude::*;

/// The state of the item whose turn it is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Turn<T> {
    /// The item is done.
    Done(T),
    /// The item is not done. Passed once a second.
    Waiting(RunWait),
}

impl<T> Turn<T> {
    /// Returns how long the item has kept the run waiting, if it is not done.
    pub(crate) const fn wait(&self) -> Option<RunWait> {
        match self {
            Self::Done(_) => None,
            Self::Waiting(wait) => Some(*wait),
        }
    }
}

/// How a run stands while it waits for an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunWait {
    /// For how many seconds it has waited.
    pub(crate) seconds: u32,
    /// How many items behind this one are done.
    pub(crate) behind: usize,
    /// How many items are done.
    pub(crate) done: usize,
    /// How many items there are.
    pub(crate) all: usize,
}

/// How often `take` hears of an item that is not done.
const SECOND: Duration = Duration::from_secs(1);

/// Does `work` on all of `items` and passes each result to `take` when it and all before it are done. Items are started
/// one by one in their order: an item that takes long does not delay the start of others, and the items that `take`
/// gets first are done first.
pub(crate) fn in_order<I: Copy + Send + Sync, T: Send>(
    items: &[I],
    work: impl Fn(I) -> T + Send + Sync,
    take: impl FnMut(I, Turn<T>) -> io::Result<()>,
) -> io::Result<()> {
    in_order_by(SECOND, items, work, take)
}

fn in_order_by<I: Copy + Send + Sync, T: Send>(
    second: Duration,
    items: &[I],
    work: impl Fn(I) -> T + Send + Sync,
    mut take: impl FnMut(I, Turn<T>) -> io::Result<()>,
) -> io::Result<()> {
    let (sender, receiver) = mpsc::channel();
    rayon::in_place_scope(|scope| {
        scope.spawn(move |_| {
            // `par_iter` would give each processor a range of neighbouring items at once.
            let bridge = items.iter().enumerate().par_bridge();
            bridge.for_each_with(sender, |sender, (index, item)| {
                // The receiver is gone only if printing failed; then the remaining results are not needed.
                let _ = sender.send((index, work(*item)));
            });
        });
        let mut done = BTreeMap::new();
        for (index, item) in items.iter().enumerate() {
            let (start, mut seconds) = (Instant::now(), 0);
            let result = loop {
                if let Some(result) = done.remove(&index) {
                    break result;
                }
                let left =
                    (start + second * (seconds + 1)).saturating_duration_since(Instant::now());
                match receiver.recv_timeout(left) {
                    Ok((other, result)) => drop(done.insert(other, result)),
                    Err(RecvTimeoutError::Timeout) => {
                        seconds += 1;
                        let behind = done.len();
                        let wait =
                            RunWait { seconds, behind, done: index + behind, all: items.len() };
                        take(*item, Turn::Waiting(wait))?;
                    }
                    // A worker has panicked; the panic is propagated when the scope ends.
                    Err(RecvTimeoutError::Disconnected) => return Ok(()),
                }
            };
            take(*item, Turn::Done(result))?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Condvar, Mutex};

    const ITEMS: usize = 40;

    #[test]
    fn one_long_item_keeps_no_other_waiting() {
        let (finished, changed) = (Mutex::new(0), Condvar::new());
        let work = |item: usize| {
            let mut count = finished.lock().expect("nobody panics");
            if item == 0 {
                let is_waiting = |count: &mut usize| *count < ITEMS - 1;
                let limit = Duration::from_secs(20);
                let (count, _) =
                    changed.wait_timeout_while(count, limit, is_waiting).expect("nobody panics");
                return *count;
            }
            *count += 1;
            changed.notify_all();
            item
        };
        // Two threads that work, and this one, which waits for them.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads start");
        let mut taken = Vec::new();
        let all = pool.install(|| {
            in_order(&(0..ITEMS).collect::<Vec<_>>(), work, |item, turn| {
                if let Turn::Done(result) = turn {
                    taken.push((item, result));
                }
                Ok(())
            })
        });
        assert!(all.is_ok());
        let rest = (1..ITEMS).map(|item| (item, item));
        assert_eq!(taken, [(0, ITEMS - 1)].into_iter().chain(rest).collect::<Vec<_>>());
    }

    #[test]
    fn an_item_that_keeps_others_waiting_is_told() {
        let (told, changed) = (Mutex::new(false), Condvar::new());
        let work = |item: usize| {
            let told = told.lock().expect("nobody panics");
            let limit = Duration::from_secs(20);
            let is_waiting = |told: &mut bool| item == 1 && !*told;
            let (told, _) =
                changed.wait_timeout_while(told, limit, is_waiting).expect("nobody panics");
            (item, *told)
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads start");
        let mut turns = Vec::new();
        let all = pool.install(|| {
            in_order_by(Duration::from_millis(50), &[0, 1, 2], work, |item, turn| {
                if turn.wait().is_some_and(|wait| (wait.behind, wait.done, wait.all) == (1, 2, 3)) {
                    *told.lock().expect("nobody panics") = true;
                    changed.notify_all();
                }
                turns.push((item, turn));
                Ok(())
            })
        });
        assert!(all.is_ok());
        let seconds = |item: usize| {
            let own = turns.iter().filter(move |(other, _)| *other == item);
            own.filter_map(|(_, turn)| Some(turn.wait()?.seconds)).collect::<Vec<_>>()
        };
        assert!(!seconds(1).is_empty());
        assert_eq!(seconds(1), (1..).take(seconds(1).len()).collect::<Vec<_>>());
        let done = turns.iter().filter_map(|(item, turn)| match turn {
            Turn::Done((own, _)) => Some((*item, *own)),
            Turn::Waiting(_) => None,
        });
        assert_eq!(done.collect::<Vec<_>>(), [(0, 0), (1, 1), (2, 2)]);
        assert!(turns.contains(&(1, Turn::Done((1, true)))));
    }
}
