//! Branches at which lanes of a warp went different ways, before an aligned barrier that some of them come to.

use crate::emulate::value::lane::{LaneMask, WARP, lanes};
use crate::emulate::value::origin::Origin;
use crate::flow::{BlockId, Pc, PlaceId};

/// Something observable that lanes did after they had passed the merge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Late {
    pub(super) block: BlockId,
    pub(super) pc: Pc,
    pub(super) lanes: LaneMask,
    /// The branch, the outermost branch and the origin of the open condition that decides whether it happens.
    pub(super) condition: Option<(PlaceId, PlaceId, Origin)>,
}

/// Lanes that execute a branch while other lanes of the warp are elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Separate {
    pub(super) ran: LaneMask,
    /// Those on their way to the merge.
    pub(super) inside: LaneMask,
    /// Those that have passed it since.
    pub(super) passed: LaneMask,
    /// Those of them that then did something observable.
    pub(super) late: LaneMask,
}

/// What a branch did to the lanes of a warp since they were last together at an aligned barrier.
#[derive(Clone, Debug)]
pub(super) struct Parting {
    pub(super) branch: BlockId,
    pub(super) merge: BlockId,
    /// By lane: the lanes that went another way, while none of the two has passed the merge.
    pub(super) parted: [LaneMask; WARP],
    /// By lane that has not passed the merge: the lanes that went another way and have.
    pub(super) ahead: [LaneMask; WARP],
    /// By lane that has not passed the merge: what lanes ahead of it did first.
    pub(super) late: [Option<Late>; WARP],
    pub(super) separate: Separate,
}

/// The branches that tell lanes of a warp apart, with an aligned barrier between them and their merge.
#[derive(Clone, Debug, Default)]
pub(super) struct Partings(Vec<Parting>);

/// A lane that waits at an aligned barrier, and those that went around it.
pub(super) struct Bypass {
    pub(super) branch: BlockId,
    pub(super) waits: LaneMask,
    pub(super) late: Late,
}

/// What is known of lanes that wait at an aligned barrier and lanes that go on.
pub(super) enum BypassEvidence {
    Bypass(Bypass),
    /// At this branch, which they executed at different times.
    Apart(BlockId),
}

impl Parting {
    fn new(branch: BlockId, merge: BlockId) -> Self {
        Self {
            branch,
            merge,
            parted: [0; WARP],
            ahead: [0; WARP],
            late: [None; WARP],
            separate: Separate::default(),
        }
    }

    pub(super) fn part(&mut self, groups: &[LaneMask]) {
        let all = groups.iter().fold(0, |all, group| all | group);
        for group in groups {
            for lane in lanes(*group) {
                self.parted[lane] |= all & !group;
            }
        }
    }

    pub(super) fn pass(&mut self, mask: LaneMask) {
        for lane in 0..WARP {
            if mask >> lane & 1 == 1 {
                (self.parted[lane], self.ahead[lane], self.late[lane]) = (0, 0, None);
            } else {
                self.ahead[lane] |= self.parted[lane] & mask;
                self.parted[lane] &= !mask;
            }
        }
        self.separate.passed |= self.separate.inside & mask;
        self.separate.inside &= !mask;
    }

    pub(super) fn exit(&mut self, mask: LaneMask) {
        for lane in 0..WARP {
            self.parted[lane] &= !mask;
            self.ahead[lane] &= !mask;
        }
        for lane in lanes(mask) {
            (self.parted[lane], self.ahead[lane], self.late[lane]) = (0, 0, None);
        }
        self.separate.inside &= !mask;
        self.separate.passed &= !mask;
    }

    pub(super) fn observe(&mut self, late: Late) {
        for (ahead, known) in self.ahead.iter().zip(&mut self.late) {
            let news = Late { lanes: ahead & late.lanes, ..late };
            let is_news =
                known.is_none_or(|known| known.condition.is_some() && late.condition.is_none());
            if news.lanes != 0 && is_news {
                *known = Some(news);
            }
        }
        self.separate.late |= self.separate.passed & late.lanes;
    }

