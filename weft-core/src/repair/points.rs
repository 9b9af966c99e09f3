//! Points: places in the text of a kernel where a barrier can stand, one for each segment between racing
//! accesses, waits for asynchronous copies and fences between proxies.

use std::collections::{BTreeMap, BTreeSet};

use super::existing::{BarrierRole, Existing, first_word};
use super::kind::BarrierKind;
use crate::flow::{BlockId, Pc, Program, Terminator};
use crate::ptx::isa::{Decoded, Effect};
use crate::ptx::{Module, Span, Statement};

/// An index into the points of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct PointId(pub(super) usize);

/// Where a point lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Anchor {
    /// In front of an instruction, behind its labels; or in front of a label, behind another one.
    Before(Span),
    /// Behind an instruction, in front of the labels that follow.
    After(Span),
    /// Where a barrier of this kind stands already, which can go.
    At(Span, BarrierKind),
}

impl Anchor {
    /// The instruction or label beside the point, or the barrier that stands there.
    pub(super) const fn span(self) -> Span {
        match self {
            Self::Before(span) | Self::After(span) | Self::At(span, _) => span,
        }
    }
}

/// A point, and the instruction at the other end of its segment if that is an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Point {
    pub(super) anchor: Anchor,
    /// In the block of `anchor`; a barrier in front of it does the same.
    pub(super) right: Option<Span>,
}

/// Instructions between two accesses or waits for copies, or between one of these and an end of their blocks.
#[derive(Default)]
struct InstructionRun {
    left: Option<Span>,
    between: Vec<Span>,
}

/// Returns the points of a program, in the order of the text. `accesses`: the instructions that race; `existing`: the
/// barriers of the kernel.
pub(super) fn points(
    module: &Module,
    program: &Program,
    accesses: &BTreeSet<Span>,
    existing: &BTreeMap<Span, Existing>,
) -> Vec<Point> {
    let mut found = BTreeMap::new();
    // A barrier in front of a wait for copies, or of a fence between proxies, orders other accesses than one behind it.
    let waits: BTreeSet<Span> = (0..program.code.len())
        .map(Pc::at)
        .filter(|pc| {
            let instr = &program.code[pc.index()];
            let is_of_tensor = instr.decoded().is_some_and(Decoded::is_tensor_wait);
            is_of_tensor || matches!(instr.effect(), Effect::CopyGroup | Effect::ProxyFence)
        })
        .map(|pc| program.place(pc).span)
        .collect();
    for chain in chains(program) {
        let mut segment = InstructionRun::default();
        let spans = chain.iter().flat_map(|block| spans(program, *block));
        for span in spans {
            if accesses.contains(&span) || waits.contains(&span) {
                found.extend(segment.points(module, existing, Some(span)));
                segment = InstructionRun { left: Some(span), ..InstructionRun::default() };
            } else {
                segment.between.push(span);
            }
        }
        found.extend(segment.points(module, existing, None));
    }
    found.extend(empty_sides(module, program).map(|anchor| (anchor, None)));
    found.extend(later_labels(module, program).map(|label| (Anchor::Before(label), None)));
    // What registers of a scope hold when it is entered has the place of the function's name.
    let names: BTreeSet<Span> = module.functions.iter().map(|function| function.name).collect();
    found.retain(|anchor, _| !names.contains(&anchor.span()));
    let mut found: Vec<Point> =
        found.into_iter().map(|(anchor, right)| Point { anchor, right }).collect();
    found.sort_by_key(|point| (point.anchor.span(), point.anchor));
    found
}

/// Returns the places on the sides of branches that have no instruction, or nothing but a jump: a barrier can be all that
/// such a side is for.
fn empty_sides(module: &Module, program: &Program) -> impl Iterator<Item = Anchor> {
    let predecessors = predecessors(program);
    program.blocks.iter().filter_map(move |block| {
        let span = program.places[block.place.0 as usize].span;
        if first_word(module.mnemonic_in(span)) != "bra" {
            return None;
        }
        match block.terminator {
            Terminator::Goto(_) if block.first == block.end => Some(Anchor::Before(span)),
            Terminator::Branch { taken, otherwise, .. } => {
                let is_end_of_loop = [taken, otherwise].iter().any(|to| block.loops.contains(to));
                let is_empty = predecessors[otherwise.index()] > 1 && !is_end_of_loop;
                is_empty.then_some(Anchor::After(span))
            }
            _ => None,
        }
    })
}

