//! Tests with an unusual environment: signals, full disks, closed streams, odd paths, a missing cargo.

use std::process::Command;
#[cfg(unix)]
use std::process::Stdio;

use crate::packages::package;
use crate::support::{CLEAN, Folder, Run};

const BLOCK: &str = "[default]\nblock = 64\n";
const GOOD: &str = "weft: 1 clean, 0 defect, 0 open";

fn run(command: &mut Command) -> Run {
    Run::of(command.output().expect("the binary starts"))
}

#[test]
fn a_missing_cargo_or_package_is_said() {
    let folder = Folder::new("no-package");
    let absent = run(folder.command(&[]).env("CARGO", "/nowhere/cargo")).exits(101);
    absent.complains("cannot start `/nowhere/cargo`").complains("install cargo");
    // Without this manifest, cargo would find this repository's in a parent folder.
    let folder = folder.with("Cargo.toml", "[package]\nname = 3\n");
    let wrong = folder.weft("").exits(101);
    assert_eq!(wrong.err.matches("error").count(), 1, "{wrong:#?}");
    wrong.complains("error: cargo cannot read the workspace: invalid type");
    folder.weft("--manifest-path .").exits(101).complains("is a directory");
}

#[test]
fn a_build_ends_where_the_target_folder_cannot_be_written() {
    let folder = package("read-only", CLEAN).with("weft.toml", BLOCK).with("file", "");
    let target = folder.path().join("file/target");
    let run = run(folder.command(&[]).env("CARGO_TARGET_DIR", target)).exits(101);
    run.complains("the build of read-only failed").says("1 could not be checked");
}

#[test]
fn the_target_folder_may_be_relative_and_the_environment_small() {
    let folder = package("small", CLEAN).with("weft.toml", BLOCK);
    let mut command = folder.command(&["-q"]);
    let kept = ["PATH", "CARGO", "RUSTUP_HOME", "CARGO_HOME", "RUSTUP_TOOLCHAIN"];
    command
        .env_clear()
        .envs(std::env::vars_os().filter(|(name, _)| kept.iter().any(|k| name == k)));
    command.env("CARGO_TARGET_DIR", "a target").env("CARGO_NET_OFFLINE", "true");
    run(command.current_dir(folder.path().join("src"))).exits(0).says(GOOD);
    assert!(folder.path().join("src/a target/debug").is_dir());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let folder = Folder::new("full").with("clean.ptx", CLEAN);
    let full = || std::fs::File::options().write(true).open("/dev/full").expect("Linux has one");
    let arguments = ["check", "clean.ptx", "--block", "64"];
    let run = run(folder.command(&arguments).stdout(full())).exits(101);
    run.complains("cannot write the results");
    // The exit code gives the verdict although the reason cannot be printed.
    let status = folder.command(&["check", "absent.ptx"]).stderr(full()).status();
    assert_eq!(status.expect("the binary starts").code(), Some(101));
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_not_waited_for() {
    use std::os::unix::fs::symlink;

    let folder =
        package("pipes", CLEAN).with("weft.toml", "ptx = [\"**/*.ptx\"]\n".to_owned() + BLOCK);
    let path = folder.path();
    let made = Command::new("mkfifo").arg(path.join("pipe.ptx")).status();
    assert!(made.expect("every Unix has mkfifo").success());
    // A cycle of two links has arbitrarily many paths through it.
    symlink(".", path.join("src/here")).unwrap();
    symlink("..", path.join("src/up")).unwrap();
    symlink("nowhere", path.join("dangling.ptx")).unwrap();
    let run = folder.weft("").exits(101);
    run.complains("pipe.ptx: cannot be read: it is not a regular file")
        .complains("dangling.ptx: cannot be read")
        .says("weft: 1 clean, 0 defect, 0 open, 2 could not be checked");
    let device = folder.weft("check /dev/zero").exits(101);
    device.complains("it is a device, not a file");
}

#[cfg(target_os = "linux")]
#[test]
fn paths_need_not_be_utf_8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let folder = Folder::new("latin");
    let name = OsStr::from_bytes(b"caf\xe9.ptx");
    std::fs::write(folder.path().join(name), CLEAN).unwrap();
    run(folder.command(&["check", "--block", "64"]).arg(name)).exits(0).says(GOOD);
    let package = package("latin-package", CLEAN).with("weft.toml", BLOCK);
    let moved = folder.path().join(OsStr::from_bytes(b"\xe9"));
    std::fs::rename(package.path(), &moved).unwrap();
    let run = run(folder.command(&[]).current_dir(moved)).exits(101);
    run.complains("cargo cannot describe a package whose path is not UTF-8");
}

/// Returns the first signal that ends a process and that this process, and therefore its children, neither ignores nor
/// blocks. (Shells make their background jobs ignore interrupts.)
#[cfg(target_os = "linux")]
fn ending_signal() -> (&'static str, i32) {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has one");
    let mask = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        u64::from_str_radix(line.expect("the kernel tells it").trim(), 16).expect("in hexadecimal")
    };
    let idle = mask("SigIgn:") | mask("SigBlk:");
    let signals = [("INT", 2), ("TERM", 15), ("HUP", 1), ("USR1", 10), ("ALRM", 14)];
    let ends = |(_, number): &(&str, i32)| idle >> (number - 1) & 1 == 0;
    signals.into_iter().find(ends).expect("not all signals are ignored")
}

/// A terminal sends an interrupt to all processes of the foreground group.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_ends_cargo_and_the_build_script_too() {
    use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
    use std::time::{Duration, Instant};

    let wait = "fn main() { std::fs::write(\"started\", \"\").unwrap(); \
                std::thread::sleep(std::time::Duration::from_secs(60)); }";
    let folder = package("interrupted", CLEAN).with("build.rs", wait);
    let mut command = folder.command(&[]);
    let mut child =
        command.stderr(Stdio::piped()).process_group(0).spawn().expect("the binary starts");
    let group = format!("-{}", child.id());
    let send = |signal: &str| {
        let status = Command::new("kill").args(["-s", signal, "--", &group]).status();
        assert!(status.expect("every Unix has kill").success());
    };
    let start = Instant::now();
    let within = |limit: u64, is_it: &mut dyn FnMut() -> bool| {
        while !is_it() {
            if start.elapsed() > Duration::from_secs(limit) {
                send("KILL");
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        true
    };
    let started = folder.path().join("started");
    assert!(within(30, &mut || started.exists()), "the build script does not start");
    let (name, number) = ending_signal();
    send(name);
    let mut status = None;
    let has_ended = within(40, &mut || {
        status = child.try_wait().expect("it is a child");
        status.is_some()
    });
    assert!(has_ended, "{name} does not end it");
    assert_eq!(status.and_then(|status| status.signal()), Some(number));
    // Cargo and the build script inherit standard error, so reading it to its end waits until they have ended.
    let mut err = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut err).unwrap();
    assert!(start.elapsed() < Duration::from_secs(40), "{err}");
    assert!(!err.contains("panicked"), "{err}");
}
