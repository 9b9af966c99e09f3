//! An index of a module's functions, variables and files, so that each look-up of a name does not search the whole
//! module.

use foldhash::HashMap;

use super::Module;

/// Positions in the lists of a module, by name or number.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    functions: HashMap<Box<str>, usize>,
    variables: HashMap<Box<str>, usize>,
    files: HashMap<u32, usize>,
}

impl Index {
    /// Indexes a module. Of several functions with one name the first with a body counts, of variables the last, of
    /// files the first.
    pub(super) fn of(module: &Module) -> Self {
        let mut index = Self::default();
        for (at, function) in module.functions.iter().enumerate() {
            let slot = index.functions.entry(module.name(function.name).into()).or_insert(at);
            if module.functions[*slot].body.is_none() {
                *slot = at;
            }
        }
        for (at, variable) in module.variables.iter().enumerate() {
            index.variables.insert(module.name(variable.name).into(), at);
        }
        for (at, (file, _)) in module.files.iter().enumerate() {
            index.files.entry(*file).or_insert(at);
        }
        index
    }

    pub(super) fn function(&self, name: &str) -> Option<usize> {
        self.functions.get(name).copied()
    }

    pub(super) fn variable(&self, name: &str) -> Option<usize> {
        self.variables.get(name).copied()
    }

    pub(super) fn file(&self, number: u32) -> Option<usize> {
        self.files.get(&number).copied()
    }
}
