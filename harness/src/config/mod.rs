//! `weft.toml`: which PTX files belong to a package and how its kernels are launched.
//!
//! A kernel takes its settings from `[default]`, then from every `[[kernel]]` entry whose `name` matches its mangled or
//! demangled name, in the order of the file: a later entry overrides an earlier one key by key, `args` position by
//! position, structures field by field, `buffers` buffer by buffer. `allow` and `requires` lists are concatenated. If matching entries have `[[kernel.launch]]`
//! tables, those of the last such entry are the launches; their keys override all settings above. Arguments are stated by
//! position or by name; a name must be that of a parameter of every kernel that the table matches.
//!
//! Everything that cannot be interpreted is an error with file, line and column: a misspelt key that was silently
//! ignored would disable a check.

mod allow;
mod args;
mod baseline;
mod buffers;
mod entry;
mod error;
mod file;
mod keys;
mod launches;
mod reader;
mod requires;
mod schema;
mod settings;
mod value;

pub use allow::{Allow, At};
pub use args::{ArgKey, StatedArg, StatedArgs};
pub use baseline::{AcceptedFinding, Baseline};
pub use buffers::NamedBuffer;
pub use entry::{KernelEntry, LaunchEntry};
pub use error::{ConfigError, ConfigPlace, Problem};
pub use file::Config;
pub use launches::{DeadEntry, NamedLaunch};
pub use schema::{SCHEMA_URL, schema};
pub use settings::{LimitSettings, Settings, StatedRequirement};
pub use value::{Element, size};

use reader::Reader;
