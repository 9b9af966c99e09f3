//! Work on all processors whose results come in order.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc;

use rayon::prelude::*;

/// Does `work` on all of `items` and hands over each result when it and all before it are there. Items are begun in
/// their order, one by one: a long one keeps no other waiting, and what is handed over first is done first.
pub(crate) fn in_order<I: Copy + Send + Sync, T: Send>(
    items: &[I],
    work: impl Fn(I) -> T + Send + Sync,
    mut take: impl FnMut(I, T) -> io::Result<()>,
) -> io::Result<()> {
    let (sender, receiver) = mpsc::channel();
    rayon::in_place_scope(|scope| {
        scope.spawn(move |_| {
            // Not `par_iter`, which gives each processor a row of neighbours at once.
            let bridge = items.iter().enumerate().par_bridge();
            bridge.for_each_with(sender, |sender, (index, item)| {
                // The receiver is gone only where printing failed; then nobody waits for the rest.
                let _ = sender.send((index, work(*item)));
            });
        });
        let mut done = BTreeMap::new();
        let mut waiting = items.iter().enumerate();
        let mut next = waiting.next();
        for (index, result) in receiver {
            done.insert(index, result);
            while let Some((result, item)) =
                next.and_then(|(index, item)| Some((done.remove(&index)?, item)))
            {
                take(*item, result)?;
                next = waiting.next();
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::sync::{Condvar, Mutex};
    use std::time::Duration;

    use super::*;

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
        // Two that work, and this one, which waits for them.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads start");
        let mut taken = Vec::new();
        let all = pool.install(|| {
            in_order(&(0..ITEMS).collect::<Vec<_>>(), work, |item, result| {
                taken.push((item, result));
                Ok(())
            })
        });
        assert!(all.is_ok());
        let rest = (1..ITEMS).map(|item| (item, item));
        assert_eq!(taken, [(0, ITEMS - 1)].into_iter().chain(rest).collect::<Vec<_>>());
    }
}
