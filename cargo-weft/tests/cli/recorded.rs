//! Tests of what is said of a record beside the verdicts: how old it is, what of it cannot be checked, and where it is from.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

use crate::record::{APART, KERNELS, RACE, command, package, record};
use crate::support::{Folder, Run};

/// Creates a package whose kernels are in no file of it, but in the record alone. Their PTX names the source `kernels/k.cu`.
fn compiled_elsewhere(name: &str) -> Folder {
    let folder = package(name).with("weft.toml", "").with("kernels/k.cu", "// the first\n");
    let source = folder.path().join("kernels/k.cu");
    let file = format!(".address_size 64\n.file 1 \"{}\"\n", source.display());
    let text = KERNELS.replace(".address_size 64\n", &file);
    folder.with("kernels.ptx", text)
}

#[test]
fn ptx_of_a_record_is_compared_with_its_sources() {
    let mut folder = compiled_elsewhere("record-and-source");
    for place in ["", "--save tests/launches"] {
        let _ = fs::remove_dir_all(folder.path().join("target/weft/launches"));
        record(&folder, place, APART).exits(0);
        let words = "is PTX of the record, checked as it was when recorded: its sources have not changed since\n";
        for format in ["human", "short", "json", "github"] {
            let run = folder.weft(&format!("test copy --message-format {format}")).exits(0);
            run.complains(words);
        }
        folder.weft("report").exits(0);
        let page = fs::read_to_string(folder.path().join("target/weft/report.html"));
        let page = page.expect("the page is written");
        let section = page.split("Notes</h2>").nth(1).expect("there is a section");
        assert_eq!(
            section.matches("is PTX of the record, checked as it was").count(),
            1,
            "{section}"
        );
        // Every change counts, and nothing of a verdict is said then.
        let changed = folder.with("kernels/k.cu", "// the second\n");
        let words = "could not be checked: this PTX of the record is older than its source: kernels/k.cu changed since; record anew \
                     by `cargo weft record`";
        for options in ["", "-q", "test copy --message-format short"] {
            let run = changed.weft(options).exits(101).complains(words);
            assert!(!run.out.contains("copy@recorded"), "{run:#?}");
        }
        folder = changed.with("kernels/k.cu", "// the first\n");
        folder.weft("test copy").exits(0);
    }
    // A source that is not there any more, or was never named.
    fs::remove_file(folder.path().join("kernels/k.cu")).expect("it is there");
    let run = folder.weft("test copy -q").exits(0);
    run.complains("changes of its sources since are not seen (there is no kernels/k.cu any more)");
    let folder = package("record-without-source").with("weft.toml", "");
    record(&folder, "", APART).exits(0);
    let run = folder.weft("test copy -q").exits(0);
    run.complains("changes of its sources since are not seen (it names none in this workspace");
    // PTX of the package itself is no PTX of the record.
    let folder = folder.with("weft.toml", "ptx = [\"kernels.ptx\"]\n");
    let run = folder.weft("test copy").exits(0);
    assert!(!run.err.contains("PTX of the record"), "{run:#?}");
}

#[test]
fn kernels_that_a_record_alone_has_fail_only_if_they_are_launched() {
    let folder = compiled_elsewhere("unlaunched-elsewhere");
    record(&folder, "", APART).exits(0);
    // `scatter` would be open.
    let run = folder.weft("").exits(0).says("weft: 1 clean, 0 defect, 0 open, 2 skipped");
    run.complains("note: never launched while launches were recorded: `idle`, `scatter`\n")
        .says("::scatter  (never launched while launches were recorded)");
    let list = folder.weft("list scatter").exits(0);
    list.says("::scatter  (never launched while launches were recorded)\n");
    // Who states a launch asks for a check.
    let table = "[[kernel]]\nname = \"scatter\"\nblock = 32\ngrid = 1\n";
    let folder = folder.with("weft.toml", table);
    folder.weft("").exits(102).says("weft: 1 clean, 0 defect, 1 open, 1 skipped");
}

