//! Records of the launches that a program made, as `cargo weft record` keeps them.
//!
//! A record is a folder of PTX modules, contents of memory, and launches with all of their arguments. A kernel is checked under
//! the launches that the record has of it: block, grid, dynamic shared memory, numbers, pointers with the sizes of what they
//! point into and how they overlap, and what the host had put there.

mod choice;
mod folder;
mod hash;
mod launch;
mod line;
mod recorded;
mod writers;

use std::collections::BTreeSet;
use std::sync::PoisonError;

use weft_core::flow::Placement;
use weft_core::launch::Launch;
use weft_core::ptx::Module;

pub use folder::{Record, RecordError};
pub use hash::module_name;
pub use line::RefusedCall;
use recorded::RecordedAllocation;
pub use recorded::RecordedLaunch;

/// The most launches of a kernel that are checked.
const MOST: usize = 16;

/// The launches of a record that a kernel is checked under.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelLaunches {
    /// Each with a label that does not depend on other launches.
    pub launches: Vec<(String, Launch)>,
    /// How many more the record has.
    pub left_out: usize,
    /// Whether the record has the launches of another text of the module: the kernel has the same name and parameters of the
    /// same sizes.
    pub is_rebuilt: bool,
}

impl Record {
    /// Returns the launches of a kernel, with the options and limits of `stated`. `text`: the name of the module's text;
    /// `present`: the names of the texts of all modules that are checked, which launches of other texts are not of.
    pub fn of_kernel(
        &self,
        (module, called): (&Module, &str),
        text: &str,
        present: &BTreeSet<String>,
        stated: &Launch,
    ) -> KernelLaunches {
        let all = self.launches.iter().filter(|own| own.kernel == called);
        let is_own = |own: &&RecordedLaunch| own.module.as_deref() == Some(text);
        let mut own: Vec<&RecordedLaunch> = all.clone().filter(is_own).collect();
        let is_other = |own: &&RecordedLaunch| {
            own.module.as_ref().is_none_or(|module| !present.contains(module))
        };
        let others: Vec<&RecordedLaunch> = all.filter(is_other).collect();
        if own.is_empty() && others.is_empty() {
            return KernelLaunches::default();
        }
        let program = module.kernel(called).and_then(|kernel| {
            weft_core::link(module, kernel, &Launch::default(), &Placement::default()).ok()
        });
        // Otherwise the check says what is wrong with the kernel.
        let Some(program) = program else { return KernelLaunches::default() };
        let sizes: Vec<u64> = program.params.iter().map(|param| param.size).collect();
        let fits = |own: &&RecordedLaunch| own.sizes().is_none_or(|own| own == sizes);
        let others: Vec<_> = others.into_iter().filter(fits).collect();
        let is_rebuilt = !others.is_empty();
        own.extend(others);
        let chosen = choice::chosen(&own, MOST);
        let left_out = own.len() - chosen.len();
        let path = |name: &str| self.module_path(name);
        let mut writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut given = |own: &RecordedAllocation| {
            let is_written = own.passed.iter().any(|by| writers.might_write(by, &path));
            let bytes = own.contents.as_ref().and_then(|name| self.contents.get(name));
            (!is_written).then(|| bytes.map_or(&[][..], Vec::as_slice))
        };
        let launch = |own: &RecordedLaunch| {
            let launch = own.launch(stated, &program.params, &mut given);
            (format!("recorded-{}", own.name()), launch)
        };
        let launches = chosen.into_iter().map(launch).collect();
        KernelLaunches { launches, left_out, is_rebuilt }
    }

    /// Returns the names of the kept modules whose launches are of none of the modules in `present`, each with its kernels that
    /// were launched; without those launches of kernels of which `has` says that another module has them.
    pub fn strangers(
        &self,
        present: &BTreeSet<String>,
        has: impl Fn(&RecordedLaunch) -> bool,
    ) -> BTreeSet<String> {
        let of_launch = |own: &RecordedLaunch| own.module.clone().filter(|_| !has(own));
        let modules = self.launches.iter().filter_map(of_launch);
        modules.filter(|name| !present.contains(name) && self.modules.contains(name)).collect()
    }
}
