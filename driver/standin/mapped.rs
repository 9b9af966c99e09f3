//! Whether memory of the host is there: a program might unmap what it has registered (CUDA keeps such memory for its kernels; here it is
//! gone), and might give kernels addresses that only the host can use.

use std::ffi::{c_int, c_ulong, c_void};
use std::io;
use std::process;

use crate::foreign::Host;
use crate::pages;

/// A range of addresses, as the system has it.
#[repr(C)]
struct Range {
    start: *mut c_void,
    length: usize,
}

unsafe extern "C" {
    fn process_vm_readv(
        process: c_int,
        to: *const Range,
        count_to: c_ulong,
        from: *const Range,
        count_from: c_ulong,
        flags: c_ulong,
    ) -> isize;
}

/// What the system answers for addresses without memory.
const EFAULT: i32 = 14;

/// Returns whether a number is an address at which the host has memory, and none that programs compute with: those of 64-bit programs and
/// their libraries need more than 32 bits.
pub(crate) fn is_address(number: u64) -> bool {
    const LOWEST: u64 = 1 << 32;
    const HIGHEST: u64 = 1 << 47;
    (LOWEST..HIGHEST).contains(&number)
        && !pages::is_address(number)
        && read(Host::at(number), 1) == Some(true)
}

/// Returns whether so many bytes can be read. Where the system does not say, they are taken to be there.
pub(crate) fn is_readable(at: Host, count: usize) -> bool {
    read(at, count).unwrap_or(true)
}

/// Returns whether so many bytes can be read; `None` where the system does not say.
fn read(at: Host, count: usize) -> Option<bool> {
    let own = c_int::try_from(process::id()).ok()?;
    let mut bytes = vec![0_u8; count];
    let to = Range { start: bytes.as_mut_ptr().cast(), length: count };
    let from = Range { start: at.raw().cast(), length: count };
    // SAFETY: one range each, of which the first is that of the vector; addresses without memory are an error of the call.
    let read = unsafe { process_vm_readv(own, &raw const to, 1, &raw const from, 1, 0) };
    match usize::try_from(read) {
        Ok(read) => Some(read == count),
        Err(_) => (io::Error::last_os_error().raw_os_error() == Some(EFAULT)).then_some(false),
    }
}
