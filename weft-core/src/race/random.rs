//! Accesses that look random, for tests that compare with brute force.

use crate::emulate::memory::bytes::PAGE;
use crate::emulate::{Access, AccessKind, Arrival, LaneMask, Value};
use crate::flow::Pc;
use crate::order::{Epoch, Order};
use crate::ptx::Space;

const WARPS: usize = 3;

/// A plain read of four bytes.
pub(super) const READ: AccessKind = AccessKind {
    writes: false,
    is_atomic: false,
    is_strong: false,
    is_cta_scoped: false,
    may_execute: false,
    is_shadow_copy: false,
    element: 4,
};

/// Accesses that look random (xorshift64).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(0x9e37_79b9_7f4a_7c15 ^ seed << 32)
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    pub(super) fn warp(&mut self) -> usize {
        usize::try_from(self.below(WARPS as u64)).unwrap_or(0)
    }

    pub(super) fn mask(&mut self) -> LaneMask {
        let bits = LaneMask::try_from(self.below(1 << 32)).unwrap_or(1);
        let mask = [LaneMask::MAX, bits, bits & (bits >> 7) & (bits >> 13), 1 << (bits % 32)]
            [usize::try_from(self.below(4)).unwrap_or(0)];
        mask.max(1)
    }

    /// Uniform, in a row, a row in another order, and in no order, on three pages; around the ends of pages, too.
    pub(super) fn addresses(&mut self, bytes: u64) -> Value {
        let edge = PAGE * (1 + self.below(2)) - self.below(2 * bytes + 1);
        match self.below(7) {
            5 => Value::uniform(edge),
            6 => Value::affine(edge, bytes * (1 + self.below(3) * 7)),
            0 => Value::uniform(self.below(300)),
            1 => Value::affine(self.below(200), bytes),
            2 => Value::affine(self.below(100), self.below(9)),
            3 => {
                let (start, turn) = (self.below(3) * 64, self.below(2) * 31);
                Value::each(std::array::from_fn(|lane| start + (lane as u64 ^ turn ^ 5) * bytes))
            }
            _ => Value::each(std::array::from_fn(|_| self.below(300))),
        }
    }

    /// An access of so many bytes, of which so many in ten write: elements of different sizes, strong ones of different
    /// scopes, and such as might not happen or stand for another.
    pub(super) fn kind(&mut self, writes: u64, bytes: u64) -> AccessKind {
        let element = u8::try_from(bytes >> self.below(2).min(bytes.ilog2().into())).unwrap_or(1);
        let kind = AccessKind { element, writes: self.below(10) < writes, ..AccessKind::default() };
        let is_cta_scoped = self.below(3) == 0;
        let kind = match self.below(8) {
            0 | 1 => AccessKind { is_strong: true, is_cta_scoped, ..kind },
            2 | 3 => {
                AccessKind { is_strong: true, is_atomic: true, writes: true, is_cta_scoped, ..kind }
            }
            _ => kind,
        };
        let is_mirror = self.below(12) == 0;
        AccessKind {
            may_execute: is_mirror || self.below(8) == 0,
            is_shadow_copy: is_mirror,
            ..kind
        }
    }
}

pub(super) fn access(
    warp: usize,
    lanes: LaneMask,
    addresses: &Value,
    bytes: u32,
    kind: AccessKind,
) -> Access<'_> {
    let reads = !kind.writes;
    Access {
        warp,
        lanes,
        pc: Pc(0),
        space: Space::Shared,
        addresses,
        bytes,
        kind,
        reads,
        stored: &[],
        condition: None,
        variable: None,
        is_representative: false,
        class: None,
        decides: false,
    }
}

/// What a lane did to a byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub(super) warp: usize,
    pub(super) lane: usize,
    pub(super) when: Epoch,
    pub(super) kind: AccessKind,
}

impl Touch {
    pub(super) fn is_before(&self, warp: usize, lane: usize, order: &Order) -> bool {
        if self.warp == warp {
            return order.unordered_lanes(warp, self.when, 1 << self.lane, lane) == 0;
        }
        order.is_before(self.warp, self.when, 1 << self.lane, warp)
    }
}

/// Three warps, the last one not full.
pub(super) fn order() -> Order {
    Order::new(vec![LaneMask::MAX, LaneMask::MAX, 0x000f_ffff])
}

/// All warps, or two of them, meet at a barrier; or lanes of one meet.
pub(super) fn synchronize(random: &mut Random, order: &mut Order) {
    let left = random.warp();
    match random.below(10) {
        0 => {}
        1 => {
            for warp in (0..WARPS).filter(|warp| *warp != left) {
                let waits = random.below(3) > 0;
                order.arrive(Arrival { warp, barrier: 1, waits, pc: Pc(0) });
            }
            return order.complete(1);
        }
        _ => return order.converge(left, random.mask()),
    }
    for warp in 0..WARPS {
        order.arrive(Arrival { warp, barrier: 0, waits: true, pc: Pc(0) });
    }
    order.complete(0);
}
