//! Runs a scenario of `tests/host` with the stand-in in front, and reads its record.

#![allow(clippy::panic, reason = "a test that cannot run says why")]
#![allow(dead_code, reason = "each of the tests that share this uses a part of it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// What a scenario left.
#[derive(Debug)]
pub(crate) struct Recorded {
    /// Folder of the record.
    pub(crate) folder: PathBuf,
    /// How the program ended, and what it printed.
    pub(crate) output: Output,
    program: HostProgram,
    _root: TempDir,
}

/// A program of `tests/host`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum HostProgram {
    /// `scenarios.c`, linked to the driver.
    Driver,
    /// `runtime.c`, linked to a major version of the runtime library.
    Runtime(u32),
    /// The same, linked to what a linker finds in place of the static runtime library.
    StaticRuntime,
    /// One of `tests/clients`, a package of its own.
    Client(&'static str),
}

impl HostProgram {
    fn name(self) -> &'static str {
        match self {
            HostProgram::Driver => "scenarios",
            HostProgram::Runtime(_) | HostProgram::StaticRuntime => "runtime",
            HostProgram::Client(name) => name,
        }
    }
}

/// Returns the C compiler.
fn compiler(root: &Path) -> Command {
    let rustc = Command::new("rustc").arg("-vV").output().expect("`rustc -vV` runs");
    let text = String::from_utf8_lossy(&rustc.stdout).into_owned();
    let host = text
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .expect("`rustc -vV` names its host");
    let compiler = cc::Build::new()
        .target(host)
        .host(host)
        .opt_level(1)
        .out_dir(root)
        .cargo_metadata(false)
        .try_get_compiler()
        .unwrap_or_else(|error| {
            panic!("this test needs a C compiler, such as gcc, or CC that names one: {error}")
        });
    compiler.to_command()
}

fn succeed(command: &mut Command) {
    let output = command.output().expect("the compiler runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Makes a library such as NVIDIA's to link to, in a folder of its own: its name, and functions of the version of this name that do
/// nothing.
fn runtime_to_link(root: &Path, major: u32) -> PathBuf {
    let folder = root.join("link");
    fs::create_dir(&folder).expect("a new folder");
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/host/runtime.h");
    let header = fs::read_to_string(header).expect("the header is there");
    let functions = header.lines().filter_map(|line| {
        let (before, _) = line.split_once('(')?;
        let name = before.rsplit([' ', '*']).next()?;
        (name.starts_with("cuda") || name.starts_with("__cuda")).then_some(name)
    });
    let bodies: Vec<String> = functions.map(|name| format!("void {name}(void) {{}}\n")).collect();
    assert!(bodies.len() > 50, "the functions of the header are found");
    let name =
        if major == 11 { "libcudart.so.11.0".to_owned() } else { format!("libcudart.so.{major}") };
    let (source, versions) = (folder.join("empty.c"), folder.join("versions"));
    fs::write(&source, bodies.concat()).expect("the folder can be written");
    fs::write(&versions, format!("{name} {{ global: *; }};")).expect("the folder can be written");
    succeed(
        compiler(root)
            .args(["-shared", "-fPIC", "-w", "-fno-builtin"])
            .arg(source)
            .arg(format!("-Wl,-soname,{name}"))
            .arg(format!("-Wl,--version-script={}", versions.display()))
            .arg("-o")
            .arg(folder.join("libcudart.so")),
    );
    folder
}

/// Builds the package of clients, and returns the path of one of them. It has what it depends on of its own, which is there already: tests
/// need no network.
fn client(name: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients");
    // What cust looks for, as it looks for an installation of CUDA.
    let toolkit = target.join("toolkit");
    weft_driver::install(&toolkit.join("lib64")).expect("the library can be written");
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/Cargo.toml");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--locked", "--offline", "--manifest-path"]).arg(&manifest);
    command.arg("--target-dir").arg(&target).env("CUDA_LIBRARY_PATH", &toolkit);
    let output = command.output().expect("cargo starts");
    assert!(
        output.status.success(),
        "`cargo fetch --manifest-path driver/tests/clients/Cargo.toml` gets what the clients need\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    target.join("debug").join(name)
}

/// A folder with the library, and the program that is linked to it.
fn build(root: &Path, program: HostProgram) -> PathBuf {
    let library = root.join("lib");
    weft_driver::install(&library).expect("the library can be written");
    let (folder, name) = match program {
        HostProgram::Driver => (library, "-lcuda"),
        HostProgram::Client(name) => return client(name),
        HostProgram::StaticRuntime => (library, "-lcudart_static"),
        HostProgram::Runtime(major) => (runtime_to_link(root, major), "-lcudart"),
    };
    let path = root.join(program.name());
    let source = format!("tests/host/{}.c", program.name());
    succeed(
        compiler(root)
            .args(["-std=gnu11", "-Wall", "-Werror", "-pthread"])
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(source))
            .arg("-o")
            .arg(&path)
            .arg(format!("-L{}", folder.display()))
            .args([name, "-ldl"]),
    );
    path
}

