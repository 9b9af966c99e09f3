//! Events of asynchronous copies and of mbarrier objects.

use crate::emulate::sync::mbarrier::MbarrierId;
use crate::emulate::value::lane::LaneMask;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::Pc;

/// What threads do with their asynchronous copies (PTX ISA §9.7.9.25.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyCommand {
    /// The copies that belong to no group yet become a group.
    Commit,
    /// Waits until all groups but the last ones, as many as this, are complete.
    Wait(u64),
}

/// Lanes do something at an mbarrier object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MbarrierEvent {
    /// Their warp.
    pub warp: WarpId,
    /// The lanes.
    pub lanes: LaneMask,
    /// The instruction.
    pub pc: Pc,
    /// The object.
    pub object: MbarrierId,
    /// What they do.
    pub step: MbarrierStep,
}

/// What lanes do at an mbarrier object (PTX ISA §9.7.13.15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierStep {
    /// They initialize it.
    Init,
    /// They arrive. `releases`: what they know is passed on to those that wait.
    Arrive {
        /// Whether the arrival is no `.relaxed` one.
        releases: bool,
        /// Whether the arrival may complete the phase.
        completes: bool,
        /// Whether it makes the phase expect bytes before.
        expects: bool,
    },
    /// They make their earlier asynchronous copies, or what they made a tensor core do, arrive once these are complete.
    Follow {
        /// Whether the phase expects the arrival; otherwise it waits for one more from now on.
        is_expected: bool,
        /// The agent whose work it follows; `None`: that of the asynchronous copies of the warp.
        by: Option<WarpId>,
    },
    /// They make its current phase expect bytes, without arriving.
    Expect,
    /// They count bytes as copied.
    Copied,
    /// What they did before left the current phase with all its arrivals, but not with the bytes that it expects.
    Full {
        /// Whether more bytes have been copied than it expects.
        has_excess: bool,
    },
    /// What they did before completed the current phase.
    Complete,
    /// They begin to wait for a phase that they know by its parity.
    Begin {
        /// Whether it is the current phase, which is not complete; otherwise it is the one before.
        sees_current: bool,
    },
    /// They see that the phase before the current one is complete.
    Wait {
        /// Whether the wait is no `.relaxed` one.
        acquires: bool,
        /// Whether it acquires from threads of its own cta alone: other ctas of the cluster are not in its scope.
        of_cta: bool,
    },
}

/// What an agent takes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentWork {
    /// A bulk copy whose bytes an mbarrier object counts.
    Counted(MbarrierId),
    /// What counts at an mbarrier object: an access to the object itself, in the generic proxy.
    Counting(MbarrierId),
    /// A bulk copy, or a product, that the thread puts into a group.
    Grouped,
    /// What a tensor core does for the thread, in the order in which the thread issues it.
    InOrder,
    /// Initializations of mbarrier objects by the lanes of a warp, which a fence can publish apart from all else. Each lane of
    /// the agent is that of the same number of the warp.
    Inits,
    /// Asynchronous copies of the lanes of a warp, which mbarrier objects can count. Each lane of the agent is that of the
    /// same number of the warp.
    ByLane,
}

/// An agent takes over work from the lanes that issue it: from one lane, unless the work is done by lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyAgent {
    /// The agent: an id behind those of the warps.
    pub agent: WarpId,
    /// What it takes over.
    pub work: AgentWork,
    /// The warp that issues the work.
    pub warp: WarpId,
    /// The lanes.
    pub lanes: LaneMask,
}

/// A lane makes a group of its bulk copies, or waits for such groups (PTX ISA §9.7.9.25.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BulkGroup {
    /// The agent of the copies.
    pub agent: WarpId,
    /// The warp.
    pub warp: WarpId,
    /// The lane.
    pub lanes: LaneMask,
    /// What the lane does.
    pub step: CopyCommand,
}
