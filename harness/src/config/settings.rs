//! The settings of a launch. `[default]`, `[[kernel]]`, `[[kernel.launch]]` and the headers of fixtures share these
//! keys.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use toml::Spanned;
use weft_core::launch::requires::{LaunchVariable, Requirement};
use weft_core::launch::{
    Arg, Atomics, BarrierDivergence, Dim3, Dimensions, Launch, Limit, Options,
};

use super::args::PlacedArg;
use super::keys::{KeySet, SettingKey};
use super::reader::Node;
use super::{
    ArgKey, ConfigError, ConfigPlace, NamedBuffer, Reader, StatedArgs, args, buffers, requires,
    value,
};
use crate::signature::ParameterNames;

/// The number of concrete inputs that an open verdict is tried with if nothing else is stated.
pub(super) const WITNESS: u32 = 8;

/// The limits of a check, as far as they are stated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitSettings {
    /// Instructions of all ctas and passes, counted once a warp.
    pub instructions: Option<u64>,
    /// Memory in bytes.
    pub memory: Option<u64>,
}

impl LimitSettings {
    /// Returns these limits, overridden by what `later` states.
    #[must_use]
    pub fn overridden_by(self, later: Self) -> Self {
        let instructions = later.instructions.or(self.instructions);
        Self { instructions, memory: later.memory.or(self.memory) }
    }

    /// Returns the complete limit; what is not stated here is taken from `other`.
    pub fn over(self, other: Limit) -> Limit {
        Limit {
            instructions: self.instructions.unwrap_or(other.instructions),
            memory: self.memory.unwrap_or(other.memory),
        }
    }
}

/// The settings in one table. `None` or a missing argument leaves the setting to the tables before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Threads of a cta.
    pub block: Option<Dimensions>,
    /// Ctas of the grid.
    pub grid: Option<Dimensions>,
    /// Ctas of a cluster.
    pub cluster: Option<Dim3>,
    /// Bytes of dynamic shared memory.
    pub shared: Option<u32>,
    /// Whether the lanes of a warp run in lock step.
    pub warp_synchronous: Option<bool>,
    /// How the checker models results of atomics.
    pub atomics: Option<Atomics>,
    /// Which barrier divergence is a defect.
    pub barrier_divergence: Option<BarrierDivergence>,
    /// The number of concrete inputs that an open verdict is tried with.
    pub witness: Option<u32>,
    /// Whether the host might pass every input that the launch leaves open.
    pub any_inputs: Option<bool>,
    /// The limits of the check: instructions and bytes of memory.
    pub limit: LimitSettings,
    /// Arguments by position or by name.
    pub args: StatedArgs,
    /// Buffers that arguments point into, by name.
    pub buffers: BTreeMap<String, NamedBuffer>,
    /// Where each key is stated.
    pub places: BTreeMap<String, ConfigPlace>,
    /// Conditions that every launch that is meant fulfils. Those of later tables are added to those of earlier ones.
    pub requires: Vec<StatedRequirement>,
}

/// A condition with its place in the configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct StatedRequirement {
    /// The condition.
    pub requirement: Requirement,
    /// Where its text begins.
    pub place: ConfigPlace,
}

