//! `weft.toml`: which PTX files belong to a package and how its kernels are launched.
//!
//! A kernel takes its settings from `[default]`, then from every `[[kernel]]` entry whose `name` matches its mangled or
//! demangled name, in the order of the file: a later entry overrides an earlier one key by key, `args` position by
//! position, structures field by field. `allow` lists add up. The `[[kernel.launch]]` tables of the last matching entry
//! that has any are its launches, and their keys override all of the former.
//!
//! Everything that is not understood is an error with file, line and column: a misspelt key that is silently ignored
//! would turn a check off.

mod allow;
mod entry;
mod error;
mod file;
mod launches;
mod reader;
mod settings;
mod value;

pub use allow::{Allow, At};
pub use entry::{KernelEntry, LaunchEntry};
pub use error::{ConfigError, Place, Problem};
pub use file::Config;
pub use launches::{DeadEntry, NamedLaunch};
pub use settings::{LimitSettings, Settings};
pub use value::{Element, size};

use reader::Reader;
