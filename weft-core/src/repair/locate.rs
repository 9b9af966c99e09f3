//! Finds the place of an insertion in the source.
//!
//! A racing access has the line of the statement that makes it, so the place beside an access is the place beside its line,
//! if every race that the barrier separates is separated there too. Other instructions are no evidence: compilers share,
//! hoist and sink them. Without such a line, the place is somewhere between the lines of two accesses.

use std::cmp::Ordering;

use super::cuts::Passage;
use super::frames::{LineOrder, order};
use super::groups::GroupId;
use super::outcome::Side;
use super::placement_report::RacingPair;
use super::points::{Anchor, PointId};
use super::slot::slot;
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
enum AccessSide {
    Ahead,
    Behind,
    Unknown,
}

/// Which instruction a barrier is beside, at each of the points of a group.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SegmentEnd {
    Anchor,
    Right,
}

/// An access, and its line in the function that is common to both of a race.
type AccessLine<'s> = (Span, &'s SourceLine);

/// The lines of a race.
#[derive(Clone, Copy)]
struct RaceLines<'s> {
    from: AccessLine<'s>,
    to: AccessLine<'s>,
    iteration: Option<IterationPlace>,
    /// The calls around the function of both lines.
    calls: &'s [SourceLine],
}

/// The points that get a barrier together, and the races that it might separate.
struct Insertion<'s, 'm> {
    space: &'s PlacementSpace<'m>,
    members: Vec<PointId>,
    races: Vec<&'s RacingPair>,
    side: Side,
}

