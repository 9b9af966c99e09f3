//! The accesses that a proof compares: those of memory that some thread writes, each with its base.

use std::collections::BTreeSet;

use super::atom::Expr;
use super::base::{self, AddressBase, BasedAddress};
use super::expr::BinaryOperator;
use super::outcome::Gap;
use super::thread::SymbolicThread;
use crate::emulate::{AccessKind, access_kind};
use crate::flow::{Pc, Program};
use crate::ptx::Space;
use crate::ptx::isa::Modifier;

/// An access at one base.
#[derive(Clone, Debug)]
pub(super) struct BasedAccess {
    /// Its index among the accesses of the thread.
    pub(super) index: usize,
    pub(super) pc: Pc,
    pub(super) space: Space,
    pub(super) bytes: u32,
    pub(super) kind: AccessKind,
    pub(super) base: AddressBase,
    pub(super) offset: Expr,
    pub(super) reach: Expr,
}

/// Returns the accesses that might race: those of memory that some thread writes, each with its base.
pub(super) fn compared(
    program: &Program,
    thread: &mut SymbolicThread,
    is_constant: &dyn Fn(Pc) -> bool,
    strays: &BTreeSet<Pc>,
) -> Result<Vec<BasedAccess>, Vec<Gap>> {
    let (mut all, mut gaps, mut unbased) = (Vec::new(), Vec::new(), Vec::new());
    for index in 0..thread.accesses.len() {
        let access = thread.accesses[index].clone();
        let decoded = program.code[access.pc.index()].decoded().expect("an access is in the table");
        let kind = access_kind(decoded);
        // That memory is promised to be read-only does not keep others from writing there.
        let is_promised = decoded.modifiers.has(Modifier::Nc);
        if !kind.writes && is_constant(access.pc) && !is_promised {
            continue;
        }
        // The distance of two pointers, handed on through memory, leads from one buffer to another.
        let is_stray = |based: &BasedAddress, thread: &SymbolicThread| {
            strays.contains(&access.pc) && base::is_opaque(thread, based.offset)
        };
        let found = base::bases(thread, program, access.address)
            .filter(|found| !found.iter().any(|based| is_stray(based, thread)));
        let Some(found) = found else {
            if kind.writes {
                gaps.push(Gap::Base(access.pc));
            } else if !is_promised {
                unbased.push(Gap::Base(access.pc));
            }
            continue;
        };
        for BasedAddress { condition, base, offset } in found {
            let reach = thread.exprs.binary(BinaryOperator::And, access.reach, condition);
            let space = base.space(program);
            let (pc, bytes) = (access.pc, access.bytes);
            all.push(BasedAccess { index, pc, space, bytes, kind, base, offset, reach });
        }
    }
    if !gaps.is_empty() {
        return Err(gaps);
    }
    let written: BTreeSet<AddressBase> =
        all.iter().filter(|access| access.kind.writes).map(|access| access.base).collect();
    if !unbased.is_empty() && !written.is_empty() {
        return Err(unbased);
    }
    // Local memory is a thread's own.
    let is_common = |space: Space| matches!(space, Space::Shared | Space::Global);
    all.retain(|access| written.contains(&access.base) && is_common(access.space));
    Ok(all)
}
