//! Libraries: modules that belong to no context. Here they are modules.

use crate::call::Call;
use crate::foreign::{Host, In, Out, Text};
use crate::interface::modules;
use crate::state::State;
use crate::status::{Answer, Status};

exports! {
    cuLibraryLoadData(library: Out<u64>, image: Host, options: In<u32>, values: In<Host>, count: u32, own: Host, own_values: Host, own_count: u32) since 12000 one => load;
    cuLibraryLoadFromFile(library: Out<u64>, file: Text, options: In<u32>, values: In<Host>, count: u32, own: Host, own_values: Host, own_count: u32) since 12000 one => load_file;
    cuLibraryUnload(library: u64) since 12000 one => unload;
    cuLibraryGetKernel(kernel: Out<u64>, library: u64, name: Text) since 12000 one => kernel;
    cuLibraryGetKernelCount(count: Out<u32>, library: u64) since 12040 one => modules::function_count;
    cuLibraryEnumerateKernels(kernels: Out<u64>, count: u32, library: u64) since 12040 one => modules::functions;
    cuLibraryGetModule(module: Out<u64>, library: u64) since 12000 one => module;
    cuLibraryGetGlobal(address: Out<u64>, size: Out<usize>, library: u64, name: Text) since 12000 one => modules::global;
    cuLibraryGetManaged(address: Out<u64>, size: Out<usize>, library: u64, name: Text) since 12000 one => modules::global;
    cuKernelGetFunction(function: Out<u64>, kernel: u64) since 12000 one => function;
    cuKernelGetLibrary(library: Out<u64>, kernel: u64) since 12050 one => library;
}

#[allow(clippy::too_many_arguments, reason = "the driver's own parameters")]
pub(crate) fn load(
    call: &Call,
    library: Out<u64>,
    image: Host,
    options: In<u32>,
    values: In<Host>,
    count: u32,
    _own: Host,
    _own_values: Host,
    _own_count: u32,
) -> Answer {
    let mut state = call.ready()?;
    let loaded = crate::modules::image(image, &mut state.record);
    let message = loaded.as_ref().err().and_then(|refusal| refusal.reason.clone());
    modules::log(message.as_deref().unwrap_or(""), count, options, values)?;
    let fresh = state.handle();
    library.give(fresh)?;
    let launches = state.memory.launches;
    state.modules.add(fresh, loaded?, launches);
    Ok(())
}

#[allow(clippy::too_many_arguments, reason = "the driver's own parameters")]
pub(crate) fn load_file(
    call: &Call,
    library: Out<u64>,
    file: Text,
    _options: In<u32>,
    _values: In<Host>,
    _count: u32,
    _own: Host,
    _own_values: Host,
    _own_count: u32,
) -> Answer {
    let mut state = call.ready()?;
    let loaded = modules::read(&mut state, file)?;
    let fresh = state.handle();
    library.give(fresh)?;
    let launches = state.memory.launches;
    state.modules.add(fresh, loaded, launches);
    Ok(())
}

pub(crate) fn unload(call: &Call, library: u64) -> Answer {
    let mut state = call.ready()?;
    let State { modules, memory, .. } = &mut *state;
    modules.unload(library, memory)
}

pub(crate) fn kernel(call: &Call, kernel: Out<u64>, library: u64, name: Text) -> Answer {
    let mut state = call.ready()?;
    let (name, fresh) = (name.read()?, state.handle());
    let handle = state.modules.find(library, &name, fresh)?;
    kernel.give(handle)
}

fn module(call: &Call, module: Out<u64>, library: u64) -> Answer {
    call.current()?.modules.module(library)?;
    module.give(library)
}

fn function(call: &Call, function: Out<u64>, kernel: u64) -> Answer {
    call.current()?.modules.kernel(kernel)?;
    function.give(kernel)
}

fn library(call: &Call, library: Out<u64>, kernel: u64) -> Answer {
    let state = call.ready()?;
    let own = state.modules.kernel(kernel)?;
    if own.module == 0 {
        return Err(Status::InvalidHandle.into());
    }
    library.give(own.module)
}
