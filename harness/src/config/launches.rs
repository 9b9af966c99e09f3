//! Computes the launches of a kernel from the configuration and the kernel's name.

use std::collections::BTreeMap;
use std::fmt;

use weft_core::launch::Launch;
use weft_core::report::escape;

use super::{Allow, Config, ConfigError, ConfigPlace, KernelEntry, LaunchEntry, Settings, buffers};
use crate::name::KernelName;
use crate::signature::ParameterNames;
use crate::similar;

/// A launch of one kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedLaunch {
    /// The label; `None` for a kernel without `[[kernel.launch]]`.
    pub label: Option<String>,
    /// The launch configuration.
    pub launch: Launch,
    /// The findings that are accepted.
    pub allow: Vec<Allow>,
    /// The reason for which the launch is not checked; `None`: it is.
    pub skip: Option<String>,
    /// Where the settings of the launch are stated, by their keys.
    pub places: BTreeMap<String, ConfigPlace>,
    /// Whether the block is the one of `[default]`, which no table of the kernel states.
    pub has_default_block: bool,
}

/// A `[[kernel]]` table that matches no kernel of the package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadEntry {
    /// Position of its `name`.
    pub place: ConfigPlace,
    /// The regular expression in `name`.
    pub pattern: String,
    /// The kernels of the package, those with the most similar names first.
    pub kernels: Vec<String>,
}

impl DeadEntry {
    /// Says which kernels there are, those with the most similar names first.
    pub fn instead(&self) -> String {
        /// The most kernels that are named.
        const NAMED: usize = 5;
        let mut known: Vec<String> =
            self.kernels.iter().take(NAMED).map(|name| format!("`{}`", escape(name))).collect();
        if self.kernels.len() > NAMED {
            known.push(format!("{} more", self.kernels.len() - NAMED));
        }
        let verb = if self.kernels.len() == 1 { "is" } else { "are" };
        format!("there {verb} {}", known.join(", "))
    }
}

impl fmt::Display for DeadEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (pattern, place, instead) = (escape(&self.pattern), &self.place, self.instead());
        write!(
            f,
            "{place}: no kernel of the package is called `{pattern}`; correct `name` or remove the table; {instead}"
        )
    }
}

impl KernelEntry {
    /// Whether the table's `name` matches this kernel.
    pub fn matches(&self, kernel: &KernelName) -> bool {
        kernel.is_meant(|name| self.name.is_match(name))
    }
}

impl Config {
    /// Returns the launches of a kernel, at least one. Later matching `[[kernel]]` tables override earlier ones key by
    /// key.
    ///
    /// # Errors
    /// A name in `args` or `requires` of a matching table that no parameter of the kernel has, an argument that one
    /// table gives twice, a pointer that leads into no buffer, or a buffer into which no launch of the kernel points.
    pub fn launches(
        &self,
        kernel: &KernelName,
        names: &ParameterNames,
    ) -> Result<Vec<NamedLaunch>, ConfigError> {
        let mut settings = self.default.clone();
        let mut allow: Vec<Allow> = Vec::new();
        let mut skip: Option<&String> = None;
        let mut launches: &[LaunchEntry] = &[];
        for entry in self.kernels.iter().filter(|entry| entry.matches(kernel)) {
            settings = settings.overridden_by(&entry.settings);
            allow.extend_from_slice(&entry.allow);
            skip = entry.skip.as_ref().or(skip);
            if !entry.launches.is_empty() {
                launches = &entry.launches;
            }
        }
        let states_block = |entry: &KernelEntry| entry.settings.block.is_some();
        let has_default_block = self.default.block.is_some()
            && !self.kernels.iter().any(|entry| entry.matches(kernel) && states_block(entry));
        if launches.is_empty() {
            let (launch, skip) = (settings.launch(names)?, skip.cloned());
            buffers::are_used([(&settings.buffers, &launch)].into_iter())?;
            let (label, places) = (None, settings.places);
            return Ok(vec![NamedLaunch { label, launch, allow, skip, places, has_default_block }]);
        }
        let all: Vec<_> =
            launches.iter().map(|own| settings.overridden_by(&own.settings)).collect();
        let named = |(own, settings): (&LaunchEntry, &Settings)| {
            Ok(NamedLaunch {
                label: Some(own.label.clone()),
                launch: settings.launch(names)?,
                places: settings.places.clone(),
                allow: allow.iter().chain(&own.allow).cloned().collect(),
                skip: own.skip.as_ref().or(skip).cloned(),
                has_default_block: has_default_block && own.settings.block.is_none(),
            })
        };
        let named: Vec<NamedLaunch> =
            launches.iter().zip(&all).map(named).collect::<Result<_, ConfigError>>()?;
        let buffers = all.iter().map(|settings| &settings.buffers);
        buffers::are_used(buffers.zip(named.iter().map(|own| &own.launch)))?;
        Ok(named)
    }

    /// Returns the `[[kernel]]` tables that match none of `names`, which are all kernels of the package.
    pub fn dead_entries(&self, names: &[KernelName]) -> Vec<DeadEntry> {
        let is_dead = |entry: &&KernelEntry| !names.iter().any(|name| entry.matches(name));
        let dead = self.kernels.iter().filter(is_dead);
        let nearest = |pattern: &str| {
            let word = pattern.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
            let ranked = similar::ranked(word, names.iter().map(|name| name.short.as_str()));
            ranked.into_iter().map(|(_, name)| name.to_owned()).collect()
        };
        dead.map(|entry| DeadEntry {
            place: entry.place.clone(),
            pattern: entry.name.as_str().to_owned(),
            kernels: nearest(entry.name.as_str()),
        })
        .collect()
    }
}
