//! cuBLAS: batches of products, at equal distances or named by arrays of pointers.

use crate::foreign::{In, Plain};
use crate::math::arrays;
use crate::math::checks::{self, Product};
use crate::math::own::Own;
use crate::results::{Results, Runs};
use crate::status::{Answer, Refusal, Status, refuse};

blas! {
    "gemmStridedBatched" [S D C Z H] both (ta: i32, tb: i32, m: Int, n: Int, k: Int, _alpha: u64, _a: u64, lda: Int, _stride_a: i64, _b: u64, ldb: Int, _stride_b: i64, _beta: u64, c: u64, ldc: Int, stride: i64, count: Int) => |own| {
        let product = Product { operations: (ta, tb), sizes: (m, n, k), leading: (lda, ldb, ldc) };
        own.strided_products(product, c, stride, count)
    };
    "gemm3mStridedBatched" [C] both (ta: i32, tb: i32, m: Int, n: Int, k: Int, _alpha: u64, _a: u64, lda: Int, _stride_a: i64, _b: u64, ldb: Int, _stride_b: i64, _beta: u64, c: u64, ldc: Int, stride: i64, count: Int) => |own| {
        let product = Product { operations: (ta, tb), sizes: (m, n, k), leading: (lda, ldb, ldc) };
        own.strided_products(product, c, stride, count)
    };
    "gemmBatched" [S D C Z H] both (ta: i32, tb: i32, m: Int, n: Int, k: Int, _alpha: u64, _a: u64, lda: Int, _b: u64, ldb: Int, _beta: u64, c: u64, ldc: Int, count: Int) => |own| {
        let product = Product { operations: (ta, tb), sizes: (m, n, k), leading: (lda, ldb, ldc) };
        own.products(product, c, count)
    };
    "gemm3mBatched" [C] both (ta: i32, tb: i32, m: Int, n: Int, k: Int, _alpha: u64, _a: u64, lda: Int, _b: u64, ldb: Int, _beta: u64, c: u64, ldc: Int, count: Int) => |own| {
        let product = Product { operations: (ta, tb), sizes: (m, n, k), leading: (lda, ldb, ldc) };
        own.products(product, c, count)
    };
    "gemmGroupedBatched" [S D] narrow (ta: In<i32>, tb: In<i32>, m: In<i32>, n: In<i32>, k: In<i32>, _alpha: u64, _a: u64, lda: In<i32>, _b: u64, ldb: In<i32>, _beta: u64, c: u64, ldc: In<i32>, groups: Int, sizes: In<i32>) => |own| {
        own.grouped(&batches((ta, tb), [m, n, k], [lda, ldb, ldc], (groups, sizes))?, c)
    };
    "gemmGroupedBatched" [S D] wide (ta: In<i32>, tb: In<i32>, m: In<i64>, n: In<i64>, k: In<i64>, _alpha: u64, _a: u64, lda: In<i64>, _b: u64, ldb: In<i64>, _beta: u64, c: u64, ldc: In<i64>, groups: Int, sizes: In<i64>) => |own| {
        own.grouped(&batches((ta, tb), [m, n, k], [lda, ldb, ldc], (groups, sizes))?, c)
    };
    "gemvStridedBatched" [S D C Z HSH HSS TST TSS] both (trans: i32, m: Int, n: Int, _alpha: u64, _a: u64, lda: Int, _stride_a: i64, _x: u64, incx: Int, _stride_x: i64, _beta: u64, y: u64, incy: Int, stride: i64, count: Int) => |own| {
        let one = vector(own, trans, (m, n), lda, (incx, incy))?;
        own.strided(one, y, stride, count)
    };
    "gemvBatched" [S D C Z HSH HSS TST TSS] both (trans: i32, m: Int, n: Int, _alpha: u64, _a: u64, lda: Int, _x: u64, incx: Int, _beta: u64, y: u64, incy: Int, count: Int) => |own| {
        let one = vector(own, trans, (m, n), lda, (incx, incy))?;
        own.batch(&[(one, y)], count)
    };
    "trsmBatched" [S D C Z] both (side: i32, _uplo: i32, _trans: i32, _diag: i32, m: Int, n: Int, _alpha: u64, _a: u64, lda: Int, b: u64, ldb: Int, count: Int) => |own| {
        checks::sizes(&[("m", m), ("n", n)])?;
        checks::columns(&[("lda", lda, if side == 0 { m } else { n }), ("ldb", ldb, m)])?;
        own.batch(&[(own.element.matrix(0, m, n, ldb), b)], count)
    };
}

