//! Memory pools, which the manual has under "Stream Ordered Memory Allocator".

use crate::call::Call;
use crate::foreign::{Host, Out};
use crate::interface::pools;
use crate::status::Answer;

runtime! {
    cudaDeviceGetDefaultMemPool(pool: Out<u64>, device: i32) one => pools::default_pool;
    cudaDeviceGetMemPool(pool: Out<u64>, device: i32) one => pools::get_pool;
    cudaDeviceSetMemPool(device: i32, pool: u64) one => pools::set_pool;
    cudaMemGetDefaultMemPool(pool: Out<u64>, place: Host, kind: u32) one => default_pool_of_place;
    cudaMemGetMemPool(pool: Out<u64>, place: Host, kind: u32) one => pool_of_place;
    cudaMemSetMemPool(place: Host, kind: u32, pool: u64) one => set_pool_of_place;
    cudaMemPoolCreate(pool: Out<u64>, properties: Host) one => pools::create;
    cudaMemPoolDestroy(pool: u64) one => pools::destroy;
    cudaMemPoolTrimTo(pool: u64, keep: usize) one => pools::trim;
    cudaMemPoolSetAttribute(pool: u64, attribute: u32, value: Host) one => pools::set_attribute;
    cudaMemPoolGetAttribute(pool: u64, attribute: u32, value: Host) one => pools::get_attribute;
    cudaMemPoolSetAccess(pool: u64, access: Host, count: usize) one => pools::set_access;
    cudaMemPoolGetAccess(flags: Out<u32>, pool: u64, location: Host) one => pools::get_access;
}

fn default_pool_of_place(call: &Call, pool: Out<u64>, _place: Host, _kind: u32) -> Answer {
    pools::default_pool(call, pool, 0)
}

fn pool_of_place(call: &Call, pool: Out<u64>, _place: Host, _kind: u32) -> Answer {
    pools::get_pool(call, pool, 0)
}

fn set_pool_of_place(call: &Call, _place: Host, _kind: u32, pool: u64) -> Answer {
    pools::set_pool(call, 0, pool)
}
