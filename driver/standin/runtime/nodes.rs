//! Graphs that are made node by node.

use crate::call::Call;
use crate::foreign::{Host, In, Out};
use crate::interface::nodes::{self, HostNode, KernelNode, SetNode, add, replace};
use crate::interface::{copies, general};
use crate::runtime::copies::places;
use crate::runtime::execution;
use crate::runtime::generation::{self, RuntimeMajor};
use crate::runtime::planes::PlanesCopy;
use crate::runtime::registration::find;
use crate::runtime::symbols;
use crate::status::{Answer, Refusal};
use crate::work::Work;

runtime! {
    cudaGraphCreate(graph: Out<u64>, flags: u32) one => nodes::create;
    cudaGraphClone(copy: Out<u64>, graph: u64) one => nodes::copy;
    cudaGraphAddKernelNode(node: Out<u64>, graph: u64, behind: In<u64>, count: usize, parameters: In<KernelNode>) one => add_kernel;
    cudaGraphAddMemcpyNode(node: Out<u64>, graph: u64, behind: In<u64>, count: usize, parameters: In<PlanesCopy>) one => add_copy;
    cudaGraphAddMemcpyNode1D(node: Out<u64>, graph: u64, behind: In<u64>, count: usize, to: u64, from: u64, bytes: usize, kind: u32) one => add_plain_copy;
    cudaGraphAddMemcpyNodeToSymbol(node: Out<u64>, graph: u64, behind: In<u64>, count: usize, variable: Host, from: u64, bytes: usize, offset: usize, kind: u32) one => add_copy_in;
    cudaGraphAddMemcpyNodeFromSymbol(node: Out<u64>, graph: u64, behind: In<u64>, count: usize, to: u64, variable: Host, bytes: usize, offset: usize, kind: u32) one => add_copy_out;
    cudaGraphAddMemsetNode(node: Out<u64>, graph: u64, behind: In<u64>, count: usize, parameters: In<SetNode>) one => add_set;
    cudaGraphAddHostNode(node: Out<u64>, graph: u64, behind: In<u64>, count: usize, parameters: In<HostNode>) one => nodes::add_host;
    cudaGraphAddEmptyNode(node: Out<u64>, graph: u64, behind: In<u64>, count: usize) one => nodes::add_empty;
    cudaGraphAddChildGraphNode(node: Out<u64>, graph: u64, behind: In<u64>, count: usize, child: u64) one => nodes::add_child;
    cudaGraphAddDependencies(graph: u64, before: In<u64>, behind: In<u64>, third: u64, fourth: usize) one => order;
    cudaGraphAddDependencies_v2(graph: u64, before: In<u64>, behind: In<u64>, edges: Host, count: usize) one => nodes::order_with_edges;
    cudaGraphExecKernelNodeSetParams(executable: u64, node: u64, parameters: In<KernelNode>) one => set_kernel;
    cudaGraphKernelNodeSetParams(node: u64, parameters: In<KernelNode>) one => change_kernel;
    cudaGraphAddNode(node: Out<u64>, graph: u64, behind: In<u64>, third: u64, fourth: u64, fifth: u64) one => add_any;
    cudaGraphAddNode_v2(node: Out<u64>, graph: u64, behind: In<u64>, edges: Host, count: usize, parameters: Host) one => add_any_with_edges;
    cudaGraphExecNodeSetParams(executable: u64, node: u64, parameters: Host) one => set_any;
    cudaGraphExecMemcpyNodeSetParams(executable: u64, node: u64, parameters: In<PlanesCopy>) one => set_copy;
    cudaGraphExecMemcpyNodeSetParams1D(executable: u64, node: u64, to: u64, from: u64, bytes: usize, kind: u32) one => set_plain_copy;
    cudaGraphExecMemsetNodeSetParams(executable: u64, node: u64, parameters: In<SetNode>) one => set_set;
    cudaGraphExecHostNodeSetParams(executable: u64, node: u64, parameters: In<HostNode>) one => nodes::set_host;
}

/// Returns the work of a kernel node, whose function is the host's that stands for the kernel.
fn launch(call: &Call, parameters: In<KernelNode>) -> Result<Vec<Work>, Refusal> {
    let own = parameters.read()?;
    let kernel = find(call, own.function)?;
    execution::check_sizes(call, kernel, &own.configuration())?;
    own.work(call, kernel)
}

fn add_kernel(
    call: &Call,
    node: Out<u64>,
    graph: u64,
    behind: In<u64>,
    count: usize,
    parameters: In<KernelNode>,
) -> Answer {
    let work = launch(call, parameters)?;
    add(call, node, graph, behind, count, work)
}

fn copies_of(call: &Call, parameters: In<PlanesCopy>) -> Result<Vec<Work>, Refusal> {
    copies::works(&*call.current()?, &parameters.read()?.planes()?)
}

fn add_copy(
    call: &Call,
    node: Out<u64>,
    graph: u64,
    behind: In<u64>,
    count: usize,
    parameters: In<PlanesCopy>,
) -> Answer {
    let work = copies_of(call, parameters)?;
    add(call, node, graph, behind, count, work)
}

