//! Recorded launches beside those that a configuration states, and records that packages keep.

use std::collections::BTreeSet;
use std::fs;

use libtest_mimic::Arguments;
use serde_json::json;
use weft_harness::case::{Job, LaunchSource, Package, RecordNote, Standing, plan, refused_calls};
use weft_harness::config::Config;
use weft_harness::record::Record;

use super::{COPY, SCATTER, Written, module, number, pointer};

/// Returns a record of two launches of `copy`, one of which races, in a module that has `scatter` too.
fn record(name: &str) -> (Written, String) {
    let text = module(&[COPY, SCATTER].concat());
    let memory = json!([{"size": 256}]);
    let launch = |own: Written, to: u64, block: u32| {
        own.launch("copy", &text, block, &[pointer(0, to), pointer(0, 0), number(8)], &memory)
    };
    let record = launch(launch(Written::new(name).module(&text), 4, 32), 128, 96);
    (record, text)
}

/// Returns the kernel, label and block of each job; the labels of recorded launches without their digits.
fn told(jobs: &[Job]) -> BTreeSet<String> {
    let of_job = |job: &Job| {
        let label = job.label.as_deref().unwrap_or("-");
        let label = if label.starts_with("recorded-") { "recorded" } else { label };
        assert_eq!(label == "recorded", job.recorded.is_some());
        if job.skip.as_deref() == Some(RecordNote::NEVER) {
            assert_eq!(job.recorded, None);
            return format!("{} never", job.title);
        }
        let block = job.launch.block.map_or_else(|| "-".to_owned(), |block| block.to_string());
        format!("{} {label} {block}", job.title)
    };
    jobs.iter().map(of_job).collect()
}

/// Asserts what is checked from all sources, from the record, and from the configuration.
#[track_caller]
fn assert_checked(name: &str, config: &str, expected: [&[&str]; 3]) {
    let (record, text) = record(name);
    let sources = [LaunchSource::All, LaunchSource::Recorded, LaunchSource::Configured];
    for (source, expected) in sources.into_iter().zip(expected) {
        let jobs = record.jobs_of(&[&text], config, BTreeSet::new(), source);
        let expected = expected.iter().map(|own| (*own).to_owned()).collect();
        assert_eq!(told(&jobs), expected, "{source:?}");
        assert_eq!(jobs.len(), expected.len(), "{source:?}");
    }
}

const RECORDED: [&str; 2] = ["copy recorded 32", "copy recorded 96"];
/// What the record alone gives.
const NEVER: [&str; 3] = [RECORDED[0], RECORDED[1], "scatter never"];

#[test]
fn a_launch_that_a_table_states_is_checked_too() {
    let config = "[[kernel]]\nname = 'copy'\n[[kernel.launch]]\nlabel = 'mine'\nblock = 64\n";
    assert_checked(
        "stated",
        config,
        [
            &["copy mine 64", RECORDED[0], RECORDED[1], "scatter - -"],
            &NEVER,
            &["copy mine 64", "scatter - -"],
        ],
    );
    // Without a label too.
    let config = "[[kernel]]\nname = 'copy'\nblock = 64\n";
    assert_checked(
        "stated-block",
        config,
        [
            &["copy - 64", RECORDED[0], RECORDED[1], "scatter - -"],
            &NEVER,
            &["copy - 64", "scatter - -"],
        ],
    );
    // A proof for every block is what a table can ask for.
    let config = "[[kernel]]\nname = 'copy'\nblock = 'any'\n";
    assert_checked(
        "any-block",
        config,
        [
            &["copy - any", RECORDED[0], RECORDED[1], "scatter - -"],
            &NEVER,
            &["copy - any", "scatter - -"],
        ],
    );
}

#[test]
fn the_block_of_the_default_gives_way_to_the_record() {
    assert_checked(
        "default",
        "[default]\nblock = 64\n",
        [&[RECORDED[0], RECORDED[1], "scatter - 64"], &NEVER, &["copy - 64", "scatter - 64"]],
    );
    assert_checked(
        "no-table",
        "",
        [&[RECORDED[0], RECORDED[1], "scatter - -"], &NEVER, &["copy - -", "scatter - -"]],
    );
}