    /// Whether some of the lanes that wait at an aligned barrier were gone around.
    fn bypass(&self, waiting: LaneMask) -> Option<Bypass> {
        let is_sure = |lane: &usize| self.late[*lane].is_some_and(|late| late.condition.is_none());
        let first = lanes(waiting).find(is_sure);
        let first = first.or_else(|| lanes(waiting).find(|lane| self.late[*lane].is_some()))?;
        let waits = lanes(waiting).filter(|lane| self.late[*lane].is_some());
        let waits = waits.fold(0, |waits, lane| waits | 1 << lane);
        Some(Bypass { branch: self.branch, waits, late: self.late[first]? })
    }

    fn is_separate(&self, waiting: LaneMask) -> bool {
        lanes(waiting & self.separate.inside).any(|lane| self.separate.late & !(1 << lane) != 0)
    }

    fn is_over(&self) -> bool {
        let is_open =
            |lane: usize| self.parted[lane] | self.ahead[lane] != 0 || self.late[lane].is_some();
        self.separate.ran == 0 && !(0..WARP).any(is_open)
    }
}

impl Partings {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All lanes that have not ended are together at an aligned barrier. What those that have did apart remains.
    pub(super) fn forget(&mut self, live: LaneMask) {
        for parting in &mut self.0 {
            let Separate { ran, late, .. } = parting.separate;
            *parting = Parting::new(parting.branch, parting.merge);
            parting.separate =
                Separate { ran: ran & !live, late: late & !live, ..Separate::default() };
        }
        self.0.retain(|parted| parted.separate.late != 0);
    }

    pub(super) fn at(&mut self, branch: BlockId, merge: BlockId) -> &mut Parting {
        let is_it = |parting: &Parting| parting.branch == branch;
        let at = self.0.iter().position(is_it).unwrap_or_else(|| {
            self.0.push(Parting::new(branch, merge));
            self.0.len() - 1
        });
        &mut self.0[at]
    }

    /// Lanes leave a branch by its sides. `live`: the lanes of the warp that have not ended.
    pub(super) fn part(
        &mut self,
        branch: BlockId,
        merge: BlockId,
        groups: &[LaneMask],
        live: LaneMask,
    ) {
        let all = groups.iter().fold(0, |all, group| all | group);
        let is_split = groups.iter().any(|group| *group != 0 && *group != all);
        let was_apart = |parting: &Parting| parting.branch == branch && parting.separate.ran != 0;
        let is_apart = all != live || self.0.iter().any(was_apart);
        if all == 0 || !is_split && !is_apart {
            return;
        }
        let parted = self.at(branch, merge);
        if is_split {
            parted.part(groups);
        }
        if is_apart {
            parted.separate.ran |= all;
            parted.separate.inside |= all;
        }
    }

    /// Lanes come to a block.
    pub(super) fn pass(&mut self, to: BlockId, mask: LaneMask) {
        self.0
            .iter_mut()
            .filter(|parting| parting.merge == to)
            .for_each(|parted| parted.pass(mask));
        self.0.retain(|own| !own.is_over());
    }

    /// Lanes end.
    pub(super) fn exit(&mut self, mask: LaneMask) {
        self.0.iter_mut().for_each(|parting| parting.exit(mask));
        self.0.retain(|parted| !parted.is_over());
    }

    pub(super) fn observe(&mut self, late: Late) {
        self.0.iter_mut().for_each(|parting| parting.observe(late));
    }

    /// What is known of lanes that wait at an aligned barrier; what is sure comes first.
    pub(super) fn find(&self, waiting: LaneMask) -> Option<BypassEvidence> {
        let all = || self.0.iter().filter_map(|parting| parting.bypass(waiting));
        let is_sure = |bypass: &Bypass| bypass.late.condition.is_none();
        if let Some(found) = all().find(is_sure).or_else(|| all().next()) {
            return Some(BypassEvidence::Bypass(found));
        }
        let distance = self.0.iter().find(|parted| parted.is_separate(waiting))?;
        Some(BypassEvidence::Apart(distance.branch))
    }
}
