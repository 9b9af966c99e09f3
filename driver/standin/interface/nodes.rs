//! Graphs that are made node by node. A node keeps its work as it is when the node is made.

use crate::call::Call;
use crate::foreign::{Host, HostFunction, In, Out, Plain};
use crate::interface::copies::{self, Planes};
use crate::interface::{launch, sets};
use crate::limits::Configuration;
use crate::status::{Answer, Refusal, Status, refuse};
use crate::work::Work;

exports! {
    cuGraphCreate(graph: Out<u64>, flags: u32) since 10000 one => create;
    cuGraphClone(copy: Out<u64>, graph: u64) since 10000 one => copy;
    cuGraphAddKernelNode(node: Out<u64>, graph: u64, behind: In<u64>, count: usize, parameters: In<KernelNode>) since 10000 one => add_kernel;
    cuGraphAddKernelNode_v2(node: Out<u64>, graph: u64, behind: In<u64>, count: usize, parameters: In<KernelNode>) since 12000 one => add_kernel_or_function;
    cuGraphAddMemcpyNode(node: Out<u64>, graph: u64, behind: In<u64>, count: usize, parameters: In<Planes>, context: u64) since 10000 one => add_copy;
    cuGraphAddMemsetNode(node: Out<u64>, graph: u64, behind: In<u64>, count: usize, parameters: In<SetNode>, context: u64) since 10000 one => add_set;
    cuGraphAddHostNode(node: Out<u64>, graph: u64, behind: In<u64>, count: usize, parameters: In<HostNode>) since 10000 one => add_host;
    cuGraphAddEmptyNode(node: Out<u64>, graph: u64, behind: In<u64>, count: usize) since 10000 one => add_empty;
    cuGraphAddChildGraphNode(node: Out<u64>, graph: u64, behind: In<u64>, count: usize, child: u64) since 10000 one => add_child;
    cuGraphAddDependencies(graph: u64, before: In<u64>, behind: In<u64>, count: usize) since 10000 one => order;
    cuGraphAddDependencies_v2(graph: u64, before: In<u64>, behind: In<u64>, edges: Host, count: usize) since 12030 one => order_with_edges;
    cuGraphExecKernelNodeSetParams(executable: u64, node: u64, parameters: In<KernelNode>) since 10010 one => set_kernel;
    cuGraphExecKernelNodeSetParams_v2(executable: u64, node: u64, parameters: In<KernelNode>) since 12000 one => set_kernel_or_function;
    cuGraphKernelNodeSetParams(node: u64, parameters: In<KernelNode>) since 10000 one => change_kernel;
    cuGraphKernelNodeSetParams_v2(node: u64, parameters: In<KernelNode>) since 12000 one => change_kernel_or_function;
    cuGraphExecMemcpyNodeSetParams(executable: u64, node: u64, parameters: In<Planes>, context: u64) since 10020 one => set_copy;
    cuGraphExecMemsetNodeSetParams(executable: u64, node: u64, parameters: In<SetNode>, context: u64) since 10020 one => set_set;
    cuGraphExecHostNodeSetParams(executable: u64, node: u64, parameters: In<HostNode>) since 10020 one => set_host;
}

/// `CUDA_KERNEL_NODE_PARAMS`, and `cudaKernelNodeParams`. Behind it, the second version has a kernel for where there is no function.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct KernelNode {
    /// The kernel, or the host's function that stands for it.
    pub(crate) function: Host,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    padding: u32,
    addresses: Host,
    extra: Host,
}

// SAFETY: integers and addresses, without padding of its own.
unsafe impl Plain for KernelNode {}

/// `CUDA_MEMSET_NODE_PARAMS`, and `cudaMemsetParams`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct SetNode {
    to: u64,
    pitch: usize,
    value: u32,
    size: u32,
    width: usize,
    height: usize,
}

// SAFETY: integers alone, without padding.
unsafe impl Plain for SetNode {}

