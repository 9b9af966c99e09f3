//! Weakens the barrier of a cluster (PTX ISA §9.7.13.3). An arrival without its wait, or a wait without its arrival, is no
//! weaker barrier but a wrong one: a barrier is deleted with all arrivals and waits that belong together.

use std::collections::{BTreeMap, BTreeSet};

use super::asm::Asm;
use super::change::Weakening;
use super::paths::{Step, forward};
use crate::flow::{Instr, Pc, Program};
use crate::ptx::Span;
use crate::ptx::isa::{Effect, Modifier, Opcode};

/// The barriers of the cluster in a kernel.
#[derive(Debug, Default)]
pub(super) struct ClusterBarriers {
    /// The arrivals and waits of each barrier: those that some path connects.
    wholes: Vec<BTreeSet<Span>>,
    /// Waits after which no thread arrives again.
    last: BTreeSet<Span>,
}

impl ClusterBarriers {
    pub(super) fn of(program: &Program) -> Self {
        let mut own = Self::default();
        let mut is_last = BTreeMap::new();
        let span = |at: usize| program.place(Pc::at(at)).span;
        for at in 0..program.code.len() {
            match program.code[at].decoded().map(|decoded| decoded.row.opcode) {
                Some(Opcode::ClusterArrive) => {
                    let waits = reached(program, at, Opcode::ClusterWait);
                    own.join(waits.into_iter().map(span).chain([span(at)]).collect());
                }
                Some(Opcode::ClusterWait) => {
                    let ends = reached(program, at, Opcode::ClusterArrive).is_empty();
                    *is_last.entry(span(at)).or_insert(true) &= ends;
                }
                _ => {}
            }
        }
        own.last = is_last.into_iter().filter(|(_, ends)| *ends).map(|(span, _)| span).collect();
        own
    }

    /// Adds instructions that belong to one barrier.
    fn join(&mut self, mut whole: BTreeSet<Span>) {
        self.wholes.retain(|other| {
            let is_apart = other.is_disjoint(&whole);
            if !is_apart {
                whole.extend(other);
            }
            is_apart
        });
        self.wholes.push(whole);
    }

    /// Returns the barrier whose first instruction in the text this is.
    pub(super) fn beginning_at(&self, span: Span) -> Option<&BTreeSet<Span>> {
        self.wholes.iter().find(|whole| whole.first() == Some(&span))
    }

    /// Returns the weaker forms of an instruction, each with the text that replaces it. With a deletion go the other
    /// instructions of its barrier.
    pub(super) fn changes(&self, asm: &Asm<'_>, span: Span) -> Vec<(Weakening, String)> {
        let whole = self.beginning_at(span);
        let mut changes: Vec<_> =
            whole.map(|_| (Weakening::Delete, String::new())).into_iter().collect();
        if self.last.contains(&span) {
            changes.push((Weakening::Arrive, String::new()));
        }
        let is_arrival = asm.decoded.row.opcode == Opcode::ClusterArrive;
        if is_arrival && !asm.decoded.modifiers.has(Modifier::Relaxed) {
            let plain = asm.mnemonic.replacen(".release", "", 1);
            let mnemonic = plain.replacen(".arrive", ".arrive.relaxed", 1);
            changes.push((Weakening::Relaxed, asm.line(&mnemonic, &asm.operands)));
        }
        changes
    }
}

/// Returns the instructions with this opcode that are the next of their barrier on some path.
fn reached(program: &Program, from: usize, opcode: Opcode) -> BTreeSet<usize> {
    let is = |instr: &Instr| instr.decoded().is_some_and(|own| own.row.opcode == opcode);
    let mut found = BTreeSet::new();
    forward(program, from, (), |at, instr, ()| {
        if instr.effect() == Effect::ClusterBarrier && is(instr) {
            found.insert(at);
            return Step::Stop;
        }
        Step::On(())
    });
    found
}
