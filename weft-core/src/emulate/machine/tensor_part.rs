//! Parts of tensor memory (PTX ISA §9.7.16.1). Events state a column as 16 bytes: two for every 16 lanes.

use super::agents::UNIT;
use crate::emulate::sync::columns::COLUMNS;
use crate::flow::{BULK_ALIGN, TENSOR_MEMORY};

/// Lanes of tensor memory that a warp can access, and lanes of which the columns are accessed together.
pub(super) const OF_A_WARP: u64 = 32;
pub(super) const HALF: u64 = 16;
/// The bit of an address of tensor memory from which on it holds the lane.
const LANE: u32 = 16;
/// Bytes by which events state the columns of 16 lanes.
const HALF_BYTES: u64 = 2;
/// So many allocations of a cta have addresses that differ.
const ALLOCATIONS: u64 = 1 << 16;
/// Bytes by which events state all columns.
const ALL_COLUMNS: u64 = COLUMNS * UNIT;

/// Columns of tensor memory, in some lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct TensorPart {
    pub(super) column: u64,
    pub(super) columns: u64,
    /// The first of its bytes in each column, and their number.
    pub(super) bytes: (u64, u32),
}

impl TensorPart {
    /// All lanes of columns.
    pub(super) const fn whole(column: u64, columns: u64) -> Self {
        Self { column, columns, bytes: (0, BULK_ALIGN) }
    }

    /// So many lanes from one on, both multiples of 16.
    pub(super) fn of_lanes((column, columns): (u64, u64), first: u64, count: u64) -> Self {
        let bytes = u32::try_from(count / HALF * HALF_BYTES).expect("at most 16 bytes");
        Self { column, columns, bytes: (first / HALF * HALF_BYTES, bytes) }
    }

    /// The lanes of a product with so many rows whose first lane is this one: 64 rows are in the same half of the lanes of each
    /// warp.
    pub(super) fn of_rows(columns: (u64, u64), lane: u64, rows: u64) -> Vec<Self> {
        if rows > 64 {
            return vec![Self::whole(columns.0, columns.1)];
        }
        let of_warp = |warp: u64| Self::of_lanes(columns, warp * OF_A_WARP + lane, HALF);
        (0..4).map(of_warp).collect()
    }
}

/// Returns the column and the first lane of an address in the shared memory of a cta, as events state it, if it is one of tensor
/// memory.
pub(crate) fn tensor_place(address: u64) -> Option<(u64, u64)> {
    let end = TENSOR_MEMORY + ALLOCATIONS * ALL_COLUMNS;
    let at = address.checked_sub(TENSOR_MEMORY).filter(|_| address < end)?;
    Some((at / UNIT % COLUMNS, at % UNIT / HALF_BYTES * HALF))
}

/// Returns the address of the first column, as events state it, in the allocation of a cta that has this number.
pub(super) const fn address_of_allocation(number: u64) -> u64 {
    TENSOR_MEMORY + number % ALLOCATIONS * ALL_COLUMNS
}

/// The column and the lane of an address of tensor memory.
pub(super) const fn of_address(address: u64) -> (u64, u64) {
    (address & ((1 << LANE) - 1), address >> LANE & 0xffff)
}
