//! Rejects launches that a kernel cannot have, and fills in what a launch leaves out.

use super::chosen_sizes;
use super::requirements::RequirementMisfit;
use crate::emulate::{self, InputError};
use crate::explain::param_of;
use crate::flow::{LinkError, Program};
use crate::launch::{Dim3, Dimensions, Launch, MAX_SHARED, Misfit};
use crate::ptx::{Function, Module, Position};

/// Why a launch cannot be checked: it does not fit the kernel, or the kernel does not link. These are request errors,
/// not findings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// A block without threads, or with more threads than any device supports.
    #[error("a block of {0} threads: a cta has 1 to 1024 threads")]
    BlockSize(u64),
    /// A block with more threads in one dimension than any device supports, or none.
    #[error("a block of {0}")]
    BlockExtent(Misfit),
    /// A block that the kernel does not allow.
    #[error(
        "a block of {given} threads, but the kernel states {directive} {stated}: the launch would fail"
    )]
    BlockBound {
        /// The block as given.
        given: Dim3,
        /// `.reqntid` or `.maxntid`.
        directive: &'static str,
        /// The block as stated.
        stated: Dim3,
    },
    /// A grid with more ctas in one dimension than any device supports, or none.
    #[error("a grid of {0}")]
    GridExtent(Misfit),
    /// A grid with more ctas than can be numbered.
    #[error("a grid of {0} ctas: at most 4294967295 can be checked; choose a smaller grid")]
    GridSize(u64),
    /// A cluster without ctas, or with more than any device supports.
    #[error("a cluster of {0} ctas: a cluster has 1 to {max} ctas", max = Dim3::MAX_CLUSTER)]
    ClusterSize(u64),
    /// A cluster with more ctas than the kernel allows.
    #[error(
        "a cluster of {given} ctas, but the kernel states .maxclusterrank {most}: the launch would fail"
    )]
    ClusterRank {
        /// The ctas of the cluster.
        given: u64,
        /// As many as the kernel allows.
        most: u64,
    },
    /// A cluster that the kernel does not allow.
    #[error(
        "a cluster of {given} ctas, but the kernel states .reqnctapercluster {stated}: the launch would fail"
    )]
    ClusterBound {
        /// The cluster as given.
        given: Dim3,
        /// The cluster as stated.
        stated: Dim3,
    },
    /// A grid that is not made of whole clusters.
    #[error(
        "a grid of {grid} ctas in clusters of {cluster}: in each dimension the grid has to be a multiple of the cluster"
    )]
    PartOfCluster {
        /// The grid.
        grid: Dim3,
        /// The cluster.
        cluster: Dim3,
    },
    /// More shared memory than any device has.
    #[error("{0} bytes of shared memory, static and dynamic: a cta has at most {MAX_SHARED}")]
    Shared(u64),
    /// An argument beyond the kernel's parameters.
    #[error("argument {position} is given, but the kernel has {count} parameters, numbered from 0")]
    NoParameter {
        /// The position as given.
        position: usize,
        /// The number of parameters of the kernel.
        count: usize,
    },
    /// An argument that the parameter cannot hold.
    #[error("{what} does not fit the parameter: {reason}")]
    Argument {
        /// The argument, by its position and its name, if that is known.
        what: String,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// A stated buffer that cannot be.
    #[error("buffer `{name}`: {reason}")]
    Buffer {
        /// The name of the buffer.
        name: String,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// A number given for a pointer.
    #[error(
        "{what} is given as the number {value}, but the kernel accesses memory at this address, in line {at}: give a \
         buffer of its own, `{setting}`, or 0 for null"
    )]
    Number {
        /// The name of the argument or field.
        what: String,
        /// The value as given.
        value: i128,
        /// The position of an access to this address.
        at: Position,
        /// What to write in weft.toml.
        setting: String,
    },
    /// Requirements that the kernel and the launch cannot fulfil.
    #[error(transparent)]
    Requirement(#[from] RequirementMisfit),
    /// The kernel does not link.
    #[error("line {at}: {reason}")]
    Link {
        /// The position in the PTX.
        at: Position,
        /// The reason.
        reason: String,
    },
}

impl CheckError {
    /// Returns the setting of the launch that does not fit, by its key in weft.toml; `None` if the kernel itself is wrong.
    pub const fn setting(&self) -> Option<&'static str> {
        match self {
            Self::BlockSize(_) | Self::BlockExtent(_) | Self::BlockBound { .. } => Some("block"),
            Self::GridExtent(_) | Self::GridSize(_) | Self::PartOfCluster { .. } => Some("grid"),
            Self::ClusterSize(_) | Self::ClusterRank { .. } | Self::ClusterBound { .. } => {
                Some("cluster")
            }
            Self::Shared(_) => Some("shared"),
            Self::NoParameter { .. } | Self::Argument { .. } | Self::Number { .. } => Some("args"),
            Self::Buffer { .. } => Some("buffers"),
            Self::Requirement(_) => Some("requires"),
            Self::Link { .. } => None,
        }
    }
}

pub(super) fn shared(bytes: u64) -> Result<(), CheckError> {
    if bytes <= MAX_SHARED { Ok(()) } else { Err(CheckError::Shared(bytes)) }
}

pub(super) fn link(module: &Module, error: &LinkError) -> CheckError {
    CheckError::Link { at: module.position(error.span), reason: error.kind.to_string() }
}

