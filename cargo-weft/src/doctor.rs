//! `cargo weft doctor`: says what of the selected packages is checked and what is not seen.

mod observation;
mod records;

use std::path::PathBuf;

use weft_core::BlockSource;
use weft_core::ptx::{Module, Statement};
use weft_core::report::escape;
use weft_harness::case::{self, Checker, Job, Package, PlanError};
use weft_harness::config::Config;

use crate::arguments::Selection;
use crate::collect::{self, BuiltPackage};
use crate::exit::{Exit, Failure};
use crate::gpu_code;
use crate::init::{HarnessEntries, parse_manifest};
use crate::nothing::NothingFound;
use crate::nvcc::{self, FoundNvcc};
use crate::print::Printer;
use observation::{Grade, Observation, told};
use records::ExaminedRecords;

/// Examines the selected packages.
pub(crate) fn run(selection: &Selection, printer: &mut Printer) -> Result<Exit, Failure> {
    let built = collect::built(selection, printer)?;
    let (mut kernels, mut is_good) = (0, built.failures.is_empty() && built.ignored.is_empty());
    if !built.ignored.is_empty() {
        printer.line("workspace")?;
    }
    for own in &built.ignored {
        printer.line(&format!("  PROBLEM {}", escape(&own.to_string())))?;
    }
    let records = records::examined(&built, selection);
    for package in &built.packages {
        let (count, lines) = examined(package, &records);
        // Of a dependency that has nothing to do with kernels there is nothing to say.
        if lines.is_empty() {
            continue;
        }
        kernels += count;
        is_good &= lines.iter().all(|(grade, _)| *grade != Grade::Problem);
        printer.line(&format!(
            "{} ({})",
            package.name,
            escape(&package.dir.display().to_string())
        ))?;
        told(&lines, printer)?;
    }
    kernels += records.kernels;
    is_good &= records.lines.iter().all(|(grade, _)| *grade != Grade::Problem);
    printer.line("records of launches")?;
    told(&records.lines, printer)?;
    printer.line(&format!("tools\n  {}", compiler()))?;
    for failure in &built.failures {
        printer.failure(failure);
    }
    if kernels == 0 && is_good {
        printer.failure(&NothingFound::of(&built.packages));
        is_good = false;
    }
    let verdict = if is_good {
        "`cargo weft` checks every kernel that was found"
    } else {
        "something is not checked: see above"
    };
    printer.line(&format!("\nweft doctor: {verdict}"))?;
    Ok(if is_good { Exit::Clean } else { Exit::Unchecked })
}

/// Returns the number of kernels of a package, and what there is to say; nothing of a dependency without GPU code.
fn examined(package: &BuiltPackage, records: &ExaminedRecords) -> (usize, Vec<Observation>) {
    let mut lines = vec![configuration(package)];
    let out_dirs = package.out_dirs.iter().map(PathBuf::as_path);
    let own = match Package::open(&package.name, &package.dir, out_dirs) {
        Ok(own) => own,
        // A configuration that cannot be read is reported above.
        Err(PlanError::Config(_)) if lines[0].0 == Grade::Problem => return (0, lines),
        Err(error) => {
            lines.push((Grade::Problem, error.to_string()));
            return (0, lines);
        }
    };
    let compiled = gpu_code::compiled(&package.out_dirs);
    lines.extend(compiled_line(&compiled, own.files.is_empty()));
    if own.files.is_empty() && own.config.path.is_none() {
        if compiled.is_empty() && !package.is_asked_for {
            return (0, Vec::new());
        }
        if compiled.is_empty() {
            lines.push(without_code(package));
        }
        return (0, lines);
    }
    let kernels = match case::plan_with(&own, &Checker::default()) {
        Ok(jobs) => {
            lines.extend(files(&jobs));
            lines.extend(without_block(&jobs, records));
            lines.extend(skipped(&jobs));
            let mut names: Vec<_> = jobs
                .iter()
                .filter(|job| !job.is_unread())
                .map(|job| (&job.file.path, &job.kernel))
                .collect();
            names.dedup();
            names.len()
        }
        Err(error) => {
            lines.push((Grade::Problem, error.to_string()));
            0
        }
    };
    let has_seen = own.files.iter().any(|file| !package.is_captured(file));
    lines.push(harness(package, has_seen));
    (kernels, lines)
}

