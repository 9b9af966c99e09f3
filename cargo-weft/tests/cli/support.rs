//! Helpers of the tests: folders of their own, runs of the binary in them, and small kernels.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A clean kernel: every thread writes a slot of its own.
pub(crate) const CLEAN: &str = "\
.version 8.0
.target sm_80
.address_size 64

.visible .entry own_slot()
{
    .reg .b32 %r<4>;
    .shared .align 4 .b8 slots[512];

    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, slots;
    add.s32 %r3, %r3, %r2;
    st.shared.u32 [%r3], %r1;
    ret;
}
";

/// A racing kernel: every thread also reads its neighbour's slot, and nothing orders the read after the write.
pub(crate) const RACE: &str = "\
.version 8.0
.target sm_80
.address_size 64

.visible .entry race_of_neighbours()
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<2>;
    .shared .align 4 .b8 slots[512];

    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, slots;
    add.s32 %r3, %r3, %r2;
    st.shared.u32 [%r3], %r1;
    ld.shared.u32 %r4, [%r3+4];
    ret;
}
";

/// The lines of `RACE` that race.
pub(crate) const RACING: [u64; 2] = [15, 16];

/// The result of a run of the binary.
#[derive(Debug)]
pub(crate) struct Run {
    /// The exit code; `None` if a signal ended the process.
    pub(crate) code: Option<i32>,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

impl Run {
    /// Takes the result from the output of a finished process.
    pub(crate) fn of(Output { status, stdout, stderr }: Output) -> Self {
        Self { code: status.code(), out: text(stdout), err: text(stderr) }
    }

    /// Asserts the exit code, and that nothing panicked.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        assert!(!self.err.contains("panicked"), "{self:#?}");
        self
    }

    /// Asserts that standard error contains `text`.
    #[track_caller]
    pub(crate) fn complains(self, text: &str) -> Self {
        assert!(self.err.contains(text), "no `{text}` in {self:#?}");
        self
    }

    /// Asserts that standard output contains `text`.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.out.contains(text), "no `{text}` in {self:#?}");
        self
    }
}

/// A folder for one test, empty at first.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Creates the folder with this name, which must be unique among the tests.
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(name);
        if path.exists() {
            fs::remove_dir_all(&path).expect("an earlier run's folder can be removed");
        }
        fs::create_dir_all(&path).expect("the test folder can be made");
        Self(path)
    }

    /// Returns the path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file, and creates the folders it lies in.
    pub(crate) fn with(self, name: &str, contents: impl AsRef<[u8]>) -> Self {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("a file lies in a folder"))
            .expect("folders can be made");
        fs::write(path, contents).expect("the file can be written");
        self
    }

    /// Runs `cargo-weft` in this folder with the arguments, which are separated by spaces.
    pub(crate) fn weft(&self, arguments: &str) -> Run {
        self.weft_with(&arguments.split_whitespace().collect::<Vec<_>>())
    }

    /// Runs `cargo-weft` in this folder with these arguments, which can contain spaces.
    pub(crate) fn weft_with(&self, arguments: &[&str]) -> Run {
        Run::of(self.command(arguments).output().expect("the binary starts"))
    }

    /// Returns the command that `weft` runs.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-weft"));
        command.args(arguments).current_dir(&self.0).stdin(Stdio::null());
        // Packages in this folder use a target directory of their own, so that they do not find the surrounding build.
        command.env("CARGO_TARGET_DIR", self.0.join("target")).env("CARGO_NET_OFFLINE", "true");
        // The summary of a job that runs these tests is not theirs.
        command.env_remove("GITHUB_STEP_SUMMARY");
        command
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("the output is UTF-8")
}
