//! The search for the cheapest clean placement: choose, check, learn, repeat.

use std::collections::{BTreeMap, BTreeSet};

use super::costs::scaled;
use super::faults::{deepest, innermost, stopping};
use super::groups::{GroupId, GroupPlacement};
use super::hitting::HittingSets;
use super::kind::BarrierKind;
use super::mend::{Optimality, mend};
use super::outcome::Obstacle;
use super::patch::{BarrierPlacement, is_more};
use super::placement_report::{Distance, PlacementReport, RacingPair};
use super::points::{Anchor, PointId};
use super::request::{CheckDepth, Oracle, Uniformity};
use super::search_end::SearchEnd;
use super::space::PlacementSpace;
use crate::finding::Finding;

/// Most guesses that are examined after one placement has failed.
const MOST_GUESSES: usize = 4;

/// Most placements that are tried before what is not needed is left out of one, if mbarrier objects hide which points separate
/// two accesses.
const MOST_WITH_OBJECTS: u32 = 4;

/// Most checks, in that case, before a barrier at every point is clean.
const MOST_CHECKS_WITH_OBJECTS: usize = 48;

/// Checks a placement.
pub(super) fn checked<E>(
    oracle: &mut Oracle<'_, E>,
    space: &PlacementSpace<'_>,
    placement: &GroupPlacement,
    uniformity: Uniformity,
) -> Result<PlacementReport, E> {
    let patched = space.patched(placement);
    let reports = oracle.reports(&patched.module, uniformity, CheckDepth::FirstDefect)?;
    Ok(space.report(&patched, &reports))
}

/// Barriers that not all threads of the cta, or not all lanes of a warp, reach together. Barriers elsewhere do not change that
/// as long as all reach those together.
pub(super) type FaultyBarriers = BTreeSet<(Anchor, BarrierKind)>;

/// A barrier of some kind at the points of a group.
type PlacedBarrier = (GroupId, BarrierKind);

pub(super) struct PlacementSearch<'s, 'm, 'o, 'c, E> {
    space: &'s PlacementSpace<'m>,
    /// The kernel without a barrier at any point.
    bare: &'s PlacementReport,
    oracle: &'o mut Oracle<'c, E>,
    /// The points that might separate a racing pair.
    points: BTreeSet<PointId>,
    /// The barriers that a placement can have.
    options: BTreeSet<PlacedBarrier>,
    uniformity: Uniformity,
    /// Whether every barrier that is no option was at fault.
    is_whole: bool,
    /// The barriers that were at fault.
    faulty: &'s mut FaultyBarriers,
    /// At least one of each of these is in every clean placement.
    sets: BTreeSet<BTreeSet<PlacedBarrier>>,
    /// What the placements that were checked leave.
    reports: BTreeMap<GroupPlacement, PlacementReport>,
    /// Sets of groups that might be such sets.
    pub(super) guesses: BTreeSet<BTreeSet<GroupId>>,
}

impl<'s, 'm, 'o, 'c, E> PlacementSearch<'s, 'm, 'o, 'c, E> {
    /// `faulty`: those of earlier searches among fewer points, to which this one adds.
    pub(super) fn new(
        space: &'s PlacementSpace<'m>,
        bare: &'s PlacementReport,
        oracle: &'o mut Oracle<'c, E>,
        uniformity: Uniformity,
        faulty: &'s mut FaultyBarriers,
    ) -> Self {
        let is_of_warp = |pair: &RacingPair| pair.distance == Distance::Warp;
        let has_both = space.has_partial || space.has_objects || bare.pairs.iter().any(is_of_warp);
        let kinds: &[BarrierKind] =
            if has_both { &[BarrierKind::Cta, BarrierKind::Warp] } else { &[BarrierKind::Cta] };
        let points: BTreeSet<PointId> =
            bare.pairs.iter().flat_map(|pair| space.cut(pair)).collect();
        let is_right = |(group, kind): &PlacedBarrier| {
            let mut members = space.groups.members(*group).iter();
            members.all(|point| !faulty.contains(&(space.points[point.0].anchor, *kind)))
        };
        let groups = space.groups_of(&points);
        let both = groups.iter().flat_map(|group| kinds.iter().map(|kind| (*group, *kind)));
        let options = both.filter(is_right).collect();
        Self {
            space,
            bare,
            oracle,
            options,
            faulty,
            points,
            uniformity,
            is_whole: true,
            sets: BTreeSet::new(),
            reports: BTreeMap::new(),
            guesses: BTreeSet::new(),
        }
    }