/// The result of one product with a vector, at address 0.
fn vector(
    own: Own,
    operation: i64,
    (m, n): (i64, i64),
    lda: i64,
    (incx, incy): (i64, i64),
) -> Result<Runs, Refusal> {
    checks::operations(&[("trans", operation)])?;
    checks::sizes(&[("m", m), ("n", n)])?;
    checks::columns(&[("lda", lda, m)])?;
    checks::steps(&[("incx", incx), ("incy", incy)])?;
    Ok(own.element.vector(0, if matches!(operation, 0 | 3) { m } else { n }, incy))
}

/// Reads the sizes of groups, each with its number of products.
pub(super) fn batches<I: Plain + Into<i64>>(
    (ta, tb): (In<i32>, In<i32>),
    sizes: [In<I>; 3],
    leading: [In<I>; 3],
    (groups, counts): (i64, In<I>),
) -> Result<Vec<(Product, i64)>, Refusal> {
    checks::sizes(&[("group_count", groups)])?;
    let three = |[a, b, c]: [In<I>; 3], at| -> Result<_, Refusal> {
        Ok((a.at(at)?.into(), b.at(at)?.into(), c.at(at)?.into()))
    };
    let group = |at| {
        let operations = (ta.at(at)?.into(), tb.at(at)?.into());
        let product =
            Product { operations, sizes: three(sizes, at)?, leading: three(leading, at)? };
        Ok((product, counts.at(at)?.into()))
    };
    (0..usize::try_from(groups).unwrap_or(0)).map(group).collect()
}

/// Moves runs to another address.
fn at(runs: Runs, start: u64) -> Runs {
    Runs { start: start.saturating_add(runs.start), ..runs }
}

impl Own<'_> {
    /// Notes that the products of a batch are written, `stride` elements apart.
    pub(super) fn strided_products(
        self,
        product: Product,
        c: u64,
        stride: i64,
        count: i64,
    ) -> Answer {
        product.check()?;
        let (m, n, _) = product.sizes;
        self.strided(self.element.matrix(0, m, n, product.leading.2), c, stride, count)
    }

    /// Notes that the products of a batch are written, to which the pointers of an array lead.
    pub(super) fn products(self, product: Product, array: u64, count: i64) -> Answer {
        product.check()?;
        let (m, n, _) = product.sizes;
        self.batch(&[(self.element.matrix(0, m, n, product.leading.2), array)], count)
    }

    /// Notes that equal runs are written, `stride` elements apart.
    pub(super) fn strided(self, one: Runs, start: u64, stride: i64, count: i64) -> Answer {
        checks::sizes(&[("batchCount", count), ("the stride of the results", stride)])?;
        let stride = self.element.bytes(stride);
        self.writes(at(one, start).batch(stride, count.unsigned_abs()))
    }

    /// Notes that runs are written to which the pointers of arrays lead: each has the runs for address 0, and the array.
    pub(super) fn batch(self, parts: &[(Runs, u64)], count: i64) -> Answer {
        checks::sizes(&[("batchCount", count)])?;
        let mut all = Vec::new();
        for (runs, array) in parts {
            let state = self.call.ready()?;
            let addresses = arrays::read(&state.memory, *array, count)?;
            drop(state);
            let Some(addresses) = addresses else { return self.results(Results::Anything) };
            all.extend(addresses.into_iter().map(|start| at(*runs, start)));
        }
        self.writes(all)
    }

    /// Notes that groups of products are written, each as many as it says, to which the pointers of one array lead.
    pub(super) fn grouped(self, groups: &[(Product, i64)], array: u64) -> Answer {
        let mut each = Vec::new();
        for (product, count) in groups {
            product.check()?;
            checks::sizes(&[("the size of a group", *count)])?;
            let (m, n, _) = product.sizes;
            let runs = self.element.matrix(0, m, n, product.leading.2);
            each.push((runs, usize::try_from(*count).map_err(|_| Status::InvalidValue)?));
        }
        let total = each
            .iter()
            .try_fold(0_i64, |sum, (_, count)| sum.checked_add(i64::try_from(*count).ok()?));
        let total =
            total.ok_or_else(|| refuse(Status::InvalidValue, "the groups are too large"))?;
        let addresses = arrays::read(&self.call.ready()?.memory, array, total)?;
        let Some(addresses) = addresses else { return self.results(Results::Anything) };
        let runs = each.into_iter().flat_map(|(runs, count)| std::iter::repeat_n(runs, count));
        self.writes(runs.zip(addresses).map(|(runs, start)| at(runs, start)))
    }
}
