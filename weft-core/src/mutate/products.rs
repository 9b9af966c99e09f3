//! Finds groups of products and waits for them that registers do not need (PTX ISA §9.7.15.5). The checker does not follow
//! when a product reads and writes registers, so that a mutant would be clean that is none: accumulators have to be left alone
//! until their group has been waited for.

use std::collections::BTreeSet;

use super::paths::{Step, forward};
use crate::flow::{Instr, Operand, Program, Reg};
use crate::ptx::isa::{Effect, Opcode};

/// The registers of the products of a kernel.
#[derive(Debug)]
pub(super) struct ProductRegisters {
    accumulators: BTreeSet<Reg>,
    /// Whether some product has more registers than are known: those of matrix A.
    has_more: bool,
}

impl ProductRegisters {
    pub(super) fn of(program: &Program) -> Self {
        let products = || program.code.iter().filter(|instr| instr.effect() == Effect::Multiply);
        Self {
            accumulators: products()
                .flat_map(|instr| instr.dests.iter().flatten().copied())
                .collect(),
            has_more: products().any(|instr| instr.descriptors().count() < 2),
        }
    }

    /// Whether a register might need what makes a group or waits for groups: a path leads to an access of it before another
    /// wait does the same.
    pub(super) fn need(&self, program: &Program, at: usize) -> bool {
        if self.has_more {
            return true;
        }
        // A deleted group is that of the products behind it, if there are any, and only a wait for all is one for it then.
        let most = groups(&program.code[at]).unwrap_or(0);
        let is_grouped = opcode(&program.code[at]) == Some(Opcode::WgmmaWait);
        let mut is_needed = false;
        forward(program, at, is_grouped, |_, instr, is_grouped| match opcode(instr) {
            Some(Opcode::WgmmaCommit) => Step::On(true),
            Some(Opcode::WgmmaWait) if is_grouped && groups(instr).is_some_and(|n| n <= most) => {
                Step::Stop
            }
            _ => {
                is_needed |= instr.effect() != Effect::Multiply && self.are_used_by(instr);
                Step::On(is_grouped)
            }
        });
        is_needed
    }

    fn are_used_by(&self, instr: &Instr) -> bool {
        let mut written = instr.dests.iter().flatten().copied();
        written.any(|own| self.accumulators.contains(&own))
            || instr.reads().any(|own| self.accumulators.contains(&own))
    }
}

/// Whether an instruction makes groups of products or waits for them.
pub(super) fn is_of_products(instr: &Instr) -> bool {
    matches!(opcode(instr), Some(Opcode::WgmmaCommit | Opcode::WgmmaWait))
}

fn opcode(instr: &Instr) -> Option<Opcode> {
    instr.decoded().map(|decoded| decoded.row.opcode)
}

/// Returns the number of groups that a wait leaves in flight.
fn groups(instr: &Instr) -> Option<u64> {
    match instr.sources.first() {
        Some(Operand::Constant(groups)) => Some(*groups),
        _ => None,
    }
}
