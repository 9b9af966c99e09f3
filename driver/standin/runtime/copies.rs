//! Memory management: copies, and where the program says that they go.

use crate::call::Call;
use crate::interface::copies::{self, CopyPlace};
use crate::interface::devices;
use crate::status::{Answer, Refusal, Status, refuse};

runtime! {
    cudaMemcpy(to: u64, from: u64, count: usize, kind: u32) ptds => copy;
    cudaMemcpyAsync(to: u64, from: u64, count: usize, kind: u32, stream: u64) ptsz => copy_in_order;
    cudaMemcpyPeer(to: u64, to_device: i32, from: u64, from_device: i32, count: usize) one => peer;
    cudaMemcpyPeerAsync(to: u64, to_device: i32, from: u64, from_device: i32, count: usize, stream: u64) one => peer_in_order;
}

/// Returns target and source of a copy (`cudaMemcpyKind`). The host's side might be memory that the device knows too, such as
/// pinned memory.
pub(super) fn places(kind: u32) -> Result<(CopyPlace, CopyPlace), Refusal> {
    Ok(match kind {
        0 | 4 => (CopyPlace::Unified, CopyPlace::Unified),
        1 => (CopyPlace::Device, CopyPlace::Unified),
        2 => (CopyPlace::Unified, CopyPlace::Device),
        3 => (CopyPlace::Device, CopyPlace::Device),
        _ => {
            let reason = format!("a copy in the unknown direction {kind}");
            return Err(refuse(Status::InvalidMemcpyDirection, reason));
        }
    })
}

fn copy(call: &Call, to: u64, from: u64, count: usize, kind: u32) -> Answer {
    copy_in_order(call, to, from, count, kind, 0)
}

fn copy_in_order(call: &Call, to: u64, from: u64, count: usize, kind: u32, stream: u64) -> Answer {
    let (target, source) = places(kind)?;
    copies::copy(&mut *call.current()?, stream, (target, to), (source, from), count as u64)
}

fn peer(call: &Call, to: u64, to_device: i32, from: u64, from_device: i32, count: usize) -> Answer {
    peer_in_order(call, to, to_device, from, from_device, count, 0)
}

fn peer_in_order(
    call: &Call,
    to: u64,
    to_device: i32,
    from: u64,
    from_device: i32,
    count: usize,
    stream: u64,
) -> Answer {
    devices::device(call, to_device)?;
    devices::device(call, from_device)?;
    copy_in_order(call, to, from, count, 3, stream)
}
