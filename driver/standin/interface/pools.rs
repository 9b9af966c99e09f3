//! Memory pools. They have attributes, and hand out the same memory as every allocation.

use crate::call::Call;
use crate::foreign::{Host, Out};
use crate::interface::devices;
use crate::status::{Answer, Status, refuse};

exports! {
    cuDeviceGetDefaultMemPool(pool: Out<u64>, device: i32) since 11020 one => default_pool;
    cuDeviceGetMemPool(pool: Out<u64>, device: i32) since 11020 one => get_pool;
    cuDeviceSetMemPool(device: i32, pool: u64) since 11020 one => set_pool;
    cuMemPoolCreate(pool: Out<u64>, properties: Host) since 11020 one => create;
    cuMemPoolDestroy(pool: u64) since 11020 one => destroy;
    cuMemPoolTrimTo(pool: u64, keep: usize) since 11020 one => trim;
    cuMemPoolSetAttribute(pool: u64, attribute: u32, value: Host) since 11020 one => set_attribute;
    cuMemPoolGetAttribute(pool: u64, attribute: u32, value: Host) since 11020 one => get_attribute;
    cuMemPoolSetAccess(pool: u64, access: Host, count: usize) since 11020 one => set_access;
    cuMemPoolGetAccess(flags: Out<u32>, pool: u64, location: Host) since 11020 one => get_access;
}

pub(crate) fn default_pool(call: &Call, pool: Out<u64>, device: i32) -> Answer {
    devices::device(call, device)?;
    let mut state = call.ready()?;
    let fresh = state.handle();
    let handle = state.pools.default_pool(fresh);
    pool.give(handle)
}

pub(crate) fn get_pool(call: &Call, pool: Out<u64>, device: i32) -> Answer {
    devices::device(call, device)?;
    let chosen = call.ready()?.pools.chosen;
    match chosen {
        Some(handle) => pool.give(handle),
        None => default_pool(call, pool, device),
    }
}

pub(crate) fn set_pool(call: &Call, device: i32, pool: u64) -> Answer {
    devices::device(call, device)?;
    let mut state = call.ready()?;
    state.pools.pool(pool)?;
    state.pools.chosen = Some(pool);
    Ok(())
}

pub(crate) fn create(call: &Call, pool: Out<u64>, properties: Host) -> Answer {
    let mut state = call.ready()?;
    if properties.is_null() {
        return Err(refuse(Status::InvalidValue, "a memory pool without properties"));
    }
    let handle = state.handle();
    pool.give(handle)?;
    state.pools.add(handle);
    Ok(())
}

pub(crate) fn destroy(call: &Call, pool: u64) -> Answer {
    call.ready()?.pools.destroy(pool)
}

pub(crate) fn trim(call: &Call, pool: u64, _keep: usize) -> Answer {
    call.ready()?.pools.pool(pool).map(|_| ())
}

/// Attributes up to this one are numbers of 32 bits, those behind it of 64 (`CUmemPool_attribute`).
const LAST_SHORT: u32 = 3;
/// The attributes.
const ATTRIBUTES: std::ops::RangeInclusive<u32> = 1..=8;
/// Memory that is reserved or in use, now and at most.
const USAGE: std::ops::RangeInclusive<u32> = 5..=8;

pub(crate) fn set_attribute(call: &Call, pool: u64, attribute: u32, value: Host) -> Answer {
    let mut state = call.ready()?;
    let own = state.pools.pool(pool)?;
    if !ATTRIBUTES.contains(&attribute) {
        return Err(refuse(
            Status::InvalidValue,
            format!("there is no attribute {attribute} of a memory pool"),
        ));
    }
    let value = if attribute <= LAST_SHORT {
        u64::from(value.values::<u32>().read()?)
    } else {
        value.values::<u64>().read()?
    };
    own.insert(attribute, value);
    Ok(())
}

pub(crate) fn get_attribute(call: &Call, pool: u64, attribute: u32, value: Host) -> Answer {
    let mut state = call.ready()?;
    let used = state.memory.used;
    let own = state.pools.pool(pool)?;
    let set = own.get(&attribute).copied();
    match attribute {
        1..=LAST_SHORT => value.result().give(set.map_or(1_u32, |set| u32::from(set != 0))),
        _ if USAGE.contains(&attribute) => value.result().give(used),
        _ if ATTRIBUTES.contains(&attribute) => value.result().give(set.unwrap_or(0)),
        _ => Err(refuse(
            Status::InvalidValue,
            format!("there is no attribute {attribute} of a memory pool"),
        )),
    }
}

pub(crate) fn set_access(call: &Call, pool: u64, _access: Host, _count: usize) -> Answer {
    call.ready()?.pools.pool(pool).map(|_| ())
}

pub(crate) fn get_access(call: &Call, flags: Out<u32>, pool: u64, _location: Host) -> Answer {
    call.ready()?.pools.pool(pool)?;
    // Reading and writing.
    flags.give(3)
}
