//! Kernels on slices and iterators, with their bounds checks, panics and inlined functions of `core`.
#![no_std]
#![feature(abi_ptx, stdarch_nvptx)]

use core::arch::nvptx::{_block_dim_x, _block_idx_x, _grid_dim_x, _thread_idx_x};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe { core::arch::nvptx::trap() }
}

fn index() -> usize {
    unsafe { (_block_idx_x() * _block_dim_x() + _thread_idx_x()) as usize }
}

fn threads() -> usize {
    unsafe { (_grid_dim_x() * _block_dim_x()) as usize }
}

macro_rules! slices {
    ($name:ident: $length:ident) => {
        unsafe { core::slice::from_raw_parts($name, $length) }
    };
    (mut $name:ident: $length:expr) => {
        unsafe { core::slice::from_raw_parts_mut($name, $length) }
    };
}

/// Every access has a bounds check against an open length.
#[no_mangle]
pub unsafe extern "ptx-kernel" fn checked_add(a: *const f32, b: *const f32, to: *mut f32, n: usize) {
    let (a, b, to) = (slices!(a: n), slices!(b: n), slices!(mut to: n));
    to[index()] = a[index()] + b[index()];
}

/// The compiler removes the bounds checks, because the length is known.
#[no_mangle]
pub unsafe extern "ptx-kernel" fn checked_known(a: *const u32, to: *mut u32) {
    const N: usize = 256;
    let (a, to) = (slices!(a: N), slices!(mut to: N));
    to[index()] = a[N - 1 - index()];
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn zipped_sum(a: *const i32, b: *const i32, to: *mut i32, n: usize) {
    let (a, b) = (slices!(a: n), slices!(b: n));
    let sum = a.iter().zip(b).skip(index()).step_by(threads()).map(|(x, y)| x * y).sum();
    *to.add(index()) = sum;
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn windows(a: *const i32, to: *mut i32) {
    const N: usize = 64;
    let a = slices!(a: N);
    let rises = a.windows(2).filter(|pair| pair[0] < pair[1]).count();
    let most = a.chunks_exact(8).map(|chunk| chunk.iter().copied().max().unwrap_or(0)).max();
    *to.add(index()) = rises as i32 + most.expect("there are chunks");
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn own_chunk(a: *const u8, to: *mut u8) {
    const N: usize = 16 * 256;
    let (a, to) = (slices!(a: N), slices!(mut to: N));
    let chunk = to.chunks_mut(16).nth(index()).unwrap();
    chunk.copy_from_slice(&a[index() * 16..][..16]);
    chunk.reverse();
    chunk.rotate_left(3);
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn sorted(a: *const u32, to: *mut u32) {
    let mut own = [0_u32; 12];
    for (at, x) in own.iter_mut().enumerate() {
        *x = *a.add(index() * 12 + at);
    }
    own.sort_unstable();
    for (at, x) in own.iter().enumerate() {
        *to.add(index() * 12 + at) = *x;
    }
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn searched(a: *const u32, keys: *const u32, to: *mut u32, n: usize) {
    let a = slices!(a: n);
    *to.add(index()) = match a.binary_search(&*keys.add(index())) {
        Ok(at) => at as u32,
        Err(at) => !(at as u32),
    };
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn split(a: *const u16, to: *mut u16, n: usize, at: usize) {
    let (a, to) = (slices!(a: n), slices!(mut to: 1024));
    let (left, right) = a.split_at(at);
    let (low, high) = to.split_at_mut(512);
    low[index()] = left[index()];
    high[index()] = right[index()];
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn swapped(a: *mut u64) {
    const N: usize = 512;
    let a = slices!(mut a: N);
    a.swap(index(), N - 1 - index());
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn filled(a: *mut u32) {
    let a = slices!(mut a: 8 * 256);
    a.chunks_exact_mut(8).nth(index()).unwrap().fill(3);
}
