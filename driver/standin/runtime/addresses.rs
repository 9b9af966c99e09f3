//! Unified addressing: what is known of a pointer.

use crate::allocation::Kind;
use crate::call::Call;
use crate::foreign::Host;
use crate::status::{Answer, Status, refuse};

runtime! {
    cudaPointerGetAttributes(attributes: Host, address: u64) one => attributes;
}

/// Kinds of memory (`cudaMemoryType`).
const UNREGISTERED: i32 = 0;
const HOST: i32 = 1;
const DEVICE: i32 = 2;
const MANAGED: i32 = 3;
/// The number of no device.
const NO_DEVICE: i32 = -2;

/// Gives `cudaPointerAttributes`: kind and device, then the addresses by which the device and the host use the memory. What CUDA 13
/// has behind them is reserved.
fn attributes(call: &Call, attributes: Host, address: u64) -> Answer {
    if attributes.is_null() {
        return Err(refuse(Status::InvalidValue, "no place for the attributes is given"));
    }
    let state = call.current()?;
    let kind = state.memory.inside(address).map(|(_, own)| own.kind);
    let (kind, device, on_device, on_host) = match kind {
        None => (UNREGISTERED, NO_DEVICE, 0, address),
        Some(Kind::Device | Kind::Variable | Kind::Mapped | Kind::Array) => (DEVICE, 0, address, 0),
        Some(Kind::Managed) => (MANAGED, 0, address, address),
        Some(Kind::Pinned | Kind::Registered) => (HOST, 0, address, address),
    };
    attributes.result::<[i32; 2]>().give([kind, device])?;
    attributes.offset(8).result::<[u64; 2]>().give([on_device, on_host])
}
