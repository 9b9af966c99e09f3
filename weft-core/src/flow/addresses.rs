//! The address map: where the spaces, variables, objects and buffers of a check lie. No address here is one of a device.

use crate::ptx::Space;

/// The generic window of the shared space; a shared address counts from 0. As on a device, the low word of a generic
/// address is no shared one.
pub(crate) const SHARED_WINDOW: u64 = 0x7f00_0000_6c00_0000;
/// The generic window of each thread's local space, likewise.
pub(crate) const LOCAL_WINDOW: u64 = 0x7e00_0000_6a00_0000;
/// The generic window of the kernel's parameters.
pub(crate) const PARAM_WINDOW: u64 = 0x7d00_0000_0000_0000;
/// The generic window of the constant space.
pub(crate) const CONST_WINDOW: u64 = 0x7c00_0000_0000_0000;
/// Where the addresses of functions start.
pub(crate) const FUNCTION_WINDOW: u64 = 0x7b00_0000_0000_0000;
/// Functions lie at multiples of this, as on devices.
pub(crate) const FUNCTION_ALIGN: u64 = 128;
/// Bytes of each window.
pub(crate) const WINDOW: u64 = 1 << 40;
/// The first address of global variables; buffers of arguments lie below.
pub(crate) const GLOBAL_SYMBOLS: u64 = 0x6000_0000_0000_0000;

/// Where the objects lie that `.ptr .shared` and `.ptr .const` parameters point to: behind all variables, a slot each.
pub(crate) const OBJECTS: u64 = 1 << 30;
/// From one of them to the next.
pub(crate) const OBJECT_SLOT: u64 = 1 << 21;
/// An object of open size reaches so far on both sides of the pointer, which may point into its middle: no more shared
/// memory is there.
pub(crate) const OBJECT_REACH: u64 = crate::launch::MAX_SHARED;

/// From one shared variable to the next; no shared memory is larger, and nothing lies in the first slot. Shared addresses
/// have 32 bits.
pub(crate) const SHARED_SLOT: u64 = 1 << 20;
/// Shared, local and constant variables that lie where devices have them begin at multiples of this, shared ones behind
/// the first one: so much the system takes for itself from compute capability 8.0 on.
pub(crate) const NEAR_SLOT: u64 = 1 << 10;
/// Where the objects of pointer parameters lie beside such variables: in the second half of the memory that devices have.
pub(crate) const NEAR_OBJECTS: u64 = 1 << 17;
/// From one of them to the next; half of it lies on either side of a pointer.
pub(crate) const NEAR_OBJECT_SLOT: u64 = 1 << 14;
/// From one local or constant variable to the next, whose addresses have 32 bits as well.
pub(crate) const LOCAL_SLOT: u64 = 1 << 20;
pub(crate) const CONST_SLOT: u64 = 1 << 20;
/// The last address of shared, local and constant memory from which on a variable lies by itself; the objects of pointer
/// parameters follow.
pub(crate) const LAST_APART: u64 = OBJECTS / 2;
/// Behind the last address that variables of these spaces may have.
pub(crate) const NARROW_END: u64 = 1 << 32;

/// Where the buffers of pointer arguments lie: a slot each, so far apart that none is reached from another.
const BUFFERS: u64 = 0x5000_0000_0000_0000;
const BUFFER_SLOT: u64 = 1 << 42;
/// A buffer of unknown size reaches so far on both sides of the pointer, which may point into its middle.
pub(crate) const BUFFER_REACH: u64 = 1 << 40;
/// Pointer arguments, and pointers in structures, that have buffers.
const MAX_BUFFERS: u64 = 4096;

/// The generic address that `cvta` makes of an address in a space.
pub(crate) const fn window(space: Space) -> u64 {
    match space {
        Space::Shared => SHARED_WINDOW,
        Space::Local => LOCAL_WINDOW,
        Space::Param => PARAM_WINDOW,
        Space::Const => CONST_WINDOW,
        _ => 0,
    }
}

/// The state space that a generic address points to, and the address within it.
pub(crate) fn space_of(address: u64) -> (Space, u64) {
    for space in [Space::Shared, Space::Local, Space::Param, Space::Const] {
        let offset = address.wrapping_sub(window(space));
        if offset < WINDOW {
            return (space, offset);
        }
    }
    (Space::Global, address)
}

/// Whether a number is the address of a function, which no text can name.
pub(crate) const fn is_function(address: u64) -> bool {
    address.wrapping_sub(FUNCTION_WINDOW) < WINDOW
}

/// Where the slot of a pointer argument's buffer is.
pub(crate) const fn buffer(position: usize) -> u64 {
    BUFFERS + (position as u64 + 1) * BUFFER_SLOT
}

/// The first and the last byte of the buffer of a pointer argument, however long it is.
pub(crate) const fn slot(position: usize) -> (u64, u64) {
    let first = buffer(position) - BUFFER_SLOT / 2;
    (first, first + (BUFFER_SLOT - 1))
}

/// The pointer argument whose buffer holds an address.
pub fn argument_of(address: u64) -> Option<usize> {
    let at = (address.checked_sub(BUFFERS)? + BUFFER_SLOT / 2) / BUFFER_SLOT;
    (1..=MAX_BUFFERS).contains(&at).then(|| usize::try_from(at - 1).unwrap_or(0))
}

/// Bytes from where a pointer argument points, unless it is moved, to an address in its buffer.
pub const fn offset_in_buffer(position: usize, address: u64) -> i64 {
    address.wrapping_sub(buffer(position)).cast_signed()
}
