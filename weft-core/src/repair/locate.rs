//! Finds the place of an insertion in the source.
//!
//! A racing access has the line of the statement that makes it, so the place beside an access is the place beside its line,
//! if every race that the barrier separates is separated there too. Other instructions are no evidence: compilers share,
//! hoist and sink them. Without such a line, the place is somewhere between the lines of two accesses.

use std::cmp::Ordering;

use super::cuts::Passage;
use super::frames::{LineOrder, order};
use super::outcome::Side;
use super::placement_report::RacingPair;
use super::points::{Anchor, PointId};
use super::source_place::{BetweenLines, IterationPlace, SourcePlace};
use super::space::PlacementSpace;
use crate::finding::{Code, Site, SourceLine};
use crate::ptx::Span;

/// The place of an insertion.
pub(super) struct LocatedInsertion {
    pub(super) site: Site,
    pub(super) side: Side,
    pub(super) place: SourcePlace,
    pub(super) right: Option<Site>,
    pub(super) between: Option<BetweenLines>,
}

/// Where an access is, seen from a place in the source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relation {
    Ahead,
    Behind,
    Unknown,
}

/// Which instruction a barrier is beside, at each of the points of a leader.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Neighbour {
    Anchor,
    Right,
}

/// The points that get a barrier together, and the races that it might separate.
struct Insertion<'s, 'm> {
    space: &'s PlacementSpace<'m>,
    members: Vec<PointId>,
    races: Vec<&'s RacingPair>,
    side: Side,
}

/// Returns the place of a barrier that is inserted at the points of a leader. `races`: those that it might separate.
pub(super) fn located<'s>(
    space: &'s PlacementSpace<'_>,
    leader: PointId,
    races: &[&'s RacingPair],
) -> LocatedInsertion {
    let own = space.points[leader.0];
    let side = if matches!(own.anchor, Anchor::After(_)) { Side::After } else { Side::Before };
    let is_known = |race: &&&RacingPair| race.finding.code != Code::DependsOnInput;
    let insertion = Insertion {
        space,
        members: space.members(leader).collect(),
        races: races.iter().filter(is_known).copied().collect(),
        side,
    };
    let anchor = own.anchor.span();
    let right = own.right.filter(|right| insertion.is_beside(Neighbour::Right, *right));
    let right = right.map(|right| space.shown(right));
    let mut between = insertion.between();
    let found = |site, side, place, right, between| LocatedInsertion {
        site,
        side,
        place,
        right,
        between,
    };
    if !(insertion.is_one_enough() && between.is_some()) {
        if insertion.is_beside(Neighbour::Anchor, anchor) {
            return found(space.shown(anchor), side, SourcePlace::Beside, right, between);
        }
        if let Some(right) = right {
            return found(right, Side::Before, SourcePlace::Beside, None, between);
        }
    }
    let whole = space.site(anchor);
    let place = match between.take() {
        Some(lines) => SourcePlace::Between(lines),
        None if whole.source.is_empty() => SourcePlace::Unstated,
        None => SourcePlace::Doubtful,
    };
    found(Site { source: Vec::new(), ..whole }, side, place, None, None)
}

impl Insertion<'_, '_> {
    /// Whether the place beside the line of an instruction does what the point beside the instruction does. `span`: the
    /// instruction at the leader.
    fn is_beside(&self, neighbour: Neighbour, span: Span) -> bool {
        let lines = &self.space.shown(span).source;
        let Some(line) = lines.first() else { return false };
        // An instruction under a predicate might come from a condition that is not around the point.
        if self.space.is_guarded(span) || !self.is_evidence(span) {
            return false;
        }
        let separated = |race: &&RacingPair| self.is_separated(neighbour, race);
        let all: Vec<bool> = self.races.iter().filter_map(separated).collect();
        let is_known = !all.is_empty() || self.space.accesses.contains(&span);
        is_known && all.iter().all(|is_it| *is_it) && !self.is_in_further_loop(line)
    }

    /// Whether the line of an instruction is that of its statement: it is an access, or it has copies although no loop is
    /// around it, so that it is in a loop that was unrolled.
    fn is_evidence(&self, span: Span) -> bool {
        let is_loose = |point: &PointId| self.space.cuts.loops_of(*point).is_empty();
        self.space.accesses.contains(&span)
            || self.members.len() > 1 && self.members.iter().all(is_loose)
    }

    /// Whether instructions of a line are in a loop that is around none of the points.
    fn is_in_further_loop(&self, line: &SourceLine) -> bool {
        let loops =
            self.members.iter().flat_map(|point| self.space.cuts.loops_of(*point)).collect();
        self.space.spans_of(line).any(|span| self.space.cuts.is_in_further_loop(span, &loops))
    }

    /// Whether a barrier beside the lines of the neighbours separates a race; `None` if that is not known.
    fn is_separated(&self, neighbour: Neighbour, race: &RacingPair) -> Option<bool> {
        let [a, b] = race.accesses;
        let is_one_line = self.order(a, b).is_some_and(|own| own.ordering == Ordering::Equal);
        let mut known = None;
        for (point, passage) in self.passages(race) {
            let own = self.space.points[point.0];
            let (span, side) = match neighbour {
                Neighbour::Anchor => (own.anchor.span(), self.side),
                Neighbour::Right => (own.right?, Side::Before),
            };
            let relations = [a, b].map(|access| self.relation(span, side, access));
            if relations == [Relation::Unknown; 2] {
                continue;
            }
            let behind = relations.map(|own| own != Relation::Ahead);
            let ahead = relations.map(|own| own != Relation::Behind);
            let is_through = passage.is_forward && behind[0] && ahead[1]
                || passage.is_backward && behind[1] && ahead[0];
            let is_turn = passage.is_around || self.members.len() > 1;
            let is_outside = behind == [true; 2] || ahead == [true; 2];
            if is_one_line || is_through || is_turn && is_outside {
                return Some(true);
            }
            known = Some(false);
        }
        known
    }