#[test]
fn a_finding_says_what_made_the_launch() {
    let folder = package("origin-of-launches");
    record(&folder, "", "named").exits(0);
    folder
        .weft("test copy")
        .exits(100)
        .says("= note: launched by `host`, thread `tests::the_firs...`");
    record(&folder, "", RACE).exits(0);
    folder.weft("test copy").exits(100).says("= note: launched by `host`\n");
}

#[test]
fn calls_that_cuda_refuses_are_a_record_without_any_launch() {
    let folder = package("refused-alone");
    record(&folder, "", APART).exits(0);
    let run = record(&folder, "", "empty").exits(0);
    run.says("recorded no launch, and 1 call that CUDA refuses, in ")
        .complains("the grid is 0 in x");
    folder
        .weft("")
        .exits(100)
        .says("the grid is 0 in x (CUDA_ERROR_INVALID_VALUE); `host` makes it");
    folder.weft("check --record target/weft/launches").exits(100).says("the grid is 0 in x");
    let run = folder.weft("init -n --from-record").exits(101);
    run.complains("no launches are recorded").complains("or leave out `--from-record`");
}

#[test]
fn recorded_launches_alone_need_a_record() {
    let folder = package("no-record");
    let run = folder.weft("--launches recorded").exits(101);
    run.complains("error: no launches are recorded, neither in ")
        .complains("or leave out `--launches recorded`");
    fs::create_dir_all(folder.path().join("tests/launches/launches")).expect("it can be made");
    folder.weft("--launches recorded").exits(101).complains("no launches are recorded");
    record(&folder, "", APART).exits(0);
    folder.weft("--launches recorded").exits(0);
}

#[test]
fn doctor_says_what_a_record_is_worth() {
    let folder = package("doctor-record");
    let none =
        "\nrecords of launches\n  note    no launches are recorded: `cargo weft record -- COMMAND`";
    folder.weft("doctor").exits(0).says(none);
    record(&folder, "", &format!("{APART} {RACE} empty")).exits(0);
    let run = folder.weft("doctor").exits(0);
    let run = run.says("  ok      target/weft/launches has 2 launches of 1 kernel, by 1 process\n");
    let run = run.says("nobody states the block of 2 kernels (such as scatter)");
    let run = run.says("  note    1 call that CUDA refuses: `cargo weft` names it\n");
    let run =
        run.says("  note    never launched while launches were recorded: `idle`, `scatter`\n");
    assert!(!run.out.contains("no file of a package"), "{run:#?}");
    // The PTX is built anew, and then another kernel's.
    let folder = folder.with("kernels.ptx", format!("// anew\n{KERNELS}"));
    let rebuilt = "the PTX has changed since the record, whose launches are taken by name and sizes of parameters, for `copy`";
    folder.weft("doctor").exits(0).says(&format!("  note    {rebuilt}\n"));
    let folder = folder.with("kernels.ptx", KERNELS.replace("copy", "copied"));
    folder.weft("doctor").exits(0).says("  note    no file of a package has the PTX of `copy`: ");
    // Launches without PTX, and a record that cannot be read.
    let modules = folder.path().join("target/weft/launches/modules");
    fs::remove_dir_all(modules).expect("it is there");
    folder.weft("doctor").exits(101).says("  PROBLEM ");
    let folder = folder.with(
        "target/weft/launches/launches/1-1.jsonl",
        "{\"record\":\"process\",\"version\":1}\n",
    );
    let run = folder.weft("doctor").exits(101).says("  PROBLEM ");
    run.says("the record has version 1").says("record anew");
}

