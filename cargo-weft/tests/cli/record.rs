//! Tests of `cargo weft record`, and of what commands do with a record. The recorded program is `record_host.rs`.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::schema::assert_valid;
use crate::support::{Folder, Run};

/// `copy`: `to[i] = from[i]` for `i < n`; `scatter`: `out[index[i]] = i`; `idle`: nothing.
pub(crate) const KERNELS: &str = "\
.version 8.0
.target sm_80
.address_size 64
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
.visible .entry idle()
{
    ret;
}
";
/// A launch of `copy` whose parts do not overlap, and one whose thread 0 writes what thread 1 reads.
pub(crate) const APART: &str = "copy=128,0,8";
pub(crate) const RACE: &str = "copy=4,0,8";

/// Returns the recorded program, which is compiled once: each test runs in a process of its own under nextest, so that it might
/// be there already.
fn host() -> &'static Path {
    static HOST: OnceLock<PathBuf> = OnceLock::new();
    HOST.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("record-host");
        weft_driver::install(&folder.join("lib")).expect("the stand-in can be written");
        // Several tests might compile it at once.
        let fresh = tempfile::tempdir_in(&folder).expect("a folder");
        let built = fresh.path().join("host");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/record_host.rs");
        let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let status = Command::new(compiler)
            .args(["--edition", "2024", "-L"])
            .arg(folder.join("lib"))
            .arg("-o")
            .arg(&built)
            .arg(source)
            .status();
        assert!(status.expect("rustc starts").success());
        let path = folder.join("host");
        fs::rename(built, &path).expect("the program can be moved");
        path
    })
}

/// Creates a package with the kernels in a file that its configuration names.
pub(crate) fn package(name: &str) -> Folder {
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n"
    );
    Folder::new(name)
        .with("Cargo.toml", manifest)
        .with("src/lib.rs", "")
        .with("weft.toml", "ptx = [\"kernels.ptx\"]\n")
        .with("kernels.ptx", KERNELS)
}

/// Runs `cargo weft record`. `options` and `actions` are separated by spaces.
pub(crate) fn record(folder: &Folder, options: &str, actions: &str) -> Run {
    Run::of(command(folder, options, actions).output().expect("the binary starts"))
}

pub(crate) fn command(folder: &Folder, options: &str, actions: &str) -> Command {
    let host = host().to_str().expect("the path is UTF-8");
    let words = ["record"].into_iter().chain(options.split_whitespace()).chain(["--", host]);
    folder.command(&words.chain(actions.split_whitespace()).collect::<Vec<_>>())
}

/// Returns the lines of JSON, after a comparison of each with the documented schema.
fn lines(run: &Run) -> Vec<Value> {
    let schema = include_str!("../../../docs/weft-output.schema.json");
    let schema = serde_json::from_str(schema).expect("the schema is JSON");
    let object = |line| {
        let line = serde_json::from_str(line).expect("every line is an object");
        assert_valid(&schema, &line);
        line
    };
    run.out.lines().map(object).collect()
}

fn of_kind<'l>(lines: &'l [Value], reason: &str) -> Vec<&'l Value> {
    lines.iter().filter(|line| line["reason"] == reason).collect()
}

#[test]
fn kernels_are_checked_under_the_launches_of_a_program() {
    let folder = package("recorded-launches");
    // Without a record, the arguments are taken not to overlap.
    folder.weft("").exits(102).says("clean   recorded-launches::kernels.ptx::copy  (");
    let told = record(&folder, "", &format!("{APART} {RACE} {APART}")).exits(0);
    told.says("recorded 2 distinct launches of 1 kernel, by 1 process, in ")
        .says("target/weft/launches");
    let run = folder.weft("").exits(100);
    let run = run.says("weft: 2 clean, 1 defect, 1 open").says("error[global-race]");
    let name = "recorded-launches::kernels.ptx::copy@recorded-";
    assert_eq!(run.out.matches(&format!("DEFECT  {name}")).count(), 1, "{run:#?}");
    assert_eq!(run.out.matches(&format!("clean   {name}")).count(), 1, "{run:#?}");
    run.complains("note: never launched while launches were recorded: `idle`, `scatter`\n");
    folder.weft("list").exits(0).says("@recorded-").says("(grid 1, block 32)");
    let only = folder.weft("--launches recorded").exits(100);
    only.says("skipped recorded-launches::kernels.ptx::idle  (never launched while launches were recorded)")
        .says("weft: 1 clean, 1 defect, 0 open, 2 skipped");
    folder.weft("--launches configured").exits(102).says("weft: 2 clean, 0 defect, 1 open");
}

