//! Levels of nesting: the accesses, and the loops and conditions with accesses, in the order in which threads come by them.
//!
//! A compiler that unrolls a loop writes its body several times. What lies next to a point at its own level is the same in
//! each copy, wherever the instructions around it went.

use std::collections::{BTreeMap, BTreeSet};

use super::dominator_tree::DominatorTree;
use super::existing::{BarrierRole, Existing, first_word};
use super::kind::BarrierKind;
use super::level_entry::{LevelAccesses, LevelElement, LevelEntry, Neighbour};
use super::points::PointId;
use super::statements::points_within;
use crate::finding::SourceLine;
use crate::flow::{BlockId, Program};
use crate::ptx::{Module, Span};

/// The calls of an element, and its accesses.
pub(super) type ElementCopy = (BTreeSet<Vec<SourceLine>>, BTreeSet<Span>);

/// What levels say.
pub(super) struct Levels {
    /// What is next to each point.
    pub(super) neighbours: Vec<Neighbours>,
    /// For each element without its calls, these and the accesses of each of its copies.
    pub(super) copies: BTreeMap<LevelElement, Vec<ElementCopy>>,
    /// Accesses directly behind a barrier that stays, without a point in between.
    pub(super) behind_barriers: BTreeSet<Span>,
    /// Accesses directly in front of a barrier that stays.
    pub(super) in_front_of_barriers: BTreeSet<Span>,
}

/// What is next to a point at its level; `None`: nothing, or an access without a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Neighbours {
    pub(super) before: Option<Neighbour>,
    pub(super) after: Option<Neighbour>,
    /// What is in front of the conditions around the point, in the same loops, if nothing is in front of it inside of them.
    pub(super) outside: Option<Neighbour>,
    /// Whether the point is between accesses of one statement.
    pub(super) is_within_statement: bool,
}

impl Neighbours {
    /// Whether something is on both sides of the point.
    pub(super) const fn is_between(&self) -> bool {
        self.before.is_some() && self.after.is_some()
    }

    /// Returns what is in front of the point, or else of the conditions around it.
    pub(super) fn in_front(&self) -> Option<&Neighbour> {
        self.before.as_ref().or(self.outside.as_ref())
    }

    /// Forgets the calls if all is in the same one: the place is then the same in other calls of the function.
    fn join_calls(&mut self) {
        let [Some(before), Some(after)] = [&mut self.before, &mut self.after] else { return };
        let (one, other) = (&mut before.element.calls, &mut after.element.calls);
        if one.len() == 1 && one == other {
            one.clear();
            other.clear();
        }
    }

    /// Whether the point is between two loops of the same lines, as between an unrolled loop and the rest of its iterations.
    pub(super) fn is_within_loop(&self) -> bool {
        let [Some(before), Some(after)] = [self.in_front(), self.after.as_ref()] else {
            return false;
        };
        let has_loop = |own: &Neighbour| own.element.loops > 0;
        has_loop(before) && has_loop(after) && before.element.lines == after.element.lines
    }
}

/// What levels are made of.
pub(super) struct LevelSource<'s> {
    pub(super) module: &'s Module,
    /// With a barrier at every point.
    pub(super) program: &'s Program,
    /// Which original instruction or which point an instruction of the program is.
    pub(super) place: &'s dyn Fn(Span) -> Result<Span, PointId>,
    /// The line of an instruction, in a file that the author can change.
    pub(super) line: &'s dyn Fn(Span) -> Option<SourceLine>,
    /// The lines of the calls that an instruction is inlined in, innermost first.
    pub(super) calls: &'s dyn Fn(Span) -> Vec<SourceLine>,
    /// The instructions that race.
    pub(super) accesses: &'s BTreeSet<Span>,
    /// The barriers of the kernel.
    pub(super) existing: &'s BTreeMap<Span, Existing>,
}

