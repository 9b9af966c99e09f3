//! Memory management: variables of the device, by the variables of the host that stand for them.

use crate::call::Call;
use crate::foreign::{Host, Out};
use crate::interface::copies::{self, CopyPlace};
use crate::runtime::binaries;
use crate::state::State;
use crate::status::{Answer, Refusal, Status, refuse};

runtime! {
    cudaGetSymbolAddress(address: Out<u64>, variable: Host) one => address;
    cudaGetSymbolSize(size: Out<usize>, variable: Host) one => size;
    cudaMemcpyToSymbol(variable: Host, from: u64, count: usize, offset: usize, kind: u32) ptds => copy_in;
    cudaMemcpyToSymbolAsync(variable: Host, from: u64, count: usize, offset: usize, kind: u32, stream: u64) ptsz => copy_in_in_order;
    cudaMemcpyFromSymbol(to: u64, variable: Host, count: usize, offset: usize, kind: u32) ptds => copy_out;
    cudaMemcpyFromSymbolAsync(to: u64, variable: Host, count: usize, offset: usize, kind: u32, stream: u64) ptsz => copy_out_in_order;
}

fn address(call: &Call, address: Out<u64>, variable: Host) -> Answer {
    let (base, _) = binaries::variable(&mut *call.current()?, variable)?;
    address.give(base)
}

fn size(call: &Call, size: Out<usize>, variable: Host) -> Answer {
    let (_, bytes) = binaries::variable(&mut *call.current()?, variable)?;
    size.give(usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// Returns the address of `count` bytes of a variable.
pub(super) fn part(
    state: &mut State,
    variable: Host,
    count: usize,
    offset: usize,
) -> Result<u64, Refusal> {
    let (base, size) = binaries::variable(state, variable)?;
    let (count, offset) = (count as u64, offset as u64);
    let end = offset.saturating_add(count);
    if end > size {
        let reason = format!("copies bytes {offset}..{end} of a variable of {size} bytes");
        return Err(refuse(Status::InvalidValue, reason));
    }
    Ok(base + offset)
}

/// Refuses a copy in another direction than those that a function has (`cudaMemcpyKind`): its own, within the device, any.
fn check_kind(kind: u32, own: u32) -> Answer {
    if kind == own || kind == 3 || kind == 4 {
        return Ok(());
    }
    let reason = format!("a copy of a variable in the direction {kind}");
    Err(refuse(Status::InvalidMemcpyDirection, reason))
}

fn copy_in(
    call: &Call,
    variable: Host,
    from: u64,
    count: usize,
    offset: usize,
    kind: u32,
) -> Answer {
    copy_in_in_order(call, variable, from, count, offset, kind, 0)
}

fn copy_in_in_order(
    call: &Call,
    variable: Host,
    from: u64,
    count: usize,
    offset: usize,
    kind: u32,
    stream: u64,
) -> Answer {
    check_kind(kind, 1)?;
    let mut state = call.current()?;
    let to = part(&mut state, variable, count, offset)?;
    let (to, from) = ((CopyPlace::Device, to), (CopyPlace::Unified, from));
    copies::copy(&mut state, stream, to, from, count as u64)
}

fn copy_out(
    call: &Call,
    to: u64,
    variable: Host,
    count: usize,
    offset: usize,
    kind: u32,
) -> Answer {
    copy_out_in_order(call, to, variable, count, offset, kind, 0)
}

fn copy_out_in_order(
    call: &Call,
    to: u64,
    variable: Host,
    count: usize,
    offset: usize,
    kind: u32,
    stream: u64,
) -> Answer {
    check_kind(kind, 2)?;
    let mut state = call.current()?;
    let from = part(&mut state, variable, count, offset)?;
    let (to, from) = ((CopyPlace::Unified, to), (CopyPlace::Device, from));
    copies::copy(&mut state, stream, to, from, count as u64)
}
