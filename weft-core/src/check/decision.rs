//! The decision: what the deciding pass found in all ctas. For a cta that found nothing beyond what earlier ctas had
//! found, only numbers are kept, so that memory grows with the findings and not with the number of ctas.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::detector::{CtaResult, MAX_FAULTS, UnsteadyPage};
use crate::emulate::memory::bytes::{Bytes, PAGE, places};
use crate::emulate::{Cta, CtaRank, CtaRun, Doubt, End, FaultKind, OpenAccess, Origin};
use crate::explain::{Names, barriers};
use crate::finding::Stats;
use crate::flow::Pc;
use crate::race::{Footprint, LaunchShadow, OpenAccesses, Pairs};

/// The memory of a check is divided into this many parts: three of them can hold what ctas did to global memory, and
/// half a part what is kept of the ctas that found something.
const PART: u64 = 16;

/// Bytes that a page takes in a map, whose nodes are at least half full.
const UNSTEADY: usize = 2 * size_of::<UnsteadyPage>();

/// What the deciding pass found in one cluster, which begins with `cta`.
pub(super) struct DecidedCta {
    pub(super) cta: Cta,
    pub(super) end: End,
    pub(super) found: CtaResult,
}

/// What was found at an instruction: a fault with its kind and whether it might not happen, or, as `None`, a read of
/// memory that nothing wrote, or a barrier at which a warp arrived with ended lanes. Last, the variable in shared
/// memory that nothing wrote.
type KnownFinding = (Pc, Option<(FaultKind, bool)>, Option<usize>);

/// What the deciding pass found in all ctas.
pub(super) struct Decision {
    /// Counts of what ran. The ctas are the first ones of the launch.
    pub(super) stats: Stats,
    /// The ctas that found something new, ascending.
    pub(super) ctas: Vec<DecidedCta>,
    pub(super) between: LaunchShadow,
    pub(super) open: OpenAccesses,
    /// The accesses at open addresses that might conflict with others.
    pub(super) doubtful: Vec<OpenAccess>,
    /// The limit that ended the second pass over these accesses, if one did.
    pub(super) cut: Option<Doubt>,
    /// The pairs that raced in earlier passes, in which loads of racing bytes saw what one schedule leaves there.
    pub(super) earlier: Pairs,
    /// For each instruction, whether some lane ran it.
    pub(super) reached: Vec<bool>,
    /// Whether some cta takes too much memory to run in parallel with others.
    pub(super) is_heavy: bool,
    /// The most bytes of dynamic shared memory that a cta accesses, if the launch states no size.
    pub(super) dynamic_shared: u64,
    /// By page, the bytes whose value is up to the schedule of some cta although nothing races there in that cta.
    unsteady: BTreeMap<(bool, u64), Bytes>,
    /// Whether some cta read, or might have read, shared memory that nothing wrote.
    pub(super) reads_unwritten: bool,
    said: BTreeSet<KnownFinding>,
    /// Bytes that `ctas` takes; `most` is the limit.
    kept: usize,
    most: usize,
}

impl Decision {
    pub(super) fn new(names: &Names<'_>, open: OpenAccesses) -> Self {
        let memory = names.limit.memory;
        Self {
            stats: Stats::default(),
            ctas: Vec::new(),
            between: LaunchShadow::within(memory / PART * 3),
            open,
            doubtful: Vec::new(),
            cut: None,
            earlier: Pairs::default(),
            reached: vec![false; names.program.code.len()],
            is_heavy: false,
            dynamic_shared: 0,
            unsteady: BTreeMap::new(),
            reads_unwritten: false,
            said: BTreeSet::new(),
            kept: 0,
            most: usize::try_from(memory / PART / 2).unwrap_or(usize::MAX),
        }
    }

    /// Adds what the next cta found; returns whether the pass ends with it.
    pub(super) fn take_in(
        &mut self,
        names: &Names<'_>,
        cta: Cta,
        run: CtaRun,
        mut found: CtaResult,
        footprint: Option<Footprint>,
    ) -> bool {
        self.stats.ctas += names.program.clusters.size().count();
        self.stats.warp_instructions += run.warp_instructions;
        self.stats.thread_commands += run.thread_commands;
        self.stats.generations += run.generations;
        self.dynamic_shared = self.dynamic_shared.max(run.dynamic_shared);
        self.reads_unwritten |= run.reads_unwritten;
        for (page, bytes) in std::mem::take(&mut found.unsteady) {
            *self.unsteady.entry(page).or_default() |= bytes;
        }
        if let Some(footprint) = footprint {
            self.between.add(cta.index, footprint);
        }
        let is_broken = barriers::is_defect(&run.end) || !found.is_ordered();
        let is_out = matches!(&run.end, End::Undecided(doubt) if doubt.kind.is_limit());
        let is_new = self.says_more(names, &found);
        if run.end != End::Finished || found.is_more_than_faults() || is_new {
            self.kept += size_of::<DecidedCta>() + found.held();
            self.ctas.push(DecidedCta { cta, end: run.end, found });
        }
        is_out || is_broken && !names.past_findings || self.between.is_full() || self.is_over()
    }

    /// Records a cta's faults, its reads of memory that nothing wrote, and its barriers at which warps arrived with
    /// ended lanes. Returns whether any of these is new.
    fn says_more(&mut self, names: &Names<'_>, found: &CtaResult) -> bool {
        let variable = |pc: &Pc| found.unwritten.get(pc).map(|read| names.variable_of(read));
        let faults = found.faults.iter().map(|fault| {
            let variable = match fault.kind {
                FaultKind::Uninitialized(_) if fault.condition.is_none() => {
                    variable(&fault.pc).flatten()
                }
                _ => None,
            };
            (fault.pc, Some((fault.kind, fault.condition.is_some())), variable)
        });
        let reads = found.unwritten.iter().map(|(pc, read)| (*pc, None, names.variable_of(read)));
        let before = self.said.len();
        let exits = found.exits.keys().map(|pc| (*pc, None, None));
        self.said.extend(faults.chain(reads).chain(exits));
        self.said.len() > before
    }