/// Returns what the levels of a program say about its points, of which there are `count`.
pub(super) fn levels(source: &LevelSource<'_>, count: usize) -> Levels {
    let mut found: BTreeMap<PointId, Vec<Neighbours>> = BTreeMap::new();
    let mut copies: BTreeMap<LevelElement, Vec<ElementCopy>> = BTreeMap::new();
    let (mut behind_barriers, mut in_front_of_barriers) = (BTreeSet::new(), BTreeSet::new());
    let reader = LevelReader::of(source);
    let heads: Vec<BlockId> = reader.heads().collect();
    let all: Vec<Vec<LevelEntry>> = heads.iter().map(|head| reader.level(*head)).collect();
    let within = points_within(&all);
    for (head, level) in heads.into_iter().zip(&all) {
        let outside = reader.outside(head);
        for pair in level.windows(2) {
            let [LevelEntry::Accesses(one), LevelEntry::Accesses(other)] = pair else { continue };
            if one.is_barrier {
                behind_barriers.extend(&other.accesses);
            }
            if other.is_barrier {
                in_front_of_barriers.extend(&one.accesses);
            }
        }
        for own in level.iter().filter_map(LevelEntry::accesses) {
            if let Some(mut element) = own.own_element() {
                let calls = std::mem::take(&mut element.calls);
                copies.entry(element).or_default().push((calls, own.accesses.clone()));
            }
        }
        let before = passed(level.iter());
        let after = passed(level.iter().rev());
        for (point, before) in before {
            let after = after.get(&point).cloned().flatten();
            let outside = outside.clone().filter(|_| before.is_none());
            let is_within_statement = within.contains(&point);
            let mut own = Neighbours { before, after, outside, is_within_statement };
            own.join_calls();
            found.entry(point).or_default().push(own);
        }
    }
    // The instructions of a function that is called several times have one place and several neighbourhoods.
    let only = |at| match found.remove(&PointId(at)) {
        Some(mut all) if all.len() == 1 => all.remove(0),
        _ => Neighbours::default(),
    };
    let neighbours = (0..count).map(only).collect();
    Levels { neighbours, copies, behind_barriers, in_front_of_barriers }
}

/// Returns for each point of a level the last element that was passed before it.
fn passed<'e>(
    entries: impl Iterator<Item = &'e LevelEntry>,
) -> BTreeMap<PointId, Option<Neighbour>> {
    let mut last: Option<Neighbour> = None;
    let mut found = BTreeMap::new();
    for entry in entries {
        match entry {
            LevelEntry::Point(point) => {
                found.insert(*point, last.clone());
                if let Some(last) = &mut last {
                    last.distance += 1;
                }
            }
            LevelEntry::Accesses(own) => {
                last = own.neighbour();
            }
        }
    }
    found
}

/// Reads the levels of a program.
struct LevelReader<'p> {
    program: &'p Program,
    tree: DominatorTree,
    /// For each block, the next one at its level.
    next: Vec<Option<BlockId>>,
    /// For each block, the one before it at its level.
    previous: Vec<Option<BlockId>>,
    /// For each block, the points and accesses in it.
    own: Vec<Vec<LevelEntry>>,
    /// For each block, the accesses of the loop or the condition that begins behind it.
    inside: Vec<Option<LevelAccesses>>,
}

impl<'p> LevelReader<'p> {
    fn of(source: &LevelSource<'p>) -> Self {
        let (program, tree) = (source.program, DominatorTree::of(source.program));
        let next: Vec<Option<BlockId>> =
            blocks(program).map(|block| next(program, &tree, block)).collect();
        let mut previous = vec![None; program.blocks.len()];
        for (block, next) in blocks(program).zip(&next) {
            if let Some(next) = next {
                previous[next.index()] = Some(block);
            }
        }
        let (own, inside) = (entries(source), Vec::new());
        let mut reader = Self { program, tree, next, previous, own, inside };
        reader.inside = reader.insides();
        reader
    }

    /// Returns the first block of each level.
    fn heads(&self) -> impl Iterator<Item = BlockId> {
        blocks(self.program).filter(|block| self.previous[block.index()].is_none())
    }

    /// Returns what is at the level of a block, in the order of the control flow.
    fn level(&self, head: BlockId) -> Vec<LevelEntry> {
        let all = std::iter::successors(Some(head), |block| self.next[block.index()]);
        let entries = |block: BlockId| {
            let inside = self.inside[block.index()].clone().map(LevelEntry::Accesses);
            self.own[block.index()].iter().cloned().chain(inside)
        };
        all.flat_map(entries).collect()
    }

    /// Returns the block behind which the level of a block begins, and with it a loop or a condition.
    fn outer(&self, block: BlockId) -> Option<BlockId> {
        let before = |block: &BlockId| self.previous[block.index()];
        let head = std::iter::successors(Some(block), before).last()?;
        self.tree.above(head)
    }

    /// The loops and conditions around a block, innermost first, each as the block behind which it begins.
    fn around(&self, block: BlockId) -> impl Iterator<Item = BlockId> {
        std::iter::successors(self.outer(block), |outer| self.outer(*outer))
    }

