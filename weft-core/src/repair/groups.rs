//! Groups of points that get a barrier together, because one change of the source makes them all.
//!
//! A loop is unrolled and a function inlined: a line has several copies. A group is what has the same place in all of them:
//! beside an access of a line, or next to the same accesses at its level of nesting. A point can be in several groups: in
//! front of a loop and at the start of its first iteration are one point, but two places of the source. A point between the
//! loops that the compiler makes of one is no place of the source.

use std::collections::{BTreeMap, BTreeSet};

use super::costs::Nesting;
use super::existing::first_word;
use super::kind::BarrierKind;
use super::level_entry::{LevelElement, Neighbour};
use super::levels::{ElementCopy, LevelSource, Levels, Neighbours};
use super::points::{Anchor, Point, PointId};
use crate::finding::SourceLine;
use crate::ptx::Span;

/// An index into the groups of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct GroupId(pub(super) usize);

/// A barrier at all points of some of the groups.
pub(super) type GroupPlacement = BTreeMap<GroupId, BarrierKind>;

/// The groups of a kernel.
pub(super) struct PointGroups {
    /// The points of each group, ascending.
    members: Vec<Vec<PointId>>,
    /// For each group, the copies of its place that have no point.
    missing: Vec<MissingCopies>,
    /// The groups of each point.
    of_point: Vec<Vec<GroupId>>,
}

/// The copies of a place that have no point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MissingCopies {
    pub(super) all: usize,
    /// Those beside a barrier that stays, where a second one does nothing.
    pub(super) beside_barriers: usize,
}

/// What is known of a point.
struct PointPlace<'p> {
    anchor: Anchor,
    /// The line of the instruction beside it, in a file that the author can change.
    line: Option<&'p SourceLine>,
    /// The first word of that instruction.
    word: &'p str,
    /// Whether that instruction is an access: the line is that of its statement.
    is_access: bool,
    nesting: Nesting,
    neighbours: &'p Neighbours,
}