    pub(super) fn run(mut self) -> Result<SearchEnd, E> {
        if let Some(end) = self.exclude_faulty()? {
            return Ok(end);
        }
        let none = GroupPlacement::new();
        if !self.learn(&none, self.bare) {
            self.exclude(&none, self.bare);
        }
        if !self.bare.pairs.iter().any(|pair| pair.is_certain) {
            self.examine_guesses(&none, self.bare)?;
        }
        let mut believed = self.in_front_of_arrivals();
        for round in 1.. {
            let is_cheapest = believed.is_empty();
            let placement = self.cheapest(&std::mem::take(&mut believed));
            let report = self.check(&placement)?;
            if report.is_clean {
                return self.found(placement, report);
            }
            if let Some(end) = self.new_pairs(&report) {
                return Ok(end);
            }
            if !self.learn(&placement, &report) && is_cheapest {
                self.exclude(&placement, &report);
            }
            if self.is_spent() || self.is_wide() && round == MOST_WITH_OBJECTS {
                break;
            }
            self.examine_guesses(&placement, &report)?;
        }
        self.give_up()
    }

    /// Whether any point might separate any two accesses, because of mbarrier objects.
    const fn is_wide(&self) -> bool {
        self.space.has_objects && self.space.has_partial
    }

    /// Returns, for each pair of uses of an mbarrier object that race, the groups in front of the later use: if one lane arrives
    /// for the lanes of its warp, these might have to meet there.
    fn in_front_of_arrivals(&self) -> BTreeSet<BTreeSet<GroupId>> {
        let pairs = self.bare.pairs.iter().filter(|pair| pair.is_of_phases());
        pairs.map(|pair| self.space.in_front_of(pair.accesses[0])).collect()
    }

    fn is_spent(&self) -> bool {
        self.oracle.is_spent() || self.is_wide() && self.oracle.checks >= MOST_CHECKS_WITH_OBJECTS
    }

    fn check(&mut self, placement: &GroupPlacement) -> Result<PlacementReport, E> {
        if let Some(known) = self.reports.get(placement) {
            return Ok(known.clone());
        }
        let report = checked(self.oracle, self.space, placement, self.uniformity)?;
        self.reports.insert(placement.clone(), report.clone());
        Ok(report)
    }

    /// Checks a barrier at every point, and drops those that are at fault. Returns an end if the kernel is not clean even
    /// so.
    fn exclude_faulty(&mut self) -> Result<Option<SearchEnd>, E> {
        loop {
            let placement = self.strongest(|_| true);
            let report = self.check(&placement)?;
            if report.is_clean {
                return Ok(None);
            }
            let mut faulty = innermost(self.space, &placement, &report);
            // Under the rule of the launch, another barrier might let threads reach these together.
            let is_always = !faulty.is_empty() && self.uniformity == Uniformity::Cta;
            if faulty.is_empty() && self.new_pairs(&report).is_none() {
                if self.space.has_objects {
                    faulty = stopping(self.space, &placement, &report);
                }
                if faulty.is_empty() {
                    faulty =
                        deepest(self.space, self.options.iter().map(|(group, _)| *group), &report);
                }
                self.is_whole &= faulty.is_empty();
            }
            if faulty.is_empty() {
                return Ok(Some(match (self.new_pairs(&report), self.uniformity) {
                    (Some(end), _) => end,
                    (None, Uniformity::Cta) => SearchEnd::NotUniform,
                    (None, Uniformity::Launch) => {
                        let findings = self.findings(&placement)?;
                        SearchEnd::refused(Obstacle::Findings(findings))
                    }
                }));
            }
            self.drop_options(&placement, &faulty, is_always);
            if self.is_spent() {
                return Ok(Some(SearchEnd::refused(Obstacle::Checks)));
            }
        }
    }

