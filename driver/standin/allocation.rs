//! An allocation: what it is, which of its bytes are known, and what was written of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::ranges::Ranges;

/// Whose memory it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Of the device alone.
    Device,
    /// A variable of a module.
    Variable,
    /// The device's, put to addresses that were reserved.
    Mapped,
    /// That of an array, whose address programs do not get.
    Array,
    /// Of both; the host reads and writes it without a call.
    Managed,
    /// The host's, pinned.
    Pinned,
    /// The host's own, made known to the device.
    Registered,
}

impl Kind {
    /// Returns whether the host uses the memory without calls, so that what is there is always known.
    pub(crate) fn is_hosts(self) -> bool {
        matches!(self, Kind::Managed | Kind::Pinned | Kind::Registered)
    }
}

/// By what an allocation was within reach of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// A parameter.
    Argument(u32),
    /// A variable of the module.
    Variable(String),
    /// The arguments of the launch are not known, or it is a call of a library.
    Unknown,
}

/// A kernel that might have stored into an allocation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Passed {
    /// Name of the module; `None` if none is kept.
    pub(crate) module: Option<String>,
    /// Name of the kernel.
    pub(crate) kernel: String,
    /// How it reached the allocation.
    pub(crate) reach: Reach,
}

impl Passed {
    /// Returns what stands for a function of a library, which has no module.
    pub(crate) fn library(function: &str) -> Self {
        Passed { module: None, kernel: function.to_owned(), reach: Reach::Unknown }
    }
}

/// What is known of an allocation at a launch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    /// Name of the file; `None` if nothing is known or the allocation is too large.
    pub(crate) name: Option<String>,
    /// Known words that point into live allocations: offset and address.
    pub(crate) pointers: Vec<(u64, u64)>,
}

/// Contents as they were written last, with what they depend on.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    /// The allocation's `version`.
    pub(crate) version: u64,
    /// The memory's `generation`, if addresses are among the contents.
    pub(crate) generation: Option<u64>,
    /// How often memory of the host had been registered: what was no address might be one since.
    pub(crate) registrations: u64,
    /// What was written.
    pub(crate) contents: Arc<Contents>,
    /// The bytes, of memory that changes without calls.
    pub(crate) bytes: Vec<u8>,
}

/// The words of an allocation that might be addresses, as they were found last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Words {
    /// The words, by their offsets, multiples of 8.
    pub(crate) found: BTreeMap<u64, u64>,
    /// How often memory of the host had been registered then; `None`: nobody has looked.
    pub(crate) registrations: Option<u64>,
    /// Offsets of bytes that have changed since.
    pub(crate) changed: Ranges,
}

/// A live allocation.
#[derive(Debug, Clone)]
pub(crate) struct Allocation {
    /// Its bytes.
    pub(crate) size: u64,
    /// Whose it is.
    pub(crate) kind: Kind,
    /// Flags of the call that made it.
    pub(crate) flags: u32,
    /// Offsets of bytes that the host copied in or set.
    pub(crate) known: Ranges,
    /// Offsets of bytes that a call of a library would have computed: nobody knows them.
    pub(crate) computed: Ranges,
    /// Counts the calls that changed it.
    pub(crate) version: u64,
    /// Kernels that might have stored into it since the host overwrote all of it.
    pub(crate) passed: BTreeSet<Passed>,
    /// Whether a kernel was ever given a way to it, which it might have stored where later kernels find it.
    pub(crate) was_passed: bool,
    /// How many launches there had been when the host last overwrote all of it.
    pub(crate) since: u64,
    /// What was written of it last.
    pub(crate) snapshot: Option<Snapshot>,
    /// Its words that might be addresses.
    pub(crate) words: Words,
    /// Its number, in the order of allocation.
    pub(crate) number: u64,
    /// The context with which it ends; 0 for none.
    pub(crate) context: u64,
}

impl Allocation {
    /// Takes in the allocation that begins at the end of this one.
    pub(crate) fn join(&mut self, next: &Allocation) {
        let shift = self.size;
        let moved = |ranges: &Ranges| -> Vec<(u64, u64)> { ranges.within(0, next.size) };
        for (low, high) in moved(&next.known) {
            self.known.insert(low + shift, high + shift);
        }
        for (low, high) in moved(&next.computed) {
            self.computed.insert(low + shift, high + shift);
        }
        self.inherit(next.clone());
        self.size += next.size;
        self.words = Words::default();
        self.version += 1;
    }

    /// Takes over which kernels might have stored into another allocation, of which bytes are in this one.
    pub(crate) fn inherit(&mut self, other: Allocation) {
        self.passed.extend(other.passed);
        self.was_passed |= other.was_passed;
        self.since = self.since.min(other.since);
    }

    /// Returns what of it begins at an offset, and is `size` bytes long.
    pub(crate) fn part(&self, start: u64, size: u64) -> Self {
        let moved = |ranges: &Ranges| {
            let mut found = Ranges::default();
            for (low, high) in ranges.within(start, start + size) {
                found.insert(low - start, high - start);
            }
            found
        };
        Allocation {
            size,
            known: moved(&self.known),
            computed: moved(&self.computed),
            version: self.version + 1,
            snapshot: None,
            words: Words::default(),
            ..self.clone()
        }
    }

    /// Whether what a range of it holds might be other bytes on a device, where kernels run. `launches`: how many there were.
    pub(crate) fn might_differ(&self, start: u64, end: u64, launches: u64) -> bool {
        let is_stray = self.was_passed && self.since < launches;
        is_stray || !self.passed.is_empty() || !self.computed.within(start, end).is_empty()
    }

    /// Notes that nobody knows these bytes any more.
    pub(crate) fn known_no_more(&mut self, start: u64, end: u64) {
        if !self.kind.is_hosts() {
            self.known.remove(start, end);
        }
        self.computed.insert(start, end);
        self.changed(start, end);
    }

    /// Notes that these bytes have changed.
    pub(crate) fn changed(&mut self, start: u64, end: u64) {
        self.words.changed.insert(start, end);
        self.version += 1;
    }
}