    /// Returns how the points lie between two accesses, those that do.
    fn passages(&self, race: &RacingPair) -> impl Iterator<Item = (PointId, Passage)> {
        let [a, b] = race.accesses;
        let passage = move |point: &PointId| (*point, self.space.cuts.passage(a, *point, b));
        let is_between = |(_, own): &(PointId, Passage)| {
            own.is_forward || own.is_backward || own.is_around
        };
        self.members.iter().map(passage).filter(is_between)
    }

    /// Returns where an access is, seen from the place beside the line of an instruction.
    fn relation(&self, span: Span, side: Side, access: Span) -> Relation {
        let shown = self.space.shown(span).source;
        let lines = if self.space.has_one_place(span) { &shown[..] } else { &[] };
        let ordering = match order(self.space.lines_of(access), lines) {
            _ if access == span => Ordering::Equal,
            Some(own) => own.ordering,
            None => return Relation::Unknown,
        };
        match (ordering, side) {
            (Ordering::Less, _) | (Ordering::Equal, Side::After) => Relation::Behind,
            (Ordering::Greater, _) | (Ordering::Equal, Side::Before) => Relation::Ahead,
        }
    }

    fn order(&self, a: Span, b: Span) -> Option<LineOrder<'_>> {
        order(self.space.lines_of(a), self.space.lines_of(b))
    }

    /// Whether a single barrier between the accesses, outside of the loops around only one of them, does what those at the
    /// points do: the points are in such a loop, or copies of which one would be enough.
    fn is_one_enough(&self) -> bool {
        let is_straight = |race: &&RacingPair, point: PointId| {
            let [a, b] = race.accesses;
            let passage = self.space.cuts.passage(a, point, b);
            match self.order(a, b).map(|own| own.ordering) {
                Some(Ordering::Less) => passage.is_forward,
                Some(Ordering::Greater) => passage.is_backward,
                Some(Ordering::Equal) | None => false,
            }
        };
        let is_inner = |race: &&RacingPair, point: PointId| {
            let [a, b] = race.accesses;
            self.space.cuts.passage(a, point, b).is_inner
        };
        let is_for_all = |point: PointId| self.races.iter().all(|race| is_straight(race, point));
        let all_inner = |point: PointId| self.races.iter().all(|race| is_inner(race, point));
        let mut members = self.members.iter().copied();
        match self.members.as_slice() {
            [one] => is_for_all(*one) && all_inner(*one),
            _ => members.any(is_for_all),
        }
    }

    /// Returns the lines between which the barrier is.
    fn between(&self) -> Option<BetweenLines> {
        let all: Vec<BetweenLines> =
            self.races.iter().filter_map(|race| self.lines_of_race(race)).collect();
        if let Some(turn) = all.iter().find(|own| own.iteration.is_some()) {
            return Some(turn.clone());
        }
        let first = all.first()?;
        let from = all.iter().map(|own| &own.from).max_by_key(|own| own.line)?;
        let to = all.iter().map(|own| &own.to).min_by_key(|own| own.line)?;
        let is_one = all
            .iter()
            .all(|own| own.from.file == from.file && own.is_of_kernel == first.is_of_kernel);
        let is_narrow = is_one && from.line < to.line;
        let narrow = || BetweenLines { from: from.clone(), to: to.clone(), ..first.clone() };
        Some(if is_narrow { narrow() } else { first.clone() })
    }

    /// Returns the lines of the accesses of a race, in the order in which the barrier separates them.
    fn lines_of_race(&self, race: &RacingPair) -> Option<BetweenLines> {
        let [a, b] = race.accesses;
        let LineOrder { ordering, lines: [one, other], is_of_kernel } = self.order(a, b)?;
        let passages: Vec<Passage> = self.passages(race).map(|(_, own)| own).collect();
        let is_straight = passages.iter().any(|own| match ordering {
            Ordering::Less => own.is_forward,
            Ordering::Greater => own.is_backward,
            Ordering::Equal => !own.is_around && self.members.len() == 1,
        });
        let (lower, upper) =
            if ordering == Ordering::Greater { (other, one) } else { (one, other) };
        let is_turn = passages.iter().any(|own| own.is_around) || self.members.len() > 1;
        let (from, to, iteration) = match (is_straight, is_turn) {
            (true, _) => (lower, upper, None),
            (false, true) => (upper, lower, Some(self.iteration(&passages))),
            (false, false) => return None,
        };
        Some(BetweenLines { from: from.clone(), to: to.clone(), iteration, is_of_kernel })
    }

    /// Returns where in its loop the barrier is.
    fn iteration(&self, passages: &[Passage]) -> IterationPlace {
        match (passages.iter().any(|own| own.is_last), passages.iter().all(|own| own.is_last)) {
            (_, true) => IterationPlace::End,
            (false, _) => IterationPlace::Start,
            _ if self.side == Side::After => IterationPlace::End,
            _ => IterationPlace::Start,
        }
    }
}
