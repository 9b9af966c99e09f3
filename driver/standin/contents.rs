//! Contents of allocations: as files of the record, and the pointers within them.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;
use std::sync::Arc;

use crate::allocation::{Allocation, Contents, Kind, Snapshot};
use crate::foreign::Host;
use crate::mapped;
use crate::memory::Memory;
use crate::record::Record;

/// Bytes that are searched for addresses at once.
const PIECE: usize = 1 << 20;
/// Bytes of an address.
const WORD: u64 = 8;
/// Bytes of a line of a file.
const LINE: usize = 32;

/// Keeps the contents of the allocation at `base`, and returns their name and pointers.
pub(crate) fn keep(memory: &mut Memory, record: &mut Record, base: u64) -> Arc<Contents> {
    let (generation, bound) = (memory.generation, record.bound);
    let registrations = memory.registrations;
    let Some(own) = memory.at(base) else { return Arc::default() };
    let is_hosts = own.kind.is_hosts();
    // Large memory that the host uses without calls would have to be read at every launch.
    if own.known.is_empty() || (is_hosts && own.size > bound) {
        return Arc::default();
    }
    if own.kind == Kind::Registered && !is_there(base, own.size) {
        return Arc::default();
    }
    let bytes = if is_hosts { memory.read(base, 0, usize::MAX) } else { Vec::new() };
    let Some(own) = memory.at(base) else { return Arc::default() };
    let is_current = |last: &&Snapshot| {
        last.version == own.version
            && last.registrations == registrations
            && last.generation.is_none_or(|of| of == generation)
            && last.bytes == bytes
    };
    if let Some(last) = own.snapshot.as_ref().filter(is_current) {
        return Arc::clone(&last.contents);
    }
    if is_hosts {
        own.changed(0, own.size);
    }
    find_words(memory, base);
    let Some(own) = memory.at(base).cloned() else { return Arc::default() };
    let hidden = if own.size <= bound { hidden(memory, base, &own) } else { Vec::new() };
    let depends = !(own.words.found.is_empty() && hidden.is_empty()) || memory.has_registered();
    let contents = Arc::new(take(memory, record, base, &own, hidden));
    let version = own.version;
    if let Some(own) = memory.at(base) {
        let generation = depends.then_some(generation);
        let contents = Arc::clone(&contents);
        own.snapshot = Some(Snapshot { version, generation, registrations, contents, bytes });
    }
    contents
}

/// Returns whether the program still has memory of its own that it has registered.
fn is_there(base: u64, size: u64) -> bool {
    usize::try_from(size).is_ok_and(|size| mapped::is_readable(Host::at(base), size))
}

fn take(
    memory: &Memory,
    record: &mut Record,
    base: u64,
    own: &Allocation,
    hidden: Vec<(u64, u64)>,
) -> Contents {
    let words = own.words.found.iter().map(|(at, word)| (*at, *word));
    let pointers: Vec<_> = words.filter(|(_, word)| memory.find(*word).is_some()).collect();
    if own.size > record.bound {
        return Contents { name: None, pointers };
    }
    let size = usize::try_from(own.size).unwrap_or(0);
    let mut bytes = memory.read(base, 0, size);
    for (at, _) in &pointers {
        let at = usize::try_from(*at).unwrap_or(0);
        bytes[at..at + 8].fill(0);
    }
    // Readers know pointers at multiples of 8 bytes alone.
    let mut known = own.known.clone();
    for (at, _) in hidden.into_iter().filter(|(_, word)| memory.find(*word).is_some()) {
        known.remove(at, at + 8);
    }
    let known = known.within(0, own.size);
    let name = record.contents(fingerprint(&bytes, &known), || hexadecimal(&bytes, &known));
    Contents { name: Some(name), pointers }
}

/// Finds the known words of 8 bytes of an allocation that might be addresses: those that no program computes with, as the addresses of
/// device memory are chosen, and addresses of the host that are known to the device. Only what has changed is looked at.
fn find_words(memory: &mut Memory, base: u64) {
    let registrations = memory.registrations;
    let Some(own) = memory.at(base) else { return };
    let mut words = mem::take(&mut own.words);
    let (size, known) = (own.size, own.known.clone());
    if words.registrations != Some(registrations) {
        words.changed.insert(0, size);
    }
    for (low, high) in mem::take(&mut words.changed).within(0, size) {
        // A word that has changed in part.
        let (low, high) = (low / WORD * WORD, high.next_multiple_of(WORD).min(size));
        let old: Vec<u64> = words.found.range(low..high).map(|(at, _)| *at).collect();
        for at in old {
            words.found.remove(&at);
        }
        for (low, high) in known.within(low, high) {
            add_words(memory, base, (low, high), &mut words.found);
        }
    }
    words.registrations = Some(registrations);
    if let Some(own) = memory.at(base) {
        own.words = words;
    }
}

/// Adds the words within a range of an allocation that might be addresses.
fn add_words(memory: &Memory, base: u64, (low, high): (u64, u64), to: &mut BTreeMap<u64, u64>) {
    for start in (low.next_multiple_of(WORD)..high).step_by(PIECE) {
        let count = usize::try_from(high - start).unwrap_or(PIECE).min(PIECE);
        let piece = memory.read(base, start, count);
        let words = piece.chunks_exact(8).zip((start..).step_by(8)).filter_map(|(word, at)| {
            let word = u64::from_le_bytes(*word.first_chunk()?);
            memory.might_be_address(word).then_some((at, word))
        });
        to.extend(words);
    }
}

/// Returns the known words that might be addresses and are at no multiple of 8 bytes, with their offsets.
fn hidden(memory: &Memory, base: u64, own: &Allocation) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    for (low, high) in own.known.within(0, own.size) {
        let bytes = memory.read(base, low, usize::try_from(high - low).unwrap_or(0));
        let words = bytes.windows(8).zip(low..).filter_map(|(word, at)| {
            let word = u64::from_le_bytes(*word.first_chunk()?);
            (!at.is_multiple_of(8) && memory.might_be_address(word)).then_some((at, word))
        });
        found.extend(words);
    }
    found
}

/// Returns a number that other contents do not have: it is found in a fraction of the time that the name takes.
fn fingerprint(bytes: &[u8], known: &[(u64, u64)]) -> (u64, u64) {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, bytes, known).hash(&mut hasher);
        hasher.finish()
    };
    (half(0), half(1))
}

/// Returns the text of a file of contents.
fn hexadecimal(bytes: &[u8], known: &[(u64, u64)]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut is_known = vec![false; bytes.len()];
    for (low, high) in known {
        let range = usize::try_from(*low).unwrap_or(0)..usize::try_from(*high).unwrap_or(0);
        is_known[range].fill(true);
    }
    let mut text = Vec::with_capacity(bytes.len() * 2 + bytes.len() / LINE + 1);
    for (line, is_known) in bytes.chunks(LINE).zip(is_known.chunks(LINE)) {
        for (byte, is_known) in line.iter().zip(is_known) {
            let digits = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
            text.extend(if *is_known { digits } else { *b".." });
        }
        text.push(b'\n');
    }
    String::from_utf8(text).unwrap_or_default()
}
