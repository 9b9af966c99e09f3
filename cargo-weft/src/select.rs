//! Selects the packages of a command: those of the workspace by cargo's flags, and those outside that the workspace
//! names.

use std::env;
use std::path::{Path, PathBuf, absolute};

use cargo_metadata::{Metadata, MetadataCommand, Package};

use crate::arguments::{Resolution, Selection};
use crate::cargo::{self, StartError};
use crate::outside;

/// Packages that are built together, by one call of cargo.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// The manifest that is passed to cargo.
    pub(crate) manifest: PathBuf,
    /// The packages, sorted by name.
    pub(crate) packages: Vec<Package>,
    /// Feature flags; empty for packages outside the workspace, which the flags do not concern.
    pub(crate) features: Vec<String>,
    /// The target directory. All groups share one, so that dependencies are built once.
    pub(crate) target: PathBuf,
    /// The folder of the workspace that is checked; of a group outside of it, the same.
    pub(crate) root: PathBuf,
}

/// Why the packages cannot be determined.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SelectError {
    #[error("cargo cannot read the workspace: {said}{}", remedy(.said))]
    Workspace { said: String },
    #[error("cannot understand what `cargo metadata` says")]
    Metadata(#[source] cargo_metadata::Error),
    #[error(transparent)]
    Start(StartError),
    #[error("no package `{name}` in this workspace; there are {}", .known.join(", "))]
    NoPackage { name: String, known: Vec<String> },
    #[error("cannot find the current folder")]
    Folder(#[source] std::io::Error),
    #[error(transparent)]
    Outside(#[from] outside::OutsideError),
}

impl From<cargo_metadata::Error> for SelectError {
    fn from(error: cargo_metadata::Error) -> Self {
        match error {
            cargo_metadata::Error::CargoMetadata { stderr } => {
                let said = stderr.trim();
                let said = said.strip_prefix("error: ").unwrap_or(said);
                Self::Workspace { said: said.to_owned() }
            }
            cargo_metadata::Error::Io(source) => {
                Self::Start(StartError { cargo: cargo::path(), source })
            }
            other => Self::Metadata(other),
        }
    }
}

/// Returns what to do about an error of cargo, if cargo's message does not say it.
fn remedy(said: &str) -> &'static str {
    if said.contains("could not find `Cargo.toml`") {
        "\nrun it in the folder of a package, or name one by --manifest-path; `cargo weft check FILE.ptx` needs none"
    } else if said.contains("invalid UTF-8") {
        "\ncargo cannot describe a package whose path is not UTF-8: rename the folder, or use `cargo weft check FILE.ptx`"
    } else {
        ""
    }
}

/// Returns the groups of a selection, the current workspace first.
pub(crate) fn groups(selection: &Selection) -> Result<Vec<Group>, SelectError> {
    let metadata = metadata(selection.manifest.manifest_path.as_deref(), selection.resolution)?;
    let known = known(&metadata);
    if let Some(name) = selection.workspace.package.iter().find(|name| !known.contains(name)) {
        return Err(SelectError::NoPackage { name: name.clone(), known });
    }
    let target = match &selection.build.target_dir {
        Some(folder) => absolute(folder).map_err(SelectError::Folder)?,
        None => metadata.target_directory.clone().into_std_path_buf(),
    };
    let root = metadata.workspace_root.clone().into_std_path_buf();
    let (packages, _) = selection.workspace.partition_packages(&metadata);
    let own = Group {
        manifest: metadata.workspace_root.join("Cargo.toml").into_std_path_buf(),
        packages: by_name(packages),
        features: features(&selection.features),
        target: target.clone(),
        root: root.clone(),
    };
    let mut groups = vec![own];
    if whole(selection, &metadata) {
        for manifest in outside::manifests(&metadata)? {
            let metadata = self::metadata(Some(&manifest), selection.resolution)?;
            let packages = metadata.workspace_packages();
            let packages = packages
                .into_iter()
                .filter(|package| !selection.workspace.exclude.contains(&package.name))
                .collect();
            let packages = by_name(packages);
            let (target, root) = (target.clone(), root.clone());
            groups.push(Group { manifest, packages, features: Vec::new(), target, root });
        }
    }
    Ok(groups)
}

fn metadata(
    manifest: Option<&Path>,
    resolution: Resolution,
) -> Result<Metadata, cargo_metadata::Error> {
    let mut command = MetadataCommand::new();
    if let Some(manifest) = manifest {
        command.manifest_path(manifest);
    }
    command.no_deps().other_options(resolution.flags()).exec()
}

fn known(metadata: &Metadata) -> Vec<String> {
    let mut names: Vec<_> =
        metadata.workspace_packages().iter().map(|package| package.name.to_string()).collect();
    names.sort();
    names
}

/// Whether the command is about the whole workspace, not about one package or its folder.
fn whole(selection: &Selection, metadata: &Metadata) -> bool {
    let flags = &selection.workspace;
    flags.package.is_empty()
        && (flags.workspace
            || flags.all
            || here(selection.manifest.manifest_path.as_deref())
                .is_some_and(|folder| same(&folder, metadata.workspace_root.as_std_path())))
}

/// Returns the folder of the manifest that cargo uses: the given one, otherwise the nearest in the parent folders.
fn here(manifest: Option<&Path>) -> Option<PathBuf> {
    let start = env::current_dir().ok()?;
    match manifest {
        Some(manifest) => start.join(manifest).parent().map(Path::to_owned),
        None => {
            start.ancestors().find(|folder| folder.join("Cargo.toml").is_file()).map(Path::to_owned)
        }
    }
}

fn same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

fn by_name(packages: Vec<&Package>) -> Vec<Package> {
    let mut packages: Vec<_> = packages.into_iter().cloned().collect();
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    packages
}

fn features(flags: &clap_cargo::Features) -> Vec<String> {
    let mut words = Vec::new();
    if flags.all_features {
        words.push("--all-features".to_owned());
    }
    if flags.no_default_features {
        words.push("--no-default-features".to_owned());
    }
    if !flags.features.is_empty() {
        words.extend(["--features".to_owned(), flags.features.join(",")]);
    }
    words
}
