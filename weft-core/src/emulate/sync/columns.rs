//! The tensor memory of a cta (PTX ISA §9.7.16.1): columns, of which warps allocate some in a row.

use std::collections::BTreeMap;

use crate::emulate::value::warp_id::WarpId;
use crate::flow::Pc;

/// Columns of the tensor memory of a cta.
pub(crate) const COLUMNS: u64 = 512;
/// The fewest columns of an allocation; all have a multiple of them.
const LEAST: u64 = 32;
const SLICES: usize = (COLUMNS / LEAST) as usize;

/// The tensor memory of a cta.
#[derive(Clone, Debug, Default)]
pub(crate) struct TensorColumns {
    /// By the first column.
    held: BTreeMap<u64, ColumnRange>,
    /// Whether the cta has given up to allocate more.
    is_closed: bool,
    /// For each slice of columns that are allocated together, the last allocation.
    slices: [Option<ColumnSlice>; SLICES],
    /// Columns that were ever allocated, and the number of allocations.
    total: u64,
    allocations: u64,
    /// A warp that has allocated some, and whether another one has too.
    by: Option<(WarpId, bool)>,
}

/// Columns that a warp has allocated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnRange {
    count: u64,
    /// The number of the allocation.
    number: u64,
    /// The warp.
    pub(crate) warp: WarpId,
    /// Its instruction.
    pub(crate) pc: Pc,
}

/// What the columns belong to, or did, that are allocated together.
#[derive(Clone, Copy, Debug)]
struct ColumnSlice {
    number: u64,
    begin: u64,
    is_held: bool,
}

/// Columns in a row that belong to one allocation, or did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ColumnPart {
    /// The number of the allocation, and its first column.
    pub(crate) number: u64,
    pub(crate) begin: u64,
    /// Whether it was not freed yet.
    pub(crate) is_held: bool,
    pub(crate) first: u64,
    pub(crate) columns: u64,
}

/// What a warp lacks that waits for columns of tensor memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnNeed {
    /// Columns that the warp asks for.
    pub asked: u64,
    /// Columns that nobody holds.
    pub free: u64,
}

/// How tensor memory is used wrongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorMisuse {
    /// Allocations have not so many columns.
    Count(u64),
    /// The cta has given up to allocate more.
    Closed,
    /// No allocation begins at this column and has so many.
    NotHeld(u64, u64),
    /// Some of so many columns from this one on are not allocated.
    Outside(u64, u64),
    /// A warp cannot load or store the lanes from this one on.
    Lanes(u64),
    /// A matrix cannot have its first row in this lane.
    Rows(u64),
    /// The cta ends without freeing so many columns.
    Kept(u64),
}

impl TensorColumns {
    /// Lets a warp allocate columns. Returns the first of them; `None` if there are not as many in a row.
    pub(crate) fn allocate(
        &mut self,
        count: u64,
        (warp, pc): (WarpId, Pc),
    ) -> Result<Option<u64>, TensorMisuse> {
        if !count.is_power_of_two() || !(LEAST..=COLUMNS).contains(&count) {
            return Err(TensorMisuse::Count(count));
        }
        if self.is_closed {
            return Err(TensorMisuse::Closed);
        }
        let ends = self.held.iter().map(|(first, own)| first + own.count);
        let is_free = |first: &u64| {
            let before = self.held.range(..first + count).next_back();
            first + count <= COLUMNS && before.is_none_or(|(at, own)| at + own.count <= *first)
        };
        let Some(first) = std::iter::once(0).chain(ends).find(is_free) else { return Ok(None) };
        let number = self.allocations;
        self.held.insert(first, ColumnRange { count, number, warp, pc });
        self.mark((first, count), number, true);
        self.total += count;
        self.allocations += 1;
        let is_other = self.by.is_some_and(|(own, is_other)| is_other || own != warp);
        self.by = Some((warp, is_other));
        Ok(Some(first))
    }

    /// Whether an allocation begins at a column and has so many.
    pub(crate) fn is_allocation(&self, first: u64, count: u64) -> bool {
        self.held.get(&first).is_some_and(|own| own.count == count)
    }

