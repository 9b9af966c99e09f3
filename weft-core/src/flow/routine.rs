//! Cuts one function into blocks in sort order, with post-dominators and natural loops. The function is the kernel with
//! everything that is inlined into it, or a function that is linked in once for all its calls.
//!
//! A block that calls has an edge to the block behind the call, and one to the end of the thread if the thread can end
//! in the callee. Sort order, post-dominators and loops of these graphs, put together along the calls, are the same as
//! those of the graph in which every call is inlined: a callee has one entry, and one way back to each caller. The same
//! holds for the graphs without the edges on which threads trap.

use foldhash::HashMap;

use super::dominators::{immediate_dominators, post_order, reversed};
use super::error::LinkErrorKind;
use super::linker::{Label, LinkedFunction, LinkedLine, RoutineId};
use super::loops::{self, Loops};
use super::program::{BlockId, Condition, Instr, Operand, PlaceId, Terminator};
use super::sort;

/// A block of a routine. Block identifiers count within the routine; two of them follow its blocks: the return to the
/// caller and the end of the thread.
#[derive(Debug)]
pub(super) struct RoutineBlock {
    pub(super) instrs: Vec<Instr>,
    pub(super) terminator: Terminator,
    /// The routine that is called before the terminator.
    pub(super) callee: Option<RoutineId>,
    pub(super) place: PlaceId,
    pub(super) post_dominator: Option<BlockId>,
    /// The post-dominator if threads that trap are ignored.
    pub(super) merge: Option<BlockId>,
    /// Whether the threads that end in this block abort the launch.
    pub(super) traps: bool,
    pub(super) loops: Box<[BlockId]>,
    /// Whether some path from it returns to the caller.
    pub(super) comes_back: bool,
}

/// The blocks of a function in sort order.
#[derive(Debug)]
pub(super) struct Routine {
    pub(super) nodes: Vec<RoutineBlock>,
    pub(super) entry: BlockId,
    outcome: ThreadOutcome,
    /// The outcome if threads that trap are ignored.
    untrapped: ThreadOutcome,
    pub(super) is_irreducible: bool,
}

/// What can happen to a thread in a function.
#[derive(Clone, Copy, Debug)]
struct ThreadOutcome {
    /// The thread can return to the caller.
    returns: bool,
    /// The thread can end, or run for ever.
    ends: bool,
}

/// A block before sorting, in the order of the text.
#[derive(Debug, Default)]
struct Raw {
    instrs: Vec<Instr>,
    end: RawEnd,
    place: Option<PlaceId>,
}

#[derive(Debug, Default)]
enum RawEnd {
    /// Falls into the next block.
    #[default]
    Next,
    Jump(Option<Condition>, Label),
    Switch(Operand, Vec<Label>),
    /// The flag says that the exit aborts the launch.
    Exit(Option<Condition>, bool),
    /// Calls a routine and continues with the next block.
    Call(RoutineId),
}

/// Cuts a function into blocks. `routines` holds the routines that it calls.
///
/// # Errors
/// Loops nested too deeply.
pub(super) fn build(
    function: LinkedFunction,
    routines: &[Routine],
) -> Result<Routine, LinkErrorKind> {
    let (mut raw, labels) = split(function.lines);
    let graph = Graph::of(&raw, &labels, function.ret, routines);
    let shape = FunctionShape::of(graph)?;
    let mut nodes = Vec::with_capacity(shape.order.len());
    for &at in &shape.order {
        let Raw { instrs, end, place } = std::mem::take(&mut raw[at]);
        let traps = matches!(end, RawEnd::Exit(_, true));
        let targets: Vec<_> = shape.successors[at].iter().map(|&to| shape.number[to]).collect();
        let callee = if let RawEnd::Call(callee) = end { Some(callee) } else { None };
        nodes.push(RoutineBlock {
            instrs,
            terminator: terminator(end, &targets),
            callee,
            place: place.unwrap_or(PlaceId(0)),
            post_dominator: shape.paths.post_dominators[at].map(|to| shape.number[to]),
            merge: shape.merge(at).map(|to| shape.number[to]),
            traps,
            loops: shape.loops.headers(at).into_iter().map(|header| shape.number[header]).collect(),
            comes_back: shape.paths.comes_back[at],
        });
    }
    Ok(Routine {
        nodes,
        entry: shape.number[0],
        outcome: shape.paths.outcome,
        untrapped: shape.untrapped.outcome,
        is_irreducible: shape.loops.is_irreducible,
    })
}

