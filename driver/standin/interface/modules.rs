//! Modules: loading, and finding kernels and variables in them.

use std::fs;

use crate::call::{Call, Locked};
use crate::foreign::{Host, In, Out, Text};
use crate::modules::{self, Module};
use crate::state::State;
use crate::status::{Answer, Refusal, Status, refuse};

exports! {
    cuModuleLoad(module: Out<u64>, file: Text) since 2000 one => load_file;
    cuModuleLoadData(module: Out<u64>, image: Host) since 2000 one => load;
    cuModuleLoadDataEx(module: Out<u64>, image: Host, count: u32, options: In<u32>, values: In<Host>) since 2010 one => load_with_options;
    cuModuleLoadFatBinary(module: Out<u64>, image: Host) since 2000 one => load;
    cuModuleUnload(module: u64) since 2000 one => unload;
    cuModuleGetLoadingMode(mode: Out<u32>) since 11070 one => loading_mode;
    cuModuleGetFunction(kernel: Out<u64>, module: u64, name: Text) since 2000 one => function;
    cuModuleGetFunctionCount(count: Out<u32>, module: u64) since 12040 one => function_count;
    cuModuleEnumerateFunctions(kernels: Out<u64>, count: u32, module: u64) since 12040 one => functions;
    cuModuleGetGlobal_v2(address: Out<u64>, size: Out<usize>, module: u64, name: Text) since 3020 one => global;
}

/// Options of the compiler whose values are results: the lengths of the texts that it has written.
const INFORMATION_LENGTH: u32 = 4;
const ERROR_LENGTH: u32 = 6;
/// The option whose value is the place for what is wrong.
const ERROR_TEXT: u32 = 5;

/// Adds a module of a context and gives its handle.
fn add((mut state, context): (Locked, u64), mut module: Module, handle: Out<u64>) -> Answer {
    let fresh = state.handle();
    handle.give(fresh)?;
    module.context = context;
    let launches = state.memory.launches;
    state.modules.add(fresh, module, launches);
    Ok(())
}

fn load(call: &Call, module: Out<u64>, image: Host) -> Answer {
    let (mut state, context) = call.context()?;
    let loaded = modules::image(image, &mut state.record)?;
    add((state, context), loaded, module)
}

/// Reads a file with a module.
pub(super) fn read(state: &mut State, file: Text) -> Result<Module, Refusal> {
    let name = file.read()?;
    let missing = |error| refuse(Status::FileNotFound, format!("{name}: {error}"));
    let bytes = fs::read(&name).map_err(missing)?;
    modules::file(&bytes, &mut state.record)
}

fn load_file(call: &Call, module: Out<u64>, file: Text) -> Answer {
    let (mut state, context) = call.context()?;
    let loaded = read(&mut state, file)?;
    add((state, context), loaded, module)
}

fn load_with_options(
    call: &Call,
    module: Out<u64>,
    image: Host,
    count: u32,
    options: In<u32>,
    values: In<Host>,
) -> Answer {
    let done = load(call, module, image);
    let message = done.as_ref().err().and_then(|refusal| refusal.reason.clone());
    log(message.as_deref().unwrap_or(""), count, options, values)?;
    done
}

/// Writes the compiler's texts where the options of a load ask for them: `message` as the error, nothing else.
pub(super) fn log(message: &str, count: u32, options: In<u32>, values: In<Host>) -> Answer {
    let count = usize::try_from(count).unwrap_or(0);
    let (options, given) = (options.list(count)?, values.list(count)?);
    let value =
        |option: u32| options.iter().position(|other| *other == option).map(|at| (at, given[at]));
    // Lengths are numbers in the places of addresses.
    let room =
        value(ERROR_LENGTH).and_then(|(_, room)| usize::try_from(room.number()).ok()).unwrap_or(0);
    let mut written = 0;
    if let Some((_, buffer)) = value(ERROR_TEXT).filter(|(_, buffer)| room > 0 && !buffer.is_null())
    {
        let mut text = message.as_bytes()[..message.len().min(room - 1)].to_vec();
        written = text.len() as u64;
        text.push(0);
        buffer.result::<u8>().give_all(&text)?;
    }
    let places = values.places();
    for (option, length) in [(INFORMATION_LENGTH, 0), (ERROR_LENGTH, written)] {
        if let Some((at, _)) = value(option) {
            places.give_at(at, Host::at(length))?;
        }
    }
    Ok(())
}

fn unload(call: &Call, module: u64) -> Answer {
    let mut state = call.current()?;
    let State { modules, memory, .. } = &mut *state;
    modules.unload(module, memory)
}

fn loading_mode(call: &Call, mode: Out<u32>) -> Answer {
    drop(call.ready()?);
    // Lazy.
    mode.give(2)
}

/// Gives the handle of a kernel of a module.
pub(super) fn function(call: &Call, kernel: Out<u64>, module: u64, name: Text) -> Answer {
    let mut state = call.current()?;
    let (name, fresh) = (name.read()?, state.handle());
    let handle = state.modules.find(module, &name, fresh)?;
    kernel.give(handle)
}

/// Gives the number of kernels of a module.
pub(crate) fn function_count(call: &Call, count: Out<u32>, module: u64) -> Answer {
    let names = call.current()?.modules.module(module)?.kernel_names();
    count.give(u32::try_from(names.len()).unwrap_or(u32::MAX))
}

/// Gives the handles of up to `count` kernels of a module.
pub(crate) fn functions(call: &Call, kernels: Out<u64>, count: u32, module: u64) -> Answer {
    let mut state = call.current()?;
    let mut names = state.modules.module(module)?.kernel_names();
    names.truncate(usize::try_from(count).unwrap_or(usize::MAX));
    let mut handles = Vec::new();
    for name in names {
        let fresh = state.handle();
        handles.push(state.modules.find(module, &name, fresh)?);
    }
    kernels.give_all(&handles)
}

/// Gives address and size of a variable of a module.
pub(crate) fn global(
    call: &Call,
    address: Out<u64>,
    size: Out<usize>,
    module: u64,
    name: Text,
) -> Answer {
    let mut state = call.current()?;
    let name = name.read()?;
    let State { modules, memory, .. } = &mut *state;
    let (base, bytes) = modules.variable(module, &name, memory)?;
    address.give_if_wanted(base);
    size.give_if_wanted(usize::try_from(bytes).unwrap_or(usize::MAX));
    Ok(())
}
