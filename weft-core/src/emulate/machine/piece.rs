//! A piece of an access: the lanes of one instruction that access one state space, and how the instruction acts on
//! memory.

use super::event::{AccessKind, AccessManner};
use super::memory_order::{MemoryOrder, MemoryScope, Ordering};
use crate::emulate::sync::group::CtaRank;
use crate::emulate::value::lane::LaneMask;
use crate::emulate::value::register::Value;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{Instr, Pc};
use crate::ptx::Space;
use crate::ptx::isa::{Decoded, Effect};

/// The lanes of one access that access one space. Either all of their addresses are known, or all of them are open.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub(super) warp: WarpId,
    pub(super) pc: Pc,
    pub(super) instr: &'a Instr,
    pub(super) decoded: &'a Decoded,
    pub(super) space: Space,
    /// The cta whose shared memory it accesses, if it accesses shared memory.
    pub(super) home: CtaRank,
    pub(super) addresses: &'a Value,
    pub(super) lanes: LaneMask,
}

impl Piece<'_> {
    /// Where an address lies in memory that threads share, as events state it: whether in global memory, and the address.
    pub(super) fn place(&self, address: u64) -> Option<(bool, u64)> {
        match self.space {
            Space::Global => Some((true, address)),
            Space::Shared => Some((false, self.home.first().wrapping_add(address))),
            _ => None,
        }
    }

    /// Bytes that each lane accesses, all elements of a vector together.
    pub(super) fn bytes(&self) -> u32 {
        self.decoded.ty().bytes() * u32::from(self.decoded.vector())
    }
}

/// How an instruction acts on memory (PTX ISA §8.4), if it surely happens.
pub(crate) fn kind(decoded: &Decoded) -> AccessKind {
    let manner = match decoded.row.effect {
        Effect::Atomic => AccessManner::Atomic,
        _ if decoded.is_asynchronous => AccessManner::Asynchronous,
        _ => AccessManner::Plain,
    };
    AccessKind {
        writes: decoded.row.effect != Effect::Load,
        manner,
        order: MemoryOrder::new(Ordering::of_access(decoded), MemoryScope::of(decoded)),
        element: u8::try_from(decoded.ty().element_bytes()).expect("elements are small"),
        may_execute: false,
        is_shadow_copy: false,
    }
}
