//! Fat binaries: the container in which nvcc keeps PTX and machine code for several devices.
//!
//! Takes the bytes of a container and gives the PTX inside that a device runs: of several, that of the newest device which is not newer. The layout is not
//! documented by NVIDIA; it was read from files that nvcc 13.0 and `fatbinary` write with each of their `--compress-mode`s. What is not
//! understood is named as a reason.

use std::fmt::{self, Display, Formatter};

use crate::{lz4, zstd};

/// First word of a container.
pub(crate) const MAGIC: u32 = 0xba55_ed50;
/// First word of the structure that points to a container, as compiled programs have it.
pub(crate) const WRAPPER: u32 = 0x4662_43b1;
/// Bytes of the container's header: magic, version, header size, bytes of all entries.
pub(crate) const HEADER: usize = 16;

/// Why nothing is kept of machine code.
pub(crate) const MACHINE_CODE: &str = "it holds machine code alone; nvcc keeps PTX too with `-arch=sm_80`, or with `code=compute_80` of `-gencode`";

/// Kinds of entries: PTX, and machine code.
const KIND_PTX: u16 = 1;
const KIND_CODE: u16 = 2;
/// Flags of an entry: its bytes are one LZ4 block; one zstd frame.
const FLAG_LZ4: u64 = 0x2000;
const FLAG_ZSTD: u64 = 0x8000;
/// It is for one device alone, such as `sm_90a`; for the devices of a family, such as `sm_100f`.
const FLAG_ONLY: u64 = 0x10_0000;
const FLAG_FAMILY: u64 = 0x20_0000;

/// Which devices beside its own an entry is for. The narrower ones come later: a device takes what was compiled for it in particular.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    All,
    Family,
    Only,
}

/// What an entry is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Target {
    /// The device, such as 90.
    number: u32,
    reach: Reach,
}

impl Target {
    fn of(entry: &[u8]) -> Self {
        let flags = u64_at(entry, 40).unwrap_or(0);
        let reach = match (flags & FLAG_ONLY != 0, flags & FLAG_FAMILY != 0) {
            (true, _) => Reach::Only,
            (false, true) => Reach::Family,
            (false, false) => Reach::All,
        };
        Target { number: u32_at(entry, 28).unwrap_or(0), reach }
    }

    /// Whether a device such as 90 can run PTX for this (CUDA Programming Guide, "PTX Compatibility", "Feature Set Compiler Targets").
    fn text_runs_on(self, device: u32) -> bool {
        match self.reach {
            Reach::All => self.number <= device,
            Reach::Family | Reach::Only => self.code_runs_on(device),
        }
    }

    /// Whether it can run machine code for this: that of the same major version, and no newer ("Binary Compatibility").
    fn code_runs_on(self, device: u32) -> bool {
        match self.reach {
            Reach::Only => self.number == device,
            Reach::All | Reach::Family => self.number / 10 == device / 10 && self.number <= device,
        }
    }
}

impl Display for Target {
    /// Writes the part of its name that has no kind: `90a` of `sm_90a` and `compute_90a`.
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let letter = match self.reach {
            Reach::All => "",
            Reach::Family => "f",
            Reach::Only => "a",
        };
        write!(to, "{}{letter}", self.number)
    }
}

/// Returns the bytes of a whole container, by its header.
pub(crate) fn length(header: &[u8]) -> Option<usize> {
    let head = usize::from(u16_at(header, 6)?);
    let body = usize::try_from(u64_at(header, 8)?).ok()?;
    head.checked_add(body).filter(|_| u32_at(header, 0) == Some(MAGIC))
}

/// Returns the PTX of a container that a device such as 90 runs, or why there is none. PTX that is only for newer devices is taken where there
/// is no other.
pub(crate) fn ptx(container: &[u8], device: u32) -> Result<Vec<u8>, String> {
    let mut at = usize::from(u16_at(container, 6).ok_or("the container is cut short")?);
    let (mut best, mut reason) = (None, MACHINE_CODE.to_owned());
    let mut code = None;
    while let Some(entry) = container.get(at..).filter(|rest| rest.len() >= 64) {
        let (Some(kind), Some(head), Some(body)) =
            (u16_at(entry, 0), u32_at(entry, 4), u64_at(entry, 8))
        else {
            break;
        };
        let (Ok(head), Ok(body)) = (usize::try_from(head), usize::try_from(body)) else { break };
        let end = head.checked_add(body).filter(|end| *end > 0 && *end <= entry.len());
        let end = end.ok_or("an entry is longer than the container")?;
        let target = Target::of(entry);
        let rank = (target.text_runs_on(device), target);
        if kind == KIND_PTX && best.as_ref().is_none_or(|(newest, _)| *newest < rank) {
            match text(entry, head, end) {
                Ok(text) => best = Some((rank, text)),
                Err(why) => reason = why,
            }
        } else if kind == KIND_CODE && target.code_runs_on(device) {
            code = code.max(Some(target));
        }
        at += end;
    }
    let ((can_run, target), text) = best.ok_or(reason)?;
    match code.filter(|code| (can_run, target) < (true, *code)) {
        // What was compiled for another device might be other code.
        Some(code) => {
            let remedy = if target.number == device {
                format!("`-gencode arch=compute_{code},code=compute_{code}` keeps it")
            } else {
                format!("`--device sm_{}` takes that", target.number)
            };
            Err(format!(
                "a device of sm_{device} runs its machine code for sm_{code}, whose PTX is not there, but that for sm_{target}; {remedy}"
            ))
        }
        None => Ok(text),
    }
}

