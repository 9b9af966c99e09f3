//! Occupancy: how many blocks a multiprocessor has room for. Registers are not known, so the answers are those for kernels with few.

use crate::call::Call;
use crate::device::{self, Device};
use crate::foreign::{In, Out, SharedSize};
use crate::interface::launch::{self, Launch};
use crate::limits;
use crate::modules::Kernel;
use crate::status::{Answer, Refusal, Status, refuse};

exports! {
    cuOccupancyMaxActiveBlocksPerMultiprocessor(count: Out<i32>, kernel: u64, block: i32, shared: usize) since 6050 one => active_blocks;
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(count: Out<i32>, kernel: u64, block: i32, shared: usize, flags: u32) since 7000 one => active_blocks_with_flags;
    cuOccupancyMaxPotentialBlockSize(grid: Out<i32>, block: Out<i32>, kernel: u64, size: SharedSize, shared: usize, limit: i32) since 6050 one => block_size;
    cuOccupancyMaxPotentialBlockSizeWithFlags(grid: Out<i32>, block: Out<i32>, kernel: u64, size: SharedSize, shared: usize, limit: i32, flags: u32) since 7000 one => block_size_with_flags;
    cuOccupancyAvailableDynamicSMemPerBlock(shared: Out<usize>, kernel: u64, blocks: i32, block: i32) since 10020 one => available_shared;
    cuOccupancyMaxPotentialClusterSize(size: Out<i32>, kernel: u64, launch: In<Launch>) since 11070 one => cluster_size;
    cuOccupancyMaxActiveClusters(count: Out<i32>, kernel: u64, launch: In<Launch>) since 11070 one => active_clusters;
}

fn kernel(call: &Call, kernel: u64) -> Result<(Device, Kernel), Refusal> {
    let state = call.current()?;
    Ok((state.device, state.modules.kernel(kernel)?.clone()))
}

fn threads(block: i32) -> Result<u32, Refusal> {
    let wrong = || {
        refuse(Status::InvalidValue, format!("asks for the occupancy of blocks of {block} threads"))
    };
    u32::try_from(block).ok().filter(|block| *block > 0).ok_or_else(wrong)
}

fn static_shared(kernel: &Kernel) -> u64 {
    kernel.signature.as_ref().map_or(0, |signature| signature.shared)
}

/// Returns the most threads of a block of a kernel.
fn most_threads(kernel: &Kernel) -> u32 {
    let bound = kernel.signature.as_ref().and_then(|signature| signature.most_threads);
    bound.unwrap_or(device::THREADS).min(device::THREADS)
}

fn resident(device: Device, kernel: &Kernel, threads: u32, dynamic: usize) -> u32 {
    if threads > most_threads(kernel) {
        return 0;
    }
    device.resident_blocks(threads, static_shared(kernel) + dynamic as u64)
}

fn number(value: impl TryInto<i32>) -> i32 {
    value.try_into().unwrap_or(i32::MAX)
}

pub(crate) fn active_blocks(
    call: &Call,
    count: Out<i32>,
    kernel: u64,
    block: i32,
    shared: usize,
) -> Answer {
    let (device, kernel) = self::kernel(call, kernel)?;
    count.give(number(resident(device, &kernel, threads(block)?, shared)))
}

fn active_blocks_with_flags(
    call: &Call,
    count: Out<i32>,
    kernel: u64,
    block: i32,
    shared: usize,
    _flags: u32,
) -> Answer {
    active_blocks(call, count, kernel, block, shared)
}

/// The largest block of whole warps that keeps the most threads of a multiprocessor busy.
fn block_size(
    call: &Call,
    grid: Out<i32>,
    block: Out<i32>,
    kernel: u64,
    size: SharedSize,
    shared: usize,
    limit: i32,
) -> Answer {
    let (device, kernel) = self::kernel(call, kernel)?;
    let limit = u32::try_from(limit).ok().filter(|limit| *limit > 0).unwrap_or(u32::MAX);
    let most = most_threads(&kernel).min(limit);
    let mut best = (0, most.min(32), 0);
    for threads in (1..=most.div_ceil(32)).rev().map(|warps| (warps * 32).min(most)) {
        let dynamic = size.of(number(threads), shared);
        let blocks = resident(device, &kernel, threads, dynamic);
        if blocks * threads > best.0 {
            best = (blocks * threads, threads, blocks);
        }
    }
    grid.give(number(best.2 * device.multiprocessors))?;
    block.give(number(best.1))
}

#[allow(clippy::too_many_arguments, reason = "the driver's own parameters")]
fn block_size_with_flags(
    call: &Call,
    grid: Out<i32>,
    block: Out<i32>,
    kernel: u64,
    size: SharedSize,
    shared: usize,
    limit: i32,
    _flags: u32,
) -> Answer {
    block_size(call, grid, block, kernel, size, shared, limit)
}

pub(crate) fn available_shared(
    call: &Call,
    shared: Out<usize>,
    kernel: u64,
    blocks: i32,
    block: i32,
) -> Answer {
    let (device, kernel) = self::kernel(call, kernel)?;
    threads(block)?;
    let blocks =
        u64::try_from(blocks).ok().filter(|blocks| *blocks > 0).ok_or(Status::InvalidValue)?;
    let reserved = device.shared_per_multiprocessor() - device.most_shared();
    let each = (device.shared_per_multiprocessor() / blocks)
        .saturating_sub(reserved + static_shared(&kernel));
    shared.give(usize::try_from(each.min(device.most_shared())).unwrap_or(usize::MAX))
}

fn cluster_size(call: &Call, size: Out<i32>, kernel: u64, launch: In<Launch>) -> Answer {
    largest_cluster(call, size, kernel, launch.read()?)
}

/// Gives the blocks of the largest cluster of a launch.
pub(crate) fn largest_cluster(call: &Call, size: Out<i32>, kernel: u64, _launch: Launch) -> Answer {
    let (device, kernel) = self::kernel(call, kernel)?;
    let is_large = kernel.attributes.get(&limits::LARGE_CLUSTERS).is_some_and(|value| *value != 0);
    size.give(match (device.has_clusters(), is_large) {
        (false, _) => 1,
        (true, false) => 8,
        (true, true) => 16,
    })
}

fn active_clusters(call: &Call, count: Out<i32>, kernel: u64, launch: In<Launch>) -> Answer {
    count_clusters(call, count, kernel, launch.read()?)
}

/// Gives the number of clusters that run at once.
pub(crate) fn count_clusters(call: &Call, count: Out<i32>, kernel: u64, launch: Launch) -> Answer {
    let (device, kernel) = self::kernel(call, kernel)?;
    let (configuration, _) = launch::configuration(launch)?;
    let threads = configuration.block.into_iter().fold(1, u32::saturating_mul);
    let shared = usize::try_from(configuration.shared).unwrap_or(usize::MAX);
    let blocks = resident(device, &kernel, threads, shared).saturating_mul(device.multiprocessors);
    let each = configuration.cluster.unwrap_or([1; 3]).into_iter().fold(1, u32::saturating_mul);
    count.give(number(blocks / each.max(1)))
}