#[test]
fn kernels_that_were_never_launched_are_told() {
    let folder = package("unlaunched-kernels");
    record(&folder, "", APART).exits(0);
    for source in ["all", "recorded"] {
        let run = folder.weft(&format!("test --message-format json --launches {source}"));
        let lines = lines(&run);
        let unlaunched = of_kind(&lines, "weft-unlaunched");
        let kernels: Vec<_> = unlaunched.iter().map(|line| line["kernel"].as_str()).collect();
        assert_eq!(kernels, [Some("scatter"), Some("idle")], "{source}");
        assert_eq!(unlaunched[0]["package"], "unlaunched-kernels");
        assert!(unlaunched[0]["file"].as_str().is_some_and(|file| file.ends_with("kernels.ptx")));
        assert_eq!(lines.last().map(|line| &line["reason"]), Some(&json!("weft-summary")));
    }
    // Only of what is selected; nothing if there is no record to speak of.
    let some = folder.weft("test idle --message-format json").exits(0);
    assert_eq!(of_kind(&lines(&some), "weft-unlaunched").len(), 1);
    let configured = folder.weft("test --message-format json --launches configured");
    assert_eq!(of_kind(&lines(&configured), "weft-unlaunched").len(), 0);
    folder.weft("report").exits(102);
    let page = fs::read_to_string(folder.path().join("target/weft/report.html"));
    let page = page.expect("the page is written");
    let section = page.split("Never launched</h2>").nth(1).expect("there is a section");
    let section = section.split("</section>").next().unwrap_or_default();
    assert!(section.contains("::idle</li>") && section.contains("::scatter</li>"), "{section}");
    assert!(!section.contains("copy"), "{section}");
}

#[test]
fn a_record_is_replaced_or_added_to() {
    let folder = package("replaced-record");
    record(&folder, "", RACE).exits(0);
    folder.weft("test copy").exits(100);
    record(&folder, "", APART).exits(0);
    folder.weft("test copy").exits(0).says("weft: 1 clean, 0 defect, 0 open");
    record(&folder, "--keep", RACE).exits(0);
    folder.weft("test copy").exits(100).says("weft: 1 clean, 1 defect, 0 open");
    // The same again adds nothing.
    record(&folder, "--keep", RACE).exits(0);
    folder.weft("test copy").exits(100).says("weft: 1 clean, 1 defect, 0 open");
    // A file that is no part of it stays.
    let folder = folder.with("target/weft/launches/note.txt", "mine");
    record(&folder, "", APART).exits(0);
    assert!(folder.path().join("target/weft/launches/note.txt").exists());
}

#[test]
fn a_record_is_saved_with_the_package() {
    let folder = package("saved-record");
    let run = record(&folder, "--save tests/launches", RACE).exits(0).says("in tests/launches");
    assert!(!run.err.contains("does not read"), "{run:#?}");
    let run = record(&folder, "--save kept", RACE).exits(0);
    run.complains("`cargo weft` does not read kept; `cargo weft check --record kept` does, and the `tests/launches` of a package");
    assert!(!folder.path().join("target/weft/launches").exists());
    fs::remove_dir_all(folder.path().join("target")).expect("it can be removed");
    folder.weft("test copy").exits(100).says("copy@recorded-");
    folder.weft("test copy --launches configured").exits(0);
    // A record of the workspace with the same launch and another one: the same is checked once.
    record(&folder, "", &format!("{RACE} {APART}")).exits(0);
    folder.weft("test copy").exits(100).says("weft: 1 clean, 1 defect, 0 open");
}

#[test]
fn a_module_that_no_file_has_is_checked_too() {
    let folder = package("compiled-at-run-time").with("weft.toml", "");
    folder.weft("").exits(101).complains("has no PTX");
    let other = KERNELS.replace("idle", "lazy");
    let folder = folder.with("kernels.ptx", other);
    record(&folder, "--save tests/launches", RACE).exits(0);
    folder.weft("").exits(100).says("compiled-at-run-time::recorded/").says(".ptx::copy@recorded-");
    let configured = folder.weft("--launches configured").exits(101);
    configured.complains("has no PTX");
}

#[test]
fn a_command_that_fails_leaves_what_it_launched() {
    let folder = package("failed-command");
    let run = record(&folder, "", &format!("{RACE} fail {APART}")).exits(101);
    run.says("recorded 1 distinct launch of 1 kernel").complains("host` ended with exit status: 3");
    folder.weft("test copy").exits(100);
    let run = folder.weft("record -- ./absent").exits(101);
    run.complains("cannot start `./absent`");
    folder.weft("record").exits(2).complains("<COMMAND>");
}

