//! `--message-format rustc`: findings as the messages of a compiler, in the form in which cargo prints them.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use cargo_metadata::{Package, Target};
use weft_core::report::checked::RunProblem;
use weft_core::report::rustc::{self, MessageOrigin};
use weft_harness::case::Job;

use super::paths::Root;
use super::{Ending, Renderer, RunContext};
use crate::print::Printer;

/// Prints one message for each finding, with paths relative to the folder of the workspace, as in cargo's messages.
#[derive(Debug)]
pub(super) struct Rustc {
    root: Root,
    folder: PathBuf,
    /// The packages by their folders.
    origins: BTreeMap<PathBuf, MessageOrigin>,
}

impl Rustc {
    pub(super) fn of(surroundings: &RunContext) -> Self {
        let origins = surroundings.crates.iter();
        let origins =
            origins.filter_map(|(folder, package)| Some((folder.clone(), of_package(package)?)));
        let folder = surroundings.folder();
        Self { root: Root::new(&folder), folder, origins: origins.collect() }
    }

    fn problems(&self, problems: &[RunProblem], printer: &mut Printer) -> io::Result<()> {
        let origin = without_package(&self.folder, &self.folder.join("Cargo.toml"));
        problems.iter().try_for_each(|problem| printer.text(&rustc::problem(problem, &origin)))
    }
}

impl Renderer for Rustc {
    fn start(&mut self, problems: &[RunProblem], printer: &mut Printer) -> io::Result<()> {
        self.problems(problems, printer)
    }

    fn kernel(&mut self, job: &Job, printer: &mut Printer) -> io::Result<()> {
        let stand_in;
        let origin = if let Some(origin) = self.origins.get(&job.dir) {
            origin
        } else {
            stand_in = without_package(&self.folder, &job.file.path);
            &stand_in
        };
        printer.text(&self.root.checked(job, |checked| rustc::kernel(checked, origin)))
    }

    fn finish(&mut self, end: Ending<'_>, printer: &mut Printer) -> io::Result<()> {
        self.problems(end.problems, printer)?;
        printer.text(&rustc::finished(end.run()))
    }
}

/// Returns what messages say of a package: its library, or else its first target.
fn of_package(package: &Package) -> Option<MessageOrigin> {
    let library = package.targets.iter().find(|target| target.is_lib());
    let target = library.or_else(|| package.targets.first())?;
    Some(MessageOrigin {
        package_id: package.id.repr.clone(),
        manifest_path: package.manifest_path.to_string(),
        target: of_target(target),
    })
}

fn of_target(target: &Target) -> rustc::MessageTarget {
    rustc::MessageTarget {
        kind: target.kind.iter().map(ToString::to_string).collect(),
        crate_types: target.crate_types.iter().map(ToString::to_string).collect(),
        name: target.name.clone(),
        src_path: target.src_path.to_string(),
        edition: target.edition.to_string(),
        doc: target.doc,
        doctest: target.doctest,
        test: target.test,
    }
}

/// Returns a package that stands for a file that is in none, since the form demands one.
fn without_package(folder: &Path, file: &Path) -> MessageOrigin {
    let shown = folder.to_string_lossy();
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    MessageOrigin {
        package_id: format!("path+file://{shown}#cargo-weft@0.0.0"),
        manifest_path: folder.join("Cargo.toml").to_string_lossy().into_owned(),
        target: rustc::MessageTarget {
            kind: vec!["lib".to_owned()],
            crate_types: vec!["lib".to_owned()],
            name,
            src_path: folder.join(file).to_string_lossy().into_owned(),
            edition: "2024".to_owned(),
            doc: false,
            doctest: false,
            test: false,
        },
    }
}
