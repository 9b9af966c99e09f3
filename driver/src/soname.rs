//! Libraries without code, by which programs that are linked to NVIDIA's runtime library reach the stand-in.
//!
//! A program asks for a file, such as `libcudart.so.13`, and for functions of a version of the same name. The system refuses a
//! library that defines other versions, and warns of one that defines none. So each file is a library of its own that defines the one version,
//! has no function, and names the stand-in as what it needs; there the functions are found, since those of a library without versions of
//! its own fit every version that is asked for.
//!
//! The layout is that of the System V ABI, chapters "Object files" and "Program loading and dynamic linking", and of the Linux
//! Standard Base, "Symbol versioning". There are no sections, so that nothing can be linked to such a file.

/// Bytes of the file header, of a program header, of an entry of the dynamic section, of a symbol.
const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
const ENTRY: usize = 16;
const SYMBOL: usize = 24;
/// Bytes of the definition of a version with its one name.
const DEFINITION: usize = 28;
/// Number of program headers: what is loaded, the dynamic section, and that the stack is not executable.
const PROGRAM_HEADERS: usize = 3;
/// A multiple of every size of pages.
const ALIGN: u64 = 1 << 16;

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_GNU_STACK: u32 = 0x6474_e551;
/// Readable and writable: the system puts addresses into the dynamic section.
const READ_WRITE: u32 = 6;

const DT_NULL: u64 = 0;
const DT_NEEDED: u64 = 1;
const DT_HASH: u64 = 4;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const DT_STRSZ: u64 = 10;
const DT_SYMENT: u64 = 11;
const DT_SONAME: u64 = 14;
const DT_RUNPATH: u64 = 29;
const DT_VERSYM: u64 = 0x6fff_fff0;
const DT_VERDEF: u64 = 0x6fff_fffc;
const DT_VERDEFNUM: u64 = 0x6fff_fffd;
/// Number of entries of the dynamic section.
const ENTRIES: usize = 13;

/// The definition of a version that names the file itself.
const VER_FLG_BASE: u16 = 1;

/// Texts that end with NULs, by their offsets.
struct Texts(Vec<u8>);

impl Texts {
    fn add(&mut self, text: &str) -> u64 {
        let at = self.0.len() as u64;
        self.0.extend(text.bytes().chain([0]));
        at
    }
}

/// Returns a library whose name, and the name of whose version, is `name`, and which needs `needed`. `like` is a library for the
/// same machine; `None` if it is none of 64 bits in little-endian order.
pub(crate) fn library(name: &str, needed: &str, like: &[u8]) -> Option<Vec<u8>> {
    // Class, order and system; then the machine and its flags.
    let (identification, machine) = (like.get(..16)?, like.get(18..20)?);
    let flags = like.get(48..52)?;
    if !identification.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let mut texts = Texts(vec![0]);
    let (own, other, beside) = (texts.add(name), texts.add(needed), texts.add("$ORIGIN"));
    let dynamic = HEADER + PROGRAM_HEADERS * PROGRAM_HEADER;
    let symbols = dynamic + ENTRIES * ENTRY;
    let hashes = symbols + SYMBOL;
    let definitions = hashes + 16;
    let versions = definitions + 2 * DEFINITION;
    let strings = versions + 2;
    let end = strings + texts.0.len();

    let mut bytes = Vec::with_capacity(end);
    header(&mut bytes, identification, machine, flags);
    program_header(&mut bytes, PT_LOAD, 0, end, ALIGN);
    program_header(&mut bytes, PT_DYNAMIC, dynamic, ENTRIES * ENTRY, 8);
    program_header(&mut bytes, PT_GNU_STACK, 0, 0, 16);
    let entries: [(u64, u64); ENTRIES] = [
        (DT_SONAME, own),
        (DT_NEEDED, other),
        (DT_RUNPATH, beside),
        (DT_HASH, hashes as u64),
        (DT_STRTAB, strings as u64),
        (DT_STRSZ, texts.0.len() as u64),
        (DT_SYMTAB, symbols as u64),
        (DT_SYMENT, SYMBOL as u64),
        (DT_VERSYM, versions as u64),
        (DT_VERDEF, definitions as u64),
        (DT_VERDEFNUM, 2),
        (DT_NULL, 0),
        (DT_NULL, 0),
    ];
    for (tag, value) in entries {
        words(&mut bytes, &[tag, value]);
    }
    // The symbol that every table starts with, and a table of hashes with it alone.
    bytes.extend([0; SYMBOL]);
    for word in [1_u32, 1, 0, 0] {
        bytes.extend(word.to_le_bytes());
    }
    definition(&mut bytes, VER_FLG_BASE, 1, name, own);
    definition(&mut bytes, 0, 2, name, own);
    bytes.extend([0; 2]);
    bytes.extend(texts.0);
    Some(bytes)
}

