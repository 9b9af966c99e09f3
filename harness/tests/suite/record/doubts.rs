//! What of a launch is left open, or might have been another one on a device.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use weft_core::launch::{Arg, Dim3, Fields, TensorBox};
use weft_harness::case::launch_notes;
use weft_harness::record::LaunchDoubts;

use super::{COPY, Written, launch, module, module_name, named, number, plain, pointer, within};

/// The line of a launch of `copy` with this block, with a member set.
fn with(block: u32, key: &str, value: Value) -> String {
    let args = [pointer(0, 0), pointer(0, 512), number(block)];
    let name = module_name(&module(COPY));
    let mut line = launch("copy", Some(&name), block, &args, &json!([{"size": 1024}]));
    line[key] = value;
    line.to_string()
}

#[test]
fn launches_after_a_read_are_in_doubt_unless_they_were_made_before_too() {
    let text = module(COPY);
    let record = Written::new("after-read").module(&text);
    let record = record.line(&with(32, "after_read", json!(false)));
    let record = record.line(&with(32, "after_read", json!(true)));
    let record = record.line(&with(64, "after_read", json!(true)));
    assert_eq!(record.shared().doubted().len(), 1);
    assert_eq!(record.shared().launches().len(), 2);
    let jobs = record.jobs(&[&text], "");
    assert_eq!(jobs.len(), 2);
    for job in jobs {
        let is_later = job.launch.block == Some(Dim3::line(64).into());
        assert_eq!(job.recorded.unwrap().doubts.after_read, is_later);
    }
}

#[test]
fn labels_do_not_depend_on_doubts() {
    let text = module(COPY);
    let plain = Written::new("label").module(&text).line(&with(32, "globals", json!([])));
    let label = plain.job(&text).label;
    let read = Written::new("label-read").module(&text).line(&with(32, "after_read", json!(true)));
    assert_eq!(read.job(&text).label, label);
}

/// A kernel with a structure of 128 bytes and a word behind it.
const MAPPED: &str = "\
.visible .entry mapped(.param .align 64 .b8 map[192], .param .u32 n)
{
    ret;
}
";

fn mapped(name: &str, map: &Value) -> Written {
    let text = module(MAPPED);
    let maps = json!({"bytes": "00".repeat(192), "pointers": [], "maps": [map]});
    let args = [maps, number(7)];
    Written::new(name).module(&text).launch("mapped", &text, 32, &args, &json!([{"size": 1024}]))
}

#[test]
fn arguments_with_tensor_maps_are_left_open_and_said() {
    let map = json!({"at": 64, "allocation": 0, "offset": 16, "mode": "tiled", "element": "f32", "dims": [8, 8]});
    let job = mapped("map", &map).job(&module(MAPPED));
    assert_eq!(job.launch.args[&0], Arg::Fields(Fields { bytes: None, ..Fields::default() }));
    assert_eq!(job.launch.args[&1], Arg::Integer(7));
    // The box of a map is known if all of it is recorded: of 8 rows with 64 bytes.
    let whole = json!({"at": 64, "mode": "tiled", "element": "f32", "box": [16, 8], "steps": [1, 1], "interleave": 0});
    let boxed = mapped("map-box", &whole).job(&module(MAPPED)).launch.args;
    let fields = [(64, Arg::Tensor(TensorBox { bytes: 512 }))].into();
    assert_eq!(boxed[&0], Arg::Fields(Fields { bytes: Some(vec![0; 192]), fields }));
    let has_maps = LaunchDoubts { has_maps: true, ..LaunchDoubts::default() };
    assert_eq!(job.recorded.unwrap().doubts, has_maps);
    // 128 bytes from 65 on are more than there are; the allocation is none of the launch.
    for wrong in [json!({"at": 65, "mode": "tiled"}), json!({"at": 0, "allocation": 1})] {
        let record = mapped("map-misfit", &wrong).record().unwrap().unwrap();
        assert!(record.launches().is_empty(), "the launch contradicts itself");
        assert_eq!(record.lost(&BTreeSet::new(), |_| true).len(), 1);
    }
}

