//! Loads the configuration of a package from `weft.toml` or from `[package.metadata.weft]` in its `Cargo.toml`.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use toml::de::DeTable;

use super::keys::{AcceptanceKey, FileKey, KernelKey, KeySet, SettingKey};
use super::reader::Node;
use crate::bounded;

use super::{Baseline, ConfigError, ConfigPlace, KernelEntry, Problem, Reader, Settings, entry};

const GLOBS: &str = "an array of file patterns, such as `[\"kernels/*.ptx\"]`";

/// The configuration of a package. The default states nothing.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The file that the configuration was read from; `None` if there is none.
    pub path: Option<PathBuf>,
    /// Patterns of PTX files, relative to the package's directory, with their positions.
    pub ptx: Vec<(String, ConfigPlace)>,
    /// Settings for every kernel.
    pub default: Settings,
    /// The `[[kernel]]` tables in the order of the file.
    pub kernels: Vec<KernelEntry>,
    /// The findings that were there when the package began to be checked.
    pub baseline: Baseline,
}

impl Config {
    /// Reads the `weft.toml` at `path`.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        Self::parse(&contents(path)?, path)
    }

    /// Parses the text of a `weft.toml`; error messages name it `path`.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let reader = Reader::new(text, path);
        Ok(Self { path: Some(path.to_path_buf()), ..config(reader, &reader.root()?)? })
    }

    /// Returns the configuration of the package in `package_dir`: its `weft.toml`, otherwise `[package.metadata.weft]`
    /// of its `Cargo.toml`, otherwise the default. The two are never merged; it is an error if both exist. The package's
    /// baseline ([`Baseline::FILE`]) is read with it.
    pub fn find(package_dir: &Path) -> Result<Self, ConfigError> {
        Ok(Self { baseline: baseline(package_dir)?, ..Self::stated(package_dir)? })
    }

    /// Reads the `weft.toml` at `path` instead of the configuration of the package in `package_dir`, whose baseline still
    /// holds.
    pub fn read_for(path: &Path, package_dir: &Path) -> Result<Self, ConfigError> {
        Ok(Self { baseline: baseline(package_dir)?, ..Self::read(path)? })
    }

    /// Returns the configuration of a package without its baseline.
    fn stated(package_dir: &Path) -> Result<Self, ConfigError> {
        let (file, manifest) = (package_dir.join("weft.toml"), package_dir.join("Cargo.toml"));
        let in_manifest = match contents(&manifest) {
            Ok(text) => of_manifest(&text, &manifest)?,
            Err(error) if is_absent(&error) => None,
            Err(error) => return Err(error),
        };
        match (contents(&file), in_manifest) {
            (Ok(_), Some(_)) => Err(ConfigError::Both { file, manifest }),
            (Ok(text), None) => Self::parse(&text, &file),
            (Err(error), in_manifest) if is_absent(&error) => Ok(in_manifest.unwrap_or_default()),
            (Err(error), _) => Err(error),
        }
    }
}

/// Returns the baseline of the package in `package_dir`.
fn baseline(package_dir: &Path) -> Result<Baseline, ConfigError> {
    let path = package_dir.join(Baseline::FILE);
    match contents(&path) {
        Ok(text) => Baseline::parse(&text, &path),
        Err(error) if is_absent(&error) => Ok(Baseline::default()),
        Err(error) => Err(error),
    }
}

fn contents(path: &Path) -> Result<String, ConfigError> {
    /// Maximum size of a configuration in bytes, buffer contents included: each byte can take up to 75 bytes of memory.
    const MAX_CONFIG: u64 = 32 * 1024 * 1024;
    let bytes = bounded::read(path, MAX_CONFIG).map_err(|source| {
        let path = path.to_path_buf();
        // Not absent: whoever makes a link means a file to be read.
        match fs::read_link(&path) {
            Ok(target) if source.kind() == ErrorKind::NotFound => {
                ConfigError::Dangling { path, target }
            }
            _ => ConfigError::Read { path, source },
        }
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(error.as_bytes());
        Reader::new(&text, path).error(valid..valid, Problem::Encoding)
    })
}

fn is_absent(error: &ConfigError) -> bool {
    matches!(error, ConfigError::Read { source, .. } if source.kind() == ErrorKind::NotFound)
}

/// Returns the configuration in `[package.metadata.weft]` of a manifest; `None` if there is none.
fn of_manifest(text: &str, manifest: &Path) -> Result<Option<Config>, ConfigError> {
    let reader = Reader::new(text, manifest);
    let root = reader.root()?;
    let Some(package) = root.get("package").and_then(|node| node.get_ref().as_table()) else {
        return Ok(None);
    };
    let Some(metadata) = package.get("metadata").and_then(|node| node.get_ref().as_table()) else {
        return Ok(None);
    };
    let Some(own) = metadata.get("weft") else { return Ok(None) };
    let table = reader.table("package.metadata.weft", "a table", own)?;
    Ok(Some(Config { path: Some(manifest.to_path_buf()), ..config(reader, table)? }))
}

fn config(reader: Reader<'_>, table: &DeTable<'_>) -> Result<Config, ConfigError> {
    let mut config = Config::default();
    let read = table.iter().map(|(key, node)| {
        match reader.key(key)? {
            FileKey::Ptx => config.ptx = globs(reader, node)?,
            FileKey::Default => config.default = defaults(reader, node)?,
            FileKey::Kernel => config.kernels = entry::kernels(reader, node)?,
        }
        Ok(())
    });
    ConfigError::all(read)?;
    Ok(config)
}

fn globs(reader: Reader<'_>, node: &Node<'_>) -> Result<Vec<(String, ConfigPlace)>, ConfigError> {
    let mut globs = Vec::new();
    for item in reader.array("ptx", GLOBS, node)? {
        let text = reader.string("ptx", GLOBS, item)?;
        glob::Pattern::new(text)
            .map_err(|error| reader.error(item.span(), Problem::Glob(error.msg)))?;
        globs.push((text.to_owned(), reader.place(&item.span())));
    }
    Ok(globs)
}

fn defaults(reader: Reader<'_>, node: &Node<'_>) -> Result<Settings, ConfigError> {
    let mut settings = Settings::default();
    for (key, value) in reader.table("default", "a table: write `[default]`", node)? {
        let name = key.get_ref().as_ref();
        let is_of_one_kernel = SettingKey::find(name).is_some_and(SettingKey::is_of_one_kernel)
            || AcceptanceKey::find(name).is_some()
            || KernelKey::find(name) == Some(KernelKey::Launch);
        if is_of_one_kernel {
            return Err(reader.error(key.span(), Problem::KernelOnly(name.to_owned())));
        }
        if !settings.set(reader, key, value)? {
            return Err(reader.unknown(key, &SettingKey::names()));
        }
    }
    Ok(settings)
}
