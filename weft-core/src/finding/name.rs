//! Demangles the names of kernels, to show them as their authors wrote them.

use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};

/// The deepest nesting of a C++ name that is demangled; deeper names are shown as they are.
const DEPTH: u32 = 128;
/// Longer names are shown as they are, because their demangled form can be exponentially longer.
const LENGTH: usize = 8 * 1024;

/// A kernel's name in all its forms.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KernelName {
    /// As it stands in the PTX.
    pub mangled: String,
    /// As its author wrote it; the same as `mangled` if that is not a mangled name.
    pub demangled: String,
    /// As its author wrote it, without return type and parameters.
    pub short: String,
}

impl KernelName {
    /// Returns all forms of the name that the PTX calls `mangled`.
    pub fn new(mangled: &str) -> Self {
        Self { mangled: mangled.to_owned(), demangled: demangle(mangled), short: short(mangled) }
    }

    /// Whether one of the forms is one that a user means.
    pub fn is_meant(&self, is_match: impl Fn(&str) -> bool) -> bool {
        [&self.mangled, &self.demangled, &self.short].into_iter().any(|name| is_match(name))
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

/// Returns the name as its author wrote it, without return type and parameters, also of the function that a variable
/// belongs to.
pub fn short(name: &str) -> String {
    let options = DemangleOptions::new().no_params().no_return_type();
    cpp(name, options).map_or_else(|| demangle(name), |name| without_parameters(&name))
}

/// Removes the parameters of each function that something belongs to: `f(int)::x` becomes `f::x`.
fn without_parameters(name: &str) -> String {
    const BEHIND: &str = ")::";
    let mut kept = String::new();
    let mut rest = name;
    while let Some(end) = rest.find(BEHIND) {
        let (own, behind) = rest.split_at(end + 1);
        rest = behind;
        kept.push_str(own);
        if let Some(open) = opening(&kept).filter(|open| &kept[*open..] != "(anonymous namespace)")
        {
            kept.truncate(open);
        }
    }
    kept + rest
}

/// Returns the byte of the parenthesis that the last one of `text` closes; `None` if it closes none.
fn opening(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().rev().find_map(|(at, c)| {
        match c {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })
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
    use super::{KernelName, demangle, short};

    #[test]
    fn both_languages() {
        assert_eq!(demangle("_Z6reducePfi"), "reduce(float*, int)");
        assert_eq!(demangle("_ZN5saxpy6kernel17h0123456789abcdefE"), "saxpy::kernel");
        assert_eq!(demangle("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
        assert_eq!(demangle("plain_c"), "plain_c");
        assert_eq!(KernelName::new("_Z5scaleILi4EEvPf").short, "scale<4>");
        assert_eq!(short("_ZZ6reduceIfLi256EEvPKT_PS0_iE1s"), "reduce<float, 256>::s");
        assert_eq!(short("_ZN12_GLOBAL__N_11fEi"), "(anonymous namespace)::f");
        assert_eq!(super::without_parameters("f(void (*)(int), A<(B)2>)::g()::x"), "f::g::x");
        assert_eq!(super::without_parameters("odd)::x"), "odd)::x");
        assert_eq!(KernelName::new("_ZN5saxpy6kernel17h0123456789abcdefE").short, "saxpy::kernel");
    }
}
