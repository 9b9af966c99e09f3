//! The record: what a process launched, as files that anyone can read.
//!
//! # The record (version 3)
//!
//! A folder, named by `WEFT_RECORD`. `modules/HASH.ptx` is the PTX text of one module; `contents/HASH.hex` the contents of an
//! allocation; `launches/PID-START.jsonl`, one file a process, has one JSON object a line, appended with a single `write` of the
//! whole line at each event, so that a process that aborts loses nothing. When the program
//! has ended, `cargo weft record` names these files by the hash of their text. Of `command`, words that are paths below `WEFT_RECORD_ROOT` are
//! relative to that. HASH is 32 hexadecimal digits: of a module, FNV-1a of
//! 128 bits of the bytes of the PTX; of contents, the hash of `hash.rs` of their bytes, zeros where they are not known, and of the ranges that are
//! known. Files in `modules/` and `contents/` are written under a temporary name, which starts with a
//! point, and renamed.
//!
//! Every object has `"record"`, its kind. A line that a process has written is not written again: launches are kept once by
//! content. Fields that readers do not know are to be skipped. The first line of a file states the version;
//! readers refuse others.
//! `sources/HASH.txt`, by the hash of a module, is written by `cargo weft record` when the program has ended: a line for each source file below the
//! folder of the workspace that the PTX names (`.file`), with the hash of its bytes and its path from that folder, `HASH kernels/k.cu`.
//!
//! ```json
//! {"record":"process","version":3,"command":["…argv…"],"device":"sm_90","multiprocessors":132}
//! {"record":"module","hash":"…","kernels":["saxpy"]}
//! {"record":"module","bytes":1234,"reason":"it holds machine code alone"}
//! {"record":"launch","kernel":"saxpy","module":"HASH","grid":[4,1,1],"block":[256,1,1],"cluster":[2,1,1],"shared":0,
//!  "cooperative":false,
//!  "args":[{"bytes":"0000000000000000","pointers":[{"at":0,"allocation":0,"offset":16}]},{"bytes":"e8030000","pointers":[]}],
//!  "allocations":[{"size":4096,"contents":"HASH","pointers":[],"passed":[{"module":"HASH","kernel":"scale","arg":0}],"launched":1}],
//!  "globals":[{"name":"table","allocation":1}]}
//! {"record":"invalid","function":"cuLaunchKernel","error":"CUDA_ERROR_INVALID_VALUE","kernel":"saxpy","reason":"the grid is 0 in x"}
//! {"record":"missing","function":"cuTexRefCreate"}
//! ```
//!
//! - `module` with a hash: the PTX is in `modules/`. Without: nothing is kept, for the reason; `bytes` is its size where that is
//!   known.
//! - `launch`: `module` is `null` where the module is not kept. `cluster` is there if the launch states one.
//!   - `args`: in the order of the kernel's parameters, their bytes as they were given (little-endian), in hexadecimal digits. `pointers` are
//!     words of 8 bytes at `at`, a multiple of 8, that point into a live allocation or one past its end. In `bytes` they are zeros, so that a
//!     record does not depend on addresses. `freed` lists where pointers to memory that was freed are, zeros in `bytes` too; absent where
//!     there are none. `hosts` likewise: where words are addresses of the host's memory, of which the device knows nothing. `args` is `null` where the parameters are not known, with a `reason`.
//!     `maps` are tensor maps (`CUtensorMap`, 128 bytes, zeros in `bytes` too), absent where there are none: where they are, the memory that they lead
//!     into, `allocation` and `offset` or neither if that is not live, and the parameters of the call that made them, under names of ours:
//!     `mode` (`tiled`, `im2col`, `im2col-wide`), `element` (the type as in PTX), `dims`, `strides` in bytes, `box` or the corners
//!     `lower` and `upper` with `channels` and `pixels`, `steps` (of elements), and the numbers `interleave`, `swizzle`, `promotion` and `fill`.
//!   - `after_read`: `true` if the thread had read memory by a call before that a kernel might have changed, so that the launch might rest on values
//!     which are not those of a device. `after_sharing`: `true` if it had given a kernel memory before that the host reads without calls (managed,
//!     pinned, registered), so that it might have read there. Both are absent otherwise. What other threads did is not looked at. The process might
//!     have made the same launch without them: then that is a line of its own, or there is no line of this one.
//!   - `thread`: the name of the thread that made it first, as far as the system keeps it (15 bytes); absent where it is that of the process.
//!   - `allocations`: those that arguments and globals point into, numbered by first use in this launch, then those that known contents of these point
//!     into, through contents that are too large to be kept too. `contents` is absent if nothing is known or the allocation is larger than `WEFT_RECORD_CONTENTS` bytes (64 KiB). `pointers` are
//!     those within its contents, absent where there are none. `behind` says how many bytes it begins behind a multiple of 256; absent
//!     for 0, as that of all memory of the device is.
//!   - `passed`: how kernels of earlier launches reached this allocation since the host overwrote all of it with one call, each once,
//!     sorted; absent where there are none, or no contents. Whether these kernels store there is for the reader to decide: the contents are
//!     those that the host gave. `arg` is the parameter; `{"global":"table"}` stands in its place for a variable of the
//!     module, and `"arg":null` for a launch whose arguments are not known. What another allocation had passed goes with its bytes when it is
//!     copied within the device. Only pointers that the host copied in are followed, not those that kernels make:
//!   - `launched`: a number of kernels, the first of those that launches of this file name with their modules, each counted once. They were launched
//!     before, and at least one launch was made since the host overwrote all of this allocation; absent where there was none, or no contents.
//!     Whether one of them stores through pointers that no argument is, such as those that it finds in memory, is for the reader to decide.
//!   - `globals`: variables of the module that the host has asked for the address of, absent where there are none.
//!   - `host`: `true` for memory that the host uses without calls, so that it might change while a kernel runs; absent for other memory, or where
//!     there are no contents.
//! - `contents/HASH.hex`: two hexadecimal digits a byte, `..` for a byte that nobody copied in or set, 32 bytes a line; pointers
//!   are zeros. Memory that the host uses without calls (managed, pinned, registered) is known as it is at the launch.
//! - `invalid`: a call that the driver refuses. `after_read`, `after_sharing` and `thread` are as those of launches. `kernel` is there if the call is about one.
//! - `missing`: a function that the stand-in does not have was called or, if it has no such symbol, asked for, once each. If it has the
//!   function, but not what was asked of it, the reason stands behind the name: `cuLinkAddData_v2 (links machine code)`.
//!
//! Recording never stops the program: what cannot be written is not, and one line on standard error says so, once.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{env, process};