#[test]
fn a_command_without_launches_is_an_error_and_changes_no_record() {
    let folder = package("no-launches");
    record(&folder, "", RACE).exits(0);
    record(&folder, "", "")
        .exits(101)
        .complains("no launches were seen: the program used CUDA, but launched no kernel")
        .complains("target/weft/launches stays as it is\n");
    let run = record(&folder, "--save elsewhere", "").exits(101);
    assert!(!run.err.contains("stays as it is"), "{run:#?}");
    let run = folder.weft("record -- true").exits(101);
    run.complains("no launches were seen: the program has not called the stand-in for libcuda.so.1 and libcudart.so");
    folder.weft("test copy").exits(100);
}

#[test]
fn a_static_runtime_is_named() {
    let folder = package("static-runtime");
    let words = "no launches were seen: this program, or a library that it loads, links NVIDIA's static runtime";
    let run = record(&folder, "", "refused").exits(101);
    let run = run.complains(words).complains("-cudart shared");
    assert!(!run.err.contains("cuGetExportTable"), "{run:#?}");
    // A part of the program that is recorded all the same.
    let note = "note: a library that the program uses has NVIDIA's static runtime in it";
    record(&folder, "", &format!("runtime {APART}")).exits(0).complains(note);
    // A program that loads modules itself does not depend on it, whatever it launches of them.
    let run = record(&folder, "", "runtime").exits(101).complains(note);
    run.complains("the program used CUDA, but launched no kernel of the module that it loaded\n");
    let run = record(&folder, "", "runtime fail").exits(101);
    let run = run.complains("host` ended with exit status: 3");
    assert!(!run.err.contains(words), "{run:#?}");
}

#[test]
fn calls_that_cuda_refuses_are_defects() {
    let folder = package("invalid-calls");
    let words = "cuLaunchKernel of `copy` is refused, as CUDA does: the grid is 0 in x (CUDA_ERROR_INVALID_VALUE); `host` makes it";
    record(&folder, "", &format!("{APART} empty")).exits(0).complains(&format!("note: {words}\n"));
    let sentence = "weft: 2 clean, 1 defect, 1 open; 1 defect is an invalid call";
    let line = format!("error[invalid-launch]: {words}\n");
    folder.weft("").exits(100).says(&format!("\n\n{line}\n{sentence}\n"));
    folder.weft("-q").exits(100).says(&line);
    folder.weft("test --message-format short").exits(100).says(&format!("{line}{sentence}\n"));
    let lines = lines(&folder.weft("test --message-format json").exits(100));
    let calls = of_kind(&lines, "weft-invalid-call");
    assert_eq!(calls.len(), 1);
    let call = calls[0];
    assert_eq!((&call["function"], &call["kernel"]), (&json!("cuLaunchKernel"), &json!("copy")));
    assert_eq!(
        (&call["error"], &call["message"], &call["after_read"]),
        (&json!("CUDA_ERROR_INVALID_VALUE"), &json!("the grid is 0 in x"), &json!(false))
    );
    assert_eq!(lines.last().map(|line| &line["defect"]), Some(&json!(1)));
    let junit = folder.weft("test --message-format junit").exits(100);
    junit.says("<failure type=\"invalid-launch\" message=\"cuLaunchKernel of ");
    folder
        .weft("test --message-format github")
        .exits(100)
        .says("title=cargo-weft%3A%3Ainvalid-launch::");
    folder.weft("test --message-format sarif").exits(100).says("\"id\": \"invalid-launch\"");
    folder.weft("test --message-format rustc").exits(100).says("cargo-weft::invalid-launch: ");
    folder.weft("report").exits(100);
    let page =
        fs::read_to_string(folder.path().join("target/weft/report.html")).unwrap_or_default();
    assert!(page.contains("Invalid calls</h2>") && !page.contains("Not checked</h2>"), "{page}");
    // Of a part of the kernels, those calls that are about them.
    folder.weft("test idle").exits(0);
    folder.weft("test copy").exits(100).says("weft: 1 clean, 1 defect, 0 open; 1 defect is");
    folder.weft("test copy --launches configured").exits(0);
}

