//! Memory management: allocating, freeing, and asking about it.

use crate::allocation::Kind;
use crate::call::Call;
use crate::foreign::{Host, Out};
use crate::interface::allocations;
use crate::runtime::generation::{self, RuntimeMajor};
use crate::status::Answer;

runtime! {
    cudaMemGetInfo(free: Out<usize>, total: Out<usize>) one => allocations::info;
    cudaMalloc(address: Out<u64>, size: usize) one => allocate;
    cudaMallocManaged(address: Out<u64>, size: usize, flags: u32) one => allocations::allocate_managed;
    cudaMallocHost(address: Out<u64>, size: usize) one => allocate_host;
    cudaHostAlloc(address: Out<u64>, size: usize, flags: u32) one => allocate_host_with_flags;
    cudaFree(address: u64) one => allocations::free;
    cudaFreeHost(address: u64) one => free_host;
    cudaMallocAsync(address: Out<u64>, size: usize, stream: u64) ptsz => allocations::allocate_in_order;
    cudaMallocFromPoolAsync(address: Out<u64>, size: usize, pool: u64, stream: u64) ptsz => allocations::allocate_from_pool;
    cudaFreeAsync(address: u64, stream: u64) ptsz => allocations::free_in_order;
    cudaHostRegister(address: Host, size: usize, flags: u32) one => allocations::register;
    cudaHostUnregister(address: u64) one => allocations::unregister;
    cudaHostGetDevicePointer(device: Out<u64>, host: u64, flags: u32) one => allocations::device_pointer;
    cudaHostGetFlags(flags: Out<u32>, host: u64) one => allocations::host_flags;
    cudaMemAdvise(address: u64, size: usize, advice: u32, place: u64) one => advise;
    cudaMemAdvise_v2(address: u64, size: usize, advice: u32, place: u64) one => advise;
    cudaMemPrefetchAsync(address: u64, size: usize, place: u64, third: u64, fourth: u64) ptsz => prefetch;
    cudaMemPrefetchAsync_v2(address: u64, size: usize, place: u64, flags: u32, stream: u64) ptsz => prefetch_to_place;
}

/// An allocation of no bytes is a null pointer.
fn give(call: &Call, address: Out<u64>, size: usize, kind: Kind, flags: u32) -> Answer {
    if size == 0 {
        return address.give(0);
    }
    allocations::give(call, address, size, kind, flags)
}

fn allocate(call: &Call, address: Out<u64>, size: usize) -> Answer {
    give(call, address, size, Kind::Device, 0)
}

fn allocate_host(call: &Call, address: Out<u64>, size: usize) -> Answer {
    give(call, address, size, Kind::Pinned, 0)
}

fn allocate_host_with_flags(call: &Call, address: Out<u64>, size: usize, flags: u32) -> Answer {
    if size == 0 {
        return address.give(0);
    }
    allocations::allocate_host_with_flags(call, address, size, flags)
}

fn free_host(call: &Call, address: u64) -> Answer {
    if address == 0 {
        return Ok(());
    }
    allocations::free_host(call, address)
}

/// The place is a device before CUDA 13, then a structure of the size of a word.
fn advise(call: &Call, address: u64, size: usize, _advice: u32, _place: u64) -> Answer {
    allocations::hint(call, address, size)
}

/// Before CUDA 13 there are no flags between the place and the stream.
fn prefetch(
    call: &Call,
    address: u64,
    size: usize,
    _place: u64,
    third: u64,
    fourth: u64,
) -> Answer {
    let has_flags = generation::current() == RuntimeMajor::Thirteen;
    let stream = if has_flags { fourth } else { third };
    allocations::prefetch(call, address, size, 0, stream)
}

fn prefetch_to_place(
    call: &Call,
    address: u64,
    size: usize,
    _place: u64,
    _flags: u32,
    stream: u64,
) -> Answer {
    allocations::prefetch(call, address, size, 0, stream)
}
