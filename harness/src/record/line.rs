//! The lines of a record, as the stand-in for the driver writes them. Fields that are not needed are skipped.

use std::fmt::{self, Display, Formatter};

use serde::Deserialize;

/// The version of the format that is written, the only one that is read.
pub(super) const VERSION: u32 = 3;

/// One line.
#[derive(Debug, Deserialize)]
#[serde(tag = "record", rename_all = "lowercase")]
pub(super) enum RecordLine {
    /// A process that uses the driver.
    Process {
        version: u32,
        #[serde(default)]
        command: Vec<String>,
    },
    /// A module of code.
    Module { hash: Option<String>, reason: Option<String> },
    /// A launch of a kernel.
    Launch(RecordLaunchLine),
    /// A call that the driver refuses.
    Invalid(RefusedLine),
    /// A function that the stand-in does not have.
    Missing { function: String },
    /// What a later version might add.
    #[serde(other)]
    Other,
}

/// A call that the driver refuses, and what made it.
#[derive(Debug, Deserialize)]
pub(super) struct RefusedLine {
    #[serde(flatten)]
    pub(super) call: RefusedCall,
    /// The name of the thread, if it is not that of the program.
    #[serde(default)]
    pub(super) thread: Option<String>,
}

/// A launch of a kernel.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct RecordLaunchLine {
    pub(super) kernel: String,
    pub(super) module: Option<String>,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    #[serde(default)]
    pub(super) cluster: Option<[u32; 3]>,
    pub(super) shared: u32,
    pub(super) args: Option<Vec<RecordArgLine>>,
    /// Why the arguments are not known.
    #[serde(default)]
    pub(super) reason: Option<String>,
    #[serde(default)]
    pub(super) allocations: Vec<AllocationLine>,
    #[serde(default)]
    pub(super) globals: Vec<GlobalLine>,
    /// Whether the thread had read memory before that a kernel might have changed.
    #[serde(default)]
    pub(super) after_read: bool,
    /// Whether it had given a kernel memory that the host reads without calls.
    #[serde(default)]
    pub(super) after_sharing: bool,
    /// The name of the thread, if it is not that of the program.
    #[serde(default)]
    pub(super) thread: Option<String>,
}

impl RecordLaunchLine {
    /// Returns the names of all modules and contents.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let passed = self.allocations.iter().flat_map(|own| &own.passed);
        let passed = passed.filter_map(|own| own.module.as_deref());
        let contents = self.allocations.iter().filter_map(|own| own.contents.as_deref());
        self.module.as_deref().into_iter().chain(passed).chain(contents)
    }
}

/// A variable of the module whose address the host has asked for.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct GlobalLine {
    /// Its name in the PTX.
    pub(super) name: String,
    /// The index of the allocation that it is.
    pub(super) allocation: usize,
}

/// The bytes of an argument.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct RecordArgLine {
    /// As hexadecimal digits, those of pointers zeros.
    pub(super) bytes: String,
    #[serde(default)]
    pub(super) pointers: Vec<PointerLine>,
    /// The bytes at which pointers to freed memory stand.
    #[serde(default)]
    pub(super) freed: Vec<u64>,
    /// Where addresses of the host stand, zeros in `bytes`.
    #[serde(default)]
    pub(super) hosts: Vec<u64>,
    /// The tensor maps in it.
    #[serde(default)]
    pub(super) maps: Vec<MapLine>,
}

/// A tensor map in an argument.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct MapLine {
    /// The byte at which it stands.
    pub(super) at: u64,
    /// The index of the allocation that it leads into; `None`: into none that is live.
    #[serde(default)]
    pub(super) allocation: Option<usize>,
    #[serde(default)]
    pub(super) offset: u64,
    /// Its type of elements, sizes, strides and modes.
    #[serde(flatten)]
    pub(super) rest: serde_json::Map<String, serde_json::Value>,
}

/// A pointer in an argument or in an allocation.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct PointerLine {
    /// The byte at which it stands.
    pub(super) at: u64,
    /// The index of the allocation that it points into.
    pub(super) allocation: usize,
    pub(super) offset: u64,
}

