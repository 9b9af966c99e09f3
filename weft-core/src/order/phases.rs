//! The order of what threads do at an mbarrier object, phase by phase.
//!
//! What a thread's wait tells apart is the parity of a phase, and what it arrives in is the phase that happens to be
//! current. All schedules agree on both if four things happen before others (the recycling of PLDI'15 Fig. 4, for
//! objects whose waits do not arrive):
//!
//! - The completion of a phase happens before everything that counts in the next phase.
//! - A wait for a phase happens before an arrival in the next phase, if that is completed: it might come too late, and
//!   see the phase after.
//! - The completion of the phase before the one that a wait by parity sees happens before the wait begins: it might come
//!   too early, and see the phase two before.
//! - That a phase expects bytes happens before an arrival in it: the phase might be complete without them. So does that
//!   bytes are copied which the phase does not expect, and that it waits for one more arrival, which follows copies.
//!
//! An arrival that follows copies happens by itself. What its thread does later is in no order with it. It releases no
//! accesses but the copies; yet what its thread did before has caused it, and that is enough for the order of phases. So
//! is what a thread did before it issued a bulk copy: a phase is complete only once all its bytes are counted. So is what
//! comes before a phase that a thread sees complete by a `.relaxed` wait.

use super::clock::{Clock, Epoch};
use super::lane_groups::LaneGroups;
use crate::emulate::{LaneMask, MbarrierId, WarpId, lanes};
use crate::flow::Pc;

/// Something that lanes did at an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct PhasePoint {
    pub(super) warp: WarpId,
    pub(super) lanes: LaneMask,
    pub(super) then: Epoch,
    pub(super) pc: Pc,
    /// Whether it happens by itself, at some time after the instruction.
    pub(super) is_later: bool,
}

/// What might happen in another phase under another schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PhaseDoubt {
    /// What counts in a phase might count in the one before.
    Arrival,
    /// A wait might begin only after the next phase is complete.
    LateWait,
    /// A wait might begin before the phase before is complete.
    EarlyWait,
    /// A phase might be complete before it expects these bytes.
    Bytes,
    /// A phase might be complete before it waits for this arrival that follows copies.
    Join,
    /// An arrival that may not complete its phase might be the last one.
    Last,
    /// No thread has seen the phase before complete.
    Unseen,
}

/// Threads make a phase wait for something more, without arriving.
#[derive(Clone, Copy, Debug)]
struct PhaseExpectation {
    point: PhasePoint,
    /// What is wrong if the phase might be complete without it.
    doubt: PhaseDoubt,
}

/// Nothing orders two things that threads do at an mbarrier object and that have to be ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhaseIssue {
    /// The object.
    pub object: MbarrierId,
    /// What might happen.
    pub doubt: PhaseDoubt,
    /// The instruction that something should be ordered before, and its warp and first lane.
    pub here: (Pc, WarpId, u8),
    /// The instruction that should be ordered before it, likewise.
    pub before: (Pc, WarpId, u8),
}

/// One phase of an object.
#[derive(Clone, Debug)]
struct MbarrierPhase {
    /// What the arrivals released.
    released: Clock,
    /// The same, of threads in the cta of the object.
    of_cta: Clock,
    /// What the threads knew that arrived, the arrivals included.
    arrived: Clock,
    /// What the threads knew that issued the copies whose bytes it waited for: the phase is complete after that, if it is never
    /// complete without them.
    issued: Clock,
    /// All that counts in the phase.
    commands: Vec<PhasePoint>,
    /// Where threads made it expect something without arriving, and whether all copies come after that.
    expects: Vec<(PhaseExpectation, bool)>,
    /// Whether arrivals made it expect bytes.
    has_expected: bool,
    /// Where bytes were counted as copied.
    copied: Vec<PhasePoint>,
    /// Arrivals that have to precede another one.
    preceding: Vec<PhasePoint>,
    /// The waits that saw that it was complete.
    waits: Vec<PhasePoint>,
}

impl MbarrierPhase {
    fn new(warps: usize) -> Self {
        Self {
            released: Clock::new(warps),
            of_cta: Clock::new(warps),
            arrived: Clock::new(warps),
            issued: Clock::new(warps),
            commands: Vec::new(),
            expects: Vec::new(),
            has_expected: false,
            copied: Vec::new(),
            preceding: Vec::new(),
            waits: Vec::new(),
        }
    }

    /// Whether some arrival knows that all lanes of a point did it.
    fn is_behind(&self, point: &PhasePoint) -> bool {
        self.arrived.uncaused(point.warp, point.then, point.lanes) == 0
    }

    /// Whether the phase is complete only after all lanes of a point did it.
    fn ends_behind(&self, point: &PhasePoint) -> bool {
        let is_issued = || self.issued.uncaused(point.warp, point.then, point.lanes) == 0;
        self.is_behind(point) || is_issued()
    }

