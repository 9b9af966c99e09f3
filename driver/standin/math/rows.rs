//! cuBLAS, level 2: matrices and vectors.

use crate::math::checks;
use crate::math::own::Own;
use crate::status::Answer;

blas! {
    "gemv_v2" [S D C Z] both (trans: i32, m: Int, n: Int, _alpha: u64, _a: u64, lda: Int, _x: u64, incx: Int, _beta: u64, y: u64, incy: Int) => |own| {
        own.rows(trans, (m, n), (lda, m), incx, (y, incy))
    };
    "gbmv_v2" [S D C Z] both (trans: i32, m: Int, n: Int, kl: Int, ku: Int, _alpha: u64, _a: u64, lda: Int, _x: u64, incx: Int, _beta: u64, y: u64, incy: Int) => |own| {
        checks::sizes(&[("kl", kl), ("ku", ku)])?;
        own.rows(trans, (m, n), (lda, kl.saturating_add(ku).saturating_add(1)), incx, (y, incy))
    };
    "symv_v2" [S D C Z] both (_uplo: i32, n: Int, _alpha: u64, _a: u64, lda: Int, _x: u64, incx: Int, _beta: u64, y: u64, incy: Int) => |own| own.rows(0, (n, n), (lda, n), incx, (y, incy));
    "hemv_v2" [C Z] both (_uplo: i32, n: Int, _alpha: u64, _a: u64, lda: Int, _x: u64, incx: Int, _beta: u64, y: u64, incy: Int) => |own| own.rows(0, (n, n), (lda, n), incx, (y, incy));
    "sbmv_v2" [S D] both (_uplo: i32, n: Int, k: Int, _alpha: u64, _a: u64, lda: Int, _x: u64, incx: Int, _beta: u64, y: u64, incy: Int) => |own| banded(own, (n, k, lda), incx, (y, incy));
    "hbmv_v2" [C Z] both (_uplo: i32, n: Int, k: Int, _alpha: u64, _a: u64, lda: Int, _x: u64, incx: Int, _beta: u64, y: u64, incy: Int) => |own| banded(own, (n, k, lda), incx, (y, incy));
    "spmv_v2" [S D] both (_uplo: i32, n: Int, _alpha: u64, _a: u64, _x: u64, incx: Int, _beta: u64, y: u64, incy: Int) => |own| own.rows(0, (n, n), (n.max(1), n), incx, (y, incy));
    "hpmv_v2" [C Z] both (_uplo: i32, n: Int, _alpha: u64, _a: u64, _x: u64, incx: Int, _beta: u64, y: u64, incy: Int) => |own| own.rows(0, (n, n), (n.max(1), n), incx, (y, incy));
    "trmv_v2" [S D C Z] both (_uplo: i32, trans: i32, _diag: i32, n: Int, _a: u64, lda: Int, x: u64, incx: Int) => |own| own.rows(trans, (n, n), (lda, n), incx, (x, incx));
    "trsv_v2" [S D C Z] both (_uplo: i32, trans: i32, _diag: i32, n: Int, _a: u64, lda: Int, x: u64, incx: Int) => |own| own.rows(trans, (n, n), (lda, n), incx, (x, incx));
    "tbmv_v2" [S D C Z] both (_uplo: i32, _trans: i32, _diag: i32, n: Int, k: Int, _a: u64, lda: Int, x: u64, incx: Int) => |own| banded(own, (n, k, lda), incx, (x, incx));
    "tbsv_v2" [S D C Z] both (_uplo: i32, _trans: i32, _diag: i32, n: Int, k: Int, _a: u64, lda: Int, x: u64, incx: Int) => |own| banded(own, (n, k, lda), incx, (x, incx));
    "tpmv_v2" [S D C Z] both (_uplo: i32, trans: i32, _diag: i32, n: Int, _a: u64, x: u64, incx: Int) => |own| own.rows(trans, (n, n), (n.max(1), n), incx, (x, incx));
    "tpsv_v2" [S D C Z] both (_uplo: i32, trans: i32, _diag: i32, n: Int, _a: u64, x: u64, incx: Int) => |own| own.rows(trans, (n, n), (n.max(1), n), incx, (x, incx));

    "ger_v2" [S D] both (m: Int, n: Int, _alpha: u64, _x: u64, incx: Int, _y: u64, incy: Int, a: u64, lda: Int) => |own| outer(own, (m, n), &[("incx", incx), ("incy", incy)], (a, lda));
    "geru_v2" [C Z] both (m: Int, n: Int, _alpha: u64, _x: u64, incx: Int, _y: u64, incy: Int, a: u64, lda: Int) => |own| outer(own, (m, n), &[("incx", incx), ("incy", incy)], (a, lda));
    "gerc_v2" [C Z] both (m: Int, n: Int, _alpha: u64, _x: u64, incx: Int, _y: u64, incy: Int, a: u64, lda: Int) => |own| outer(own, (m, n), &[("incx", incx), ("incy", incy)], (a, lda));
    "syr_v2" [S D C Z] both (_uplo: i32, n: Int, _alpha: u64, _x: u64, incx: Int, a: u64, lda: Int) => |own| outer(own, (n, n), &[("incx", incx)], (a, lda));
    "her_v2" [C Z] both (_uplo: i32, n: Int, _alpha: u64, _x: u64, incx: Int, a: u64, lda: Int) => |own| outer(own, (n, n), &[("incx", incx)], (a, lda));
    "syr2_v2" [S D C Z] both (_uplo: i32, n: Int, _alpha: u64, _x: u64, incx: Int, _y: u64, incy: Int, a: u64, lda: Int) => |own| outer(own, (n, n), &[("incx", incx), ("incy", incy)], (a, lda));
    "her2_v2" [C Z] both (_uplo: i32, n: Int, _alpha: u64, _x: u64, incx: Int, _y: u64, incy: Int, a: u64, lda: Int) => |own| outer(own, (n, n), &[("incx", incx), ("incy", incy)], (a, lda));
    "spr_v2" [S D] both (_uplo: i32, n: Int, _alpha: u64, _x: u64, incx: Int, packed: u64) => |own| outer(own, (triangle(n), 1), &[("incx", incx)], (packed, i64::MAX));
    "hpr_v2" [C Z] both (_uplo: i32, n: Int, _alpha: u64, _x: u64, incx: Int, packed: u64) => |own| outer(own, (triangle(n), 1), &[("incx", incx)], (packed, i64::MAX));
    "spr2_v2" [S D] both (_uplo: i32, n: Int, _alpha: u64, _x: u64, incx: Int, _y: u64, incy: Int, packed: u64) => |own| outer(own, (triangle(n), 1), &[("incx", incx), ("incy", incy)], (packed, i64::MAX));
    "hpr2_v2" [C Z] both (_uplo: i32, n: Int, _alpha: u64, _x: u64, incx: Int, _y: u64, incy: Int, packed: u64) => |own| outer(own, (triangle(n), 1), &[("incx", incx), ("incy", incy)], (packed, i64::MAX));
}

/// A product with a square matrix of which `k` diagonals beside the main one are stored.
fn banded(own: Own, (n, k, lda): (i64, i64, i64), incx: i64, y: (u64, i64)) -> Answer {
    checks::sizes(&[("k", k)])?;
    own.rows(0, (n, n), (lda, k.saturating_add(1)), incx, y)
}

/// A product of vectors, which is added to a matrix.
fn outer(own: Own, (m, n): (i64, i64), steps: &[(&str, i64)], (a, lda): (u64, i64)) -> Answer {
    checks::sizes(&[("m", m), ("n", n)])?;
    checks::steps(steps)?;
    checks::columns(&[("lda", lda, m)])?;
    own.matrix(a, m, n, lda)
}

/// Returns the elements of a triangle of a square matrix, a negative number for a negative size.
fn triangle(n: i64) -> i64 {
    if n < 0 { n } else { n.saturating_mul(n.saturating_add(1)) / 2 }
}
