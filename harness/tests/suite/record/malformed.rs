//! Records that are damaged, of another version, or written by someone who means harm.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};
use weft_core::finding::Verdict;
use weft_harness::record::module_name;

use super::{COPY, Written, launch, module, named, number, pointer};

/// Returns the error of a record, with the path of its lines replaced.
#[track_caller]
fn error(record: &Written) -> String {
    let error = record.record().unwrap_err();
    error.to_string().replace(&record.lines().display().to_string(), "LINES")
}

/// Returns what a record says of its only launch that cannot be read, with the path of its lines replaced. The others are there.
#[track_caller]
fn unread(record: &Written) -> String {
    let own = record.record().unwrap().unwrap();
    let lost: Vec<_> = own.lost(&BTreeSet::new(), |_| true).into_iter().collect();
    assert_eq!((lost.len(), own.is_empty()), (1, false), "{lost:?}");
    let told = lost[0].to_string().replace(&record.lines().display().to_string(), "LINES");
    assert!(told.ends_with("; record anew by `cargo weft record`"), "{told}");
    let head = format!(
        "launches of `{}` could not be checked: ",
        lost[0].kernel.clone().unwrap_or_default()
    );
    told.replace(&head, "")
}

/// Returns the line of a launch of `copy` with some memory.
fn copied(memory: &Value) -> String {
    launch("copy", None, 32, &[pointer(0, 4), pointer(0, 0), number(8)], memory).to_string()
}

#[test]
fn a_folder_without_lines_is_no_record() {
    let record = Written::new("none");
    fs::remove_dir_all(record.0.join("launches")).unwrap();
    assert!(record.record().unwrap().is_none());
    fs::create_dir(record.0.join("launches")).unwrap();
    let empty = record.record().unwrap().unwrap();
    assert!(empty.is_empty() && empty.processes == 0);
}

#[test]
fn lines_that_are_none_are_named() {
    for (at, line) in
        ["", "{", "[]", "{\"record\":\"missing\"}", "{\"record\":1}", "\u{0}"].iter().enumerate()
    {
        let record = Written::new(&format!("line-{at}")).line(&copied(&json!([{"size": 64}])));
        let told = error(&record.line(line));
        assert!(told.starts_with("LINES:3: this is no record of launches: "), "{told}");
        assert!(told.ends_with("; record anew by `cargo weft record`"), "{told}");
    }
}

#[test]
fn a_launch_that_cannot_be_read_leaves_the_others() {
    let good = copied(&json!([{"size": 64}]));
    let nameless = Written::new("nameless").line(&good).line("{\"record\":\"launch\"}");
    let told = unread(&nameless);
    let words =
        "a launch could not be checked: LINES:3: the launch cannot be read: missing field `kernel`";
    assert!(told.starts_with(words), "{told}");
    let record = Written::new("unread-launch").line(&good.replace("\"shared\":0", "\"shared\":-1"));
    let record = record.line(&good.replace("32", "64")).line(&good.replace("32", "96"));
    assert!(unread(&record).starts_with("LINES:2: the launch cannot be read: "));
    assert_eq!(record.record().unwrap().unwrap().launches().len(), 2);
}

#[test]
fn more_kernels_than_were_launched_before_are_none() {
    let text = module(COPY);
    let args = [pointer(0, 32), pointer(0, 0), number(8)];
    let known = |launched: u64| json!([{"size": 64, "contents": named('c'), "launched": launched}]);
    let record = Written::new("stray-more").module(&text).contents('c', &"07".repeat(64));
    let record = record.launch("copy", &text, 32, &args, &known(0));
    let record = record.launch("copy", &text, 64, &args, &known(1));
    assert_eq!(record.record().unwrap().unwrap().launches().len(), 2);
    let record = record.launch("copy", &text, 96, &args, &known(2));
    let told = unread(&record);
    assert!(
        told.contains("the launch cannot be read: fewer kernels were launched before"),
        "{told}"
    );
}

#[test]
fn a_kernel_that_cannot_be_read_might_have_written_anywhere() {
    let text = module(COPY);
    let args = [pointer(0, 32), pointer(0, 0), number(8)];
    let known =
        |launched: Value| json!([{"size": 64, "contents": named('c'), "launched": launched}]);
    let is_given = |name: &str, first: &str, launched: Value| {
        let record = Written::new(name).line("{\"record\":\"process\",\"version\":3}").line(first);
        let record = record.module(&text).contents('c', &"07".repeat(64));
        let record = record.launch("copy", &text, 32, &args, &known(launched));
        record.jobs(&[&text], "").iter().any(|job| !job.launch.buffers["a"].contents.is_empty())
    };
    let good =
        launch("copy", Some(&module_name(&text)), 1, &args, &json!([{"size": 64}])).to_string();
    assert!(is_given("all-read", &good, json!(1)), "`copy` writes through its arguments alone");
    let odd = good.replace("\"shared\":0", "\"shared\":-1");
    let lines =
        ["{\"record\":\"launch\"}", &odd, &good.replace("\"module\":\"", "\"module\":\"../")];
    for (at, line) in lines.into_iter().enumerate() {
        assert!(!is_given(&format!("unread-before-{at}"), line, json!(1)), "{line}");
        // The host has overwritten it since.
        assert!(is_given(&format!("unread-old-{at}"), line, json!(null)), "{line}");
    }
    // One whose name can be read is known.
    let beyond = json!([{"size": 64, "pointers": [{"at": 0, "allocation": 7, "offset": 0}]}]);
    let beyond = launch("copy", Some(&module_name(&text)), 1, &args, &beyond).to_string();
    assert!(is_given("unread-named", &beyond, json!(1)));
}

