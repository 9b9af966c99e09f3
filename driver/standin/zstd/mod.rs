//! Zstandard frames, in which `nvcc` keeps the entries of fat binaries unless it is told otherwise (RFC 8878). Without dictionaries; checksums
//! are not compared.
//!
//! | module | what it has |
//! |---|---|
//! | `bits` | bits of a stream, forwards and backwards |
//! | `states` | tables of finite state entropy (section 4.1) |
//! | `prefix` | Huffman codes (section 4.2) |
//! | `literals` | the literals of a block (section 3.1.1.3.1) |
//! | `sequences` | its copies (section 3.1.1.3.2) |

mod bits;
mod literals;
mod prefix;
mod sequences;
mod states;

use literals::Literals;
use sequences::Sequences;

/// First bytes of a frame.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Most bytes that one block makes.
const BLOCK: usize = 128 << 10;

/// Decompresses a frame that holds exactly `size` bytes; `None` if it is damaged, or holds another number of bytes.
pub(crate) fn decompress(frame: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut rest = frame.strip_prefix(&MAGIC)?;
    let descriptor = take(&mut rest, 1)?[0];
    let is_single = descriptor & 0x20 != 0;
    if descriptor & 0x08 != 0 {
        return None;
    }
    take(&mut rest, usize::from(!is_single))?;
    // A dictionary: none is known.
    let dictionary = take(&mut rest, [0, 1, 2, 4][usize::from(descriptor & 3)])?;
    if dictionary.iter().any(|byte| *byte != 0) {
        return None;
    }
    // The size of the contents, which the caller knows.
    take(&mut rest, [usize::from(is_single), 2, 4, 8][usize::from(descriptor >> 6)])?;
    let mut out = Vec::new();
    let (mut literals, mut sequences) = (Literals::default(), Sequences::default());
    loop {
        let header = take(&mut rest, 3)?;
        let header =
            usize::from(header[0]) | usize::from(header[1]) << 8 | usize::from(header[2]) << 16;
        let (is_last, kind, length) = (header & 1 == 1, header >> 1 & 3, header >> 3);
        match kind {
            0 => out.extend_from_slice(take(&mut rest, length)?),
            1 => {
                let byte = take(&mut rest, 1)?[0];
                out.resize(out.len() + length.min(BLOCK), byte);
            }
            2 => {
                let mut block = take(&mut rest, length)?;
                let bytes = literals.read(&mut block)?;
                sequences.execute(block, &bytes, &mut out, size)?;
            }
            _ => return None,
        }
        if out.len() > size {
            return None;
        }
        if is_last {
            return (out.len() == size).then_some(out);
        }
    }
}

/// Takes bytes from the front.
fn take<'b>(rest: &mut &'b [u8], count: usize) -> Option<&'b [u8]> {
    let (front, back) = rest.split_at_checked(count)?;
    *rest = back;
    Some(front)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
