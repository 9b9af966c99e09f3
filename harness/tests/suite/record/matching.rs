//! Which kernels a launch is of, and which launches of a kernel are checked.

use std::collections::BTreeSet;

use serde_json::json;
use weft_core::launch::Dim3;
use weft_harness::case::{Job, LaunchSource, PackageRecords, RecordNote};
use weft_harness::discover::PtxFile;
use weft_harness::record::{LaunchDoubts, module_name};

use super::{COPY, SCATTER, Written, launch, module, named, number, plain, pointer};

/// `copy` with a number of 64 bits.
fn wider() -> String {
    module(COPY).replace(".param .u32 n", ".param .u64 n").replace("ld.param.u32", "ld.param.b32")
}

/// Adds a launch of `copy` in this module whose parts do not overlap.
fn apart(record: Written, text: &str, block: u32) -> Written {
    let args = [pointer(0, 0), pointer(0, 512), number(block)];
    record.launch("copy", text, block, &args, &json!([{"size": 1024}]))
}

fn labels(jobs: &[Job]) -> Vec<Option<&str>> {
    jobs.iter().map(|job| job.label.as_deref()).collect()
}

const AS_IT_IS: RecordNote = RecordNote {
    left_out: 0,
    is_rebuilt: false,
    doubts: CERTAIN,
    is_replaced: false,
    origin: None,
};
const CERTAIN: LaunchDoubts =
    LaunchDoubts { after_read: false, has_maps: false, leads_to_variables: false, unkept: None };

#[test]
fn launches_are_those_of_the_module_with_the_hash() {
    let text = module(COPY);
    let job = apart(Written::new("hash").module(&text), &text, 96).job(&text);
    assert_eq!(job.recorded, Some(AS_IT_IS));
    assert_eq!(job.launch.block, Some(Dim3::line(96).into()));
    assert_eq!(job.launch.grid, Some(Dim3::line(1).into()));
    assert_eq!(job.launch.shared, Some(0));
    assert!(job.label.unwrap().starts_with("recorded-"));
}

#[test]
fn a_rebuilt_module_has_the_launches_of_kernels_with_its_names_and_sizes() {
    let (text, rebuilt) = (module(COPY), format!("// built again\n{}", module(COPY)));
    let record = apart(Written::new("rebuilt").module(&text), &text, 96);
    let job = record.job(&rebuilt);
    assert_eq!(job.recorded, Some(RecordNote { is_rebuilt: true, ..AS_IT_IS }));
    assert_eq!(job.launch.block, Some(Dim3::line(96).into()));
    // A launch whose arguments are not known has no sizes.
    let unknown = launch("copy", None, 64, &[], &json!([]));
    let mut unknown = unknown.as_object().unwrap().clone();
    unknown.insert("args".to_owned(), json!(null));
    let line = serde_json::Value::from(unknown).to_string();
    let job = Written::new("unknown-args").line(&line).job(&rebuilt);
    assert_eq!(job.recorded, Some(RecordNote { is_rebuilt: true, ..AS_IT_IS }));
    assert!(job.launch.args.is_empty());
}

#[test]
fn a_rebuilt_kernel_with_other_parameters_has_no_launches() {
    let (text, wider) = (module(COPY), wider());
    let record = apart(Written::new("wider").module(&text), &text, 96);
    assert_eq!(record.job(&wider).recorded, None);
    // One parameter less.
    let fewer = module(SCATTER).replace("scatter", "copy");
    assert_eq!(record.job(&fewer).recorded, None);
    // And another name.
    let other = module(COPY).replace("copy", "copied");
    assert_eq!(record.job(&other).recorded, None);
}

/// Returns the files, kernels and blocks of jobs, with whether their launches are of another text.
fn checked(jobs: &[Job]) -> BTreeSet<(String, String, String, bool)> {
    let of = |job: &Job| {
        let file = if job.file.display.starts_with("recorded/") { "record" } else { "file" };
        let block = job.launch.block.map_or_else(String::new, |block| block.to_string());
        let is_rebuilt = job.recorded.as_ref().is_some_and(|note| note.is_rebuilt);
        (file.to_owned(), job.kernel.mangled.clone(), block, is_rebuilt)
    };
    jobs.iter().map(of).collect()
}

fn told(all: &[(&str, &str, &str, bool)]) -> BTreeSet<(String, String, String, bool)> {
    let own = |(file, kernel, block, is_rebuilt): &(&str, &str, &str, bool)| {
        ((*file).to_owned(), (*kernel).to_owned(), (*block).to_owned(), *is_rebuilt)
    };
    all.iter().map(own).collect()
}

