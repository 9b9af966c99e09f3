//! Puts a clean placement into the words of a repair.

use std::collections::BTreeSet;

use super::groups::{GroupId, GroupPlacement};
use super::kind::BarrierKind;
use super::locate::{LocatedInsertion, located};
use super::outcome::{Action, Change, Mend, RepairOutcome, Side};
use super::patch::edits;
use super::placement_report::{PlacementReport, RacingPair};
use super::points::{Anchor, PointId};
use super::source_place::{BetweenLines, SourcePlace};
use super::space::PlacementSpace;
use crate::finding::{Finding, SourceLine};

/// What is known about a placement.
pub(super) struct Optimality<'t> {
    /// The kernel without a barrier at any point.
    pub(super) bare: &'t PlacementReport,
    /// Whether no cheaper placement is clean.
    pub(super) is_least: bool,
    /// The points whose barrier not all threads of the cta reach together.
    pub(super) skipped: &'t BTreeSet<PointId>,
}

/// Returns the outcome of a search that found a clean placement. `report`: what the check says of it.
pub(super) fn mend(
    space: &PlacementSpace<'_>,
    placement: &GroupPlacement,
    report: &PlacementReport,
    Optimality { bare, is_least, skipped }: Optimality<'_>,
) -> RepairOutcome {
    let given = space.given();
    let (cost_before, cost) = (space.cost_of(&given), space.cost_of(placement));
    // Where not all threads reach the barriers that the kernel has, better ones can cost more.
    if *placement == given || !given.is_empty() && cost >= cost_before {
        return RepairOutcome::Unchanged { is_least };
    }
    let change = |group: GroupId| {
        let action = action(space.anchor(group), placement.get(&group).copied())?;
        Some(change(space, group, action, (bare, skipped)))
    };
    RepairOutcome::Mended(Mend {
        changes: space.groups.all().filter_map(change).collect(),
        cost_before,
        cost,
        is_least,
        edits: edits(&space.points, &space.expanded(placement))
            .into_iter()
            .map(|(_, edit)| edit)
            .collect(),
        assumptions: report.assumptions.clone(),
    })
}

/// Returns a change at the points of a group.
fn change(
    space: &PlacementSpace<'_>,
    group: GroupId,
    action: Action,
    (bare, skipped): (&PlacementReport, &BTreeSet<PointId>),
) -> Change {
    let members = space.groups.members(group);
    let is_skipped = members.iter().any(|point| skipped.contains(point));
    let copies = members.len();
    let line = space.line(members[0]).cloned();
    let mut races = separated(space, members, bare);
    let Action::Insert(kind, _) = action else {
        let site = space.site(space.anchor(group).span());
        let separates = if action == Action::Remove { Vec::new() } else { findings(&races) };
        return Change { is_skipped, separates, ..Change::of_barrier(action, site, line, copies) };
    };
    let LocatedInsertion { site, side, place, right, between } = located(space, group, &races);
    let line = site.source.first().filter(|line| space.is_source(line)).cloned();
    if let SourcePlace::Between(lines) = &place {
        races.sort_by_key(|race| !is_of(space, race, lines));
    }
    let (action, separates) = (Action::Insert(kind, side), findings(&races));
    Change { action, site, place, line, copies, right, between, is_skipped, separates }
}

fn findings(races: &[&RacingPair]) -> Vec<Finding> {
    races.iter().map(|race| race.finding.clone()).collect()
}

/// Whether the two accesses of a race are of the lines around a place.
fn is_of(space: &PlacementSpace<'_>, race: &RacingPair, lines: &BetweenLines) -> bool {
    let has = |span, line: &SourceLine| space.lines_of(span).contains(line);
    let [one, other] = race.accesses;
    let ends = [&lines.from, &lines.to];
    ends.iter().all(|line| has(one, line) || has(other, line))
        && [one, other].iter().all(|span| ends.iter().any(|line| has(*span, line)))
}

/// Returns what has to be done at a point so that it has this barrier.
fn action(anchor: Anchor, kind: Option<BarrierKind>) -> Option<Action> {
    match (anchor, kind) {
        (Anchor::Before(_), Some(kind)) => Some(Action::Insert(kind, Side::Before)),
        (Anchor::After(_), Some(kind)) => Some(Action::Insert(kind, Side::After)),
        (Anchor::At(_, known), Some(kind)) if known == kind => None,
        (Anchor::At(..), Some(kind)) => Some(Action::Replace(kind)),
        (Anchor::At(..), None) => Some(Action::Remove),
        (_, None) => None,
    }
}

/// Returns the races that a barrier at some points might separate, those with the fewest other such points first.
fn separated<'t>(
    space: &PlacementSpace<'_>,
    points: &[PointId],
    bare: &'t PlacementReport,
) -> Vec<&'t RacingPair> {
    let mut found: Vec<(usize, &RacingPair)> = bare
        .pairs
        .iter()
        .filter_map(|pair| {
            let cut = space.cut(pair);
            points.iter().any(|point| cut.contains(point)).then_some((cut.len(), pair))
        })
        .collect();
    found.sort_by_key(|(others, _)| *others);
    found.into_iter().map(|(_, pair)| pair).collect()
}
