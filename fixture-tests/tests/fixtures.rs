//! Tests every fixture of the workspace. The check of its PTX under the launch of its header must report exactly the
//! annotated findings, and the human report of a fixture with findings must equal the snapshot beside it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;

use libtest_mimic::{Arguments, Failed, Trial};
use weft_core::finding::Report;
use weft_core::ptx::{self, Module};
use weft_core::report::{ReportContext, SourceText, human, saved};
use weft_fixture_tests::files;
use weft_fixture_tests::language::Fixture;
use weft_fixture_tests::snapshot::{self, SnapshotError};
use weft_harness::render::{SourceFiles as _, Sources};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    libtest_mimic::run(&arguments, trials()).exit_code()
}

fn trials() -> Vec<Trial> {
    let paths = match files::fixtures() {
        Ok(paths) if !paths.is_empty() => paths,
        Ok(_) => return vec![failing("there are no fixtures".to_owned())],
        Err(error) => return vec![failing(error.to_string())],
    };
    let folder = files::root().join("ptx");
    let name = |path: &Path| files::relative(&path.with_extension(""), &folder);
    let mut trials: Vec<Trial> = paths
        .iter()
        .cloned()
        .map(|path| Trial::test(format!("fixtures::{}", name(&path)), move || check(&path)))
        .collect();
    trials.push(Trial::test("fixtures::leftovers", move || leftovers(&paths)));
    trials
}

fn failing(message: String) -> Trial {
    Trial::test("fixtures::found", move || Err(Failed::from(message)))
}

fn check(path: &Path) -> Result<(), Failed> {
    let text = fs::read_to_string(path)?;
    let fixture = Fixture::parse(&text, path)?;
    let module = ptx::parse(&text);
    let unread: Vec<String> = module
        .errors
        .iter()
        .map(|error| format!("{}:{}: {error}", path.display(), module.position(error.span)))
        .collect();
    if !unread.is_empty() {
        return Err(Failed::from(unread.join("\n")));
    }
    let launch = fixture.launch();
    let check_all = || {
        let checked = module.kernels().map(|kernel| weft_core::check(&module, kernel, &launch));
        checked.collect::<Result<Vec<Report>, _>>()
    };
    let reports = check_all()?;
    // The checker's hash tables order their entries differently each time.
    if check_all()? != reports {
        return Err(Failed::from("a second check gives another report"));
    }
    if reports.is_empty() {
        return Err(Failed::from("the fixture has no kernel"));
    }
    for report in &reports {
        comes_back(report)?;
    }
    let rendered = rendered(path, &module, &reports);
    let mismatches = fixture.compare(&module, &reports);
    if !mismatches.is_empty() {
        let lines: Vec<String> = mismatches.iter().map(ToString::to_string).collect();
        return Err(Failed::from(format!("{}\n\n{rendered}", lines.join("\n"))));
    }
    if reports.iter().all(|report| report.findings.is_empty()) {
        return Ok(());
    }
    Ok(snapshot::compare(&path.with_extension("txt"), &rendered, snapshot::is_blessing())?)
}

/// Asserts that a report can be serialized and read back without change.
fn comes_back(report: &Report) -> Result<(), Failed> {
    let report = &Report { shown_with: None, ..report.clone() };
    let text = saved::write(report);
    match saved::read(&text, &report.launch) {
        Some(read) if read == *report => Ok(()),
        other => Err(Failed::from(format!("saved as {text}, read as {other:?}"))),
    }
}

/// Returns the human reports of all kernels, without anything that differs between machines.
fn rendered(path: &Path, module: &Module, reports: &[Report]) -> String {
    let dir = path.parent().unwrap_or(path);
    let sources = Sources::within([dir]);
    let display = path.file_name().unwrap_or_default().to_string_lossy();
    // Without the path, which depends on the folder that the test runs in.
    let text = |name: &str| {
        sources.text(name).map(|text| Rc::new(SourceText::from(text.as_str().to_owned())))
    };
    let one = |report: &Report| {
        let (ptx, kernel, name) = (&*display, report.kernel.as_str(), report.kernel.as_str());
        let sources = &text;
        let (is_allowed, color) = (false, false);
        let context = ReportContext { module, ptx, kernel, name, sources, is_allowed, color };
        human::report(context, report)
    };
    reports.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// Asserts that every snapshot belongs to a fixture that expects findings.
fn leftovers(paths: &[PathBuf]) -> Result<(), Failed> {
    let mut compared = BTreeSet::new();
    for path in paths {
        let has_findings = fs::read_to_string(path)?.contains("//~");
        if has_findings {
            compared.insert(path.with_extension("txt"));
        }
    }
    let left = snapshot::leftovers(&files::root().join("ptx"), "txt", &compared)?;
    if left.is_empty() {
        return Ok(());
    }
    Err(Failed::from(left.iter().map(SnapshotError::to_string).collect::<Vec<_>>().join("\n")))
}