#[test]
fn pointers_to_variables_are_left_open_and_said() {
    let text = module(COPY);
    let record = Written::new("pointer-to-variable").module(&text);
    let global = json!([{"name": "table", "allocation": 0}]);
    let job = record.line(&with(32, "globals", global)).job(&text);
    assert_eq!(job.launch.args.get(&0), None);
    let doubts = job.recorded.unwrap().doubts;
    assert_eq!(doubts, LaunchDoubts { leads_to_variables: true, ..LaunchDoubts::default() });
}

#[test]
fn allocations_begin_behind_a_multiple_of_256() {
    let text = module(COPY);
    let memory = json!([
        {"size": 32, "behind": 24, "contents": named('a'), "pointers": [{"at": 8, "allocation": 1, "offset": 4}]},
        {"size": 8, "behind": 1},
    ]);
    let args = [pointer(1, 4), pointer(0, 8), plain(&[8, 0, 0, 0])];
    let record = Written::new("behind").module(&text).contents('a', &"07".repeat(32));
    let job = record.launch("copy", &text, 32, &args, &memory).job(&text);
    assert_eq!((&job.launch.args[&0], &job.launch.args[&1]), (&within("b", 5), &within("a", 32)));
    let a = &job.launch.buffers["a"];
    assert_eq!(a.size, Some(56));
    assert_eq!(a.contents[..24], [None; 24]);
    assert_eq!(a.contents[24..32], [Some(7); 8]);
    assert_eq!(a.pointers.keys().collect::<Vec<_>>(), [&32]);
    assert_eq!(Arg::Within(a.pointers[&32].clone()), within("b", 5));
    let args = [pointer(0, 0), pointer(0, 0), number(8)];
    for wrong in [json!({"size": 1024, "behind": 256}), json!({"size": u64::MAX, "behind": 1})] {
        let record = Written::new("far-behind").module(&text);
        let record = record.launch("copy", &text, 32, &args, &json!([wrong]));
        assert!(record.shared().launches().is_empty(), "the launch contradicts itself");
        assert_eq!(record.shared().lost(&BTreeSet::new(), |_| true).len(), 1);
    }
}

#[test]
fn cargo_test_is_told_what_else_there_is_to_know_of_launches() {
    let text = module(COPY);
    let mut record = Written::new("notes").module(&text);
    for block in 1..=20 {
        record = record.line(&with(block, "after_read", json!(block == 20)));
    }
    let jobs = record.jobs(&[&text], "");
    let notes: Vec<String> = launch_notes(&jobs).into_iter().map(|own| own.text).collect();
    let start = "1 of 16 recorded launches might be others on a device: ";
    assert!(notes[0].starts_with(start) && notes[0].ends_with("; of `copy`"), "{notes:?}");
    assert!(
        notes[1].starts_with("16 of 20 distinct launches of `copy` are checked: "),
        "{notes:?}"
    );
    assert_eq!(notes.len(), 2, "{notes:?}");
    // A thread that shares memory with kernels is in doubt as well, and so are its calls.
    let shared =
        Written::new("shared-notes").module(&text).line(&with(1, "after_sharing", json!(true)));
    let call = |after: bool| {
        json!({"record": "invalid", "function": "f", "error": "E", "reason": "wrong", "after_sharing": after}).to_string()
    };
    let record = shared.line(&call(true));
    assert!(record.job(&text).recorded.unwrap().doubts.after_read);
    let told: Vec<_> = record.shared().refused.iter().map(ToString::to_string).collect();
    let words = "f is refused, as CUDA does: wrong (E); the thread uses managed or pinned memory that a kernel might have changed, so \
                 a device might have other values there";
    assert_eq!(told, [words]);
    // The same call of a thread without a doubt is one without.
    let told: Vec<_> =
        record.line(&call(false)).shared().refused.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["f is refused, as CUDA does: wrong (E)"]);
}
