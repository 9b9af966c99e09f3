//! Demangles the names of kernels, to show them as their authors wrote them.

use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};

/// The deepest nesting of a C++ name that is demangled; deeper names are shown as they are.
const DEPTH: u32 = 128;
/// Longer names are shown as they are, because their demangled form can be exponentially longer.
const LENGTH: usize = 8 * 1024;

/// A kernel's name in both forms.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KernelName {
    /// As it stands in the PTX.
    pub mangled: String,
    /// As its author wrote it; the same as `mangled` if that is not a mangled name.
    pub demangled: String,
}

impl KernelName {
    /// Returns both forms of the name that the PTX calls `mangled`.
    pub fn new(mangled: &str) -> Self {
        Self { mangled: mangled.to_owned(), demangled: demangle(mangled) }
    }

    /// Returns the demangled name without return type and parameters.
    pub fn short(&self) -> String {
        let options = DemangleOptions::new().no_params().no_return_type();
        cpp(&self.mangled, options).unwrap_or_else(|| demangle(&self.mangled))
    }
}

/// Returns the name as its author wrote it, by the rules of Rust (v0 and legacy, without the hash) or C++ (Itanium);
/// other names are returned unchanged.
pub fn demangle(name: &str) -> String {
    if name.len() > LENGTH {
        return name.to_owned();
    }
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return format!("{rust:#}");
    }
    cpp(name, DemangleOptions::new()).unwrap_or_else(|| name.to_owned())
}

fn cpp(name: &str, options: DemangleOptions) -> Option<String> {
    if !name.starts_with("_Z") || name.len() > LENGTH || rustc_demangle::try_demangle(name).is_ok()
    {
        return None;
    }
    let limits = ParseOptions::default().recursion_limit(DEPTH);
    Symbol::new_with_options(name, &limits).ok()?.demangle_with_options(&options).ok()
}

#[cfg(test)]
mod tests {
    use super::{KernelName, demangle};

    #[test]
    fn both_languages() {
        assert_eq!(demangle("_Z6reducePfi"), "reduce(float*, int)");
        assert_eq!(demangle("_ZN5saxpy6kernel17h0123456789abcdefE"), "saxpy::kernel");
        assert_eq!(demangle("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
        assert_eq!(demangle("plain_c"), "plain_c");
        assert_eq!(KernelName::new("_Z5scaleILi4EEvPf").short(), "scale<4>");
        assert_eq!(
            KernelName::new("_ZN5saxpy6kernel17h0123456789abcdefE").short(),
            "saxpy::kernel"
        );
    }
}
