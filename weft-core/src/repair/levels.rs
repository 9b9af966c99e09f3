//! Levels of nesting: the accesses, and the loops and conditions with accesses, in the order in which threads come by them.
//!
//! A compiler that unrolls a loop writes its body several times. What lies next to a point at its own level is the same in
//! each copy, wherever the instructions around it went.

use std::collections::{BTreeMap, BTreeSet};

use super::existing::{BarrierRole, Existing, first_word};
use super::kind::BarrierKind;
use super::points::PointId;
use crate::finding::SourceLine;
use crate::flow::{BlockId, Program};
use crate::ptx::{Module, Span};

/// An access, or what a loop or a condition contains.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LevelElement {
    /// The lines of the accesses.
    pub(super) lines: BTreeSet<SourceLine>,
    /// The first word of an access; `None` for a loop or a condition.
    pub(super) word: Option<String>,
}

/// What is next to a point, in one direction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Neighbour {
    pub(super) element: LevelElement,
    /// The number of points in between.
    pub(super) distance: usize,
    /// Whether it contains a loop with accesses.
    pub(super) has_loop: bool,
    pub(super) accesses: BTreeSet<Span>,
}

/// What levels say.
pub(super) struct Levels {
    /// What is next to each point.
    pub(super) neighbours: Vec<Neighbours>,
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
}

impl Neighbours {
    /// Whether both are accesses of one line, with nothing but one run of instructions in between.
    pub(super) fn is_within_line(&self) -> bool {
        let both = [&self.before, &self.after].map(Option::as_ref);
        let [Some(before), Some(after)] = both else { return false };
        let is_beside = |own: &Neighbour| own.element.word.is_some() && own.distance == 0;
        is_beside(before) && is_beside(after) && before.element.lines == after.element.lines
    }

    /// Whether the point is between two loops of the same lines, as between an unrolled loop and the rest of its iterations.
    pub(super) fn is_within_loop(&self) -> bool {
        let both = [&self.before, &self.after].map(Option::as_ref);
        let [Some(before), Some(after)] = both else { return false };
        before.has_loop && after.has_loop && before.element.lines == after.element.lines
    }
}

/// Something at a level.
enum LevelEntry {
    Point(PointId),
    Accesses(LevelAccesses),
}

/// An access, or all those of a loop or a condition.
struct LevelAccesses {
    /// `None` if the line of one of them is not known.
    element: Option<LevelElement>,
    accesses: BTreeSet<Span>,
    has_loop: bool,
    /// Whether it is a barrier of the cta that stays, by itself.
    is_barrier: bool,
}

/// What levels are made of.
pub(super) struct LevelSource<'s> {
    pub(super) module: &'s Module,
    /// With a barrier at every point.
    pub(super) program: &'s Program,
    /// Which original instruction or which point an instruction of the program is.
    pub(super) place: &'s dyn Fn(Span) -> Result<Span, PointId>,
    /// The line of an instruction.
    pub(super) line: &'s dyn Fn(Span) -> Option<SourceLine>,
    /// The instructions that race.
    pub(super) accesses: &'s BTreeSet<Span>,
    pub(super) existing: &'s BTreeMap<Span, Existing>,
}

/// Returns what the levels of a program say about its points, of which there are `count`.
pub(super) fn levels(source: &LevelSource<'_>, count: usize) -> Levels {
    let mut found: BTreeMap<PointId, Vec<Neighbours>> = BTreeMap::new();
    let (mut behind_barriers, mut in_front_of_barriers) = (BTreeSet::new(), BTreeSet::new());
    for level in LevelReader::of(source).levels() {
        for pair in level.windows(2) {
            let [LevelEntry::Accesses(one), LevelEntry::Accesses(other)] = pair else { continue };
            if one.is_barrier {
                behind_barriers.extend(&other.accesses);
            }
            if other.is_barrier {
                in_front_of_barriers.extend(&one.accesses);
            }
        }
        let before = passed(level.iter());
        let after = passed(level.iter().rev());
        for (point, before) in before {
            let after = after.get(&point).cloned().flatten();
            found.entry(point).or_default().push(Neighbours { before, after });
        }
    }
    // The instructions of a function that is called several times have one place and several neighbourhoods.
    let only = |at| match found.remove(&PointId(at)) {
        Some(mut all) if all.len() == 1 => all.remove(0),
        _ => Neighbours::default(),
    };
    Levels { neighbours: (0..count).map(only).collect(), behind_barriers, in_front_of_barriers }
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
                let neighbour = |element: &LevelElement| Neighbour {
                    element: element.clone(),
                    distance: 0,
                    accesses: own.accesses.clone(),
                    has_loop: own.has_loop,
                };
                last = own.element.as_ref().map(neighbour);
            }
        }
    }
    found
}

/// The line of an instruction, and the first word of its mnemonic.
type AccessText<'s> = (Option<SourceLine>, &'s str);

/// Reads the levels of a program.
struct LevelReader<'s> {
    source: &'s LevelSource<'s>,
    tree: DominatorTree,
    /// The accesses that race.
    racing: BTreeSet<AccessText<'s>>,
}

impl<'s> LevelReader<'s> {
    fn of(source: &'s LevelSource<'s>) -> Self {
        let racing = source.accesses.iter().map(|span| source.text(*span)).collect();
        Self { source, tree: DominatorTree::of(source.program), racing }
    }

