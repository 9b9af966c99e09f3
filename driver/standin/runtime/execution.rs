//! Execution control: launches of kernels and of functions of the host, and attributes of kernels.

use crate::call::Call;
use crate::foreign::{Host, HostFunction, In, Out, Plain};
use crate::interface::{kernels, launch};
use crate::limits::{self, Configuration};
use crate::runtime::generation::{self, RuntimeMajor};
use crate::runtime::registration::{self, CallSizes, find};
use crate::status::{Answer, Refusal, Status};

runtime! {
    cudaLaunchKernel(function: Host, grid: CallSizes, block: CallSizes, arguments: In<Host>, shared: usize, stream: u64) ptsz => launch_plain;
    __cudaLaunchKernel(kernel: Host, grid: CallSizes, block: CallSizes, arguments: In<Host>, shared: usize, stream: u64) ptsz => launch_plain;
    cudaLaunchCooperativeKernel(function: Host, grid: CallSizes, block: CallSizes, arguments: In<Host>, shared: usize, stream: u64) ptsz => launch_cooperative;
    cudaLaunchKernelExC(launch: In<LaunchConfiguration>, function: Host, arguments: In<Host>) ptsz => launch_with_attributes;
    cudaLaunchHostFunc(stream: u64, function: HostFunction, data: Host) ptsz => launch::host_function;
    cudaFuncGetAttributes(attributes: Host, function: Host) one => attributes;
    cudaFuncSetAttribute(function: Host, attribute: i32, value: i32) one => set_attribute;
    cudaFuncSetCacheConfig(function: Host, cache: u32) one => set_cache;
    cudaFuncSetSharedMemConfig(function: Host, banks: u32) one => set_cache;
    cudaFuncGetName(name: Out<Host>, function: Host) one => name;
    cudaFuncGetParamInfo(function: Host, index: usize, offset: Out<usize>, size: Out<usize>) one => parameter;
    cudaGetFuncBySymbol(kernel: Out<u64>, function: Host) one => registration::kernel;
    cudaGetKernel(kernel: Out<u64>, function: Host) one => registration::kernel;
    cudaSetDoubleForDevice(value: Out<u64>) one => double;
    cudaSetDoubleForHost(value: Out<u64>) one => double;
}

/// `cudaLaunchConfig_t`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct LaunchConfiguration {
    grid: CallSizes,
    block: CallSizes,
    shared: usize,
    stream: u64,
    attributes: Host,
    count: u32,
    padding: u32,
}

// SAFETY: integers and an address, without padding of its own.
unsafe impl Plain for LaunchConfiguration {}

impl LaunchConfiguration {
    /// Returns the same as the driver's structure.
    pub(super) fn launch(self) -> launch::Launch {
        let (grid, block) = (self.grid.all(), self.block.all());
        launch::Launch::new(
            grid,
            block,
            bytes(self.shared),
            self.stream,
            self.attributes,
            self.count,
        )
    }
}

/// Returns a number of bytes of shared memory, which no device has too many of for 32 bits.
fn bytes(shared: usize) -> u32 {
    u32::try_from(shared).unwrap_or(u32::MAX)
}

/// Returns the configuration of a launch that is neither cooperative nor has clusters.
fn sizes(grid: CallSizes, block: CallSizes, shared: usize) -> Configuration {
    let (grid, block, shared) = (grid.all(), block.all(), bytes(shared));
    Configuration { grid, block, cluster: None, shared, cooperative: false }
}

/// Launches a kernel. Sizes that no device can run have a code of their own.
fn launch(
    call: &Call,
    function: Host,
    configuration: &Configuration,
    stream: u64,
    arguments: In<Host>,
) -> Answer {
    let kernel = find(call, function)?;
    check_sizes(call, kernel, configuration)?;
    launch::launch(call, kernel, configuration, stream, arguments, Host::at(0).values())
}

/// Refuses sizes that no device can run.
pub(super) fn check_sizes(call: &Call, kernel: u64, configuration: &Configuration) -> Answer {
    let name = || call.any().modules.kernel(kernel).map(|own| own.name.clone()).ok();
    limits::check_sizes(configuration).map_err(|refusal| Refusal {
        status: Status::InvalidConfiguration,
        kernel: name(),
        ..refusal
    })
}

fn launch_plain(
    call: &Call,
    function: Host,
    grid: CallSizes,
    block: CallSizes,
    arguments: In<Host>,
    shared: usize,
    stream: u64,
) -> Answer {
    launch(call, function, &sizes(grid, block, shared), stream, arguments)
}

fn launch_cooperative(
    call: &Call,
    function: Host,
    grid: CallSizes,
    block: CallSizes,
    arguments: In<Host>,
    shared: usize,
    stream: u64,
) -> Answer {
    let configuration = Configuration { cooperative: true, ..sizes(grid, block, shared) };
    launch(call, function, &configuration, stream, arguments)
}

fn launch_with_attributes(
    call: &Call,
    launch: In<LaunchConfiguration>,
    function: Host,
    arguments: In<Host>,
) -> Answer {
    let (configuration, stream) = launch::configuration(launch.read()?.launch())?;
    self::launch(call, function, &configuration, stream, arguments)
}

/// Gives `cudaFuncAttributes`: three sizes, then numbers, of which CUDA 11 has fewer.
fn attributes(call: &Call, attributes: Host, function: Host) -> Answer {
    /// The numbers of the driver's attributes, in the order of the structure.
    const SIZES: [i32; 3] = [1, 2, 3];
    const NUMBERS: [i32; 13] = [0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 14];
    let count = if generation::current() == RuntimeMajor::Eleven { 7 } else { NUMBERS.len() };
    let kernel = find(call, function)?;
    let state = call.current()?;
    let (sizes, numbers) = (attributes.result::<usize>(), attributes.offset(24).result::<i32>());
    for (at, number) in SIZES.into_iter().enumerate() {
        let value = kernels::attribute(&state, kernel, number)?;
        sizes.give_at(at, usize::try_from(value).unwrap_or(0))?;
    }
    for (at, number) in NUMBERS.into_iter().enumerate().take(count) {
        numbers.give_at(at, kernels::attribute(&state, kernel, number)?)?;
    }
    Ok(())
}

fn set_attribute(call: &Call, function: Host, attribute: i32, value: i32) -> Answer {
    kernels::set_attribute(call, find(call, function)?, attribute, value)
}

fn set_cache(call: &Call, function: Host, cache: u32) -> Answer {
    kernels::set_cache(call, find(call, function)?, cache)
}

fn name(call: &Call, name: Out<Host>, function: Host) -> Answer {
    kernels::name(call, name, find(call, function)?)
}

fn parameter(
    call: &Call,
    function: Host,
    index: usize,
    offset: Out<usize>,
    size: Out<usize>,
) -> Answer {
    kernels::parameter(call, find(call, function)?, index, offset, size)
}

/// Every device of today has numbers of 64 bits in floating point.
#[allow(clippy::unnecessary_wraps, reason = "the type that the table of functions takes")]
fn double(_: &Call, _value: Out<u64>) -> Answer {
    Ok(())
}
