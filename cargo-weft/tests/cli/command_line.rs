//! Tests of the command line itself: the page that describes it, shards, build flags, variables, completions and manual pages.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::filters::pair;
use crate::packages::package;
use crate::support::{CLEAN, Folder, Run};

/// The commands with their own options.
const COMMANDS: [&str; 16] = [
    "test",
    "check",
    "list",
    "init",
    "doctor",
    "explain",
    "repair",
    "mutate",
    "record",
    "report",
    "graph",
    "baseline",
    "dump isa",
    "dump schema",
    "completions",
    "man",
];

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/command-line.md");
    fs::read_to_string(path).expect("the page is there")
}

/// Returns the long options in a text: words that begin with two hyphens.
fn options(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_lowercase() || c == '-';
    let words = text.split(|c: char| !is_part(c)).filter(|word| word.starts_with("--"));
    words.filter(|word| word.len() > 3).map(str::to_owned).collect()
}

/// Runs with a variable of the environment.
fn with(folder: &Folder, variable: (&str, &str), arguments: &[&str]) -> Run {
    let mut command = folder.command(arguments);
    Run::of(command.env(variable.0, variable.1).output().expect("the binary starts"))
}

#[test]
fn the_page_has_every_command_and_option() {
    let (folder, page) = (Folder::new("command-line"), page());
    let mut known = BTreeSet::from(["--version".to_owned()]);
    for command in COMMANDS {
        assert!(page.contains(&format!("| `cargo weft {command}")), "no `{command}`");
        let help = folder.weft(&format!("{command} -h")).exits(0).out;
        let listed = help.lines().filter(|line| line.trim_start().starts_with('-'));
        known.extend(options(&listed.collect::<Vec<_>>().join("\n")));
    }
    let rows: String = page.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(options(&rows), known);
    let help = folder.weft("--help").exits(0).out;
    let (_, commands) = help.split_once("Commands:\n").expect("there are commands");
    let named = commands.lines().take_while(|line| line.starts_with("  "));
    let first: BTreeSet<&str> = named.filter_map(|line| line.split_whitespace().next()).collect();
    let expected = COMMANDS.iter().filter_map(|own| own.split(' ').next()).chain(["help"]);
    assert_eq!(first, expected.collect());
}

#[test]
fn what_is_named_and_not_there_is_nothing_to_check() {
    let folder = package("not-there", CLEAN).with("weft.toml", "[default]\nblock = 64\n");
    let folder = folder.with("own.ptx", CLEAN);
    let launches = "--launch no-such --config weft.toml";
    for command in [
        "test no-such",
        "-- no-such",
        "list no-such",
        "test --kernel no-such",
        "list --kernel no-such",
        "check own.ptx --kernel no-such",
        "mutate --kernel no-such",
        "repair --kernel no-such",
        "report --kernel no-such",
        "graph --kernel no-such",
        "graph own.ptx --kernel no-such",
        &format!("graph own.ptx {launches}"),
        "graph own.ptx --finding 9",
        "test -p no-such",
        "init -p no-such",
        "doctor -p no-such",
        "baseline -p no-such",
        "graph -p no-such",
    ] {
        let run = folder.weft(command).exits(4);
        assert!(run.err.contains("error: no ") || run.err.contains("there is no "), "{run:#?}");
    }
    // A file that cannot be read might have it.
    folder.weft("graph own.ptx none.ptx --kernel no-such").exits(101);
    folder.weft("check own.ptx none.ptx --kernel no-such").exits(101);
    let rows = page();
    let row = rows.lines().find(|line| line.starts_with("| 4 |")).expect("there is a row");
    for word in ["package", "kernel", "launch", "finding"] {
        assert!(row.contains(word), "{row}");
    }
}

#[test]
fn options_of_launches_are_told_apart_from_those_that_are_spelled_alike() {
    let folder = Folder::new("launch-options");
    for words in [
        "--block 256",
        "--grid=4",
        "test --arg n=1",
        "list --require n<4",
        "init --block 1",
        "--shared 1",
    ] {
        let run = folder.weft(words).exits(2).complains("states a launch: state it in weft.toml");
        assert!(
            run.err.contains("`cargo weft check FILE.ptx`") && !run.err.contains("similar"),
            "{run:#?}"
        );
    }
    folder.weft("--locke").exits(2).complains("--locked");
}

