//! cuBLAS, level 1: vectors and numbers.

blas! {
    "scal_v2" [S D C Z Cs Zd] both (n: Int, _alpha: u64, x: u64, incx: Int) => |own| own.vector(x, n, incx);
    "axpy_v2" [S D C Z] both (n: Int, _alpha: u64, _x: u64, _incx: Int, y: u64, incy: Int) => |own| own.vector(y, n, incy);
    "copy_v2" [S D C Z] both (n: Int, _x: u64, _incx: Int, y: u64, incy: Int) => |own| own.vector(y, n, incy);
    "swap_v2" [S D C Z] both (n: Int, x: u64, incx: Int, y: u64, incy: Int) => |own| {
        own.writes([own.element.vector(x, n, incx), own.element.vector(y, n, incy)])
    };
    "dot_v2" [S D] both (_n: Int, _x: u64, _incx: Int, _y: u64, _incy: Int, result: u64) => |own| own.zero(result, own.element.bytes(1));
    "dotu_v2" [C Z] both (_n: Int, _x: u64, _incx: Int, _y: u64, _incy: Int, result: u64) => |own| own.zero(result, own.element.bytes(1));
    "dotc_v2" [C Z] both (_n: Int, _x: u64, _incx: Int, _y: u64, _incy: Int, result: u64) => |own| own.zero(result, own.element.bytes(1));
    "nrm2_v2" [S D Sc Dz] both (_n: Int, _x: u64, _incx: Int, result: u64) => |own| own.zero(result, own.element.real);
    "asum_v2" [S D Sc Dz] both (_n: Int, _x: u64, _incx: Int, result: u64) => |own| own.zero(result, own.element.real);
    "rot_v2" [S D C Z Cs Zd] both (n: Int, x: u64, incx: Int, y: u64, incy: Int, _c: u64, _s: u64) => |own| {
        own.writes([own.element.vector(x, n, incx), own.element.vector(y, n, incy)])
    };
    "rotm_v2" [S D] both (n: Int, x: u64, incx: Int, y: u64, incy: Int, _parameters: u64) => |own| {
        own.writes([own.element.vector(x, n, incx), own.element.vector(y, n, incy)])
    };
    "rotg_v2" [S D C Z] narrow (a: u64, b: u64, c: u64, s: u64) => |own| {
        let (bytes, real) = (own.element.bytes(1), own.element.real);
        own.zero(a, bytes)?;
        own.zero(b, bytes)?;
        own.zero(c, real)?;
        own.zero(s, bytes)
    };
    "rotmg_v2" [S D] narrow (d1: u64, d2: u64, x1: u64, _y1: u64, parameters: u64) => |own| {
        let bytes = own.element.bytes(1);
        for to in [d1, d2, x1].into_iter().chain((0..5).map(|at| parameters + at * bytes)) {
            own.zero(to, bytes)?;
        }
        Ok(())
    };
}

/// Indexes start with 1: the first element, if there is one, is a place where something is.
macro_rules! indexes {
    ($($stem:literal)*) => {
        $(
            blas! {
                $stem [Is Id Ic Iz] narrow (n: Int, _x: u64, _incx: Int, result: u64) => |own| {
                    own.number(result, &i32::from(n > 0).to_le_bytes())
                };
            }
            // With wide numbers the index is one too.
            blas! {
                $stem [Is Id Ic Iz] wide (n: Int, _x: u64, _incx: Int, result: u64) => |own| {
                    own.number(result, &i64::from(n > 0).to_le_bytes())
                };
            }
        )*
    };
}
indexes! { "amax_v2" "amin_v2" }
