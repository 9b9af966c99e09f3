//! Memory: allocating, freeing, and asking about it.

use crate::allocation::Kind;
use crate::call::Call;
use crate::device;
use crate::foreign::{Host, Out};
use crate::state::State;
use crate::status::{Answer, Refusal, Status, refuse};
use crate::work::Work;

exports! {
    cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) since 3020 one => info;
    cuMemAlloc_v2(address: Out<u64>, size: usize) since 3020 one => allocate;
    cuMemAllocPitch_v2(address: Out<u64>, pitch: Out<usize>, width: usize, height: usize, element: u32) since 3020 one => allocate_pitch;
    cuMemAllocManaged(address: Out<u64>, size: usize, flags: u32) since 6000 one => allocate_managed;
    cuMemFree_v2(address: u64) since 3020 one => free;
    cuMemAllocAsync(address: Out<u64>, size: usize, stream: u64) since 11020 ptsz => allocate_in_order;
    cuMemAllocFromPoolAsync(address: Out<u64>, size: usize, pool: u64, stream: u64) since 11020 ptsz => allocate_from_pool;
    cuMemFreeAsync(address: u64, stream: u64) since 11020 ptsz => free_in_order;
    cuMemAllocHost_v2(address: Out<u64>, size: usize) since 3020 one => allocate_host;
    cuMemHostAlloc(address: Out<u64>, size: usize, flags: u32) since 2020 one => allocate_host_with_flags;
    cuMemFreeHost(address: u64) since 2000 one => free_host;
    cuMemHostRegister_v2(address: Host, size: usize, flags: u32) since 6050 one => register;
    cuMemHostUnregister(address: u64) since 4000 one => unregister;
    cuMemHostGetDevicePointer_v2(device: Out<u64>, host: u64, flags: u32) since 3020 one => device_pointer;
    cuMemHostGetFlags(flags: Out<u32>, host: u64) since 2030 one => host_flags;
    cuMemAdvise(address: u64, size: usize, advice: i32, device: i32) since 8000 one => advise;
    cuMemAdvise_v2(address: u64, size: usize, advice: i32, location: u64) since 12020 one => advise_location;
    cuMemPrefetchAsync(address: u64, size: usize, device: i32, stream: u64) since 8000 ptsz => prefetch;
    cuMemPrefetchAsync_v2(address: u64, size: usize, location: u64, flags: u32, stream: u64) since 12020 ptsz => prefetch_location;
}

/// Bytes to which rows are aligned by `cuMemAllocPitch`.
const PITCH: usize = 512;

pub(crate) fn info(call: &Call, free: Out<usize>, total: Out<usize>) -> Answer {
    let state = call.current()?;
    let bytes = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    free.give_if_wanted(bytes(device::MEMORY - state.memory.used));
    total.give_if_wanted(bytes(device::MEMORY));
    Ok(())
}

/// Allocates memory that ends with the current context, and gives its address.
pub(crate) fn give(call: &Call, address: Out<u64>, size: usize, kind: Kind, flags: u32) -> Answer {
    let (mut state, context) = call.context()?;
    give_of(&mut state, context, address, size, kind, flags).map(|_| ())
}

/// The same of memory that ends with this context. Returns the address too.
fn give_of(
    state: &mut State,
    context: u64,
    address: Out<u64>,
    size: usize,
    kind: Kind,
    flags: u32,
) -> Result<u64, Refusal> {
    if address.is_null() {
        return Err(refuse(Status::InvalidValue, "no place for the address is given"));
    }
    let base = state.memory.allocate(size as u64, kind, flags)?;
    state.memory.belongs(base, context);
    address.give(base)?;
    Ok(base)
}

fn allocate(call: &Call, address: Out<u64>, size: usize) -> Answer {
    give(call, address, size, Kind::Device, 0)
}

fn allocate_pitch(
    call: &Call,
    address: Out<u64>,
    pitch: Out<usize>,
    width: usize,
    height: usize,
    element: u32,
) -> Answer {
    if !matches!(element, 4 | 8 | 16) {
        return Err(refuse(
            Status::InvalidValue,
            format!("elements of {element} bytes, of 4, 8 or 16"),
        ));
    }
    let row = pitch_of(width)?;
    give(call, address, row.checked_mul(height).ok_or(Status::InvalidValue)?, Kind::Device, 0)?;
    pitch.give(row)
}

/// Returns the bytes from row to row.
pub(crate) fn pitch_of(width: usize) -> Result<usize, Refusal> {
    Ok(width.checked_next_multiple_of(PITCH).ok_or(Status::InvalidValue)?)
}

pub(crate) fn allocate_managed(call: &Call, address: Out<u64>, size: usize, flags: u32) -> Answer {
    // Attached to all streams, or to the host.
    if !matches!(flags, 1 | 2) {
        return Err(refuse(Status::InvalidValue, format!("managed memory with the flags {flags}")));
    }
    give(call, address, size, Kind::Managed, flags)
}