/// The header of the file: of a library without an entry point and without sections.
fn header(bytes: &mut Vec<u8>, identification: &[u8], machine: &[u8], flags: &[u8]) {
    bytes.extend(identification);
    bytes.extend(3_u16.to_le_bytes());
    bytes.extend(machine);
    bytes.extend(1_u32.to_le_bytes());
    words(bytes, &[0, HEADER as u64, 0]);
    bytes.extend(flags);
    // Sizes of the header and of a program header, their number, no sections.
    const { assert!(HEADER == 64 && PROGRAM_HEADER == 56 && PROGRAM_HEADERS == 3) };
    for half in [64_u16, 56, 3, 64, 0, 0] {
        bytes.extend(half.to_le_bytes());
    }
}

fn words(bytes: &mut Vec<u8>, words: &[u64]) {
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

fn program_header(bytes: &mut Vec<u8>, kind: u32, at: usize, size: usize, align: u64) {
    bytes.extend(kind.to_le_bytes());
    bytes.extend(READ_WRITE.to_le_bytes());
    let (at, size) = (at as u64, size as u64);
    words(bytes, &[at, at, at, size, size, align]);
}

/// Adds the definition of a version; the one with the index 2 is the last.
fn definition(bytes: &mut Vec<u8>, flags: u16, index: u16, name: &str, text: u64) {
    for half in [1, flags, index, 1] {
        bytes.extend(half.to_le_bytes());
    }
    let next = if index == 2 { 0 } else { DEFINITION as u64 };
    // Where its name is, where the next definition is; the name; no further names.
    for word in [u64::from(hash(name)), 20, next, text, 0] {
        bytes.extend(u32::try_from(word).unwrap_or(0).to_le_bytes());
    }
}

/// The hash of names of the System V ABI.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0_u32, |hash, byte| {
        let hash = (hash << 4).wrapping_add(u32::from(byte));
        let high = hash & 0xf000_0000;
        (hash ^ (high >> 24)) & !high
    })
}

#[cfg(test)]
mod tests {
    use super::{hash, library};

    /// Hashes that `readelf -V` shows of NVIDIA's libraries and of glibc.
    #[test]
    fn names_have_the_hashes_of_the_system() {
        assert_eq!(hash("GLIBC_2.2.5"), 0x0969_1a75);
        assert_eq!(hash("GLIBC_2.17"), 0x0696_9197);
        assert_eq!(hash(""), 0);
    }

    #[test]
    fn a_library_is_made_only_like_one_that_fits() {
        let mut like = [0; 64];
        like[..6].copy_from_slice(b"\x7fELF\x02\x01");
        like[18] = 183;
        let made = library("libcudart.so.13", "libcuda.so.1", &like).expect("it is one of 64 bits");
        assert_eq!((made[16], made[18]), (3, 183));
        // What is loaded is the whole file.
        assert_eq!(made[96..104], (made.len() as u64).to_le_bytes());
        like[4] = 1;
        assert_eq!(library("a", "b", &like), None);
        assert_eq!(library("a", "b", &like[..40]), None);
    }
}
