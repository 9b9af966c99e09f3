//! Recorded launches as `[[kernel.launch]]` tables of weft.toml.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use weft_core::launch::{Allocation, Arg, Dim3, Dimensions, Fields, Launch, Within};
use weft_harness::case::{self, Checker, Job, LaunchSource, Package, PackageRecords, PlanError};
use weft_harness::record::Record;

use super::launch::key;
use crate::collect::Built;
use crate::exit::Failure;
use crate::print::wrap;
use crate::recordings;

/// The lines of each kernel's launches, by the name of its file and its name in the PTX.
pub(super) type LaunchTables = BTreeMap<(String, String), Vec<String>>;

/// The record of a workspace, and the modules of its packages.
#[derive(Debug)]
pub(super) struct InitRecords {
    own: Option<Arc<Record>>,
    /// The names of the modules of all packages.
    modules: BTreeSet<String>,
}

impl InitRecords {
    /// Reads the record of the workspace of some packages. That neither it nor one of them has launches is an error.
    pub(super) fn open(built: &Built) -> Result<Self, Failure> {
        let folder = recordings::folder(&built.target);
        let own = Record::read(&folder)?.map(Arc::new);
        let mut modules = BTreeSet::new();
        let mut has_launches = own.as_ref().is_some_and(|own| !own.launches().is_empty());
        for package in &built.packages {
            let out_dirs = package.out_dirs.iter().map(PathBuf::as_path);
            // What is wrong with a package is said when its own files are written.
            if let Ok(own) = Package::open(&package.name, &package.dir, out_dirs) {
                modules.extend(case::module_names(&own.files));
                has_launches |= own.records.records.iter().any(|own| !own.launches().is_empty());
            }
        }
        if !has_launches {
            return Err(Failure::NoRecord { folder, option: "--from-record" });
        }
        Ok(Self { own, modules })
    }

    /// Returns the tables of the launches of a package, which keeps the records `saved` itself.
    pub(super) fn launches(
        &self,
        package: &Package,
        saved: PackageRecords,
    ) -> Result<LaunchTables, PlanError> {
        let own: BTreeSet<String> = case::module_names(&package.files).collect();
        let (others, source) = (&self.modules - &own, LaunchSource::Recorded);
        let mut records = PackageRecords { others, source, ..saved };
        if let Some(own) = &self.own {
            records.add_newer(own, &package.files);
        }
        let package = Package { records, ..package.clone() };
        Ok(tables(&case::plan_with(&package, &Checker::default())?))
    }
}

/// Returns the tables of the launches of these jobs that are recorded.
fn tables(jobs: &[Job]) -> LaunchTables {
    let mut tables = LaunchTables::new();
    for job in jobs.iter().filter(|job| job.recorded.is_some()) {
        let key = (job.file.display.clone(), job.kernel.mangled.clone());
        let label = job.label.as_deref().unwrap_or_default();
        tables.entry(key).or_default().extend(lines(label, &needed(job)));
    }
    tables
}

/// Returns the launch of a job without the contents of buffers that decide nothing: the check finds the same without them,
/// under the same assumptions.
fn needed(job: &Job) -> Launch {
    let found = |job: &Job| {
        let report = job.outcome().report.as_ref().ok()?;
        Some((report.verdict(), report.findings.clone(), report.assumptions.clone()))
    };
    let bare = |launch: &Launch, is_meant: &dyn Fn(&str) -> bool| {
        let mut launch = launch.clone();
        let meant = launch.buffers.iter_mut().filter(|(name, _)| is_meant(name));
        meant.for_each(|(_, own)| own.contents.clear());
        launch
    };
    let expected = found(job);
    let without = |launch: &Launch, is_meant: &dyn Fn(&str) -> bool| {
        let fewer = bare(launch, is_meant);
        (found(&job.under(fewer.clone())) == expected).then_some(fewer)
    };
    if job.launch.buffers.values().all(|own| own.contents.is_empty()) {
        return job.launch.clone();
    }
    if let Some(none) = without(&job.launch, &|_| true) {
        return none;
    }
    let mut launch = job.launch.clone();
    for name in job.launch.buffers.keys() {
        if let Some(fewer) = without(&launch, &|own| own == name) {
            launch = fewer;
        }
    }
    launch
}

