//! Nodes of graphs by one function for all kinds: the parameters say which, and what it does.

use crate::call::Call;
use crate::foreign::{Host, In, Out};
use crate::interface::copies::{self, Planes};
use crate::interface::nodes::{self, HostNode, KernelNode, SetNode};
use crate::status::{Answer, Refusal, Status, refuse};
use crate::work::Work;

exports! {
    cuGraphAddNode(node: Out<u64>, graph: u64, behind: In<u64>, count: usize, parameters: Host) since 12020 one => add;
    cuGraphAddNode_v2(node: Out<u64>, graph: u64, behind: In<u64>, edges: Host, count: usize, parameters: Host) since 12030 one => add_with_edges;
    cuGraphExecNodeSetParams(executable: u64, node: u64, parameters: Host) since 12020 one => set;
}

/// What kinds of nodes do (`CUgraphNodeType`, `cudaGraphNodeType`).
pub(crate) const KERNEL: u32 = 0;
pub(crate) const COPY: u32 = 1;
const SET: u32 = 2;
const HOST: u32 = 3;
const CHILD: u32 = 4;
const EMPTY: u32 = 5;

/// Where the parameters of the kind begin, and those of a copy behind its flags and its context.
pub(crate) const PARAMETERS: usize = 16;
pub(crate) const OF_COPY: usize = PARAMETERS + 16;

/// Returns the kind of a node.
pub(crate) fn kind(parameters: Host) -> Result<u32, Refusal> {
    parameters.values::<u32>().read()
}

/// Returns the work of a node of a kind that drivers and runtime libraries describe alike.
pub(crate) fn plain(call: &Call, parameters: Host) -> Result<Vec<Work>, Refusal> {
    let own = parameters.offset(PARAMETERS);
    match kind(parameters)? {
        SET => own.values::<SetNode>().read()?.work(),
        HOST => Ok(own.values::<HostNode>().read()?.work()),
        CHILD => {
            let child = own.values::<u64>().read()?;
            Ok(call.current()?.graphs.graph(child)?.work())
        }
        EMPTY => Ok(Vec::new()),
        other => Err(refuse(Status::NotSupported, format!("a node of the kind {other}"))),
    }
}

fn work(call: &Call, parameters: Host) -> Result<Vec<Work>, Refusal> {
    match kind(parameters)? {
        KERNEL => {
            let (own, kernel) =
                nodes::kernel_or_function(parameters.offset(PARAMETERS).values::<KernelNode>())?;
            own.work(call, kernel)
        }
        COPY => {
            let copy = parameters.offset(OF_COPY).values::<Planes>().read()?;
            copies::works(&*call.current()?, &copy)
        }
        _ => plain(call, parameters),
    }
}

fn add(
    call: &Call,
    node: Out<u64>,
    graph: u64,
    behind: In<u64>,
    count: usize,
    parameters: Host,
) -> Answer {
    let work = work(call, parameters)?;
    nodes::add(call, node, graph, behind, count, work)
}

fn add_with_edges(
    call: &Call,
    node: Out<u64>,
    graph: u64,
    behind: In<u64>,
    _edges: Host,
    count: usize,
    parameters: Host,
) -> Answer {
    add(call, node, graph, behind, count, parameters)
}

fn set(call: &Call, executable: u64, node: u64, parameters: Host) -> Answer {
    let work = work(call, parameters)?;
    nodes::replace(call, executable, node, work)
}
