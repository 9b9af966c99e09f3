//! Devices, and access between them: there is one.

use crate::call::Call;
use crate::device::{self, Device};
use crate::foreign::{Out, Text};
use crate::status::{Answer, Refusal, Status, refuse};

exports! {
    cuDeviceGet(device: Out<i32>, ordinal: i32) since 2000 one => get;
    cuDeviceGetCount(count: Out<i32>) since 2000 one => count;
    cuDeviceGetName(name: Out<u8>, length: i32, device: i32) since 2000 one => name;
    cuDeviceGetUuid(id: Out<[u8; 16]>, device: i32) since 9020 one => uuid;
    cuDeviceGetUuid_v2(id: Out<[u8; 16]>, device: i32) since 11040 one => uuid;
    cuDeviceTotalMem_v2(bytes: Out<usize>, device: i32) since 3020 one => total_memory;
    cuDeviceGetAttribute(value: Out<i32>, attribute: i32, device: i32) since 2000 one => attribute;
    cuDeviceGetProperties(properties: Out<[i32; 14]>, device: i32) since 2000 one => properties;
    cuDeviceComputeCapability(major: Out<i32>, minor: Out<i32>, device: i32) since 2000 one => capability;
    cuDeviceGetByPCIBusId(device: Out<i32>, id: Text) since 4010 one => by_bus;
    cuDeviceGetPCIBusId(id: Out<u8>, length: i32, device: i32) since 4010 one => bus;
    cuDeviceGetExecAffinitySupport(value: Out<i32>, kind: i32, device: i32) since 11040 one => affinity;
    cuDeviceCanAccessPeer(can: Out<i32>, device: i32, peer: i32) since 4000 one => can_access;
    cuDeviceGetP2PAttribute(value: Out<i32>, attribute: i32, from: i32, to: i32) since 8000 one => peer_attribute;
    cuCtxEnablePeerAccess(context: u64, flags: u32) since 4000 one => enable_peer;
    cuCtxDisablePeerAccess(context: u64) since 4000 one => disable_peer;
    cuFlushGPUDirectRDMAWrites(target: i32, scope: i32) since 11030 one => flush;
}

/// Where the device is said to be.
const BUS: &str = "0000:01:00.0";

/// Returns the device, if this is its number.
pub(crate) fn device(call: &Call, number: i32) -> Result<Device, Refusal> {
    let state = call.ready()?;
    if number == 0 {
        Ok(state.device)
    } else {
        Err(refuse(Status::InvalidDevice, format!("there is no device {number}")))
    }
}

fn get(call: &Call, device: Out<i32>, ordinal: i32) -> Answer {
    self::device(call, ordinal)?;
    device.give(ordinal)
}

pub(crate) fn count(call: &Call, count: Out<i32>) -> Answer {
    drop(call.ready()?);
    count.give(1)
}

/// Gives as much of a text as fits, with its NUL.
fn give_text(text: &str, to: Out<u8>, length: i32) -> Answer {
    let room = usize::try_from(length).ok().filter(|room| *room > 0).ok_or(Status::InvalidValue)?;
    let mut bytes = text.as_bytes()[..text.len().min(room - 1)].to_vec();
    bytes.push(0);
    to.give_all(&bytes)
}

fn name(call: &Call, name: Out<u8>, length: i32, device: i32) -> Answer {
    self::device(call, device)?;
    give_text(device::NAME, name, length)
}

fn uuid(call: &Call, id: Out<[u8; 16]>, device: i32) -> Answer {
    self::device(call, device)?;
    id.give(device::UUID)
}

fn total_memory(call: &Call, bytes: Out<usize>, device: i32) -> Answer {
    self::device(call, device)?;
    bytes.give(usize::try_from(device::MEMORY).unwrap_or(usize::MAX))
}

pub(crate) fn attribute(call: &Call, value: Out<i32>, attribute: i32, device: i32) -> Answer {
    let own = self::device(call, device)?;
    let unknown =
        || refuse(Status::InvalidValue, format!("there is no attribute {attribute} of a device"));
    value.give(own.attribute(attribute).ok_or_else(unknown)?)
}

/// `CUdevprop`: limits of blocks and grids, then the attributes with these numbers.
fn properties(call: &Call, properties: Out<[i32; 14]>, device: i32) -> Answer {
    const NUMBERS: [i32; 14] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14];
    let own = self::device(call, device)?;
    properties.give(NUMBERS.map(|number| own.attribute(number).unwrap_or(0)))
}

fn capability(call: &Call, major: Out<i32>, minor: Out<i32>, device: i32) -> Answer {
    let own = self::device(call, device)?;
    major.give(own.attribute(75).unwrap_or(0))?;
    minor.give(own.attribute(76).unwrap_or(0))
}

pub(crate) fn by_bus(call: &Call, device: Out<i32>, id: Text) -> Answer {
    drop(call.ready()?);
    let id = id.read()?;
    if !BUS.contains(id.as_str()) || id.is_empty() {
        return Err(refuse(Status::InvalidDevice, format!("there is no device at {id}")));
    }
    device.give(0)
}

pub(crate) fn bus(call: &Call, id: Out<u8>, length: i32, device: i32) -> Answer {
    self::device(call, device)?;
    give_text(BUS, id, length)
}

fn affinity(call: &Call, value: Out<i32>, _kind: i32, device: i32) -> Answer {
    self::device(call, device)?;
    value.give(0)
}

pub(crate) fn can_access(call: &Call, can: Out<i32>, device: i32, peer: i32) -> Answer {
    self::device(call, device)?;
    self::device(call, peer)?;
    can.give(0)
}

pub(crate) fn peer_attribute(
    call: &Call,
    _value: Out<i32>,
    _attribute: i32,
    from: i32,
    to: i32,
) -> Answer {
    self::device(call, from)?;
    self::device(call, to)?;
    Err(refuse(Status::InvalidDevice, "asks how a device reaches itself"))
}

pub(crate) fn enable_peer(call: &Call, _context: u64, _flags: u32) -> Answer {
    drop(call.current()?);
    Err(refuse(Status::InvalidDevice, "a device has no access to itself as a peer"))
}

pub(crate) fn disable_peer(call: &Call, _context: u64) -> Answer {
    drop(call.current()?);
    Err(refuse(Status::PeerAccessNotEnabled, "access to a peer is not enabled"))
}

pub(crate) fn flush(call: &Call, _target: i32, _scope: i32) -> Answer {
    call.ready().map(|_| ())
}
