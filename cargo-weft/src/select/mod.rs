//! Selects the packages of a command: those of the workspace by cargo's flags, and those outside that the workspace
//! names, or on which they depend.

use std::path::{Path, PathBuf, absolute};
use std::{env, iter, slice};

use cargo_metadata::{Metadata, MetadataCommand, Package, PackageId};

use crate::arguments::Selection;
use crate::cargo::{self, StartError};
use crate::outside;

mod specs;

use specs::Spec;

/// Packages that are built together, by one call of cargo.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// The manifest that is passed to cargo.
    pub(crate) manifest: PathBuf,
    /// The packages, sorted by name; those that are named by an id last.
    pub(crate) packages: Vec<Package>,
    /// What they depend on, if that is checked too.
    pub(crate) dependencies: Vec<Package>,
    /// The members of the workspaces that are checked.
    pub(crate) members: Vec<PackageId>,
    /// Feature flags; empty for packages outside the workspace, which the flags do not concern.
    pub(crate) features: Vec<String>,
    /// The target directory. All groups share one, so that dependencies are built once.
    pub(crate) target: PathBuf,
    /// The folder of the workspace that is checked; of a group outside of it, the same.
    pub(crate) root: PathBuf,
    /// Whether there is no package in the folder of the group's own workspace.
    pub(crate) is_virtual: bool,
}

impl Group {
    /// Returns the packages and what they depend on, if that is checked too; each with whether it is one of the packages, or a
    /// member of a workspace that is checked.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&Package, bool)> {
        let dependencies = self.dependencies.iter();
        let dependencies = dependencies.map(|own| (own, self.members.contains(&own.id)));
        self.packages.iter().map(|own| (own, true)).chain(dependencies)
    }
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
    #[error("no package `{name}` in this workspace or its dependencies; its members are {}", .known.join(", "))]
    NoPackage { name: String, known: Vec<String> },
    #[error("`{text}` is no pattern for names of packages")]
    Pattern { text: String, source: glob::PatternError },
    #[error("`{id}` means no single package: {said}")]
    Id { id: String, said: String },
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
    if is_absent(said) {
        "\nrun it in the folder of a package, or name one by --manifest-path; `check`, `mutate` and `repair` with a FILE.ptx need \
         none, nor does `cargo weft check --record target/weft/launches`, for what was recorded here"
    } else if said.contains("invalid UTF-8") {
        "\ncargo cannot describe a package whose path is not UTF-8: rename the folder, or use `cargo weft check FILE.ptx`"
    } else {
        ""
    }
}

/// Returns the groups of a selection, the current workspace first.
pub(crate) fn groups(selection: &Selection) -> Result<Vec<Group>, SelectError> {
    let manifest = selection.manifest.manifest_path.as_deref();
    let own = metadata(manifest, selection, Depth::Members)?;
    let named = Spec::all(&selection.workspace.package)?;
    let excluded = Spec::all(&selection.workspace.exclude)?;
    let is_whole = !named.is_empty() || whole(selection, &own);
    let mut listed = Vec::new();
    if is_whole || selection.include_deps {
        for manifest in outside::manifests(&own)? {
            listed.push(metadata(Some(&manifest), selection, Depth::Members)?);
        }
    }
    let members: Vec<PackageId> = iter::once(&own)
        .chain(&listed)
        .flat_map(|workspace| workspace.workspace_members.clone())
        .collect();
    let outside = if is_whole { listed } else { Vec::new() };
    let target = target_of(selection, &own)?;
    let group = |workspace: &Metadata, packages: Vec<&Package>, features: Vec<String>| {
        let is_kept = |package: &&Package| !excluded.iter().any(|spec| spec.names(package));
        Group {
            manifest: workspace.workspace_root.join("Cargo.toml").into_std_path_buf(),
            packages: by_name(packages.into_iter().filter(is_kept).collect()),
            dependencies: Vec::new(),
            members: members.clone(),
            features,
            target: target.clone(),
            root: own.workspace_root.clone().into_std_path_buf(),
            is_virtual: is_virtual(workspace),
        }
    };
    let first = if named.is_empty() {
        selection.workspace.partition_packages(&own).0
    } else {
        named_of(&named, &own)
    };
    let mut groups = vec![group(&own, first, features(&selection.features))];
    for workspace in &outside {
        let packages = if named.is_empty() {
            workspace.workspace_packages()
        } else {
            named_of(&named, workspace)
        };
        groups.push(group(workspace, packages, Vec::new()));
    }
    let workspaces: Vec<&Metadata> = iter::once(&own).chain(&outside).collect();
    let rest = unmatched(&named, &workspaces)?;
    let identified = identified(&rest, selection, &groups[0].manifest, &workspaces)?;
    groups[0].packages.extend(identified);
    if selection.include_deps {
        for group in &mut groups {
            let workspace = metadata(Some(&group.manifest), selection, Depth::Dependencies)?;
            let others = specs::dependencies(&workspace, &group.packages).into_iter();
            group.dependencies =
                others.filter(|own| !excluded.iter().any(|spec| spec.names(own))).collect();
        }
    }
    Ok(groups)
}

