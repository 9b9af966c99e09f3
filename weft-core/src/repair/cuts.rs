//! Cuts: the points whose barrier could separate two accesses.
//!
//! All threads of a cta pass the same barriers in the same order. A barrier at `p` separates an access `a` of one thread
//! from an access `b` of another one only if a path leads from `a` to `p` and one from `p` to `b`, or the reverse.

use std::collections::{BTreeMap, BTreeSet};

use super::points::PointId;
use crate::flow::{BlockId, Pc, Program};
use crate::ptx::Span;

/// Where an instruction occurs: in several blocks if it is of a function that is called several times.
type CodePlaces = Vec<(BlockId, Pc)>;

/// The paths of a program with a barrier at every point.
pub(super) struct Cuts {
    accesses: BTreeMap<Span, CodePlaces>,
    points: BTreeMap<PointId, CodePlaces>,
    /// For each block, the blocks that follow by at least one edge.
    reached: Vec<BlockSet>,
    /// The same without the edges back to the header of a loop.
    ahead: Vec<BlockSet>,
    /// The headers of the loops around each block.
    loops: Vec<Box<[BlockId]>>,
}

/// How a barrier at a point lies on the paths between two accesses `a` and `b`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each holds or not whatever the others are")]
pub(super) struct Passage {
    /// From `a` over the point to `b`, in one iteration of the loops around them.
    pub(super) is_forward: bool,
    /// From `b` over the point to `a`, likewise.
    pub(super) is_backward: bool,
    /// All three are in a loop.
    pub(super) is_around: bool,
    /// The point is in a loop that is not around both accesses.
    pub(super) is_inner: bool,
    /// Both accesses lead to the point, in one iteration.
    pub(super) is_last: bool,
}

/// A set of blocks, one bit for each block of the program: there is one such set for each block.
struct BlockSet(Vec<u64>);

impl BlockSet {
    fn new(blocks: usize) -> Self {
        Self(vec![0; blocks.div_ceil(64)])
    }

