//! Primary contexts, contexts and their stack.

use crate::call::Call;
use crate::contexts;
use crate::exports::VERSION;
use crate::foreign::{Host, Out};
use crate::interface::devices;
use crate::state::State;
use crate::status::{Answer, Status, refuse};

exports! {
    cuDevicePrimaryCtxRetain(context: Out<u64>, device: i32) since 7000 one => retain;
    cuDevicePrimaryCtxRelease(device: i32) since 7000 one => release;
    cuDevicePrimaryCtxRelease_v2(device: i32) since 11000 one => release;
    cuDevicePrimaryCtxReset(device: i32) since 7000 one => reset;
    cuDevicePrimaryCtxReset_v2(device: i32) since 11000 one => reset;
    cuDevicePrimaryCtxSetFlags(device: i32, flags: u32) since 7000 one => set_primary_flags;
    cuDevicePrimaryCtxSetFlags_v2(device: i32, flags: u32) since 11000 one => set_primary_flags;
    cuDevicePrimaryCtxGetState(device: i32, flags: Out<u32>, active: Out<i32>) since 7000 one => primary_state;
    cuCtxCreate_v2(context: Out<u64>, flags: u32, device: i32) since 3020 one => create;
    cuCtxCreate_v3(context: Out<u64>, affinity: Host, count: i32, flags: u32, device: i32) since 11040 one => create_with_affinity;
    cuCtxCreate_v4(context: Out<u64>, parameters: Host, flags: u32, device: i32) since 12050 one => create_with_parameters;
    cuCtxDestroy_v2(context: u64) since 4000 one => destroy;
    cuCtxPushCurrent_v2(context: u64) since 4000 one => push;
    cuCtxPopCurrent_v2(context: Out<u64>) since 4000 one => pop;
    cuCtxSetCurrent(context: u64) since 4000 one => set_current;
    cuCtxGetCurrent(context: Out<u64>) since 4000 one => get_current;
    cuCtxGetDevice(device: Out<i32>) since 2000 one => get_device;
    cuCtxGetDevice_v2(device: Out<i32>, context: u64) since 13000 one => get_device_of;
    cuCtxGetFlags(flags: Out<u32>) since 7000 one => get_flags;
    cuCtxSetFlags(flags: u32) since 12010 one => set_flags;
    cuCtxGetId(context: u64, id: Out<u64>) since 12000 one => get_id;
    cuCtxSynchronize() since 2000 one => synchronize;
    cuCtxSynchronize_v2(context: u64) since 13000 one => synchronize_one;
    cuCtxGetApiVersion(context: u64, version: Out<u32>) since 3020 one => api_version;
    cuCtxSetLimit(limit: u32, value: usize) since 3010 one => set_limit;
    cuCtxGetLimit(value: Out<usize>, limit: u32) since 3010 one => get_limit;
    cuCtxGetCacheConfig(cache: Out<u32>) since 3020 one => get_cache;
    cuCtxSetCacheConfig(cache: u32) since 3020 one => set_cache;
    cuCtxGetSharedMemConfig(banks: Out<u32>) since 4020 one => get_banks;
    cuCtxSetSharedMemConfig(banks: u32) since 4020 one => set_banks;
    cuCtxGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) since 5050 one => priorities;
    cuCtxResetPersistingL2Cache() since 11000 one => synchronize;
}

fn retain(call: &Call, context: Out<u64>, device: i32) -> Answer {
    devices::device(call, device)?;
    let mut state = call.ready()?;
    let fresh = state.handle();
    let handle = state.contexts.retain(fresh);
    context.give(handle)
}

fn release(call: &Call, device: i32) -> Answer {
    devices::device(call, device)?;
    let mut state = call.ready()?;
    let is_last = state.contexts.release()?;
    if is_last { end(&mut state, None) } else { Ok(()) }
}

/// Ends what belongs to a context that has ended: memory and modules. `None`: the primary one.
fn end(state: &mut State, context: Option<u64>) -> Answer {
    let Some(context) = context.or(state.contexts.primary()) else { return Ok(()) };
    let State { modules, memory, .. } = state;
    modules.end_context(context, memory)?;
    memory.end_context(context)
}

pub(crate) fn reset(call: &Call, device: i32) -> Answer {
    devices::device(call, device)?;
    let mut state = call.ready()?;
    state.contexts.retained = 0;
    state.contexts.end_primary();
    end(&mut state, None)
}

fn set_primary_flags(call: &Call, device: i32, flags: u32) -> Answer {
    devices::device(call, device)?;
    call.ready()?.contexts.primary_flags = flags;
    Ok(())
}

fn primary_state(call: &Call, device: i32, flags: Out<u32>, active: Out<i32>) -> Answer {
    devices::device(call, device)?;
    let state = call.ready()?;
    flags.give(state.contexts.primary_flags)?;
    active.give(i32::from(state.contexts.retained > 0))
}

fn create(call: &Call, context: Out<u64>, flags: u32, device: i32) -> Answer {
    devices::device(call, device)?;
    let mut state = call.ready()?;
    let handle = state.handle();
    context.give(handle)?;
    state.contexts.add(handle, flags);
    contexts::push(handle);
    Ok(())
}