pub(crate) fn free(call: &Call, address: u64) -> Answer {
    let mut state = call.current()?;
    if address == 0 {
        return Ok(());
    }
    state.memory.free(address, &[Kind::Device, Kind::Managed])
}

pub(crate) fn allocate_in_order(
    call: &Call,
    address: Out<u64>,
    size: usize,
    stream: u64,
) -> Answer {
    call.current()?.streams.stream(stream)?;
    // An allocation of no bytes is a null pointer here.
    if size == 0 {
        return address.give(0);
    }
    let mut state = call.current()?;
    // Pools are the device's, whatever context a stream is of.
    let context = state.contexts.primary().unwrap_or(0);
    let base = give_of(&mut state, context, address, size, Kind::Device, 0)?;
    // Each launch of a graph allocates it anew.
    let _ = state.graphs.keep(stream, Work::Forget { base });
    Ok(())
}

pub(crate) fn allocate_from_pool(
    call: &Call,
    address: Out<u64>,
    size: usize,
    pool: u64,
    stream: u64,
) -> Answer {
    call.current()?.pools.pool(pool)?;
    allocate_in_order(call, address, size, stream)
}

pub(crate) fn free_in_order(call: &Call, address: u64, stream: u64) -> Answer {
    let mut state = call.current()?;
    state.streams.stream(stream)?;
    // In a graph, memory is freed at its launches, of which there might be more.
    if address == 0 || state.graphs.capture_of(stream).is_some() {
        return Ok(());
    }
    state.memory.free(address, &[Kind::Device])
}

fn allocate_host(call: &Call, address: Out<u64>, size: usize) -> Answer {
    give(call, address, size, Kind::Pinned, 0)
}

pub(crate) fn allocate_host_with_flags(
    call: &Call,
    address: Out<u64>,
    size: usize,
    flags: u32,
) -> Answer {
    if flags > 7 {
        return Err(refuse(Status::InvalidValue, format!("unknown flags {flags}")));
    }
    give(call, address, size, Kind::Pinned, flags)
}

pub(crate) fn free_host(call: &Call, address: u64) -> Answer {
    call.current()?.memory.free(address, &[Kind::Pinned])
}

pub(crate) fn register(call: &Call, address: Host, size: usize, flags: u32) -> Answer {
    let (mut state, context) = call.context()?;
    state.memory.register(address, size as u64, flags)?;
    state.memory.belongs(address.number(), context);
    Ok(())
}

pub(crate) fn unregister(call: &Call, address: u64) -> Answer {
    let mut state = call.current()?;
    let done = state.memory.free(address, &[Kind::Registered]);
    done.map_err(|refusal| Refusal { status: Status::HostMemoryNotRegistered, ..refusal })
}

pub(crate) fn device_pointer(call: &Call, device: Out<u64>, host: u64, flags: u32) -> Answer {
    let state = call.current()?;
    if flags != 0 {
        return Err(refuse(Status::InvalidValue, "the flags are not 0"));
    }
    let found = state.memory.inside(host).is_some_and(|(_, own)| own.kind.is_hosts());
    if !found {
        return Err(refuse(
            Status::InvalidValue,
            "asks for the device's pointer to memory that is not mapped",
        ));
    }
    device.give(host)
}

pub(crate) fn host_flags(call: &Call, flags: Out<u32>, host: u64) -> Answer {
    let state = call.current()?;
    let own = state.memory.inside(host).filter(|(_, own)| own.kind.is_hosts());
    let (_, own) = own.ok_or_else(|| {
        refuse(Status::InvalidValue, "asks for the flags of memory that is not pinned")
    })?;
    flags.give(own.flags)
}

fn advise(call: &Call, address: u64, size: usize, _advice: i32, _device: i32) -> Answer {
    hint(call, address, size)
}

fn advise_location(call: &Call, address: u64, size: usize, _advice: i32, _location: u64) -> Answer {
    hint(call, address, size)
}

pub(crate) fn prefetch(
    call: &Call,
    address: u64,
    size: usize,
    _device: i32,
    stream: u64,
) -> Answer {
    call.current()?.streams.stream(stream)?;
    hint(call, address, size)
}

fn prefetch_location(
    call: &Call,
    address: u64,
    size: usize,
    _location: u64,
    _flags: u32,
    stream: u64,
) -> Answer {
    prefetch(call, address, size, 0, stream)
}

/// Where managed memory lies makes no difference here.
pub(crate) fn hint(call: &Call, address: u64, size: usize) -> Answer {
    let state = call.current()?;
    let (base, _) = state.memory.range(address, size as u64, "advises on")?;
    let is_managed = state.memory.inside(base).is_some_and(|(_, own)| own.kind.is_hosts());
    if !is_managed {
        return Err(refuse(Status::InvalidValue, "advises memory that is not managed"));
    }
    Ok(())
}