#[test]
fn a_name_of_a_kernel_is_no_file() {
    let folder = Folder::new("name-as-file").with("own.ptx", CLEAN);
    for command in ["graph own_slot", "repair own_slot", "check own_slot"] {
        folder.weft(command).exits(101).complains("with `--kernel own_slot`");
    }
    for path in ["none.ptx", "kernels/none", "./own_slot.ptx"] {
        let run = folder.weft(&format!("check {path}")).exits(101);
        assert!(!run.err.contains("--kernel"), "{run:#?}");
    }
}

#[test]
fn the_page_has_every_variable() {
    let folder = Folder::new("variables");
    let text: String =
        COMMANDS.iter().map(|own| folder.weft(&format!("{own} --help")).out).collect();
    let variables = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_ascii_uppercase() && c != '_');
        words.filter(|word| word.starts_with("WEFT_")).map(str::to_owned).collect()
    };
    assert_eq!(variables(&page()), variables(&text));
}

#[test]
fn shards_are_a_partition() {
    let folder = pair("shards");
    let listed = |arguments: &str| {
        let run = folder.weft(&format!("list {arguments}")).exits(0);
        run.out.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let whole: BTreeSet<String> = listed("").into_iter().collect();
    for kind in ["hash", "count"] {
        let shards: Vec<_> =
            (1..=5).map(|shard| listed(&format!("--partition {kind}:{shard}/5"))).collect();
        assert_eq!(shards.iter().map(Vec::len).sum::<usize>(), whole.len());
        assert_eq!(shards.into_iter().flatten().collect::<BTreeSet<_>>(), whole);
    }
    // What is left out moves nothing: the shard of a name is its own.
    for shard in 1..=2 {
        let of_all = listed(&format!("--partition hash:{shard}/2"));
        let of_own = listed(&format!("own --partition hash:{shard}/2"));
        let own = of_all.into_iter().filter(|line| line.contains("own_slot"));
        assert_eq!(of_own, own.collect::<Vec<_>>());
    }
    let empty = folder.weft("test --partition count:5/5").exits(0);
    assert!(empty.err.contains("shard 5 of 5 has 0 of 3 kernels and launches"), "{empty:#?}");
    folder.weft("test --partition hash:6/5").exits(2).complains("such as `hash:1/4`");
}

#[test]
fn a_shard_does_not_report_an_allow_of_another() {
    let config = "[default]\nblock = 64\n[[kernel]]\nname = 'race'\nallow = [{ code = 'shared-race', reason = 'r' }]\n";
    let folder = pair("shard-allow").with("weft.toml", config);
    for shard in 1..=2 {
        folder.weft(&format!("test --partition count:{shard}/2")).exits(0);
    }
}

#[test]
fn a_flag_overrides_its_variable_and_an_empty_one_is_none() {
    let folder = Folder::new("precedence").with("own.ptx", CLEAN);
    let check = ["check", "own.ptx", "--block", "64", "--grid", "1"];
    let short = with(&folder, ("WEFT_MESSAGE_FORMAT", "short"), &check).exits(0);
    let human = with(&folder, ("WEFT_MESSAGE_FORMAT", ""), &check).exits(0);
    assert!(short.out.starts_with("weft: 1 clean") && human.out.starts_with("clean "));
    let both = [&check[..], &["--message-format", "human"]].concat();
    assert_eq!(with(&folder, ("WEFT_MESSAGE_FORMAT", "short"), &both).out, human.out);
    let wrong = with(&folder, ("WEFT_MESSAGE_FORMAT", "long"), &check).exits(2);
    wrong.complains("the value of the variable WEFT_MESSAGE_FORMAT");
    let of_flag = [&check[..], &["--message-format=long"]].concat();
    let wrong = with(&folder, ("WEFT_MESSAGE_FORMAT", "short"), &of_flag).exits(2);
    assert!(!wrong.err.contains("variable"), "{wrong:#?}");
    with(&folder, ("WEFT_SOLVER", "/no/such/solver"), &check).exits(2);
    // Variables of packages are no contradiction to files.
    with(&folder, ("WEFT_JOBS", "1"), &["report", "own.ptx", "--block", "64"]).exits(0);
    let folder = package("precedence-kept", CLEAN).with("weft.toml", "[default]\nblock = 64\n");
    let kept = folder.path().join("target/weft");
    with(&folder, ("WEFT_NO_CACHE", "1"), &["test"]).exits(0);
    assert!(!kept.exists());
    with(&folder, ("WEFT_PARTITION", "count:2/2"), &["list"]).exits(0).complains("0 of 1");
    with(&folder, ("WEFT_NO_CACHE", "off"), &["test"]).exits(0);
    assert!(kept.exists());
}

#[test]
fn build_flags_reach_the_build_script() {
    let build = r#"fn main() {
    let out = std::path::PathBuf::from(std::env::var_os("OUT_DIR").unwrap());
    let names = ["PROFILE", "TARGET", "NUM_JOBS"].map(|name| std::env::var(name).unwrap());
    std::fs::write(out.join(format!("{}.ptx", names.join("-"))), std::fs::read("own.ptx").unwrap()).unwrap();
}
"#;
    let folder = package("flags", "").with("build.rs", build).with("own.ptx", CLEAN);
    let host = Run::of(
        std::process::Command::new("rustc").arg("-vV").output().expect("there is a compiler"),
    );
    let host =
        host.out.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host").to_owned();
    folder.weft("list -j 3").exits(0).says(&format!("::debug-{host}-3.ptx::own_slot"));
    folder.weft("list -r -j 3").exits(0).says(&format!("::release-{host}-3.ptx::"));
    folder.weft("list --profile release -j 2").exits(0).says("::release-");
    folder.weft(&format!("list --target {host} -j 3")).exits(0).says("::debug-");
    folder.weft("list --target-dir elsewhere").exits(0);
    assert!(folder.path().join("elsewhere/debug/build").is_dir());
    folder.weft("list -j 0").exits(2);
    folder.weft("list -r --profile dev").exits(2);
}

