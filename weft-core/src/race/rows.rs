//! Splits an access of a warp by page: in each page the lanes, the bytes, and which lane accesses which bytes.
//!
//! Lanes whose addresses grow by a constant step, each with bytes of its own, are one row, which is compared with
//! others as a whole.

use std::rc::Rc;
use std::sync::Arc;

use crate::emulate::memory::bytes::{self, Bytes, PAGE, span};
use crate::emulate::{Access, LaneMask, Offsets, WARP, lanes};

/// Which lane accesses which byte of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LaneBytes {
    /// Every lane accesses all of them.
    All,
    /// Lane `l` accesses those of the row's bytes that lie in the `stride` bytes from `first + l * stride` on.
    Stride { first: i64, stride: i64 },
    /// Lane `l` accesses `width` bytes from position `first[l]` on.
    Place { first: Arc<[u8; WARP]>, width: u8 },
}

/// What lanes of a warp access in a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) bytes: Bytes,
    pub(crate) lanes: LaneMask,
    pub(crate) by: LaneBytes,
}

impl Row {
    /// The bytes that a lane of the row accesses.
    pub(crate) fn bytes_of(&self, lane: usize) -> Bytes {
        match &self.by {
            LaneBytes::All => self.bytes,
            LaneBytes::Stride { first, stride } => {
                let from = first + i64::try_from(lane).expect("a warp has 32 lanes") * stride;
                span(from, from + stride) & self.bytes
            }
            LaneBytes::Place { .. } if self.lanes >> lane & 1 == 0 => 0,
            LaneBytes::Place { first, width } => {
                (bytes::first(u32::from(*width)) << first[lane]) & self.bytes
            }
        }
    }

    /// The lanes that access some of these bytes.
    pub(crate) fn lanes_at(&self, bytes: Bytes) -> LaneMask {
        let among = match self.by {
            LaneBytes::All => return self.lanes,
            _ if bytes & self.bytes == 0 => return 0,
            LaneBytes::Stride { first, stride } => {
                let (lowest, highest) = (bytes.trailing_zeros(), bytes.ilog2());
                let lane = |at: u32| quotient(i64::from(at) - first, stride);
                self.lanes & lanes_below(lane(highest) + 1) & !lanes_below(lane(lowest))
            }
            LaneBytes::Place { .. } => self.lanes,
        };
        lanes(among)
            .filter(|lane| self.bytes_of(*lane) & bytes != 0)
            .fold(0, |mask, lane| mask | 1 << lane)
    }

    /// Whether several lanes access the same bytes: if they write, they race with each other.
    pub(crate) fn is_of_several(&self) -> bool {
        self.by == LaneBytes::All && self.lanes.count_ones() > 1
    }

    /// Drops all bytes but these, and the lanes that access no others.
    pub(crate) fn restrict(&mut self, bytes: Bytes) {
        if self.bytes & !bytes != 0 {
            self.bytes &= bytes;
            self.lanes = self.lanes_at(self.bytes);
        }
    }

    /// Whether all lanes of `other` access the same bytes in this row.
    pub(crate) fn has(&self, other: &Self) -> bool {
        self.by == other.by && other.lanes & !self.lanes == 0 && other.bytes & !self.bytes == 0
    }

    /// Whether every byte belongs to one lane only, the same in both rows.
    pub(crate) fn has_own_lanes(&self, other: &Self) -> bool {
        let is_apart = match &self.by {
            LaneBytes::All => false,
            LaneBytes::Stride { .. } => return self.by == other.by,
            LaneBytes::Place { width, .. } => {
                self.bytes.count_ones() == self.lanes.count_ones() * u32::from(*width)
            }
        };
        is_apart && other.lanes & !self.lanes == 0 && self.by == other.by
    }

    /// Calls `visit` with each lane of a later row that accesses some of these bytes, which both rows access, and with the lanes
    /// of this row that access some of the same ones. Each lane of the rows accesses some byte of its row.
    pub(crate) fn meet(&self, later: &Self, bytes: Bytes, mut visit: impl FnMut(usize, LaneMask)) {
        let have_own = self.has_own_lanes(later) || later.has_own_lanes(self);
        let is_whole = later.bytes & !bytes == 0;
        for lane in lanes(if is_whole { later.lanes } else { later.lanes_at(bytes) }) {
            let others = if have_own {
                self.lanes & 1 << lane
            } else {
                self.lanes_at(later.bytes_of(lane) & bytes)
            };
            visit(lane, others);
        }
    }