fn lines(label: &str, launch: &Launch) -> Vec<String> {
    let mut lines = vec![String::new(), "[[kernel.launch]]".to_owned()];
    if !launch.changed.is_empty() {
        let names: Vec<&str> = launch.changed.iter().map(String::as_str).collect();
        let names = weft_core::report::escape(&names.join(", ")).into_owned();
        lines.push(format!("# taken to hold their initial values, which they might not: {names}"));
    }
    lines.push(format!("label = \"{label}\""));
    let cluster = launch.cluster.map(Dimensions::Is);
    let extents = [("block", launch.block), ("grid", launch.grid), ("cluster", cluster)];
    let stated = |(key, own): (&str, Option<Dimensions>)| match own? {
        Dimensions::Is(size) => Some(format!("{key} = {}", extent(size))),
        Dimensions::Any => None,
    };
    lines.extend(extents.into_iter().filter_map(stated));
    lines.extend(launch.shared.map(|bytes| format!("shared = {bytes}")));
    let names = &launch.names;
    let named = |at: usize| names.get(at).map_or_else(|| at.to_string(), |name| key(name));
    let args = launch.args.iter().map(|(at, arg)| format!("{} = {}", named(*at), value(arg)));
    let args = args.collect();
    let unused = launch.unused_buffers();
    let buffers = launch.buffers.iter().filter(|(name, _)| !unused.contains(&name.as_str()));
    let buffers = buffers.map(|(name, own)| format!("{name} = {}", buffer(own)));
    lines.extend(tables_of([("args", args), ("buffers", buffers.collect())]));
    lines
}

/// The width of lines, as far as values can be broken.
const WIDTH: usize = 100;

/// Returns the lines of tables with these entries, none for one without: in braces, or with a line for each entry where that is too
/// long. Those come last, since a line behind the head of a table is part of it.
fn tables_of(tables: [(&str, Vec<String>); 2]) -> Vec<String> {
    let (mut lines, mut last) = (Vec::new(), Vec::new());
    for (key, entries) in tables.into_iter().filter(|(_, entries)| !entries.is_empty()) {
        let line = format!("{key} = {{ {} }}", entries.join(", "));
        if line.len() <= WIDTH && !line.contains('\n') {
            lines.push(line);
        } else {
            last.push(format!("[kernel.launch.{key}]"));
            last.extend(entries.iter().flat_map(|entry| entry.lines()).map(str::to_owned));
        }
    }
    lines.extend(last);
    lines
}

fn extent(size: Dim3) -> String {
    match size {
        Dim3 { x, y: 1, z: 1 } => x.to_string(),
        Dim3 { x, y, z: 1 } => format!("[{x}, {y}]"),
        Dim3 { x, y, z } => format!("[{x}, {y}, {z}]"),
    }
}

fn value(arg: &Arg) -> String {
    match arg {
        Arg::Integer(number) => number.to_string(),
        // With a point or an exponent, as TOML has it.
        Arg::Float(number) => format!("{number:?}"),
        Arg::Within(within) => place(within),
        Arg::Tensor(tensor) => format!("{{ tensor = {{ box-bytes = {} }} }}", tensor.bytes),
        Arg::Buffer(own) => {
            let bytes = own.contents.as_deref();
            bytes.map_or("\"buffer\"".to_owned(), |bytes| format!("{{ {} }}", elements(bytes)))
        }
        Arg::Fields(Fields { bytes, fields }) => {
            let bytes = bytes.iter().map(|bytes| elements(bytes));
            let fields = fields.iter().map(|(at, field)| format!("{at} = {}", value(field)));
            format!("{{ {} }}", bytes.chain(fields).collect::<Vec<_>>().join(", "))
        }
    }
}

fn place(Within { buffer, offset }: &Within) -> String {
    match offset {
        0 => format!("{{ in = \"{buffer}\" }}"),
        offset => format!("{{ in = \"{buffer}\", offset = {offset} }}"),
    }
}