/// The graph of a function: its blocks in the order of the text, then the return to its caller, then the end of the
/// thread.
struct Graph {
    successors: Vec<Vec<usize>>,
    /// The same for threads that do not trap.
    untrapped: Vec<Vec<usize>>,
    /// The node of the return. The end follows it.
    back: usize,
}

impl Graph {
    /// `ret`: the label of the return, if there is a caller.
    fn of(
        raw: &[Raw],
        labels: &HashMap<Label, usize>,
        ret: Option<Label>,
        routines: &[Routine],
    ) -> Self {
        let (back, last) = (raw.len(), raw.len() + 1);
        let label = |label: &Label| match labels.get(label) {
            Some(&at) => at,
            None if ret == Some(*label) => back,
            None => last,
        };
        let mut graph = Self { successors: Vec::new(), untrapped: Vec::new(), back };
        for (at, block) in raw.iter().enumerate() {
            // The text of a function is followed by its return.
            let next = if at + 1 < back || ret.is_some() { at + 1 } else { last };
            let called = |ThreadOutcome { returns, ends }: ThreadOutcome| {
                returns.then_some(next).into_iter().chain(ends.then_some(last)).collect()
            };
            let all = match &block.end {
                RawEnd::Next => vec![next],
                RawEnd::Jump(None, target) => vec![label(target)],
                RawEnd::Jump(Some(_), target) => vec![label(target), next],
                RawEnd::Switch(_, targets) => targets.iter().map(label).collect(),
                RawEnd::Exit(None, _) => vec![last],
                RawEnd::Exit(Some(_), _) => vec![last, next],
                RawEnd::Call(callee) => called(routines[callee.0].outcome),
            };
            graph.untrapped.push(match &block.end {
                RawEnd::Exit(_, true) => all[1..].to_vec(),
                RawEnd::Call(callee) => called(routines[callee.0].untrapped),
                _ => all.clone(),
            });
            graph.successors.push(all);
        }
        for successors in [&mut graph.successors, &mut graph.untrapped] {
            successors.extend([vec![last], Vec::new()]);
        }
        graph
    }
}

/// What the graph of a function says about its blocks.
struct FunctionShape {
    successors: Vec<Vec<usize>>,
    loops: Loops,
    /// Blocks in sort order, without the return and the end.
    order: Vec<usize>,
    number: Vec<BlockId>,
    paths: GraphPaths,
    untrapped: GraphPaths,
}

impl FunctionShape {
    fn of(Graph { successors, untrapped, back }: Graph) -> Result<Self, LinkErrorKind> {
        let loops = loops::find(&successors, 0)?;
        let mut reachable = post_order(&successors, 0);
        reachable.sort_unstable();
        let mut order = sort::order(&successors, &reachable, &loops);
        order.retain(|&at| at < back);
        let mut number = vec![BlockId(0); successors.len()];
        for (at, &block) in order.iter().chain(&[back, back + 1]).enumerate() {
            number[block] = BlockId::at(at);
        }
        let paths = GraphPaths::of(&successors, &loops.retreating, back);
        let untrapped = GraphPaths::of(&untrapped, &loops.retreating, back);
        Ok(Self { successors, loops, order, number, paths, untrapped })
    }