/// Returns the error of an argument that the parameter cannot hold.
pub(super) fn input(program: &Program, error: InputError) -> CheckError {
    CheckError::Argument { what: param_of(program, error.position), reason: error.reason }
}

/// Rejects arguments that the kernel does not have, stated buffers that cannot be, and pointers that lead into none.
pub(super) fn arguments(program: &Program, launch: &Launch) -> Result<(), CheckError> {
    let count = program.params.len();
    if let Some(&position) = launch.args.keys().find(|position| **position >= count) {
        return Err(CheckError::NoParameter { position, count });
    }
    for (name, buffer) in &launch.buffers {
        if let Some(misfit) = buffer.misfit(&launch.buffers) {
            return Err(CheckError::Buffer { name: name.clone(), reason: misfit.to_string() });
        }
    }
    if let Some(name) = launch.buffers.keys().next_back().filter(|_| !program.buffers.fit()) {
        let reason = "it is one too many to be checked".to_owned();
        return Err(CheckError::Buffer { name: name.clone(), reason });
    }
    launch.args.iter().try_for_each(|(&position, arg)| {
        emulate::fits(program, launch, position, arg).map_err(|error| input(program, error))
    })
}

/// Returns the grid of a launch; one cluster if nobody states it.
pub(super) fn grid(kernel: &Function, launch: &Launch) -> Result<Dim3, CheckError> {
    let cluster = cluster(kernel, launch)?.unwrap_or(Dim3::line(1));
    let grid = launch.grid.and_then(Dimensions::known).unwrap_or(cluster);
    match grid.misfit(Dim3::MAX_GRID) {
        Some(misfit) => Err(CheckError::GridExtent(misfit)),
        None if grid.count() > Dim3::MAX_CTAS => Err(CheckError::GridSize(grid.count())),
        None if !is_whole(grid, cluster) => Err(CheckError::PartOfCluster { grid, cluster }),
        None => Ok(grid),
    }
}

/// Returns the clusters that a kernel is launched in, if it or the launch states them.
fn cluster(kernel: &Function, launch: &Launch) -> Result<Option<Dim3>, CheckError> {
    let stated = kernel.clusters.required.map(|[x, y, z]| Dim3 { x, y, z });
    match (stated, launch.cluster) {
        (Some(stated), Some(given)) if stated != given => {
            Err(CheckError::ClusterBound { given, stated })
        }
        (stated, given) => {
            let cluster = stated.or(given);
            let most = kernel.clusters.most.map(u64::from);
            if let Some((given, most)) = cluster.zip(most).filter(|(own, most)| own.count() > *most)
            {
                return Err(CheckError::ClusterRank { given: given.count(), most });
            }
            let is_wrong = |own: &Dim3| !(1..=Dim3::MAX_CLUSTER).contains(&own.count());
            match cluster.filter(is_wrong) {
                Some(wrong) => Err(CheckError::ClusterSize(wrong.count())),
                None => Ok(cluster),
            }
        }
    }
}

fn is_whole(grid: Dim3, cluster: Dim3) -> bool {
    let extents = [(grid.x, cluster.x), (grid.y, cluster.y), (grid.z, cluster.z)];
    extents.into_iter().all(|(ctas, of_cluster)| ctas.is_multiple_of(of_cluster))
}

/// The block that a kernel is run with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownBlock {
    /// Its size.
    pub size: Dim3,
    /// Who says so.
    pub source: BlockSource,
}

/// Who says which block a kernel is launched with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockSource {
    /// The launch.
    Stated,
    /// The kernel, by `.reqntid`.
    Required,
    /// Nobody: the kernel states an upper bound, `.maxntid`.
    Guessed,
}

/// Returns the block that a kernel is run with; `None` if nobody states one and the kernel has no bound to guess one
/// within. A launch with any block has the one that the kernel requires, but no guessed one.
pub(super) fn block(
    program: &Program,
    kernel: &Function,
    launch: &Launch,
) -> Result<Option<KnownBlock>, CheckError> {
    let dim = |[x, y, z]: [u32; 3]| Dim3 { x, y, z };
    let (required, most) = (kernel.reqntid.map(dim), kernel.maxntid.map(dim));
    let (size, source) = match (launch.block, required, most) {
        (Some(Dimensions::Is(given)), _, _) => (given, BlockSource::Stated),
        (_, Some(required), _) => (required, BlockSource::Required),
        (None, None, Some(most)) => (chosen_sizes::block(program, most), BlockSource::Guessed),
        (Some(Dimensions::Any), None, _) | (None, None, None) => return Ok(None),
    };
    if !(1..=Dim3::MAX_THREADS).contains(&size.count()) {
        return Err(CheckError::BlockSize(size.count()));
    }
    if let Some(misfit) = size.misfit(Dim3::MAX_BLOCK) {
        return Err(CheckError::BlockExtent(misfit));
    }
    if let Some(stated) = required.filter(|stated| *stated != size) {
        return Err(CheckError::BlockBound { given: size, directive: ".reqntid", stated });
    }
    if let Some(stated) = most.filter(|stated| stated.count() < size.count()) {
        return Err(CheckError::BlockBound { given: size, directive: ".maxntid", stated });
    }
    Ok(Some(KnownBlock { size, source }))
}
