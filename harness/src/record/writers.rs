//! Whether a kernel of an earlier launch might have written into an allocation.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use weft_core::ptx::{self, Module};

use super::recorded::Passing;
use crate::bounded;

/// The most bytes of a module that is read.
const MOST: u64 = 128 << 20;

/// The parameters through which kernels might write, of the modules of a record; read when they are needed.
pub(super) struct Writers<'r> {
    path: &'r dyn Fn(&str) -> PathBuf,
    modules: BTreeMap<String, Option<Module>>,
    /// By module and kernel; `None`: the kernel might write anything.
    written: BTreeMap<(String, String), Option<BTreeSet<usize>>>,
}

impl<'r> Writers<'r> {
    /// `path`: returns the path of a module.
    pub(super) fn new(path: &'r dyn Fn(&str) -> PathBuf) -> Self {
        Self { path, modules: BTreeMap::new(), written: BTreeMap::new() }
    }

    /// Whether a kernel might write through what reached an allocation. A kernel that cannot be read might.
    pub(super) fn might_write(&mut self, by: &Passing) -> bool {
        let (Some(name), Some(arg)) = (&by.module, by.arg) else { return true };
        let key = (name.clone(), by.kernel.clone());
        if !self.written.contains_key(&key) {
            let written = self.module(name).and_then(|module| {
                let kernel = module.kernel(&by.kernel)?;
                weft_core::written_parameters(module, kernel)
            });
            self.written.insert(key.clone(), written);
        }
        self.written[&key].as_ref().is_none_or(|written| written.contains(&arg))
    }

    fn module(&mut self, name: &str) -> Option<&Module> {
        let path = self.path;
        let read = || {
            let bytes = bounded::read(&path(name), MOST).ok()?;
            let module = ptx::parse(&String::from_utf8(bytes).ok()?);
            module.errors.is_empty().then_some(module)
        };
        self.modules.entry(name.to_owned()).or_insert_with(read).as_ref()
    }
}