    /// Returns the post-dominator of a block if threads that trap are ignored; if all its threads trap, the ordinary
    /// post-dominator.
    fn merge(&self, at: usize) -> Option<usize> {
        self.untrapped.post_dominators[at].or(self.paths.post_dominators[at])
    }
}

/// Where the paths of a graph lead.
struct GraphPaths {
    post_dominators: Vec<Option<usize>>,
    comes_back: Vec<bool>,
    outcome: ThreadOutcome,
}

impl GraphPaths {
    fn of(successors: &[Vec<usize>], retreating: &[(usize, usize)], back: usize) -> Self {
        let last = back + 1;
        let ending = ending(successors, retreating, last);
        let predecessors = reversed(&ending);
        let mut comes_back = vec![false; successors.len()];
        for node in post_order(&predecessors, back) {
            comes_back[node] = true;
        }
        let mut reachable = vec![false; successors.len()];
        for node in post_order(successors, 0) {
            reachable[node] = true;
        }
        let ends = predecessors[last].iter().any(|&from| from != back && reachable[from]);
        Self {
            post_dominators: immediate_dominators(&predecessors, last),
            comes_back,
            outcome: ThreadOutcome { returns: reachable[back], ends },
        }
    }
}

/// Returns the graph with edges to the end added, so that the end is reachable from every node: the last block of an
/// endless loop gets such an edge.
fn ending(
    successors: &[Vec<usize>],
    retreating: &[(usize, usize)],
    last: usize,
) -> Vec<Vec<usize>> {
    let mut successors = successors.to_vec();
    let mut ends = vec![false; successors.len()];
    for node in post_order(&reversed(&successors), last) {
        ends[node] = true;
    }
    for &(latch, _) in retreating.iter().filter(|(latch, _)| !ends[*latch]) {
        successors[latch].push(last);
    }
    successors
}

fn terminator(end: RawEnd, targets: &[BlockId]) -> Terminator {
    match (end, targets) {
        (
            RawEnd::Jump(Some(condition), _) | RawEnd::Exit(Some(condition), _),
            &[taken, otherwise],
        ) => {
            if taken == otherwise {
                Terminator::Goto(taken)
            } else {
                Terminator::Branch { condition, taken, otherwise }
            }
        }
        (RawEnd::Switch(index, _), targets) => {
            Terminator::Switch { index, targets: targets.into() }
        }
        (_, &[next, ..]) => Terminator::Goto(next),
        (_, []) => Terminator::End,
    }
}

/// Cuts lines into blocks. An instruction that waits for other threads ends a block, and so does a call.
fn split(lines: Vec<LinkedLine>) -> (Vec<Raw>, HashMap<Label, usize>) {
    let mut raw = vec![Raw::default()];
    let mut labels = HashMap::default();
    let mut is_open = true;
    for line in lines {
        let starts = matches!(line, LinkedLine::Label(_));
        let is_fresh = raw.last().is_some_and(|block| block.instrs.is_empty());
        if !is_open || (starts && !is_fresh) {
            raw.push(Raw::default());
            is_open = true;
        }
        let at = raw.len() - 1;
        let block = &mut raw[at];
        let end = match line {
            LinkedLine::Label(label) => {
                labels.insert(label, at);
                continue;
            }
            LinkedLine::Instr(instr) => {
                is_open = !instr.waits();
                block.place = Some(instr.place);
                block.instrs.push(instr);
                continue;
            }
            LinkedLine::Enter(_) => continue,
            LinkedLine::Jump { condition, target, place } => {
                (RawEnd::Jump(condition, target), place)
            }
            LinkedLine::Switch { index, targets, place } => (RawEnd::Switch(index, targets), place),
            LinkedLine::Exit { condition, place, traps } => (RawEnd::Exit(condition, traps), place),
            LinkedLine::Call { routine, place } => (RawEnd::Call(routine), place),
        };
        (block.end, block.place, is_open) = (end.0, Some(end.1), false);
    }
    (raw, labels)
}
