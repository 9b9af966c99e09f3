//! The host's side of the comparison: compiles a file of operations with the C compiler and runs it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{COUNT, OPERANDS, folder};

/// The results of an operation for every set of operands; `None` where the manual leaves the result open.
#[derive(Debug)]
pub(crate) struct Operation {
    group: String,
    pub(crate) name: String,
    pub(crate) results: Vec<Option<u64>>,
}

/// Returns the target triple of the host, which the `cc` crate needs.
fn target() -> String {
    let output = Command::new("rustc").arg("-vV").output().expect("`rustc -vV` runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.expect("`rustc -vV` names its host").to_owned()
}

/// Compiles a file and returns the path of the program.
pub(crate) fn compile(file: &str) -> PathBuf {
    let (target, out) = (target(), Path::new(env!("CARGO_TARGET_TMPDIR")));
    let compiler = cc::Build::new()
        .target(&target)
        .host(&target)
        .opt_level(1)
        .out_dir(out)
        .cargo_metadata(false)
        .try_get_compiler()
        .unwrap_or_else(|error| {
            panic!(
                "this test needs a C compiler, such as gcc or clang, or CC that names one: {error}"
            )
        });
    let program = out.join(format!("differential-{file}{}", std::env::consts::EXE_SUFFIX));
    let output = compiler
        .to_command()
        // Arithmetic as written: no contraction, the current rounding mode, wrapping integers.
        .args(["-std=gnu11", "-ffp-contract=off", "-frounding-math", "-fwrapv", "-w"])
        .arg(folder().join(file).with_extension("c"))
        .arg("-o")
        .arg(&program)
        .arg("-lm")
        .output()
        .unwrap_or_else(|error| {
            panic!("this test needs a C compiler; `{}`: {error}", compiler.path().display())
        });
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", compiler.path().display());
    program
}

/// Runs a program on these operands and returns the results of its operations.
pub(crate) fn run(program: &Path, samples: &[[u64; OPERANDS]]) -> Vec<Operation> {
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program that was compiled runs");
    let words: Vec<String> = samples.iter().flatten().map(|word| format!("{word:x}")).collect();
    // The program reads all of its input before it writes.
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    stdin.write_all(words.join("\n").as_bytes()).expect("the program reads its operands");
    drop(stdin);
    let output = child.wait_with_output().expect("the program ends");
    assert!(output.status.success(), "{} failed", program.display());
    let text = String::from_utf8(output.stdout).expect("the program writes text");
    text.lines().filter(|line| !line.is_empty()).map(operation).collect()
}

fn operation(line: &str) -> Operation {
    let mut parts = line.split('\t');
    let mut part = || parts.next().expect("group, name and results").to_owned();
    let (group, name, results) = (part(), part(), part());
    let results: Vec<_> = results
        .split_whitespace()
        .map(|word| (word != "-").then(|| u64::from_str_radix(word, 16).expect("hexadecimal")))
        .collect();
    assert_eq!(results.len(), COUNT, "{name} has a result for each thread");
    Operation { group, name, results }
}

/// Returns the operations of each group, in order.
pub(crate) fn groups(operations: &[Operation]) -> impl Iterator<Item = (&str, &[Operation])> {
    operations
        .chunk_by(|one, next| one.group == next.group)
        .map(|chunk| (chunk[0].group.as_str(), chunk))
}