    /// Returns for each block the accesses of the loop or the condition that begins behind it.
    fn insides(&self) -> Vec<Option<LevelAccesses>> {
        let loops = |block: BlockId| self.program.blocks[block.index()].loops.len();
        let mut found: Vec<Option<LevelAccesses>> = vec![None; self.program.blocks.len()];
        for block in blocks(self.program) {
            let own: Vec<&LevelAccesses> =
                self.own[block.index()].iter().filter_map(LevelEntry::accesses).collect();
            for outer in self.around(block).filter(|_| !own.is_empty()) {
                let depth = loops(block).saturating_sub(loops(outer));
                let inside = found[outer.index()].get_or_insert_with(LevelAccesses::none);
                for own in &own {
                    inside.add(own, depth);
                }
            }
        }
        for block in blocks(self.program) {
            let element = |block: BlockId| found[block.index()].as_ref()?.element.as_ref();
            let Some(own) = element(block) else { continue };
            let is_alike =
                |other: &&LevelElement| other.lines == own.lines && other.loops == own.loops;
            let wholes = self.around(block).filter_map(element).filter(is_alike).count();
            let inside = found[block.index()].as_mut();
            if let Some(own) = inside.and_then(|own| own.element.as_mut()) {
                own.wholes = wholes;
            }
        }
        found
    }

    /// Returns what is in front of the loop or the condition that a level is of, in the same loops as the level.
    fn outside(&self, head: BlockId) -> Option<Neighbour> {
        let loops = |block: BlockId| &self.program.blocks[block.index()].loops;
        let own =
            |block: BlockId| self.own[block.index()].iter().rev().find_map(LevelEntry::accesses);
        let mut outer = self.around(head).take_while(|outer| loops(*outer) == loops(head));
        outer
            .find_map(|outer| {
                let before = |block: &BlockId| self.previous[block.index()];
                let mut all = std::iter::successors(Some(outer), before);
                let last = own(all.next()?);
                last.or_else(|| {
                    all.find_map(|block| self.inside[block.index()].as_ref().or_else(|| own(block)))
                })
            })?
            .neighbour()
    }
}

fn blocks(program: &Program) -> impl Iterator<Item = BlockId> + use<> {
    (0..program.blocks.len()).map(BlockId::at)
}

/// Returns the next block of the same level: all that pass one of the two pass the other, in the same loops.
fn next(program: &Program, tree: &DominatorTree, block: BlockId) -> Option<BlockId> {
    let blocks = &program.blocks;
    let own = &blocks[block.index()].loops;
    let mut next = blocks[block.index()].post_dominator?;
    while blocks[next.index()].loops != *own {
        if !own.iter().all(|header| blocks[next.index()].loops.contains(header)) {
            return None;
        }
        next = blocks[next.index()].post_dominator?;
    }
    (next != block && tree.dominates(block, next)).then_some(next)
}

/// Returns the points and accesses in each block.
fn entries(source: &LevelSource<'_>) -> Vec<Vec<LevelEntry>> {
    let racing: BTreeSet<(Option<SourceLine>, &str)> =
        source.accesses.iter().map(|span| source.text(*span)).collect();
    let access = |span: Span| {
        let (line, word) = source.text(span);
        let fixed = source.existing.get(&span).filter(|own| own.role == BarrierRole::Fixed);
        // Not every copy of a line races.
        let is_copy = line.is_some() && racing.contains(&(line.clone(), word));
        if !is_copy && fixed.is_none() && !source.accesses.contains(&span) {
            return None;
        }
        let word = Some(word.to_owned());
        let lines = line.map(|line| BTreeSet::from([line]));
        let calls = BTreeSet::from([(source.calls)(span)]);
        let element = lines.map(|lines| LevelElement { lines, word, loops: 0, wholes: 0, calls });
        let is_barrier = fixed.is_some_and(|own| own.kind == BarrierKind::Cta);
        Some(LevelAccesses { element, accesses: BTreeSet::from([span]), is_barrier })
    };
    let entry = |span| match (source.place)(span) {
        Err(point) => Some(LevelEntry::Point(point)),
        Ok(span) => access(span).map(LevelEntry::Accesses),
    };
    let of_block = |block| {
        let all = source.program.instructions(block);
        all.filter_map(|(pc, _)| entry(source.program.place(pc).span)).collect()
    };
    blocks(source.program).map(of_block).collect()
}

impl<'s> LevelSource<'s> {
    /// Returns the line of an instruction, and the first word of its mnemonic.
    fn text(&self, span: Span) -> (Option<SourceLine>, &'s str) {
        ((self.line)(span), first_word(self.module.mnemonic_in(span)))
    }
}