    /// Merges another row into this one, if one row can represent both. Returns whether it did.
    pub(crate) fn merge(&mut self, other: &Self) -> bool {
        let (same_lanes, same_bytes) = (self.lanes == other.lanes, self.bytes == other.bytes);
        let is_one = self.by == other.by && (self.by != LaneBytes::All || same_lanes || same_bytes);
        if is_one {
            self.lanes |= other.lanes;
            self.bytes |= other.bytes;
        }
        is_one
    }
}

/// Calls `visit` with the number of each page that an access touches, and a row. Lanes that write some of the same bytes
/// are in one row only if all of them access all of its bytes; such a row races with itself.
pub(crate) fn rows(access: &Access<'_>, known: &mut KnownRows, mut visit: impl FnMut(u64, Row)) {
    let bytes = u64::from(access.bytes);
    match access.addresses.as_affine() {
        Some((address, 0)) => {
            one(address, bytes, access.lanes, &mut visit);
        }
        Some((base, stride)) if is_row(base, stride, bytes) => {
            row(base, stride, access, &mut visit);
        }
        _ => irregular(access, known, &mut visit),
    }
}

/// Accesses of at most this many lanes are split anew, which is faster than looking them up.
const FEW: u32 = 4;

/// What the rows of lanes with irregular addresses depend on, besides their offsets and the page: the position of the
/// first lane in its page, the lanes, the number of bytes, and whether they write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pattern {
    place: u64,
    lanes: LaneMask,
    width: u32,
    writes: bool,
}

/// Rows with the numbers of their pages.
type Rows = Rc<[(u64, Row)]>;

/// Remembers the rows of lanes with irregular addresses. Accesses in a loop or in unrolled instructions often differ
/// only by a number, and then by whole pages. Pages are counted from that of the first lane.
#[derive(Clone, Debug, Default)]
pub struct KnownRows {
    all: Vec<(Rc<Offsets>, Pattern, Rows)>,
    /// The index of the entry that is replaced next once there are many.
    next: usize,
}

impl KnownRows {
    /// Most entries.
    const MAX: usize = 32;

    fn of(
        &mut self,
        offsets: &Rc<Offsets>,
        pattern: Pattern,
        find: impl FnOnce() -> Vec<(u64, Row)>,
    ) -> Rows {
        let is_it = |(known, other, _): &&(Rc<Offsets>, Pattern, _)| {
            Rc::ptr_eq(known, offsets) && *other == pattern
        };
        if let Some((.., rows)) = self.all.iter().find(is_it) {
            return Rc::clone(rows);
        }
        let rows: Rows = find().into();
        let entry = (Rc::clone(offsets), pattern, Rc::clone(&rows));
        match self.all.get_mut(self.next) {
            Some(oldest) => *oldest = entry,
            None => self.all.push(entry),
        }
        self.next = (self.next + 1) % Self::MAX;
        rows
    }
}

/// Visits the rows of lanes with irregular addresses, which are computed once for all accesses that differ by whole
/// pages.
fn irregular(access: &Access<'_>, known: &mut KnownRows, visit: &mut impl FnMut(u64, Row)) {
    let offsets = access.addresses.as_offsets();
    let inside = offsets.filter(|(first, offsets)| {
        offsets.ends_from(*first).is_some_and(|(_, most)| most < u64::MAX - 2 * PAGE)
    });
    let Some((first, offsets)) = inside.filter(|_| access.lanes.count_ones() > FEW) else {
        return scattered(access, visit);
    };
    let (page, place) = (first / PAGE, first % PAGE);
    let pattern =
        Pattern { place, lanes: access.lanes, width: access.bytes, writes: access.kind.writes };
    let rows = known.of(offsets, pattern, || {
        let mut rows = Vec::new();
        scattered(access, &mut |number, row| rows.push((number.wrapping_sub(page), row)));
        rows
    });
    for (number, row) in rows.iter() {
        visit(page.wrapping_add(*number), row.clone());
    }
}

/// Whether every lane at these addresses has bytes of its own, and some lanes share a page.
fn is_row(base: u64, stride: u64, bytes: u64) -> bool {
    (bytes..PAGE).contains(&stride) && base < u64::MAX - 64 * PAGE
}