/// Runs a scenario of the program for the driver; `change` sets its environment.
pub(crate) fn run(scenario: &str, change: impl FnOnce(&mut Command)) -> Recorded {
    run_program(HostProgram::Driver, scenario, change)
}

/// Runs a scenario of a program; `change` sets its environment.
pub(crate) fn run_program(
    program: HostProgram,
    scenario: &str,
    change: impl FnOnce(&mut Command),
) -> Recorded {
    let root = tempfile::tempdir().expect("a temporary folder");
    let path = build(root.path(), program);
    let folder = root.path().join("record");
    let mut command = Command::new(path);
    command.arg(scenario).env("LD_LIBRARY_PATH", root.path().join("lib"));
    command
        .env_remove("WEFT_RECORD_DEVICE")
        .env_remove("WEFT_RECORD_CONTENTS")
        .env("WEFT_RECORD", &folder);
    change(&mut command);
    let output = command.output().expect("the program runs");
    Recorded { folder, output, program, _root: root }
}

/// Runs a scenario that has to end well, as it is.
pub(crate) fn record(scenario: &str) -> Recorded {
    let recorded = run(scenario, |_| {});
    recorded.assert_success();
    recorded
}

impl Recorded {
    /// Checks that the program ended well and printed nothing.
    pub(crate) fn assert_success(&self) {
        let errors = String::from_utf8_lossy(&self.output.stderr);
        assert!(self.output.status.success(), "{}: {errors}", self.output.status);
        assert_eq!(errors, "");
    }

    /// Returns the lines of each process, by the name of its file.
    pub(crate) fn processes(&self) -> BTreeMap<String, Vec<String>> {
        let files = fs::read_dir(self.folder.join("launches")).expect("launches were recorded");
        let lines = |path: &Path| {
            let text = fs::read_to_string(path).expect("records are text");
            assert!(text.ends_with('\n'), "the last line is whole: {text:?}");
            text.lines().map(str::to_owned).collect()
        };
        let files = files.map(|file| file.expect("the folder can be read").path());
        files
            .map(|path| {
                (path.file_name().unwrap_or_default().to_string_lossy().into_owned(), lines(&path))
            })
            .collect()
    }

