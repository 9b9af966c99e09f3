//! Runs the build scripts of a group of packages and finds their output directories.
//!
//! Uses `cargo check`, the cheapest command that runs build scripts. It links nothing, so that a crate that links
//! against the CUDA libraries can be checked on a machine without them. Cargo shares one run of a build script between
//! `check`, `build` and `test`. Cargo's messages go to standard error as they come.

use std::collections::BTreeMap;
use std::io::{self, BufReader};
use std::path::PathBuf;
use std::process::{ChildStdout, Command, Stdio};

use cargo_metadata::{Message, Package};

use crate::arguments::{BuildFlags, Resolution};
use crate::capture::Capture;
use crate::cargo::{self, StartError};
use crate::options::Color;
use crate::select::Group;

/// `OUT_DIR`s by package id. A package has more than one if its script ran both for the host and for a target.
pub(crate) type OutDirs = BTreeMap<String, Vec<PathBuf>>;

/// Options that are passed on to cargo.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manners<'a> {
    pub(crate) resolution: Resolution,
    pub(crate) build: &'a BuildFlags,
    pub(crate) capture: Option<&'a Capture>,
    pub(crate) color: Color,
    pub(crate) quiet: bool,
}

/// Why the build outputs are not available.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CompileError {
    #[error(transparent)]
    Start(StartError),
    #[error("cannot read what cargo says")]
    Read(#[source] io::Error),
    #[error("the build of {} failed; its kernels were not checked", .packages.join(", "))]
    Failed { packages: Vec<String> },
}

/// Runs the build scripts of those packages of the group that have one, and returns their output directories. The scripts of
/// dependencies run when the packages that use them are built.
pub(crate) fn build_scripts(group: &Group, manners: Manners<'_>) -> Result<OutDirs, CompileError> {
    let is_built = |package: &&Package| has_script(package) || !group.dependencies.is_empty();
    let scripted = |library: bool| {
        let built = group.packages.iter().filter(is_built);
        built.filter(move |package| has_library(package) == library).collect::<Vec<_>>()
    };
    let mut out_dirs = OutDirs::new();
    for (packages, targets) in [(scripted(true), "--lib"), (scripted(false), "--bins")] {
        if !packages.is_empty() {
            run(group, &packages, targets, manners, &mut out_dirs)?;
        }
    }
    Ok(out_dirs)
}

fn run(
    group: &Group,
    packages: &[&Package],
    targets: &str,
    manners: Manners<'_>,
    out_dirs: &mut OutDirs,
) -> Result<(), CompileError> {
    let mut command = command(group, packages, targets, manners);
    let cargo = PathBuf::from(command.get_program());
    let start = |source| CompileError::Start(StartError { cargo, source });
    let mut child = command.spawn().map_err(start)?;
    if let Some(stdout) = child.stdout.take()
        && let Err(error) = listen(stdout, group, out_dirs)
    {
        let _ = child.kill().and_then(|()| child.wait());
        return Err(CompileError::Read(error));
    }
    let status = child.wait().map_err(CompileError::Read)?;
    if status.success() {
        return Ok(());
    }
    Err(CompileError::Failed {
        packages: packages.iter().map(|package| package.name.to_string()).collect(),
    })
}

/// Reads cargo's messages and adds the output directories of the group's packages to `out_dirs`.
fn listen(stdout: ChildStdout, group: &Group, out_dirs: &mut OutDirs) -> io::Result<()> {
    for message in Message::parse_stream(BufReader::new(stdout)) {
        let Message::BuildScriptExecuted(script) = message? else { continue };
        // Dependencies report their build scripts even if they are not asked about.
        if group.all().any(|(package, _)| package.id == script.package_id) {
            let known = out_dirs.entry(script.package_id.repr).or_default();
            let out_dir = script.out_dir.into_std_path_buf();
            if !known.contains(&out_dir) {
                known.push(out_dir);
            }
        }
    }
    Ok(())
}

fn command(group: &Group, packages: &[&Package], targets: &str, manners: Manners<'_>) -> Command {
    let mut command = Command::new(cargo::path());
    command.args([
        "check",
        targets,
        "--message-format=json-render-diagnostics",
        "--color",
        manners.color.word(),
    ]);
    command.arg("--manifest-path").arg(&group.manifest);
    let target = manners.capture.map_or(&group.target, |capture| &capture.target);
    command.arg("--target-dir").arg(target);
    command.envs(manners.capture.iter().flat_map(|capture| capture.variables.iter().cloned()));
    for package in packages {
        command.args(["--package", &package.id.repr]);
    }
    command.args(&group.features).args(manners.resolution.flags()).args(manners.build.flags());
    if manners.quiet {
        command.arg("--quiet");
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

fn has_script(package: &Package) -> bool {
    package.targets.iter().any(cargo_metadata::Target::is_custom_build)
}

fn has_library(package: &Package) -> bool {
    use cargo_metadata::Target;
    let kinds = [
        Target::is_lib,
        Target::is_rlib,
        Target::is_dylib,
        Target::is_cdylib,
        Target::is_staticlib,
        Target::is_proc_macro,
    ];
    package.targets.iter().any(|target| kinds.iter().any(|is| is(target)))
}
