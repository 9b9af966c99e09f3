//! Work on all processors whose results come in order.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc;
use std::thread;

use rayon::prelude::*;

/// Does `work` on all of `items` and hands over each result when it and all before it are there.
pub(crate) fn in_order<I: Copy + Send + Sync, T: Send>(
    items: &[I],
    work: impl Fn(I) -> T + Send + Sync,
    mut take: impl FnMut(I, T) -> io::Result<()>,
) -> io::Result<()> {
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            items.par_iter().enumerate().for_each_with(sender, |sender, (index, item)| {
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