    /// A command of the phase, if a lane does not know that the phase is complete: it knows neither a wait that saw it nor
    /// all that counted in it.
    fn unknown_completion(
        &self,
        thread: (WarpId, usize),
        groups: &LaneGroups,
    ) -> Option<PhasePoint> {
        if self.waits.iter().any(|wait| wait.is_known_in_part(thread, groups)) {
            return None;
        }
        self.commands.iter().find_map(|command| {
            // When an arrival that follows copies has happened, only a wait tells.
            let lanes =
                if command.is_later { command.lanes } else { command.unknown(thread, groups) };
            (lanes != 0).then_some(PhasePoint { lanes, ..*command })
        })
    }

    /// As `unknown_completion`, for the first lane of a point that does not know, which is returned too.
    fn first_unknown(&self, point: &PhasePoint, groups: &LaneGroups) -> Option<[PhasePoint; 2]> {
        lanes(point.lanes).find_map(|lane| {
            let command = self.unknown_completion((point.warp, lane), groups)?;
            Some([PhasePoint { lanes: 1 << lane, ..*point }, command])
        })
    }
}

/// The current phase of an object and the two before, which nothing counted in if there were none.
#[derive(Clone, Debug)]
pub(super) struct Phases {
    current: MbarrierPhase,
    last: MbarrierPhase,
    older: MbarrierPhase,
}

impl PhasePoint {
    /// Its instruction, warp and first lane.
    pub(super) fn side(&self) -> (Pc, WarpId, u8) {
        let lane = u8::try_from(self.lanes.trailing_zeros()).expect("a warp has 32 lanes");
        (self.pc, self.warp, lane)
    }

    /// Whether a lane knows that some lane did it, or did it itself.
    fn is_known_in_part(&self, (warp, lane): (WarpId, usize), groups: &LaneGroups) -> bool {
        let is_own = self.warp == warp && self.lanes >> lane & 1 == 1;
        is_own || self.unknown((warp, lane), groups) != self.lanes
    }

    /// The lanes of which a lane does not know that they did it.
    fn unknown(&self, (warp, lane): (WarpId, usize), groups: &LaneGroups) -> LaneMask {
        let others = if self.warp == warp { self.lanes & !(1 << lane) } else { self.lanes };
        groups.uncaused(lane, (self.warp, self.then, others))
    }
}

impl Phases {
    /// The phases of an object that has been initialized, in a run of `warps` warps.
    pub(super) fn new(warps: usize) -> Self {
        let phase = || MbarrierPhase::new(warps);
        Self { current: phase(), last: phase(), older: phase() }
    }

    /// Whether a lane knows that the phase before the current one is complete.
    pub(super) fn is_last_known(&self, thread: (WarpId, usize), groups: &LaneGroups) -> bool {
        self.last.unknown_completion(thread, groups).is_none()
    }

    /// Adds something that counts in the current phase. Returns it and a command of the phase before if the two might
    /// come in the other order.
    pub(super) fn count(
        &mut self,
        point: PhasePoint,
        groups: &LaneGroups,
    ) -> Option<[PhasePoint; 2]> {
        self.current.commands.push(point);
        self.last.first_unknown(&point, groups)
    }

    /// Adds an arrival that has to precede another one. Its epoch is the one that it began.
    pub(super) fn precede(&mut self, point: PhasePoint) {
        self.current.preceding.push(point);
    }

    /// Returns an arrival in the current phase and a command of the phase before if its lanes know that this is complete, but
    /// of no wait that saw it (PTX ISA §9.7.13.15.5).
    pub(super) fn unseen(
        &self,
        point: &PhasePoint,
        groups: &LaneGroups,
    ) -> Option<[PhasePoint; 2]> {
        let last = self.last.commands.last()?;
        let is_seen = |lane| {
            self.last.waits.iter().any(|wait| wait.is_known_in_part((point.warp, lane), groups))
        };
        let lane = lanes(point.lanes).find(|lane| !is_seen(*lane))?;
        Some([PhasePoint { lanes: 1 << lane, ..*point }, *last])
    }

    /// The clocks that an arrival adds to what its lanes know. `releases`: whether waits learn it; `is_near`: whether its
    /// threads are in the cta of the object; `expects`: whether it made the phase expect bytes.
    pub(super) fn arrive(
        &mut self,
        (releases, is_near): (bool, bool),
        expects: bool,
    ) -> impl Iterator<Item = &mut Clock> {
        self.current.has_expected |= expects;
        let MbarrierPhase { arrived, released, of_cta, .. } = &mut self.current;
        let (all, near) = (releases, releases && is_near);
        let released = [Some(released).filter(|_| all), Some(of_cta).filter(|_| near)];
        std::iter::once(arrived).chain(released.into_iter().flatten())
    }

