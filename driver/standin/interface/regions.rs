//! Virtual memory management. Memory lies at one address at a time: a second one of the same memory is not supported.

use crate::call::Call;
use crate::foreign::{In, Out, Plain};
use crate::regions::{GRANULARITY, whole};
use crate::status::{Answer, Status, refuse};

exports! {
    cuMemAddressReserve(address: Out<u64>, size: usize, alignment: usize, hint: u64, flags: u64) since 10020 one => reserve;
    cuMemAddressFree(address: u64, size: usize) since 10020 one => unreserve;
    cuMemCreate(handle: Out<u64>, size: usize, properties: In<[u32; 8]>, flags: u64) since 10020 one => create;
    cuMemRelease(handle: u64) since 10020 one => release;
    cuMemMap(address: u64, size: usize, offset: usize, handle: u64, flags: u64) since 10020 one => map;
    cuMemUnmap(address: u64, size: usize) since 10020 one => unmap;
    cuMemSetAccess(address: u64, size: usize, list: In<Access>, count: usize) since 10020 one => set_access;
    cuMemGetAccess(flags: Out<u64>, location: In<[u32; 2]>, address: u64) since 10020 one => get_access;
    cuMemGetAllocationGranularity(granularity: Out<usize>, properties: In<[u32; 8]>, option: u32) since 10020 one => granularity;
    cuMemGetAllocationPropertiesFromHandle(properties: Out<[u32; 8]>, handle: u64) since 10020 one => properties;
    cuMemRetainAllocationHandle(handle: Out<u64>, address: u64) since 11000 one => retain;
}

/// `CUmemAccessDesc`: kind and number of a location, and how it can access memory.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Access {
    kind: u32,
    number: i32,
    flags: u32,
}

// SAFETY: integers alone, without padding.
unsafe impl Plain for Access {}

/// The device, as a kind of location.
const DEVICE: u32 = 1;

fn reserve(
    call: &Call,
    address: Out<u64>,
    size: usize,
    alignment: usize,
    _hint: u64,
    flags: u64,
) -> Answer {
    let mut state = call.current()?;
    whole("the size", size as u64)?;
    if flags != 0 || (alignment != 0 && !alignment.is_power_of_two()) {
        let reason = format!("an alignment of {alignment} and the flags {flags}");
        return Err(refuse(Status::InvalidValue, reason));
    }
    let start = state.memory.reserve(size as u64, GRANULARITY.max(alignment as u64))?;
    state.regions.reserve(start, size as u64);
    address.give(start)
}

fn unreserve(call: &Call, address: u64, size: usize) -> Answer {
    call.current()?.regions.unreserve(address, size as u64)
}

/// Refuses memory that is not the device's; fields are those of `CUmemAllocationProp`.
fn check([kind, _, location, number, ..]: [u32; 8]) -> Answer {
    if kind != 1 || (location == DEVICE && number != 0) {
        let reason = format!("memory of type {kind} of the device {number}");
        return Err(refuse(Status::InvalidValue, reason));
    }
    if location != DEVICE {
        return Err(refuse(Status::NotSupported, "memory that is not the device's"));
    }
    Ok(())
}

fn create(
    call: &Call,
    handle: Out<u64>,
    size: usize,
    properties: In<[u32; 8]>,
    flags: u64,
) -> Answer {
    let mut state = call.current()?;
    whole("the size", size as u64)?;
    let properties = properties.read()?;
    check(properties)?;
    if flags != 0 {
        return Err(refuse(Status::InvalidValue, "the flags are not 0"));
    }
    state.memory.use_bytes(size as u64)?;
    let fresh = state.handle();
    state.regions.create(fresh, size as u64, properties);
    handle.give(fresh)
}

fn release(call: &Call, handle: u64) -> Answer {
    let mut state = call.current()?;
    let gone = state.regions.release(handle)?;
    state.memory.used -= gone;
    Ok(())
}

fn map(call: &Call, address: u64, size: usize, offset: usize, handle: u64, flags: u64) -> Answer {
    let mut state = call.current()?;
    whole("the address", address)?;
    whole("the size", size as u64)?;
    if offset != 0 || flags != 0 {
        let reason = format!("an offset of {offset} and the flags {flags}");
        return Err(refuse(Status::InvalidValue, reason));
    }
    state.regions.map(address, size as u64, handle)
}

fn unmap(call: &Call, address: u64, size: usize) -> Answer {
    let mut state = call.current()?;
    for (start, own) in state.regions.within(address, size as u64, "unmaps")? {
        if own.access != 0 {
            state.memory.close(start, own.size);
        }
        let gone = state.regions.unmap(start);
        state.memory.used -= gone;
    }
    Ok(())
}

fn set_access(call: &Call, address: u64, size: usize, list: In<Access>, count: usize) -> Answer {
    let mut state = call.current()?;
    let all = state.regions.within(address, size as u64, "sets the access to")?;
    for access in list.list(count)? {
        if !matches!(access.flags, 0 | 1 | 3) {
            return Err(refuse(Status::InvalidValue, format!("an access of {}", access.flags)));
        }
        if access.kind != DEVICE {
            return Err(refuse(Status::NotSupported, "access of others than the device"));
        }
        if access.number != 0 {
            let reason = format!("there is no device {}", access.number);
            return Err(refuse(Status::InvalidDevice, reason));
        }
        for (start, _) in &all {
            let Some((_, own)) = state.regions.at(*start).map(|(at, own)| (at, *own)) else {
                continue;
            };
            match (own.access, access.flags) {
                (0, 1 | 3) => state.memory.open(*start, own.size, own.was_mapped),
                (1 | 3, 0) => state.memory.close(*start, own.size),
                _ => {}
            }
            state.regions.set_access(*start, access.flags.into());
        }
    }
    Ok(())
}

fn get_access(call: &Call, flags: Out<u64>, location: In<[u32; 2]>, address: u64) -> Answer {
    let state = call.current()?;
    let [kind, number] = location.read()?;
    let none = || refuse(Status::InvalidValue, "asks for the access to an address without memory");
    let (_, own) = state.regions.at(address).ok_or_else(none)?;
    flags.give(if kind == DEVICE && number == 0 { own.access } else { 0 })
}

fn granularity(call: &Call, to: Out<usize>, properties: In<[u32; 8]>, _option: u32) -> Answer {
    drop(call.ready()?);
    check(properties.read()?)?;
    to.give(usize::try_from(GRANULARITY).unwrap_or(usize::MAX))
}

fn properties(call: &Call, to: Out<[u32; 8]>, handle: u64) -> Answer {
    let found = call.current()?.regions.memory(handle)?.properties;
    to.give(found)
}

fn retain(call: &Call, handle: Out<u64>, address: u64) -> Answer {
    let found = call.current()?.regions.retain(address)?;
    handle.give(found)
}
