//! Time and memory of `cargo weft check` on a generated warp-specialised kernel, whole process, as its loop grows.
//!
//! Ten warps: two fill two buffers of shared memory in turn, eight read them; each round passes four generations of
//! named barriers. `cargo bench -p cargo-weft --bench streaming` prints a row for each number of rounds; peak memory
//! must stay the same from row to row, and time must follow the number of commands. Memory is read from `/proc`, so it
//! is shown on Linux only.

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Loop rounds of each row: doubled each time.
const ROUNDS: [u32; 5] = [500, 1000, 2000, 4000, 8000];
const THREADS: u32 = 320;

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "rounds  thread commands  generations  seconds  peak MB")?;
    for rounds in ROUNDS {
        let run = check(rounds)?;
        let peak =
            run.peak_kb.map_or("?".to_owned(), |kb| format!("{:.1}", f64::from(kb) / 1024.0));
        let seconds = run.time.as_secs_f64();
        writeln!(
            out,
            "{rounds:>6}  {:>15}  {:>11}  {seconds:>7.3}  {peak:>7}",
            run.commands, run.generations
        )?;
    }
    Ok(())
}

struct Run {
    time: Duration,
    peak_kb: Option<u32>,
    commands: u64,
    generations: u64,
}

fn check(rounds: u32) -> Result<Run, Box<dyn Error>> {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("pipeline-{rounds}.ptx"));
    std::fs::write(&path, kernel(rounds)?)?;
    let start = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_cargo-weft"))
        .args(["check", "--message-format", "json"])
        .arg(&path)
        .stdout(Stdio::piped())
        .spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak_kb = None;
    while child.try_wait()?.is_none() {
        peak_kb = std::fs::read_to_string(&status)
            .ok()
            .and_then(|status| high_water(&status))
            .or(peak_kb);
        std::thread::sleep(Duration::from_millis(1));
    }
    let time = start.elapsed();
    let output = child.wait_with_output()?;
    let line: serde_json::Value =
        serde_json::from_slice(output.stdout.split(|byte| *byte == b'\n').next().unwrap_or(b""))?;
    if line["verdict"] != "clean" {
        return Err(format!("the kernel is clean, but: {line}").into());
    }
    let stat = |name: &str| line["stats"][name].as_u64().ok_or("no such figure");
    Ok(Run { time, peak_kb, commands: stat("thread_commands")?, generations: stat("generations")? })
}

/// The most memory that a process has had, in KiB.
fn high_water(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// Two warps write four words a thread and round, eight warps read one each of the 256.
fn kernel(rounds: u32) -> Result<String, std::fmt::Error> {
    let mut text = String::from(
        ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry pipeline()\n.maxntid 320, 1, 1\n{\n",
    );
    text.push_str(
        "    .reg .pred %producer, %again;\n    .reg .b32 %thread, %lane, %slot, %from, %round, %full, %empty, %half, %x;\n    \
         .shared .align 16 .b8 tile[2048];\n    mov.u32 %thread, %tid.x;\n    mov.u32 %round, 0;\n    \
         setp.ge.u32 %producer, %thread, 256;\n    @%producer bra PRODUCE;\n",
    );
    // Buffer 0 uses barriers 1 (full) and 3 (empty), buffer 1 uses 2 and 4.
    let names = "    and.b32 %half, %round, 1;\n    add.u32 %full, %half, 1;\n    add.u32 %empty, %half, 3;\n    \
                 shl.b32 %half, %half, 10;\n";
    let again = |label: &str| {
        format!(
            "    add.u32 %round, %round, 1;\n    setp.lt.u32 %again, %round, {rounds};\n    @%again bra {label};\n"
        )
    };
    write!(
        text,
        "CONSUME:\n{names}    bar.sync %full, {THREADS};\n    shl.b32 %slot, %thread, 2;\n    add.u32 %slot, %slot, \
         %half;\n    mov.u32 %x, tile;\n    add.u32 %slot, %slot, %x;\n    ld.shared.u32 %x, [%slot];\n    bar.arrive \
         %empty, {THREADS};\n{}    bra.uni DONE;\n",
        again("CONSUME")
    )?;
    write!(
        text,
        "PRODUCE:\n{names}    setp.lt.u32 %producer, %round, 2;\n    @%producer bra FILL;\n    bar.sync %empty, \
         {THREADS};\nFILL:\n    sub.u32 %lane, %thread, 256;\n    shl.b32 %from, %lane, 2;\n    add.u32 %from, %from, \
         %half;\n    mov.u32 %x, tile;\n    add.u32 %from, %from, %x;\n    st.shared.u32 [%from], %round;\n    \
         st.shared.u32 [%from+256], %round;\n    st.shared.u32 [%from+512], %round;\n    st.shared.u32 [%from+768], \
         %round;\n    bar.arrive %full, {THREADS};\n{}",
        again("PRODUCE")
    )?;
    text.push_str("DONE:\n    ret;\n}\n");
    Ok(text)
}