#[test]
fn a_launch_under_the_label_of_a_recorded_one_is_said_to_replace_it() {
    let folder = package("replaced-launch");
    record(&folder, "", APART).exits(0);
    fs::remove_file(folder.path().join("weft.toml")).expect("it is there");
    folder.weft("init --from-record --config-only").exits(0);
    let words =
        "note: the configuration states other launches than the record under the same labels";
    let run = folder.weft("test copy").exits(0);
    assert!(!run.err.contains(words), "{run:#?}");
    let path = folder.path().join("weft.toml");
    let text = fs::read_to_string(&path).expect("it is written");
    let folder = folder.with("weft.toml", text.replacen("block = 32\n", "block = 64\n", 1));
    for options in ["", "-q"] {
        let run = folder.weft(&format!("test copy {options}"));
        run.complains(words).complains(": `copy@recorded-");
    }
}

#[test]
fn launches_of_machine_code_are_named_and_count() {
    let folder =
        package("machine-code").with("weft.toml", "").with("kernels.ptx", "\u{7f}ELF code");
    let words = "no PTX of its module was kept: it holds machine code alone; nvcc keeps PTX too with `-arch=sm_80`, or with \
                 `code=compute_80` of `-gencode`";
    let run = record(&folder, "", APART).exits(0);
    run.complains(&format!("note: launches of `copy` cannot be checked: {words}\n"));
    let words = format!("error: launches of `copy` could not be checked: {words}\n");
    for options in ["", "-q", "test --message-format short"] {
        folder.weft(options).exits(101).complains(&words);
    }
    // Beside kernels that are checked, they count as well.
    let folder = folder.with("kernels.ptx", KERNELS.replace("copy", "copied"));
    let folder = folder.with("weft.toml", "ptx = [\"kernels.ptx\"]\n");
    let run = folder.weft("-q").exits(101).complains(&words);
    run.says(", 1 could not be checked");
    folder.weft("test idle").exits(0);
    folder.weft("test idle --launches configured").exits(0);
    // PTX with the kernel is what they are checked with.
    let folder = folder.with("kernels.ptx", KERNELS);
    let run = folder.weft("test copy").says("copy@recorded-");
    assert!(!run.err.contains("could not be checked"), "{run:#?}");
}

#[test]
fn some_of_many_launches_are_checked_or_all() {
    let folder = package("many-launches");
    // The smallest and the largest number stand in the middle.
    let numbers = (8..16).chain([2, 30]).chain(16..26);
    let actions: Vec<String> = numbers.map(|n| format!("copy=128,0,{n}")).collect();
    record(&folder, "", &actions.join(" ")).exits(0);
    let clean = |options: &str| {
        let run = folder.weft(&format!("test copy {options}")).exits(0);
        (run.out.matches("clean   many-launches").count(), run)
    };
    let (count, run) = clean("");
    assert_eq!(count, 16);
    run.complains("note: 16 of 20 distinct launches of `copy` are checked: ");
    let (count, run) = clean("--most-launches 2");
    assert_eq!(count, 2);
    run.complains("note: 2 of 20 distinct launches of `copy` are checked: ");
    let listed = folder.weft("list copy --most-launches 2 --message-format json").exits(0);
    assert!(listed.out.contains("\"2\":2}") && listed.out.contains("\"2\":30}"), "{listed:#?}");
    let (count, run) = clean("--most-launches all");
    assert_eq!((count, run.err.contains("distinct launches")), (20, false));
    folder
        .weft("test copy --most-launches 0")
        .exits(2)
        .complains("neither a number from 1 on nor `all`");
}

#[test]
fn launches_of_two_records_are_told_apart() {
    let folder = package("two-records");
    record(&folder, "--save tests/launches", RACE).exits(0);
    let run = folder.weft("test copy").exits(100);
    run.complains("note: recorded launches are those in tests/launches\n");
    record(&folder, "", APART).exits(0);
    let run = folder.weft("test copy").exits(0).says("weft: 1 clean, 0 defect, 0 open");
    let both = "note: recorded launches are those in target/weft/launches and tests/launches\n";
    let newer = "note: two records have launches of `copy`: those in target/weft/launches are checked, which `cargo test` does not \
                 read; without this folder, those that the package keeps are\n";
    run.complains(both).complains(newer);
    // A kernel that the newer one has none of is checked under those that the package keeps.
    record(&folder, "", "scatter=0,1,2,3").exits(0);
    let run = folder.weft("test copy scatter").exits(100).says("scatter@recorded-");
    assert!(run.err.contains(both) && !run.err.contains("two records"), "{run:#?}");
    fs::remove_dir_all(folder.path().join("target/weft/launches")).expect("it is there");
    folder.weft("test copy").exits(100);
}

