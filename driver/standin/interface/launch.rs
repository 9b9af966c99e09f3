//! Launches of kernels, and of functions of the host.

use crate::call::Call;
use crate::foreign::{Host, HostFunction, In, Plain};
use crate::interface::callbacks;
use crate::limits::{self, Configuration};
use crate::modules::Kernel;
use crate::state::State;
use crate::status::{Answer, Refusal, Status, refuse};
use crate::work::Work;
use crate::{arguments, order};

exports! {
    cuLaunchKernel(kernel: u64, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32, stream: u64, addresses: In<Host>, extra: In<Host>) since 4000 ptsz => launch_plain;
    cuLaunchCooperativeKernel(kernel: u64, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32, stream: u64, addresses: In<Host>) since 9000 ptsz => launch_cooperative;
    cuLaunchKernelEx(launch: In<Launch>, kernel: u64, addresses: In<Host>, extra: In<Host>) since 11060 ptsz => launch_with_attributes;
    cuLaunchHostFunc(stream: u64, function: HostFunction, data: Host) since 10000 ptsz => host_function;
}

/// `CUlaunchConfig`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Launch {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    unused: u32,
    stream: u64,
    attributes: Host,
    count: u32,
    padding: u32,
}

// SAFETY: integers and an address, without padding of its own.
unsafe impl Plain for Launch {}

impl Launch {
    /// Makes a launch of its parts.
    pub(crate) fn new(
        grid: [u32; 3],
        block: [u32; 3],
        shared: u32,
        stream: u64,
        attributes: Host,
        count: u32,
    ) -> Self {
        Launch { grid, block, shared, unused: 0, stream, attributes, count, padding: 0 }
    }
}

/// `CUlaunchAttribute`: a number, and 64 bytes whose meaning it decides.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Attribute {
    number: u32,
    unused: u32,
    value: [u32; 16],
}

// SAFETY: integers alone, without padding.
unsafe impl Plain for Attribute {}

/// Numbers of the attributes that change which threads run.
const COOPERATIVE: u32 = 2;
const CLUSTER: u32 = 4;
const PREFERRED_CLUSTER: u32 = 11;

/// Launches a kernel.
pub(crate) fn launch(
    call: &Call,
    kernel: u64,
    configuration: &Configuration,
    stream: u64,
    addresses: In<Host>,
    extra: In<Host>,
) -> Answer {
    let mut state = call.current()?;
    let kernel = state.modules.kernel(kernel)?.clone();
    let of_kernel = |refusal: Refusal| Refusal { kernel: Some(kernel.name.clone()), ..refusal };
    state.streams.stream(stream).map_err(of_kernel)?;
    let work = work(&state, kernel, configuration, addresses, extra)?;
    order::submit(&mut state, stream, work)
}

/// Returns a launch as work, with the arguments as they are now.
pub(crate) fn work(
    state: &State,
    kernel: Kernel,
    configuration: &Configuration,
    addresses: In<Host>,
    extra: In<Host>,
) -> Result<Work, Refusal> {
    let configuration = configuration.with_attributes(&kernel);
    limits::check(state.device, &kernel, &configuration)?;
    let arguments = arguments::read(&kernel, addresses, extra)?;
    Ok(Work::Launch { kernel, configuration, arguments })
}

#[allow(clippy::too_many_arguments, reason = "the driver's own parameters")]
fn launch_plain(
    call: &Call,
    kernel: u64,
    gx: u32,
    gy: u32,
    gz: u32,
    bx: u32,
    by: u32,
    bz: u32,
    shared: u32,
    stream: u64,
    addresses: In<Host>,
    extra: In<Host>,
) -> Answer {
    let (grid, block) = ([gx, gy, gz], [bx, by, bz]);
    let configuration = Configuration { grid, block, cluster: None, shared, cooperative: false };
    launch(call, kernel, &configuration, stream, addresses, extra)
}

#[allow(clippy::too_many_arguments, reason = "the driver's own parameters")]
fn launch_cooperative(
    call: &Call,
    kernel: u64,
    gx: u32,
    gy: u32,
    gz: u32,
    bx: u32,
    by: u32,
    bz: u32,
    shared: u32,
    stream: u64,
    addresses: In<Host>,
) -> Answer {
    let (grid, block) = ([gx, gy, gz], [bx, by, bz]);
    let configuration = Configuration { grid, block, cluster: None, shared, cooperative: true };
    launch(call, kernel, &configuration, stream, addresses, Host::at(0).values())
}

/// Reads a configuration with its attributes; gives the stream too.
pub(crate) fn configuration(launch: Launch) -> Result<(Configuration, u64), Refusal> {
    let Launch { grid, block, shared, stream, attributes, count, .. } = launch;
    let mut configuration =
        Configuration { grid, block, cluster: None, shared, cooperative: false };
    let count = usize::try_from(count).unwrap_or(0);
    for attribute in attributes.values::<Attribute>().list(count)? {
        let [x, y, z, ..] = attribute.value;
        match attribute.number {
            COOPERATIVE => configuration.cooperative = x != 0,
            CLUSTER => configuration.cluster = Some([x, y, z]),
            PREFERRED_CLUSTER if configuration.cluster.is_some_and(|own| own != [x, y, z]) => {
                let reason =
                    "a launch with clusters of one size, and others where the device prefers it";
                return Err(refuse(Status::NotSupported, reason));
            }
            // Orders among launches, priorities, caches: which threads run does not depend on them.
            0..=16 => {}
            other => {
                return Err(refuse(
                    Status::InvalidValue,
                    format!("the launch has the unknown attribute {other}"),
                ));
            }
        }
    }
    Ok((configuration, stream))
}

fn launch_with_attributes(
    call: &Call,
    launch: In<Launch>,
    kernel: u64,
    addresses: In<Host>,
    extra: In<Host>,
) -> Answer {
    let (configuration, stream) = configuration(launch.read()?)?;
    self::launch(call, kernel, &configuration, stream, addresses, extra)
}

/// Everything before it in the stream is done, so that the function is called at once.
pub(crate) fn host_function(
    call: &Call,
    stream: u64,
    function: HostFunction,
    data: Host,
) -> Answer {
    let mut state = call.current()?;
    state.streams.stream(stream)?;
    let is_kept = state.graphs.keep(stream, Work::Call { function, data }).is_none();
    drop(state);
    if is_kept { Ok(()) } else { callbacks::run(call, move || function.call(data)) }
}
