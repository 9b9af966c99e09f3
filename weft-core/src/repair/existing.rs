//! The barriers that a kernel has.

use std::collections::BTreeMap;

use super::kind::BarrierKind;
use super::request::Aim;
use crate::explain::site_at;
use crate::finding::{self, Site};
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

/// Whether threads of a program wait at mbarrier objects.
pub(super) fn has_objects(program: &Program) -> bool {
    program.code.iter().any(|instr| instr.effect() == Effect::MbarrierWait)
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

/// Returns the operation without its modifiers.
pub(super) fn first_word(mnemonic: &str) -> &str {
    mnemonic.split('.').next().unwrap_or("")
}
