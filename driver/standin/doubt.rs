//! Whether what a thread does might rest on values that are not those of a device, since kernels do not run here.
//!
//! It is kept for each thread: what a thread of a test has read says nothing of the tests beside it, whichever runs first.

use std::cell::Cell;

/// What a thread might have seen of memory that a kernel might have changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Doubt {
    /// It has read such memory by a call.
    pub(crate) has_read: bool,
    /// It has given kernels memory that the host reads without calls: whether it did, nobody sees.
    pub(crate) has_shared: bool,
}

thread_local! {
    // It has nothing to drop: programs call the driver while their threads end.
    static OWN: Cell<Doubt> = const { Cell::new(Doubt { has_read: false, has_shared: false }) };
}

/// Returns the doubt of this thread.
pub(crate) fn own() -> Doubt {
    OWN.with(Cell::get)
}

/// Notes that this thread has read memory that a kernel might have changed, if it `did`.
pub(crate) fn read(did: bool) {
    take_over(Doubt { has_read: did, has_shared: false });
}

/// Notes that this thread has given a kernel memory that the host reads without calls, if it `did`.
pub(crate) fn share(did: bool) {
    take_over(Doubt { has_read: false, has_shared: did });
}

/// Adds the doubt of another thread, on whose behalf this one acts, or whose work it waited for.
pub(crate) fn take_over(other: Doubt) {
    OWN.with(|doubt| {
        let Doubt { has_read, has_shared } = doubt.get();
        doubt.set(Doubt {
            has_read: has_read || other.has_read,
            has_shared: has_shared || other.has_shared,
        });
    });
}
