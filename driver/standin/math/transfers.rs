//! cuBLAS: copies of vectors and matrices between host and device. They have no handle.

use crate::call::Call;
use crate::foreign::Host;
use crate::math::checks;
use crate::math::codes;
use crate::order;
use crate::status::{Answer, Status, refuse};
use crate::work::Work;

library! { codes::blas;
    "cublasSetVector" both (n: Int, size: Int, x: u64, incx: Int, y: u64, incy: Int) => |call| vectors(call, true, (n, size), (x, incx), (y, incy), 0);
    "cublasGetVector" both (n: Int, size: Int, x: u64, incx: Int, y: u64, incy: Int) => |call| vectors(call, false, (n, size), (x, incx), (y, incy), 0);
    "cublasSetVectorAsync" both (n: Int, size: Int, x: u64, incx: Int, y: u64, incy: Int, stream: u64) => |call| vectors(call, true, (n, size), (x, incx), (y, incy), stream);
    "cublasGetVectorAsync" both (n: Int, size: Int, x: u64, incx: Int, y: u64, incy: Int, stream: u64) => |call| vectors(call, false, (n, size), (x, incx), (y, incy), stream);
    "cublasSetMatrix" both (rows: Int, columns: Int, size: Int, a: u64, lda: Int, b: u64, ldb: Int) => |call| matrices(call, true, (rows, columns, size), (a, lda), (b, ldb), 0);
    "cublasGetMatrix" both (rows: Int, columns: Int, size: Int, a: u64, lda: Int, b: u64, ldb: Int) => |call| matrices(call, false, (rows, columns, size), (a, lda), (b, ldb), 0);
    "cublasSetMatrixAsync" both (rows: Int, columns: Int, size: Int, a: u64, lda: Int, b: u64, ldb: Int, stream: u64) => |call| matrices(call, true, (rows, columns, size), (a, lda), (b, ldb), stream);
    "cublasGetMatrixAsync" both (rows: Int, columns: Int, size: Int, a: u64, lda: Int, b: u64, ldb: Int, stream: u64) => |call| matrices(call, false, (rows, columns, size), (a, lda), (b, ldb), stream);
}

/// Copies a vector as the one row of a matrix.
fn vectors(
    call: &Call,
    is_in: bool,
    (n, size): (i64, i64),
    (x, incx): (u64, i64),
    (y, incy): (u64, i64),
    stream: u64,
) -> Answer {
    checks::sizes(&[("n", n)])?;
    if incx <= 0 || incy <= 0 {
        return Err(refuse(Status::InvalidValue, format!("the steps are {incx} and {incy}")));
    }
    matrices(call, is_in, (1, n, size), (x, incx), (y, incy), stream)
}

/// Copies columns of `rows` elements of `size` bytes.
fn matrices(
    call: &Call,
    is_in: bool,
    (rows, columns, size): (i64, i64, i64),
    (from, lda): (u64, i64),
    (to, ldb): (u64, i64),
    stream: u64,
) -> Answer {
    checks::sizes(&[("rows", rows), ("cols", columns)])?;
    if size <= 0 {
        return Err(refuse(Status::InvalidValue, format!("elements of {size} bytes")));
    }
    checks::columns(&[("lda", lda, rows), ("ldb", ldb, rows)])?;
    let bytes = |elements: i64| {
        let bytes = elements.checked_mul(size).and_then(|bytes| u64::try_from(bytes).ok());
        bytes.ok_or_else(|| refuse(Status::InvalidValue, "the sizes are too large"))
    };
    let (length, source, target) = (bytes(rows)?, bytes(lda)?, bytes(ldb)?);
    // Columns that follow each other are one copy.
    let columns = columns.unsigned_abs();
    let is_one = length == source && length == target;
    let length = if is_one { length.saturating_mul(columns) } else { length };
    let mut state = call.current()?;
    for at in 0..if is_one { 1 } else { columns } {
        let (from, to) = (from.wrapping_add(at * source), to.wrapping_add(at * target));
        let work = if is_in {
            Work::In { to, from: Host::at(from), count: length }
        } else {
            Work::Out { to: Host::at(to), from, count: length }
        };
        order::submit(&mut state, stream, work)?;
    }
    Ok(())
}
