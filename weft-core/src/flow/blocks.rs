//! Linked lines to basic blocks in sort order, with post-dominators.

use std::collections::HashMap;

use super::dominators::{immediate_dominators, post_order, reversed};
use super::link::{Label, Line, Linked};
use super::loops;
use super::program::{Block, BlockId, Condition, Instr, Operand, Pc, PlaceId, Program, Terminator};
use super::sort;

/// A block in the order of the text; successors are indices of such blocks.
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
    /// The flag says that the launch is aborted.
    Exit(Option<Condition>, bool),
}

/// Builds the program.
pub(super) fn build(linked: Linked) -> Program {
    let (raw, labels) = split(linked.lines);
    let last = raw.len();
    let label = |label: &Label| labels.get(label).copied().unwrap_or(last);
    let mut successors: Vec<Vec<usize>> = Vec::with_capacity(raw.len() + 1);
    for (at, block) in raw.iter().enumerate() {
        let next = at + 1;
        successors.push(match &block.end {
            RawEnd::Next => vec![next],
            RawEnd::Jump(None, target) => vec![label(target)],
            RawEnd::Jump(Some(_), target) => vec![label(target), next],
            RawEnd::Switch(_, targets) => targets.iter().map(label).collect(),
            RawEnd::Exit(None, _) => vec![last],
            RawEnd::Exit(Some(_), _) => vec![last, next],
        });
    }
    successors.push(Vec::new());
    let loops = loops::find(&successors, 0);
    let mut reachable = post_order(&successors, 0);
    if !reachable.contains(&last) {
        reachable.push(last);
    }
    reachable.sort_unstable();
    let order = sort::order(&successors, &reachable, &loops);
    let mut number = vec![BlockId(0); successors.len()];
    for (at, &block) in order.iter().enumerate() {
        number[block] = BlockId(u32::try_from(at).unwrap_or(u32::MAX));
    }
    let merges = post_dominators(&without_traps(&raw, &successors), &loops.retreating, last);
    let post_dominators = post_dominators(&successors, &loops.retreating, last);
    let mut program = Program {
        code: Vec::new(),
        blocks: Vec::with_capacity(order.len()),
        registers: linked.registers,
        symbols: linked.symbols,
        params: linked.params,
        fields: Vec::new(),
        places: linked.places,
        static_shared: linked.static_shared,
        entry: number[0],
        holds: Vec::new(),
        steps: super::Steps::new(),
        fetches: super::Fetches::new(),
        even: super::Even::new(),
        is_irreducible: loops.is_irreducible,
    };
    let mut raw: Vec<Raw> = raw;
    for &block in &order {
        let Raw { instrs, end, place } = raw.get_mut(block).map(std::mem::take).unwrap_or_default();
        let traps = matches!(end, RawEnd::Exit(_, true));
        let targets: Vec<_> = successors[block].iter().map(|&to| number[to]).collect();
        let first = pc(program.code.len());
        program.code.extend(instrs);
        program.blocks.push(Block {
            first,
            end: pc(program.code.len()),
            terminator: terminator(end, &targets),
            place: place.unwrap_or(PlaceId(0)),
            post_dominator: post_dominators[block].map(|to| number[to]),
            merge: merges[block].or(post_dominators[block]).map(|to| number[to]),
            traps,
            loops: loops.headers(block).into_iter().map(|header| number[header]).collect(),
        });
    }
    program
}

fn pc(at: usize) -> Pc {
    Pc(u32::try_from(at).unwrap_or(u32::MAX))
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

/// Cuts lines into blocks. What waits for other threads stands alone.
fn split(lines: Vec<Line>) -> (Vec<Raw>, HashMap<Label, usize>) {
    let mut raw = vec![Raw::default()];
    let mut labels = HashMap::new();
    let mut is_open = true;
    for line in lines {
        let starts = match &line {
            Line::Label(_) => true,
            Line::Instr(instr) => instr.waits(),
            _ => false,
        };
        let is_fresh = raw.last().is_some_and(|block| block.instrs.is_empty());
        if !is_open || (starts && !is_fresh) {
            raw.push(Raw::default());
            is_open = true;
        }
        let at = raw.len() - 1;
        let block = &mut raw[at];
        match line {
            Line::Label(label) => {
                labels.insert(label, at);
            }
            Line::Instr(instr) => {
                is_open = !instr.waits();
                block.place = Some(instr.place);
                block.instrs.push(instr);
            }
            Line::Jump { condition, target, place } => {
                (block.end, block.place, is_open) =
                    (RawEnd::Jump(condition, target), Some(place), false);
            }
            Line::Switch { index, targets, place } => {
                (block.end, block.place, is_open) =
                    (RawEnd::Switch(index, targets), Some(place), false);
            }
            Line::Exit { condition, place, traps } => {
                (block.end, block.place, is_open) =
                    (RawEnd::Exit(condition, traps), Some(place), false);
            }
        }
    }
    (raw, labels)
}

/// The edges that threads take which do not abort the launch.
fn without_traps(raw: &[Raw], successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut successors = successors.to_vec();
    for (block, own) in raw.iter().zip(&mut successors) {
        if let RawEnd::Exit(_, true) = block.end {
            own.remove(0);
        }
    }
    successors
}

/// The edges that close an endless loop are taken to lead to the end as well.
fn post_dominators(
    successors: &[Vec<usize>],
    retreating: &[(usize, usize)],
    last: usize,
) -> Vec<Option<usize>> {
    let mut successors = successors.to_vec();
    let mut ends = vec![false; successors.len()];
    for node in post_order(&reversed(&successors), last) {
        ends[node] = true;
    }
    for &(latch, _) in retreating.iter().filter(|(latch, _)| !ends[*latch]) {
        successors[latch].push(last);
    }
    immediate_dominators(&reversed(&successors), last)
}