#[test]
fn completions_and_manual_pages_are_of_this_command_line() {
    let folder = Folder::new("manual");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        folder.weft(&format!("completions {shell}")).exits(0).says("message-format");
    }
    folder.weft("man").exits(0).says(".TH cargo-weft").says("partition");
    folder.weft("man -o pages/all").exits(0);
    for command in COMMANDS.iter().filter(|own| !own.contains(' ')) {
        let path = folder.path().join(format!("pages/all/cargo-weft-{command}.1"));
        let text = fs::read_to_string(path).expect("each command has a page");
        assert!(text.contains(&format!(".TH cargo-weft-{command} 1")), "{text}");
    }
    let folder = folder.with("file", "");
    folder.weft("man -o file").exits(101).complains("cannot write file");
}

#[test]
fn explain_lists_all_codes() {
    let run = Folder::new("codes").weft("explain").exits(0);
    for code in weft_core::finding::Code::ALL {
        let line = run.out.lines().find(|line| line.starts_with(&format!("{code} ")));
        assert!(line.is_some_and(|line| line.ends_with(code.summary())), "{code}");
    }
    assert_eq!(run.out.lines().count(), weft_core::finding::Code::ALL.len());
}

#[test]
fn another_configuration_replaces_that_of_the_package() {
    let folder = pair("configured").with("other.toml", "[default]\nblock = 96\n");
    let run = folder.weft("list own --config other.toml").exits(0);
    run.says("::own_slot  (no grid stated, block 96)");
    folder.weft("test --kernel own --config other.toml").exits(0).says("weft: 1 clean");
    folder.weft("test --config none.toml").exits(101).complains("none.toml");
    let folder = folder.with("other.toml", "[default]\nblok = 96\n");
    let run = folder.weft("test --config other.toml").exits(101);
    run.complains("other.toml:2:1").complains("`block`");
}

#[test]
fn a_configuration_is_of_one_package() {
    let member = |name: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n")
    };
    let folder = Folder::new("two-members")
        .with("Cargo.toml", "[workspace]\nresolver = '3'\nmembers = ['one', 'two']\n")
        .with("one/Cargo.toml", member("one"))
        .with("one/src/lib.rs", "")
        .with("one/own.ptx", CLEAN)
        .with("two/Cargo.toml", member("two"))
        .with("two/src/lib.rs", "")
        .with("other.toml", "ptx = ['own.ptx']\n[default]\nblock = 64\n");
    let run = folder.weft("test --config other.toml").exits(2);
    run.complains("2 are selected; select one by `-p NAME`");
    folder.weft("test -p one --config other.toml").exits(0).says("1 clean");
}
