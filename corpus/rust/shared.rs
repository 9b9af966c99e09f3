//! Kernels with shared memory, barriers and atomics. Rust has no syntax for shared memory, so inline PTX declares it.
#![no_std]
#![feature(abi_ptx, stdarch_nvptx, asm_experimental_arch)]

use core::arch::asm;
use core::arch::nvptx::{_block_idx_x, _syncthreads, _thread_idx_x};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const BLOCK: usize = 128;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe { core::arch::nvptx::trap() }
}

fn thread() -> usize {
    unsafe { _thread_idx_x() as usize }
}

fn index() -> usize {
    unsafe { _block_idx_x() as usize * BLOCK + thread() }
}

macro_rules! tile {
    () => {{
        let at: *mut u32;
        asm!(
            ".shared .align 4 .b8 tile[512];",
            "cvta.shared.u64 {at}, tile;",
            at = out(reg64) at,
        );
        at
    }};
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn reversed(a: *const u32, to: *mut u32) {
    let tile = tile!();
    *tile.add(thread()) = *a.add(index());
    _syncthreads();
    let tile = core::slice::from_raw_parts(tile, BLOCK);
    *to.add(index()) = tile[BLOCK - 1 - thread()];
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn reduced(a: *const u32, to: *mut u32, n: usize) {
    let tile = tile!();
    let a = core::slice::from_raw_parts(a, n);
    *tile.add(thread()) = a.get(index()).copied().unwrap_or_default();
    let mut half = BLOCK / 2;
    while half > 0 {
        _syncthreads();
        if thread() < half {
            *tile.add(thread()) += *tile.add(thread() + half);
        }
        half /= 2;
    }
    if thread() == 0 {
        *to.add(_block_idx_x() as usize) = *tile;
    }
}

/// Between two barriers stands a bounds check that panics depending on an open length.
#[no_mangle]
pub unsafe extern "ptx-kernel" fn checked_between(a: *const u32, to: *mut u32, n: usize) {
    let tile = tile!();
    let a = core::slice::from_raw_parts(a, n);
    *tile.add(thread()) = a[index()];
    _syncthreads();
    *to.add(index()) = *tile.add((thread() + 1) % BLOCK);
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn counted(a: *const u32, bins: *const AtomicU32) {
    let bins = core::slice::from_raw_parts(bins, 64);
    bins[(*a.add(index()) % 64) as usize].fetch_add(1, Ordering::Relaxed);
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn exchanged(most: *const AtomicU64, a: *const u64) {
    let x = *a.add(index());
    if (*most).fetch_max(x, Ordering::AcqRel) > x {
        (*most).fetch_sub(1, Ordering::Release);
    }
}
