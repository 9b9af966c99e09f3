//! The tables of exported functions of the libraries: how a line becomes a symbol.

use crate::foreign::{Host, In, Out, Text};

/// A parameter as bodies take it: numbers are wide ones, since functions with `_64` in their names take such.
pub(super) trait Parameter {
    /// As bodies take it.
    type Wide;

    /// Returns it so.
    fn wide(self) -> Self::Wide;
}

impl Parameter for i32 {
    type Wide = i64;

    fn wide(self) -> i64 {
        self.into()
    }
}

macro_rules! as_they_are {
    ($($type:ty),*) => {
        $(impl Parameter for $type {
            type Wide = $type;

            fn wide(self) -> $type {
                self
            }
        })*
    };
}
as_they_are!(i64, u32, u64, usize, f32, f64, Host, Text);

impl<T> Parameter for Out<T> {
    type Wide = Self;

    fn wide(self) -> Self {
        self
    }
}

impl<T> Parameter for In<T> {
    type Wide = Self;

    fn wide(self) -> Self {
        self
    }
}

/// Makes functions of a library. A line is `"symbol" width (parameters) => |call| body;`; a symbol can have several parts. `both` makes a
/// second one with `_64` behind its name, in which an `Int` has 64 bits; `wide` makes this one alone.
macro_rules! library {
    ($code:path; $($($symbol:literal)+ $width:ident $parameters:tt => |$call:ident| $body:expr;)*) => {
        $(const _: () = {
            body!($code, [], $parameters, |$call| $body);
            symbols!($width [$($symbol),+], [], $parameters);
        };)*
    };
}

/// Makes functions of cuBLAS for several types of elements. A line is `"name" [types] width (parameters) => |own| body;`: the symbol is
/// `cublas`, the type and the name. The first parameter is the handle, which is live when the body gets its [`Own`](super::own::Own).
macro_rules! blas {
    ($($stem:literal [$($prefix:ident)*] $width:ident $parameters:tt => |$own:ident| $body:expr;)*) => {
        $(const _: () = {
            body!(
                $crate::math::codes::blas,
                [element: $crate::math::elements::Element, handle: u64],
                $parameters,
                |call| {
                    let $own = $crate::math::own::Own::of(call, handle, element)?;
                    $body
                }
            );
            $(symbols!($width ["cublas", stringify!($prefix), $stem], [$prefix], $parameters);)*
        };)*
    };
}

/// Makes the one function that all symbols of a line share: hundreds of them would take long to compile.
macro_rules! body {
    ($code:path, [$($own:ident: $kind:ty),*], ($($parameter:ident: $type:ty),* $(,)?), |$call:ident| $body:expr) => {
        #[allow(dead_code, reason = "not every function has numbers of both widths")]
        type Int = i64;
        #[inline(never)]
        #[allow(clippy::too_many_arguments, reason = "the library's own parameters")]
        fn body(
            symbol: &'static str,
            $($own: $kind,)*
            $($parameter: <$type as $crate::math::table::Parameter>::Wide),*
        ) -> i32 {
            let status = $crate::call::attempt(symbol, |status| $code(status).1, &|$call| $body);
            $code(status).0
        }
    };
}

/// Makes the one or both symbols of a function.
macro_rules! symbols {
    (narrow $name:tt, $($rest:tt)*) => {
        symbol!(i32, $name, $($rest)*);
    };
    (both [$($name:tt)*], $($rest:tt)*) => {
        symbol!(i32, [$($name)*], $($rest)*);
        symbol!(i64, [$($name)*, "_64"], $($rest)*);
    };
    (wide [$($name:tt)*], $($rest:tt)*) => {
        symbol!(i64, [$($name)*, "_64"], $($rest)*);
    };
}

/// Makes one symbol, whose first parameter is a handle if it has a type of elements.
macro_rules! symbol {
    ($int:ty, $name:tt, [], $parameters:tt) => {
        symbol!(@ $int, $name, [], [], $parameters);
    };
    ($int:ty, $name:tt, [$prefix:ident], $parameters:tt) => {
        symbol!(@ $int, $name, [$crate::math::elements::$prefix], [handle], $parameters);
    };
    (@ $int:ty, [$($name:tt)*], [$($element:path)?], [$($handle:ident)?], ($($parameter:ident: $type:ty),* $(,)?)) => {
        const _: () = {
            #[allow(dead_code, reason = "not every function has numbers of both widths")]
            type Int = $int;
            // SAFETY: the symbol is one of the library's, whose place this one takes.
            #[unsafe(export_name = concat!($($name)*))]
            #[allow(clippy::too_many_arguments, reason = "the library's own parameters")]
            #[allow(clippy::used_underscore_binding, reason = "all parameters become wide ones")]
            extern "C" fn function($($handle: u64,)? $($parameter: $type),*) -> i32 {
                body(
                    concat!($($name)*),
                    $($element,)?
                    $($handle,)?
                    $($crate::math::table::Parameter::wide($parameter)),*
                )
            }
        };
    };
}
