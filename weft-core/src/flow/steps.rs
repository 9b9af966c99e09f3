//! Finds induction registers: registers that a loop only adds to. Their values before and after any number of
//! iterations differ by a multiple of what is added in one.
//!
//! Compilers emit `next = own + step` and, somewhere behind it, `own = next`. A definition of a register steps it if
//! the definition leads back to the register through sums with operands that the loop does not define or that are
//! invariant. Each register on the way, and each one that is added, has either no definition in the loop, or one that
//! is unguarded and dominates its use, so that no value from before the loop can get in.

use std::collections::{HashMap, HashSet};

use super::derived::Chains;
use super::loop_definitions::{DefSite, Dominators, Inside};
use super::program::{Address, BlockId, Instr, Operand, Pc, Program, Reg};
use crate::ptx::isa::{Effect, Modifier, Opcode};

/// The amount that one definition adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InductionStep {
    /// The operands that are added; the flag says that an operand is subtracted.
    pub amounts: Vec<(Operand, bool)>,
    /// The width in bits at which the sum wraps around: 32 or 64.
    pub bits: u32,
}

/// For each loop header and induction register, what each of its definitions in the loop adds.
pub type InductionSteps = HashMap<(BlockId, Reg), Vec<InductionStep>>;

/// For each loop header and register, the atomics of the loop that return the register's values, at addresses that the
/// loop does not define.
pub type Fetches = HashMap<(BlockId, Reg), Vec<Pc>>;

/// Pairs of loop header and register that one definition steps exactly once in every iteration.
pub type SteppedOnce = HashSet<(BlockId, Reg)>;

/// The most copies and sums between a definition and its register.
const MAX_LINKS: usize = 16;

/// Finds the induction registers of all loops, the registers that atomics define, and those stepped once in every
/// iteration.
pub(super) fn find(
    program: &Program,
    invariant: &Chains,
) -> (InductionSteps, Fetches, SteppedOnce) {
    let (mut steps, mut fetches, mut even) =
        (InductionSteps::new(), Fetches::new(), SteppedOnce::new());
    let graph = Dominators::of(program);
    for &header in program.spans.keys() {
        let inside = Inside::of(program, &graph, header);
        for (register, definitions) in &inside.definitions {
            let all: Option<Vec<_>> = definitions
                .iter()
                .map(|at| inside.step((header, *register), *at, invariant))
                .collect();
            if let Some(all) = all {
                steps.insert((header, *register), all);
                if inside.is_even(header, definitions) {
                    even.insert((header, *register));
                }
                continue;
            }
            let all: Option<Vec<_>> = definitions.iter().map(|at| inside.fetch(*at)).collect();
            if let Some(all) = all {
                fetches.insert((header, *register), all);
            }
        }
    }
    (steps, fetches, even)
}

impl Inside<'_> {
    /// Returns what a definition adds to its register, if it leads back to the register.
    fn step(
        &self,
        (header, register): (BlockId, Reg),
        definition: DefSite,
        invariant: &Chains,
    ) -> Option<InductionStep> {
        // An invariant register that is not defined before the use still holds its value from before the loop.
        let is_defined =
            |dest: &Reg, at: DefSite| match self.definitions.get(dest).map(Vec::as_slice) {
                Some([only]) => {
                    invariant.contains_key(&(header, *dest)) && self.graph.is_before(*only, at)
                }
                Some(_) => false,
                None => true,
            };
        let is_variable = |operand: &Operand, at: DefSite| match operand {
            Operand::Register(register) => !is_defined(register, at),
            Operand::Constant(_) | Operand::Variable { .. } | Operand::Special(_) => false,
            Operand::Not(_) | Operand::Opaque | Operand::Unset => true,
        };
        let mut step = InductionStep { amounts: Vec::new(), bits: 64 };
        let mut at = definition;
        for _ in 0..MAX_LINKS {
            let instr = &self.program.code[at.pc.index()];
            let (source, amount) = link(instr, |operand| is_variable(operand, at))?;
            step.amounts.extend(amount);
            step.bits = step.bits.min(instr.decoded()?.ty().bits());
            if source == register {
                return Some(step);
            }
            let [only] = self.definitions.get(&source)?.as_slice() else { return None };
            let is_whole = self.program.code[only.pc.index()].guard.is_none();
            if !is_whole || !self.graph.is_before(*only, at) {
                return None;
            }
            at = *only;
        }
        None
    }

    /// Whether there is one definition, and every iteration runs it exactly once.
    fn is_even(&self, header: BlockId, definitions: &[DefSite]) -> bool {
        let &[only] = definitions else { return false };
        let blocks = &self.program.blocks;
        let block = only.block;
        let is_latch = |at: &BlockId| blocks[at.index()].terminator.successors().contains(&header);
        let passes = |at: BlockId| at.index() == block || self.graph.dominates(block, at.index());
        self.program.code[only.pc.index()].guard.is_none()
            && blocks[block].loops.last() == Some(&header)
            && self.program.blocks_in(header).filter(is_latch).all(passes)
    }

    /// Returns the atomic whose result a definition puts into its register.
    fn fetch(&self, definition: DefSite) -> Option<Pc> {
        let instr = &self.program.code[definition.pc.index()];
        if let (Some(Opcode::Mov), [Operand::Register(source)]) =
            (instr.decoded().map(|decoded| decoded.row.opcode), &*instr.sources)
        {
            let [only] = self.definitions.get(source)?.as_slice() else { return None };
            let is_atomic = self.program.code[only.pc.index()].effect() == Effect::Atomic;
            let is_before = self.graph.is_before(*only, definition);
            return if is_atomic && is_before { self.fetch(*only) } else { None };
        }
        let is_fixed =
            |at: Address| at.base.is_none_or(|register| !self.definitions.contains_key(&register));
        let is_fetch = instr.effect() == Effect::Atomic
            && instr.guard.is_none()
            && instr.dests.len() == 1
            && instr.address.is_some_and(is_fixed);
        is_fetch.then_some(definition.pc)
    }
}

/// Returns the register that an instruction copies or adds to, and the operand that it adds or, if the flag is set,
/// subtracts.
fn link(
    instr: &Instr,
    is_inside: impl Fn(&Operand) -> bool,
) -> Option<(Reg, Option<(Operand, bool)>)> {
    let decoded = instr.decoded()?;
    let is_plain = decoded.modifiers.first_of(&[Modifier::Sat, Modifier::Cc]).is_none()
        && !(decoded.ty().is_float() || decoded.ty().is_packed())
        && matches!(decoded.ty().bits(), 32 | 64);
    if !is_plain || instr.dests.len() != 1 {
        return None;
    }
    // A conversion to an unsigned type of the same size cuts off what a wider register holds above it.
    let from = decoded.source_type();
    let cuts = from.bits() == decoded.ty().bits() && !(from.is_float() || decoded.ty().is_signed());
    match (decoded.row.opcode, &*instr.sources) {
        (Opcode::Mov, [Operand::Register(source)]) => Some((*source, None)),
        (Opcode::Cvt, [Operand::Register(source)]) if cuts => Some((*source, None)),
        (Opcode::Add, [Operand::Register(source), amount]) if !is_inside(amount) => {
            Some((*source, Some((*amount, false))))
        }
        (Opcode::Add, [amount, Operand::Register(source)]) if !is_inside(amount) => {
            Some((*source, Some((*amount, false))))
        }
        (Opcode::Sub, [Operand::Register(source), amount]) if !is_inside(amount) => {
            Some((*source, Some((*amount, true))))
        }
        _ => None,
    }
}
