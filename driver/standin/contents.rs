//! Contents of allocations: as files of the record, and the pointers within them.

use std::fmt::Write;
use std::sync::Arc;

use crate::allocation::{Allocation, Contents, Snapshot};
use crate::hash;
use crate::memory::Memory;
use crate::record::Record;

/// Bytes of a line of a file.
const LINE: usize = 32;

/// Keeps the contents of the allocation at `base`, and returns their name and pointers.
pub(crate) fn keep(memory: &mut Memory, record: &mut Record, base: u64) -> Arc<Contents> {
    let (generation, bound) = (memory.generation, record.bound);
    let Some(own) = memory.at(base) else { return Arc::default() };
    let is_hosts = own.kind.is_hosts();
    // Large memory that the host uses without calls would have to be read at every launch.
    if own.known.is_empty() || (is_hosts && own.size > bound) {
        return Arc::default();
    }
    let is_current = |last: &&Snapshot| {
        !is_hosts
            && last.version == own.version
            && last.generation.is_none_or(|of| of == generation)
    };
    if let Some(last) = own.snapshot.as_ref().filter(is_current) {
        return Arc::clone(&last.contents);
    }
    let (version, own) = (own.version, own.clone());
    let candidates = words(memory, base, &own);
    let depends = !candidates.is_empty() || memory.has_registered();
    let contents = Arc::new(take(memory, record, base, &own, candidates));
    if let Some(own) = memory.at(base) {
        let generation = depends.then_some(generation);
        own.snapshot = Some(Snapshot { version, generation, contents: Arc::clone(&contents) });
    }
    contents
}

fn take(
    memory: &Memory,
    record: &mut Record,
    base: u64,
    own: &Allocation,
    mut pointers: Vec<(u64, u64)>,
) -> Contents {
    pointers.retain(|(_, word)| memory.find(*word).is_some());
    if own.size > record.bound {
        return Contents { name: None, pointers };
    }
    let size = usize::try_from(own.size).unwrap_or(0);
    let mut bytes = memory.read(base, size);
    for (at, _) in &pointers {
        let at = usize::try_from(*at).unwrap_or(0);
        bytes[at..at + 8].fill(0);
    }
    let text = hexadecimal(&bytes, own);
    let name = hash::name(text.as_bytes());
    record.store("contents", &format!("{name}.hex"), text.as_bytes());
    Contents { name: Some(name), pointers }
}

/// Returns the known words of 8 bytes that might be addresses, with their offsets: those that no program computes with, as the
/// addresses of device memory are chosen, and addresses of the host that are known to the device.
fn words(memory: &Memory, base: u64, own: &Allocation) -> Vec<(u64, u64)> {
    let bytes = memory.read(base, usize::try_from(own.size).unwrap_or(0));
    let word = |at: u64| {
        let bytes = bytes.get(usize::try_from(at).ok()?..)?.first_chunk()?;
        Some((at, u64::from_le_bytes(*bytes)))
    };
    let known = own.known.within(0, own.size).into_iter();
    known
        .flat_map(|(low, high)| (low.next_multiple_of(8)..high.saturating_sub(7)).step_by(8))
        .filter_map(word)
        .filter(|(_, word)| memory.might_be_address(*word))
        .collect()
}

/// Returns the text of a file of contents.
fn hexadecimal(bytes: &[u8], own: &Allocation) -> String {
    let mut text = String::with_capacity(bytes.len() * 2 + bytes.len() / LINE + 1);
    let all = own.known.contains(0, own.size);
    for (row, line) in bytes.chunks(LINE).enumerate() {
        for (column, byte) in line.iter().enumerate() {
            let at = (row * LINE + column) as u64;
            if all || own.known.contains(at, at + 1) {
                let _ = write!(text, "{byte:02x}");
            } else {
                text.push_str("..");
            }
        }
        text.push('\n');
    }
    text
}
