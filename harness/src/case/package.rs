//! A package: its name, its configuration and its PTX.

use std::path::{Path, PathBuf};

use super::PlanError;
use crate::config::Config;
use crate::discover::{self, PtxFile};

/// What is to be checked together: names, patterns and `[[kernel]]` tables refer to one package.
#[derive(Clone, Debug)]
pub struct Package {
    /// Its name, the first part of the cases' names.
    pub name: String,
    /// Its directory; sources are looked up here.
    pub dir: PathBuf,
    /// How its kernels are launched.
    pub config: Config,
    /// Its PTX.
    pub files: Vec<PtxFile>,
}

impl Package {
    /// The package in `dir`, with the PTX that its configuration names and that its build script left in `out_dirs`.
    pub fn open<'d>(
        name: &str,
        dir: &Path,
        out_dirs: impl IntoIterator<Item = &'d Path>,
    ) -> Result<Self, PlanError> {
        let config = Config::find(dir)?;
        let mut files = discover::globs(dir, &config.ptx)?;
        files.extend(out_dirs.into_iter().flat_map(discover::in_dir));
        Ok(Self {
            name: name.to_owned(),
            dir: dir.to_path_buf(),
            config,
            files: discover::unique(files),
        })
    }
}