/// `CUDA_HOST_NODE_PARAMS`, and `cudaHostNodeParams`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostNode {
    function: HostFunction,
    data: Host,
}

// SAFETY: two addresses, of which any is valid.
unsafe impl Plain for HostNode {}

impl KernelNode {
    /// Returns the sizes of the launch.
    pub(crate) fn configuration(&self) -> Configuration {
        let KernelNode { grid, block, shared, .. } = *self;
        Configuration { grid, block, cluster: None, shared, cooperative: false }
    }

    /// Returns the launch of a kernel with these sizes and arguments.
    pub(crate) fn work(&self, call: &Call, kernel: u64) -> Result<Vec<Work>, Refusal> {
        let state = call.current()?;
        let kernel = state.modules.kernel(kernel)?.clone();
        let (addresses, extra) = (self.addresses.values(), self.extra.values());
        Ok(vec![launch::work(&state, kernel, &self.configuration(), addresses, extra)?])
    }
}

impl SetNode {
    /// Returns the node's work.
    pub(crate) fn work(&self) -> Result<Vec<Work>, Refusal> {
        let bytes = self.value.to_le_bytes();
        let wrong = || refuse(Status::InvalidValue, format!("elements of {} bytes", self.size));
        let size = usize::try_from(self.size).ok().filter(|size| matches!(size, 1 | 2 | 4));
        let value = &bytes[..size.ok_or_else(wrong)?];
        Ok(vec![sets::work(self.to, self.pitch, value, self.width, self.height)?])
    }
}

impl HostNode {
    /// Returns the node's work.
    pub(crate) fn work(&self) -> Vec<Work> {
        vec![Work::Call { function: self.function, data: self.data }]
    }
}

pub(crate) fn create(call: &Call, graph: Out<u64>, _flags: u32) -> Answer {
    let mut state = call.current()?;
    let fresh = state.handle();
    state.graphs.create(fresh);
    graph.give(fresh)
}

pub(crate) fn copy(call: &Call, copy: Out<u64>, graph: u64) -> Answer {
    let mut state = call.current()?;
    let fresh = state.handle();
    state.graphs.instantiate(graph, fresh)?;
    copy.give(fresh)
}

/// Adds a node with work behind `count` others.
pub(crate) fn add(
    call: &Call,
    node: Out<u64>,
    graph: u64,
    behind: In<u64>,
    count: usize,
    work: Vec<Work>,
) -> Answer {
    let behind = behind.list(count)?;
    let handle = call.current()?.graphs.add(graph, &behind, work)?;
    node.give(handle)
}

/// Gives a node other work.
pub(crate) fn replace(call: &Call, executable: u64, node: u64, work: Vec<Work>) -> Answer {
    call.current()?.graphs.graph(executable)?.replace(node, work)
}

fn add_kernel(
    call: &Call,
    node: Out<u64>,
    graph: u64,
    behind: In<u64>,
    count: usize,
    parameters: In<KernelNode>,
) -> Answer {
    let own = parameters.read()?;
    let work = own.work(call, own.function.number())?;
    add(call, node, graph, behind, count, work)
}

/// Returns the kernel of the second version of the parameters.
pub(super) fn kernel_or_function(parameters: In<KernelNode>) -> Result<(KernelNode, u64), Refusal> {
    let own = parameters.read()?;
    if own.function.is_null() {
        // Behind the structure of the first version.
        let kernel = parameters.behind::<u64>().read()?;
        return Ok((own, kernel));
    }
    Ok((own, own.function.number()))
}

fn add_kernel_or_function(
    call: &Call,
    node: Out<u64>,
    graph: u64,
    behind: In<u64>,
    count: usize,
    parameters: In<KernelNode>,
) -> Answer {
    let (own, kernel) = kernel_or_function(parameters)?;
    let work = own.work(call, kernel)?;
    add(call, node, graph, behind, count, work)
}

fn copies(call: &Call, parameters: In<Planes>) -> Result<Vec<Work>, Refusal> {
    copies::works(&*call.current()?, &parameters.read()?)
}

