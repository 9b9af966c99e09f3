//! The table of exported functions: how a line of it becomes a symbol of the library and an answer of `cuGetProcAddress`.

/// The version of CUDA that the stand-in implements.
pub(crate) const VERSION: i32 = 13000;

/// The address of a function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Address(pub(crate) *const ());

// SAFETY: the address of code is the same for all threads, and nothing is read through it here.
unsafe impl Sync for Address {}

/// An exported function.
#[derive(Debug)]
pub(crate) struct Export {
    /// Its symbol, such as `cuMemAlloc_v2`.
    pub(crate) symbol: &'static str,
    /// The version of CUDA that introduced it, such as 3020 for 3.2.
    pub(crate) since: i32,
    /// The function.
    pub(crate) address: Address,
    /// The one whose default stream is that of the thread.
    pub(crate) per_thread: Option<Address>,
}

impl Export {
    /// Returns the name that `cuGetProcAddress` knows the function by: without its version.
    pub(crate) fn name(&self) -> &'static str {
        let cut = self
            .symbol
            .rsplit_once("_v")
            .filter(|(_, n)| n.len() == 1 && n.starts_with(|c: char| c.is_ascii_digit()));
        cut.map_or(self.symbol, |(name, _)| name)
    }
}

/// Makes the exported functions of a chapter. A line is `symbol(parameters) since VERSION KIND => body;`: the body takes the
/// [`Call`](crate::call::Call) and the parameters. KIND says whether there is a second symbol for programs that are compiled for a default stream a thread:
/// `one` has none, `ptds` and `ptsz` name its ending. Both do the same, since nothing runs beside anything here.
macro_rules! exports {
    ($($symbol:ident $parameters:tt since $since:literal $kind:ident => $body:path;)*) => {
        /// The exported functions of this chapter.
        pub(crate) static EXPORTS: &[$crate::exports::Export] =
            &[$(export!($symbol $parameters $since $kind $body)),*];
    };
}

/// Makes one line of [`exports!`].
macro_rules! export {
    ($symbol:ident ($($name:ident: $type:ty),*) $since:literal one $body:path) => {{
        // Outside of the function, whose parameters might have its name.
        const BODY: fn(&$crate::call::Call, $($type),*) -> $crate::status::Answer = $body;
        // SAFETY: the symbol is one of the driver's, whose place this library takes.
        #[unsafe(no_mangle)]
        extern "C" fn $symbol($($name: $type),*) -> i32 {
            $crate::call::answer(stringify!($symbol), &|call| BODY(call, $($name),*))
        }
        $crate::exports::Export {
            symbol: stringify!($symbol),
            since: $since,
            address: $crate::exports::Address($symbol as *const ()),
            per_thread: None,
        }
    }};
    ($symbol:ident $parameters:tt $since:literal ptds $body:path) => {
        export!(@both $symbol $parameters $since "_ptds" $body)
    };
    ($symbol:ident $parameters:tt $since:literal ptsz $body:path) => {
        export!(@both $symbol $parameters $since "_ptsz" $body)
    };
    (@both $symbol:ident ($($name:ident: $type:ty),*) $since:literal $ending:literal $body:path) => {{
        // Outside of the function, whose parameters might have its name.
        const BODY: fn(&$crate::call::Call, $($type),*) -> $crate::status::Answer = $body;
        // SAFETY: the symbol is one of the driver's, whose place this library takes.
        #[unsafe(export_name = concat!(stringify!($symbol), $ending))]
        extern "C" fn per_thread($($name: $type),*) -> i32 {
            $crate::call::answer(concat!(stringify!($symbol), $ending), &|call| BODY(call, $($name),*))
        }
        $crate::exports::Export {
            per_thread: Some($crate::exports::Address(per_thread as *const ())),
            ..export!($symbol ($($name: $type),*) $since one $body)
        }
    }};
}
