//! Recorded launches as `[[kernel.launch]]` tables of weft.toml.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use weft_core::launch::{Allocation, Arg, Dim3, Dimensions, Fields, Launch, Within};
use weft_harness::case::{self, Checker, Job, LaunchSource, Package, PackageRecords, PlanError};
use weft_harness::record::{Record, RecordError};

use super::launch::key;
use crate::collect::Built;
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
    /// Reads the record of the workspace of some packages.
    pub(super) fn open(built: &Built) -> Result<Self, RecordError> {
        let own = Record::read(&recordings::folder(&built.target))?.map(Arc::new);
        let mut modules = BTreeSet::new();
        for package in &built.packages {
            let out_dirs = package.out_dirs.iter().map(PathBuf::as_path);
            // What is wrong with a package is said when its own files are written.
            if let Ok(own) = Package::open(&package.name, &package.dir, out_dirs) {
                modules.extend(case::module_names(&own.files));
            }
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
            records.add_newer(own);
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
        tables.entry(key).or_default().extend(lines(label, &job.launch));
    }
    tables
}

fn lines(label: &str, launch: &Launch) -> Vec<String> {
    let mut lines = vec![String::new(), "[[kernel.launch]]".to_owned()];
    if !launch.changed.is_empty() {
        let names: Vec<&str> = launch.changed.iter().map(String::as_str).collect();
        let names = weft_core::report::escape(&names.join(", ")).into_owned();
        lines.push(format!("# taken to hold their initial values, which they might not: {names}"));
    }
    lines.push(format!("label = \"{label}\""));
    let extents = [("block", launch.block), ("grid", launch.grid)];
    let stated = |(key, own): (&str, Option<Dimensions>)| match own? {
        Dimensions::Is(size) => Some(format!("{key} = {}", extent(size))),
        Dimensions::Any => None,
    };
    lines.extend(extents.into_iter().filter_map(stated));
    lines.extend(launch.shared.map(|bytes| format!("shared = {bytes}")));
    let names = &launch.names;
    let named = |at: usize| names.get(at).map_or_else(|| at.to_string(), |name| key(name));
    let args = launch.args.iter().map(|(at, arg)| format!("{} = {}", named(*at), value(arg)));
    lines.extend(table("args", &args.collect::<Vec<_>>()));
    let unused = launch.unused_buffers();
    let buffers = launch.buffers.iter().filter(|(name, _)| !unused.contains(&name.as_str()));
    let buffers = buffers.map(|(name, own)| format!("{name} = {}", buffer(own)));
    lines.extend(table("buffers", &buffers.collect::<Vec<_>>()));
    lines
}

/// Returns a line with a table in braces; `None` for one without entries.
fn table(key: &str, entries: &[String]) -> Option<String> {
    (!entries.is_empty()).then(|| format!("{key} = {{ {} }}", entries.join(", ")))
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
    let mut text = String::new();
    for (at, number) in numbers.iter().enumerate() {
        let separator = if at == 0 { "" } else { ", " };
        // Writing to a string does not fail.
        let _ = write!(text, "{separator}{number}");
    }
    format!("{key} = [{text}]")
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
    fn arguments_are_written_as_they_are_read() {
        let fields = [(8, Arg::Within(Within { buffer: "a".to_owned(), offset: 0 }))].into();
        let structure = Fields { bytes: Some(vec![1, 2, 3]), fields };
        assert_eq!(value(&Arg::Fields(structure)), "{ u8 = [1, 2, 3], 8 = { in = \"a\" } }");
        assert_eq!(value(&Arg::Float(-1.0)), "-1.0");
        assert_eq!(value(&Arg::Float(f64::INFINITY)), "inf");
        assert_eq!(value(&Arg::Integer(i128::from(u64::MAX))), "18446744073709551615");
    }
}