impl Settings {
    /// Parses a text that consists of the keys of one launch; error messages name it `path`.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let reader = Reader::new(text, path);
        let mut settings = Self::default();
        for (key, value) in &reader.root()? {
            if !settings.set(reader, key, value)? {
                return Err(reader.unknown(key, &SettingKey::names()));
            }
        }
        Ok(settings)
    }

    /// Sets the setting of one key; returns `false` if the key is not a setting.
    pub(super) fn set(
        &mut self,
        reader: Reader<'_>,
        key: &Spanned<Cow<'_, str>>,
        node: &Node<'_>,
    ) -> Result<bool, ConfigError> {
        let Some(setting) = SettingKey::find(key.get_ref()) else { return Ok(false) };
        match setting {
            SettingKey::Block => self.block = Some(value::block(reader, node)?),
            SettingKey::Grid => self.grid = Some(value::grid(reader, node)?),
            SettingKey::Cluster => self.cluster = Some(value::cluster(reader, node)?),
            SettingKey::Shared => {
                self.shared =
                    Some(reader.number("shared", "a number of bytes, such as `4096`", node)?);
            }
            SettingKey::WarpSynchronous => {
                let flag = node.get_ref().as_bool();
                self.warp_synchronous =
                    Some(flag.ok_or_else(|| {
                        reader.wrong("warp-synchronous", "`true` or `false`", node)
                    })?);
            }
            SettingKey::Atomics => self.atomics = Some(value::atomics(reader, node)?),
            SettingKey::BarrierDivergence => {
                self.barrier_divergence = Some(value::divergence(reader, node)?);
            }
            SettingKey::Witness => self.witness = Some(value::witness(reader, node)?),
            SettingKey::Inputs => self.any_inputs = Some(value::inputs(reader, node)?),
            SettingKey::Limit => self.limit = value::limit(reader, node)?,
            SettingKey::Args => self.args = value::args(reader, node)?,
            SettingKey::Buffers => self.buffers = buffers::buffers(reader, node)?,
            SettingKey::Requires => self.requires = requires::list(reader, node)?,
        }
        self.places.insert(key.get_ref().to_string(), reader.place(&node.span()));
        Ok(true)
    }

    /// Returns these settings, overridden by `later` key by key; `requires` adds up.
    #[must_use]
    pub fn overridden_by(&self, later: &Self) -> Self {
        Self {
            block: later.block.or(self.block),
            grid: later.grid.or(self.grid),
            cluster: later.cluster.or(self.cluster),
            shared: later.shared.or(self.shared),
            warp_synchronous: later.warp_synchronous.or(self.warp_synchronous),
            atomics: later.atomics.or(self.atomics),
            barrier_divergence: later.barrier_divergence.or(self.barrier_divergence),
            witness: later.witness.or(self.witness),
            any_inputs: later.any_inputs.or(self.any_inputs),
            limit: self.limit.overridden_by(later.limit),
            args: self.args.overridden_by(&later.args),
            buffers: self.buffers.iter().chain(&later.buffers).map(cloned).collect(),
            requires: self.requires.iter().chain(&later.requires).cloned().collect(),
            places: self.places.iter().chain(&later.places).map(cloned).collect(),
        }
    }

    /// Returns the launch of a kernel, with the checker's defaults for what is not stated.
    ///
    /// # Errors
    /// A name in `args` or `requires` that no parameter of the kernel has, an argument that one table gives twice, or a
    /// pointer that leads into no buffer.
    pub fn launch(&self, names: &ParameterNames) -> Result<Launch, ConfigError> {
        let args = self.args.resolved(names)?;
        for StatedRequirement { requirement, place } in &self.requires {
            for variable in requirement.variables() {
                if let LaunchVariable::Named(name) = variable
                    && names.position(name).is_none()
                {
                    return Err(args::absent(&ArgKey::Name(name.clone()), place, names));
                }
            }
        }
        self.resolved(&args, names.source.clone())
    }

    /// Returns the launch of a kernel of which only the PTX is known.
    ///
    /// # Errors
    /// An argument that is stated by name, a pointer that leads into no buffer, or a buffer into which nothing points.
    pub fn launch_by_position(&self) -> Result<Launch, ConfigError> {
        let args = self.args.resolved(&ParameterNames::default())?;
        let launch = self.resolved(&args, Vec::new())?;
        buffers::are_used([(&self.buffers, &launch)].into_iter())?;
        Ok(launch)
    }

    fn resolved(
        &self,
        placed: &BTreeMap<usize, PlacedArg>,
        names: Vec<String>,
    ) -> Result<Launch, ConfigError> {
        let args = placed.iter().map(|(position, (arg, _))| (*position, arg.clone())).collect();
        let launch = self.with(args, names);
        buffers::are_possible(&self.buffers, &launch)?;
        for (arg, place) in placed.values() {
            buffers::lead_somewhere(arg, place, &launch)?;
        }
        Ok(launch)
    }

    fn with(&self, args: BTreeMap<usize, Arg>, names: Vec<String>) -> Launch {
        let buffer = |(name, own): (&String, &NamedBuffer)| (name.clone(), own.allocation.clone());
        Launch {
            block: self.block,
            grid: self.grid,
            cluster: self.cluster,
            shared: self.shared,
            args,
            buffers: self.buffers.iter().map(buffer).collect(),
            changed: BTreeSet::new(),
            names,
            requires: self.requires.iter().map(|own| own.requirement.clone()).collect(),
            options: Options {
                warp_synchronous: self.warp_synchronous.unwrap_or_default(),
                atomics: self.atomics.unwrap_or_default(),
                barrier_divergence: self.barrier_divergence.unwrap_or_default(),
                witness: self.witness.unwrap_or(WITNESS),
                any_inputs: self.any_inputs.unwrap_or_default(),
                ..Options::default()
            },
            limit: self.limit.over(Limit::default()),
        }
    }
}

fn cloned<K: Clone, V: Clone>((key, value): (&K, &V)) -> (K, V) {
    (key.clone(), value.clone())
}
