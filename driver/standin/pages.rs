//! Host memory at addresses of our own choice, which stands for device memory.
//!
//! Addresses grow and are never given twice, so that a freed pointer is known as one. They begin where neither a program nor its
//! libraries lie, and where neither half of an address is a number that programs use: a pair of small numbers in a structure
//! is then not taken for a pointer. Between two allocations is a gap, so that one past the end of one is not in the next. A process
//! that makes the same calls gets the same addresses, unless something else lies there.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};

const PROT_READ: c_int = 1;
const PROT_WRITE: c_int = 2;
const MAP_PRIVATE: c_int = 2;
const MAP_ANONYMOUS: c_int = 0x20;
const MAP_NORESERVE: c_int = 0x4000;
const MAP_FIXED_NOREPLACE: c_int = 0x10_0000;
const MADV_DONTNEED: c_int = 4;

unsafe extern "C" {
    fn mmap(
        at: *mut c_void,
        length: usize,
        prot: c_int,
        flags: c_int,
        file: c_int,
        offset: i64,
    ) -> *mut c_void;
    fn munmap(at: *mut c_void, length: usize) -> c_int;
    fn madvise(at: *mut c_void, length: usize, advice: c_int) -> c_int;
}

/// Where device memory starts: the halves are 15197 and 738197504.
const START: u64 = 0x3b5d_2c00_0000;
/// Where it ends, below the lowest address of programs.
const END: u64 = 0x5000_0000_0000;
/// Alignment of small allocations; what the driver promises.
const ALIGN: u64 = 256;
/// Alignment of large ones, and the size from which on they are large. A multiple of every size of pages of the platforms.
const BLOCK: u64 = 1 << 16;
/// Bytes that are mapped at once.
const STEP: u64 = 64 << 20;

/// Hands out addresses.
#[derive(Debug)]
pub(crate) struct Pages {
    /// The next free address.
    next: u64,
    /// Up to where memory is mapped.
    mapped: u64,
    /// How many small allocations of each block are in use: a block without any is given back to the system.
    small: BTreeMap<u64, u32>,
}

/// Returns whether a number can be an address of device memory.
pub(crate) fn is_address(number: u64) -> bool {
    (START..END).contains(&number)
}

/// Returns whether eight bytes in a row among these might be an address of device memory: `false` is certain. It looks at the three highest
/// bytes of an address alone, in a loop that a compiler makes vectors of.
pub(crate) fn might_hold_address(bytes: &[u8]) -> bool {
    const LOW: u8 = START.to_be_bytes()[2];
    const SPAN: u8 = (END - 1).to_be_bytes()[2] - LOW;
    let from = |at: usize| bytes.get(at..).unwrap_or_default();
    let highest = from(5).iter().zip(from(6)).zip(from(7));
    let found = highest.fold(0, |found, ((fifth, sixth), seventh)| {
        let is_high = u8::from(fifth.wrapping_sub(LOW) <= SPAN);
        found | (is_high & u8::from(sixth | seventh == 0))
    });
    found != 0
}

/// Gives memory back to the system, which reads as zeros then, and returns whether the system took it.
fn discard(start: u64, length: u64) -> bool {
    let Ok(length) = usize::try_from(length) else { return false };
    // SAFETY: private anonymous memory of ours, in which no allocation is in use, or one that is set to zeros.
    unsafe { madvise(Pages::address(start), length, MADV_DONTNEED) == 0 }
}

impl Default for Pages {
    fn default() -> Self {
        Pages { next: START, mapped: START, small: BTreeMap::new() }
    }
}

impl Pages {
    /// Returns the address of `size` fresh bytes, all zero; `None` where the system has none.
    pub(crate) fn take(&mut self, size: u64) -> Option<u64> {
        let is_small = size < BLOCK / 2;
        let mut base = self.next.next_multiple_of(if is_small { ALIGN } else { BLOCK });
        if is_small && base / BLOCK != (base + size) / BLOCK {
            base = base.next_multiple_of(BLOCK);
        }
        let end = base.checked_add(size)?.checked_add(ALIGN)?;
        if end > self.mapped {
            let from = self.map(base, end)?;
            // What lies in the way moves it: a place that is aligned to blocks.
            if from > base {
                self.next = from;
                return self.take(size);
            }
        }
        // The last block of a large allocation is its own.
        self.next = if is_small { end } else { end.next_multiple_of(BLOCK) };
        if is_small {
            *self.small.entry(base / BLOCK).or_default() += 1;
        }
        Some(base)
    }