#[test]
fn a_call_after_what_a_kernel_might_have_changed_is_a_note() {
    let folder = package("doubtful-calls");
    record(&folder, "", &format!("{APART} read empty")).exits(0);
    let run = folder.weft("test copy").exits(0).says("weft: 1 clean, 0 defect, 0 open\n");
    run.complains("note: cuLaunchKernel of `copy` is refused")
        .complains("a device might have other values");
    let run = folder.weft("test copy --message-format json").exits(0);
    let lines = lines(&run);
    let calls = of_kind(&lines, "weft-invalid-call");
    assert_eq!((calls.len(), &calls[0]["after_read"]), (1, &json!(true)));
    assert_eq!(lines.last().map(|line| &line["defect"]), Some(&json!(0)));
    // Without a launch before, the host can only have read what it had put there.
    record(&folder, "", &format!("read empty {APART}")).exits(0);
    folder.weft("test copy").exits(100);
}

#[test]
fn launches_after_what_a_kernel_might_have_changed_are_counted() {
    let folder = package("doubtful-launches");
    // The first launch is the same as the last one.
    let actions = "copy=128,0,8 read copy=256,0,8 copy=128,0,8";
    let run = record(&folder, "", actions).exits(0);
    run.complains("note: 1 of 2 launches was made by a thread after it had read memory");
    let run = folder.weft("test copy").exits(0).says("weft: 2 clean, 0 defect, 0 open\n");
    run.complains("note: 1 of 2 recorded launches might be others on a device: ")
        .complains("; of `copy`\n");
    record(&folder, "", "copy=128,0,8 copy=256,0,8 read").exits(0);
    let run = folder.weft("test copy").exits(0);
    assert!(!run.err.contains("might be others"), "{run:#?}");
}

/// The whole group gets the signal, as a terminal sends it.
#[test]
#[cfg(unix)]
fn what_was_launched_before_an_interrupt_is_kept() {
    use std::os::unix::process::CommandExt as _;
    let folder = package("interrupted-record");
    let mut command = command(&folder, "", &format!("{RACE} wait"));
    command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut line = String::new();
    out.read_line(&mut line).expect("it can be read");
    assert_eq!(line, "waiting\n");
    let group = format!("-{}", child.id());
    let sent = Command::new("kill").args(["-INT", "--", &group]).status().expect("`kill` runs");
    assert!(sent.success());
    std::io::Read::read_to_string(&mut out, &mut line).expect("it can be read");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(101));
    assert!(line.contains("recorded 1 distinct launch of 1 kernel"), "{line}");
    folder.weft("test copy").exits(100);
}

#[test]
fn kept_verdicts_are_of_one_launch() {
    let folder = package("launches-and-verdicts");
    // The same arguments in the same memory, which holds the same number of bytes: only the contents differ.
    for (index, code) in [("3,1,2,0", 0), ("3,1,1,0", 100), ("3,1,2,0", 0), ("0,1,2,3", 0)] {
        record(&folder, "", &format!("scatter={index}")).exits(0);
        folder.weft("test scatter").exits(code);
        folder.weft("test scatter").exits(code);
    }
    // A launch of `copy` might have written there: nothing is known. A launch that only read there changes nothing.
    record(&folder, "", "scatter=3,1,2,0 again=1").exits(0);
    folder.weft("test scatter").exits(0).says("weft: 1 clean");
    record(&folder, "", "scatter=3,1,2,0 again=0").exits(0);
    folder.weft("test scatter").exits(102).says("weft: 1 clean, 0 defect, 1 open");
}