use crate::device::Device;
use crate::doubt::Doubt;
use crate::hash;
use crate::json::Json;
use crate::lines::LineFile;
use crate::status::{Refusal, Status};

/// Bytes of the largest allocation whose contents are kept, unless the environment says otherwise.
const CONTENTS: u64 = 64 << 10;

/// The record of this process.
#[derive(Debug)]
pub(crate) struct Record {
    /// `None`: nothing is recorded.
    folder: Option<PathBuf>,
    /// Bytes of the largest allocation whose contents are kept.
    pub(crate) bound: u64,
    device: Device,
    file: Option<LineFile>,
    /// The process that the file is of: a forked one has a file of its own.
    pid: u32,
    /// Hashes of the lines that were written.
    lines: HashSet<u128>,
    /// Names of the files that were written.
    stored: HashSet<PathBuf>,
}

impl Record {
    /// Reads the environment.
    pub(crate) fn from_environment(device: Device) -> Self {
        let folder =
            env::var_os("WEFT_RECORD").filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let bound = env::var("WEFT_RECORD_CONTENTS").ok().and_then(|bytes| bytes.parse().ok());
        Record {
            // The program might change its folder.
            folder: folder.map(|folder| std::path::absolute(&folder).unwrap_or(folder)),
            bound: bound.unwrap_or(CONTENTS),
            device,
            file: None,
            pid: 0,
            lines: HashSet::new(),
            stored: HashSet::new(),
        }
    }

