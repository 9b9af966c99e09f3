//! Finds registers of loops whose values follow from others by arithmetic alone. *Invariant* registers are computed in
//! every iteration from registers that the loop does not define. *Derived* registers have one definition, which
//! computes them from what other registers hold when an iteration begins. Each comes with the instructions that compute
//! it, in order.

use std::collections::HashMap;

use super::loop_definitions::{DefSite, Dominators, Inside};
use super::program::{BlockId, Instr, Operand, Pc, Program, Reg};
use super::special::Special;
use crate::ptx::isa::Effect;

/// For each loop header and register, the instructions that compute the register.
pub type Chains = HashMap<(BlockId, Reg), Vec<Pc>>;

/// The most instructions of one chain.
const MAX_CHAIN: usize = 16;

/// Returns the invariant registers and the derived ones.
pub(super) fn find(program: &Program) -> (Chains, Chains) {
    let (mut invariant, mut derived) = (Chains::new(), Chains::new());
    let graph = Dominators::of(program);
    for &header in program.spans.keys() {
        let inside = Inside::of(program, &graph, header);
        for (&register, definitions) in &inside.definitions {
            let &[only] = definitions.as_slice() else { continue };
            let chain = |is_invariant| {
                let mut chain = Vec::new();
                let finder = Finder { inside: &inside, header, is_invariant };
                finder.follow(only, &mut chain)?;
                chain.sort_unstable();
                chain.dedup();
                Some(chain.into_iter().map(|(_, pc)| pc).collect())
            };
            if let Some(chain) = chain(true) {
                invariant.insert((header, register), chain);
            } else if let Some(chain) = chain(false) {
                derived.insert((header, register), chain);
            }
        }
    }
    (invariant, derived)
}

struct Finder<'a, 'p> {
    inside: &'a Inside<'p>,
    header: BlockId,
    /// Whether values from an earlier iteration are excluded.
    is_invariant: bool,
}

impl Finder<'_, '_> {
    /// Adds the instructions that a definition needs, and the definition itself; `None` if it needs more than
    /// arithmetic.
    fn follow(&self, at: DefSite, chain: &mut Vec<(usize, Pc)>) -> Option<()> {
        let program = self.inside.program;
        let instr = &program.code[at.pc.index()];
        // A definition in an inner loop can run more than once in an iteration.
        let is_once = program.blocks[at.block].loops.last() == Some(&self.header);
        let is_changing = |source: &Operand| {
            matches!(source, Operand::Special(Special::Other) | Operand::Opaque | Operand::Unset)
        };
        let changes = instr.sources.iter().any(is_changing);
        let is_plain =
            is_once && instr.guard.is_none() && instr.effect() == Effect::Compute && !changes;
        if !is_plain || instr.decoded().is_none() || chain.len() >= MAX_CHAIN {
            return None;
        }
        chain.push((at.block, at.pc));
        for register in read(instr) {
            let Some(definitions) = self.inside.definitions.get(&register) else { continue };
            let &[only] = definitions.as_slice() else { return None };
            let graph = self.inside.graph;
            // A register that is defined later in the iteration still holds its value from the beginning of the
            // iteration.
            let is_carried = only == at || graph.is_before(at, only);
            if graph.is_before(only, at) {
                if !chain.contains(&(only.block, only.pc)) {
                    self.follow(only, chain)?;
                }
            } else if self.is_invariant || !is_carried {
                return None;
            }
        }
        Some(())
    }
}

fn read(instr: &Instr) -> impl Iterator<Item = Reg> {
    instr.sources.iter().filter_map(|operand| match operand {
        Operand::Register(register) | Operand::Not(register) => Some(*register),
        _ => None,
    })
}