#[test]
fn records_at_the_same_time_do_not_mix_their_files() {
    let folder = package("records-at-once");
    let start = |to: u32| {
        let mut command = command(&folder, "--keep", &format!("copy={to},0,8"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts")
    };
    // Each moves by 32 bytes more.
    let children: Vec<_> = (1..=6).map(|at| start(32 * at)).collect();
    for child in children {
        let run = Run::of(child.wait_with_output().expect("it ends")).exits(0);
        run.says("recorded 1 distinct launch of 1 kernel, by 1 process");
    }
    folder.weft("test copy").exits(0).says("weft: 6 clean, 0 defect, 0 open");
    let left = fs::read_dir(folder.path().join("target/weft/driver")).expect("there is a folder");
    let left: Vec<_> = left.map(|entry| entry.expect("it can be read").file_name()).collect();
    let is_library = |name: &OsString| name.to_string_lossy().starts_with("lib");
    assert!(left.iter().all(is_library), "the library under its names: {left:?}");
}

#[test]
fn the_device_and_the_bound_of_contents_are_those_of_the_options() {
    let folder = package("record-options");
    record(&folder, "--device sm_80,108 --contents 15", "scatter=3,1,2,0").exits(0);
    let launches = fs::read_dir(folder.path().join("target/weft/launches/launches"));
    let file = launches.expect("there is a folder").next().expect("there is a file");
    let text = fs::read_to_string(file.expect("it can be read").path()).expect("it is a text");
    assert!(text.contains(r#""device":"sm_80","multiprocessors":108"#), "{text}");
    // The indices have 16 bytes: they are not known.
    folder.weft("test scatter").exits(102);
    let run = record(&folder, "--contents many", "").exits(2);
    run.complains("invalid value 'many'");
}

#[test]
fn a_damaged_record_is_an_error_with_its_place() {
    let folder = package("damaged-record").with(
        "target/weft/launches/launches/1-1.jsonl",
        "{\"record\":\"process\",\"version\":3}\nlaunch\n",
    );
    folder.weft("").exits(101).complains("launches/1-1.jsonl:2: this is no record of launches");
    folder.weft("--launches configured").exits(102);
    let saved = package("damaged-saved")
        .with("tests/launches/launches/1-1.jsonl", "{\"record\":\"process\",\"version\":9}\n");
    saved.weft("").exits(101).complains("the record has version 9");
}

/// Returns kernel, label, verdict and launch of each launch with a label.
fn checked(folder: &Folder, source: &str) -> Vec<[Value; 4]> {
    let run = folder.weft(&format!("test --no-cache --message-format json --launches {source}"));
    let lines = lines(&run);
    let own = of_kind(&lines, "weft-kernel")
        .into_iter()
        .filter(|line| !line["launch"]["label"].is_null());
    let of_line = |line: &Value| {
        let launch = &line["launch"];
        let stated = ["block", "grid", "shared", "args", "buffers"].map(|key| launch[key].clone());
        [line["kernel"].clone(), launch["label"].clone(), line["verdict"].clone(), json!(stated)]
    };
    let mut all: Vec<_> = own.map(of_line).collect();
    all.sort_by_key(|own| format!("{own:?}"));
    all
}

#[test]
fn a_record_becomes_a_configuration_with_the_same_verdicts() {
    let folder = package("init-from-record");
    let actions = format!("{APART} {RACE} scatter=3,1,2,0 scatter=3,1,1,0 again=0");
    record(&folder, "", &actions).exits(0);
    let recorded = checked(&folder, "recorded");
    let count = |verdict: &str| recorded.iter().filter(|own| own[2] == verdict).count();
    // Of `copy` two, and the one into the indices; of `scatter` two with known indices, and one with open ones.
    assert_eq!((count("clean"), count("defect"), count("open"), recorded.len()), (3, 2, 1, 6));
    let toml = folder.path().join("weft.toml");
    fs::remove_file(&toml).expect("it is there");
    folder.weft("init --from-record --config-only").exits(0);
    // What `copy` copies decides nothing, and is not written.
    let mut written = recorded.clone();
    let of_copy = written.iter_mut().filter(|own| own[0] == "copy");
    for buffer in
        of_copy.filter_map(|own| own[3][4].as_object_mut()).flat_map(|own| own.values_mut())
    {
        buffer["given"] = json!(0);
    }
    assert_ne!(written, recorded);
    assert_eq!(checked(&folder, "configured"), written);
    // Both at once: each launch once.
    assert_eq!(checked(&folder, "all"), written);
    let run = folder.weft("");
    assert!(!run.err.contains("other launches than the record"), "{run:#?}");
    let text = fs::read_to_string(&toml).expect("it is written");
    assert!(text.contains("u32 = [3, 1, 2, 0]") && text.contains("offset = 128"), "{text}");
    assert_eq!(text.matches("\n[[kernel.launch]]\n").count(), 6, "{text}");
    // The command to write it is the same without `-n`.
    let run = folder.weft("init -n --from-record --config-only").exits(0);
    run.says("To write this, run\n  cargo weft init --from-record --config-only\n");
    // Without the option, the record changes nothing.
    fs::remove_file(&toml).expect("it is there");
    folder.weft("init --config-only").exits(0);
    let text = fs::read_to_string(&toml).expect("it is written");
    assert!(!text.contains("[[kernel.launch]]"), "{text}");
}

#[test]
fn without_a_record_there_is_none_to_write() {
    let folder = package("init-without-record");
    let toml = folder.path().join("weft.toml");
    fs::remove_file(&toml).expect("it is there");
    let run = folder.weft("init --from-record").exits(101);
    run.complains("no launches are recorded").complains("run `cargo weft record -- COMMAND`");
    assert!(!toml.exists());
}
