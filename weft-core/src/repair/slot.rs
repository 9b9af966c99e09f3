//! The place in the source of a group of points that all have the same accesses next to them, at their level of nesting: the
//! copies of a place in a loop that is unrolled.

use std::collections::BTreeSet;

use super::frames::order;
use super::level_entry::Neighbour;
use super::levels::Neighbours;
use super::points::PointId;
use super::source_place::{BetweenLines, IterationPlace};
use super::space::PlacementSpace;
use crate::finding::SourceLine;
use crate::ptx::Span;

/// The lines around one of the points, in the function that contains both.
struct SlotLines<'s> {
    /// The last one of what is in front of the point.
    from: &'s SourceLine,
    /// The first one of what is behind it.
    to: &'s SourceLine,
    /// The calls around that function.
    calls: &'s [SourceLine],
}

/// Returns the place of several points; `None` if they have nothing in common next to them, or if the lines of that do not
/// tell.
pub(super) fn slot(space: &PlacementSpace<'_>, members: &[PointId]) -> Option<BetweenLines> {
    let all = || members.iter().map(|point| &space.levels.neighbours[point.0]);
    if members.len() < 2 || all().any(|own| own.is_within_statement) {
        return None;
    }
    let found: Vec<SlotLines<'_>> = all().filter_map(|own| lines(space, own)).collect();
    let is_alike = |side: &IterationPlace| is_common(all().map(|own| neighbour(own, *side)));
    let places = [IterationPlace::Start, IterationPlace::End].into_iter().filter(is_alike);
    let mut places: Vec<BetweenLines> =
        places.filter_map(|place| between(space, members, &found, place)).collect();
    places.sort_by_key(|own| !own.is_certain);
    places.into_iter().next()
}

/// Returns what is behind a point at the start of an iteration, or in front of one at the end.
fn neighbour(own: &Neighbours, side: IterationPlace) -> Option<&Neighbour> {
    match side {
        IterationPlace::Start => own.after.as_ref(),
        IterationPlace::End => own.before.as_ref(),
    }
}

/// Whether all points have the same next to them.
fn is_common<'n>(mut all: impl Iterator<Item = Option<&'n Neighbour>>) -> bool {
    let element = |own: Option<&'n Neighbour>| own.map(|own| &own.element);
    let first = all.next().and_then(element);
    first.is_some() && all.all(|own| element(own) == first)
}

/// Returns the lines around a point; `None` if they are not of one function.
fn lines<'s>(space: &'s PlacementSpace<'_>, own: &'s Neighbours) -> Option<SlotLines<'s>> {
    let (before, after) = (own.before.as_ref()?, own.after.as_ref()?);
    let pairs =
        before.accesses.iter().flat_map(|from| after.accesses.iter().map(move |to| (*from, *to)));
    let mut found: Option<SlotLines<'_>> = None;
    for (from, to) in pairs {
        let own = order(space.lines_of(from), space.lines_of(to))?;
        let ([from, to], calls) = (own.lines, own.calls);
        found = Some(match found {
            None => SlotLines { from, to, calls },
            Some(known) if known.calls == calls && known.from.file == from.file => SlotLines {
                from: std::cmp::max_by_key(known.from, from, |own| own.line),
                to: std::cmp::min_by_key(known.to, to, |own| own.line),
                calls,
            },
            Some(_) => return None,
        });
    }
    found
}

/// Returns the lines between which the points are. `found`: the lines around them; `side`: on which side they all have the
/// same.
fn between(
    space: &PlacementSpace<'_>,
    members: &[PointId],
    found: &[SlotLines<'_>],
    side: IterationPlace,
) -> Option<BetweenLines> {
    let is_turn = |own: &&SlotLines<'_>| own.from.line >= own.to.line;
    let turns: Vec<&SlotLines<'_>> = found.iter().filter(is_turn).collect();
    let of_place: Vec<&SlotLines<'_>> =
        if turns.is_empty() { found.iter().collect() } else { turns.clone() };
    let first = of_place.first()?;
    let is_alike = |own: &&SlotLines<'_>| {
        own.calls.len() == first.calls.len() && own.from.file == first.from.file
    };
    if !of_place.iter().all(is_alike) {
        return None;
    }
    let from = of_place.iter().map(|own| own.from).max_by_key(|own| own.line)?;
    let to = of_place.iter().map(|own| own.to).min_by_key(|own| own.line)?;
    let iteration = (!turns.is_empty()).then_some(side);
    let is_certain = first.calls.is_empty() && is_whole(space, members, side, [from, to]);
    Some(BetweenLines { from: from.clone(), to: to.clone(), iteration, is_certain })
}

/// Whether every copy of what the points have next to them is next to one of the points, or to a barrier.
fn is_whole(
    space: &PlacementSpace<'_>,
    members: &[PointId],
    side: IterationPlace,
    [from, to]: [&SourceLine; 2],
) -> bool {
    let (line, guarded) = match side {
        IterationPlace::Start => (to, &space.levels.behind_barriers),
        IterationPlace::End => (from, &space.levels.in_front_of_barriers),
    };
    let of_point = |point: &PointId| neighbour(&space.levels.neighbours[point.0], side);
    let reached: BTreeSet<Span> =
        members.iter().filter_map(of_point).flat_map(|own| own.accesses.iter().copied()).collect();
    let mut copies = space.spans_of(line).filter(|span| space.accesses.contains(span));
    copies.all(|span| reached.contains(&span) || guarded.contains(&span))
}
