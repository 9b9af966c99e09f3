//! Buffers that a launch states by name, so that several arguments can point into one of them, at offsets.

use std::collections::BTreeMap;

use super::requires::nearest;
use super::{Arg, Launch};

/// The most bytes that a stated buffer can have: as far as a buffer of unknown size reaches.
pub const MAX_BUFFER: u64 = 1 << 40;
/// The alignment of the first byte of a stated buffer: that of memory from `cudaMalloc` and `cuMemAlloc` (CUDA
/// programming guide, device memory accesses: at least 256 bytes).
pub const BUFFER_ALIGN: u64 = 256;
/// The byte up to which contents of a stated buffer, and pointers in it, can be given.
pub const MOST_GIVEN: u64 = 1 << 26;
/// Bytes of a pointer.
pub const POINTER: u64 = 8;

/// Global memory that the host has allocated in one piece. It overlaps no other buffer and no variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allocation {
    /// Size in bytes, at most [`MAX_BUFFER`]; `None`: it is as large as the accesses behind its first byte need.
    pub size: Option<u64>,
    /// What it holds from its first byte on; `None`, and all behind the last of these bytes: open.
    pub contents: Vec<Option<u8>>,
    /// The pointers that it holds, by the offset of their first byte; they take precedence over `contents`.
    pub pointers: BTreeMap<u64, Within>,
}

/// A pointer into a stated buffer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Within {
    /// The name of the buffer.
    pub buffer: String,
    /// Bytes from the first byte of the buffer; the size of the buffer points right behind it.
    pub offset: u64,
}

/// What is wrong about a stated buffer, or about a pointer into one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BufferMisfit {
    /// A pointer into a buffer that is not stated.
    #[error("there is no buffer `{name}` in `buffers`; {remedy}")]
    Unknown {
        /// The name.
        name: String,
        /// The nearest right name, or that there is none.
        remedy: String,
    },
    /// A pointer beyond the end.
    #[error(
        "the offset {offset} is beyond the {size} bytes of buffer `{name}`; give at most {size}, or a larger size"
    )]
    Beyond {
        /// The name of the buffer.
        name: String,
        /// The offset as given.
        offset: u64,
        /// The size of the buffer.
        size: u64,
    },
    /// Contents beyond the end.
    #[error(
        "it has {size} bytes, but {given} bytes of contents are given; give a size of at least {given}"
    )]
    Contents {
        /// The size as given.
        size: u64,
        /// The number of bytes that its contents and pointers take.
        given: u64,
    },
    /// More bytes than a buffer can have.
    #[error("a buffer of {0} bytes: at most {MAX_BUFFER} can be checked")]
    Size(u64),
    /// More bytes of contents than can be given.
    #[error("contents up to byte {0} are given: at most {MOST_GIVEN} can be")]
    Given(u64),
    /// A pointer that is not aligned as devices need it.
    #[error("the pointer at byte {0} is at no multiple of 8")]
    Unaligned(u64),
}

impl Within {
    /// Returns what is wrong about a pointer into these buffers; `None` if nothing is.
    pub fn misfit(&self, buffers: &BTreeMap<String, Allocation>) -> Option<BufferMisfit> {
        let Self { buffer, offset } = self;
        let Some(allocation) = buffers.get(buffer) else {
            let remedy = nearest(buffer, buffers.keys().map(String::as_str)).map_or_else(
                || "the launch states none".to_owned(),
                |name| format!("did you mean `{name}`?"),
            );
            return Some(BufferMisfit::Unknown { name: buffer.clone(), remedy });
        };
        let (name, offset) = (buffer.clone(), *offset);
        let size = allocation.size.unwrap_or(MAX_BUFFER);
        (offset > size).then_some(BufferMisfit::Beyond { name, offset, size })
    }
}

impl Allocation {
    /// Returns the number of bytes that its contents and pointers take.
    pub fn given(&self) -> u64 {
        let pointers = self.pointers.keys().next_back();
        let end = pointers.map_or(0, |first| first.saturating_add(POINTER));
        end.max(self.contents.len() as u64)
    }

    /// Returns the number of bytes that are known.
    pub fn known(&self) -> usize {
        self.contents.iter().flatten().count()
    }

    /// Returns what is wrong about it among these buffers; `None` if nothing is.
    pub fn misfit(&self, buffers: &BTreeMap<String, Self>) -> Option<BufferMisfit> {
        let given = self.given();
        if let Some(size) = self.size.filter(|size| *size > MAX_BUFFER) {
            return Some(BufferMisfit::Size(size));
        }
        if given > MOST_GIVEN {
            return Some(BufferMisfit::Given(given));
        }
        if let Some(first) = self.pointers.keys().find(|first| *first % POINTER != 0) {
            return Some(BufferMisfit::Unaligned(*first));
        }
        match self.size.unwrap_or(MAX_BUFFER) {
            size if size < given => Some(BufferMisfit::Contents { size, given }),
            _ => self.pointers.values().find_map(|pointer| pointer.misfit(buffers)),
        }
    }
}

impl Launch {
    /// Returns the names of the stated buffers into which neither an argument nor another buffer points; ascending.
    pub fn unused_buffers(&self) -> Vec<&str> {
        let mut used: Vec<&str> = self.args.values().flat_map(targets).collect();
        let held = self.buffers.iter().flat_map(|(name, buffer)| {
            let others = buffer.pointers.values().map(|pointer| pointer.buffer.as_str());
            others.filter(move |other| other != name)
        });
        used.extend(held);
        self.buffers.keys().map(String::as_str).filter(|name| !used.contains(name)).collect()
    }
}

/// Returns the names of the buffers that an argument points into.
fn targets(arg: &Arg) -> Vec<&str> {
    match arg {
        Arg::Within(within) => vec![&within.buffer],
        Arg::Fields(fields) => fields.fields.values().flat_map(targets).collect(),
        Arg::Integer(_) | Arg::Float(_) | Arg::Buffer(_) | Arg::Tensor(_) => Vec::new(),
    }
}