    /// Returns whether anything is recorded.
    pub(crate) fn is_on(&self) -> bool {
        self.folder.is_some()
    }

    /// Returns the number of the device's architecture, such as 90.
    pub(crate) fn device(&self) -> u32 {
        self.device.number()
    }

    /// Opens the file of this process, which says that it uses the driver even if it launches nothing.
    pub(crate) fn begin(&mut self) {
        let done = self.opened();
        self.judge(done);
    }

    /// Appends a line, unless this process has written the same before.
    pub(crate) fn line(&mut self, line: &str) {
        if !self.is_on() {
            return;
        }
        let done = self.opened().and_then(|()| self.append(line, line));
        self.judge(done);
    }

    /// Appends the line of a launch, made with this doubt. One that is in doubt is left out if the process has made the same without.
    pub(crate) fn launch(&mut self, line: &str, doubt: Doubt) {
        let members = line.strip_suffix('}').unwrap_or(line);
        let mut marked = members.to_owned();
        for mark in marks(doubt) {
            marked.extend([",\"", mark, "\":true"]);
        }
        marked.push('}');
        let is_known = |own: &str| self.lines.contains(&hash::fnv1a(own.as_bytes()));
        if !self.is_on() || is_known(line) || is_known(&marked) {
            return;
        }
        let named = named(&marked);
        let done = self.opened().and_then(|()| self.append(&marked, &named));
        self.judge(done);
    }

    /// Keeps a file such as `modules/HASH.ptx`, unless it is there.
    fn store<B: AsRef<[u8]>>(&mut self, folder: &str, name: &str, bytes: impl FnOnce() -> B) {
        let Some(root) = &self.folder else { return };
        let path = root.join(folder).join(name);
        if !self.stored.contains(&path) {
            let done = write_whole(&path, bytes);
            self.stored.insert(path);
            self.judge(done);
        }
    }

    /// Keeps contents with this hash, and returns their name. `text` is asked for only if this process has not kept them before.
    pub(crate) fn contents(&mut self, hash: u128, text: impl FnOnce() -> Vec<u8>) -> String {
        let name = format!("{hash:032x}");
        self.store("contents", &format!("{name}.hex"), text);
        name
    }

    /// Notes a call that was refused; `error` is the name of its code.
    pub(crate) fn invalid(&mut self, function: &str, error: &str, refusal: &Refusal, doubt: Doubt) {
        let Some(reason) = &refusal.reason else { return };
        // That is no mistake of the program.
        if refusal.status == Status::NotSupported {
            return self.missing(&format!("{function} ({reason})"));
        }
        let line = Json::object(|json| {
            json.text("record", "invalid");
            json.text("function", function);
            json.text("error", error);
            if let Some(kernel) = &refusal.kernel {
                json.text("kernel", kernel);
            }
            json.text("reason", reason);
            for mark in marks(doubt) {
                json.boolean(mark, true);
            }
        });
        if !self.is_on() {
            return;
        }
        let named = named(&line);
        let done = self.opened().and_then(|()| self.append(&line, &named));
        self.judge(done);
    }

    /// Notes a function that the stand-in does not have.
    pub(crate) fn missing(&mut self, function: &str) {
        let line = Json::object(|json| {
            json.text("record", "missing");
            json.text("function", function);
        });
        self.line(&line);
    }