/// Visits the row of lanes that all access the same bytes.
fn one(address: u64, bytes: u64, lanes: LaneMask, visit: &mut impl FnMut(u64, Row)) {
    let end = address.saturating_add(bytes);
    for page in address / PAGE..end.div_ceil(PAGE) {
        let place = |at: u64| at.wrapping_sub(page * PAGE).cast_signed();
        visit(page, Row { bytes: span(place(address), place(end)), lanes, by: LaneBytes::All });
    }
}

/// Computes the rows of lanes with irregular addresses, page by page.
fn scattered(access: &Access<'_>, visit: &mut impl FnMut(u64, Row)) {
    let width = access.bytes;
    let mut rest = access.lanes;
    while rest != 0 {
        let page = access.addresses.bits_of(rest.trailing_zeros() as usize) / PAGE;
        let (mut row, mut first) = (Row { bytes: 0, lanes: 0, by: LaneBytes::All }, [0; WARP]);
        let mut others = 0;
        for lane in lanes(rest) {
            let address = access.addresses.bits_of(lane);
            if address / PAGE != page {
                continue;
            }
            rest &= !(1 << lane);
            let place = address % PAGE;
            let bytes = bytes::first(access.bytes) << place;
            let is_apart = !access.kind.writes || bytes & row.bytes == 0;
            if is_apart && place + u64::from(width) <= PAGE {
                row.bytes |= bytes;
                row.lanes |= 1 << lane;
                // A page has 128 bytes: the low byte is the place.
                first[lane] = place.to_le_bytes()[0];
            } else {
                others |= 1 << lane;
            }
        }
        if row.lanes.count_ones() > 1 {
            row.by = LaneBytes::Place {
                first: Arc::new(first),
                width: u8::try_from(width).expect("a page has 128 bytes"),
            };
        }
        if row.lanes != 0 {
            visit(page, row);
        }
        for lane in lanes(others) {
            one(access.addresses.bits_of(lane), u64::from(width), 1 << lane, visit);
        }
    }
}

/// Visits the rows of lanes that access `access.bytes` bytes each, `stride` apart.
fn row(base: u64, stride: u64, access: &Access<'_>, visit: &mut impl FnMut(u64, Row)) {
    let (lowest, highest) =
        (access.lanes.trailing_zeros(), access.lanes.checked_ilog2().unwrap_or(0));
    let width = i64::from(access.bytes);
    let start = base + u64::from(lowest) * stride;
    let end = base + u64::from(highest) * stride + u64::from(access.bytes);
    let is_dense =
        access.lanes.count_ones() == highest - lowest + 1 && stride == u64::from(access.bytes);
    let stride = stride.cast_signed();
    for page in start / PAGE..=(end - 1) / PAGE {
        let first = base.wrapping_sub(page * PAGE).cast_signed();
        let from = |lane: u32| first + i64::from(lane) * stride;
        let on_page = access.lanes & lanes_on_page(first, stride, width);
        let bytes = if is_dense {
            span(from(lowest), from(highest) + width)
        } else {
            let of = |lane: usize| {
                u32::try_from(lane).map_or(0, |lane| span(from(lane), from(lane) + width))
            };
            lanes(on_page).fold(0, |all, lane| all | of(lane))
        };
        if on_page != 0 {
            visit(page, Row { bytes, lanes: on_page, by: LaneBytes::Stride { first, stride } });
        }
    }
}

/// The lanes `l` of which some of the `width` bytes from `first + l * stride` on lie on the page.
fn lanes_on_page(first: i64, stride: i64, width: i64) -> LaneMask {
    let lowest = quotient(-first - width, stride) + 1;
    let end = quotient(PAGE.cast_signed() - 1 - first, stride) + 1;
    lanes_below(end) & !lanes_below(lowest)
}

/// Division by a positive stride, rounded down. Most strides are powers of two, and a division is slow.
const fn quotient(number: i64, stride: i64) -> i64 {
    if stride.count_ones() == 1 {
        number >> stride.trailing_zeros()
    } else {
        number.div_euclid(stride)
    }
}

/// The lanes with a number below `end`.
fn lanes_below(end: i64) -> LaneMask {
    LaneMask::try_from((1_u64 << end.clamp(0, 32)) - 1).expect("32 lanes")
}

#[cfg(test)]
mod tests {
    use super::super::random::access;
    use super::*;
    use crate::emulate::{AccessKind, Value, WarpId};

