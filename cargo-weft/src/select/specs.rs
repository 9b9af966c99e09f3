//! What `-p` and `--exclude` name: packages by name, by pattern, or by cargo's package id.

use std::path::Path;
use std::process::{Command, Stdio};

use cargo_metadata::{Metadata, Package, PackageId};
use glob::Pattern;

use super::SelectError;
use crate::arguments::Resolution;
use crate::cargo::{self, StartError};

/// One value of `-p` or `--exclude`.
#[derive(Clone, Debug)]
pub(super) enum Spec {
    /// A shell pattern for names of packages of the workspace, as cargo has them: `*`, `?` and `[...]`.
    Pattern(Pattern),
    /// The name of a package, or an id in one of the forms of `cargo help pkgid`.
    Id(String),
}

impl Spec {
    /// Reads a value of an option.
    ///
    /// # Errors
    /// A pattern that is malformed, such as `a[`.
    pub(super) fn parse(text: &str) -> Result<Self, SelectError> {
        // An id is no pattern even if the `?` of its address is there: `https://host/x?branch=y#x`.
        if text.contains("://") || !text.contains(['*', '?', '[', ']']) {
            return Ok(Self::Id(text.to_owned()));
        }
        let malformed = |source| SelectError::Pattern { text: text.to_owned(), source };
        Pattern::new(text).map(Self::Pattern).map_err(malformed)
    }

    /// Reads all values of an option.
    pub(super) fn all(texts: &[String]) -> Result<Vec<Self>, SelectError> {
        texts.iter().map(|text| Self::parse(text)).collect()
    }

    /// Whether this is the name of the package, or a pattern that its name fits.
    pub(super) fn names(&self, package: &Package) -> bool {
        match self {
            Self::Pattern(pattern) => pattern.matches(&package.name),
            Self::Id(name) => *package.name == *name,
        }
    }
}

/// Asks cargo which package of a workspace or its dependencies an id means; `None` if it means none.
///
/// # Errors
/// What cargo says of an id that means more than one package, or is malformed.
pub(super) fn resolved(
    id: &str,
    manifest: &Path,
    resolution: Resolution,
) -> Result<Option<PackageId>, SelectError> {
    let mut command = Command::new(cargo::path());
    command.args(["pkgid", "--color=never", "--manifest-path"]).arg(manifest);
    let start = |source| SelectError::Start(StartError { cargo: cargo::path(), source });
    let output = command
        .args(resolution.flags())
        .arg("--package")
        .arg(id)
        .stdin(Stdio::null())
        .output()
        .map_err(start)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        return Ok(Some(PackageId { repr: text(&output.stdout) }));
    }
    let said = text(&output.stderr);
    if said.contains("did not match any packages") {
        return Ok(None);
    }
    let said = said.strip_prefix("error: ").unwrap_or(&said).to_owned();
    Err(SelectError::Id { id: id.to_owned(), said })
}

/// Returns the packages on which some packages depend, directly or not, at run time or in build scripts, without those
/// packages themselves; sorted by name and id. `metadata` is with dependencies.
pub(super) fn dependencies(metadata: &Metadata, of: &[Package]) -> Vec<Package> {
    let nodes = metadata.resolve.as_ref().map(|resolve| &resolve.nodes[..]).unwrap_or_default();
    let mut found: Vec<&PackageId> = of.iter().map(|package| &package.id).collect();
    let mut at = 0;
    while let Some(id) = found.get(at) {
        let node = nodes.iter().find(|node| node.id == **id);
        for dependency in node.iter().flat_map(|node| &node.deps) {
            let is_built = dependency
                .dep_kinds
                .iter()
                .any(|own| own.kind != cargo_metadata::DependencyKind::Development);
            if is_built && !found.contains(&&dependency.pkg) {
                found.push(&dependency.pkg);
            }
        }
        at += 1;
    }
    let others = &found[of.len().min(found.len())..];
    let packages = metadata.packages.iter().filter(|package| others.contains(&&package.id));
    super::by_name(packages.collect())
}