#[test]
fn skip_and_allow_of_a_kernel_hold_for_its_recorded_launches() {
    let standing = |name: &str, config: &str| -> BTreeSet<_> {
        let (record, text) = record(name);
        let jobs = record.jobs_of(&[&text], config, BTreeSet::new(), LaunchSource::Recorded);
        jobs.iter()
            .filter(|job| job.recorded.is_some())
            .map(|job| (job.launch.block.unwrap().to_string(), job.outcome().standing))
            .collect()
    };
    let of = |race, apart| BTreeSet::from([("32".to_owned(), race), ("96".to_owned(), apart)]);
    assert_eq!(standing("plain", ""), of(Standing::Defect, Standing::Clean));
    let skip = "[[kernel]]\nname = 'copy'\nskip = 'not ours'\n";
    assert_eq!(standing("skip", skip), of(Standing::Skipped, Standing::Skipped));
    let allow = "[[kernel]]\nname = 'copy'\nallow = [{ code = 'global-race', reason = 'known' }]\n";
    assert_eq!(standing("allow", allow), of(Standing::Allowed, Standing::Clean));
    // What one launch of a table says is not said of those of the record.
    let one = |what: &str| {
        format!(
            "[[kernel]]\nname = 'copy'\n[[kernel.launch]]\nlabel = 'a'\n{what}\n[[kernel.launch]]\nlabel = 'b'\n"
        )
    };
    assert_eq!(standing("skip-one", &one("skip = 'a'")), of(Standing::Defect, Standing::Clean));
    let allow = one("allow = [{ code = 'global-race', reason = 'known' }]");
    assert_eq!(standing("allow-one", &allow), of(Standing::Defect, Standing::Clean));
}

#[test]
fn options_and_limits_of_a_kernel_hold_for_its_recorded_launches() {
    let (record, text) = record("options");
    let config = "[[kernel]]\nname = 'copy'\nwarp-synchronous = true\nrequires = ['n < 4']\nargs = { 2 = 3 }\n";
    let jobs = record.jobs_of(&[&text], config, BTreeSet::new(), LaunchSource::Recorded);
    let jobs: Vec<&Job> = jobs.iter().filter(|job| job.recorded.is_some()).collect();
    assert_eq!(jobs.len(), 2);
    assert!(jobs.iter().all(|job| job.launch.options.warp_synchronous));
    // What the record says holds instead of what the table says.
    assert!(jobs.iter().all(|job| job.launch.requires.is_empty()));
    assert!(jobs.iter().all(|job| job.launch.args[&2] == weft_core::launch::Arg::Integer(8)));
}

#[test]
fn a_package_keeps_a_record_with_the_modules_that_it_has_no_files_of() {
    let (record, text) = record("saved-source");
    let dir = record.0.join("package");
    let saved = dir.join(Record::SAVED);
    for folder in ["launches", "modules"] {
        fs::create_dir_all(saved.join(folder)).unwrap();
        for entry in fs::read_dir(record.0.join(folder)).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), saved.join(folder).join(entry.file_name())).unwrap();
        }
    }
    let package = Package::open("demo", &dir, []).unwrap();
    let display: Vec<_> = package.files.iter().map(|file| file.display.as_str()).collect();
    let hash = weft_harness::record::module_name(&text);
    assert_eq!(display, [format!("recorded/{}.ptx", &hash[..8])]);
    let jobs = plan(&package).unwrap();
    assert_eq!(told(&jobs), [RECORDED[0], RECORDED[1], "scatter never"].map(str::to_owned).into());
    // A file of the package with the same text takes its place, and one with the same kernel, built anew.
    for (name, own) in [("same.ptx", text.clone()), ("anew.ptx", format!("// anew\n{text}"))] {
        fs::write(dir.join(name), own).unwrap();
        let config = format!("ptx = ['{name}']\n");
        fs::write(dir.join("weft.toml"), &config).unwrap();
        let package = Package::open("demo", &dir, []).unwrap();
        let display: Vec<_> = package.files.iter().map(|file| file.display.as_str()).collect();
        assert_eq!(display, [name]);
        let jobs = plan(&package).unwrap();
        assert_eq!(
            told(&jobs),
            [RECORDED[0], RECORDED[1], "scatter - -"].map(str::to_owned).into()
        );
        Config::find(&dir).unwrap();
    }
}

