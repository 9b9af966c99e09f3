//! The barriers that a kernel has.

use std::collections::{BTreeMap, BTreeSet};

use super::kind::BarrierKind;
use super::request::Aim;
use crate::explain::site_at;
use crate::finding::{self, Site, SourceLine};
use crate::flow::{self, Instr, Operand, Place, Program};
use crate::ptx::isa::Effect;
use crate::ptx::{Function, Module, Span};

/// Whether a repair can remove a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BarrierRole {
    /// It can go, or stand elsewhere.
    Optional,
    /// It stays.
    Fixed,
}

/// A barrier that all threads of a cta or all lanes of a warp wait at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Existing {
    pub(super) kind: BarrierKind,
    pub(super) role: BarrierRole,
}

/// Returns the barriers of a program that wait for all threads of the cta or all lanes of a warp. Others, such as those
/// with a thread count, are no business of a repair. Only `bar.sync 0` and `bar.warp.sync` of all lanes, without a
/// guard, can go.
pub(super) fn existing(program: &Program, aim: Aim) -> BTreeMap<Span, Existing> {
    let mut found = BTreeMap::new();
    for instr in &program.code {
        let kind = match instr.effect() {
            Effect::Barrier if instr.waits() && instr.sources.len() == 1 => BarrierKind::Cta,
            Effect::WarpBarrier => BarrierKind::Warp,
            _ => continue,
        };
        let first = match instr.sources.first() {
            Some(Operand::Constant(value)) => Some(*value),
            _ => None,
        };
        let is_all = match kind {
            BarrierKind::Cta => first == Some(0),
            BarrierKind::Warp => first.map(|mask| mask & 0xffff_ffff) == Some(0xffff_ffff),
        };
        if instr.guard.is_some() || kind == BarrierKind::Warp && !is_all {
            continue;
        }
        let role =
            if is_all && aim == Aim::Minimize { BarrierRole::Optional } else { BarrierRole::Fixed };
        let span = program.places[instr.place.0 as usize].span;
        found.insert(span, Existing { kind, role });
    }
    found
}

/// Whether a program has barriers that only some threads wait at, so that some threads can tell others what they learnt at
/// another barrier.
pub(super) fn has_partial(program: &Program, existing: &BTreeMap<Span, Existing>) -> bool {
    let is_barrier =
        |instr: &&Instr| matches!(instr.effect(), Effect::Barrier | Effect::WarpBarrier);
    let place = |instr: &Instr| program.places[instr.place.0 as usize].span;
    program.code.iter().filter(is_barrier).any(|instr| !existing.contains_key(&place(instr)))
}

/// A barrier of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Barrier {
    /// Who waits.
    pub kind: BarrierKind,
    /// Whether a repair that minimizes can remove it.
    pub can_go: bool,
    /// Where it stands.
    pub site: Site,
}

/// Returns the barriers of a kernel that wait for all threads of the cta or all lanes of a warp; none for a kernel that
/// does not link.
pub fn barriers(module: &Module, kernel: &Function) -> Vec<Barrier> {
    let Ok(program) = flow::build(module, kernel) else { return Vec::new() };
    let found = existing(&program, Aim::Minimize);
    let barrier = |place: &Place| {
        let Existing { kind, role } = *found.get(&place.span)?;
        let site = site_at(module, finding::Role::Here, place, String::new());
        Some(Barrier { kind, can_go: role == BarrierRole::Optional, site })
    };
    program.places.iter().filter_map(barrier).collect()
}

/// How many instructions of a module come from each line of its sources: loops are unrolled, functions inlined and templates
/// instantiated. Kernels that do not link are left out.
#[derive(Clone, Debug, Default)]
pub struct SourceCopies(BTreeMap<(SourceLine, String), BTreeSet<Span>>);

impl SourceCopies {
    /// Counts the instructions of all kernels of a module.
    pub fn of(module: &Module) -> Self {
        let mut found = Self::default();
        for kernel in module.kernels() {
            let Ok(program) = flow::build(module, kernel) else { continue };
            for place in &program.places {
                let word = first_word(module.mnemonic_in(place.span));
                for line in site_at(module, finding::Role::Here, place, String::new()).source {
                    found.0.entry((line, word.to_owned())).or_default().insert(place.span);
                }
            }
        }
        found
    }

    /// Returns the number of instructions of a line whose mnemonics begin with the same word as `mnemonic`: copies of an
    /// access might be of other state spaces.
    pub fn count(&self, line: &SourceLine, mnemonic: &str) -> usize {
        let key = (line.clone(), first_word(mnemonic).to_owned());
        self.0.get(&key).map_or(0, BTreeSet::len)
    }
}

fn first_word(mnemonic: &str) -> &str {
    mnemonic.split('.').next().unwrap_or("")
}