/// Returns the labels of a program that stand directly behind another one. Between the two is a place of its own: those who
/// jump to the first come by it, such as to the front of a loop, and those who jump to the second do not.
pub(super) fn later_labels(module: &Module, program: &Program) -> impl Iterator<Item = Span> {
    let places: BTreeSet<Span> = program.places.iter().map(|place| place.span).collect();
    let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
    let (mut labels, mut later) = (Vec::new(), Vec::new());
    for statement in bodies.flat_map(|body| &body.statements) {
        match statement {
            Statement::Label(label) => labels.push(*label),
            Statement::Loc(_) => {}
            Statement::Instruction(instruction) if places.contains(&instruction.span) => {
                later.extend(labels.drain(..).skip(1));
            }
            _ => labels.clear(),
        }
    }
    later.into_iter()
}

fn predecessors(program: &Program) -> Vec<usize> {
    let mut predecessors = vec![0; program.blocks.len()];
    for block in &program.blocks {
        block.terminator.successors().iter().for_each(|next| predecessors[next.index()] += 1);
    }
    predecessors
}

impl InstructionRun {
    /// Returns the barriers in the segment that can go; if there are none, one point, unless a barrier is there anyway.
    fn points(
        &self,
        module: &Module,
        existing: &BTreeMap<Span, Existing>,
        right: Option<Span>,
    ) -> Vec<(Anchor, Option<Span>)> {
        let barriers = self.between.iter().filter_map(|span| Some((*span, existing.get(span)?)));
        let (mut own, mut is_fixed) = (Vec::new(), false);
        for (span, barrier) in barriers {
            match barrier.role {
                BarrierRole::Optional => own.push((Anchor::At(span, barrier.kind), None)),
                BarrierRole::Fixed => is_fixed |= barrier.kind == BarrierKind::Cta,
            }
        }
        if !own.is_empty() || is_fixed {
            return own;
        }
        let mut inner = self.between.iter().filter(|span| !is_of_call(module, **span));
        let point = match (self.left, right) {
            (Some(left), _) => Some(Anchor::After(left)),
            (None, Some(right)) => Some(Anchor::Before(right)),
            (None, None) => inner.next().map(|span| Anchor::Before(*span)),
        };
        point.map(|anchor| (anchor, right)).into_iter().collect()
    }
}

/// Whether an instruction belongs to the sequence of a call, which nothing else may interrupt (PTX ISA §7.1).
fn is_of_call(module: &Module, span: Span) -> bool {
    let text = module.name(span);
    ["call", "st.param", "ld.param"].iter().any(|word| text.contains(word))
}

/// Returns the blocks of a program in runs without a branch: a block that ends with a barrier continues in the next one.
pub(super) fn chains(program: &Program) -> Vec<Vec<BlockId>> {
    let predecessors = predecessors(program);
    let next = |block: BlockId| {
        let waits = program.instructions(block).last().is_some_and(|(_, last)| last.waits());
        match program.blocks[block.index()].terminator {
            Terminator::Goto(next) if waits && predecessors[next.index()] == 1 => Some(next),
            _ => None,
        }
    };
    let all = || (0..program.blocks.len()).map(BlockId::at);
    let inner: BTreeSet<BlockId> = all().filter_map(next).collect();
    let starts = all().filter(|block| !inner.contains(block));
    starts.map(|first| std::iter::successors(Some(first), |block| next(*block)).collect()).collect()
}

/// Returns the instructions of a block in the order of their execution, its branch last.
pub(super) fn spans(program: &Program, block: BlockId) -> Vec<Span> {
    let mut spans: Vec<Span> =
        program.instructions(block).map(|(pc, _)| program.place(pc).span).collect();
    let own = &program.blocks[block.index()];
    if own.first != own.end || !matches!(own.terminator, Terminator::Goto(_)) {
        spans.push(program.places[own.place.0 as usize].span);
    }
    spans.dedup();
    spans
}