/// Returns the cases of `cargo test` about calls that CUDA refuses, of a package that keeps a record with these.
fn refused(name: &str, calls: &[serde_json::Value]) -> Option<libtest_mimic::Trial> {
    let text = module(COPY);
    let args = [pointer(0, 0), pointer(0, 512), number(8)];
    let record = Written::new(name).module(&text);
    let record = record.launch("copy", &text, 32, &args, &json!([{"size": 1024}]));
    let record = calls.iter().fold(record, |record, call| record.line(&call.to_string()));
    let mut package = Package::new("demo", record.0.clone(), Config::default(), Vec::new());
    package.records.records.push(record.shared());
    refused_calls(&package)
}

#[test]
fn refused_calls_are_a_case_that_fails() {
    let call = |after_read: bool| {
        json!({
            "record": "invalid", "function": "cuLaunchKernel", "error": "CUDA_ERROR_INVALID_VALUE", "kernel": "copy",
            "reason": "the grid is 0 in x", "after_read": after_read,
        })
    };
    let case = refused("refused", &[call(true), call(false)]).expect("there is a case");
    assert_eq!(case.name(), "demo::invalid-launch");
    let quiet = Arguments { quiet: true, ..Arguments::default() };
    assert_eq!(libtest_mimic::run(&quiet, vec![case]).num_failed, 1);
    // What rests on results that were never computed is none.
    assert!(refused("refused-after-read", &[call(true)]).is_none());
    assert!(refused("nothing-refused", &[]).is_none());
}

#[test]
fn launches_without_ptx_are_a_case_that_fails() {
    let text = module(COPY);
    let args = [pointer(0, 0), pointer(0, 512), number(8)];
    let memory = json!([{"size": 1024}]);
    let bare = |kernel: &str| {
        let mut line = super::launch(kernel, None, 32, &args, &memory);
        line["args"] = json!(null);
        line["reason"] = json!("it holds machine code alone");
        line.to_string()
    };
    let case = |record: &Written, texts: &[&str]| {
        let file = |text: &&str| weft_harness::discover::PtxFile {
            path: record.0.join("k.ptx"),
            display: "k.ptx".to_owned(),
            text: (**text).into(),
            unread: None,
            saved: None,
        };
        let files = texts.iter().map(file).collect();
        let mut package = Package::new("demo", record.0.clone(), Config::default(), files);
        package.records.records.push(record.shared());
        let lost = package.records.lost(&package.files);
        let lost: Vec<String> = lost.iter().map(ToString::to_string).collect();
        (weft_harness::case::lost_launches(&package), lost)
    };
    let record = Written::new("bare").line(&bare("copy")).line(&bare("_Z5otherPi"));
    let (all, told) = case(&record, &[]);
    let words = "could not be checked: no PTX of its module was kept: it holds machine code alone";
    assert_eq!(told, ["other(int*)", "copy"].map(|own| format!("launches of `{own}` {words}")));
    let all = all.expect("there is a case");
    assert_eq!(all.name(), "demo::unchecked-launch");
    let quiet = Arguments { quiet: true, ..Arguments::default() };
    assert_eq!(libtest_mimic::run(&quiet, vec![all]).num_failed, 1);
    // PTX of the package with a kernel of the name is what the launches are checked with.
    assert_eq!(case(&record, &[&text]).1, [format!("launches of `other(int*)` {words}")]);
    let kept = Written::new("not-bare").module(&text).launch("copy", &text, 32, &args, &memory);
    assert!(case(&kept, &[]).0.is_none(), "the record has its module");
}