    /// Makes those that see the current phase complete know what lanes of an agent did before an epoch, which it has just begun.
    pub(super) fn release_copies(&mut self, (agent, lanes, epoch): (WarpId, LaneMask, Epoch)) {
        self.current.released.learn(agent, lanes, LaneMask::MAX, epoch);
        self.current.of_cta.learn(agent, lanes, LaneMask::MAX, epoch);
    }

    /// Makes those that see the current phase complete know what a clock knows.
    pub(super) fn release_known(&mut self, known: &Clock) {
        self.current.released.join(known);
        self.current.of_cta.join(known);
    }

    /// Makes those that see the current phase complete know that what a thread did has caused it.
    pub(super) fn release_causes(&mut self, known: &Clock) {
        self.current.released.join_causes(known);
        self.current.of_cta.join_causes(known);
    }

    /// Notes that what a thread did has caused bytes that the current phase waits for.
    pub(super) fn cause(&mut self, known: &Clock) {
        self.current.issued.join(known);
        self.release_causes(known);
    }

    /// Adds that threads make the current phase wait for one more arrival each.
    pub(super) fn join(&mut self, point: PhasePoint) {
        let is_first = self.current.copied.is_empty();
        self.current.expects.push((PhaseExpectation { point, doubt: PhaseDoubt::Join }, is_first));
    }

    /// Adds that threads make the current phase expect bytes without arriving.
    pub(super) fn expect(&mut self, point: PhasePoint) {
        let is_first = self.current.copied.is_empty();
        self.current.expects.push((PhaseExpectation { point, doubt: PhaseDoubt::Bytes }, is_first));
    }

    /// Adds that threads count bytes as copied.
    pub(super) fn copy(&mut self, point: PhasePoint, groups: &LaneGroups) {
        let MbarrierPhase { expects, copied, .. } = &mut self.current;
        copied.push(point);
        let is_known = |own: &PhasePoint| {
            lanes(point.lanes).all(|lane| own.unknown((point.warp, lane), groups) == 0)
        };
        for (own, is_before) in expects {
            *is_before &= is_known(&own.point);
        }
    }

    /// Returns an arrival in the current phase, which has all of them, and an expectation of bytes that none of them knows
    /// of. `has_excess`: whether more bytes were copied than it expects; then likewise where bytes were copied.
    pub(super) fn late_bytes(&self, has_excess: bool) -> Option<(PhaseDoubt, [PhasePoint; 2])> {
        let MbarrierPhase { expects, copied, has_expected, .. } = &self.current;
        // While bytes are expected that are not copied yet, the phase is not complete.
        let expects = expects.iter().filter(|(_, is_before)| !has_expected || !is_before);
        let copied = copied.iter().filter(|_| has_excess);
        let copied = copied.map(|own| (PhaseDoubt::Bytes, *own));
        let mut own = expects.map(|(own, _)| (own.doubt, own.point)).chain(copied);
        let (doubt, own) = own.find(|(_, own)| !self.current.is_behind(own))?;
        Some((doubt, [*self.current.commands.last()?, own]))
    }

    /// Completes the current phase. Returns an arrival in it and something that should have been ordered before one.
    pub(super) fn complete(&mut self, warps: usize) -> Option<(PhaseDoubt, [PhasePoint; 2])> {
        let Self { current, last, .. } = self;
        let late = last.waits.iter().find(|wait| !current.ends_behind(wait)).copied();
        let late = late.zip(current.commands.last().copied());
        let late = late.map(|(wait, arrival)| (PhaseDoubt::LateWait, [arrival, wait]));
        let last = current.preceding.iter().find(|own| !current.is_behind(own)).copied();
        let last = last.zip(current.commands.last().copied());
        let last = last.map(|(own, arrival)| (PhaseDoubt::Last, [arrival, own]));
        let found = late.or(last).or_else(|| self.late_bytes(false));
        let complete = std::mem::replace(&mut self.current, MbarrierPhase::new(warps));
        self.older = std::mem::replace(&mut self.last, complete);
        found
    }

    /// Begins a wait by parity. `sees_current`: whether it waits for the current phase; otherwise it sees the one before.
    /// Returns it and a command of the phase before that one if the two might come in the other order.
    pub(super) fn begin_wait(
        &self,
        point: &PhasePoint,
        sees_current: bool,
        groups: &LaneGroups,
    ) -> Option<[PhasePoint; 2]> {
        let before = if sees_current { &self.last } else { &self.older };
        before.first_unknown(point, groups)
    }

    /// Adds a wait that sees the phase before. Returns what the arrivals of that phase released; `of_cta`: those of threads in the
    /// cta of the object.
    pub(super) fn wait(&mut self, point: PhasePoint, of_cta: bool) -> &Clock {
        self.last.waits.push(point);
        if of_cta { &self.last.of_cta } else { &self.last.released }
    }
}