/// Returns what is said of a package without PTX and without compiled GPU code.
fn without_code(package: &BuiltPackage) -> Observation {
    match gpu_code::cuda_source(&package.dir) {
        None => (Grade::Good, "no PTX and no compiled GPU code: nothing to check".to_owned()),
        Some(path) => {
            let advice = "have it compile the file to PTX with the crate `weft-build`";
            let path = path.display().to_string();
            (
                Grade::Note,
                format!(
                    "there is CUDA C++, such as {}, and the build script leaves neither PTX nor compiled GPU code: {advice}",
                    escape(&path)
                ),
            )
        }
    }
}

/// Returns whether there is a configuration and whether it can be read.
fn configuration(package: &BuiltPackage) -> Observation {
    match Config::find(&package.dir) {
        Ok(Config { path: Some(path), .. }) => {
            let name = path.strip_prefix(&package.dir).unwrap_or(&path).display().to_string();
            (Grade::Good, format!("configuration in {}", escape(&name)))
        }
        Ok(_) => {
            let advice = "kernels are proved for every launch, or open; `cargo weft init` writes a weft.toml";
            (Grade::Note, format!("no configuration: {advice}"))
        }
        Err(error) => (Grade::Problem, error.to_string()),
    }
}

/// Returns a line or two for each PTX file of the jobs.
fn files(jobs: &[Job]) -> Vec<Observation> {
    let of_files = jobs.chunk_by(|one, next| std::sync::Arc::ptr_eq(&one.file, &next.file));
    of_files.filter_map(|jobs| jobs.first()).flat_map(file).collect()
}

fn file(job: &Job) -> Vec<Observation> {
    let name = &job.file.display;
    if let (true, Err(error)) = (job.is_unread(), &job.outcome().report) {
        return vec![(Grade::Problem, error.to_string())];
    }
    let module = &job.module;
    let count = module.kernels().count();
    let kernels = if count == 1 { "1 kernel".to_owned() } else { format!("{count} kernels") };
    let mut lines = vec![if has_lines(module) {
        (Grade::Good, format!("{name}: {kernels}, with source lines"))
    } else {
        let advice = "reports point into the PTX, and arguments have no names; compile with `nvcc -lineinfo` or `clang -gline-tables-only`";
        (Grade::Note, format!("{name}: {kernels}, without source lines: {advice}"))
    }];
    if let Some(note) = job.file.saved.as_ref().and_then(|own| own.note(name)) {
        lines.push((Grade::Note, note));
    }
    if is_debug(module) {
        let advice = "checks are slow and fewer kernels are proved; compile without `nvcc -G`";
        lines.push((Grade::Note, format!("{name}: compiled for a debugger: {advice}")));
    }
    lines
}

/// Returns what is said of kernels whose block nobody states.
fn without_block(jobs: &[Job], records: &ExaminedRecords) -> Option<Observation> {
    let is_known =
        |job: &Job| job.known_block().is_some_and(|own| own.source != BlockSource::Guessed);
    let is_launched =
        |job: &Job| records.launched.contains(&(job.file.path.clone(), job.kernel.mangled.clone()));
    let own = jobs.iter().filter(|job| !job.is_left_out() && !is_launched(job));
    let without: Vec<&Job> = own.filter(|job| !is_known(job)).collect();
    let first = without.first()?;
    let whose = match without.len() {
        1 => format!("1 kernel ({})", first.title),
        count => format!("{count} kernels (such as {})", first.title),
    };
    let advice = "such a kernel is proved for every launch, or else its verdict is open, and `block` in weft.toml might settle it";
    Some((Grade::Note, format!("nobody states the block of {whose}: {advice}")))
}

