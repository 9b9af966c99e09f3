//! cuBLAS: batches of factorisations, and what is solved with them.

use crate::foreign::Out;
use crate::math::checks;
use crate::math::elements::Element;
use crate::math::own::Own;
use crate::results::Runs;
use crate::status::{Answer, Refusal};

blas! {
    "getrfBatched" [S D C Z] narrow (n: Int, a: u64, lda: Int, pivots: u64, info: u64, count: Int) => |own| {
        let a = square(own, n, ("lda", lda), a)?;
        integers(own, pivots, n.saturating_mul(count))?;
        integers(own, info, count)?;
        own.batch(&[a], count)
    };
    "getriBatched" [S D C Z] narrow (n: Int, _a: u64, lda: Int, _pivots: u64, c: u64, ldc: Int, info: u64, count: Int) => |own| {
        checks::columns(&[("lda", lda, n)])?;
        let c = square(own, n, ("ldc", ldc), c)?;
        integers(own, info, count)?;
        own.batch(&[c], count)
    };
    "matinvBatched" [S D C Z] narrow (n: Int, _a: u64, lda: Int, inverse: u64, ldi: Int, info: u64, count: Int) => |own| {
        checks::columns(&[("lda", lda, n)])?;
        let inverse = square(own, n, ("lda_inv", ldi), inverse)?;
        integers(own, info, count)?;
        own.batch(&[inverse], count)
    };
    // `info` is the host's: no parameter was wrong.
    "getrsBatched" [S D C Z] narrow (trans: i32, n: Int, columns: Int, _a: u64, lda: Int, _pivots: u64, b: u64, ldb: Int, info: Out<i32>, count: Int) => |own| {
        checks::operations(&[("trans", trans)])?;
        checks::sizes(&[("n", n), ("nrhs", columns)])?;
        checks::columns(&[("lda", lda, n), ("ldb", ldb, n)])?;
        info.give(0)?;
        own.batch(&[(own.element.matrix(0, n, columns, ldb), b)], count)
    };
    "geqrfBatched" [S D C Z] narrow (m: Int, n: Int, a: u64, lda: Int, tau: u64, info: Out<i32>, count: Int) => |own| {
        checks::sizes(&[("m", m), ("n", n)])?;
        checks::columns(&[("lda", lda, m)])?;
        info.give(0)?;
        let element = own.element;
        own.batch(&[(element.matrix(0, m, n, lda), a), (element.vector(0, m.min(n), 1), tau)], count)
    };
    "gelsBatched" [S D C Z] narrow (_trans: i32, m: Int, n: Int, columns: Int, a: u64, lda: Int, c: u64, ldc: Int, info: Out<i32>, info_array: u64, count: Int) => |own| {
        checks::sizes(&[("m", m), ("n", n), ("nrhs", columns)])?;
        checks::columns(&[("lda", lda, m), ("ldc", ldc, m.max(n))])?;
        info.give(0)?;
        if info_array != 0 {
            integers(own, info_array, count)?;
        }
        let element = own.element;
        own.batch(&[(element.matrix(0, m, n, lda), a), (element.matrix(0, m.max(n), columns, ldc), c)], count)
    };
}

/// A square matrix of a batch, with the array that names it.
fn square(
    own: Own,
    n: i64,
    (name, leading): (&str, i64),
    array: u64,
) -> Result<(Runs, u64), Refusal> {
    checks::sizes(&[("n", n)])?;
    checks::columns(&[(name, leading, n)])?;
    Ok((own.element.matrix(0, n, n, leading), array))
}

/// Notes that integers of 32 bits are written; pivots are left out by a null pointer.
fn integers(own: Own, to: u64, count: i64) -> Answer {
    /// `CUDA_R_32I`.
    const INTEGER: i64 = 10;
    if to == 0 {
        return Ok(());
    }
    own.with(Element::of(INTEGER)?).vector(to, count, 1)
}