fn create_with_affinity(
    call: &Call,
    context: Out<u64>,
    _: Host,
    count: i32,
    flags: u32,
    device: i32,
) -> Answer {
    if count != 0 {
        return Err(refuse(Status::UnsupportedExecAffinity, "asks for execution affinity"));
    }
    create(call, context, flags, device)
}

fn create_with_parameters(
    call: &Call,
    context: Out<u64>,
    _: Host,
    flags: u32,
    device: i32,
) -> Answer {
    create(call, context, flags, device)
}

fn destroy(call: &Call, context: u64) -> Answer {
    let mut state = call.ready()?;
    state.contexts.destroy(context)?;
    end(&mut state, Some(context))
}

fn push(call: &Call, context: u64) -> Answer {
    call.ready()?.contexts.context(context)?;
    contexts::push(context);
    Ok(())
}

fn pop(call: &Call, context: Out<u64>) -> Answer {
    drop(call.ready()?);
    let none = || refuse(Status::InvalidContext, "the thread has no current context");
    let handle = contexts::pop().ok_or_else(none)?;
    context.give_if_wanted(handle);
    Ok(())
}

fn set_current(call: &Call, context: u64) -> Answer {
    let mut state = call.ready()?;
    if context != 0 {
        state.contexts.context(context)?;
    }
    contexts::set(context);
    Ok(())
}

fn get_current(call: &Call, context: Out<u64>) -> Answer {
    drop(call.ready()?);
    context.give(contexts::current().unwrap_or(0))
}

fn get_device(call: &Call, device: Out<i32>) -> Answer {
    drop(call.current()?);
    device.give(0)
}

/// A function of a context that the caller names; 0 means the current one.
fn named(call: &Call, context: u64) -> Answer {
    let (mut state, current) = call.context()?;
    state.contexts.context(if context == 0 { current } else { context }).map(|_| ())
}

fn get_device_of(call: &Call, device: Out<i32>, context: u64) -> Answer {
    named(call, context)?;
    device.give(0)
}

pub(crate) fn get_flags(call: &Call, flags: Out<u32>) -> Answer {
    let (mut state, current) = call.context()?;
    flags.give(state.contexts.context(current)?.flags)
}

pub(crate) fn set_flags(call: &Call, flags: u32) -> Answer {
    let (mut state, current) = call.context()?;
    state.contexts.context(current)?.flags = flags;
    Ok(())
}

fn get_id(call: &Call, context: u64, id: Out<u64>) -> Answer {
    named(call, context)?;
    id.give(if context == 0 { contexts::current().unwrap_or(0) } else { context })
}

pub(crate) fn synchronize(call: &Call) -> Answer {
    call.current().map(|_| ())
}

fn synchronize_one(call: &Call, context: u64) -> Answer {
    named(call, context)
}

fn api_version(call: &Call, context: u64, version: Out<u32>) -> Answer {
    named(call, context)?;
    version.give(VERSION.unsigned_abs())
}

/// Number of limits (`CUlimit`).
const LIMITS: u32 = 10;

pub(crate) fn set_limit(call: &Call, limit: u32, value: usize) -> Answer {
    let (mut state, current) = call.context()?;
    if limit >= LIMITS {
        return Err(refuse(Status::InvalidValue, format!("there is no limit {limit}")));
    }
    state.contexts.context(current)?.limits.insert(limit, value as u64);
    Ok(())
}

pub(crate) fn get_limit(call: &Call, value: Out<usize>, limit: u32) -> Answer {
    let (mut state, current) = call.context()?;
    let otherwise = match limit {
        0 => 1024,
        1 => 1 << 20,
        2 => 8 << 20,
        3 => 2,
        4 => 2048,
        5 => 64,
        6..LIMITS => 0,
        _ => return Err(refuse(Status::InvalidValue, format!("there is no limit {limit}"))),
    };
    let set = state.contexts.context(current)?.limits.get(&limit).copied().unwrap_or(otherwise);
    value.give(usize::try_from(set).unwrap_or(usize::MAX))
}

pub(crate) fn get_cache(call: &Call, cache: Out<u32>) -> Answer {
    let (mut state, current) = call.context()?;
    cache.give(state.contexts.context(current)?.cache)
}

pub(crate) fn set_cache(call: &Call, cache: u32) -> Answer {
    let (mut state, current) = call.context()?;
    state.contexts.context(current)?.cache = cache;
    Ok(())
}

pub(crate) fn get_banks(call: &Call, banks: Out<u32>) -> Answer {
    let (mut state, current) = call.context()?;
    banks.give(state.contexts.context(current)?.banks)
}

pub(crate) fn set_banks(call: &Call, banks: u32) -> Answer {
    let (mut state, current) = call.context()?;
    state.contexts.context(current)?.banks = banks;
    Ok(())
}

pub(crate) fn priorities(call: &Call, least: Out<i32>, greatest: Out<i32>) -> Answer {
    drop(call.current()?);
    least.give_if_wanted(0);
    greatest.give_if_wanted(-5);
    Ok(())
}
