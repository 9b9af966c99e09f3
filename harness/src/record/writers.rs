//! Whether a kernel of an earlier launch might have written into an allocation.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use weft_core::ptx::{self, Module};

use super::earlier::{EarlierKernels, EarlierLists, LaunchedName};
use super::recorded::PassedKernel;
use crate::bounded;

/// The most bytes of a module that is read.
const MOST: u64 = 128 << 20;

/// The parameters through which kernels might write, of the modules of a record; read when they are needed.
#[derive(Debug, Default)]
pub(super) struct Writers {
    modules: BTreeMap<String, Option<Module>>,
    /// By module and kernel; `None`: it might write anything.
    written: BTreeMap<LaunchedName, Option<WrittenParameters>>,
    /// Whether a kernel of an earlier list might write anything, by the number of the list.
    strays: Vec<bool>,
}

/// The parameters by which a kernel might write.
#[derive(Debug)]
struct WrittenParameters {
    /// The number of parameters that it has.
    count: usize,
    positions: BTreeSet<usize>,
}

impl Writers {
    /// Whether a kernel might write through what reached an allocation. A kernel that cannot be read might. `path`: returns the
    /// path of a module.
    pub(super) fn might_write(
        &mut self,
        by: &PassedKernel,
        path: &dyn Fn(&str) -> PathBuf,
    ) -> bool {
        let (Some(name), Some(arg)) = (&by.module, by.arg) else { return true };
        let written = self.written(&(name.clone(), by.kernel.clone()), path);
        // A parameter that the kernel does not have says that the record is about another kernel.
        let might = |own: &WrittenParameters| arg >= own.count || own.positions.contains(&arg);
        written.is_none_or(might)
    }

    /// Whether a kernel of a list might write through pointers that are none of its parameters. `path`: as above.
    pub(super) fn has_stray(
        &mut self,
        lists: &EarlierLists,
        list: EarlierKernels,
        path: &dyn Fn(&str) -> PathBuf,
    ) -> bool {
        let mut strays = std::mem::take(&mut self.strays);
        let has = lists.any(list, &mut strays, |kernel| self.written(kernel, path).is_none());
        self.strays = strays;
        has
    }

    fn written(
        &mut self,
        key: &LaunchedName,
        path: &dyn Fn(&str) -> PathBuf,
    ) -> Option<&WrittenParameters> {
        if !self.written.contains_key(key) {
            let written = self.module(&key.0, path).and_then(|module| {
                let kernel = module.kernel(&key.1)?;
                let positions = weft_core::written_parameters(module, kernel)?;
                Some(WrittenParameters { count: kernel.params.len(), positions })
            });
            self.written.insert(key.clone(), written);
        }
        self.written[key].as_ref()
    }

    fn module(&mut self, name: &str, path: &dyn Fn(&str) -> PathBuf) -> Option<&Module> {
        let read = || {
            let bytes = bounded::read_regular(&path(name), MOST).ok()?;
            let module = ptx::parse(&String::from_utf8(bytes).ok()?);
            module.errors.is_empty().then_some(module)
        };
        self.modules.entry(name.to_owned()).or_insert_with(read).as_ref()
    }
}
