//! Types of the elements of vectors and matrices, as the names of functions and `cudaDataType` name them.
#![allow(non_upper_case_globals, reason = "the letters are those in the names of the functions")]

use crate::results::Runs;
use crate::status::{Refusal, Status, refuse};

/// A type of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Element {
    /// Bits of one; some have less than a byte.
    bits: u64,
    /// Bytes of a length of a vector of them: that of a complex number is no complex number.
    pub(super) real: u64,
}

const fn element(bytes: u64, real: u64) -> Element {
    Element { bits: 8 * bytes, real }
}

/// Numbers of single precision, of double precision, and complex numbers of each.
pub(super) const S: Element = element(4, 4);
pub(super) const D: Element = element(8, 8);
pub(super) const C: Element = element(8, 4);
pub(super) const Z: Element = element(16, 8);
/// Numbers of half precision.
pub(super) const H: Element = element(2, 2);
/// The function has two types in its name: real lengths of complex numbers, and complex numbers times real ones.
pub(super) const Sc: Element = C;
pub(super) const Dz: Element = Z;
pub(super) const Cs: Element = C;
pub(super) const Zd: Element = Z;
/// The function returns the index of an element.
pub(super) const Is: Element = S;
pub(super) const Id: Element = D;
pub(super) const Ic: Element = C;
pub(super) const Iz: Element = Z;
/// Products of half precision: what comes out is in half or single precision, or `bfloat16`.
pub(super) const HSH: Element = H;
pub(super) const HSS: Element = S;
pub(super) const TST: Element = H;
pub(super) const TSS: Element = S;

impl Element {
    /// Returns the type with a number of `cudaDataType`.
    pub(super) fn of(number: i64) -> Result<Self, Refusal> {
        let bits = match number {
            16 | 18 | 33 => 4,
            31 | 32 => 6,
            3 | 8 | 17 | 19 | 28..=30 => 8,
            2 | 7 | 9 | 14 | 20 | 22 => 16,
            0 | 6 | 10 | 12 | 15 | 21 | 23 => 32,
            1 | 4 | 11 | 13 | 24 | 26 => 64,
            5 | 25 | 27 => 128,
            _ => {
                let reason = format!("there is no type of elements {number}");
                return Err(refuse(Status::InvalidValue, reason));
            }
        };
        let is_complex = matches!(number, 4..=7 | 9 | 11 | 13 | 15 | 17 | 19 | 21 | 23 | 25 | 27);
        Ok(Element { bits, real: bits.div_ceil(8) / if is_complex { 2 } else { 1 } })
    }

    /// Returns the bytes of so many elements.
    pub(super) fn bytes(self, count: i64) -> u64 {
        // Sizes that are too large stay so: their results are in no allocation.
        self.bits.saturating_mul(count.unsigned_abs()).div_ceil(8)
    }

    /// Returns a matrix whose columns are `leading` elements apart.
    pub(super) fn matrix(self, start: u64, rows: i64, columns: i64, leading: i64) -> Runs {
        Runs {
            start,
            length: self.bytes(rows.max(0)),
            pitch: self.bytes(leading),
            count: columns.max(0).unsigned_abs(),
        }
    }

    /// Returns a vector whose elements are `step` apart, in either direction.
    pub(super) fn vector(self, start: u64, count: i64, step: i64) -> Runs {
        self.matrix(start, 1, count, step)
    }
}

#[cfg(test)]
mod tests {
    use super::{C, Element, S};
    use crate::results::Runs;

    #[test]
    fn elements_have_the_sizes_of_their_types() {
        // CUDA_R_16F, CUDA_C_64F, CUDA_R_4I, CUDA_C_32F.
        assert_eq!(Element::of(2).unwrap().bytes(3), 6);
        assert_eq!(Element::of(5).unwrap().bytes(3), 48);
        assert_eq!(Element::of(16).unwrap().bytes(3), 2);
        assert_eq!(Element::of(4).unwrap(), C);
        assert!(Element::of(99).is_err());
    }

    #[test]
    fn matrices_are_columns_and_vectors_go_either_way() {
        let runs = |length, pitch, count| Runs { start: 8, length, pitch, count };
        assert_eq!(S.matrix(8, 3, 5, 4), runs(12, 16, 5));
        assert_eq!(S.vector(8, 5, -2), runs(4, 8, 5));
        assert_eq!(S.matrix(8, 3, -1, 4).count, 0);
    }
}
