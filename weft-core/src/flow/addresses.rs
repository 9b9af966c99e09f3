//! The address map of a check: where spaces, variables, objects and buffers lie. None of these addresses is one of a
//! real device.

use crate::ptx::Space;

/// The first generic address of the shared window; addresses in the shared space count from 0. As on a device, the low
/// 32 bits of a generic address are not a valid shared address.
pub(crate) const SHARED_WINDOW: u64 = 0x7f00_0000_6c00_0000;
/// The first generic address of the window of each thread's local space; addresses in the space count from 0 as well.
pub(crate) const LOCAL_WINDOW: u64 = 0x7e00_0000_6a00_0000;
/// The first generic address of the window of the kernel's parameters.
pub(crate) const PARAM_WINDOW: u64 = 0x7d00_0000_0000_0000;
/// The first generic address of the window of the constant space.
pub(crate) const CONST_WINDOW: u64 = 0x7c00_0000_0000_0000;
/// The first address of functions.
pub(crate) const FUNCTION_WINDOW: u64 = 0x7b00_0000_0000_0000;
/// The addresses of functions are multiples of this, as on devices.
pub(crate) const FUNCTION_ALIGN: u64 = 128;
/// The size of each window in bytes.
pub(crate) const WINDOW: u64 = 1 << 40;
/// The first address of global variables; the buffers of arguments lie below it.
pub(crate) const GLOBAL_SYMBOLS: u64 = 0x6000_0000_0000_0000;

/// The address from which on the objects lie that `.ptr .shared` and `.ptr .const` parameters point to: behind all
/// variables, one slot for each object.
pub(crate) const OBJECTS: u64 = 1 << 30;
/// The distance from one of these objects to the next, in bytes.
pub(crate) const OBJECT_SLOT: u64 = 1 << 21;
/// Bytes by which an object of open size extends to each side of the pointer, which might point into its middle. Shared
/// memory is not larger than this.
pub(crate) const OBJECT_REACH: u64 = crate::launch::MAX_SHARED;

/// The address from which on events state the tensor memory of a cta, behind its shared memory.
pub(crate) const TENSOR_MEMORY: u64 = 1 << 31;

/// The distance from one shared variable to the next, in bytes; no shared memory is larger, and nothing lies in the
/// first slot. Shared addresses have 32 bits.
pub(crate) const SHARED_SLOT: u64 = 1 << 20;
/// In a placement like that of devices (`Placement::is_near`), shared, local and constant variables begin at multiples
/// of this. Shared variables begin behind the first slot, which the system reserves from compute capability 8.0 on.
pub(crate) const NEAR_SLOT: u64 = 1 << 10;
/// The address from which on the objects of pointer parameters lie in such a placement: the second half of the memory
/// that devices have.
pub(crate) const NEAR_OBJECTS: u64 = 1 << 17;
/// The distance from one of these objects to the next, in bytes; half of a slot lies on either side of the pointer.
pub(crate) const NEAR_OBJECT_SLOT: u64 = 1 << 14;
/// The distance from one local or constant variable to the next, in bytes; their addresses have 32 bits as well.
pub(crate) const LOCAL_SLOT: u64 = 1 << 20;
pub(crate) const CONST_SLOT: u64 = 1 << 20;
/// Up to this address of shared, local and constant memory, each variable has a slot of its own; variables behind it
/// are packed. The objects of pointer parameters follow at `OBJECTS`.
pub(crate) const LAST_SEPARATE: u64 = OBJECTS / 2;
/// One past the last address that variables of these spaces can have.
pub(crate) const NARROW_END: u64 = 1 << 32;

/// The buffers of pointer arguments lie from here on, one slot each, so far apart that an access to one never reaches
/// another.
const BUFFERS: u64 = 0x5000_0000_0000_0000;
const BUFFER_SLOT: u64 = 1 << 42;
/// Bytes by which a buffer of unknown size extends to each side of the pointer, which might point into its middle.
pub(crate) const BUFFER_REACH: u64 = 1 << 40;
/// The most buffers: of pointer arguments, of pointers in structures, and stated ones.
pub(super) const MAX_BUFFERS: u64 = 4096;

/// Returns the first generic address of a space's window, which `cvta` adds to an address in the space; 0 for other
/// spaces.
pub(crate) const fn window(space: Space) -> u64 {
    match space {
        Space::Shared => SHARED_WINDOW,
        Space::Local => LOCAL_WINDOW,
        Space::Param => PARAM_WINDOW,
        Space::Const => CONST_WINDOW,
        _ => 0,
    }
}

/// Returns the state space that a generic address points to, and the address within it.
pub(crate) fn space_of(address: u64) -> (Space, u64) {
    for space in [Space::Shared, Space::Local, Space::Param, Space::Const] {
        let offset = address.wrapping_sub(window(space));
        if offset < WINDOW {
            return (space, offset);
        }
    }
    (Space::Global, address)
}

/// Whether a number is the address of a function. Kernels cannot state such a number; the linker adds it.
pub(crate) const fn is_function(address: u64) -> bool {
    address.wrapping_sub(FUNCTION_WINDOW) < WINDOW
}

/// Returns the middle of the slot of the buffer with this number: the address that a pointer argument with a buffer of
/// its own holds, and that of the first byte of a stated buffer, unless the buffer is moved.
pub(crate) const fn buffer(number: usize) -> u64 {
    BUFFERS + (number as u64 + 1) * BUFFER_SLOT
}

/// Returns the first and the last byte of a buffer's slot, whatever its length is.
pub(crate) const fn slot(number: usize) -> (u64, u64) {
    let first = buffer(number) - BUFFER_SLOT / 2;
    (first, first + (BUFFER_SLOT - 1))
}

/// Returns the number of the buffer whose slot holds an address, which is the position of the pointer argument unless the
/// launch states the buffer; `None` if it is no address in a slot.
pub fn argument_of(address: u64) -> Option<usize> {
    let at = (address.checked_sub(BUFFERS)? + BUFFER_SLOT / 2) / BUFFER_SLOT;
    (1..=MAX_BUFFERS).contains(&at).then(|| usize::try_from(at - 1).expect("there are few buffers"))
}

/// Returns the distance in bytes from the middle of a buffer's slot to an address in it.
pub const fn offset_in_buffer(number: usize, address: u64) -> i64 {
    address.wrapping_sub(buffer(number)).cast_signed()
}