    /// Drops the barriers of a placement at some points. `is_always`: whether they stay at fault whatever else is inserted.
    fn drop_options(
        &mut self,
        placement: &GroupPlacement,
        faulty: &BTreeSet<PointId>,
        is_always: bool,
    ) {
        let expanded = self.space.expanded(placement);
        for point in faulty {
            let Some(kind) = expanded.get(point) else { continue };
            for group in self.space.groups.of_point(*point) {
                self.options.remove(&(*group, *kind));
            }
            if is_always {
                self.faulty.insert((self.space.points[point.0].anchor, *kind));
            }
        }
    }

    /// Returns what a placement leaves, with all inputs examined.
    fn findings(&mut self, placement: &GroupPlacement) -> Result<Vec<Finding>, E> {
        let patched = self.space.patched(placement);
        let reports = self.oracle.reports(&patched.module, self.uniformity, CheckDepth::Whole)?;
        Ok(self.space.report(&patched, &reports).others)
    }

    /// Returns the placement with a barrier at all groups that `has` names, the strongest that is possible.
    fn strongest(&self, has: impl Fn(&GroupId) -> bool) -> GroupPlacement {
        // A cta barrier comes before a warp barrier, and the last one collected counts.
        self.options.iter().rev().copied().filter(|(group, _)| has(group)).collect()
    }

    /// Returns the cheapest placement that has a barrier of each set, and of the cheapest ones one that has a barrier of
    /// most guesses. `believed`: sets of groups of which a barrier is taken to be needed too.
    fn cheapest(&self, believed: &BTreeSet<BTreeSet<GroupId>>) -> GroupPlacement {
        let options: Vec<PlacedBarrier> = self.options.iter().copied().collect();
        let index = |barrier: &PlacedBarrier| options.binary_search(barrier).ok();
        let indices =
            |set: &BTreeSet<PlacedBarrier>| set.iter().filter_map(index).collect::<Vec<_>>();
        let guess = |groups: &BTreeSet<GroupId>| {
            let is_in = |at: &usize| groups.contains(&options[*at].0);
            (0..options.len()).filter(is_in).collect::<Vec<_>>()
        };
        let of_groups = |all| minimal(all).map(guess).filter(|guess| !guess.is_empty());
        let sets = self.sets.iter().map(indices).chain(of_groups(believed)).collect();
        let choice = HittingSets {
            costs: scaled(options.iter().map(|(group, kind)| self.space.cost(*group, *kind))),
            ties: options.iter().map(|barrier| self.reluctance(*barrier)).collect(),
            sets,
            preferred: of_groups(&self.guesses).collect(),
        };
        let best = choice.best().expect("a barrier at every point is in each set");
        best.into_iter().map(|at| options[at]).collect()
    }

    /// How much another barrier of the same cost is preferred.
    fn reluctance(&self, (group, kind): PlacedBarrier) -> usize {
        let is_given = self.space.given_at(group) == Some(kind);
        let is_double = self.space.groups.missing(group).beside_barriers > 0;
        match (is_given, is_double) {
            (true, _) => 1,
            (false, false) => 2,
            (false, true) => 3,
        }
    }

    /// Adds the sets that follow from a placement that is not clean: for each racing pair the barriers that could separate
    /// the two, without those that did not. Returns whether they say more than is known.
    fn learn(&mut self, placement: &GroupPlacement, report: &PlacementReport) -> bool {
        let expanded = self.space.expanded(placement);
        let mut is_new = false;
        for pair in &report.pairs {
            self.guesses.extend(self.space.guesses(pair));
            let set = self.separators(&expanded, pair);
            is_new |= pair.is_certain && !set.is_empty() && self.add(set);
        }
        is_new
    }

