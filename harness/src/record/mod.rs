//! Records of the launches that a program made, as `cargo weft record` keeps them.
//!
//! A record is a folder of PTX modules, contents of memory, and launches with all of their arguments. A kernel is checked under
//! the launches that the record has of it: block, grid, dynamic shared memory, numbers, pointers with the sizes of what they
//! point into and how they overlap, and what the host had put there.

mod boxes;
mod choice;
mod earlier;
mod folder;
mod hash;
mod launch;
mod line;
mod lost;
mod origin;
mod recorded;
mod sources;
mod stable;
mod used;
mod writers;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;

use weft_core::flow::{Param, Placement, Symbol};
use weft_core::launch::Launch;
use weft_core::ptx::{Module, Space};

pub use choice::MostLaunches;
pub use folder::{Record, RecordError};
pub use hash::module_name;
pub use launch::{FREED, HOST};
pub use line::RefusedCall;
pub use lost::LostLaunch;
use recorded::RecordedAllocation;
pub use recorded::{LaunchDoubts, RecordedLaunch};
pub use sources::keep_sources;
pub use stable::name_by_contents;
use used::UsedBytes;

/// The launches of a record that a kernel is checked under.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelLaunches {
    /// Those that are checked.
    pub launches: Vec<CheckedLaunch>,
    /// How many more the record has.
    pub left_out: usize,
    /// Whether the record has the launches of another text of the module: the kernel has the same name and parameters of the
    /// same sizes.
    pub is_rebuilt: bool,
}

/// A recorded launch as a kernel is checked under it.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedLaunch {
    /// It does not depend on other launches.
    pub label: String,
    /// The launch.
    pub launch: Launch,
    /// What is left open or in doubt.
    pub doubts: LaunchDoubts,
    /// What made it first, if that is known: a program, and a test or a thread.
    pub origin: Option<String>,
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
        let used = UsedBytes::of(&program);
        let settled =
            |all: &[&RecordedLaunch]| self.settled(all, is_watching, (&program.params, &used));
        let all = settled(&own);
        let is_certain = |own: &&RecordedLaunch| self.doubted.binary_search(own).is_err();
        let certain: Vec<_> = own.iter().copied().filter(is_certain).collect();
        let certain = settled(&certain);
        let chosen = choice::chosen(&all.keys().collect::<Vec<_>>(), most.number());
        let left_out = all.len() - chosen.len();
        let launch = |own: &RecordedLaunch| CheckedLaunch {
            label: format!("recorded-{}", own.name()),
            launch: own.launch(stated, &program.params, &variables, &self.contents),
            doubts: own.doubts(!certain.contains_key(own)),
            origin: all.get(own).cloned().flatten(),
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

    /// Returns those of some launches that differ in what decides anything, in an order that depends on nothing else, with what made
    /// them. `is_watching`: whether the kernel looks for what the host writes while it runs; `params`: its parameters, and which of their bytes it
    /// reads.
    fn settled(
        &self,
        launches: &[&RecordedLaunch],
        is_watching: bool,
        params: (&[Param], &UsedBytes),
    ) -> BTreeMap<RecordedLaunch, Option<String>> {
        let path = |name: &str| self.module_path(name);
        let mut writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_given = |own: &RecordedAllocation| {
            let is_changed = own.passed.iter().any(|by| writers.might_write(by, &path))
                || own.launched.is_some_and(|list| writers.has_stray(&self.earlier, list, &path));
            let might_change = is_watching && own.is_hosts;
            !is_changed && !might_change
        };
        let mut settled = BTreeMap::new();
        for own in launches {
            let mut launch = own.settled(&mut is_given);
            launch.clear_unread(params);
            // Of several the first by name: which process came first, the record does not say.
            let origin = self.origins.get(*own).cloned();
            let known = settled.entry(launch).or_insert_with(|| origin.clone());
            *known = match (known.take(), origin) {
                (Some(known), Some(other)) => Some(known.min(other)),
                (known, other) => known.or(other),
            };
        }
        settled
    }

    /// Returns the kept modules that are not in `present`, each by its name with one launch for each kernel and sizes of parameters.
    pub fn absent(&self, present: &BTreeSet<String>) -> BTreeMap<String, Vec<&RecordedLaunch>> {
        let mut found: BTreeMap<String, Vec<&RecordedLaunch>> = BTreeMap::new();
        for launch in &self.launches {
            let kept = launch.module.as_ref().filter(|name| self.modules.contains(*name));
            if let Some(name) = kept.filter(|name| !present.contains(*name)) {
                let own = found.entry(name.clone()).or_default();
                if !own.iter().any(|other| launch.is_alike(other)) {
                    own.push(launch);
                }
            }
        }
        found
    }

    /// Returns how many texts of modules that are not in `present` have launches of a kernel with this name and parameters of the same sizes.
    /// Versions of one text count once.
    pub fn absent_texts(&self, launch: &RecordedLaunch, present: &BTreeSet<String>) -> usize {
        let modules = self.modules_with(launch);
        let mut distinct: Vec<&String> = Vec::new();
        for name in modules.into_iter().filter(|name| !present.contains(*name)) {
            if !distinct.iter().any(|own| self.are_versions(own, name)) {
                distinct.push(name);
            }
        }
        distinct.len()
    }

    /// Whether the record has launches of this kernel in a text that is in `present` and was built after the one of this launch.
    pub fn is_superseded(&self, launch: &RecordedLaunch, present: &BTreeSet<String>) -> bool {
        let Some(own) = &launch.module else { return false };
        let present = self.modules_with(launch).into_iter().filter(|name| present.contains(*name));
        present.into_iter().any(|name| self.are_versions(own, name))
    }

    /// Returns the modules with launches of a kernel with the name and the sizes of parameters of this one.
    fn modules_with(&self, launch: &RecordedLaunch) -> BTreeSet<&String> {
        self.launches
            .iter()
            .filter(|own| own.is_alike(launch))
            .filter_map(|own| own.module.as_ref())
            .collect()
    }
}
