//! Occupancy.

use crate::call::Call;
use crate::foreign::{Host, In, Out};
use crate::interface::occupancy;
use crate::runtime::execution::LaunchConfiguration;
use crate::runtime::registration::find;
use crate::status::Answer;

runtime! {
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(count: Out<i32>, function: Host, block: i32, shared: usize) one => active_blocks;
    cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(count: Out<i32>, function: Host, block: i32, shared: usize, flags: u32) one => active_blocks_with_flags;
    cudaOccupancyAvailableDynamicSMemPerBlock(shared: Out<usize>, function: Host, blocks: i32, block: i32) one => available_shared;
    cudaOccupancyMaxPotentialClusterSize(size: Out<i32>, function: Host, launch: In<LaunchConfiguration>) one => cluster_size;
    cudaOccupancyMaxActiveClusters(count: Out<i32>, function: Host, launch: In<LaunchConfiguration>) one => active_clusters;
}

fn active_blocks(
    call: &Call,
    count: Out<i32>,
    function: Host,
    block: i32,
    shared: usize,
) -> Answer {
    occupancy::active_blocks(call, count, find(call, function)?, block, shared)
}

fn active_blocks_with_flags(
    call: &Call,
    count: Out<i32>,
    function: Host,
    block: i32,
    shared: usize,
    _flags: u32,
) -> Answer {
    active_blocks(call, count, function, block, shared)
}

fn available_shared(
    call: &Call,
    shared: Out<usize>,
    function: Host,
    blocks: i32,
    block: i32,
) -> Answer {
    occupancy::available_shared(call, shared, find(call, function)?, blocks, block)
}

fn cluster_size(
    call: &Call,
    size: Out<i32>,
    function: Host,
    launch: In<LaunchConfiguration>,
) -> Answer {
    occupancy::largest_cluster(call, size, find(call, function)?, launch.read()?.launch())
}

fn active_clusters(
    call: &Call,
    count: Out<i32>,
    function: Host,
    launch: In<LaunchConfiguration>,
) -> Answer {
    occupancy::count_clusters(call, count, find(call, function)?, launch.read()?.launch())
}
