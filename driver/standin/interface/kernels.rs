//! Kernels: their attributes, names and parameters.

use crate::call::{Call, Locked};
use crate::device;
use crate::foreign::{Host, Out};
use crate::limits::{DYNAMIC_SHARED, LARGE_CLUSTERS};
use crate::status::{Answer, Refusal, Status, refuse};

exports! {
    cuFuncGetAttribute(value: Out<i32>, attribute: i32, kernel: u64) since 2020 one => get_attribute;
    cuFuncSetAttribute(kernel: u64, attribute: i32, value: i32) since 9000 one => set_attribute;
    cuKernelGetAttribute(value: Out<i32>, attribute: i32, kernel: u64, device: i32) since 12000 one => get_attribute_on;
    cuKernelSetAttribute(attribute: i32, value: i32, kernel: u64, device: i32) since 12000 one => set_attribute_on;
    cuFuncSetCacheConfig(kernel: u64, cache: u32) since 3000 one => set_cache;
    cuKernelSetCacheConfig(kernel: u64, cache: u32, device: i32) since 12000 one => set_cache_on;
    cuFuncSetSharedMemConfig(kernel: u64, banks: u32) since 4020 one => set_cache;
    cuFuncGetModule(module: Out<u64>, kernel: u64) since 11000 one => module;
    cuFuncGetName(name: Out<Host>, kernel: u64) since 12030 one => name;
    cuKernelGetName(name: Out<Host>, kernel: u64) since 12030 one => name;
    cuFuncGetParamInfo(kernel: u64, index: usize, offset: Out<usize>, size: Out<usize>) since 12040 one => parameter;
    cuKernelGetParamInfo(kernel: u64, index: usize, offset: Out<usize>, size: Out<usize>) since 12040 one => parameter;
    cuFuncIsLoaded(state: Out<u32>, kernel: u64) since 12040 one => is_loaded;
    cuFuncLoad(kernel: u64) since 12040 one => load;
}

/// Registers of a thread as they are said to be: what the compiler would take is not known.
const REGISTERS: i32 = 32;

fn number(value: impl TryInto<i32>) -> i32 {
    value.try_into().unwrap_or(i32::MAX)
}

/// Returns an attribute of a kernel (`CUfunction_attribute`).
pub(crate) fn attribute(state: &Locked, kernel: u64, attribute: i32) -> Result<i32, Refusal> {
    let own = state.modules.kernel(kernel)?;
    let target = state.modules.module(own.module).map_or(0, |module| number(module.target()));
    let signature = own.signature.as_deref();
    let shared = signature.map_or(0, |signature| signature.shared);
    let set = own.attributes.get(&attribute).copied();
    let cluster = signature.and_then(|signature| signature.cluster);
    Ok(match attribute {
        0 => {
            let block =
                signature.and_then(|signature| signature.block).map(|block| block.iter().product());
            let most = signature.and_then(|signature| signature.most_threads);
            number(most.or(block).unwrap_or(device::THREADS).min(device::THREADS))
        }
        1 => number(shared),
        4 => REGISTERS,
        5 => target,
        6 => number(state.device.capability.0 * 10 + state.device.capability.1),
        DYNAMIC_SHARED => set.unwrap_or(number(device::SHARED.saturating_sub(shared))),
        9 => set.unwrap_or(-1),
        10 => i32::from(cluster.is_some()),
        11..=13 => {
            let axis = usize::try_from(attribute - 11).unwrap_or(0);
            set.unwrap_or(cluster.map_or(0, |cluster| number(cluster[axis])))
        }
        2 | 3 | 7 | LARGE_CLUSTERS | 15 => set.unwrap_or(0),
        _ => {
            return Err(refuse(
                Status::InvalidValue,
                format!("there is no attribute {attribute} of a kernel"),
            ));
        }
    })
}

fn get_attribute(call: &Call, value: Out<i32>, attribute: i32, kernel: u64) -> Answer {
    let found = self::attribute(&call.current()?, kernel, attribute)?;
    value.give(found)
}

pub(crate) fn set_attribute(call: &Call, kernel: u64, attribute: i32, value: i32) -> Answer {
    let mut state = call.current()?;
    let device = state.device;
    let own = state.modules.kernel_mut(kernel)?;
    let shared = own.signature.as_ref().map_or(0, |signature| signature.shared);
    let name = own.name.clone();
    let wrong =
        |reason| Err(Refusal { kernel: Some(name), ..refuse(Status::InvalidValue, reason) });
    match attribute {
        DYNAMIC_SHARED => {
            let most = device.most_shared().saturating_sub(shared);
            if u64::try_from(value).is_ok_and(|bytes| bytes > most) || value < 0 {
                return wrong(format!(
                    "asks for {value} bytes of dynamic shared memory, of at most {most}"
                ));
            }
        }
        9 if !(-1..=100).contains(&value) => {
            return wrong(format!("a share of shared memory of {value} %"));
        }
        9 | 11..=15 => {}
        _ => return wrong(format!("the attribute {attribute} of a kernel cannot be set")),
    }
    own.attributes.insert(attribute, value);
    Ok(())
}

fn get_attribute_on(
    call: &Call,
    value: Out<i32>,
    attribute: i32,
    kernel: u64,
    device: i32,
) -> Answer {
    super::devices::device(call, device)?;
    get_attribute(call, value, attribute, kernel)
}

pub(crate) fn set_attribute_on(
    call: &Call,
    attribute: i32,
    value: i32,
    kernel: u64,
    device: i32,
) -> Answer {
    super::devices::device(call, device)?;
    set_attribute(call, kernel, attribute, value)
}

/// A preference that nothing here depends on.
pub(crate) fn set_cache(call: &Call, kernel: u64, _cache: u32) -> Answer {
    call.current()?.modules.kernel(kernel).map(|_| ())
}

fn set_cache_on(call: &Call, kernel: u64, cache: u32, device: i32) -> Answer {
    super::devices::device(call, device)?;
    set_cache(call, kernel, cache)
}

fn module(call: &Call, module: Out<u64>, kernel: u64) -> Answer {
    let handle = call.current()?.modules.kernel(kernel)?.module;
    module.give(handle)
}

pub(crate) fn name(call: &Call, name: Out<Host>, kernel: u64) -> Answer {
    let state = call.ready()?;
    let own = state.modules.kernel(kernel)?;
    name.give(Host::function(own.text.as_ptr().cast()))
}

pub(crate) fn parameter(
    call: &Call,
    kernel: u64,
    index: usize,
    offset: Out<usize>,
    size: Out<usize>,
) -> Answer {
    let state = call.ready()?;
    let own = state.modules.kernel(kernel)?;
    // Programs count parameters by asking until there is none.
    let found = own.signature.as_ref().and_then(|signature| signature.parameters.get(index));
    let parameter = found.ok_or(Status::InvalidValue)?;
    offset.give(parameter.offset)?;
    size.give_if_wanted(parameter.size);
    Ok(())
}

fn is_loaded(call: &Call, loaded: Out<u32>, kernel: u64) -> Answer {
    call.current()?.modules.kernel(kernel)?;
    loaded.give(1)
}

fn load(call: &Call, kernel: u64) -> Answer {
    call.current()?.modules.kernel(kernel).map(|_| ())
}