/// What the points of a group have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum GroupKey<'p> {
    /// An instruction: the line, the side, the first word, the loops and conditions around it, and whether the point is within
    /// a statement. The rest of an instruction can differ: compilers compare with zero in the last copy of a loop.
    Beside(&'p SourceLine, u8, &'p str, Nesting, bool),
    /// What comes first in front of the point or behind it, how many points are in between, and whether the point is within a
    /// statement.
    NextTo(Direction, &'p LevelElement, usize, bool),
    Alone(PointId),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Direction {
    Before,
    After,
}

impl PointGroups {
    /// `lines`: for each point, the line of the instruction beside it, in a file that the author can change; `nestings`: the
    /// nesting of each.
    pub(super) fn of(
        source: &LevelSource<'_>,
        points: &[Point],
        lines: &[Option<SourceLine>],
        nestings: &[Nesting],
        levels: &Levels,
    ) -> Self {
        let mut by_key: BTreeMap<GroupKey<'_>, Vec<PointId>> = BTreeMap::new();
        for (at, Point { anchor, .. }) in points.iter().enumerate() {
            let place = PointPlace {
                anchor: *anchor,
                line: lines[at].as_ref(),
                word: first_word(source.module.mnemonic_in(anchor.span())),
                is_access: source.accesses.contains(&anchor.span()),
                nesting: nestings[at],
                neighbours: &levels.neighbours[at],
            };
            for key in place.keys(PointId(at)) {
                by_key.entry(key).or_default().push(PointId(at));
            }
        }
        let mut missing: BTreeMap<Vec<PointId>, MissingCopies> = BTreeMap::new();
        for (key, members) in by_key {
            let own = key.missing(&members, levels);
            let known = missing.entry(members).or_insert(own);
            *known = own.min(*known);
        }
        let (members, missing): (Vec<Vec<PointId>>, Vec<MissingCopies>) =
            missing.into_iter().unzip();
        let mut of_point = vec![Vec::new(); points.len()];
        for (at, group) in members.iter().enumerate() {
            for point in group {
                of_point[point.0].push(GroupId(at));
            }
        }
        Self { members, missing, of_point }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = GroupId> + use<> {
        (0..self.members.len()).map(GroupId)
    }

    /// Returns the points of a group, ascending; there is at least one.
    pub(super) fn members(&self, group: GroupId) -> &[PointId] {
        &self.members[group.0]
    }

    /// Returns the copies of the place of a group that have no point, such as the end of the last iteration. A change of the
    /// source makes a barrier there too.
    pub(super) fn missing(&self, group: GroupId) -> MissingCopies {
        self.missing[group.0]
    }

    /// Returns the groups of a point; none if it is no place of the source.
    pub(super) fn of_point(&self, point: PointId) -> &[GroupId] {
        &self.of_point[point.0]
    }
}

impl Direction {
    /// Returns what is next to a point in this direction.
    const fn of(self, own: &Neighbours) -> Option<&Neighbour> {
        match self {
            Self::Before => own.before.as_ref(),
            Self::After => own.after.as_ref(),
        }
    }
}

impl GroupKey<'_> {
    /// Returns the copies of what is next to the points that are next to none of them.
    fn missing(&self, members: &[PointId], levels: &Levels) -> MissingCopies {
        let Self::NextTo(direction, element, ..) = self else { return MissingCopies::default() };
        let guarded = match direction {
            Direction::Before => &levels.in_front_of_barriers,
            Direction::After => &levels.behind_barriers,
        };
        // A place within a statement is none of the copies of the statement's ends.
        let is_next_to = |at: &usize, own: &Neighbours| {
            own.is_within_statement || members.binary_search(&PointId(*at)).is_ok()
        };
        let all = levels.neighbours.iter().enumerate();
        let reached: BTreeSet<&BTreeSet<Span>> = all
            .filter(|(at, own)| is_next_to(at, own))
            .filter_map(|(_, own)| Some(&direction.of(own)?.accesses))
            .collect();
        let is_one = |(calls, own): &&ElementCopy| {
            let is_of_calls = element.calls.is_empty() || *calls == element.calls;
            is_of_calls && !reached.contains(own)
        };
        let plain = LevelElement { calls: BTreeSet::new(), ..(*element).clone() };
        let all = levels.copies.get(&plain).into_iter().flatten().filter(is_one);
        let beside_barriers = all.clone().filter(|(_, own)| own.is_subset(guarded)).count();
        MissingCopies { all: all.count(), beside_barriers }
    }
}

impl<'p> PointPlace<'p> {
    /// Returns what the point has in common with others of its groups.
    fn keys(&self, own: PointId) -> Vec<GroupKey<'p>> {
        if self.neighbours.is_within_loop() {
            return Vec::new();
        }
        let is_within = self.neighbours.is_within_statement;
        let side = match self.anchor {
            Anchor::Before(_) => 0,
            Anchor::After(_) => 1,
            Anchor::At(_, BarrierKind::Cta) => 2,
            Anchor::At(_, BarrierKind::Warp) => 3,
        };
        let beside =
            self.line.map(|line| GroupKey::Beside(line, side, self.word, self.nesting, is_within));
        if matches!(self.anchor, Anchor::At(..)) {
            return vec![beside.unwrap_or(GroupKey::Alone(own))];
        }
        let next_to = |direction: Direction| {
            let Neighbour { element, distance, .. } = direction.of(self.neighbours)?;
            Some(GroupKey::NextTo(direction, element, *distance, is_within))
        };
        let sides = [Direction::Before, Direction::After].into_iter();
        let mut keys: Vec<GroupKey<'p>> = sides.filter_map(next_to).collect();
        if self.is_access || keys.is_empty() {
            keys.extend(beside);
        }
        if keys.is_empty() {
            keys.push(GroupKey::Alone(own));
        }
        keys
    }
}