/// The folders of a workspace, or of a program that is in none.
#[derive(Clone, Debug)]
pub(crate) struct RecordPlace {
    /// The target directory.
    pub(crate) target: PathBuf,
    /// The folder of the workspace, or the current one.
    pub(crate) root: PathBuf,
}

/// Returns the place of a selection. Where there is no `Cargo.toml`, and none is named, it is the current folder.
pub(crate) fn place(selection: &Selection) -> Result<RecordPlace, SelectError> {
    let manifest = selection.manifest.manifest_path.as_deref();
    match metadata(manifest, selection, Depth::Members).map_err(SelectError::from) {
        Ok(own) => {
            let root = own.workspace_root.clone().into_std_path_buf();
            Ok(RecordPlace { target: target_of(selection, &own)?, root })
        }
        Err(SelectError::Workspace { said }) if manifest.is_none() && is_absent(&said) => {
            let root = env::current_dir().map_err(SelectError::Folder)?;
            let stated = selection.build.target_dir.clone();
            let stated = stated.or_else(|| env::var_os("CARGO_TARGET_DIR").map(PathBuf::from));
            let target = stated.unwrap_or_else(|| "target".into());
            Ok(RecordPlace { target: absolute(target).map_err(SelectError::Folder)?, root })
        }
        Err(error) => Err(error),
    }
}

/// Whether cargo says that it found no manifest.
fn is_absent(said: &str) -> bool {
    said.contains("could not find `Cargo.toml`")
}

fn target_of(selection: &Selection, workspace: &Metadata) -> Result<PathBuf, SelectError> {
    match &selection.build.target_dir {
        Some(folder) => absolute(folder).map_err(SelectError::Folder),
        None => Ok(workspace.target_directory.clone().into_std_path_buf()),
    }
}

/// Whether a workspace has no package in its own folder.
fn is_virtual(workspace: &Metadata) -> bool {
    let manifest = workspace.workspace_root.join("Cargo.toml");
    workspace.workspace_packages().iter().all(|package| package.manifest_path != manifest)
}

/// Returns the members of a workspace that are named.
fn named_of<'a>(named: &[Spec], workspace: &'a Metadata) -> Vec<&'a Package> {
    let members = workspace.workspace_packages().into_iter();
    members.filter(|package| named.iter().any(|spec| spec.names(package))).collect()
}

/// Returns the ids that are no name of a member.
///
/// # Errors
/// A pattern that no member's name fits.
fn unmatched<'a>(named: &'a [Spec], workspaces: &[&Metadata]) -> Result<Vec<&'a str>, SelectError> {
    let mut rest = Vec::new();
    for spec in named {
        let one = slice::from_ref(spec);
        if workspaces.iter().all(|workspace| named_of(one, workspace).is_empty()) {
            match spec {
                Spec::Pattern(pattern) => {
                    let (name, known) = (pattern.to_string(), known(workspaces));
                    return Err(SelectError::NoPackage { name, known });
                }
                Spec::Id(id) => rest.push(&id[..]),
            }
        }
    }
    Ok(rest)
}

/// Returns the packages, members or dependencies, that cargo says some ids mean.
fn identified(
    ids: &[&str],
    selection: &Selection,
    manifest: &Path,
    workspaces: &[&Metadata],
) -> Result<Vec<Package>, SelectError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let all = metadata(Some(manifest), selection, Depth::Dependencies)?;
    let mut found: Vec<Package> = Vec::new();
    for id in ids {
        let absent = || SelectError::NoPackage { name: (*id).to_owned(), known: known(workspaces) };
        let meant = specs::resolved(id, manifest, selection.resolution)?.ok_or_else(absent)?;
        let package = all.packages.iter().find(|own| own.id == meant).ok_or_else(absent)?;
        if found.iter().all(|own| own.id != meant) {
            found.push(package.clone());
        }
    }
    Ok(found)
}

/// How far a description of a workspace goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    /// To its members.
    Members,
    /// To all that they depend on, which needs the lock file.
    Dependencies,
}

fn metadata(
    manifest: Option<&Path>,
    selection: &Selection,
    depth: Depth,
) -> Result<Metadata, cargo_metadata::Error> {
    let mut command = MetadataCommand::new();
    if let Some(manifest) = manifest {
        command.manifest_path(manifest);
    }
    let mut options = selection.resolution.flags();
    if depth == Depth::Members {
        command.no_deps();
    } else {
        options.extend(features(&selection.features));
    }
    command.other_options(options).exec()
}

fn known(workspaces: &[&Metadata]) -> Vec<String> {
    let members = workspaces.iter().flat_map(|workspace| workspace.workspace_packages());
    let mut names: Vec<_> = members.map(|package| package.name.to_string()).collect();
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