    /// Addresses of lanes: with a constant step, all equal, and irregular.
    fn addresses() -> Vec<Value> {
        let strides = [
            (0, 4),
            (120, 4),
            (4, 8),
            (250, 3),
            (126, 1),
            (512, 0),
            (64, 96),
            (640, 128),
            (900, 0_u64.wrapping_sub(4)),
            (77, 16),
        ];
        let affine = strides.into_iter().map(|(base, stride)| Value::affine(base, stride));
        let scattered = [
            |lane: u64| 64 + lane % 16 * 8,
            |lane: u64| lane * lane % 37 * 4,
            |lane: u64| lane * 0x9e37_79b9 % 1000,
            |lane: u64| 4096 - lane / 3 * 5,
        ];
        let each = scattered
            .into_iter()
            .map(|of| Value::each(std::array::from_fn(|lane| of(lane as u64))));
        affine.chain(each).collect()
    }

    /// The rows of an access have exactly the bytes that each lane accesses.
    #[test]
    fn rows_say_who_accesses_what() {
        let (mut compared, mut known) = (0, KnownRows::default());
        for addresses in addresses() {
            for bytes in [1, 2, 4, 8, 16, 128] {
                for mask in [LaneMask::MAX, 1, 1 << 31, 0x0f0f_00f0, 0x0000_fff0, 0xaaaa_aaaa] {
                    for (writes, shift) in [(false, 0), (true, 0), (true, PAGE), (true, 40)] {
                        let addresses = addresses.plus(shift, 64);
                        let kind = AccessKind { writes, ..AccessKind::default() };
                        let access = access(WarpId::new(0), mask, &addresses, bytes, kind);
                        let mut said = Vec::new();
                        rows(&access, &mut known, |page, row| {
                            assert_eq!(row.lanes & !mask, 0);
                            assert_eq!(row.lanes_at(row.bytes), row.lanes);
                            for lane in lanes(row.lanes) {
                                assert_ne!(row.bytes_of(lane), 0, "{addresses:?} {bytes} {lane}");
                                let all = crate::emulate::memory::bytes::places(row.bytes_of(lane));
                                said.extend(all.map(|at| (lane, page * PAGE + at)));
                            }
                        });
                        let bytes_of =
                            |lane: usize| (0..u64::from(bytes)).map(move |at| (lane, at));
                        let mut expected: Vec<_> = lanes(mask)
                            .flat_map(bytes_of)
                            .map(|(lane, at)| (lane, addresses.bits_of(lane) + at))
                            .collect();
                        said.sort_unstable();
                        expected.sort_unstable();
                        compared += said.len();
                        assert_eq!(said, expected, "{addresses:?} {bytes} {mask:x}");
                    }
                }
            }
        }
        assert!(compared > 40_000, "{compared}");
    }

    /// The lanes that meet are those that share a byte, of rows as accesses have them and of parts of these.
    #[test]
    fn rows_meet_where_they_share_bytes() {
        let (mut known, mut all) = (KnownRows::default(), Vec::new());
        for addresses in addresses() {
            for (bytes, mask) in [(4, LaneMask::MAX), (4, 0x0f0f_00f0), (8, 0xaaaa_aaaa), (2, 7)] {
                let addresses = addresses.plus(0, 64);
                let access = access(WarpId::new(0), mask, &addresses, bytes, AccessKind::default());
                rows(&access, &mut known, |page, row| {
                    let mut part = row.clone();
                    part.restrict(0xff0f_f0f0_0ff0_ffff << 32);
                    all.extend([row, part].map(|row| (page, row)));
                });
            }
        }
        let mut met = 0;
        for (page, old) in &all {
            assert_eq!(old.lanes, old.lanes_at(old.bytes));
            for (_, new) in all.iter().filter(|(other, _)| other == page) {
                let both = old.bytes & new.bytes;
                let parts = [both, both & 0x00ff_0ff0_f0f0_0f0f, both & 0xf];
                for bytes in parts.into_iter().filter(|bytes| *bytes != 0) {
                    let (mut said, mut expected) = ([0; WARP], [0; WARP]);
                    old.meet(new, bytes, |lane, others| said[lane] = others);
                    for lane in lanes(new.lanes) {
                        let shared =
                            |other: &usize| old.bytes_of(*other) & new.bytes_of(lane) & bytes != 0;
                        expected[lane] =
                            lanes(old.lanes).filter(shared).fold(0, |all, other| all | 1 << other);
                    }
                    met += expected.iter().filter(|others| **others != 0).count();
                    assert_eq!(said, expected, "{old:?} {new:?} {bytes:x}");
                }
            }
        }
        assert!(met > 10_000, "{met}");
    }
}
