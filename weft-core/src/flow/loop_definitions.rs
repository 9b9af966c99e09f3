//! The places where a loop defines registers, and which definition comes before which.

use std::collections::BTreeMap;

use super::dominators::Dominance;
use super::program::{BlockId, Pc, Program, Reg};

/// A definition: an instruction, and one of the blocks that contain it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(super) struct DefSite {
    pub(super) block: usize,
    pub(super) pc: Pc,
}

/// The dominance relation between the blocks of a program.
pub(super) struct Dominators {
    dominance: Dominance,
}

impl Dominators {
    pub(super) fn of(program: &Program) -> Self {
        let successors = |block: &super::Block| {
            block.terminator.successors().into_iter().map(BlockId::index).collect()
        };
        let graph: Vec<_> = program.blocks.iter().map(successors).collect();
        Self { dominance: Dominance::of(&graph, program.entry.index()) }
    }

    /// Whether every path to `b` passes `a` first.
    pub(super) fn is_before(&self, a: DefSite, b: DefSite) -> bool {
        if a.block == b.block { a.pc < b.pc } else { self.dominates(a.block, b.block) }
    }

    /// Whether every path to the second block passes the first one before.
    pub(super) fn dominates(&self, first: usize, second: usize) -> bool {
        first != second && self.dominance.dominates(first, second)
    }
}

/// The definitions inside a loop, by register.
pub(super) struct Inside<'p> {
    pub(super) program: &'p Program,
    pub(super) graph: &'p Dominators,
    pub(super) definitions: BTreeMap<Reg, Vec<DefSite>>,
}

impl<'p> Inside<'p> {
    pub(super) fn of(program: &'p Program, graph: &'p Dominators, header: BlockId) -> Self {
        let mut definitions: BTreeMap<Reg, Vec<DefSite>> = BTreeMap::new();
        for id in program.blocks_in(header) {
            for (pc, instr) in program.instructions(id) {
                for dest in instr.dests.iter().flatten() {
                    definitions.entry(*dest).or_default().push(DefSite { block: id.index(), pc });
                }
            }
        }
        Self { program, graph, definitions }
    }
}
