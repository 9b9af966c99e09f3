//! Tests of records: written by hand, in folders of their own, from the documentation of the format.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod arguments;
mod contents;
mod doubts;
mod malformed;
mod matching;
mod sources;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use weft_core::finding::Verdict;
use weft_core::launch::{Arg, Within};
use weft_harness::case::{Job, LaunchSource, Package, PackageRecords, plan};
use weft_harness::config::Config;
use weft_harness::discover::PtxFile;
use weft_harness::record::{Record, RecordError, module_name};

/// What a module of PTX begins with.
const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// `to[i] = from[i]` for each thread `i < n`.
const COPY: &str = "\
.visible .entry copy(.param .u64 to, .param .u64 from, .param .u32 n)
{
    .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [to]; ld.param.u64 %rd2, [from]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra $done;
    cvta.to.global.u64 %rd3, %rd1; cvta.to.global.u64 %rd4, %rd2;
    mul.wide.u32 %rd5, %r2, 4;
    add.s64 %rd6, %rd3, %rd5; add.s64 %rd7, %rd4, %rd5;
    ld.global.u32 %r3, [%rd7];
    st.global.u32 [%rd6], %r3;
$done: ret;
}
";

/// `out[index[i]] = i` for each thread `i`: a race where two threads have one index.
const SCATTER: &str = "\
.visible .entry scatter(.param .u64 out, .param .u64 index)
{
    .reg .b32 %r<4>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [index];
    cvta.to.global.u64 %rd3, %rd1; cvta.to.global.u64 %rd4, %rd2;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd5, %r1, 4;
    add.s64 %rd6, %rd4, %rd5;
    ld.global.u32 %r2, [%rd6];
    mul.wide.u32 %rd5, %r2, 4;
    add.s64 %rd7, %rd3, %rd5;
    st.global.u32 [%rd7], %r1;
    ret;
}
";

/// Returns a module with these kernels.
fn module(kernels: &str) -> String {
    format!("{HEAD}{kernels}")
}

/// A record that a test writes.
struct Written(PathBuf);

impl Written {
    /// Makes an empty record of one process. The name is unique among the tests.
    fn new(name: &str) -> Self {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("records").join(name);
        let _ = fs::remove_dir_all(&dir);
        for folder in ["launches", "modules", "contents"] {
            fs::create_dir_all(dir.join(folder)).unwrap();
        }
        let process = r#"{"record":"process","version":3,"command":[],"pid":1,"device":"sm_80","multiprocessors":108}"#;
        Self(dir).line(process)
    }

    /// The file of the process.
    fn lines(&self) -> PathBuf {
        self.0.join("launches/1-1.jsonl")
    }

    /// Adds text to the file of the process as it is.
    fn text(self, text: &str) -> Self {
        let before = fs::read_to_string(self.lines()).unwrap_or_default();
        fs::write(self.lines(), before + text).unwrap();
        self
    }

    fn line(self, line: &str) -> Self {
        self.text(&format!("{line}\n"))
    }

    /// Adds a module.
    fn module(self, text: &str) -> Self {
        let name = module_name(text);
        fs::write(self.0.join("modules").join(format!("{name}.ptx")), text).unwrap();
        self.line(&json!({"record": "module", "hash": name, "kernels": []}).to_string())
    }

    /// Adds contents under a name of one digit that is repeated.
    fn contents(self, digit: char, hex: &str) -> Self {
        fs::write(self.0.join("contents").join(format!("{}.hex", named(digit))), hex).unwrap();
        self
    }

    /// Adds a launch with one cta.
    fn launch(self, kernel: &str, text: &str, block: u32, args: &[Value], memory: &Value) -> Self {
        let line = launch(kernel, Some(&module_name(text)), block, args, memory);
        self.line(&line.to_string())
    }

    fn record(&self) -> Result<Option<Record>, RecordError> {
        Record::read(&self.0)
    }

    fn shared(&self) -> Arc<Record> {
        Arc::new(self.record().unwrap().unwrap())
    }

    /// Returns the jobs of a package that consists of these modules.
    fn jobs(&self, texts: &[&str], config: &str) -> Vec<Job> {
        self.jobs_of(texts, config, BTreeSet::new(), LaunchSource::All)
    }

    /// Returns the jobs of a package. `others`: the names of modules of other packages.
    fn jobs_of(
        &self,
        texts: &[&str],
        config: &str,
        others: BTreeSet<String>,
        source: LaunchSource,
    ) -> Vec<Job> {
        let file = |(at, text): (usize, &&str)| {
            let (path, display) = (self.0.join(format!("{at}.ptx")), format!("{at}.ptx"));
            PtxFile { path, display, text: (**text).into(), unread: None, saved: None }
        };
        let files = texts.iter().enumerate().map(file).collect();
        let config = Config::parse(config, &self.0.join("weft.toml")).unwrap();
        let package = Package::new("demo", self.0.clone(), config, files);
        let records = vec![self.shared()];
        let records = PackageRecords { records, others, source, ..PackageRecords::default() };
        plan(&Package { records, ..package }).unwrap()
    }

    /// Returns the jobs of a package of these modules, and of those of the record whose launches are of none of them.
    fn jobs_beside(&self, texts: &[&str]) -> Vec<Job> {
        let file = |(at, text): (usize, &&str)| {
            let (path, display) = (self.0.join(format!("{at}.ptx")), format!("{at}.ptx"));
            PtxFile { path, display, text: (**text).into(), unread: None, saved: None }
        };
        let mut files: Vec<PtxFile> = texts.iter().enumerate().map(file).collect();
        let records = vec![self.shared()];
        let mut records = PackageRecords { records, ..PackageRecords::default() };
        files.extend(records.strangers(&files, &self.0));
        let package = Package::new("demo", self.0.clone(), Config::default(), files);
        plan(&Package { records, ..package }).unwrap()
    }

    /// Returns the only job of a module.
    fn job(&self, text: &str) -> Job {
        let mut jobs = self.jobs(&[text], "");
        assert_eq!(jobs.len(), 1, "{jobs:#?}");
        jobs.remove(0)
    }

    /// Returns the verdict of the only job of a module.
    #[track_caller]
    fn verdict(&self, text: &str) -> Verdict {
        let job = self.job(text);
        assert!(job.recorded.is_some(), "the launch is the recorded one");
        match &job.outcome().report {
            Ok(report) => report.verdict(),
            Err(error) => unreachable!("{error}"),
        }
    }
}

/// Returns the line of a launch with one cta.
fn launch(
    kernel: &str,
    module: Option<&str>,
    block: u32,
    args: &[Value],
    allocations: &Value,
) -> Value {
    json!({
        "record": "launch", "kernel": kernel, "module": module, "grid": [1, 1, 1], "block": [block, 1, 1], "shared": 0,
        "cooperative": false, "args": args, "allocations": allocations,
    })
}

/// Returns an argument that is a pointer.
fn pointer(allocation: u32, offset: u64) -> Value {
    let pointers = [json!({"at": 0, "allocation": allocation, "offset": offset})];
    json!({"bytes": "0000000000000000", "pointers": pointers})
}

/// Returns an argument with these bytes, without pointers.
fn plain(bytes: &[u8]) -> Value {
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    json!({"bytes": digits.concat(), "pointers": []})
}

fn number(value: u32) -> Value {
    plain(&value.to_le_bytes())
}

/// Returns the name of a file whose digits are all the same.
fn named(digit: char) -> String {
    String::from(digit).repeat(32)
}

fn within(buffer: &str, offset: u64) -> Arg {
    Arg::Within(Within { buffer: buffer.to_owned(), offset })
}
