//! The values that racing stores leave: a race of two stores that leave the same value is benign.

use crate::emulate::{SymbolId, Symbolics, Value};

/// A byte as it was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoredByte {
    Known(u8),
    /// A byte of an open value: its symbolic value, the number that is added, and the position of the byte.
    Term(SymbolId, u64, u32),
    Unknown,
}

impl StoredByte {
    /// The byte at `offset` among the `bytes` bytes that a lane stores, which are those of `elements` in order. Without
    /// elements it is unknown.
    pub(super) fn new(elements: &[Value], bytes: u32, lane: usize, offset: u64) -> Self {
        let size = u64::from(bytes).checked_div(elements.len() as u64).unwrap_or(1).max(1);
        let element = usize::try_from(offset / size).ok().and_then(|at| elements.get(at));
        let Some(value) = element else { return Self::Unknown };
        let within = u32::try_from(offset % size).expect("elements are small");
        let bits = value.bits_of(lane);
        if let Some(symbol) = value.symbol_of(lane) {
            return Self::Term(symbol, bits, within);
        }
        bits.to_le_bytes().get(within as usize).map_or(Self::Unknown, |byte| Self::Known(*byte))
    }

    /// Whether both bytes are provably equal.
    pub(super) fn is_same(&self, other: &Self, symbolics: &Symbolics) -> bool {
        match (self, other) {
            (Self::Known(a), Self::Known(b)) => a == b,
            (Self::Term(a, bits, place), Self::Term(b, others, other)) => {
                (bits, place) == (others, other) && symbolics.are_same(*a, *b)
            }
            _ => false,
        }
    }
}

/// Whether two lanes provably store the same value, element by element.
pub(super) fn are_same(
    a: &[Value],
    first: usize,
    b: &[Value],
    second: usize,
    symbolics: &Symbolics,
) -> bool {
    let is_same = |(a, b): (&Value, &Value)| {
        a.bits_of(first) == b.bits_of(second)
            && match (a.symbol_of(first), b.symbol_of(second)) {
                (None, None) => true,
                (Some(a), Some(b)) => symbolics.are_same(a, b),
                _ => false,
            }
    };
    a.len() == b.len() && a.iter().zip(b).all(is_same)
}
