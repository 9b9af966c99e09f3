//! Contents of allocations: as files of the record, and the pointers within them.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use crate::allocation::{Allocation, Contents, Kind, Snapshot};
use crate::foreign::Host;
use crate::hash::WordHash;
use crate::mapped;
use crate::memory::Memory;
use crate::record::Record;

/// Bytes that are read at once to be searched for addresses.
const PIECE: usize = 1 << 20;
/// Bytes that are looked through word by word if they might hold an address at all.
const PART: usize = 256;
/// Bytes of a word that begins in a piece, or a part, and ends in the next.
const REST: usize = 7;
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
    let name = record.contents(hash(&bytes, &known), || hexadecimal(&bytes, &known));
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
fn add_words(memory: &Memory, base: u64, range: (u64, u64), to: &mut BTreeMap<u64, u64>) {
    search(memory, base, range, &mut |at, word| {
        if at.is_multiple_of(WORD) {
            to.insert(at, word);
        }
    });
}

/// Returns the known words that might be addresses and are at no multiple of 8 bytes, with their offsets.
fn hidden(memory: &Memory, base: u64, own: &Allocation) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    for range in own.known.within(0, own.size) {
        search(memory, base, range, &mut |at, word| {
            if !at.is_multiple_of(WORD) {
                found.push((at, word));
            }
        });
    }
    found
}

/// Calls `found` with each word of 8 bytes, at any offset within a range of an allocation, that might be an address.
fn search(memory: &Memory, base: u64, (low, high): (u64, u64), found: &mut dyn FnMut(u64, u64)) {
    for start in (low..high).step_by(PIECE) {
        let most = usize::try_from(high - start).unwrap_or(usize::MAX);
        let piece = memory.read(base, start, most.min(PIECE + REST));
        search_piece(memory, &piece, &mut |at, word| found(start + at, word));
    }
}

/// Calls `found` with each word among these bytes that might be an address, and its offset.
fn search_piece(memory: &Memory, piece: &[u8], found: &mut dyn FnMut(u64, u64)) {
    for (part, first) in (0..piece.len()).step_by(PART).zip((0..).step_by(PART)) {
        let part = &piece[part..piece.len().min(part + PART + REST)];
        if !memory.might_hold_address(part) {
            continue;
        }
        for (word, at) in part.windows(8).zip(first..) {
            let word = word.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
            if memory.might_be_address(word) {
                found(at, word);
            }
        }
    }
}

/// Returns the hash of contents: of the bytes, zeros where they are not known, and of the ranges that are known.
fn hash(bytes: &[u8], known: &[(u64, u64)]) -> u128 {
    let mut hash = WordHash::new();
    hash.bytes(bytes);
    for (low, high) in known {
        hash.word(*low);
        hash.word(*high);
    }
    hash.finish()
}

/// Returns the text of a file of contents.
fn hexadecimal(bytes: &[u8], known: &[(u64, u64)]) -> Vec<u8> {
    let mut text = vec![b'\n'; bytes.len() * 2 + bytes.len().div_ceil(LINE)];
    for (text, line) in text.chunks_mut(LINE * 2 + 1).zip(bytes.chunks(LINE)) {
        for (pair, byte) in text.as_chunks_mut::<2>().0.iter_mut().zip(line) {
            *pair = PAIRS[usize::from(*byte)];
        }
    }
    let size = bytes.len() as u64;
    let ends = known.iter().map(|(_, high)| *high);
    let starts = known.iter().map(|(low, _)| *low).chain([size]);
    for at in [0].into_iter().chain(ends).zip(starts).flat_map(|(low, high)| low..high) {
        let at = usize::try_from(at).unwrap_or(0);
        let first = at * 2 + at / LINE;
        text[first..first + 2].fill(b'.');
    }
    text
}

/// The two hexadecimal digits of each byte.
const PAIRS: [[u8; 2]; 256] = {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut pairs = [[0; 2]; 256];
    let mut byte = 0;
    while byte < pairs.len() {
        pairs[byte] = [DIGITS[byte >> 4], DIGITS[byte & 15]];
        byte += 1;
    }
    pairs
};

#[cfg(test)]
mod tests {
    use super::{Memory, PART, hexadecimal, search_piece};

    /// Addresses at every offset are found, among bytes that look like parts of addresses, and nothing else.
    #[test]
    fn the_search_finds_what_a_look_at_every_word_finds() {
        let memory = Memory::default();
        let addresses =
            [0x3b5d_2c00_0000_u64, 0x3b5d_2c01_0203, 0x4000_0000_0000, 0x4fff_ffff_ffff];
        let none = [0x3b5d_2bff_ffff_u64, 0x5000_0000_0000, 0x0100_4000_0000_0000, 0];
        let mut number = 1_u64;
        for (at, word) in (0..2 * PART + 20)
            .flat_map(|at| addresses.iter().chain(&none).map(move |word| (at, word)))
        {
            for noise in [[0, 0], [0xff, 0xff], [0x3b, 0], [0x4f, 0xff]] {
                let mut next = || {
                    number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    noise[usize::from(number >> 63 != 0)]
                };
                let mut bytes: Vec<u8> = (0..2 * PART + 30).map(|_| next()).collect();
                let end = bytes.len().min(at + 8);
                bytes[at..end].copy_from_slice(&word.to_le_bytes()[..end - at]);
                let words =
                    bytes.windows(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
                let expected: Vec<_> =
                    (0..).zip(words).filter(|(_, word)| memory.might_be_address(*word)).collect();
                let mut found = Vec::new();
                search_piece(&memory, &bytes, &mut |at, word| found.push((at, word)));
                assert_eq!(found, expected, "{word:x} at {at}");
            }
        }
    }

    #[test]
    fn bytes_that_are_not_known_are_points() {
        let bytes: Vec<u8> = (0..34).collect();
        let text = String::from_utf8(hexadecimal(&bytes, &[(1, 3), (31, 33)])).unwrap();
        assert_eq!(text, format!("..0102{}1f\n20..\n", "..".repeat(28)));
        assert_eq!(hexadecimal(&[], &[]), b"");
    }
}
