//! Builds the blocks of a program from linked routines: each call of a routine gets blocks of its own, which share the
//! routine's instructions.
//!
//! A path of calls therefore costs one record per block, and everything that works on blocks (the sort order and the
//! merge points, post-dominators, loops, the barrier that a lane waits at) is as if the path were inlined. A machine
//! with a stack of return addresses would need less memory still. But a return that can lead to every caller makes a
//! cycle of calls that only follow each other, and takes two barriers that different calls reach for the same one.

use std::collections::{BTreeMap, BTreeSet};

use super::buffers::StatedBuffers;
use super::error::{LinkErrorKind, MAX_LINES, MAX_NESTING};
use super::linker::{Linked, RoutineId};
use super::pair;
use super::program::{Block, BlockId, Instr, Pc, PlaceId, Program, Terminator};
use super::routine::{self, Routine, RoutineBlock};

/// Builds the program of linked code.
///
/// # Errors
/// Too many blocks, or loops nested too deeply.
pub(super) fn build(linked: Linked) -> Result<Program, LinkErrorKind> {
    let mut routines = Vec::with_capacity(linked.functions.len());
    // Callees come before their callers, the kernel last.
    for function in linked.functions {
        let routine = routine::build(function, &routines)?;
        routines.push(routine);
    }
    let kernel = RoutineId(routines.len() - 1);
    let (mut code, spans_of_code) = place_code(&mut routines);
    pair::settle(&mut code);
    let expansion = Expansion::of(&routines, spans_of_code);
    let size = expansion.sizes[kernel.0];
    if size > MAX_LINES {
        return Err(LinkErrorKind::Size);
    }
    let last = BlockId::at(size);
    let mut blocks = Vec::with_capacity(size + 1);
    let outermost = Path { routine: kernel, first: 0, back: last, last, loops: &[] };
    expansion.expand(outermost, &mut blocks)?;
    blocks.push(Block {
        first: Pc::at(code.len()),
        end: Pc::at(code.len()),
        terminator: Terminator::End,
        place: PlaceId(0),
        post_dominator: None,
        merge: None,
        traps: false,
        loops: Box::new([]),
    });
    Ok(Program {
        entry: BlockId::at(expansion.offset(kernel, routines[kernel.0].entry)),
        spans: spans(&blocks),
        code,
        blocks,
        registers: linked.registers,
        thread_registers: None,
        hands_over: false,
        symbols: linked.symbols,
        params: linked.params,
        fields: Vec::new(),
        guessed: BTreeSet::new(),
        places: linked.places.all,
        static_shared: linked.static_shared,
        placement: linked.placement,
        clusters: linked.clusters,
        buffers: StatedBuffers::default(),
        holds: Vec::new(),
        steps: super::InductionSteps::new(),
        fetches: super::Fetches::new(),
        invariant: super::Chains::new(),
        derived: super::Chains::new(),
        even: super::SteppedOnce::new(),
        is_irreducible: routines.iter().any(|routine| routine.is_irreducible),
    })
}

/// Moves the code of the routines that the kernel reaches into one list; returns the list and, for each routine and
/// block, the block's range in it.
fn place_code(routines: &mut [Routine]) -> (Vec<Instr>, Vec<Vec<(Pc, Pc)>>) {
    let mut is_called = vec![false; routines.len()];
    if let Some(kernel) = is_called.last_mut() {
        *kernel = true;
    }
    for (at, routine) in routines.iter().enumerate().rev() {
        let callees = routine.nodes.iter().filter_map(|node| node.callee);
        if is_called[at] {
            callees.for_each(|callee| is_called[callee.0] = true);
        }
    }
    let mut code = Vec::new();
    let mut places = vec![Vec::new(); routines.len()];
    for (at, routine) in routines.iter_mut().enumerate().filter(|(at, _)| is_called[*at]) {
        code.reserve_exact(routine.nodes.iter().map(|node| node.instrs.len()).sum());
        for node in &mut routine.nodes {
            let first = Pc::at(code.len());
            code.extend(std::mem::take(&mut node.instrs));
            places[at].push((first, Pc::at(code.len())));
        }
    }
    (code, places)
}

/// Routines with the blocks of all their callees put in place of the calls.
struct Expansion<'r> {
    routines: &'r [Routine],
    /// For each routine and block, the block's position in the routine's expansion.
    offsets: Vec<Vec<usize>>,
    /// For each routine, the number of blocks of its expansion.
    sizes: Vec<usize>,
    /// For each routine and block, the range of its code.
    code: Vec<Vec<(Pc, Pc)>>,
}

