//! Random accesses and synchronization, for tests that compare with brute force.

use crate::emulate::memory::bytes::PAGE;
use crate::emulate::{
    Access, AccessKind, AccessManner, Arrival, BarrierId, CtaRank, LaneMask, MemoryOrder,
    MemoryScope, Ordering, Value, WarpId,
};
use crate::flow::Pc;
use crate::order::{Epoch, Order};
use crate::ptx::Space;

const WARPS: usize = 3;

/// The lanes of each warp: the last one is not full.
const LANES: [LaneMask; WARPS] = [LaneMask::MAX, LaneMask::MAX, 0x000f_ffff];

/// A plain read of four bytes.
pub(super) const READ: AccessKind = AccessKind {
    writes: false,
    manner: AccessManner::Plain,
    order: MemoryOrder::new(Ordering::Weak, MemoryScope::Gpu),
    may_execute: false,
    is_shadow_copy: false,
    element: 4,
};

/// A source of random numbers (xorshift64).
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

    pub(super) fn warp(&mut self) -> WarpId {
        WarpId::new(usize::try_from(self.below(WARPS as u64)).expect("few warps"))
    }

    /// Some lanes of a warp.
    pub(super) fn mask(&mut self, warp: WarpId) -> LaneMask {
        let bits = LaneMask::try_from(self.below(1 << 32)).expect("32 bits");
        let mask = [LaneMask::MAX, bits, bits & (bits >> 7) & (bits >> 13), 1 << (bits % 32)]
            [usize::try_from(self.below(4)).expect("below 4")];
        (mask & LANES[warp.index()]).max(1)
    }

    /// Addresses that are equal, affine, affine in another order, or irregular, on three pages and around the ends of
    /// pages.
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

    /// A kind of access of `bytes` bytes; `writes` in ten write. Elements have different sizes, strong accesses
    /// different scopes, and some accesses might not happen or are shadow copies.
    pub(super) fn kind(&mut self, writes: u64, bytes: u64) -> AccessKind {
        let element = u8::try_from(bytes >> self.below(2).min(bytes.ilog2().into()))
            .expect("elements are small");
        let kind = AccessKind { element, writes: self.below(10) < writes, ..AccessKind::default() };
        let scope = if self.below(3) == 0 { MemoryScope::Cta } else { MemoryScope::Gpu };
        let is_volatile = self.below(2) == 0;
        let ordering = if is_volatile { Ordering::Volatile } else { Ordering::Relaxed };
        let order = MemoryOrder::new(ordering, scope);
        let kind = match self.below(8) {
            0 | 1 => AccessKind { order, ..kind },
            2 | 3 => AccessKind {
                order: MemoryOrder::new(Ordering::Relaxed, scope),
                manner: AccessManner::Atomic,
                writes: true,
                ..kind
            },
            _ => kind,
        };
        let is_copy = self.below(12) == 0;
        AccessKind { may_execute: is_copy || self.below(8) == 0, is_shadow_copy: is_copy, ..kind }
    }
}

/// An access of shared memory by lanes of a warp, without stored values.
pub(super) fn access(
    warp: WarpId,
    lanes: LaneMask,
    addresses: &Value,
    bytes: u32,
    kind: AccessKind,
) -> Access<'_> {
    let reads = !kind.writes;
    Access {
        warp,
        issuer: None,
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
        seen: None,
        synchronizes: false,
    }
}

/// What a lane did to a byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub(super) warp: WarpId,
    pub(super) lane: usize,
    pub(super) when: Epoch,
    pub(super) kind: AccessKind,
}

impl Touch {
    pub(super) fn is_before(&self, warp: WarpId, lane: usize, order: &Order) -> bool {
        order.unordered_lanes((self.warp, self.when, 1 << self.lane), (warp, lane)) == 0
    }
}

/// Nothing has happened.
pub(super) fn order() -> Order {
    Order::new(&LANES.into_iter().collect())
}

/// Synchronizes all warps at a barrier, or two of them, or some lanes of one warp.
pub(super) fn synchronize(random: &mut Random, order: &mut Order) {
    let left = random.warp();
    let [all, some] =
        [0, 1].map(|name| BarrierId::named(CtaRank::default(), name).expect("one of sixteen"));
    match random.below(10) {
        0 => {}
        1 => {
            for warp in (0..WARPS).map(WarpId::new).filter(|warp| *warp != left) {
                let waits = random.below(3) > 0;
                order.arrive(Arrival {
                    warp,
                    barrier: some,
                    waits,
                    releases: LaneMask::MAX,
                    pc: Pc(0),
                });
            }
            return order.complete(some);
        }
        _ => return order.converge(left, random.mask(left)),
    }
    for warp in (0..WARPS).map(WarpId::new) {
        order.arrive(Arrival {
            warp,
            barrier: all,
            waits: true,
            releases: LaneMask::MAX,
            pc: Pc(0),
        });
    }
    order.complete(all);
}
