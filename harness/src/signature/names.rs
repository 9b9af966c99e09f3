//! The names by which the arguments of a kernel can be stated.

use weft_core::ptx::{Function, Module};

use super::Signatures;
use crate::name::KernelName;
use crate::similar;

/// The parameters of a kernel, each with its name in the source, if that is certain, and its name in the PTX.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParameterNames {
    /// The kernel, for messages: demangled.
    pub kernel: String,
    /// The names in the source, by position; empty if they are not certain.
    pub source: Vec<String>,
    /// The names in the PTX, by position.
    pub ptx: Vec<String>,
}

impl ParameterNames {
    /// Returns the names of a kernel's parameters. `source`: those of its source, one for each; empty if not known.
    pub fn new(module: &Module, kernel: &Function, source: Vec<String>) -> Self {
        let ptx = kernel.params.iter().map(|param| module.name(param.name).to_owned()).collect();
        Self { kernel: KernelName::new(module.name(kernel.name)).demangled, source, ptx }
    }

    /// Returns the names of a kernel's parameters, those of the source included as far as they are certain.
    pub fn of(module: &Module, kernel: &Function, signatures: &Signatures) -> Self {
        Self::new(module, kernel, signatures.names(module, kernel).unwrap_or_default())
    }

    /// Returns the position of the parameter with this name in the source or in the PTX.
    pub fn position(&self, name: &str) -> Option<usize> {
        let of = |names: &[String]| names.iter().position(|own| own == name);
        of(&self.source).or_else(|| of(&self.ptx))
    }

    /// Returns what to write instead of a name that no parameter has: the name that is most similar, and all names.
    pub fn remedy(&self, wrong: &str) -> String {
        let known = if self.source.is_empty() { &self.ptx } else { &self.source };
        if known.is_empty() {
            return "it has no parameters".to_owned();
        }
        let escape = weft_core::report::escape;
        let all: Vec<_> = (0..)
            .zip(known)
            .map(|(at, name): (usize, _)| format!("`{}` ({at})", escape(name)))
            .collect();
        let question = similar::question(wrong, known.iter().map(String::as_str));
        let why = if self.source.is_empty() {
            "; the names in its source are not known: they are read from source files inside the package that \
             `.loc` lines of the PTX name (nvcc -lineinfo)"
        } else {
            ""
        };
        format!("{question}its parameters are {}{why}", all.join(", "))
    }
}