/// One call of a routine, reached by a chain of other calls.
#[derive(Clone, Copy)]
struct Path<'l> {
    routine: RoutineId,
    /// Its first block in the program.
    first: usize,
    /// The block that the routine returns to.
    back: BlockId,
    /// The block that ends the thread.
    last: BlockId,
    /// The headers of the loops around the call.
    loops: &'l [BlockId],
}

impl<'r> Expansion<'r> {
    fn of(routines: &'r [Routine], code: Vec<Vec<(Pc, Pc)>>) -> Self {
        let (mut offsets, mut sizes) = (Vec::new(), Vec::<usize>::new());
        for routine in routines {
            let mut size = 0_usize;
            let mut ends = Vec::with_capacity(routine.nodes.len());
            for node in &routine.nodes {
                ends.push(size);
                let called = node.callee.map_or(0, |callee| sizes[callee.0]);
                size = size.saturating_add(called).saturating_add(1);
            }
            offsets.push(ends);
            sizes.push(size);
        }
        Self { routines, offsets, sizes, code }
    }

    fn offset(&self, routine: RoutineId, block: BlockId) -> usize {
        self.offsets[routine.0].get(block.index()).copied().unwrap_or(self.sizes[routine.0])
    }

    /// Returns the block of the program that a routine's block becomes on this path.
    fn resolve(&self, path: &Path<'_>, block: BlockId) -> BlockId {
        let count = self.routines[path.routine.0].nodes.len();
        match block.index() {
            at if at < count => BlockId::at(path.first + self.offset(path.routine, block)),
            at if at == count => path.back,
            _ => path.last,
        }
    }

    /// Appends the blocks of a path, and of all calls made from it, to `blocks`.
    fn expand(&self, path: Path<'_>, blocks: &mut Vec<Block>) -> Result<(), LinkErrorKind> {
        let Path { routine, .. } = path;
        for (node, code) in self.routines[routine.0].nodes.iter().zip(&self.code[routine.0]) {
            let block = self.block(&path, node, *code);
            let loops = block.loops.clone();
            if loops.len() > MAX_NESTING {
                return Err(LinkErrorKind::Nesting);
            }
            let Some(routine) = node.callee else {
                blocks.push(block);
                continue;
            };
            let first = blocks.len() + 1;
            let entry = BlockId::at(first + self.offset(routine, self.routines[routine.0].entry));
            let back = match block.terminator {
                Terminator::Goto(back) => back,
                _ => path.last,
            };
            let terminator = Terminator::Goto(entry);
            let passed = Some(entry);
            blocks.push(Block { terminator, post_dominator: passed, merge: passed, ..block });
            self.expand(Path { routine, first, back, last: path.last, loops: &loops }, blocks)?;
        }
        Ok(())
    }

    fn block(&self, path: &Path<'_>, node: &RoutineBlock, (first, end): (Pc, Pc)) -> Block {
        let resolve = |block: &BlockId| self.resolve(path, *block);
        // A block that leads only to the end of the thread never returns to the loops around the call.
        let outer = if node.comes_back { path.loops } else { &[] };
        Block {
            first,
            end,
            terminator: match &node.terminator {
                Terminator::Goto(next) => Terminator::Goto(resolve(next)),
                Terminator::Branch { condition, taken, otherwise } => {
                    let (taken, otherwise) = (resolve(taken), resolve(otherwise));
                    Terminator::Branch { condition: *condition, taken, otherwise }
                }
                Terminator::Switch { index, targets } => {
                    let targets = targets.iter().map(resolve).collect();
                    Terminator::Switch { index: *index, targets }
                }
                Terminator::End => Terminator::End,
            },
            place: node.place,
            post_dominator: node.post_dominator.as_ref().map(resolve),
            merge: node.merge.as_ref().map(resolve),
            traps: node.traps,
            loops: outer.iter().copied().chain(node.loops.iter().map(resolve)).collect(),
        }
    }
}

/// Returns the first and the last block of each loop.
fn spans(blocks: &[Block]) -> BTreeMap<BlockId, (BlockId, BlockId)> {
    let mut spans: BTreeMap<BlockId, (BlockId, BlockId)> = BTreeMap::new();
    for (at, block) in blocks.iter().enumerate() {
        for header in &block.loops {
            spans.entry(*header).or_insert((BlockId::at(at), BlockId::at(at))).1 = BlockId::at(at);
        }
    }
    spans
}