/// One kernel of a module has other parameters now: the others keep their launches, and its own are those of the text that was recorded.
#[test]
fn a_kernel_with_other_parameters_takes_no_launches_from_those_beside_it() {
    let (text, rebuilt) =
        (module(&(COPY.to_owned() + SCATTER)), wider().replace("copy", "scatter"));
    let rebuilt = rebuilt + COPY;
    let record = apart(Written::new("beside").module(&text), &text, 96);
    let args = [pointer(0, 0), pointer(1, 0)];
    let record = record.launch("scatter", &text, 32, &args, &json!([{"size": 128}, {"size": 128}]));
    let jobs = record.jobs_beside(&[&rebuilt]);
    let expected = [
        ("file", "copy", "96", true),
        ("file", "scatter", "", false),
        ("record", "scatter", "32", false),
    ];
    assert_eq!(checked(&jobs), told(&expected));
}

/// Two modules have a kernel of one name. One was built anew: nobody knows which, so that both are also checked as they were.
#[test]
fn kernels_with_one_name_in_two_modules_are_not_taken_for_one() {
    let (one, other) = (module(COPY), format!("// another\n{}", module(COPY)));
    let anew = format!("// built again\n{one}");
    let record = |name: &str| {
        let record = Written::new(name).module(&one).module(&other);
        apart(apart(record, &one, 64), &other, 96)
    };
    let jobs = record("one-name").jobs_beside(&[&anew]);
    let of_file = [("file", "copy", "64", true), ("file", "copy", "96", true)];
    let of_record = [("record", "copy", "64", false), ("record", "copy", "96", false)];
    assert_eq!(checked(&jobs), told(&[of_file, of_record].concat()));
    // Both were built anew.
    let second = format!("// built again, too\n{other}");
    let jobs = record("both-anew").jobs_beside(&[&anew, &second]);
    assert_eq!(checked(&jobs), told(&of_file));
    // The other one is as it was.
    let jobs = record("one-anew").jobs_beside(&[&anew, &other]);
    assert_eq!(
        checked(&jobs),
        told(&[("file", "copy", "64", true), ("file", "copy", "96", false)])
    );
    // Both are of one source file. If it was another one each time, the second is the first, built anew; otherwise they are variants.
    let sources = |name: &str, hashes: [&str; 2]| {
        let record = record(name);
        std::fs::create_dir_all(record.0.join("sources")).unwrap();
        for (text, hash) in [&one, &other].into_iter().zip(hashes) {
            let path = record.0.join("sources").join(module_name(text)).with_extension("txt");
            std::fs::write(path, format!("{hash} kernels/copy.cu\n")).unwrap();
        }
        record
    };
    let (first, second) = ("0".repeat(32), "1".repeat(32));
    let versions = sources("one-source", [&first, &second]);
    assert_eq!(checked(&versions.jobs_beside(&[&anew])), told(&of_file));
    // One of the two versions is there: the launches of the other are those of before.
    assert_eq!(checked(&versions.jobs_beside(&[&other])), told(&[("file", "copy", "96", false)]));
    let variants = sources("variants", [&first, &first]);
    assert_eq!(checked(&variants.jobs_beside(&[&anew])), told(&[of_file, of_record].concat()));
}

/// A newer record takes the place of one that a package keeps for kernels of the same text, or of one that took its place.
#[test]
fn a_newer_record_replaces_launches_of_the_same_kernels_alone() {
    let (text, other) = (module(COPY), format!("// another\n{}", module(COPY)));
    let saved = apart(Written::new("saved-before").module(&text), &text, 64);
    let replaced = |name: &str, newer: &str, files: &[&str]| {
        let count = if newer == wider() { plain(&[8, 0, 0, 0, 0, 0, 0, 0]) } else { number(8) };
        let args = [pointer(0, 0), pointer(0, 512), count];
        let record = Written::new(name).module(newer);
        let newer = record.launch("copy", newer, 96, &args, &json!([{"size": 1024}])).shared();
        let mut records =
            PackageRecords { records: vec![saved.shared()], ..PackageRecords::default() };
        let file = |text: &&str| {
            let path = saved.0.join("0.ptx");
            PtxFile {
                path,
                display: "0.ptx".to_owned(),
                text: (**text).into(),
                unread: None,
                saved: None,
            }
        };
        let files: Vec<PtxFile> = files.iter().map(file).collect();
        !records.add_newer(&newer, &files).is_empty()
    };
    assert!(replaced("newer-same", &text, &[&text]));
    assert!(replaced("newer-gone", &other, &[&other]));
    // The text that the package keeps launches of is still there: the newer ones are those of another.
    assert!(!replaced("newer-other", &other, &[&text, &other]));
    assert!(!replaced("newer-wider", &wider(), &[]));
}

#[test]
fn launches_of_another_packages_module_are_not_taken() {
    let (text, own) = (module(COPY), format!("// of this package\n{}", module(COPY)));
    let record = apart(Written::new("others").module(&text), &text, 96);
    let jobs = |others: BTreeSet<String>| record.jobs_of(&[&own], "", others, LaunchSource::All);
    assert_eq!(jobs([module_name(&text)].into())[0].recorded, None);
    // Another module of the same package is as much another one.
    let both = record.jobs(&[&own, &text], "");
    assert_eq!((&both[0].recorded, &both[1].recorded), (&None, &Some(AS_IT_IS)));
    assert_eq!(both.len(), 2);
}

