//! cuBLASLt: descriptors of operations, matrices and preferences. Attributes are kept as the program sets them.

use std::collections::BTreeMap;

use crate::call::Call;
use crate::foreign::{Host, Out};
use crate::handles::{Descriptor, Handles, Subject};
use crate::math::codes;
use crate::status::{Answer, Refusal, Status, refuse};

/// Attributes of a matrix (`cublasLtMatrixLayoutAttribute_t`).
const TYPE: i32 = 0;
const ORDER: i32 = 1;
const ROWS: i32 = 2;
const COLUMNS: i32 = 3;
const LEADING: i32 = 4;
const BATCH: i32 = 5;
const STRIDE: i32 = 6;

/// Attributes of an operation (`cublasLtMatmulDescAttributes_t`).
const COMPUTE: i32 = 0;
const SCALE: i32 = 1;
/// Attributes of a change of layout (`cublasLtMatrixTransformDescAttributes_t`).
const TRANSFORM_SCALE: i32 = 0;

/// Makes the functions that a kind of descriptors has. `Init_internal` describes memory of the program, which is then known by its address.
macro_rules! descriptors {
    ($($subject:ident $name:literal ($($parameter:ident: $type:ty),*) => $attributes:expr;)*) => {
        $(library! { codes::blas;
            $name "Create" narrow (descriptor: Out<u64>, $($parameter: $type),*) => |call| {
                let attributes: BTreeMap<i32, Vec<u8>> = BTreeMap::from($attributes);
                let mut state = call.any();
                let fresh = state.handle();
                descriptor.give(fresh)?;
                state.library.describe(fresh, Subject::$subject, attributes);
                Ok(())
            };
            $name "Init_internal" narrow (descriptor: u64, _size: usize, $($parameter: $type),*) => |call| {
                let attributes: BTreeMap<i32, Vec<u8>> = BTreeMap::from($attributes);
                if descriptor == 0 {
                    return Err(refuse(Status::InvalidValue, "describes no memory"));
                }
                call.any().library.describe(descriptor, Subject::$subject, attributes);
                Ok(())
            };
            $name "Destroy" narrow (descriptor: u64) => |call| call.any().library.forget(descriptor, Subject::$subject);
            $name "SetAttribute" narrow (descriptor: u64, attribute: i32, value: Host, bytes: usize) => |call| {
                set(call, (descriptor, Subject::$subject), attribute, value, bytes)
            };
            $name "GetAttribute" narrow (descriptor: u64, attribute: i32, value: Host, bytes: usize, written: Out<usize>) => |call| {
                get(call, (descriptor, Subject::$subject), attribute, (value, bytes), written)
            };
        })*
    };
}
descriptors! {
    Product "cublasLtMatmulDesc" (compute: i32, scale: i32) => [(COMPUTE, word(compute)), (SCALE, word(scale))];
    Layout "cublasLtMatrixLayout" (kind: i32, rows: u64, columns: u64, leading: i64) => [
        (TYPE, word(kind)),
        (ROWS, rows.to_le_bytes().to_vec()),
        (COLUMNS, columns.to_le_bytes().to_vec()),
        (LEADING, leading.to_le_bytes().to_vec()),
        (BATCH, word(1)),
    ];
    Preference "cublasLtMatmulPreference" () => [];
    Transform "cublasLtMatrixTransformDesc" (scale: i32) => [(TRANSFORM_SCALE, word(scale))];
}

/// The bytes of a number of 32 bits.
fn word(number: i64) -> Vec<u8> {
    number.to_le_bytes()[..4].to_vec()
}

/// The most bytes of an attribute.
const MOST: usize = 64;

fn set(
    call: &Call,
    (descriptor, subject): (u64, Subject),
    attribute: i64,
    value: Host,
    bytes: usize,
) -> Answer {
    if bytes > MOST {
        return Err(refuse(Status::InvalidValue, format!("an attribute of {bytes} bytes")));
    }
    let attribute = i32::try_from(attribute).map_err(|_| Status::InvalidValue)?;
    let value = value.read(bytes)?;
    call.any().library.descriptor(descriptor, subject)?.attributes.insert(attribute, value);
    Ok(())
}

/// Attributes that were not set are zeros.
fn get(
    call: &Call,
    (descriptor, subject): (u64, Subject),
    attribute: i64,
    (value, bytes): (Host, usize),
    written: Out<usize>,
) -> Answer {
    let attribute = i32::try_from(attribute).map_err(|_| Status::InvalidValue)?;
    let mut state = call.any();
    let own = state.library.descriptor(descriptor, subject)?.attributes.get(&attribute);
    let own = own.cloned().unwrap_or_else(|| vec![0; bytes.min(MOST)]);
    drop(state);
    // Without room, the caller asks for the size.
    if bytes == 0 {
        return written.give(own.len());
    }
    if bytes < own.len() {
        let reason = format!("asks for {bytes} bytes of an attribute of {}", own.len());
        return Err(refuse(Status::InvalidValue, reason));
    }
    value.result::<u8>().give_all(&own)?;
    written.give_if_wanted(own.len());
    Ok(())
}

/// A matrix, as its descriptor has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    /// Number of the type of its elements.
    pub(super) kind: i64,
    /// 0: columns, 1: rows, others: tiles.
    pub(super) order: i64,
    /// Sizes.
    pub(super) rows: i64,
    pub(super) columns: i64,
    /// Elements from column to column, or from row to row.
    pub(super) leading: i64,
    /// Matrices of a batch, and the elements from one to the next.
    pub(super) batch: i64,
    pub(super) stride: i64,
}

/// Returns an attribute as a number; 0 if it was not set.
pub(super) fn number(own: &Descriptor, attribute: i32) -> i64 {
    let mut wide = [0; 8];
    let bytes = own.attributes.get(&attribute).map_or(&[][..], Vec::as_slice);
    let count = bytes.len().min(8);
    wide[..count].copy_from_slice(&bytes[..count]);
    let is_negative = (1..8).contains(&count) && bytes[count - 1] & 0x80 != 0;
    if is_negative {
        wide[count..].fill(0xff);
    }
    i64::from_le_bytes(wide)
}

/// Returns the matrix of a descriptor.
pub(super) fn layout(handles: &mut Handles, descriptor: u64) -> Result<Layout, Refusal> {
    let own = handles.descriptor(descriptor, Subject::Layout)?;
    let get = |attribute| number(own, attribute);
    Ok(Layout {
        kind: get(TYPE),
        order: get(ORDER),
        rows: get(ROWS),
        columns: get(COLUMNS),
        leading: get(LEADING),
        batch: get(BATCH),
        stride: get(STRIDE),
    })
}
