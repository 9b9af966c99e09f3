//! Arrays of pointers in the device's memory, which name the matrices of a batch.

use crate::memory::Memory;
use crate::status::{Refusal, Status};

/// Returns the addresses in an array; `None` if the host has not put them there, so that nobody knows them here.
pub(super) fn read(memory: &Memory, array: u64, count: i64) -> Result<Option<Vec<u64>>, Refusal> {
    let count = count.max(0).unsigned_abs();
    let bytes = count.checked_mul(8).ok_or(Status::InvalidValue)?;
    if bytes == 0 {
        return Ok(Some(Vec::new()));
    }
    let found = memory.range(array, bytes, "reads");
    let failed = |refusal| Refusal { status: Status::LaunchFailed, ..refusal };
    let (base, offset) = found.map_err(failed)?;
    let is_known = memory.inside(base).is_some_and(|(_, own)| {
        !own.might_differ(offset, offset + bytes, memory.launches)
            && own.known.within(offset, offset + bytes) == [(offset, offset + bytes)]
    });
    if !is_known {
        return Ok(None);
    }
    let bytes = memory.read(base, offset, usize::try_from(bytes).unwrap_or(0));
    let addresses =
        bytes.chunks_exact(8).filter_map(|word| Some(u64::from_le_bytes(*word.first_chunk()?)));
    Ok(Some(addresses.collect()))
}
