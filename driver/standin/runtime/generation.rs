//! Which major version of the runtime library a program is linked with: a few functions have other parameters, and a few structures
//! another layout, under the same name.

use std::ffi::{CStr, c_char, c_int, c_void};

unsafe extern "C" {
    fn dlopen(name: *const c_char, mode: c_int) -> *mut c_void;
    fn dlclose(library: *mut c_void) -> c_int;
}

const RTLD_LAZY: c_int = 1;
/// Loads nothing.
const RTLD_NOLOAD: c_int = 4;

/// A major version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RuntimeMajor {
    /// CUDA 11.
    Eleven,
    /// CUDA 12.
    Twelve,
    /// CUDA 13.
    Thirteen,
}

impl RuntimeMajor {
    /// Returns the newest version of the runtime library in it.
    pub(super) fn version(self) -> i32 {
        match self {
            RuntimeMajor::Eleven => 11080,
            RuntimeMajor::Twelve => 12090,
            RuntimeMajor::Thirteen => 13000,
        }
    }
}

/// Returns the version by whose name this library was found; the newest if there are several, or none. A program with two of
/// them gets the answers of the newer one from functions that differ.
///
/// The lock of the state may not be held: the system's loader has a lock too, and calls functions that want ours.
pub(super) fn current() -> RuntimeMajor {
    let older = [
        (c"libcudart.so.13", RuntimeMajor::Thirteen),
        (c"libcudart.so.12", RuntimeMajor::Twelve),
        (c"libcudart.so.11.0", RuntimeMajor::Eleven),
    ];
    let found = older.into_iter().find(|(name, _)| is_loaded(name));
    found.map_or(RuntimeMajor::Thirteen, |(_, generation)| generation)
}

fn is_loaded(name: &CStr) -> bool {
    // SAFETY: the name is a text of C, and nothing is loaded or run.
    let library = unsafe { dlopen(name.as_ptr(), RTLD_LAZY | RTLD_NOLOAD) };
    if library.is_null() {
        return false;
    }
    // SAFETY: the handle was just made, and is used no more. What the program has loaded stays loaded.
    unsafe { dlclose(library) };
    true
}
