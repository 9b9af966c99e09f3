//! The points of a placement whose barriers are at fault: not all threads reach them, or a question is open because of them.

use std::collections::BTreeSet;

use super::groups::{GroupId, GroupPlacement};
use super::placement_report::PlacementReport;
use super::points::PointId;
use super::space::PlacementSpace;

/// Returns the points of a placement whose barriers are at fault: the innermost, which might be the reason why threads
/// wait at others, and all others that the same threads reach: in the same runs, or under the same branches.
pub(super) fn innermost(
    space: &PlacementSpace<'_>,
    placement: &GroupPlacement,
    report: &PlacementReport,
) -> BTreeSet<PointId> {
    let deepest = report.faulty.iter().map(|point| depth(space, *point)).max();
    let innermost = report.faulty.iter().filter(|point| Some(depth(space, **point)) == deepest);
    let innermost: Vec<PointId> = innermost.copied().collect();
    let divergent = innermost.iter().filter(|point| report.divergent.contains(point));
    let in_runs = divergent.flat_map(|point| space.in_run_of(*point));
    let beside = report.branches.iter().flat_map(|branch| space.inside(*branch));
    // A weaker barrier than those at fault might do.
    let expanded = space.expanded(placement);
    let kind = |point: &PointId| expanded.get(point);
    let kinds: BTreeSet<_> = innermost.iter().map(kind).collect();
    let others = in_runs.chain(beside).filter(|point| kinds.contains(&kind(point)));
    innermost.iter().copied().chain(others).collect()
}

/// Returns the points of a placement inside the open branches at which warps stop, such as those of a loop that polls.
pub(super) fn stopping(
    space: &PlacementSpace<'_>,
    placement: &GroupPlacement,
    report: &PlacementReport,
) -> BTreeSet<PointId> {
    let expanded = space.expanded(placement);
    let inside = report.stops.iter().flat_map(|branch| space.inside(*branch));
    inside.filter(|point| expanded.contains_key(point)).collect()
}

/// Returns the deepest points of some groups, if no pair races for certain: a proof might fail because of barriers that a
/// placement does not need.
pub(super) fn deepest(
    space: &PlacementSpace<'_>,
    groups: impl Iterator<Item = GroupId>,
    report: &PlacementReport,
) -> BTreeSet<PointId> {
    let points: BTreeSet<PointId> =
        groups.flat_map(|group| space.groups.members(group)).copied().collect();
    let deepest = points.iter().map(|point| depth(space, *point)).max();
    let is_open = report.pairs.iter().all(|pair| !pair.is_certain);
    let Some(deepest) = deepest.filter(|depth| *depth > 0 && is_open) else {
        return BTreeSet::new();
    };
    points.into_iter().filter(|point| depth(space, *point) == deepest).collect()
}

/// The number of loops and conditions around a point.
fn depth(space: &PlacementSpace<'_>, point: PointId) -> u32 {
    let nesting = space.nestings[point.0];
    nesting.loops + nesting.conditions
}
