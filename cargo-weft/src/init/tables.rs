//! The text of a new weft.toml: a table for each kernel, or for several with one name and the same lines.

use regex::Regex;
use weft_core::finding::{Code, Verdict};
use weft_core::report::escape;
use weft_harness::case::Job;
use weft_harness::config::SCHEMA_URL;
use weft_harness::name::KernelName;
use weft_harness::render::Sources;
use weft_harness::signature::Signatures;

use super::launch::Kernel;
use super::recorded::LaunchTables;
use crate::print::wrap;

/// The width of comments.
const WIDTH: usize = 100;

const HEAD: &str = "\
# What `cargo weft` checks the kernels of this package with; written by `cargo weft init`, to be corrected.
#
# Without a table, a kernel is proved for every launch and every argument, where possible. A table states what the host
# launches. A line that begins with `#` has no effect; remove the `#` to use it. Sizes that are marked as guesses only show
# the form: write those of your launches. Arguments that are not stated can have any value.
# All keys: https://github.com/cargo-weft/cargo-weft/blob/main/docs/weft-toml.md
";

/// A kernel and what is written for it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct KernelTable {
    names: Vec<KernelName>,
    /// The kernel's path without template arguments.
    path: String,
    /// The first one with its parameters.
    heading: String,
    remark: String,
    /// The PTX file of the first one, of which the remark names lines.
    file: String,
    lines: Vec<String>,
    /// Whether the table is in effect.
    is_needed: bool,
}

/// Returns the text of a weft.toml for these kernels, which have been checked without a configuration. `launches`: the tables of
/// their recorded launches; `saved`: patterns
/// of PTX files that are saved in the package; `is_needed`: whether the kernels come from them.
pub(super) fn text(
    jobs: &[Job],
    launches: &LaunchTables,
    saved: &[String],
    is_needed: bool,
) -> String {
    let mut text = format!("#:schema {SCHEMA_URL}\n{HEAD}");
    if !saved.is_empty() {
        let patterns: Vec<_> =
            saved.iter().map(|own| toml_edit::Value::from(own.as_str()).to_string()).collect();
        let line = format!("ptx = [{}]", patterns.join(", "));
        let (place, mark) = if is_needed {
            ("", "")
        } else {
            (", beside what the build script leaves in OUT_DIR", "# ")
        };
        text += &["\n# PTX files that are saved in the package", place, ".\n", mark, &line, "\n"]
            .concat();
    }
    let all: Vec<&KernelName> = jobs.iter().map(|job| &job.kernel).collect();
    let entries = entries(jobs, launches);
    let needed = if launches.is_empty() {
        "Kernels that are not proved without a launch"
    } else {
        "Kernels with recorded launches, and those that are not proved without one"
    };
    for (is_needed, heading) in [(true, needed), (false, "Kernels that need no table")] {
        let mut of_kind = entries.iter().filter(|own| own.is_needed == is_needed).peekable();
        if of_kind.peek().is_some() {
            text += &["\n# ---- ", heading, " ----\n"].concat();
        }
        for entry in of_kind {
            text.push_str(&table(entry, &all));
        }
    }
    text
}

/// Returns the entries, kernels with the same path and lines in one.
fn entries(jobs: &[Job], launches: &LaunchTables) -> Vec<KernelTable> {
    let mut entries: Vec<KernelTable> = Vec::new();
    for of_file in jobs.chunk_by(|one, next| std::sync::Arc::ptr_eq(&one.file, &next.file)) {
        let Some(first) = of_file.first().filter(|job| !job.is_unread()) else { continue };
        let signatures = Signatures::of(&first.module, &Sources::of_package(&first.dir));
        for entry in of_file.iter().filter_map(|job| entry(job, &signatures, launches)) {
            let is_same = |own: &&mut KernelTable| {
                own.path == entry.path && own.lines == entry.lines && own.remark == entry.remark
            };
            match entries.iter_mut().find(is_same) {
                Some(own) => own.names.extend(entry.names),
                None => entries.push(entry),
            }
        }
    }
    entries
}

