//! What cuBLAS refuses of sizes, whatever is computed.

use crate::status::{Answer, Status, refuse};

fn wrong(reason: String) -> Answer {
    Err(refuse(Status::InvalidValue, reason))
}

/// Refuses negative sizes.
pub(super) fn sizes(all: &[(&str, i64)]) -> Answer {
    match all.iter().find(|(_, size)| *size < 0) {
        Some((name, size)) => wrong(format!("{name} is {size}")),
        None => Ok(()),
    }
}

/// Refuses columns that overlap: each has a name, the elements from one to the next, and the elements of one.
pub(super) fn columns(all: &[(&str, i64, i64)]) -> Answer {
    match all.iter().find(|(_, leading, rows)| *leading < *rows.max(&1)) {
        Some((name, leading, rows)) => {
            wrong(format!("{name} is {leading}, less than the {} rows of the matrix", rows.max(&1)))
        }
        None => Ok(()),
    }
}

/// Refuses vectors of which all elements are one.
pub(super) fn steps(all: &[(&str, i64)]) -> Answer {
    match all.iter().find(|(_, step)| *step == 0) {
        Some((name, _)) => wrong(format!("{name} is 0")),
        None => Ok(()),
    }
}

/// Refuses an unknown way to transpose (`cublasOperation_t`).
pub(super) fn operations(all: &[(&str, i64)]) -> Answer {
    match all.iter().find(|(_, operation)| !(0..=3).contains(operation)) {
        Some((name, operation)) => wrong(format!("{name} is {operation}, which is no operation")),
        None => Ok(()),
    }
}

/// Sizes of a product of matrices: m x k by k x n.
#[derive(Debug, Clone, Copy)]
pub(super) struct Product {
    /// What is done with both factors before.
    pub(super) operations: (i64, i64),
    /// Rows and columns of the result, and what is summed up.
    pub(super) sizes: (i64, i64, i64),
    /// Elements from column to column of both factors and of the result.
    pub(super) leading: (i64, i64, i64),
}

impl Product {
    /// Refuses what the manual says of `cublas<t>gemm`.
    pub(super) fn check(&self) -> Answer {
        let Product { operations: (ta, tb), sizes: (m, n, k), leading: (lda, ldb, ldc) } = *self;
        operations(&[("transa", ta), ("transb", tb)])?;
        sizes(&[("m", m), ("n", n), ("k", k)])?;
        let rows =
            |operation, plain, turned| if matches!(operation, 0 | 3) { plain } else { turned };
        columns(&[("lda", lda, rows(ta, m, k)), ("ldb", ldb, rows(tb, k, n)), ("ldc", ldc, m)])
    }
}

#[cfg(test)]
mod tests {
    use super::Product;

    #[test]
    fn products_are_refused_as_the_manual_says() {
        let reason = |operations, sizes, leading| {
            let refused = Product { operations, sizes, leading }.check().err();
            refused.and_then(|refusal| refusal.reason).unwrap_or_default()
        };
        // 4 x 3 by 3 x 5.
        assert_eq!(reason((0, 0), (4, 5, 3), (4, 3, 4)), "");
        assert_eq!(reason((1, 2), (4, 5, 3), (3, 5, 4)), "");
        let less =
            |name, is, rows| format!("{name} is {is}, less than the {rows} rows of the matrix");
        assert_eq!(reason((1, 0), (4, 5, 3), (2, 3, 4)), less("lda", 2, 3));
        assert_eq!(reason((0, 1), (4, 5, 3), (4, 4, 4)), less("ldb", 4, 5));
        assert_eq!(reason((0, 0), (4, 5, 3), (4, 3, 3)), less("ldc", 3, 4));
        assert_eq!(reason((0, 0), (0, 0, 0), (1, 1, 0)), less("ldc", 0, 1));
        assert_eq!(reason((0, 0), (4, -1, 3), (4, 3, 4)), "n is -1");
        assert_eq!(reason((7, 0), (4, 5, 3), (4, 3, 4)), "transa is 7, which is no operation");
    }
}