/// Returns a buffer with its size, each run of known bytes, and its pointers.
fn buffer(own: &Allocation) -> String {
    let mut parts: Vec<String> = own.size.iter().map(|size| format!("size = {size}")).collect();
    // What a byte belongs to: nothing that is known, a pointer, or bytes that are given.
    let kind = |at: u64, byte: Option<u8>| match byte {
        _ if own.pointers.contains_key(&(at / 8 * 8)) => None,
        byte => byte,
    };
    let bytes: Vec<(u64, Option<u8>)> =
        (0..).zip(&own.contents).map(|(at, byte)| (at, kind(at, *byte))).collect();
    for run in bytes.chunk_by(|one, next| one.1.is_some() == next.1.is_some()) {
        let given: Vec<u8> = run.iter().filter_map(|own| own.1).collect();
        if !given.is_empty() {
            parts.push(format!("{} = {{ {} }}", run[0].0, elements(&given)));
        }
    }
    parts.extend(own.pointers.iter().map(|(at, within)| format!("{at} = {}", place(within))));
    if parts.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", parts.join(", ")) }
}

/// Returns bytes as numbers of 32 bits, or of 8.
fn elements(bytes: &[u8]) -> String {
    let (words, rest) = bytes.as_chunks::<4>();
    let (key, numbers): (_, Vec<u32>) = if rest.is_empty() {
        ("u32", words.iter().map(|word| u32::from_le_bytes(*word)).collect())
    } else {
        ("u8", bytes.iter().map(|byte| u32::from(*byte)).collect())
    };
    let texts: Vec<String> = numbers.iter().map(u32::to_string).collect();
    let text = texts.join(", ");
    // Of the values in a table in braces, arrays alone can go over several lines.
    if text.len() <= WIDTH / 2 {
        return format!("{key} = [{text}]");
    }
    let lines = wrap(&text, WIDTH - 4).into_iter().map(|line| format!("    {line}\n"));
    format!("{key} = [\n{}]", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_written_as_they_are_read() {
        let known = |bytes: &[u8]| bytes.iter().copied().map(Some).collect::<Vec<_>>();
        let contents =
            [known(&[1, 0, 0, 0]), vec![None; 2], known(&[7, 8]), known(&[0; 8]), known(&[5])];
        let pointers = [(8, Within { buffer: "b".to_owned(), offset: 4 })].into();
        let own = Allocation { size: Some(64), contents: contents.concat(), pointers };
        let text = "{ size = 64, 0 = { u32 = [1] }, 6 = { u8 = [7, 8] }, 16 = { u8 = [5] }, 8 = { in = \"b\", offset = 4 } }";
        assert_eq!(buffer(&own), text);
        assert_eq!(buffer(&Allocation { size: Some(8), ..Allocation::default() }), "{ size = 8 }");
        assert_eq!(buffer(&Allocation::default()), "{}");
    }

    #[test]
    fn long_tables_have_a_line_for_each_entry() {
        let place = Within { buffer: "a".to_owned(), offset: 0 };
        let bytes: Vec<u8> = (0..40_u32).flat_map(u32::to_le_bytes).collect();
        let contents = bytes.iter().copied().map(Some).collect();
        let own = Allocation { size: Some(160), contents, ..Allocation::default() };
        let launch = Launch {
            args: [(0, Arg::Within(place)), (1, Arg::Integer(7))].into(),
            buffers: [("a".to_owned(), own)].into(),
            ..Launch::default()
        };
        let expected = "
[[kernel.launch]]
label = \"l\"
args = { 0 = { in = \"a\" }, 1 = 7 }
[kernel.launch.buffers]
a = { size = 160, 0 = { u32 = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
    26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39
] } }";
        assert_eq!(lines("l", &launch).join("\n"), expected);
        let wide: Vec<String> = (0..20).map(|at| format!("number{at} = {at}")).collect();
        let told = tables_of([("args", wide.clone()), ("buffers", vec!["b = {}".to_owned()])]);
        let head = ["buffers = { b = {} }".to_owned(), "[kernel.launch.args]".to_owned()];
        assert_eq!(told, [head.to_vec(), wide].concat());
    }

    #[test]
    fn arguments_are_written_as_they_are_read() {
        let fields = [(8, Arg::Within(Within { buffer: "a".to_owned(), offset: 0 }))].into();
        let structure = Fields { bytes: Some(vec![1, 2, 3]), fields };
        assert_eq!(value(&Arg::Fields(structure)), "{ u8 = [1, 2, 3], 8 = { in = \"a\" } }");
        assert_eq!(value(&Arg::Float(-1.0)), "-1.0");
        assert_eq!(value(&Arg::Float(f64::INFINITY)), "inf");
        assert_eq!(value(&Arg::Integer(i128::from(u64::MAX))), "18446744073709551615");
    }
}
