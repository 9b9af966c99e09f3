//! Tests with hostile PTX: no file outside the permitted folders is opened, and nothing that is printed contains
//! control sequences.

use std::fs;
use std::time::Instant;

use crate::support::{Folder, RACE, Run};

/// The formats of `check`.
const FORMATS: [&str; 7] = ["human", "short", "json", "sarif", "junit", "github", "rustc"];

/// Returns the racing kernel with a `.loc` that attributes the race to line 1 of the file at `path`.
fn coming_from(path: &str) -> String {
    let at = "    st.shared.u32 [%r3], %r1;";
    RACE.replace(at, &format!("    .loc 1 1 1\n{at}")) + &format!(".file 1 \"{path}\"\n")
}

fn check(folder: &Folder, path: &str) -> Run {
    fs::write(folder.path().join("kernel.ptx"), coming_from(path))
        .expect("the file can be written");
    folder.weft("check kernel.ptx --block 64").exits(100)
}

#[test]
fn sources_are_quoted_from_inside_alone() {
    let folder = Folder::new("sources-inside").with("in/a.cu", "the quoted line\n");
    check(&folder, "in/a.cu").says("the quoted line");
    check(&folder, "in/../in/a.cu").says("the quoted line");
    // A file next to the folder, thus outside of it.
    let beside = folder.path().parent().expect("it lies in a folder").join("beside.cu");
    fs::write(&beside, "a secret line\n").expect("the file can be written");
    for path in ["../beside.cu", &beside.display().to_string(), "in/../../beside.cu"] {
        let run = check(&folder, path);
        assert!(!run.out.contains("a secret line"), "{path}: {run:?}");
    }
    let run = check(&folder, "/etc/passwd");
    assert!(!run.out.contains("root:"), "{run:?}");
}

#[test]
fn hidden_files_are_no_sources() {
    let folder = Folder::new("sources-hidden")
        .with(".env", "KEY=secret\n")
        .with(".git/config", "KEY=secret\n");
    for path in [".env", ".git/config", "./.env"] {
        let run = check(&folder, path);
        assert!(!run.out.contains("secret"), "{path}: {run:?}");
    }
}

#[test]
fn a_huge_source_is_not_quoted() {
    let folder = Folder::new("sources-huge").with("a.cu", "x".repeat(5 << 20));
    let run = check(&folder, "a.cu");
    assert!(!run.out.contains("xxx"), "{} bytes", run.out.len());
}

#[cfg(unix)]
#[test]
fn links_devices_and_pipes_are_not_followed() {
    let folder = Folder::new("sources-links");
    let beside = folder.path().parent().expect("it lies in a folder").join("linked.cu");
    fs::write(&beside, "a secret line\n").expect("the file can be written");
    let link = |from: &std::path::Path, to: &str| {
        std::os::unix::fs::symlink(from, folder.path().join(to)).expect("links can be made");
    };
    link(&beside, "link.cu");
    link(std::path::Path::new("/dev/zero"), "zero.cu");
    link(beside.parent().expect("it lies in a folder"), "out");
    let pipe = std::process::Command::new("mkfifo").arg(folder.path().join("pipe.cu")).status();
    assert!(pipe.is_ok_and(|status| status.success()), "mkfifo is there");
    let start = Instant::now();
    for path in ["link.cu", "zero.cu", "out/linked.cu", "pipe.cu", "/dev/zero", "/dev/stdin"] {
        let run = check(&folder, path);
        assert!(!run.out.contains("a secret line"), "{path}: {run:?}");
    }
    assert!(start.elapsed().as_secs() < 60);
}

#[cfg(unix)]
#[test]
fn a_device_is_no_ptx() {
    let folder = Folder::new("device");
    folder.weft("check /dev/zero").exits(101).complains("/dev/zero: cannot be read");
}

#[test]
fn what_is_printed_stays_text() {
    let folder = Folder::new("escapes");
    let path = "a\u{1b}[31m\u{7}\u{202e}\u{2066}\u{9b}b.cu";
    // The contents of a source file are printed too.
    let folder = folder.with("plain.cu", "\u{1b}]0;title\u{7}\u{202e}st\u{0}\n");
    for path in [path, "plain.cu"] {
        let run = check(&folder, path);
        for format in FORMATS {
            let run =
                folder.weft(&format!("check kernel.ptx --block 64 --message-format {format}"));
            assert_text(&run.out);
            assert_text(&run.err);
        }
        assert_text(&run.out);
    }
    // Error messages quote the text that they are about.
    fs::write(folder.path().join("kernel.ptx"), coming_from("nul\0.cu")).expect("likewise");
    assert_text(&folder.weft("check kernel.ptx --block 64").exits(101).err);
    let broken = RACE.replace("mov.u32 %r3, slots;", "mov.u32 %r3, \"\u{1b}[2J\u{202e}\";");
    fs::write(folder.path().join("kernel.ptx"), broken).expect("the file can be written");
    assert_text(&folder.weft("check kernel.ptx --block 64").exits(101).err);
}

#[cfg(unix)]
#[test]
fn file_names_stay_text() {
    let name = "k\u{1b}[31m\n\u{202e}.ptx";
    let folder = Folder::new("names").with(name, RACE);
    for format in FORMATS {
        let run = folder.weft_with(&["check", name, "--block", "64", "--message-format", format]);
        let run = run.exits(100);
        assert_text(&run.out);
        assert_text(&run.err);
    }
    assert_text(&folder.weft_with(&["check", "no\u{1b}[31m\u{202e}.ptx"]).exits(101).err);
}

/// Asserts that the text has no control characters other than line breaks, and no characters that change the direction
/// of writing.
#[track_caller]
fn assert_text(printed: &str) {
    let is_bad = |c: &char| {
        c.is_control() && *c != '\n'
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert_eq!(printed.chars().find(is_bad), None, "{printed:?}");
}