#[test]
fn memory_that_a_kernel_reached_by_a_variable_is_known_to_be_passed() {
    // The host gave the kernel the address of a variable, and the kernel of the launch before reaches it by its name.
    let text = module(COPY);
    let by = json!({"module": named('d'), "kernel": "other", "global": "table"});
    let memory = json!([{"size": 64, "contents": named('c'), "passed": [by]}]);
    let args = [pointer(0, 32), pointer(0, 0), number(8)];
    let record = Written::new("passed-by-name").module(&text).contents('c', &"07".repeat(64));
    let job = record.launch("copy", &text, 32, &args, &memory).job(&text);
    assert_eq!(job.launch.buffers["a"].contents, [], "another kernel might have written there");
    assert_eq!(job.outcome().standing, weft_harness::case::Standing::Clean);
}

#[test]
fn kinds_and_fields_that_are_not_known_are_skipped() {
    let record = Written::new("later").line("{\"record\":\"weather\",\"sun\":true}");
    let record = record.line(&copied(&json!([{"size": 64, "colour": "red"}])));
    assert_eq!(record.record().unwrap().unwrap().launches().len(), 1);
}

#[test]
fn another_version_is_told() {
    let record = Written::new("version");
    for version in [0, 2, 4] {
        let line = format!("{{\"record\":\"process\",\"version\":{version}}}\n");
        fs::write(record.lines(), line).unwrap();
        assert_eq!(
            error(&record),
            format!(
                "LINES: the record has version {version}, this program reads version 3; record anew by `cargo weft record`"
            )
        );
    }
    fs::write(record.lines(), "{\"record\":\"missing\",\"function\":\"f\"}\n").unwrap();
    let told = error(&record);
    assert!(
        told.contains("LINES:1:") && told.contains("the first line states no version"),
        "{told}"
    );
}

#[test]
fn a_last_line_that_was_cut_is_left_out() {
    let line = copied(&json!([{"size": 64}]));
    for end in [1, line.len() / 2, line.len()] {
        let record = Written::new("cut").line(&line).text(&line.replace("32", "64")[..end]);
        assert_eq!(record.record().unwrap().unwrap().launches().len(), 1);
    }
    // A line in the middle is not one that was cut.
    let record = Written::new("cut-within").line(&line[..40]).line(&line);
    assert!(error(&record).starts_with("LINES:2: "));
}

#[test]
fn contents_have_to_be_there_and_fit() {
    let memory = json!([{"size": 4, "contents": named('e')}]);
    let line = copied(&memory);
    let missing = Written::new("missing").line(&line);
    let path = missing.0.join("contents").join(format!("{}.hex", named('e')));
    assert!(unread(&missing).contains(&format!("cannot read the record {}: ", path.display())));
    let odd = Written::new("odd").contents('e', "0102030").line(&line);
    let told = unread(&odd);
    assert!(told.contains(".hex:1: this is no record of launches: contents are pairs"), "{told}");
    let long = Written::new("long").contents('e', "0102030405").line(&line);
    assert!(unread(&long).starts_with("LINES:2: "), "{}", unread(&long));
    assert!(unread(&long).contains("contents have more bytes than their allocation"));
}

#[test]
fn names_are_hashes_and_no_paths() {
    let secret = Written::new("secret");
    fs::write(secret.0.join("secret.hex"), "00").unwrap();
    let up = "../secret";
    let long = format!("{}/../../secret", "a".repeat(19));
    assert_eq!(long.len(), 32, "as long as a hash");
    for (at, name) in [up, &long, "/etc/passwd", "", "0123"].into_iter().enumerate() {
        let lines = [
            copied(&json!([{"size": 64, "contents": name}])),
            copied(&json!([{"size": 64, "passed": [{"module": name, "kernel": "k", "arg": 0}]}])),
            launch("copy", Some(name), 32, &[], &json!([])).to_string(),
            json!({"record": "module", "hash": name, "kernels": []}).to_string(),
        ];
        for (kind, line) in lines.iter().enumerate() {
            let record = Written::new(&format!("path-{at}-{kind}")).line(line);
            let told = if kind == 3 { error(&record) } else { unread(&record) };
            assert!(told.starts_with("LINES:2: ") && told.contains("32 hexadecimal"), "{told}");
        }
    }
}