    /// Excludes a placement, and those with fewer barriers: they are cheaper, and were checked if the sets allow them.
    fn exclude(&mut self, placement: &GroupPlacement, report: &PlacementReport) {
        // If no pair tells what is missing, it might be a barrier that is no option.
        self.is_whole &= !report.pairs.is_empty();
        let expanded = self.space.expanded(placement);
        let others = self.options.iter().filter(|(group, kind)| {
            let members = self.space.groups.members(*group);
            members.iter().any(|point| is_more(&expanded, *point, *kind))
        });
        self.add(others.copied().collect());
    }

    /// Returns the barriers that could separate a pair that races with a placement.
    fn separators(
        &self,
        placement: &BarrierPlacement,
        pair: &RacingPair,
    ) -> BTreeSet<PlacedBarrier> {
        let cut = self.space.cut(pair);
        let is_one = |point: &PointId, kind: BarrierKind| {
            cut.contains(point)
                && match pair.distance {
                    _ if self.space.has_partial || pair.is_of_phases() => {
                        is_more(placement, *point, kind)
                    }
                    Distance::Warp => !placement.contains_key(point),
                    Distance::Cta => kind == BarrierKind::Cta && is_more(placement, *point, kind),
                }
        };
        let separates = |(group, kind): &PlacedBarrier| {
            self.space.groups.members(*group).iter().any(|point| is_one(point, *kind))
        };
        self.options.iter().copied().filter(separates).collect()
    }

    /// Adds a set. Returns whether it says more than those that are known.
    fn add(&mut self, set: BTreeSet<PlacedBarrier>) -> bool {
        let is_new = self.sets.iter().all(|known| !known.is_subset(&set));
        if is_new {
            self.sets.retain(|known| !set.is_subset(known));
            self.sets.insert(set);
        }
        is_new
    }

    /// Examines guesses about the pairs that race with a placement, the smallest first: whether a pair races if only the
    /// guessed groups have no barrier.
    fn examine_guesses(
        &mut self,
        placement: &GroupPlacement,
        report: &PlacementReport,
    ) -> Result<(), E> {
        let is_missed = |guess: &BTreeSet<GroupId>| {
            self.guesses.contains(guess) && guess.iter().all(|group| !placement.contains_key(group))
        };
        let missed: BTreeSet<BTreeSet<GroupId>> = report
            .pairs
            .iter()
            .flat_map(|pair| self.space.guesses(pair))
            .filter(is_missed)
            .collect();
        for guess in minimal(&missed).take(MOST_GUESSES) {
            self.guesses.remove(guess);
            let is_known =
                |set: &BTreeSet<PlacedBarrier>| set.iter().all(|(group, _)| guess.contains(group));
            if self.sets.iter().any(is_known) || self.oracle.is_spent() {
                continue;
            }
            let others = self.strongest(|group| !guess.contains(group));
            let report = self.check(&others)?;
            if !report.is_clean {
                self.learn(&others, &report);
            }
        }
        Ok(())
    }

    /// Looks for a clean placement that might not be the cheapest: takes every guess for a fact, or else a barrier at every
    /// point, and leaves out the dearest barriers that are not needed.
    fn give_up(mut self) -> Result<SearchEnd, E> {
        let guessed = self.cheapest(&self.guesses);
        let report = self.check(&guessed)?;
        let (placement, report) = if report.is_clean {
            (guessed, report)
        } else {
            let all = self.strongest(|_| true);
            let report = self.check(&all)?;
            (all, report)
        };
        let (placement, report) = self.thinned(placement, report)?;
        self.end(&placement, &report, false)
    }