/// Returns what is written for a kernel; `None` for one that cannot be checked.
fn entry(job: &Job, signatures: &Signatures, launches: &LaunchTables) -> Option<KernelTable> {
    let report = job.outcome().remaining()?;
    let function = job.module.kernel(&job.kernel.mangled)?;
    let source = signatures.parameters(&job.module, function);
    let kernel = Kernel { module: &job.module, function, source };
    let (verdict, path) = (report.verdict(), path(&job.kernel));
    let heading = format!("{}({})", escape(&job.kernel.short), kernel.declarations());
    let finding = report.told().next();
    let remark = match (verdict, finding) {
        (Verdict::Clean, _) => {
            let scope = report.proved_in_words().unwrap_or_else(|| "every launch".to_owned());
            format!("Clean without a table, for {scope}.")
        }
        (Verdict::Defect, Some(own)) => {
            format!("Has a defect whatever is launched: {}.", own.message)
        }
        (_, Some(own)) if own.code == Code::NoLaunch => {
            let note = own.notes.first().unwrap_or(&own.message);
            format!("Open: {note}.")
        }
        (_, Some(own)) => format!("Open, {}: {}.", own.code, own.message),
        (_, None) => String::new(),
    };
    let recorded = launches.get(&(job.file.display.clone(), job.kernel.mangled.clone()));
    let is_needed = verdict == Verdict::Open || recorded.is_some();
    let lines = match recorded {
        Some(lines) => lines.clone(),
        None if is_needed => kernel.lines(report),
        None => kernel.arguments().into_iter().collect(),
    };
    let (names, file) = (vec![job.kernel.clone()], job.file.display.clone());
    Some(KernelTable { names, path, heading, remark, file, lines, is_needed })
}

/// Returns the table of an entry, as a comment if it is not needed. `all`: every kernel of the package.
fn table(entry: &KernelTable, all: &[&KernelName]) -> String {
    let mut comments = vec![entry.heading.clone()];
    if entry.names.len() > 1 {
        comments.push(format!("and {} more with the same parameters", entry.names.len() - 1));
    }
    comments.extend(wrap(&escape(&of_file(&entry.remark, &entry.file)), WIDTH));
    let comments = comments.into_iter().map(|line| format!("# {line}"));
    let head = ["[[kernel]]".to_owned(), format!("name = '{}'", selector(entry, all))];
    let lines = head.into_iter().chain(entry.lines.iter().cloned()).map(|line| {
        let is_as_it_is = entry.is_needed || line.starts_with('#');
        if is_as_it_is { line } else { format!("# {line}") }
    });
    let lines: Vec<String> = comments.chain(lines).collect();
    format!("\n{}\n", lines.join("\n"))
}

/// Returns a remark in which each line of the PTX is said to be one of this file: no report stands around the remark.
fn of_file(remark: &str, file: &str) -> String {
    let named = remark.replace(" of the PTX", &format!(" of {file}"));
    let numbered = |word: &str| {
        let after = remark.split(word).skip(1);
        after.into_iter().any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let is_bare = named == remark && [" line ", " lines "].into_iter().any(numbered);
    if is_bare { format!("{named} (Lines are those of {file}.)") } else { named }
}

/// Returns a kernel's name without template arguments and parameters: `ns::scale` for `ns::scale<4>`.
fn path(kernel: &KernelName) -> String {
    let short = &kernel.short;
    let end = short.find(['<', '(']).filter(|end| *end > 0).unwrap_or(short.len());
    short[..end].trim_end_matches("::").to_owned()
}

/// Returns a regular expression that matches the kernels of an entry and no other one of the package: as short a one as
/// there is, or else the list of their names.
fn selector(entry: &KernelTable, all: &[&KernelName]) -> String {
    let path = regex::escape(&entry.path);
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    let candidates = if entry.path.chars().all(is_plain) {
        vec![
            format!("^{path}\\b"),
            format!("\\b{path}\\b"),
            format!("\\b{path}<"),
            format!("\\b{path}\\("),
        ]
    } else {
        Vec::new()
    };
    let is_exact = |pattern: &String| {
        Regex::new(pattern).is_ok_and(|regex| {
            all.iter().all(|kernel| {
                kernel.is_meant(|name| regex.is_match(name)) == entry.names.contains(kernel)
            })
        })
    };
    candidates.into_iter().find(is_exact).unwrap_or_else(|| {
        let names: Vec<_> = entry.names.iter().map(|own| regex::escape(&own.mangled)).collect();
        match &names[..] {
            [only] => format!("^{only}$"),
            several => format!("^({})$", several.join("|")),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::of_file;

    #[test]
    fn lines_are_of_a_file() {
        let of = |remark: &str| of_file(remark, "a.ptx");
        let bare = "Open: two threads might access the same bytes in lines 162 and 187.";
        assert_eq!(of(bare), format!("{bare} (Lines are those of a.ptx.)"));
        assert_eq!(
            of("Open: in line 9 of the PTX (k.cu:3)."),
            "Open: in line 9 of a.ptx (k.cu:3)."
        );
        for none in ["Clean without a table, for every launch.", "Open: a line of code.", ""] {
            assert_eq!(of(none), none);
        }
    }
}
