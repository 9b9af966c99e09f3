//! Records of the launches that a program made, as `cargo weft record` keeps them.
//!
//! A record is a folder of PTX modules, contents of memory, and launches with all of their arguments. A kernel is checked under
//! the launches that the record has of it: block, grid, dynamic shared memory, numbers, pointers with the sizes of what they
//! point into and how they overlap, and what the host had put there.

mod choice;
mod earlier;
mod folder;
mod hash;
mod launch;
mod line;
mod lost;
mod recorded;
mod sources;
mod writers;

use std::collections::BTreeSet;
use std::sync::PoisonError;

use weft_core::flow::{Placement, Symbol};
use weft_core::launch::Launch;
use weft_core::ptx::{Module, Space};

pub use choice::MostLaunches;
pub use folder::{Record, RecordError};
pub use hash::module_name;
pub use line::RefusedCall;
pub use lost::LostLaunch;
use recorded::RecordedAllocation;
pub use recorded::{LaunchDoubts, RecordedLaunch};
pub use sources::keep_sources;

/// The launches of a record that a kernel is checked under.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelLaunches {
    /// Each with a label that does not depend on other launches, and with what is left open or in doubt.
    pub launches: Vec<(String, Launch, LaunchDoubts)>,
    /// How many more the record has.
    pub left_out: usize,
    /// Whether the record has the launches of another text of the module: the kernel has the same name and parameters of the
    /// same sizes.
    pub is_rebuilt: bool,
}

impl Record {
    /// Returns the launches of a kernel, with the options and limits of `stated`. `text`: the name of the module's text;
    /// `present`: the names of the texts of all modules that are checked, which launches of other texts are not of; `most`: how many.
    pub fn of_kernel(
        &self,
        (module, called): (&Module, &str),
        text: &str,
        present: &BTreeSet<String>,
        stated: &Launch,
        most: MostLaunches,
    ) -> KernelLaunches {
        let all = self.launches.iter().filter(|own| own.kernel == called);
        let is_own = |own: &&RecordedLaunch| own.module.as_deref() == Some(text);
        let mut own: Vec<&RecordedLaunch> = all.clone().filter(is_own).collect();
        let is_other = |own: &&RecordedLaunch| {
            own.module.as_ref().is_none_or(|module| !present.contains(module))
        };
        // Launches of another text are those of this one before it was built anew, unless it has some itself.
        let others: Vec<&RecordedLaunch> =
            if own.is_empty() { all.filter(is_other).collect() } else { Vec::new() };
        if own.is_empty() && others.is_empty() {
            return KernelLaunches::default();
        }
        let program = module.kernel(called).and_then(|kernel| {
            weft_core::link(module, kernel, &Launch::default(), &Placement::default()).ok()
        });
        // Otherwise the check says what is wrong with the kernel.
        let Some(program) = program else { return KernelLaunches::default() };
        // Any kernel that ran before might have written to them.
        let is_changed = |own: &&Symbol| own.space == Space::Global && own.init.is_some();
        let variables = program.symbols.iter().filter(is_changed);
        let variables: Vec<String> = variables.map(|own| own.name.clone()).collect();
        let sizes: Vec<u64> = program.params.iter().map(|param| param.size).collect();
        let fits = |own: &&RecordedLaunch| own.sizes().is_none_or(|own| own == sizes);
        let others: Vec<_> = others.into_iter().filter(fits).collect();
        let is_rebuilt = !others.is_empty();
        own.extend(others);
        let is_watching = weft_core::watches_memory(&program);
        let settled = self.settled(&own, is_watching);
        let is_certain = |own: &&RecordedLaunch| self.doubted.binary_search(own).is_err();
        let certain: Vec<_> = own.iter().copied().filter(is_certain).collect();
        let certain: BTreeSet<_> = self.settled(&certain, is_watching).into_iter().collect();
        let chosen = choice::chosen(&settled.iter().collect::<Vec<_>>(), most.number());
        let left_out = settled.len() - chosen.len();
        let launch = |own: &RecordedLaunch| {
            let launch = own.launch(stated, &program.params, &variables, &self.contents);
            let doubts = own.doubts(!certain.contains(own));
            (format!("recorded-{}", own.name()), launch, doubts)
        };
        let launches = chosen.into_iter().map(launch).collect();
        KernelLaunches { launches, left_out, is_rebuilt }
    }

    /// Whether a launch is one of this kernel before its module was built anew: it has the same name and parameters of the same
    /// sizes, and the record has no launch of the module as it is, which is called `text`.
    pub fn is_earlier(&self, launch: &RecordedLaunch, module: &Module, text: &str) -> bool {
        let is_own = |own: &RecordedLaunch| {
            own.kernel == launch.kernel && own.module.as_deref() == Some(text)
        };
        let sizes = || {
            let kernel = module.kernel(&launch.kernel)?;
            let program =
                weft_core::link(module, kernel, &Launch::default(), &Placement::default()).ok()?;
            Some(program.params.iter().map(|param| param.size).collect::<Vec<u64>>())
        };
        !self.launches.iter().any(is_own)
            && sizes().is_some_and(|sizes| launch.sizes().is_none_or(|own| own == sizes))
    }

    /// Returns those of some launches that differ in what decides anything, in an order that depends on nothing else. `is_watching`:
    /// whether the kernel looks for what the host writes while it runs.
    fn settled(&self, launches: &[&RecordedLaunch], is_watching: bool) -> Vec<RecordedLaunch> {
        let path = |name: &str| self.module_path(name);
        let mut writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_given = |own: &RecordedAllocation| {
            let is_changed = own.passed.iter().any(|by| writers.might_write(by, &path))
                || own.launched.is_some_and(|list| writers.has_stray(&self.earlier, list, &path));
            let might_change = is_watching && own.is_hosts;
            !is_changed && !might_change
        };
        let settled: BTreeSet<_> = launches.iter().map(|own| own.settled(&mut is_given)).collect();
        settled.into_iter().collect()
    }

    /// Returns the names of the kept modules whose launches are of none of the modules in `present`, each with its kernels that
    /// were launched; without those launches of kernels of which `has` says that another module has them.
    pub fn strangers(
        &self,
        present: &BTreeSet<String>,
        mut has: impl FnMut(&RecordedLaunch) -> bool,
    ) -> BTreeSet<String> {
        let is_kept = |name: &&String| !present.contains(*name) && self.modules.contains(*name);
        let modules = self
            .launches
            .iter()
            .filter_map(|own| Some((own.module.as_ref().filter(is_kept)?, own)));
        modules.filter(|(_, own)| !has(own)).map(|(name, _)| name.clone()).collect()
    }
}