fn plain_copy(
    call: &Call,
    to: u64,
    from: u64,
    bytes: usize,
    kind: u32,
) -> Result<Vec<Work>, Refusal> {
    let (target, source) = places(kind)?;
    let memory = &call.current()?.memory;
    Ok(vec![copies::work(memory, (target, to), (source, from), bytes as u64)])
}

#[allow(clippy::too_many_arguments, reason = "the library's own parameters")]
fn add_plain_copy(
    call: &Call,
    node: Out<u64>,
    graph: u64,
    behind: In<u64>,
    count: usize,
    to: u64,
    from: u64,
    bytes: usize,
    kind: u32,
) -> Answer {
    let work = plain_copy(call, to, from, bytes, kind)?;
    add(call, node, graph, behind, count, work)
}

#[allow(clippy::too_many_arguments, reason = "the library's own parameters")]
fn add_copy_in(
    call: &Call,
    node: Out<u64>,
    graph: u64,
    behind: In<u64>,
    count: usize,
    variable: Host,
    from: u64,
    bytes: usize,
    offset: usize,
    kind: u32,
) -> Answer {
    let to = symbols::part(&mut *call.current()?, variable, bytes, offset)?;
    add_plain_copy(call, node, graph, behind, count, to, from, bytes, kind)
}

#[allow(clippy::too_many_arguments, reason = "the library's own parameters")]
fn add_copy_out(
    call: &Call,
    node: Out<u64>,
    graph: u64,
    behind: In<u64>,
    count: usize,
    to: u64,
    variable: Host,
    bytes: usize,
    offset: usize,
    kind: u32,
) -> Answer {
    let from = symbols::part(&mut *call.current()?, variable, bytes, offset)?;
    add_plain_copy(call, node, graph, behind, count, to, from, bytes, kind)
}

fn add_set(
    call: &Call,
    node: Out<u64>,
    graph: u64,
    behind: In<u64>,
    count: usize,
    parameters: In<SetNode>,
) -> Answer {
    add(call, node, graph, behind, count, parameters.read()?.work()?)
}

/// From CUDA 13 on, properties of the edges come before their number.
fn order(
    call: &Call,
    graph: u64,
    before: In<u64>,
    behind: In<u64>,
    third: u64,
    fourth: usize,
) -> Answer {
    let has_edges = generation::current() == RuntimeMajor::Thirteen;
    let count = if has_edges { fourth } else { usize::try_from(third).unwrap_or(0) };
    nodes::order(call, graph, before, behind, count)
}

fn set_kernel(call: &Call, executable: u64, node: u64, parameters: In<KernelNode>) -> Answer {
    let work = launch(call, parameters)?;
    replace(call, executable, node, work)
}

fn change_kernel(call: &Call, node: u64, parameters: In<KernelNode>) -> Answer {
    let work = launch(call, parameters)?;
    nodes::change(call, node, work)
}

/// Returns the work of a node of any kind.
fn any(call: &Call, parameters: Host) -> Result<Vec<Work>, Refusal> {
    match general::kind(parameters)? {
        general::KERNEL => launch(call, parameters.offset(general::PARAMETERS).values()),
        general::COPY => copies_of(call, parameters.offset(general::OF_COPY).values()),
        _ => general::plain(call, parameters),
    }
}

/// From CUDA 13 on, properties of the edges come before their number.
fn add_any(
    call: &Call,
    node: Out<u64>,
    graph: u64,
    behind: In<u64>,
    third: u64,
    fourth: u64,
    fifth: u64,
) -> Answer {
    let has_edges = generation::current() == RuntimeMajor::Thirteen;
    let (count, parameters) = if has_edges { (fourth, fifth) } else { (third, fourth) };
    let count = usize::try_from(count).unwrap_or(0);
    add_any_with_edges(call, node, graph, behind, Host::at(0), count, Host::at(parameters))
}

fn add_any_with_edges(
    call: &Call,
    node: Out<u64>,
    graph: u64,
    behind: In<u64>,
    _edges: Host,
    count: usize,
    parameters: Host,
) -> Answer {
    let work = any(call, parameters)?;
    add(call, node, graph, behind, count, work)
}

fn set_any(call: &Call, executable: u64, node: u64, parameters: Host) -> Answer {
    let work = any(call, parameters)?;
    replace(call, executable, node, work)
}

fn set_copy(call: &Call, executable: u64, node: u64, parameters: In<PlanesCopy>) -> Answer {
    let work = copies_of(call, parameters)?;
    replace(call, executable, node, work)
}

fn set_plain_copy(
    call: &Call,
    executable: u64,
    node: u64,
    to: u64,
    from: u64,
    bytes: usize,
    kind: u32,
) -> Answer {
    let work = plain_copy(call, to, from, bytes, kind)?;
    replace(call, executable, node, work)
}

fn set_set(call: &Call, executable: u64, node: u64, parameters: In<SetNode>) -> Answer {
    replace(call, executable, node, parameters.read()?.work()?)
}
