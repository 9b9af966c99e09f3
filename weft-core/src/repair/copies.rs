//! Counts the copies that the compiler makes of a source line.

use std::collections::{BTreeMap, BTreeSet};

use super::existing::{BarrierRole, existing, first_word};
use super::kind::BarrierKind;
use super::points::{chains, spans};
use super::request::Aim;
use crate::explain::site_at;
use crate::finding::{Role, SourceLine};
use crate::flow::{self, BlockId, Instr, Program};
use crate::ptx::isa::Effect;
use crate::ptx::{Module, Span};

/// How many instructions of a module come from each line of its sources: loops are unrolled, functions inlined and templates
/// instantiated. What stands beside a `bar.sync 0` that every thread runs at most once is not counted, since a second barrier
/// there changes nothing; the barrier itself is. Kernels that do not link are left out.
#[derive(Clone, Debug, Default)]
pub struct SourceCopies {
    instructions: BTreeMap<(SourceLine, String), BTreeSet<Span>>,
    /// By file and line, the kernels with such a line of their own.
    kernels: BTreeMap<(String, u32), BTreeSet<Span>>,
}

impl SourceCopies {
    /// Counts the instructions of all kernels of a module.
    pub fn of(module: &Module) -> Self {
        let mut found = Self::default();
        for kernel in module.kernels() {
            let Ok(program) = flow::build(module, kernel) else { continue };
            for place in &program.places {
                if let Some(own) = site_at(module, Role::Here, place, String::new()).source.pop() {
                    found.kernels.entry((own.file, own.line)).or_default().insert(kernel.name);
                }
            }
            let apart = apart_from_barriers(&program);
            for place in program.places.iter().filter(|place| apart.contains(&place.span)) {
                let word = first_word(module.mnemonic_in(place.span));
                for line in site_at(module, Role::Here, place, String::new()).source {
                    found
                        .instructions
                        .entry((line, word.to_owned()))
                        .or_default()
                        .insert(place.span);
                }
            }
        }
        found
    }

    /// Returns the number of instructions of a line whose mnemonics begin with the same word as `mnemonic`: copies of an
    /// access might be of other state spaces.
    pub fn count(&self, line: &SourceLine, mnemonic: &str) -> usize {
        let key = (line.clone(), first_word(mnemonic).to_owned());
        self.instructions.get(&key).map_or(0, BTreeSet::len)
    }

    /// Returns the number of kernels whose own body has a line: several are instances of a template.
    pub fn kernels(&self, line: &SourceLine) -> usize {
        self.kernels.get(&(line.file.clone(), line.line)).map_or(0, BTreeSet::len)
    }
}

/// Returns the instructions of a program without those beside a `bar.sync 0` that every thread runs at most once: between the
/// two there are neither accesses nor branches. An instruction of a function that is linked in several times is left out if
/// that holds of all its copies.
fn apart_from_barriers(program: &Program) -> BTreeSet<Span> {
    let barriers = existing(program, Aim::Minimize);
    let is_barrier = |span: &Span| {
        let own = barriers.get(span);
        own.is_some_and(|own| own.kind == BarrierKind::Cta && own.role == BarrierRole::Optional)
    };
    let after = |block: &BlockId| program.blocks[block.index()].post_dominator;
    let of_all: BTreeSet<BlockId> = std::iter::successors(Some(program.entry), after).collect();
    let is_once =
        |block: &BlockId| of_all.contains(block) && program.blocks[block.index()].loops.is_empty();
    let has_effect = |instr: &&Instr| {
        !matches!(instr.effect(), Effect::Compute | Effect::Opaque | Effect::Nothing)
    };
    let with_effect = program.code.iter().filter(has_effect);
    let mut apart: BTreeSet<Span> =
        with_effect.map(|instr| program.places[instr.place.0 as usize].span).collect();
    let ends: BTreeSet<Span> = apart.iter().copied().filter(|span| !is_barrier(span)).collect();
    for chain in chains(program) {
        let all: Vec<Span> = chain.iter().flat_map(|block| spans(program, *block)).collect();
        let is_of_all = chain.iter().all(is_once);
        let runs = all.split(|span| ends.contains(span));
        apart.extend(runs.filter(|run| !is_of_all || !run.iter().any(is_barrier)).flatten());
    }
    apart
}