    /// Returns the lines of the only process behind the one that says what it is, which is checked.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut processes = self.processes();
        assert_eq!(processes.len(), 1, "{processes:?}");
        let (_, mut lines) = processes.pop_first().expect("one process");
        let first: serde_json::Value =
            serde_json::from_str(&lines.remove(0)).expect("a line is JSON");
        assert_eq!(first["record"], "process");
        assert_eq!(first["version"], 3);
        assert!(
            first["command"][0].as_str().is_some_and(|path| path.ends_with(self.program.name())),
            "{first}"
        );
        lines
    }

    /// Checks the lines of kinds but `module`. In the expected ones, `$module` is the name of the one module, and `$NAME` of a text
    /// of contents, which has to be in the record.
    pub(crate) fn assert_lines(&self, contents: &[(&str, &str)], expected: &[&str]) {
        let lines: Vec<_> = self
            .lines()
            .into_iter()
            .filter(|line| !line.starts_with(r#"{"record":"module""#))
            .collect();
        let modules = self.files("modules");
        let mut names: Vec<(String, String)> = Vec::new();
        if let Some(module) = modules.first() {
            names.push(("$module".to_owned(), module.trim_end_matches(".ptx").to_owned()));
        }
        for (name, text) in contents {
            let hash = name_of_contents(text);
            let file = self.folder.join("contents").join(format!("{hash}.hex"));
            let kept = fs::read_to_string(&file).unwrap_or_else(|error| {
                panic!("{name}, {text:?}: {error}; there are {:?}", self.texts("contents"))
            });
            assert_eq!(kept, *text);
            names.push((format!("${name}"), hash));
        }
        let whole = |line: &&str| {
            names.iter().fold((*line).to_owned(), |line, (name, hash)| line.replace(name, hash))
        };
        let expected: Vec<_> = expected.iter().map(whole).collect();
        for (line, expected) in lines.iter().zip(&expected) {
            assert_eq!(line, expected);
        }
        assert_eq!(lines.len(), expected.len(), "{lines:#?}");
        assert_eq!(self.files("contents").len(), contents.len(), "{:?}", self.texts("contents"));
    }

    /// Checks the lines of kinds but `module`. In the expected ones, `$module` is the name of the module that was loaded as this one,
    /// counted from 0.
    pub(crate) fn assert_module_lines(&self, at: usize, expected: &[&str]) {
        let (modules, lines): (Vec<_>, Vec<_>) =
            self.lines().into_iter().partition(|line| line.starts_with(r#"{"record":"module""#));
        let module: serde_json::Value = serde_json::from_str(&modules[at]).expect("a line is JSON");
        let name = module["hash"].as_str().expect("the module is kept");
        for (line, expected) in lines.iter().zip(expected) {
            assert_eq!(line, &expected.replace("$module", name));
        }
        assert_eq!(lines.len(), expected.len(), "{lines:#?}");
    }

    /// Returns the names of the files in a folder of the record, in order. The name of each is checked: it is the hash of what it says.
    pub(crate) fn files(&self, folder: &str) -> Vec<String> {
        let path = self.folder.join(folder);
        let Ok(files) = fs::read_dir(&path) else { return Vec::new() };
        let name = |file: fs::DirEntry| file.file_name().to_string_lossy().into_owned();
        let mut names: Vec<_> =
            files.map(|file| name(file.expect("the folder can be read"))).collect();
        names.sort();
        for name in &names {
            let text = fs::read_to_string(path.join(name)).expect("the file can be read");
            let is_contents = folder == "contents";
            let hash = if is_contents { name_of_contents(&text) } else { name_of(text.as_bytes()) };
            assert_eq!(name.split('.').next(), Some(hash.as_str()));
        }
        names
    }

    fn texts(&self, folder: &str) -> Vec<String> {
        let text = |name: String| {
            fs::read_to_string(self.folder.join(folder).join(name)).unwrap_or_default()
        };
        self.files(folder).into_iter().map(text).collect()
    }
}

/// FNV-1a of 128 bits, once more and in another way than in the stand-in: the prime is 2^88 + 2^8 + 0x3b.
pub(crate) fn name_of(bytes: &[u8]) -> String {
    let mut hash = 144_066_263_297_769_815_596_495_629_667_062_367_629_u128;
    for byte in bytes {
        hash ^= u128::from(*byte);
        hash = (hash << 88).wrapping_add(hash << 8).wrapping_add(hash.wrapping_mul(0x3b));
    }
    format!("{hash:032x}")
}

/// The hash of contents that a file of this text has, once more and in another way than in the stand-in: the words are those of the bytes,
/// a last one filled with zeros, the number of bytes, and the ends of the ranges that are known.
pub(crate) fn name_of_contents(text: &str) -> String {
    let digits: String = text.split_ascii_whitespace().collect();
    let pairs: Vec<&str> = (0..digits.len() / 2).map(|at| &digits[at * 2..at * 2 + 2]).collect();
    let size = pairs.len() as u64;
    let mut words = vec![0_u64; pairs.len() / 8 + 1];
    let mut ends = Vec::new();
    let mut was_known = false;
    for (at, pair) in pairs.iter().enumerate() {
        let byte = u64::from_str_radix(pair, 16);
        if byte.is_ok() != was_known {
            ends.push(at as u64);
            was_known = byte.is_ok();
        }
        words[at / 8] |= byte.unwrap_or(0) << (at % 8 * 8);
    }
    ends.extend(was_known.then_some(size));
    let mut hash = 144_066_263_297_769_815_596_495_629_667_062_367_629_u128;
    for word in words.into_iter().chain([size]).chain(ends) {
        let product = (hash ^ u128::from(word))
            .wrapping_mul(47_026_247_687_942_121_848_144_207_491_837_523_525);
        hash = product.rotate_left(64);
    }
    format!("{hash:032x}")
}