    /// Ends with the cheapest placement of all that might be clean.
    fn found(
        &mut self,
        placement: GroupPlacement,
        report: PlacementReport,
    ) -> Result<SearchEnd, E> {
        if self.is_whole && !self.space.has_objects {
            return self.end(&placement, &report, true);
        }
        // What is missing is not known from races alone, so that not all that was asked for is needed.
        self.sets.clear();
        let (placement, report) = self.thinned(placement, report)?;
        self.end(&placement, &report, false)
    }

    /// Leaves out the dearest barriers of a clean placement that are not needed.
    fn thinned(
        &mut self,
        mut placement: GroupPlacement,
        mut clean: PlacementReport,
    ) -> Result<(GroupPlacement, PlacementReport), E> {
        let mut barriers: Vec<PlacedBarrier> =
            placement.iter().map(|(group, kind)| (*group, *kind)).collect();
        barriers.sort_by(|(a, kind_a), (b, kind_b)| {
            self.space.cost(*b, *kind_b).total_cmp(&self.space.cost(*a, *kind_a))
        });
        for (group, _) in barriers {
            if self.oracle.is_endless() {
                break;
            }
            if let Some((fewer, report)) = self.without(group, &placement)? {
                (placement, clean) = (fewer, report);
            }
        }
        Ok((placement, clean))
    }

    /// Returns a clean placement without the barrier of a group, and without those that are at fault then, such as the one that
    /// other threads waited at.
    fn without(
        &mut self,
        group: GroupId,
        placement: &GroupPlacement,
    ) -> Result<Option<(GroupPlacement, PlacementReport)>, E> {
        let mut fewer = placement.clone();
        let mut faulty = BTreeSet::from([group]);
        while fewer.keys().any(|group| faulty.contains(group)) {
            fewer.retain(|group, _| !faulty.contains(group));
            let expanded = self.space.expanded(&fewer);
            let is_there = |(group, kind): &PlacedBarrier| {
                let members = self.space.groups.members(*group);
                members.iter().any(|point| !is_more(&expanded, *point, *kind))
            };
            let is_enough = |set: &BTreeSet<PlacedBarrier>| set.iter().any(is_there);
            // The kernel as it is, without any of them, is not clean.
            if fewer.is_empty() || !self.sets.iter().all(is_enough) {
                break;
            }
            let report = self.check(&fewer)?;
            if report.is_clean {
                return Ok(Some((fewer, report)));
            }
            faulty = self.space.groups_of(&report.faulty);
        }
        Ok(None)
    }

    /// Returns the racing pairs that are not known yet, if some points that could separate them are no options.
    fn new_pairs(&self, report: &PlacementReport) -> Option<SearchEnd> {
        let is_new = |pair: &&RacingPair| {
            let is_known = |access| self.space.accesses.contains(access);
            !pair.accesses.iter().all(is_known) || !self.space.cut(pair).is_subset(&self.points)
        };
        let more: Vec<RacingPair> = report.pairs.iter().filter(is_new).cloned().collect();
        (!more.is_empty()).then_some(SearchEnd::Pairs(more))
    }

    fn end(
        &mut self,
        placement: &GroupPlacement,
        report: &PlacementReport,
        is_least: bool,
    ) -> Result<SearchEnd, E> {
        let skipped = match self.uniformity {
            Uniformity::Cta => BTreeSet::new(),
            Uniformity::Launch => {
                checked(self.oracle, self.space, placement, Uniformity::Cta)?.faulty
            }
        };
        let proof = Optimality { bare: self.bare, is_least, skipped: &skipped };
        Ok(SearchEnd::Outcome(mend(self.space, placement, report, proof)))
    }
}

/// Returns the sets of which no other one is a part.
fn minimal<T: Ord>(sets: &BTreeSet<BTreeSet<T>>) -> impl Iterator<Item = &BTreeSet<T>> {
    let is_least = |set: &&BTreeSet<T>| {
        !sets.iter().any(|other| other.len() < set.len() && other.is_subset(set))
    };
    sets.iter().filter(is_least)
}
