//! Partings: branches at which lanes of a warp took different sides, with an aligned barrier before the merge. Records
//! which lanes have passed the merge, and what they did then, while others have not.

use crate::emulate::value::lane::{LaneMask, WARP, lanes};
use crate::emulate::value::origin::Origin;
use crate::flow::{BlockId, Pc, PlaceId};

/// Something observable that lanes did after they had passed the merge of a branch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Late {
    pub(super) block: BlockId,
    pub(super) pc: Pc,
    pub(super) lanes: LaneMask,
    /// If an open condition decides whether it happens: the place of its branch, that of the outermost branch around
    /// it, and its origin.
    pub(super) condition: Option<(PlaceId, PlaceId, Origin)>,
}

/// Lanes that execute a branch while other lanes of the warp are elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Separate {
    /// The lanes that executed the branch.
    pub(super) ran: LaneMask,
    /// Those of them that are on their way to the merge.
    pub(super) inside: LaneMask,
    /// Those that have passed the merge since.
    pub(super) passed: LaneMask,
    /// Those that did something observable after they had passed the merge.
    pub(super) late: LaneMask,
}

/// What a branch did to the lanes of a warp since they were last together at an aligned barrier.
#[derive(Clone, Debug)]
pub(super) struct Parting {
    pub(super) branch: BlockId,
    pub(super) merge: BlockId,
    /// For each lane: the lanes that took another side, as long as neither of the two has passed the merge.
    pub(super) parted: [LaneMask; WARP],
    /// For each lane that has not passed the merge: the lanes that took another side and have passed it.
    pub(super) ahead: [LaneMask; WARP],
    /// For each lane that has not passed the merge: the first that the lanes ahead of it did, preferably something that
    /// surely happened.
    pub(super) late: [Option<Late>; WARP],
    pub(super) separate: Separate,
}

/// The branches at which lanes of a warp parted, with an aligned barrier between branch and merge.
#[derive(Clone, Debug, Default)]
pub(super) struct Partings(Vec<Parting>);

/// Lanes that wait at an aligned barrier before the merge of a branch, and lanes that bypassed it.
pub(super) struct Bypass {
    pub(super) branch: BlockId,
    pub(super) waits: LaneMask,
    pub(super) late: Late,
}

/// What is known about lanes that wait at an aligned barrier and lanes that might have bypassed it.
pub(super) enum BypassEvidence {
    Bypass(Bypass),
    /// The lanes executed this branch at different times, so it is open whether they bypassed the barrier.
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

    /// Records that lanes leave the branch, one group for each side.
    pub(super) fn part(&mut self, groups: &[LaneMask]) {
        let all = groups.iter().fold(0, |all, group| all | group);
        for group in groups {
            for lane in lanes(*group) {
                self.parted[lane] |= all & !group;
            }
        }
    }

    /// Records that lanes pass the merge.
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

    /// Records that lanes end.
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

    /// Records something observable that lanes do.
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

    /// The bypass of a barrier at which these lanes wait, if some of them were bypassed; preferably by something that
    /// surely happened.
    fn bypass(&self, waiting: LaneMask) -> Option<Bypass> {
        let is_sure = |lane: &usize| self.late[*lane].is_some_and(|late| late.condition.is_none());
        let first = lanes(waiting).find(is_sure);
        let first = first.or_else(|| lanes(waiting).find(|lane| self.late[*lane].is_some()))?;
        let waits = lanes(waiting).filter(|lane| self.late[*lane].is_some());
        let waits = waits.fold(0, |waits, lane| waits | 1 << lane);
        Some(Bypass { branch: self.branch, waits, late: self.late[first]? })
    }

    /// Whether one of these waiting lanes executed the branch at another time than a lane that has since passed the
    /// merge and done something observable.
    fn is_separate(&self, waiting: LaneMask) -> bool {
        lanes(waiting & self.separate.inside).any(|lane| self.separate.late & !(1 << lane) != 0)
    }

    /// Whether the branch has no effect on any lane any more.
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

    /// Forgets what lanes did that have not ended: they are all together at an aligned barrier. What other lanes did at
    /// another time, before they ended, remains.
    pub(super) fn forget(&mut self, live: LaneMask) {
        for parting in &mut self.0 {
            let Separate { ran, late, .. } = parting.separate;
            *parting = Parting::new(parting.branch, parting.merge);
            parting.separate =
                Separate { ran: ran & !live, late: late & !live, ..Separate::default() };
        }
        self.0.retain(|parting| parting.separate.late != 0);
    }

    /// The entry of a branch; adds one if there is none.
    pub(super) fn at(&mut self, branch: BlockId, merge: BlockId) -> &mut Parting {
        let is_it = |parting: &Parting| parting.branch == branch;
        let at = self.0.iter().position(is_it).unwrap_or_else(|| {
            self.0.push(Parting::new(branch, merge));
            self.0.len() - 1
        });
        &mut self.0[at]
    }

    /// Records that lanes leave a branch, one group for each side. `live`: the lanes of the warp that have not ended.
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
        let parting = self.at(branch, merge);
        if is_split {
            parting.part(groups);
        }
        if is_apart {
            parting.separate.ran |= all;
            parting.separate.inside |= all;
        }
    }

    /// Records that lanes come to a block, which might be a merge.
    pub(super) fn pass(&mut self, to: BlockId, mask: LaneMask) {
        self.0
            .iter_mut()
            .filter(|parting| parting.merge == to)
            .for_each(|parting| parting.pass(mask));
        self.0.retain(|parting| !parting.is_over());
    }

    /// Records that lanes end.
    pub(super) fn exit(&mut self, mask: LaneMask) {
        self.0.iter_mut().for_each(|parting| parting.exit(mask));
        self.0.retain(|parted| !parted.is_over());
    }

    /// Records something observable that lanes do.
    pub(super) fn observe(&mut self, late: Late) {
        self.0.iter_mut().for_each(|parting| parting.observe(late));
    }

    /// What is known about lanes that bypassed a barrier at which these lanes wait; preferably something that surely
    /// happened.
    pub(super) fn find(&self, waiting: LaneMask) -> Option<BypassEvidence> {
        let all = || self.0.iter().filter_map(|parting| parting.bypass(waiting));
        let is_sure = |bypass: &Bypass| bypass.late.condition.is_none();
        if let Some(found) = all().find(is_sure).or_else(|| all().next()) {
            return Some(BypassEvidence::Bypass(found));
        }
        let parting = self.0.iter().find(|parting| parting.is_separate(waiting))?;
        Some(BypassEvidence::Apart(parting.branch))
    }
}
