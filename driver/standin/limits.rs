//! Limits of launches: whether the driver would take one.

use crate::device::{self, Device};
use crate::modules::Kernel;
use crate::signature::Signature;
use crate::status::{Answer, Refusal, Status, refuse};

/// How a kernel is launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Configuration {
    /// Blocks.
    pub(crate) grid: [u32; 3],
    /// Threads of a block.
    pub(crate) block: [u32; 3],
    /// Blocks of a cluster, if the launch states them.
    pub(crate) cluster: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory.
    pub(crate) shared: u32,
    /// Whether all blocks run at once.
    pub(crate) cooperative: bool,
}

/// Number of the attribute of a kernel that raises the limit of dynamic shared memory.
pub(crate) const DYNAMIC_SHARED: i32 = 8;
/// Numbers of the attributes that state the cluster, where a launch does not: its blocks in x, y and z.
const CLUSTER: [i32; 3] = [11, 12, 13];
/// Number of the attribute that allows clusters of more than 8 blocks.
pub(crate) const LARGE_CLUSTERS: i32 = 14;
/// Blocks of a cluster that every device can run.
const PORTABLE_CLUSTER: u32 = 8;
/// Blocks of the largest cluster.
const LARGEST_CLUSTER: u32 = 16;

impl Configuration {
    /// Returns the launch with the cluster that attributes of the kernel state, if it states none itself.
    pub(crate) fn with_attributes(self, kernel: &Kernel) -> Self {
        let size = |number| kernel.attributes.get(&number).map_or(0, |own| own.cast_unsigned());
        let stated = CLUSTER.map(size);
        let of_kernel = (stated != [0; 3]).then(|| stated.map(|own| own.max(1)));
        Configuration { cluster: self.cluster.or(of_kernel), ..self }
    }
}

fn wrong(reason: String) -> Answer {
    Err(refuse(Status::InvalidValue, reason))
}

/// Refuses what the driver would (`cuLaunchKernel`; programming guide, "Technical specifications").
pub(crate) fn check(device: Device, kernel: &Kernel, launch: &Configuration) -> Answer {
    let none = Signature::default();
    let own = kernel.signature.as_deref().unwrap_or(&none);
    let done = check_sizes(launch)
        .and_then(|()| check_block(own, launch))
        .and_then(|()| check_shared(device, kernel, own, launch))
        .and_then(|()| check_cluster(device, kernel, own, launch))
        .and_then(|()| check_cooperative(device, own, launch));
    done.map_err(|refusal| Refusal { kernel: Some(kernel.name.clone()), ..refusal })
}

/// Refuses grids and blocks that no kernel can have.
pub(crate) fn check_sizes(launch: &Configuration) -> Answer {
    let both = [("grid", launch.grid, device::GRID), ("block", launch.block, device::BLOCK)];
    for (what, sizes, most) in both {
        for (axis, (size, most)) in ["x", "y", "z"].into_iter().zip(sizes.into_iter().zip(most)) {
            if size == 0 {
                return wrong(format!("the {what} is 0 in {axis}"));
            }
            if size > most {
                return wrong(format!("the {what} is {size} in {axis}, of at most {most}"));
            }
        }
    }
    let threads = product(launch.block);
    if threads > u64::from(device::THREADS) {
        return wrong(format!("the block has {threads} threads, of at most {}", device::THREADS));
    }
    Ok(())
}

fn check_block(own: &Signature, launch: &Configuration) -> Answer {
    let threads = product(launch.block);
    if let Some(most) = own.most_threads.filter(|most| threads > u64::from(*most)) {
        return wrong(format!(
            "the block has {threads} threads, and the kernel is compiled for at most {most}"
        ));
    }
    if let Some(block) = own.block.filter(|block| *block != launch.block) {
        return wrong(format!(
            "the block is {:?}, and the kernel is compiled for {block:?}",
            launch.block
        ));
    }
    Ok(())
}

fn check_shared(
    device: Device,
    kernel: &Kernel,
    own: &Signature,
    launch: &Configuration,
) -> Answer {
    let dynamic = u64::from(launch.shared);
    let raised =
        kernel.attributes.get(&DYNAMIC_SHARED).and_then(|bytes| u64::try_from(*bytes).ok());
    let most = raised.unwrap_or(0).max(device::SHARED.saturating_sub(own.shared));
    if dynamic > most {
        let how = if raised.is_some() {
            "the attribute that is set"
        } else {
            "no attribute that raises it"
        };
        return wrong(format!(
            "{dynamic} bytes of dynamic shared memory, of at most {most} with {how}"
        ));
    }
    if dynamic + own.shared > device.most_shared() {
        let most = device.most_shared();
        return wrong(format!(
            "{} bytes of shared memory, of at most {most}",
            dynamic + own.shared
        ));
    }
    Ok(())
}

fn check_cluster(
    device: Device,
    kernel: &Kernel,
    own: &Signature,
    launch: &Configuration,
) -> Answer {
    let Some(cluster) = launch.cluster.or(own.cluster) else { return Ok(()) };
    let bad = |reason: String| Err(refuse(Status::InvalidClusterSize, reason));
    if !device.has_clusters() {
        return wrong("the device has no clusters".to_owned());
    }
    if let Some(required) = own.cluster.filter(|required| *required != cluster) {
        return bad(format!(
            "the cluster is {cluster:?}, and the kernel is compiled for {required:?}"
        ));
    }
    for (axis, (blocks, grid)) in
        ["x", "y", "z"].into_iter().zip(cluster.into_iter().zip(launch.grid))
    {
        if blocks == 0 {
            return bad(format!("the cluster is 0 in {axis}"));
        }
        if grid % blocks != 0 {
            return bad(format!(
                "the grid is {grid} in {axis}, no multiple of the cluster's {blocks}"
            ));
        }
    }
    let is_large = kernel.attributes.get(&LARGE_CLUSTERS).is_some_and(|value| *value != 0);
    let most = if is_large { LARGEST_CLUSTER } else { PORTABLE_CLUSTER };
    let blocks = product(cluster);
    if blocks > u64::from(most) {
        return bad(format!("the cluster has {blocks} blocks, of at most {most}"));
    }
    Ok(())
}

fn check_cooperative(device: Device, own: &Signature, launch: &Configuration) -> Answer {
    if !launch.cooperative {
        return Ok(());
    }
    let threads = u32::try_from(product(launch.block)).unwrap_or(u32::MAX);
    let resident = device.resident_blocks(threads, own.shared + u64::from(launch.shared));
    let (most, blocks) =
        (u64::from(resident) * u64::from(device.multiprocessors), product(launch.grid));
    if blocks > most {
        let reason =
            format!("a cooperative launch of {blocks} blocks, of at most {most} that run at once");
        return Err(refuse(Status::CooperativeLaunchTooLarge, reason));
    }
    Ok(())
}

fn product(sizes: [u32; 3]) -> u64 {
    sizes.into_iter().map(u64::from).fold(1, u64::saturating_mul)
}
