//! What code that nvcc makes calls: registration of fat binaries, kernels and variables when a program or a library is loaded, and
//! the configuration of a launch on its way from `<<<...>>>` to the function that stands for the kernel.
//!
//! NVIDIA does not document these functions; they are declared in `crt/host_runtime.h` of its compiler.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::panic::{self, AssertUnwindSafe};

use crate::call::Call;
use crate::foreign::{Host, Out, Plain, Text};
use crate::registry::HostSymbol;
use crate::runtime::binaries;
use crate::state;
use crate::status::{Answer, Refusal, Status, refuse};

runtime! {
    __cudaGetKernel(kernel: Out<u64>, function: Host) one => kernel;
    __cudaPopCallConfiguration(grid: Out<CallSizes>, block: Out<CallSizes>, shared: Out<usize>, stream: Out<u64>) one => pop;
}

/// `dim3`, which is passed by value.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct CallSizes {
    x: u32,
    y: u32,
    z: u32,
}

// SAFETY: integers alone, without padding.
unsafe impl Plain for CallSizes {}

impl CallSizes {
    /// Returns x, y and z.
    pub(super) fn all(self) -> [u32; 3] {
        [self.x, self.y, self.z]
    }
}

/// A launch that waits for its arguments: grid, block, dynamic shared memory, stream.
type Waiting = (CallSizes, CallSizes, usize, u64);

thread_local! {
    /// Never dropped: programs launch while they end, too.
    static WAITING: ManuallyDrop<RefCell<Vec<Waiting>>> = const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// Does what returns no code. A panic is a fault of the stand-in; it never reaches the program.
fn quietly<T: Default>(body: impl FnOnce() -> T) -> T {
    panic::catch_unwind(AssertUnwindSafe(body)).unwrap_or_default()
}

/// Registers a fat binary, and returns its handle.
// SAFETY: the symbol is one of the runtime library's, whose place this library takes.
#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinary(image: Host) -> u64 {
    quietly(|| {
        let mut state = state::lock();
        let handle = state.handle();
        state.registry.add(handle, image);
        handle
    })
}

/// Ends the registration of a fat binary.
// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinaryEnd(_binary: u64) {}

/// Ends a fat binary: the program ends, or the library that it is in is unloaded.
// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn __cudaUnregisterFatBinary(binary: u64) {
    quietly(|| {
        let _ = binaries::unload(&mut state::lock(), binary);
    });
}

/// Registers a kernel: the address of the host's function, and its name in the module. What else the compiler says of it is no
/// longer used.
// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFunction(binary: u64, function: Host, _: Host, name: Text) {
    quietly(|| {
        let Ok(name) = name.read() else { return };
        state::lock().registry.add_kernel(function, HostSymbol { binary, name });
    });
}

/// Registers a variable: the address of the host's variable, and its name in the module.
// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterVar(binary: u64, variable: Host, _: Host, name: Text) {
    quietly(|| {
        let Ok(name) = name.read() else { return };
        state::lock().registry.add_variable(variable, HostSymbol { binary, name });
    });
}

/// Registers a managed variable: where the host keeps its address, and its name in the module.
// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterManagedVar(binary: u64, place: Host, _: Host, name: Text) {
    quietly(|| {
        let Ok(name) = name.read() else { return };
        let mut state = state::lock();
        if let Some(own) = state.registry.binary(binary) {
            own.managed.push((name, place));
        }
    });
}

/// Gives managed variables of a fat binary their addresses: called before the host uses one.
// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn __cudaInitModule(binary: u64) -> u8 {
    let done = super::functions::answer("__cudaInitModule", &|call| {
        binaries::load(&mut *call.current()?, binary).map(|_| ())
    });
    u8::from(done == 0)
}

/// Keeps the configuration of a launch for the function that stands for the kernel.
// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn __cudaPushCallConfiguration(
    grid: CallSizes,
    block: CallSizes,
    shared: usize,
    stream: u64,
) -> u32 {
    quietly(|| WAITING.with(|waiting| waiting.borrow_mut().push((grid, block, shared, stream))));
    0
}

fn pop(
    _: &Call,
    grid: Out<CallSizes>,
    block: Out<CallSizes>,
    shared: Out<usize>,
    stream: Out<u64>,
) -> Answer {
    let none = || {
        let reason = "a kernel is called like a function, without <<<...>>>";
        refuse(Status::MissingConfiguration, reason)
    };
    let (own_grid, own_block, own_shared, own_stream) =
        WAITING.with(|waiting| waiting.borrow_mut().pop()).ok_or_else(none)?;
    grid.give(own_grid)?;
    block.give(own_block)?;
    shared.give(own_shared)?;
    stream.give(own_stream)
}

/// Gives the handle of the kernel that a host's function stands for.
pub(super) fn kernel(call: &Call, kernel: Out<u64>, function: Host) -> Answer {
    let handle = find(call, function)?;
    kernel.give(handle)
}

/// Returns the handle of the kernel that a host's function stands for.
pub(super) fn find(call: &Call, function: Host) -> Result<u64, Refusal> {
    binaries::kernel(&mut *call.current()?, function)
}