#[test]
fn doubts_are_said_where_little_is_printed() {
    let folder = package("quiet-doubts");
    record(&folder, "-q", &format!("{APART} read copy=256,0,8 empty"))
        .exits(0)
        .complains("note: 1 of 2 launches was made by a thread after it had read memory");
    let run = folder.weft("test copy -q").exits(0);
    run.complains("note: 1 of 2 recorded launches might be others on a device: ")
        .complains("note: cuLaunchKernel of `copy` is refused");
}

#[test]
fn a_program_outside_of_packages_is_recorded_and_checked() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("kernels.ptx"), KERNELS).expect("the file can be written");
    let here = |mut command: Command| {
        command.current_dir(folder.path()).env_remove("CARGO_TARGET_DIR");
        Run::of(command.output().expect("the binary starts"))
    };
    let any = Folder::new("outside-of-packages");
    let run = here(command(&any, "", &format!("{RACE} {APART}"))).exits(0);
    run.says("in ").says("target/weft/launches");
    let check = |words: &str| here(any.command(&words.split(' ').collect::<Vec<_>>()));
    let run = check("check --record target/weft/launches").exits(100);
    run.says("weft: 1 clean, 1 defect, 0 open, 2 skipped").complains("PTX of the record");
    let run = check("check --record target/weft/launches --kernel copy").exits(100);
    run.says("weft: 1 clean, 1 defect, 0 open");
    let run = check("check --record target/weft/launches --kernel copy --most-launches 1");
    run.complains("`--most-launches all`, or WEFT_MOST_LAUNCHES=all, checks every one");
    // A file that has the kernels built anew is checked in place of the PTX of the record.
    fs::write(folder.path().join("anew.ptx"), format!("// anew\n{KERNELS}"))
        .expect("it can be written");
    let run = check("check --record target/weft/launches --kernel copy anew.ptx").exits(100);
    run.says("anew.ptx::copy@recorded-").says("weft: 1 clean, 1 defect, 0 open");
    check("check --record target").exits(101).complains("there is no record of launches in target");
    check("check").exits(2);
    here(command(&any, "--save kept", APART)).exits(0).says("in kept");
    check("check --record kept --kernel copy").exits(0);
}

#[test]
fn a_device_that_there_is_not_is_a_wrong_command_line() {
    let folder = package("wrong-device");
    for wrong in ["h100", "sm_90,0"] {
        let run = record(&folder, &format!("--device {wrong}"), APART).exits(2);
        run.complains("it is no target with a number of multiprocessors, such as `sm_90,132`");
    }
    record(&folder, "--device sm_80,108", APART).exits(0);
}

/// The signal goes to `cargo weft record` alone, as that of a supervisor does, and the program is a grandchild.
#[test]
fn what_was_launched_before_a_termination_is_kept() {
    let folder = package("terminated-record");
    let own = command(&folder, "", &format!("{RACE} wait"));
    let words: Vec<_> = own.get_args().map(|word| word.to_str().expect("UTF-8")).collect();
    let at = words.iter().position(|word| *word == "--").expect("there is a command");
    let shell = format!("{}; true", words[at + 1..].join(" "));
    let mut command = folder.command(&[&words[..=at], &["sh", "-c", &shell]].concat());
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut line = String::new();
    out.read_line(&mut line).expect("it can be read");
    assert_eq!(line, "waiting\n");
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(sent.expect("`kill` runs").success());
    out.read_to_string(&mut line).expect("it can be read");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(101), "{line}");
    assert!(line.contains("recorded 1 distinct launch of 1 kernel"), "{line}");
    folder.weft("test copy").exits(100);
}