    /// Keeps a module of PTX with the names of its kernels, and returns the name of the module.
    pub(crate) fn module<'k>(
        &mut self,
        ptx: &[u8],
        kernels: impl IntoIterator<Item = &'k str>,
    ) -> String {
        let name = hash::name(ptx);
        self.store("modules", &format!("{name}.ptx"), || ptx);
        let line = Json::object(|json| {
            json.text("record", "module");
            json.text("hash", &name);
            json.texts("kernels", kernels);
        });
        self.line(&line);
        name
    }

    /// Notes a module that is not kept.
    pub(crate) fn opaque_module(&mut self, bytes: Option<u64>, reason: &str) {
        let line = Json::object(|json| {
            json.text("record", "module");
            if let Some(bytes) = bytes {
                json.number("bytes", bytes);
            }
            json.text("reason", reason);
        });
        self.line(&line);
    }

    /// Appends a line, unless this process has written one that says the same.
    fn append(&mut self, same: &str, line: &str) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        if self.lines.insert(hash::fnv1a(same.as_bytes())) {
            file.append(line)?;
        }
        Ok(())
    }

    /// Opens the file of this process, if it is not open.
    fn opened(&mut self) -> io::Result<()> {
        let pid = process::id();
        let Some(folder) = &self.folder else { return Ok(()) };
        if self.file.is_some() && self.pid == pid {
            return Ok(());
        }
        self.lines.clear();
        let launches = folder.join("launches");
        fs::create_dir_all(&launches)?;
        let start = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        let path = launches.join(format!("{pid}-{start}.jsonl"));
        self.file = Some(LineFile::create(&path)?);
        self.pid = pid;
        let first = self.process();
        self.append(&first, &first)
    }

    fn process(&self) -> String {
        let root = env::var_os("WEFT_RECORD_ROOT").filter(|root| !root.is_empty());
        let relative = |argument: &OsString| {
            let own = Path::new(argument).strip_prefix(root.as_ref()?).ok()?;
            Some(own.as_os_str().to_owned())
        };
        let lossy = |argument: OsString| {
            relative(&argument).unwrap_or(argument).to_string_lossy().into_owned()
        };
        Json::object(|json| {
            json.text("record", "process");
            json.number("version", 3_u32);
            json.texts("command", env::args_os().map(lossy));
            json.text("device", &self.device.target());
            json.number("multiprocessors", self.device.multiprocessors);
        })
    }

    /// Ends the record where it cannot be written, and says so.
    fn judge(&mut self, done: io::Result<()>) {
        if let Err(error) = done
            && let Some(folder) = self.folder.take()
        {
            self.file = None;
            let folder = folder.display();
            // Standard error might be closed.
            let _ = writeln!(
                io::stderr(),
                "weft: launches are not recorded from here on: {folder}: {error}"
            );
        }
    }
}

/// Returns a line with the name of this thread, if it is another one than that of the process.
fn named(line: &str) -> String {
    let name = |task: &str| fs::read_to_string(format!("/proc/{task}/comm")).unwrap_or_default();
    let (own, of_process) = (name("thread-self"), name("self"));
    let own = own.trim_end_matches('\n');
    if own.is_empty() || own == of_process.trim_end_matches('\n') {
        return line.to_owned();
    }
    let member = Json::object(|json| json.text("thread", own));
    let members = line.strip_suffix('}').unwrap_or(line);
    format!("{members},{}", member.trim_start_matches('{'))
}

/// Returns the names of the fields that say what is doubted.
fn marks(doubt: Doubt) -> impl Iterator<Item = &'static str> {
    let all = [(doubt.has_read, "after_read"), (doubt.has_shared, "after_sharing")];
    all.into_iter().filter_map(|(is_set, mark)| is_set.then_some(mark))
}

/// Writes a file that is whole or not there.
fn write_whole<B: AsRef<[u8]>>(path: &Path, bytes: impl FnOnce() -> B) -> io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(path);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder.join(format!(".{}-{name}", process::id()));
    let bytes = bytes();
    let written = fs::write(&temporary, &bytes).or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            fs::create_dir_all(folder).and_then(|()| fs::write(&temporary, &bytes))
        }
        _ => Err(error),
    });
    let done = written.and_then(|()| fs::rename(&temporary, path));
    if done.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    done
}