/// Returns the place of a barrier that is inserted at the points of a group. `races`: those that it might separate.
pub(super) fn located<'s>(
    space: &'s PlacementSpace<'_>,
    group: GroupId,
    races: &[&'s RacingPair],
) -> LocatedInsertion {
    let members = space.groups.members(group);
    let own = space.points[members[0].0];
    let side = if matches!(own.anchor, Anchor::After(_)) { Side::After } else { Side::Before };
    let is_known = |race: &&&RacingPair| race.finding.code != Code::DependsOnInput;
    let insertion = Insertion {
        space,
        members: members.to_vec(),
        races: races.iter().filter(is_known).copied().collect(),
        side,
    };
    let anchor = own.anchor.span();
    let right = own.right.filter(|right| insertion.is_beside(SegmentEnd::Right, *right));
    let right = right.map(|right| space.shown(right));
    let mut between = slot(space, members).or_else(|| insertion.between());
    let found =
        |site, side, place, right, between| LocatedInsertion { site, side, place, right, between };
    let is_amid = members.iter().all(|point| space.levels.neighbours[point.0].is_between());
    let is_apart = insertion.is_one_enough() || is_amid && insertion.is_of_some_copies(anchor);
    if !(is_apart && between.is_some()) {
        if insertion.is_beside(SegmentEnd::Anchor, anchor) {
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
    /// instruction at the first of the points.
    fn is_beside(&self, end: SegmentEnd, span: Span) -> bool {
        let lines = &self.space.shown(span).source;
        let Some(line) = lines.first() else { return false };
        // An instruction under a predicate might come from a condition that is not around the point.
        if self.space.is_guarded(span) || !self.is_evidence(span) || !self.is_of_all(end, span) {
            return false;
        }
        let separated = |race: &&RacingPair| self.is_separated(end, race);
        let all: Vec<bool> = self.races.iter().filter_map(separated).collect();
        let is_known = !all.is_empty() || self.space.accesses.contains(&span);
        is_known && all.iter().all(|is_it| *is_it) && !self.is_in_further_loop(line)
    }

    /// Whether all points are beside copies of an instruction.
    fn is_of_all(&self, end: SegmentEnd, span: Span) -> bool {
        let own = self.space.shown(span).source;
        self.members.iter().all(|point| {
            let point = self.space.points[point.0];
            let is_side = matches!(point.anchor, Anchor::After(_)) == (self.side == Side::After);
            let other = match end {
                SegmentEnd::Anchor => Some(point.anchor.span()).filter(|_| is_side),
                SegmentEnd::Right => point.right,
            };
            other.is_some_and(|other| {
                self.space.is_alike(span, other)
                    && self.space.shown(other).source.first() == own.first()
            })
        })
    }

    /// Whether the line of an instruction is that of its statement: it is an access, or it has copies although no loop is
    /// around it, so that it is in a loop that was unrolled.
    fn is_evidence(&self, span: Span) -> bool {
        let is_loose = |point: &PointId| self.space.cuts.loops_of(*point).is_empty();
        self.space.accesses.contains(&span)
            || self.members.len() > 1 && self.members.iter().all(is_loose)
    }

    /// Whether an instruction has more copies than there are points.
    fn is_of_some_copies(&self, span: Span) -> bool {
        let source = self.space.shown(span).source;
        let Some(line) = source.first() else { return false };
        let alike = self.space.spans_of(line).filter(|own| self.space.is_alike(*own, span));
        alike.count() > self.members.len()
    }

    /// Whether instructions of a line are in a loop that is around none of the points.
    fn is_in_further_loop(&self, line: &SourceLine) -> bool {
        let loops =
            self.members.iter().flat_map(|point| self.space.cuts.loops_of(*point)).collect();
        self.space.spans_of(line).any(|span| self.space.cuts.is_in_further_loop(span, &loops))
    }

    /// Whether a barrier beside the lines of an end of the segments separates a race; `None` if that is not known.
    fn is_separated(&self, end: SegmentEnd, race: &RacingPair) -> Option<bool> {
        let [a, b] = race.accesses;
        let is_one_line = self.order(a, b).is_some_and(|own| own.ordering == Ordering::Equal);
        let mut known = None;
        for (point, passage) in self.passages(race) {
            let own = self.space.points[point.0];
            let (span, side) = match end {
                SegmentEnd::Anchor => (own.anchor.span(), self.side),
                SegmentEnd::Right => (own.right?, Side::Before),
            };
            let relations = [a, b].map(|access| self.relation(span, side, access));
            if relations == [AccessSide::Unknown; 2] {
                continue;
            }
            let behind = relations.map(|own| own != AccessSide::Ahead);
            let ahead = relations.map(|own| own != AccessSide::Behind);
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
        let is_between =
            |(_, own): &(PointId, Passage)| own.is_forward || own.is_backward || own.is_around;
        self.members.iter().map(passage).filter(is_between)
    }

    /// Returns where an access is, seen from the place beside the line of an instruction.
    fn relation(&self, span: Span, side: Side, access: Span) -> AccessSide {
        let shown = self.space.shown(span).source;
        let lines = if self.space.has_one_place(span) { &shown[..] } else { &[] };
        let ordering = match order(self.space.lines_of(access), lines) {
            _ if access == span => Ordering::Equal,
            Some(own) => own.ordering,
            None => return AccessSide::Unknown,
        };
        match (ordering, side) {
            (Ordering::Less, _) | (Ordering::Equal, Side::After) => AccessSide::Behind,
            (Ordering::Greater, _) | (Ordering::Equal, Side::Before) => AccessSide::Ahead,
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

    /// Returns the lines between which the barrier is: those that are closest together, if all are of one function.
    fn between(&self) -> Option<BetweenLines> {
        let all: Vec<RaceLines> = self.races.iter().filter_map(|race| self.lines(race)).collect();
        let turn = all.iter().find(|own| own.iteration.is_some());
        let first = turn.or(all.first())?;
        let iteration = first.iteration;
        // In front of all accesses of an iteration the place is also in front of what is separated from accesses before the
        // loop, and behind all of them also behind what is separated from accesses behind the loop.
        let is_end =
            |own: &&RaceLines| own.iteration == iteration || iteration == Some(IterationPlace::End);
        let is_start = |own: &&RaceLines| {
            own.iteration == iteration || iteration == Some(IterationPlace::Start)
        };
        let is_alike =
            |own: &&RaceLines| own.from.1.file == first.from.1.file && own.calls == first.calls;
        let alike = || all.iter().filter(is_alike);
        let from = alike().filter(is_end).map(|own| own.from).max_by_key(|own| own.1.line)?;
        let to = alike().filter(is_start).map(|own| own.to).min_by_key(|own| own.1.line)?;
        let is_narrow = iteration.is_some() || from.1.line < to.1.line;
        let (from, to) = if is_narrow { (from, to) } else { (first.from, first.to) };
        let is_of_all = || match iteration {
            None => self.are_between_all(from, to),
            Some(_) => self.is_in_loop_of_all(from) && self.is_in_loop_of_all(to),
        };
        if iteration.is_none() && !self.is_each_between(from, to) {
            return None;
        }
        let is_certain = first.calls.is_empty() && is_of_all();
        Some(BetweenLines { from: from.1.clone(), to: to.1.clone(), iteration, is_certain })
    }

    /// Whether each copy of an access leads to each copy of another one by some of the points.
    fn are_between_all(&self, from: AccessLine<'_>, to: AccessLine<'_>) -> bool {
        let mut all = self.pairs(from, to);
        all.all(|pair| self.members.iter().any(|point| self.is_on_the_way(pair, *point)))
    }

    /// Whether each point lies between some copies of two accesses.
    fn is_each_between(&self, from: AccessLine<'_>, to: AccessLine<'_>) -> bool {
        let mut members = self.members.iter();
        members.all(|point| self.pairs(from, to).any(|pair| self.is_on_the_way(pair, *point)))
    }

    /// Returns the pairs of copies of two accesses.
    fn pairs(
        &self,
        from: AccessLine<'_>,
        to: AccessLine<'_>,
    ) -> impl Iterator<Item = (Span, Span)> {
        self.copies(from).flat_map(move |one| self.copies(to).map(move |other| (one, other)))
    }

    /// Whether an instruction leads to a point, and that to another instruction, in one iteration.
    fn is_on_the_way(&self, (from, to): (Span, Span), point: PointId) -> bool {
        self.space.cuts.passage(from, point, to).is_forward
    }

    /// Whether each of the points is in a loop that is around all copies of an access.
    fn is_in_loop_of_all(&self, access: AccessLine<'_>) -> bool {
        let passage = |point: &PointId, span| self.space.cuts.passage(span, *point, span);
        self.members
            .iter()
            .all(|point| self.copies(access).all(|own| passage(point, own).is_around))
    }

    /// Returns the instructions of the line of an access that are like it.
    fn copies(&self, (span, line): AccessLine<'_>) -> impl Iterator<Item = Span> {
        self.space.spans_of(line).filter(move |own| self.space.is_alike(*own, span))
    }

    /// Returns the lines of the accesses of a race, in the order in which the barrier separates them.
    fn lines(&self, race: &RacingPair) -> Option<RaceLines<'_>> {
        let [a, b] = race.accesses;
        let LineOrder { ordering, lines: [one, other], calls } = self.order(a, b)?;
        let passages: Vec<Passage> = self.passages(race).map(|(_, own)| own).collect();
        let is_straight = passages.iter().any(|own| match ordering {
            Ordering::Less => own.is_forward,
            Ordering::Greater => own.is_backward,
            Ordering::Equal => !own.is_around && self.members.len() == 1,
        });
        let (one, other) = ((a, one), (b, other));
        let (lower, upper) =
            if ordering == Ordering::Greater { (other, one) } else { (one, other) };
        let is_turn = passages.iter().any(|own| own.is_around);
        let (from, to, iteration) = match (is_straight, is_turn) {
            (true, _) => (lower, upper, None),
            (false, true) => (upper, lower, Some(self.iteration())),
            (false, false) => return None,
        };
        Some(RaceLines { from, to, iteration, calls })
    }

    /// Returns where in its loop the barrier is, by the races within the loop.
    fn iteration(&self) -> IterationPlace {
        let passages = self.races.iter().flat_map(|race| self.passages(race));
        let turns = passages.map(|(_, own)| own);
        let turns: Vec<Passage> =
            turns.filter(|own| own.is_around && !own.is_forward && !own.is_backward).collect();
        let is_last = |own: &Passage| own.is_last;
        match (turns.iter().any(is_last), turns.iter().all(is_last)) {
            (true, true) => IterationPlace::End,
            (false, false) => IterationPlace::Start,
            _ if self.side == Side::After => IterationPlace::End,
            _ => IterationPlace::Start,
        }
    }
}
