//! The names that the author of a kernel gave its parameters, from its source.
//!
//! PTX has no names of arguments: nvcc writes `_Z5saxpyifPfS__param_0`. The source that a module names is searched for the
//! kernel's definition. Where the text leaves a doubt, there are no names: a wrong name would give an argument to another
//! parameter. So a definition counts only if
//!
//! - the line at which the kernel begins, according to its first `.loc`, is one of those up to the `{` of its body;
//! - it has as many parameters as the kernel, of types that do not contradict those of the PTX;
//! - every definition of that name and number of parameters, in all files that the module names, has the same names.
//!
//! The files are read as they are now: PTX that is older than its source can have other names.

mod cpp;
mod definition;
mod group;
mod names;
mod rust;
mod tokens;

use weft_core::ptx::{Function, Loc, Module, Statement};

use crate::name::KernelName;
use crate::render::{SourceFiles as _, Sources};
use definition::Definition;
use group::Code;
use tokens::Language;

pub use definition::{DefinitionShape, Parameter};
pub use names::ParameterNames;

/// The definitions in the source files that a module names.
#[derive(Clone, Debug, Default)]
pub struct Signatures {
    /// Each with the name of its file in the PTX.
    definitions: Vec<(String, Definition)>,
    /// Whether a file might have other definitions than those that were found.
    is_doubtful: bool,
}

impl Signatures {
    /// Searches the source files of a module.
    pub fn of(module: &Module, sources: &Sources) -> Self {
        /// The most bytes of source files that are searched.
        const MOST_BYTES: usize = 2 << 20;
        let mut found = Self::default();
        let mut bytes = 0;
        for (_, file) in &module.files {
            let Some(language) = Language::of(file) else { continue };
            let Some(text) = sources.text(file) else { continue };
            bytes += text.as_str().len();
            if bytes > MOST_BYTES {
                found.is_doubtful = true;
                break;
            }
            let code = tokens::tokens(text.as_str(), language).map(Code::of);
            let definitions = code.and_then(|code| match language {
                Language::Cpp => cpp::definitions(&code),
                Language::Rust => Some(rust::definitions(&code)),
            });
            let Some(definitions) = definitions else {
                found.is_doubtful = true;
                continue;
            };
            found.definitions.extend(definitions.into_iter().map(|own| (file.clone(), own)));
        }
        found
    }

    /// Returns the names of a kernel's parameters, one for each parameter of the PTX; `None` where they are not certain.
    pub fn names(&self, module: &Module, kernel: &Function) -> Option<Vec<String>> {
        self.parameters(module, kernel).map(names)
    }

    /// Returns a kernel's parameters in its source, one for each parameter of the PTX; `None` where they are not certain.
    pub fn parameters(&self, module: &Module, kernel: &Function) -> Option<&[Parameter]> {
        if self.is_doubtful {
            return None;
        }
        let base = base(module.name(kernel.name))?;
        let own = || self.definitions.iter().filter(|(_, own)| own.name == base);
        let start = start(kernel)?;
        let start_file = module.file(start.file)?;
        let is_here = |(file, own): &&(String, Definition)| {
            file == start_file && (own.first..=own.last).contains(&start.line)
        };
        let here = own().find(is_here)?.1.parameters.as_ref()?;
        let address = module.address_size / 8;
        let fits = here.len() == kernel.params.len()
            && here.iter().zip(&kernel.params).all(|(own, param)| own.shape.fits(param, address));
        let names = names(here);
        let agrees = |(_, other): &(String, Definition)| {
            let Some(parameters) = &other.parameters else { return false };
            parameters.len() != here.len() || self::names(parameters) == names
        };
        (fits && own().all(agrees) && is_distinct(module, kernel, &names)).then_some(here)
    }
}

/// Returns the names of a kernel's parameters in its source, one for each parameter of the PTX; `None` where they are not
/// certain. Several kernels of a module: [`Signatures`] reads the files once.
pub fn parameter_names(
    module: &Module,
    kernel: &Function,
    sources: &Sources,
) -> Option<Vec<String>> {
    Signatures::of(module, sources).names(module, kernel)
}

fn names(parameters: &[Parameter]) -> Vec<String> {
    parameters.iter().map(|own| own.name.clone()).collect()
}

/// Whether no name stands for two parameters, those of the PTX included.
fn is_distinct(module: &Module, kernel: &Function, names: &[String]) -> bool {
    names.iter().enumerate().all(|(at, name)| {
        let others = || names.iter().enumerate().filter(|(other, _)| *other != at);
        let is_of_ptx = |(other, param): (usize, &weft_core::ptx::Variable)| {
            other != at && module.name(param.name) == name
        };
        others().all(|(_, other)| other != name) && !kernel.params.iter().enumerate().any(is_of_ptx)
    })
}

/// Returns the first place of the source that is the kernel's own.
fn start(kernel: &Function) -> Option<Loc> {
    let statements = &kernel.body.as_ref()?.statements;
    statements.iter().find_map(|statement| match statement {
        Statement::Loc(loc) if loc.inlined_at.is_none() => Some(*loc),
        _ => None,
    })
}

/// Returns the last part of a kernel's name, without template arguments; `None` for names that no source has.
fn base(mangled: &str) -> Option<String> {
    let name = KernelName::new(mangled).short;
    let (mut depth, mut start, mut end) = (0_usize, 0, name.len());
    let bytes = name.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'<' | b'(' | b'{' => {
                if depth == 0 {
                    end = end.min(at);
                }
                depth += 1;
            }
            b'>' | b')' | b'}' => depth = depth.checked_sub(1)?,
            // `foo::<f32>` is how Rust shows what `foo` is made for.
            b':' if depth == 0 && bytes.get(at + 1) != Some(&b'<') => {
                (start, end) = (at + 1, name.len());
            }
            _ => {}
        }
    }
    let base = name.get(start..end)?.trim_end_matches(':');
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    (!base.is_empty() && base.chars().all(is_name)).then(|| base.to_owned())
}