#[test]
fn pointers_lead_into_the_allocations_of_their_launch() {
    let beyond = [
        json!([{"size": 3}]),
        json!([]),
        json!([{"size": 64, "pointers": [{"at": 0, "allocation": 0, "offset": 65}]}]),
    ];
    for (at, memory) in beyond.iter().enumerate() {
        let told = unread(&Written::new(&format!("beyond-{at}")).line(&copied(memory)));
        assert!(told.starts_with("LINES:2: ") && told.contains("a pointer leads out of"), "{told}");
    }
    // Right behind the end is where a pointer can lead.
    Written::new("end").line(&copied(&json!([{"size": 4}]))).record().unwrap();
    let large = u64::MAX;
    for (index, at) in [60, 4, large, large - 7].into_iter().enumerate() {
        let memory = json!([{"size": 64, "pointers": [{"at": at, "allocation": 0, "offset": 0}]}]);
        let told = unread(&Written::new(&format!("stands-{index}")).line(&copied(&memory)));
        assert!(told.contains("a pointer stands at no multiple of 8"), "{told}");
        let arg = json!({"bytes": "00".repeat(16), "pointers": [{"at": at, "allocation": 0, "offset": 0}]});
        let line = launch("k", None, 1, &[arg], &json!([{"size": 8}])).to_string();
        let told = unread(&Written::new(&format!("arg-{index}")).line(&line));
        assert!(told.contains("bytes of an argument"), "{told}");
    }
    let mut line = launch("k", None, 1, &[], &json!([{"size": 8}])).as_object().unwrap().clone();
    line.insert("globals".to_owned(), json!([{"name": "v", "allocation": 1}]));
    let told = unread(&Written::new("global").line(&Value::from(line).to_string()));
    assert!(told.contains("a variable is none of the allocations"), "{told}");
}

#[test]
fn arguments_are_known_bytes() {
    for (at, bytes) in ["0", "..", "zz", "0x00"].into_iter().enumerate() {
        let arg = json!({"bytes": bytes, "pointers": []});
        let line = launch("k", None, 1, &[arg], &json!([])).to_string();
        let told = unread(&Written::new(&format!("bytes-{at}")).line(&line));
        assert!(told.contains("bytes of an argument are pairs"), "{told}");
    }
}

#[test]
fn hostile_sizes_are_not_allocated() {
    let text = module(COPY);
    let half = 1_u64 << 63;
    // The kernel reads at the offset 2^63, which no buffer of a check has.
    let args = [pointer(0, half), pointer(0, 0), number(8)];
    let record = Written::new("half-line").module(&text);
    let record = record.launch("copy", &text, 32, &args, &json!([{"size": u64::MAX}]));
    let told = record.job(&text).run().report.unwrap_err().to_string();
    assert!(told.contains("9223372036854775808"), "{told}");
    // Numbers that do not fit are no numbers.
    let line = copied(&json!([{"size": 64}])).replace("64", "18446744073709551616");
    assert!(unread(&Written::new("2^64").line(&line)).starts_with("LINES:2: "));
    let line = copied(&json!([{"size": 64}])).replace("[32,1,1]", "[-1,1,1]");
    assert!(unread(&Written::new("minus").line(&line)).starts_with("LINES:2: "));
    // An argument of no parameter, and one that is larger than its parameter: not those of the kernel.
    let more = [pointer(0, 4), pointer(0, 0), number(8), number(1)];
    let record = Written::new("more")
        .line(&launch("copy", None, 32, &more, &json!([{"size": 64}])).to_string());
    assert_eq!(record.job(&text).recorded, None);
}

#[test]
fn a_module_whose_file_is_another_one_decides_nothing_as_known() {
    // The record says that `copy` of this module only read; the file has one that writes there.
    let text = module(super::SCATTER);
    let reads = module(COPY);
    let name = weft_harness::record::module_name(&reads);
    let record =
        Written::new("swapped").module(&text).module(&reads).contents('c', &"00".repeat(16));
    let memory = json!([
        {"size": 16},
        {"size": 16, "contents": named('c'), "passed": [{"module": name, "kernel": "copy", "arg": 1}]},
    ]);
    let record = record.launch("scatter", &text, 4, &[pointer(0, 0), pointer(1, 0)], &memory);
    assert_eq!(record.verdict(&text), Verdict::Defect, "all four indices are 0");
    fs::write(record.0.join("modules").join(format!("{name}.ptx")), "damaged").unwrap();
    assert_eq!(record.verdict(&text), Verdict::Open);
}