    /// Returns what is at each level, in the order of the control flow.
    fn levels(&self) -> Vec<Vec<LevelEntry>> {
        let all = || (0..self.source.program.blocks.len()).map(BlockId::at);
        let later: BTreeSet<BlockId> = all().filter_map(|block| self.next(block)).collect();
        let level = |first| {
            let blocks = std::iter::successors(Some(first), |block| self.next(*block));
            blocks.flat_map(|block| self.entries(block)).collect()
        };
        all().filter(|block| !later.contains(block)).map(level).collect()
    }

    /// Returns the next block of the same level: all that pass one of the two pass the other, in the same loops.
    fn next(&self, block: BlockId) -> Option<BlockId> {
        let blocks = &self.source.program.blocks;
        let own = &blocks[block.index()].loops;
        let mut next = blocks[block.index()].post_dominator?;
        while blocks[next.index()].loops != *own {
            if !own.iter().all(|header| blocks[next.index()].loops.contains(header)) {
                return None;
            }
            next = blocks[next.index()].post_dominator?;
        }
        (next != block && self.tree.dominates(block, next)).then_some(next)
    }

    /// Returns what is in a block, and then what is between it and the next one of its level, or what is only reached from it
    /// if it is the last one.
    fn entries(&self, block: BlockId) -> Vec<LevelEntry> {
        let entry = |span| match (self.source.place)(span) {
            Err(point) => Some(LevelEntry::Point(point)),
            Ok(span) => self.access_at(span).map(LevelEntry::Accesses),
        };
        let own = self.spans(block).filter_map(entry);
        own.chain(self.inside(block).map(LevelEntry::Accesses)).collect()
    }

    fn access_at(&self, span: Span) -> Option<LevelAccesses> {
        let (line, word) = self.access(span)?;
        let (accesses, word) = (BTreeSet::from([span]), Some(word.to_owned()));
        let element = line.map(|line| LevelElement { lines: BTreeSet::from([line]), word });
        let is_barrier = self.source.fixed(span).is_some_and(|own| own.kind == BarrierKind::Cta);
        Some(LevelAccesses { element, accesses, has_loop: false, is_barrier })
    }

    /// Returns the accesses of the loop or the condition that begins behind a block.
    fn inside(&self, block: BlockId) -> Option<LevelAccesses> {
        let (next, blocks) = (self.next(block), &self.source.program.blocks);
        let depth = |own: BlockId| blocks[own.index()].loops.len();
        let is_inside = |own: &BlockId| {
            let is_later = next.is_some_and(|next| self.tree.dominates(next, *own));
            *own != block && self.tree.dominates(block, *own) && !is_later
        };
        let mut has_loop = false;
        let mut lines: BTreeMap<Span, Option<SourceLine>> = BTreeMap::new();
        for own in (0..blocks.len()).map(BlockId::at).filter(is_inside) {
            let known = lines.len();
            let accesses = self.spans(own).filter_map(|span| (self.source.place)(span).ok());
            lines.extend(accesses.filter_map(|span| Some((span, self.access(span)?.0))));
            has_loop |= lines.len() > known && depth(own) > depth(block);
        }
        if lines.is_empty() {
            return None;
        }
        let all: Option<BTreeSet<SourceLine>> = lines.values().cloned().collect();
        let element = all.map(|lines| LevelElement { lines, word: None });
        let accesses = lines.into_keys().collect();
        Some(LevelAccesses { element, accesses, has_loop, is_barrier: false })
    }

    /// Returns the text of an instruction that counts as an access: it races, or another copy of its line does, or it is a
    /// barrier that stays.
    fn access(&self, span: Span) -> Option<AccessText<'s>> {
        let own = self.source.text(span);
        let is_copy = || own.0.is_some() && self.racing.contains(&own);
        let is_one =
            self.source.accesses.contains(&span) || self.source.fixed(span).is_some() || is_copy();
        is_one.then_some(own)
    }

    fn spans(&self, block: BlockId) -> impl Iterator<Item = Span> {
        let program = self.source.program;
        program.instructions(block).map(|(pc, _)| program.place(pc).span)
    }
}

impl<'s> LevelSource<'s> {
    fn text(&self, span: Span) -> AccessText<'s> {
        ((self.line)(span), first_word(self.module.mnemonic_in(span)))
    }

    /// Returns the barrier that an instruction is, if it stays.
    fn fixed(&self, span: Span) -> Option<&Existing> {
        self.existing.get(&span).filter(|own| own.role == BarrierRole::Fixed)
    }
}

/// Which blocks are passed on every path to others.
struct DominatorTree {
    /// For each block, when a walk of the tree enters and leaves it.
    visits: Vec<(usize, usize)>,
}

impl DominatorTree {
    fn of(program: &Program) -> Self {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); program.blocks.len()];
        for (block, above) in program.dominators().iter().enumerate() {
            if let Some(above) = above {
                children[above.index()].push(block);
            }
        }
        let mut visits = vec![(usize::MAX, usize::MAX); program.blocks.len()];
        let (mut time, mut work) = (0, vec![(program.entry.index(), false)]);
        while let Some((block, is_done)) = work.pop() {
            time += 1;
            if is_done {
                visits[block].1 = time;
            } else {
                visits[block].0 = time;
                work.push((block, true));
                work.extend(children[block].iter().map(|child| (*child, false)));
            }
        }
        Self { visits }
    }

    fn dominates(&self, above: BlockId, block: BlockId) -> bool {
        let [above, block] = [above, block].map(|own| self.visits[own.index()]);
        above.0 <= block.0 && block.1 <= above.1
    }
}