/// Returns the text of an entry of PTX.
fn text(entry: &[u8], head: usize, end: usize) -> Result<Vec<u8>, String> {
    let cut = "an entry is cut short";
    let payload = entry.get(head..end).ok_or(cut)?;
    let flags = u64_at(entry, 40).ok_or(cut)?;
    let size = u64_at(entry, 56).and_then(|size| usize::try_from(size).ok()).ok_or(cut)?;
    let stored = u32_at(entry, 16).and_then(|size| usize::try_from(size).ok()).ok_or(cut)?;
    let decompress = match (flags & FLAG_ZSTD != 0, flags & FLAG_LZ4 != 0) {
        (true, _) => Some(zstd::decompress as fn(&[u8], usize) -> Option<Vec<u8>>),
        (false, true) => Some(lz4::decompress as _),
        (false, false) => None,
    };
    let mut text = match decompress {
        Some(decompress) => {
            let block = payload.get(..stored).ok_or(cut)?;
            decompress(block, size).ok_or("its compressed PTX is damaged")?
        }
        None => payload.to_vec(),
    };
    // Entries are padded with NULs.
    let length = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    text.truncate(length);
    Ok(text)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Reads a little-endian word.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::{HEADER, length, ptx};

    /// An entry of 80 bytes of header, as `fatbinary` writes it: kind, version, sizes, device, flags.
    fn entry(
        kind: u16,
        device: u32,
        flags: u64,
        payload: &[u8],
        stored: u32,
        size: u64,
    ) -> Vec<u8> {
        let padded = payload.len().next_multiple_of(8);
        let mut bytes = Vec::new();
        bytes.extend(kind.to_le_bytes());
        bytes.extend([1, 1]);
        bytes.extend(80_u32.to_le_bytes());
        bytes.extend((padded as u64).to_le_bytes());
        bytes.extend(stored.to_le_bytes());
        bytes.extend(64_u32.to_le_bytes());
        bytes.extend([0, 0, 9, 0]);
        bytes.extend(device.to_le_bytes());
        bytes.extend([0; 8]);
        bytes.extend(flags.to_le_bytes());
        bytes.extend([0; 8]);
        bytes.extend(size.to_le_bytes());
        bytes.resize(80, 0);
        bytes.extend(payload);
        bytes.resize(80 + padded, 0);
        bytes
    }

    fn container(entries: &[Vec<u8>]) -> Vec<u8> {
        let body = entries.concat();
        let mut bytes = vec![0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0];
        bytes.extend((body.len() as u64).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    const PLAIN: u64 = 0x11;

    #[test]
    fn the_ptx_of_the_newest_device_is_taken() {
        let code = entry(2, 90, PLAIN, b"\x7fELF", 0, 0);
        let old = entry(1, 80, PLAIN, b".version 8.0 // old", 0, 0);
        let new = entry(1, 90, PLAIN, b".version 9.0 // new", 0, 0);
        for order in [[code.clone(), new.clone(), old.clone()], [old, code, new]] {
            let bytes = container(&order);
            assert_eq!(length(&bytes[..HEADER]), Some(bytes.len()));
            assert_eq!(ptx(&bytes, 90).unwrap(), b".version 9.0 // new");
        }
    }

    #[test]
    fn ptx_of_newer_devices_is_not_taken_from_older_ones() {
        let texts = [80, 100].map(|device| {
            let text = format!(".version 8.0 // {device}");
            entry(1, device, PLAIN, text.as_bytes(), 0, 0)
        });
        let of = |device| String::from_utf8(ptx(&container(&texts), device).unwrap()).unwrap();
        assert_eq!(
            [70, 80, 90, 100, 120].map(|device| of(device)[16..].to_owned()),
            ["100", "80", "80", "100", "100"]
        );
    }

    #[test]
    fn machine_code_that_the_device_prefers_has_to_be_that_of_the_ptx() {
        let text = entry(1, 80, PLAIN, b".version 8.0", 0, 0);
        let code = |device| entry(2, device, PLAIN, b"\x7fELF", 0, 0);
        let with = |codes: &[u32], device| {
            let mut all: Vec<_> = codes.iter().map(|own| code(*own)).collect();
            all.push(text.clone());
            ptx(&container(&all), device)
        };
        assert!(with(&[80], 80).is_ok() && with(&[80], 90).is_ok());
        // Of another major version, or newer than the device.
        assert!(with(&[75, 86, 100], 90).is_ok() && with(&[86], 80).is_ok());
        assert_eq!(
            with(&[86, 90], 90).unwrap_err(),
            "a device of sm_90 runs its machine code for sm_90, whose PTX is not there, but that for sm_80; `--device sm_80` takes that"
        );
        assert!(with(&[86], 89).is_err());
        // The only PTX is for a newer device.
        let newer = [entry(1, 100, PLAIN, b".version 8.0", 0, 0), code(90)];
        assert!(ptx(&container(&newer), 90).is_err() && ptx(&container(&newer), 100).is_ok());
    }

    #[test]
    fn what_is_for_one_device_or_a_family_is_not_taken_elsewhere() {
        const ONLY: u64 = PLAIN | 0x10_0000;
        const FAMILY: u64 = PLAIN | 0x20_0000;
        let text = |device: u32, flags| {
            let name = format!(".version 8.0 // {device} {flags:x}");
            entry(1, device, flags, name.as_bytes(), 0, 0)
        };
        let code = |device, flags| entry(2, device, flags, b"\x7fELF", 0, 0);
        let taken = |entries: &[Vec<u8>], device| {
            let text = ptx(&container(entries), device)?;
            Ok::<_, String>(String::from_utf8_lossy(&text)[16..].to_owned())
        };
        for order in [[80, 90], [90, 80]] {
            let all = order.map(|own| text(own, if own == 90 { ONLY } else { PLAIN }));
            assert_eq!(
                [80, 90, 100].map(|own| taken(&all, own).unwrap()),
                ["80 11", "90 100011", "80 11"]
            );
        }
        for flags in [[PLAIN, ONLY], [ONLY, PLAIN]] {
            assert_eq!(taken(&flags.map(|own| text(90, own)), 90).unwrap(), "90 100011");
        }
        let family = [text(90, PLAIN), text(100, FAMILY)];
        assert_eq!(
            [90, 100, 103, 120].map(|own| taken(&family, own).unwrap()),
            ["90 11", "100 200011", "100 200011", "90 11"]
        );
        assert_eq!(
            taken(&[text(90, PLAIN), code(90, ONLY)], 90).unwrap_err(),
            "a device of sm_90 runs its machine code for sm_90a, whose PTX is not there, but that for sm_90; \
             `-gencode arch=compute_90a,code=compute_90a` keeps it"
        );
        assert!(taken(&[text(90, PLAIN), code(90, ONLY)], 100).is_ok());
        assert!(taken(&[text(80, PLAIN), code(100, FAMILY)], 103).is_err());
        assert!(taken(&[text(90, ONLY), code(90, PLAIN)], 90).is_ok());
    }

    #[test]
    fn compressed_ptx_is_read_and_what_cannot_be_is_said() {
        // "ab" and six bytes from two back make "abababab".
        let block = b"\x22ab\x02\x00\x00";
        let compressed = entry(1, 90, PLAIN | 0x2000, block, 6, 8);
        assert_eq!(ptx(&container(&[compressed]), 90).unwrap(), b"abababab");
        let damaged = entry(1, 90, PLAIN | 0x2000, block, 6, 9);
        assert!(ptx(&container(&[damaged]), 90).unwrap_err().contains("damaged"));
        // A frame of one last block of three bytes as they are.
        let frame = b"\x28\xb5\x2f\xfd\x20\x03\x19\0\0abc";
        let zstd = entry(1, 90, PLAIN | 0x8000, frame, 12, 3);
        assert_eq!(ptx(&container(&[zstd]), 90).unwrap(), b"abc");
        let code = entry(2, 90, PLAIN, b"\x7fELF", 0, 0);
        assert!(ptx(&container(&[code]), 90).unwrap_err().contains("machine code"));
    }

    #[test]
    fn damaged_containers_are_refused() {
        let whole = container(&[entry(1, 90, PLAIN, b".version 9.0", 0, 0)]);
        assert_eq!(length(b"\x50\xed\x55\xba"), None);
        for end in 0..whole.len() - 4 {
            assert!(ptx(&whole[..end], 90).is_err(), "{end}");
        }
    }
}