    /// Returns whether the block is new.
    fn insert(&mut self, block: BlockId) -> bool {
        let (word, bit) = (&mut self.0[block.index() / 64], 1 << (block.index() % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    fn contains(&self, block: BlockId) -> bool {
        self.0[block.index() / 64] >> (block.index() % 64) & 1 == 1
    }
}

impl Cuts {
    /// `place`: which original instruction or which point an instruction of the program is.
    pub(super) fn of(program: &Program, place: impl Fn(Span) -> Result<Span, PointId>) -> Self {
        let (mut accesses, mut points) = (BTreeMap::new(), BTreeMap::new());
        for at in 0..program.blocks.len() {
            let block = BlockId::at(at);
            for (pc, _) in program.instructions(block) {
                let list: &mut CodePlaces = match place(program.place(pc).span) {
                    Ok(span) => accesses.entry(span).or_default(),
                    Err(point) => points.entry(point).or_default(),
                };
                list.push((block, pc));
            }
        }
        let is_back = |from: usize, to: BlockId| program.blocks[from].loops.contains(&to);
        Self {
            accesses,
            points,
            reached: closure(program, |_, _| true),
            ahead: closure(program, |from, to| !is_back(from, to)),
            loops: program.blocks.iter().map(|block| block.loops.clone()).collect(),
        }
    }

    /// Returns the blocks in which a point lies.
    pub(super) fn blocks(&self, point: PointId) -> impl Iterator<Item = BlockId> {
        self.points.get(&point).into_iter().flatten().map(|(block, _)| *block)
    }

    /// Returns the points that lie between two accesses on some path.
    pub(super) fn between(&self, a: Span, b: Span) -> BTreeSet<PointId> {
        let (a, b) = (self.occurrences(a), self.occurrences(b));
        let leads =
            |from: &(BlockId, Pc), to: &(BlockId, Pc)| Self::leads(&self.reached, *from, *to);
        self.select(|p| between(a, p, b, leads) || between(b, p, a, leads))
    }

    /// Returns sets of points that might be the cuts of two accesses in one iteration of the loops around both, or in two
    /// consecutive iterations of one of these loops. The sets are guesses: they ignore what the threads really do.
    pub(super) fn guesses(&self, a: Span, b: Span) -> Vec<BTreeSet<PointId>> {
        let (a, b) = (self.occurrences(a), self.occurrences(b));
        let leads = |from: &(BlockId, Pc), to: &(BlockId, Pc)| Self::leads(&self.ahead, *from, *to);
        let mut guesses = vec![self.select(|p| between(a, p, b, leads) || between(b, p, a, leads))];
        for header in self.common_loops(a, b) {
            let is_in = |at: &(BlockId, Pc)| self.loops[at.0.index()].contains(&header);
            // Behind `from` to the end of an iteration, and from the start of the next one to `to`.
            let mut around = |from: &[(BlockId, Pc)], to: &[(BlockId, Pc)]| {
                let is_between = |p: &(BlockId, Pc)| {
                    is_in(p)
                        && (from.iter().any(|from| leads(from, p))
                            || to.iter().any(|to| leads(p, to)))
                };
                guesses.push(self.select(is_between));
            };
            around(a, b);
            around(b, a);
        }
        guesses.retain(|guess| !guess.is_empty());
        guesses
    }

    /// Returns how a point lies between two accesses.
    pub(super) fn passage(&self, a: Span, point: PointId, b: Span) -> Passage {
        let (a, b) = (self.occurrences(a), self.occurrences(b));
        let of_point = self.points.get(&point).map_or(&[][..], Vec::as_slice);
        let leads = |from: &(BlockId, Pc), to: &(BlockId, Pc)| Self::leads(&self.ahead, *from, *to);
        let is_between = |from, to| of_point.iter().any(|point| between(from, point, to, leads));
        let precedes = |access: &[(BlockId, Pc)]| {
            access.iter().any(|access| of_point.iter().any(|point| leads(access, point)))
        };
        let (common, own) = (self.common_loops(a, b), self.loops_around(of_point));
        Passage {
            is_forward: is_between(a, b),
            is_backward: is_between(b, a),
            is_around: !common.is_disjoint(&own),
            is_inner: !own.is_subset(&common),
            is_last: precedes(a) && precedes(b),
        }
    }

    /// Returns the headers of the loops around a point.
    pub(super) fn loops_of(&self, point: PointId) -> BTreeSet<BlockId> {
        self.loops_around(self.points.get(&point).map_or(&[], Vec::as_slice))
    }

    /// Whether an instruction is in a loop besides some.
    pub(super) fn is_in_further_loop(&self, span: Span, loops: &BTreeSet<BlockId>) -> bool {
        !self.loops_around(self.occurrences(span)).is_subset(loops)
    }

    fn loops_around(&self, places: &[(BlockId, Pc)]) -> BTreeSet<BlockId> {
        places.iter().flat_map(|(block, _)| self.loops[block.index()].iter().copied()).collect()
    }

    fn occurrences(&self, access: Span) -> &[(BlockId, Pc)] {
        self.accesses.get(&access).map_or(&[], Vec::as_slice)
    }

    fn select(&self, is_it: impl Fn(&(BlockId, Pc)) -> bool) -> BTreeSet<PointId> {
        let points = self.points.iter().filter(|(_, places)| places.iter().any(&is_it));
        points.map(|(point, _)| *point).collect()
    }

    fn common_loops(&self, a: &[(BlockId, Pc)], b: &[(BlockId, Pc)]) -> BTreeSet<BlockId> {
        self.loops_around(a).intersection(&self.loops_around(b)).copied().collect()
    }

    fn leads(reached: &[BlockSet], from: (BlockId, Pc), to: (BlockId, Pc)) -> bool {
        from.0 == to.0 && from.1 < to.1 || reached[from.0.index()].contains(to.0)
    }
}

fn between<T>(from: &[T], point: &T, to: &[T], leads: impl Fn(&T, &T) -> bool) -> bool {
    from.iter().any(|from| leads(from, point)) && to.iter().any(|to| leads(point, to))
}

/// Returns for each block those that follow it by edges that are kept.
fn closure(program: &Program, keeps: impl Fn(usize, BlockId) -> bool) -> Vec<BlockSet> {
    let successors: Vec<Vec<BlockId>> = program
        .blocks
        .iter()
        .enumerate()
        .map(|(from, block)| {
            let all = block.terminator.successors().into_iter();
            all.filter(|to| keeps(from, *to)).collect()
        })
        .collect();
    let from = |start: &Vec<BlockId>| {
        let (mut seen, mut work) = (BlockSet::new(successors.len()), start.clone());
        while let Some(block) = work.pop() {
            if seen.insert(block) {
                work.extend(&successors[block.index()]);
            }
        }
        seen
    };
    successors.iter().map(from).collect()
}