/// Returns what is said of kernels that the configuration leaves out.
fn skipped(jobs: &[Job]) -> Option<Observation> {
    let count = jobs.iter().filter(|job| job.skip.is_some()).count();
    let what = if count == 1 { "1 launch".to_owned() } else { format!("{count} launches") };
    (count > 0)
        .then(|| (Grade::Note, format!("weft.toml skips {what}: what it skips is not checked")))
}

/// Whether a kernel of the module has `.loc` lines.
fn has_lines(module: &Module) -> bool {
    let is_line = |statement: &Statement| matches!(statement, Statement::Loc(_));
    let bodies = module.kernels().filter_map(|kernel| kernel.body.as_ref());
    bodies.into_iter().any(|body| body.statements.iter().any(is_line))
}

/// Whether the module is compiled with `-G`: `.target sm_80, debug`.
fn is_debug(module: &Module) -> bool {
    let target = module.text().lines().map(str::trim).find(|line| line.starts_with(".target"));
    target.is_some_and(|line| line.split([',', ' ', '\t']).any(|word| word == "debug"))
}

/// Returns what is said of files with compiled GPU code.
fn compiled_line(found: &[String], is_alone: bool) -> Option<Observation> {
    let names = found.iter().take(4).map(|name| escape(name).into_owned()).collect::<Vec<_>>();
    let more = if found.len() > names.len() { ", ..." } else { "" };
    let names = names.join(", ") + more;
    if found.is_empty() {
        return None;
    }
    Some(if is_alone {
        let advice = "machine code is not checked, only PTX; `--capture-nvcc` compiles to PTX what the build script gives \
                      nvcc; or let the build script also compile the sources with the crate `weft-build` or `nvcc -ptx -lineinfo -o $OUT_DIR/NAME.ptx`, or save PTX and name it in weft.toml, such \
                      as `ptx = [\"kernels/*.ptx\"]`; docs/build-scripts.md of cargo-weft has examples";
        (Grade::Problem, format!("OUT_DIR has compiled GPU code but no PTX ({names}): {advice}"))
    } else {
        let advice = "only kernels that are in the PTX files as well are checked";
        (Grade::Note, format!("OUT_DIR has compiled GPU code too ({names}): {advice}"))
    })
}

/// Returns whether `cargo test` runs the checks. `has_seen`: whether the package has PTX that `cargo test` sees.
fn harness(package: &BuiltPackage, has_seen: bool) -> Observation {
    let text = std::fs::read_to_string(&package.manifest).unwrap_or_default();
    let entries = parse_manifest(&text, "Cargo.toml").map(|document| HarnessEntries::of(&document));
    match entries {
        Ok(own) if !has_seen => {
            let advice = "it sees what the build script leaves in OUT_DIR without `--capture-nvcc`, and what weft.toml names; the \
                          crate `weft-build` compiles to PTX in a build script";
            let (grade, what) = if own.has_test {
                (Grade::Problem, "the test `weft` fails in `cargo test`, which has no PTX to check")
            } else {
                (Grade::Note, "`cargo test` has no PTX to check")
            };
            (grade, format!("{what}: {advice}"))
        }
        Ok(own) if own.is_complete() => {
            (Grade::Good, "`cargo test` runs the checks too".to_owned())
        }
        Ok(own) if own.has_test && !own.is_own_main => {
            let advice = "add `harness = false` to the [[test]] with the name `weft` in Cargo.toml";
            (Grade::Problem, format!("the test `weft` does not run the checks: {advice}"))
        }
        Ok(_) => (
            Grade::Note,
            "`cargo test` does not run the checks; `cargo weft init` adds what it needs".to_owned(),
        ),
        Err(error) => (Grade::Problem, error.to_string()),
    }
}

/// Returns where the CUDA compiler is, for build scripts that use `weft-build` or look it up in the same way.
fn compiler() -> String {
    match nvcc::find() {
        Some(FoundNvcc::Named(text)) => format!("ok      nvcc: {}, as NVCC says", escape(&text)),
        Some(FoundNvcc::At(path)) => format!("ok      nvcc: {}", escape(&path.display().to_string())),
        None => "ok      no nvcc in NVCC, PATH, CUDA_HOME or CUDA_PATH: not needed, unless a build script calls it".to_owned(),
    }
}
