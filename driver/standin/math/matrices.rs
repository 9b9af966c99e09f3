//! cuBLAS, level 3: matrices.

use crate::math::checks::{self, Product};
use crate::math::own::Own;
use crate::status::Answer;

blas! {
    "gemm_v2" [S D C Z] both (ta: i32, tb: i32, m: Int, n: Int, k: Int, _alpha: u64, _a: u64, lda: Int, _b: u64, ldb: Int, _beta: u64, c: u64, ldc: Int) => |own| {
        own.product(c, Product { operations: (ta, tb), sizes: (m, n, k), leading: (lda, ldb, ldc) })
    };
    "gemm" [H] both (ta: i32, tb: i32, m: Int, n: Int, k: Int, _alpha: u64, _a: u64, lda: Int, _b: u64, ldb: Int, _beta: u64, c: u64, ldc: Int) => |own| {
        own.product(c, Product { operations: (ta, tb), sizes: (m, n, k), leading: (lda, ldb, ldc) })
    };
    "gemm3m" [C Z] both (ta: i32, tb: i32, m: Int, n: Int, k: Int, _alpha: u64, _a: u64, lda: Int, _b: u64, ldb: Int, _beta: u64, c: u64, ldc: Int) => |own| {
        own.product(c, Product { operations: (ta, tb), sizes: (m, n, k), leading: (lda, ldb, ldc) })
    };
    "symm_v2" [S D C Z] both (side: i32, _uplo: i32, m: Int, n: Int, _alpha: u64, _a: u64, lda: Int, _b: u64, ldb: Int, _beta: u64, c: u64, ldc: Int) => |own| sided(own, side, (m, n), (lda, ldb), (c, ldc));
    "hemm_v2" [C Z] both (side: i32, _uplo: i32, m: Int, n: Int, _alpha: u64, _a: u64, lda: Int, _b: u64, ldb: Int, _beta: u64, c: u64, ldc: Int) => |own| sided(own, side, (m, n), (lda, ldb), (c, ldc));
    "trmm_v2" [S D C Z] both (side: i32, _uplo: i32, _trans: i32, _diag: i32, m: Int, n: Int, _alpha: u64, _a: u64, lda: Int, _b: u64, ldb: Int, c: u64, ldc: Int) => |own| sided(own, side, (m, n), (lda, ldb), (c, ldc));
    "trsm_v2" [S D C Z] both (side: i32, _uplo: i32, _trans: i32, _diag: i32, m: Int, n: Int, _alpha: u64, _a: u64, lda: Int, b: u64, ldb: Int) => |own| sided(own, side, (m, n), (lda, ldb), (b, ldb));
    "syrk_v2" [S D C Z] both (_uplo: i32, trans: i32, n: Int, k: Int, _alpha: u64, _a: u64, lda: Int, _beta: u64, c: u64, ldc: Int) => |own| square(own, trans, (n, k), &[("lda", lda)], (c, ldc));
    "herk_v2" [C Z] both (_uplo: i32, trans: i32, n: Int, k: Int, _alpha: u64, _a: u64, lda: Int, _beta: u64, c: u64, ldc: Int) => |own| square(own, trans, (n, k), &[("lda", lda)], (c, ldc));
    "syr2k_v2" [S D C Z] both (_uplo: i32, trans: i32, n: Int, k: Int, _alpha: u64, _a: u64, lda: Int, _b: u64, ldb: Int, _beta: u64, c: u64, ldc: Int) => |own| square(own, trans, (n, k), &[("lda", lda), ("ldb", ldb)], (c, ldc));
    "her2k_v2" [C Z] both (_uplo: i32, trans: i32, n: Int, k: Int, _alpha: u64, _a: u64, lda: Int, _b: u64, ldb: Int, _beta: u64, c: u64, ldc: Int) => |own| square(own, trans, (n, k), &[("lda", lda), ("ldb", ldb)], (c, ldc));
    "syrkx" [S D C Z] both (_uplo: i32, trans: i32, n: Int, k: Int, _alpha: u64, _a: u64, lda: Int, _b: u64, ldb: Int, _beta: u64, c: u64, ldc: Int) => |own| square(own, trans, (n, k), &[("lda", lda), ("ldb", ldb)], (c, ldc));
    "herkx" [C Z] both (_uplo: i32, trans: i32, n: Int, k: Int, _alpha: u64, _a: u64, lda: Int, _b: u64, ldb: Int, _beta: u64, c: u64, ldc: Int) => |own| square(own, trans, (n, k), &[("lda", lda), ("ldb", ldb)], (c, ldc));
    "geam" [S D C Z] both (ta: i32, tb: i32, m: Int, n: Int, _alpha: u64, _a: u64, _lda: Int, _beta: u64, _b: u64, _ldb: Int, c: u64, ldc: Int) => |own| {
        checks::operations(&[("transa", ta), ("transb", tb)])?;
        plain(own, (m, n), (c, ldc))
    };
    "dgmm" [S D C Z] both (_side: i32, m: Int, n: Int, _a: u64, _lda: Int, _x: u64, _incx: Int, c: u64, ldc: Int) => |own| plain(own, (m, n), (c, ldc));
    "tpttr" [S D C Z] narrow (_uplo: i32, n: Int, _packed: u64, a: u64, lda: Int) => |own| plain(own, (n, n), (a, lda));
    "trttp" [S D C Z] narrow (_uplo: i32, n: Int, _a: u64, lda: Int, packed: u64) => |own| {
        checks::sizes(&[("n", n)])?;
        checks::columns(&[("lda", lda, n)])?;
        own.vector(packed, n.saturating_mul(n.saturating_add(1)) / 2, 1)
    };
}

/// A result of m x n.
fn plain(own: Own, (m, n): (i64, i64), (c, ldc): (u64, i64)) -> Answer {
    checks::sizes(&[("m", m), ("n", n)])?;
    checks::columns(&[("ldc", ldc, m)])?;
    own.matrix(c, m, n, ldc)
}

/// A product of m x n with a square matrix on one side (0: on the left).
fn sided(own: Own, side: i64, (m, n): (i64, i64), (lda, ldb): (i64, i64), c: (u64, i64)) -> Answer {
    checks::sizes(&[("m", m), ("n", n)])?;
    checks::columns(&[("lda", lda, if side == 0 { m } else { n }), ("ldb", ldb, m)])?;
    plain(own, (m, n), c)
}

/// A product of n x n of matrices of n x k, or of k x n that are transposed.
fn square(
    own: Own,
    operation: i64,
    (n, k): (i64, i64),
    leading: &[(&str, i64)],
    (c, ldc): (u64, i64),
) -> Answer {
    checks::operations(&[("trans", operation)])?;
    checks::sizes(&[("n", n), ("k", k)])?;
    for (name, leading) in leading {
        checks::columns(&[(name, *leading, if operation == 0 { n } else { k })])?;
    }
    checks::columns(&[("ldc", ldc, n)])?;
    // One triangle of it is written; which one is not told apart.
    own.matrix(c, n, n, ldc)
}
