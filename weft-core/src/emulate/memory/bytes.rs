//! Sets of bytes of a page, with one bit for each byte.

/// Bytes in a page.
pub(crate) const PAGE: u64 = 128;

/// A set of bytes of a page: bit `i` stands for byte `i`.
pub(crate) type Bytes = u128;

/// The bytes `from..to` of a page; positions outside of the page are ignored.
pub(crate) fn span(from: i64, to: i64) -> Bytes {
    const LAST: i64 = PAGE.cast_signed();
    let (from, to) = (from.clamp(0, LAST), to.clamp(0, LAST));
    let below = |end: i64| if end == LAST { Bytes::MAX } else { (1 << end) - 1 };
    if from < to { below(to) & !below(from) } else { 0 }
}

/// The first `count` bytes of a page, or all of them if it has fewer.
pub(crate) fn first(count: u32) -> Bytes {
    if count == 0 { 0 } else { Bytes::MAX >> (Bytes::BITS - count.min(Bytes::BITS)) }
}

/// Iterates over the positions of these bytes in their page, ascending.
pub(crate) fn places(bytes: Bytes) -> impl Iterator<Item = u64> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let at = u64::from(rest.trailing_zeros());
        rest &= rest.wrapping_sub(1);
        (at < PAGE).then_some(at)
    })
}
