//! cuBLAS: functions whose parameters say the types of their elements (`cudaDataType`).

use crate::foreign::In;
use crate::math::batches::batches;
use crate::math::checks::Product;
use crate::math::codes;
use crate::math::elements::{Element, S};
use crate::math::own::Own;

library! { codes::blas;
    "cublasGemmEx" both (handle: u64, ta: i32, tb: i32, m: Int, n: Int, k: Int, _alpha: u64, _a: u64, _type_a: i32, lda: Int, _b: u64, _type_b: i32, ldb: Int, _beta: u64, c: u64, type_c: i32, ldc: Int, _compute: i32, _algorithm: i32) => |call| {
        let own = Own::of(call, handle, Element::of(type_c)?)?;
        own.product(c, Product { operations: (ta, tb), sizes: (m, n, k), leading: (lda, ldb, ldc) })
    };
    "cublasGemmStridedBatchedEx" both (handle: u64, ta: i32, tb: i32, m: Int, n: Int, k: Int, _alpha: u64, _a: u64, _type_a: i32, lda: Int, _stride_a: i64, _b: u64, _type_b: i32, ldb: Int, _stride_b: i64, _beta: u64, c: u64, type_c: i32, ldc: Int, stride: i64, count: Int, _compute: i32, _algorithm: i32) => |call| {
        let own = Own::of(call, handle, Element::of(type_c)?)?;
        let product = Product { operations: (ta, tb), sizes: (m, n, k), leading: (lda, ldb, ldc) };
        own.strided_products(product, c, stride, count)
    };
    "cublasGemmBatchedEx" both (handle: u64, ta: i32, tb: i32, m: Int, n: Int, k: Int, _alpha: u64, _a: u64, _type_a: i32, lda: Int, _b: u64, _type_b: i32, ldb: Int, _beta: u64, c: u64, type_c: i32, ldc: Int, count: Int, _compute: i32, _algorithm: i32) => |call| {
        let own = Own::of(call, handle, Element::of(type_c)?)?;
        let product = Product { operations: (ta, tb), sizes: (m, n, k), leading: (lda, ldb, ldc) };
        own.products(product, c, count)
    };
    "cublasGemmGroupedBatchedEx" narrow (handle: u64, ta: In<i32>, tb: In<i32>, m: In<i32>, n: In<i32>, k: In<i32>, _alpha: u64, _a: u64, _type_a: i32, lda: In<i32>, _b: u64, _type_b: i32, ldb: In<i32>, _beta: u64, c: u64, type_c: i32, ldc: In<i32>, groups: Int, sizes: In<i32>, _compute: i32) => |call| {
        let own = Own::of(call, handle, Element::of(type_c)?)?;
        own.grouped(&batches((ta, tb), [m, n, k], [lda, ldb, ldc], (groups, sizes))?, c)
    };
    "cublasGemmGroupedBatchedEx" wide (handle: u64, ta: In<i32>, tb: In<i32>, m: In<i64>, n: In<i64>, k: In<i64>, _alpha: u64, _a: u64, _type_a: i32, lda: In<i64>, _b: u64, _type_b: i32, ldb: In<i64>, _beta: u64, c: u64, type_c: i32, ldc: In<i64>, groups: Int, sizes: In<i64>, _compute: i32) => |call| {
        let own = Own::of(call, handle, Element::of(type_c)?)?;
        own.grouped(&batches((ta, tb), [m, n, k], [lda, ldb, ldc], (groups, sizes))?, c)
    };
    "cublasSgemmEx" both (handle: u64, ta: i32, tb: i32, m: Int, n: Int, k: Int, _alpha: u64, _a: u64, _type_a: i32, lda: Int, _b: u64, _type_b: i32, ldb: Int, _beta: u64, c: u64, type_c: i32, ldc: Int) => |call| {
        let own = Own::of(call, handle, Element::of(type_c)?)?;
        own.product(c, Product { operations: (ta, tb), sizes: (m, n, k), leading: (lda, ldb, ldc) })
    };
    "cublasCgemmEx" both (handle: u64, ta: i32, tb: i32, m: Int, n: Int, k: Int, _alpha: u64, _a: u64, _type_a: i32, lda: Int, _b: u64, _type_b: i32, ldb: Int, _beta: u64, c: u64, type_c: i32, ldc: Int) => |call| {
        let own = Own::of(call, handle, Element::of(type_c)?)?;
        own.product(c, Product { operations: (ta, tb), sizes: (m, n, k), leading: (lda, ldb, ldc) })
    };
    "cublasAxpyEx" both (handle: u64, n: Int, _alpha: u64, _type_alpha: i32, _x: u64, _type_x: i32, _incx: Int, y: u64, type_y: i32, incy: Int, _compute: i32) => |call| {
        Own::of(call, handle, Element::of(type_y)?)?.vector(y, n, incy)
    };
    "cublasScalEx" both (handle: u64, n: Int, _alpha: u64, _type_alpha: i32, x: u64, type_x: i32, incx: Int, _compute: i32) => |call| {
        Own::of(call, handle, Element::of(type_x)?)?.vector(x, n, incx)
    };
    "cublasCopyEx" both (handle: u64, n: Int, _x: u64, _type_x: i32, _incx: Int, y: u64, type_y: i32, incy: Int) => |call| {
        Own::of(call, handle, Element::of(type_y)?)?.vector(y, n, incy)
    };
    "cublasSwapEx" both (handle: u64, n: Int, x: u64, type_x: i32, incx: Int, y: u64, type_y: i32, incy: Int) => |call| {
        Own::of(call, handle, Element::of(type_x)?)?.vector(x, n, incx)?;
        Own::of(call, handle, Element::of(type_y)?)?.vector(y, n, incy)
    };
    "cublasRotEx" both (handle: u64, n: Int, x: u64, type_x: i32, incx: Int, y: u64, type_y: i32, incy: Int, _c: u64, _s: u64, _type_cs: i32, _compute: i32) => |call| {
        Own::of(call, handle, Element::of(type_x)?)?.vector(x, n, incx)?;
        Own::of(call, handle, Element::of(type_y)?)?.vector(y, n, incy)
    };
    "cublasDotEx" both (handle: u64, _n: Int, _x: u64, _type_x: i32, _incx: Int, _y: u64, _type_y: i32, _incy: Int, result: u64, type_result: i32, _compute: i32) => |call| {
        let element = Element::of(type_result)?;
        Own::of(call, handle, element)?.zero(result, element.bytes(1))
    };
    "cublasDotcEx" both (handle: u64, _n: Int, _x: u64, _type_x: i32, _incx: Int, _y: u64, _type_y: i32, _incy: Int, result: u64, type_result: i32, _compute: i32) => |call| {
        let element = Element::of(type_result)?;
        Own::of(call, handle, element)?.zero(result, element.bytes(1))
    };
    "cublasNrm2Ex" both (handle: u64, _n: Int, _x: u64, _type_x: i32, _incx: Int, result: u64, type_result: i32, _compute: i32) => |call| {
        let element = Element::of(type_result)?;
        Own::of(call, handle, element)?.zero(result, element.bytes(1))
    };
    "cublasAsumEx" both (handle: u64, _n: Int, _x: u64, _type_x: i32, _incx: Int, result: u64, type_result: i32, _compute: i32) => |call| {
        let element = Element::of(type_result)?;
        Own::of(call, handle, element)?.zero(result, element.bytes(1))
    };
    "cublasIamaxEx" narrow (handle: u64, n: Int, _x: u64, _type_x: i32, _incx: Int, result: u64) => |call| {
        Own::of(call, handle, S)?.number(result, &i32::from(n > 0).to_le_bytes())
    };
    "cublasIaminEx" narrow (handle: u64, n: Int, _x: u64, _type_x: i32, _incx: Int, result: u64) => |call| {
        Own::of(call, handle, S)?.number(result, &i32::from(n > 0).to_le_bytes())
    };
}