    /// Frees the allocation that begins at a column.
    pub(crate) fn free(&mut self, first: u64) {
        if let Some(own) = self.held.remove(&first) {
            self.mark((first, own.count), own.number, false);
        }
    }

    /// The first columns of all allocations that there were.
    pub(crate) fn begins(&self) -> impl Iterator<Item = u64> {
        self.slices.iter().flatten().map(|slice| slice.begin)
    }

    /// Gives up to allocate more.
    pub(crate) const fn close(&mut self) {
        self.is_closed = true;
    }

    /// The parts of so many columns from one on, by the allocation that they belong to, or belonged to last. `None`: not all were
    /// ever allocated.
    pub(crate) fn parts(&self, first: u64, count: u64) -> Option<Vec<ColumnPart>> {
        let end = first.checked_add(count).filter(|end| *end <= COLUMNS)?;
        let (mut reached, mut parts) = (first, Vec::<ColumnPart>::new());
        while reached < end {
            let slice = usize::try_from(reached / LEAST).ok()?;
            let ColumnSlice { number, begin, is_held } = (*self.slices.get(slice)?)?;
            let next = end.min((reached / LEAST + 1) * LEAST);
            let columns = next - reached;
            if let Some(last) = parts.last_mut().filter(|last| last.number == number) {
                last.columns += columns;
            } else {
                parts.push(ColumnPart { number, begin, is_held, first: reached, columns });
            }
            reached = next;
        }
        Some(parts)
    }

    fn mark(&mut self, (first, count): (u64, u64), number: u64, is_held: bool) {
        for slice in first / LEAST..(first + count) / LEAST {
            let slice = usize::try_from(slice).expect("few columns");
            self.slices[slice] = Some(ColumnSlice { number, begin: first, is_held });
        }
    }

    /// What a warp lacks that asks for columns.
    pub(crate) fn need(&self, asked: u64) -> ColumnNeed {
        let held: u64 = self.held.values().map(|own| own.count).sum();
        ColumnNeed { asked, free: COLUMNS - held }
    }

    /// An allocation that nothing has freed, and its columns.
    pub(crate) fn kept(&self) -> Option<(ColumnRange, u64)> {
        self.held.values().next().map(|own| (*own, own.count))
    }

    /// Whether it might depend on the schedule which warp is given columns first.
    pub(crate) fn is_contended(&self) -> bool {
        self.total > COLUMNS && self.by.is_some_and(|(_, is_other)| is_other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_allocated_in_a_row() {
        let mut own = TensorColumns::default();
        let by = (WarpId::new(0), Pc(0));
        assert_eq!(own.allocate(128, by), Ok(Some(0)));
        assert_eq!(own.allocate(256, by), Ok(Some(128)));
        assert_eq!(own.allocate(256, by), Ok(None));
        assert_eq!(own.allocate(128, (WarpId::new(1), Pc(1))), Ok(Some(384)));
        assert_eq!(own.need(32), ColumnNeed { asked: 32, free: 0 });
        let parts = |own: &TensorColumns, first, count| {
            own.parts(first, count).map(|parts| {
                let each = parts.into_iter().map(|part| (part.number, part.first, part.columns));
                each.collect::<Vec<_>>()
            })
        };
        assert_eq!(parts(&own, 100, 300), Some(vec![(0, 100, 28), (1, 128, 256), (2, 384, 16)]));
        assert_eq!((parts(&own, 500, 13), parts(&own, 600, 1)), (None, None));
        assert!(!own.is_allocation(128, 128) && own.is_allocation(128, 256));
        own.free(128);
        let is_held = |first| own.parts(first, 1).is_some_and(|parts| parts[0].is_held);
        assert!(is_held(0) && !is_held(128) && is_held(384));
        assert_eq!(parts(&own, 120, 16), Some(vec![(0, 120, 8), (1, 128, 8)]));
        assert!(!own.is_contended());
        assert_eq!(own.allocate(64, by), Ok(Some(128)));
        assert!(own.is_contended());
        assert_eq!(own.allocate(48, by), Err(TensorMisuse::Count(48)));
        own.close();
        assert_eq!(own.allocate(32, by), Err(TensorMisuse::Closed));
    }
}