#[test]
fn launches_of_a_module_that_has_some_are_not_mixed_with_those_of_another_text() {
    let (text, earlier) = (module(COPY), format!("// before\n{}", module(COPY)));
    let record = Written::new("earlier").module(&text).module(&earlier);
    let record = apart(apart(apart(record, &text, 64), &earlier, 96), &text, 64);
    let jobs = record.jobs(&[&text], "");
    let blocks: BTreeSet<_> =
        jobs.iter().map(|job| job.launch.block.unwrap().to_string()).collect();
    // The other text is a module of its own, in the record: it is checked as that.
    assert_eq!(blocks, ["64".to_owned()].into());
    assert_eq!(jobs.len(), 1);
}

#[test]
fn launches_under_which_a_kernel_is_checked_alike_are_one() {
    let (text, earlier) = (module(COPY), format!("// before\n{}", module(COPY)));
    let record =
        Written::new("alike").module(&text).module(&earlier).contents('a', &"00".repeat(8));
    let launch = |own: Written, text: &str, passed: serde_json::Value| {
        let memory = json!([{"size": 1024, "contents": named('a'), "passed": passed}]);
        own.launch("copy", text, 32, &[pointer(0, 0), pointer(0, 512), number(8)], &memory)
    };
    let by = |arg: u32| json!([{"module": module_name(&text), "kernel": "copy", "arg": arg}]);
    // Of another text of the module, and once after a kernel that only read: the same.
    let record =
        launch(launch(launch(record, &text, json!([])), &earlier, json!([])), &text, by(1));
    let label = record.job(&text).label;
    // After one that wrote, the contents are not known.
    let record = launch(record, &text, by(0));
    let jobs = record.jobs(&[&text], "");
    let known: BTreeSet<_> = jobs.iter().map(|job| job.launch.buffers["a"].known()).collect();
    assert_eq!((known, jobs.len()), ([0, 8].into(), 2));
    assert!(jobs.iter().any(|job| job.label == label));
}

#[test]
fn of_many_launches_sixteen_that_differ_are_checked() {
    let text = module(COPY);
    let mut record = Written::new("many").module(&text);
    // Thirty that differ in nothing but a number that is a multiple of the block; the blocks of two others are their own.
    let part = |n: u32| [pointer(0, 0), pointer(0, 512), number(n)];
    for times in 1..=30 {
        record = record.launch("copy", &text, 32, &part(32 * times), &json!([{"size": 1024}]));
    }
    record = apart(apart(record, &text, 64), &text, 96);
    let jobs = record.jobs(&[&text], "");
    assert_eq!(jobs.len(), 16);
    assert!(jobs.iter().all(|job| job.recorded == Some(RecordNote { left_out: 16, ..AS_IT_IS })));
    let has =
        |block: u32| jobs.iter().any(|job| job.launch.block == Some(Dim3::line(block).into()));
    assert!(has(64) && has(96) && has(32));
    assert_eq!(labels(&jobs).into_iter().collect::<BTreeSet<_>>().len(), 16);
}

#[test]
fn labels_do_not_change_when_other_launches_are_added() {
    let text = module(COPY);
    let record = apart(Written::new("labels").module(&text), &text, 64);
    let before = record.job(&text).label.unwrap();
    let args = [pointer(0, 0), pointer(0, 512), number(3)];
    let record =
        apart(record, &text, 32).launch("copy", &text, 64, &args, &json!([{"size": 1024}]));
    let record = record.line(&launch("other", None, 32, &[], &json!([])).to_string());
    let jobs = record.jobs(&[&text], "");
    assert_eq!(jobs.len(), 3);
    let same = jobs.iter().find(|job| job.label.as_ref() == Some(&before)).unwrap();
    let expected = apart(Written::new("labels-alone").module(&text), &text, 64).job(&text);
    assert_eq!(same.launch, expected.launch);
}

#[test]
fn a_kernel_without_launches_is_checked_without() {
    let text = module(&[COPY, SCATTER].concat());
    let jobs = apart(Written::new("unlaunched").module(&text), &text, 64).jobs(&[&text], "");
    assert_eq!(jobs.len(), 2);
    assert_eq!((&jobs[0].recorded, &jobs[1].recorded), (&Some(AS_IT_IS), &None));
    assert_eq!((jobs[1].title.as_str(), jobs[1].launch.block), ("scatter", None));
}

#[test]
fn a_launch_that_no_device_takes_is_an_error_of_its_kernel() {
    let text = module(COPY);
    let args = [pointer(0, 0), pointer(0, 512), plain(&[0; 4])];
    for block in [0, 1025] {
        let record = Written::new(&format!("block-{block}")).module(&text);
        let record = record.launch("copy", &text, block, &args, &json!([{"size": 1024}]));
        let error = record.job(&text).run().report.unwrap_err().to_string();
        assert!(error.contains(&format!("{block}")), "{error}");
    }
}