    /// Maps memory up to `end`, and returns the first address from `base` on behind which all of it is mapped.
    fn map(&mut self, base: u64, end: u64) -> Option<u64> {
        let mut start = self.mapped;
        let length = (end - start.min(end)).next_multiple_of(STEP);
        for _ in 0..1000 {
            if start + length > END {
                return None;
            }
            let at = Self::address(start);
            let size = usize::try_from(length).ok()?;
            let protection = PROT_READ | PROT_WRITE;
            let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
            // SAFETY: an anonymous mapping that replaces none; the result is checked.
            let got = unsafe { mmap(at, size, protection, flags, -1, 0) };
            if got == at {
                let moved = start > self.mapped;
                self.mapped = start + length;
                return Some(if moved { start.max(base) } else { base });
            }
            if got.addr() != usize::MAX {
                // SAFETY: it was mapped just now, elsewhere than asked for (by a system that does not know the flag), and
                // nothing uses it.
                unsafe { munmap(got, size) };
            }
            start = (start + STEP).next_multiple_of(1 << 30);
        }
        None
    }

    /// Gives the memory of an allocation back to the system; its addresses stay mapped, and read as zeros.
    pub(crate) fn give_back(&mut self, base: u64, size: u64) {
        if size >= BLOCK / 2 {
            discard(base, size.next_multiple_of(BLOCK));
            return;
        }
        let block = base / BLOCK;
        let Some(count) = self.small.get_mut(&block) else { return };
        *count -= 1;
        if *count == 0 {
            self.small.remove(&block);
            discard(block * BLOCK, BLOCK);
        }
    }

    /// Makes all whole blocks within a range of one allocation zero without touching them, and returns the range of the blocks.
    pub(crate) fn zero(start: u64, end: u64) -> Option<(u64, u64)> {
        let (first, last) = (start.next_multiple_of(BLOCK), end / BLOCK * BLOCK);
        (is_address(start) && first < last && discard(first, last - first)).then_some((first, last))
    }

    fn address(number: u64) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut(usize::try_from(number).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::{ALIGN, BLOCK, Pages};

    /// One test, since a second `Pages` finds the places of the first taken, and evades them.
    #[test]
    fn addresses_are_aligned_apart_and_never_given_twice() {
        let mut pages = Pages::default();
        let (mut last, mut live) = (0, Vec::new());
        for round in 0..2000_u64 {
            let size = 1 + (round * 7919) % 100_000;
            let base = pages.take(size).unwrap();
            assert!(base >= last, "{base:x} after {last:x}");
            assert_eq!(base % ALIGN, 0);
            last = base + size + 1;
            let pointer: *mut u8 = Pages::address(base).cast();
            let offset = usize::try_from(size - 1).unwrap();
            // SAFETY: both are within the bytes that were just taken.
            unsafe {
                assert_eq!((pointer.read(), pointer.add(offset).read()), (0, 0));
                pointer.write(1);
                pointer.add(offset).write(1);
            }
            if round % 3 == 0 {
                pages.give_back(base, size);
            } else {
                live.push((base, size));
            }
        }
        // What was given back took nothing along.
        for (base, size) in live {
            let pointer: *mut u8 = Pages::address(base).cast();
            // SAFETY: as above.
            let ends =
                unsafe { (pointer.read(), pointer.add(usize::try_from(size - 1).unwrap()).read()) };
            assert_eq!(ends, (1, 1));
        }
        // Larger than a step, and than what the machine has: nothing is reserved.
        let large = pages.take(200 << 30).unwrap();
        assert_eq!(large % BLOCK, 0);
        let other = Pages::default().take(100).unwrap();
        assert!(other > large + (200 << 30), "the second one evades the first");
    }
}