/// Memory that the program allocated.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct AllocationLine {
    pub(super) size: u64,
    /// Bytes by which it begins behind a multiple of 256.
    #[serde(default)]
    pub(super) behind: u64,
    /// The name of the file with its contents.
    #[serde(default)]
    pub(super) contents: Option<String>,
    #[serde(default)]
    pub(super) pointers: Vec<PointerLine>,
    #[serde(default)]
    pub(super) passed: Vec<PassedLine>,
    /// Whether the host might change it while a kernel runs.
    #[serde(default)]
    pub(super) host: bool,
    /// So many kernels, the first of its process, were launched before, and at least one launch since the host overwrote all of it.
    #[serde(default)]
    pub(super) launched: Option<usize>,
}

/// How a kernel of an earlier launch could reach an allocation.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct PassedLine {
    pub(super) module: Option<String>,
    pub(super) kernel: String,
    /// The position of a parameter; anything else, or nothing beside the name of a variable, if it was not by a parameter.
    #[serde(default)]
    pub(super) arg: serde_json::Value,
}

/// A call that the driver refused, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct RefusedCall {
    /// The function of the driver.
    pub function: String,
    /// The name of the error that CUDA has for it.
    pub error: String,
    /// The kernel that the call is about, if it is about one.
    #[serde(default)]
    pub kernel: Option<String>,
    /// What is wrong.
    pub reason: String,
    /// Whether the thread had read memory before that a kernel might have changed, so that the call might rest on values
    /// that are not those of a device.
    #[serde(default)]
    pub after_read: bool,
    /// Whether the thread had given a kernel memory before that the host reads without calls, so that it might have read there.
    #[serde(default)]
    pub after_sharing: bool,
    /// What made it, if that is known.
    #[serde(skip)]
    pub origin: Option<String>,
}

impl RefusedCall {
    /// Whether another call is the same, whatever made it.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Self { origin: other.origin.clone(), ..self.clone() } == *other
    }

    /// Whether it might be another call on a device.
    pub fn is_doubtful(&self) -> bool {
        self.after_read || self.after_sharing
    }
}

impl Display for RefusedCall {
    /// Says what is wrong about the call.
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let Self { function, error, kernel, reason, .. } = self;
        write!(to, "{function}")?;
        if let Some(kernel) = kernel {
            write!(to, " of `{kernel}`")?;
        }
        write!(to, " is refused, as CUDA does: {reason} ({error})")?;
        if let Some(origin) = &self.origin {
            write!(to, "; {origin} makes it")?;
        }
        let doubt = match (self.after_read, self.after_sharing) {
            (true, _) => "had read memory before that a kernel might have changed",
            (_, true) => "uses managed or pinned memory that a kernel might have changed",
            _ => return Ok(()),
        };
        write!(to, "; the thread {doubt}, so a device might have other values there")
    }
}

/// Returns the bytes that hexadecimal digits mean, `..` for one that is not known; `None` for other texts. White space is
/// skipped.
pub(super) fn bytes(text: &str) -> Option<Vec<Option<u8>>> {
    let mut found = Vec::with_capacity(text.len() / 2);
    let mut rest = text.bytes().filter(|c| !c.is_ascii_whitespace());
    while let Some(high) = rest.next() {
        found.push(match (high, rest.next()?) {
            (b'.', b'.') => None,
            (high, low) => Some(digit(high)? << 4 | digit(low)?),
        });
    }
    Some(found)
}

/// Returns the value of a hexadecimal digit.
fn digit(letter: u8) -> Option<u8> {
    match letter {
        b'0'..=b'9' => Some(letter - b'0'),
        b'a'..=b'f' => Some(letter - b'a' + 10),
        b'A'..=b'F' => Some(letter - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_known_or_not() {
        assert_eq!(bytes("0aFf..\n10"), Some(vec![Some(10), Some(255), None, Some(16)]));
        for wrong in ["0", "0.", "0g", "abc"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }
}