fn add_copy(
    call: &Call,
    node: Out<u64>,
    graph: u64,
    behind: In<u64>,
    count: usize,
    parameters: In<Planes>,
    _context: u64,
) -> Answer {
    let work = copies(call, parameters)?;
    add(call, node, graph, behind, count, work)
}

fn add_set(
    call: &Call,
    node: Out<u64>,
    graph: u64,
    behind: In<u64>,
    count: usize,
    parameters: In<SetNode>,
    _context: u64,
) -> Answer {
    add(call, node, graph, behind, count, parameters.read()?.work()?)
}

pub(crate) fn add_host(
    call: &Call,
    node: Out<u64>,
    graph: u64,
    behind: In<u64>,
    count: usize,
    parameters: In<HostNode>,
) -> Answer {
    add(call, node, graph, behind, count, parameters.read()?.work())
}

pub(crate) fn add_empty(
    call: &Call,
    node: Out<u64>,
    graph: u64,
    behind: In<u64>,
    count: usize,
) -> Answer {
    add(call, node, graph, behind, count, Vec::new())
}

pub(crate) fn add_child(
    call: &Call,
    node: Out<u64>,
    graph: u64,
    behind: In<u64>,
    count: usize,
    child: u64,
) -> Answer {
    let work = call.current()?.graphs.graph(child)?.work();
    add(call, node, graph, behind, count, work)
}

pub(crate) fn order(
    call: &Call,
    graph: u64,
    before: In<u64>,
    behind: In<u64>,
    count: usize,
) -> Answer {
    let (before, behind) = (before.list(count)?, behind.list(count)?);
    let mut state = call.current()?;
    let graph = state.graphs.graph(graph)?;
    before.into_iter().zip(behind).try_for_each(|(first, second)| graph.order(first, second))
}

pub(crate) fn order_with_edges(
    call: &Call,
    graph: u64,
    before: In<u64>,
    behind: In<u64>,
    _edges: Host,
    count: usize,
) -> Answer {
    order(call, graph, before, behind, count)
}

fn set_kernel(call: &Call, executable: u64, node: u64, parameters: In<KernelNode>) -> Answer {
    let own = parameters.read()?;
    let work = own.work(call, own.function.number())?;
    replace(call, executable, node, work)
}

fn set_kernel_or_function(
    call: &Call,
    executable: u64,
    node: u64,
    parameters: In<KernelNode>,
) -> Answer {
    let (own, kernel) = kernel_or_function(parameters)?;
    let work = own.work(call, kernel)?;
    replace(call, executable, node, work)
}

/// Gives a node of a graph that is not executable other work.
pub(crate) fn change(call: &Call, node: u64, work: Vec<Work>) -> Answer {
    call.current()?.graphs.change(node, work)
}

fn change_kernel(call: &Call, node: u64, parameters: In<KernelNode>) -> Answer {
    let own = parameters.read()?;
    let work = own.work(call, own.function.number())?;
    change(call, node, work)
}

fn change_kernel_or_function(call: &Call, node: u64, parameters: In<KernelNode>) -> Answer {
    let (own, kernel) = kernel_or_function(parameters)?;
    let work = own.work(call, kernel)?;
    change(call, node, work)
}

fn set_copy(
    call: &Call,
    executable: u64,
    node: u64,
    parameters: In<Planes>,
    _context: u64,
) -> Answer {
    let work = copies(call, parameters)?;
    replace(call, executable, node, work)
}

fn set_set(
    call: &Call,
    executable: u64,
    node: u64,
    parameters: In<SetNode>,
    _context: u64,
) -> Answer {
    replace(call, executable, node, parameters.read()?.work()?)
}

pub(crate) fn set_host(
    call: &Call,
    executable: u64,
    node: u64,
    parameters: In<HostNode>,
) -> Answer {
    replace(call, executable, node, parameters.read()?.work())
}