    /// Returns the limit that ended the pass, if one did.
    pub(super) fn limit(&self) -> Option<Doubt> {
        self.ctas.iter().find_map(|cta| match cta.end {
            End::Undecided(doubt) => Some(doubt).filter(|doubt| doubt.kind.is_limit()),
            _ => None,
        })
    }

    fn is_over(&self) -> bool {
        self.kept + self.unsteady.len() * UNSTEADY > self.most
    }

    /// Whether more memory was accessed, or raced on, than the detector can follow.
    pub(super) fn is_full(&self) -> bool {
        self.between.is_full() || self.is_over() || self.ctas.iter().any(|cta| cta.found.is_full)
    }

    /// Returns the number of ctas that no limit cut short.
    pub(super) fn ended(&self) -> u64 {
        let is_out =
            |cta: &&DecidedCta| matches!(&cta.end, End::Undecided(doubt) if doubt.kind.is_limit());
        self.stats.ctas - self.ctas.iter().filter(is_out).count() as u64
    }

    /// Whether no barrier was reused too early, and no phase of an mbarrier object depends on the schedule: without well-synchronization, the order of one run says nothing about
    /// races in another (PLDI'15 §4).
    pub(super) fn is_ordered(&self) -> bool {
        self.ctas.iter().all(|cta| cta.found.is_ordered())
    }

    /// Returns all bytes that race, in global memory or in the shared memory of some cta; the flag says global.
    pub(super) fn racing(&self) -> impl Iterator<Item = (bool, u64)> {
        let of = |is_global: bool, ranges: &[Range<u64>]| {
            let bytes = ranges.iter().cloned().flatten();
            let within = |byte| if is_global { byte } else { CtaRank::of_address(byte).1 };
            bytes.map(|byte| (is_global, within(byte))).collect::<Vec<_>>()
        };
        // What is known of racing bytes of shared memory holds for that of every cta.
        let within = move |cta: &DecidedCta| {
            let CtaResult { shared, global, .. } = &cta.found;
            of(false, shared).into_iter().chain(of(true, global))
        };
        let between = self.between.racing().iter().map(|byte| (true, *byte));
        self.ctas.iter().flat_map(within).chain(between)
    }

    /// Returns all bytes at which accesses conflict and do not race: what is read there is up to the schedule. The flag says
    /// global.
    pub(super) fn unsteady(&self) -> impl Iterator<Item = (bool, u64)> {
        // What is known of such bytes of shared memory holds for that of every cta.
        let within = self.unsteady.iter().flat_map(|(&(is_global, page), bytes)| {
            let first = page * PAGE;
            let first = if is_global { first } else { CtaRank::of_address(first).1 };
            places(*bytes).map(move |at| (is_global, first + at))
        });
        within.chain(self.between.unsteady().map(|byte| (true, byte)))
    }

    /// The origins of the open values because of which something is open; `None`: one is not known.
    pub(super) fn open_origins(&self) -> impl Iterator<Item = Option<Origin>> {
        let doubts = self.ctas.iter().filter_map(|cta| match &cta.end {
            End::Undecided(doubt) => Some(doubt.origin),
            _ => None,
        });
        let faults = self.ctas.iter().flat_map(|cta| &cta.found.faults);
        let faults = faults.filter_map(|fault| fault.condition).map(Some);
        let bypasses = self.ctas.iter().flat_map(|cta| &cta.found.bypasses).map(|_| None);
        let accesses = self.doubtful.iter().map(|access| access.origin);
        doubts.chain(faults).chain(bypasses).chain(accesses)
    }

    /// Whether every cta finished.
    pub(super) fn is_finished(&self) -> bool {
        self.ctas.iter().all(|cta| cta.end == End::Finished)
    }

    /// Whether all ctas ended as in another pass.
    pub(super) fn has_ends_of(&self, other: &Self) -> bool {
        let ends = |decision: &Self| -> Vec<(u32, End)> {
            let unfinished = decision.ctas.iter().filter(|cta| cta.end != End::Finished);
            unfinished.map(|decided| (decided.cta.index, decided.end.clone())).collect()
        };
        self.stats.ctas == other.stats.ctas && ends(self) == ends(other)
    }

    /// Frees what the ctas did to global memory, once the findings are known.
    pub(super) fn close(&mut self) {
        self.between = LaunchShadow::within(0);
    }
}

impl CtaResult {
    /// Whether no barrier was reused too early, and no phase depends on the schedule.
    const fn is_ordered(&self) -> bool {
        self.recycled.is_empty() && self.phases.is_empty()
    }

    /// Whether a cta found more than faults and reads of unwritten memory, or more faults than are kept.
    fn is_more_than_faults(&self) -> bool {
        let has_races = !self.shared.is_empty() || !self.global.is_empty();
        has_races
            || self.is_full
            || !self.bypasses.is_empty()
            || !self.is_ordered()
            || !self.peers.is_empty()
            || self.faults.len() >= MAX_FAULTS
    }

    /// Returns the bytes that it takes on the heap.
    fn held(&self) -> usize {
        (self.shared.len() + self.global.len()) * size_of::<Range<u64>>()
            + size_of_val(self.faults.as_slice())
            + size_of_val(self.recycled.as_slice())
            + size_of_val(self.phases.as_slice())
            + self.unwritten.len() * 64
    }
}
