//! Device management, and access between devices: there is one.

use crate::call::Call;
use crate::device;
use crate::foreign::{Host, In, Out, Text};
use crate::interface::{contexts, devices};
use crate::status::{Answer, Status, refuse};

runtime! {
    cudaGetDeviceCount(count: Out<i32>) one => devices::count;
    cudaGetDevice(device: Out<i32>) one => get;
    cudaSetDevice(device: i32) one => set;
    cudaInitDevice(device: i32, device_flags: u32, flags: u32) one => initialise;
    cudaSetValidDevices(list: In<i32>, count: i32) one => set_valid;
    cudaChooseDevice(device: Out<i32>, properties: Host) one => choose;
    cudaSetDeviceFlags(flags: u32) one => contexts::set_flags;
    cudaGetDeviceFlags(flags: Out<u32>) one => contexts::get_flags;
    cudaDeviceGetAttribute(value: Out<i32>, attribute: i32, device: i32) one => devices::attribute;
    cudaDeviceSynchronize() one => contexts::synchronize;
    cudaThreadSynchronize() one => contexts::synchronize;
    cudaDeviceReset() one => reset;
    cudaThreadExit() one => reset;
    cudaDeviceSetLimit(limit: u32, value: usize) one => contexts::set_limit;
    cudaThreadSetLimit(limit: u32, value: usize) one => contexts::set_limit;
    cudaDeviceGetLimit(value: Out<usize>, limit: u32) one => contexts::get_limit;
    cudaThreadGetLimit(value: Out<usize>, limit: u32) one => contexts::get_limit;
    cudaDeviceGetCacheConfig(cache: Out<u32>) one => contexts::get_cache;
    cudaThreadGetCacheConfig(cache: Out<u32>) one => contexts::get_cache;
    cudaDeviceSetCacheConfig(cache: u32) one => contexts::set_cache;
    cudaThreadSetCacheConfig(cache: u32) one => contexts::set_cache;
    cudaDeviceGetSharedMemConfig(banks: Out<u32>) one => contexts::get_banks;
    cudaDeviceSetSharedMemConfig(banks: u32) one => contexts::set_banks;
    cudaDeviceGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) one => contexts::priorities;
    cudaCtxResetPersistingL2Cache() one => contexts::synchronize;
    cudaDeviceGetByPCIBusId(device: Out<i32>, id: Text) one => devices::by_bus;
    cudaDeviceGetPCIBusId(id: Out<u8>, length: i32, device: i32) one => devices::bus;
    cudaDeviceCanAccessPeer(can: Out<i32>, device: i32, peer: i32) one => devices::can_access;
    cudaDeviceGetP2PAttribute(value: Out<i32>, attribute: i32, from: i32, to: i32) one => devices::peer_attribute;
    cudaDeviceEnablePeerAccess(peer: i32, flags: u32) one => enable_peer;
    cudaDeviceDisablePeerAccess(peer: i32) one => disable_peer;
    cudaDeviceFlushGPUDirectRDMAWrites(target: i32, scope: i32) one => devices::flush;
    cudaDeviceGetTexture1DLinearMaxWidth(width: Out<usize>, format: Host, device: i32) one => widest_texture;
}

fn get(_: &Call, device: Out<i32>) -> Answer {
    device.give(0)
}

fn set(call: &Call, device: i32) -> Answer {
    devices::device(call, device).map(|_| ())
}

fn initialise(call: &Call, device: i32, _device_flags: u32, _flags: u32) -> Answer {
    set(call, device)
}

fn set_valid(call: &Call, list: In<i32>, count: i32) -> Answer {
    for device in list.list(usize::try_from(count).unwrap_or(0))? {
        set(call, device)?;
    }
    Ok(())
}

fn choose(_: &Call, device: Out<i32>, properties: Host) -> Answer {
    if properties.is_null() {
        return Err(refuse(Status::InvalidValue, "no properties to choose by are given"));
    }
    device.give(0)
}

fn reset(call: &Call) -> Answer {
    contexts::reset(call, 0)
}

fn enable_peer(call: &Call, peer: i32, flags: u32) -> Answer {
    set(call, peer)?;
    devices::enable_peer(call, 0, flags)
}

fn disable_peer(call: &Call, peer: i32) -> Answer {
    set(call, peer)?;
    devices::disable_peer(call, 0)
}

fn widest_texture(call: &Call, width: Out<usize>, _format: Host, device: i32) -> Answer {
    set(call, device)?;
    width.give(usize::try_from(device::MEMORY).unwrap_or(usize::MAX))
}
