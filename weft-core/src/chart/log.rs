//! What happened at the barriers of one cta, as a list that stays short however long the run is: the first entries, those
//! around marks, and the last ones.

use std::collections::{BTreeMap, VecDeque};

use crate::emulate::{Arrival, BarrierId, WarpId};
use crate::flow::Pc;

/// The most entries of a log from its beginning.
const MOST: usize = 1 << 16;
/// After that, so many entries before a mark or the end.
const RECENT: usize = 1 << 12;
/// The most kinds of generations that are told apart.
const MOST_KINDS: usize = 1 << 12;

/// An arrival that takes part in a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LoggedArrival {
    pub(super) warp: WarpId,
    pub(super) waits: bool,
    pub(super) pc: Pc,
}

/// What makes two generations alike: the barrier, and who takes part in which way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GenerationKind {
    pub(super) barrier: BarrierId,
    /// By warp.
    pub(super) arrivals: Vec<LoggedArrival>,
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// A warp arrives without waiting, at the generation of a barrier with this number.
    Arrival { warp: WarpId, barrier: BarrierId, number: u64 },
    /// A generation completes. `kind`: an index into the kinds of the log.
    Generation { kind: usize, number: u64 },
    /// A point that might be marked, by its number.
    Point(usize),
    /// All threads of a warp end.
    End(WarpId),
    /// So many generations are not in the log.
    Gap(u64),
}

impl Entry {
    /// Whether two entries are the same thing, happening again.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Arrival { warp, barrier, .. }, Self::Arrival { warp: w, barrier: b, .. }) => {
                (warp, barrier) == (w, b)
            }
            (Self::Generation { kind, .. }, Self::Generation { kind: k, .. }) => kind == k,
            _ => false,
        }
    }
}

/// The log of a cta.
#[derive(Debug, Default)]
pub(super) struct RunLog {
    entries: Vec<Entry>,
    recent: VecDeque<Entry>,
    /// The generations that were dropped between the two.
    dropped: u64,
    kinds: Vec<GenerationKind>,
    known: BTreeMap<GenerationKind, usize>,
    /// The generations that are not complete, and how many of each barrier are.
    open: BTreeMap<BarrierId, Vec<LoggedArrival>>,
    numbers: BTreeMap<BarrierId, u64>,
}

/// A closed log.
#[derive(Debug, Default)]
pub(super) struct ClosedLog {
    pub(super) entries: Vec<Entry>,
    pub(super) kinds: Vec<GenerationKind>,
    /// The generations that never completed, with their numbers.
    pub(super) open: Vec<(GenerationKind, u64)>,
}

impl RunLog {
    /// Adds an entry.
    pub(super) fn push(&mut self, entry: Entry) {
        if self.entries.len() < MOST && self.recent.is_empty() {
            self.entries.push(entry);
            return;
        }
        self.recent.push_back(entry);
        if self.recent.len() > RECENT {
            let old = self.recent.pop_front();
            self.dropped += u64::from(matches!(old, Some(Entry::Generation { .. })));
        }
    }

    /// Keeps the recent entries, whatever follows.
    pub(super) fn pin(&mut self) {
        let recent = std::mem::take(&mut self.recent);
        if recent.is_empty() {
            return;
        }
        self.entries.extend((self.dropped > 0).then_some(Entry::Gap(self.dropped)));
        self.entries.extend(recent);
        self.dropped = 0;
    }

    pub(super) fn arrive(&mut self, Arrival { warp, barrier, waits, pc, .. }: Arrival) {
        self.open.entry(barrier).or_default().push(LoggedArrival { warp, waits, pc });
        if !waits {
            let number = self.numbers.get(&barrier).copied().unwrap_or(0);
            self.push(Entry::Arrival { warp, barrier, number });
        }
    }

    pub(super) fn complete(&mut self, barrier: BarrierId) {
        let mut arrivals = self.open.remove(&barrier).unwrap_or_default();
        arrivals.sort_unstable();
        let number = self.numbers.entry(barrier).or_default();
        let own = *number;
        *number += 1;
        let kind = self.kind(GenerationKind { barrier, arrivals });
        self.push(Entry::Generation { kind, number: own });
    }

    /// Returns the index of a kind. If there are too many, the generation gets that of another one with the same barrier, so
    /// that the log stays short.
    fn kind(&mut self, kind: GenerationKind) -> usize {
        if let Some(known) = self.known.get(&kind) {
            return *known;
        }
        if self.kinds.len() >= MOST_KINDS
            && let Some(other) = self.kinds.iter().rposition(|own| own.barrier == kind.barrier)
        {
            return other;
        }
        self.kinds.push(kind.clone());
        self.known.insert(kind, self.kinds.len() - 1);
        self.kinds.len() - 1
    }

    /// Ends the log.
    pub(super) fn close(mut self) -> ClosedLog {
        self.pin();
        let Self { entries, kinds, open, numbers, .. } = self;
        let open = open
            .into_iter()
            .map(|(barrier, mut arrivals)| {
                arrivals.sort_unstable();
                let number = numbers.get(&barrier).copied().unwrap_or(0);
                (GenerationKind { barrier, arrivals }, number)
            })
            .collect();
        ClosedLog { entries, kinds, open }
    }
}
