//! Graphs as wholes: capturing, instantiating, launching.

use crate::call::Call;
use crate::foreign::{Host, Out};
use crate::interface::graphs;
use crate::runtime::generation::{self, RuntimeMajor};
use crate::status::Answer;

runtime! {
    cudaStreamBeginCapture(stream: u64, mode: u32) ptsz => graphs::begin;
    cudaStreamEndCapture(stream: u64, graph: Out<u64>) ptsz => graphs::end;
    cudaStreamIsCapturing(stream: u64, status: Out<u32>) ptsz => graphs::is_capturing;
    cudaStreamGetCaptureInfo(stream: u64, status: Out<u32>, id: Out<u64>, graph: Out<u64>, nodes: Out<Host>, edges: Out<Host>, count: Out<usize>) ptsz => info;
    cudaStreamGetCaptureInfo_v2(stream: u64, status: Out<u32>, id: Out<u64>, graph: Out<u64>, nodes: Out<Host>, count: Out<usize>) ptsz => graphs::info;
    cudaStreamGetCaptureInfo_v3(stream: u64, status: Out<u32>, id: Out<u64>, graph: Out<u64>, nodes: Out<Host>, edges: Out<Host>, count: Out<usize>) ptsz => graphs::info_with_edges;
    cudaThreadExchangeStreamCaptureMode(mode: Out<u32>) one => graphs::exchange_mode;
    cudaGraphInstantiate(executable: Out<u64>, graph: u64, flags: u64) one => graphs::instantiate;
    cudaGraphInstantiateWithFlags(executable: Out<u64>, graph: u64, flags: u64) one => graphs::instantiate;
    cudaGraphInstantiateWithParams(executable: Out<u64>, graph: u64, parameters: Host) ptsz => graphs::instantiate_with_parameters;
    cudaGraphGetNodes(graph: u64, nodes: Out<u64>, count: Host) one => graphs::nodes;
    cudaGraphUpload(executable: u64, stream: u64) ptsz => graphs::upload;
    cudaGraphLaunch(executable: u64, stream: u64) ptsz => graphs::launch;
    cudaGraphExecUpdate(executable: u64, graph: u64, result: Host, old_result: Out<u32>) one => update;
    cudaGraphExecDestroy(executable: u64) one => graphs::destroy;
    cudaGraphDestroy(graph: u64) one => graphs::destroy;
}

/// Before CUDA 13, under this name there is nothing behind the number of the capture.
#[allow(clippy::too_many_arguments, reason = "the library's own parameters")]
fn info(
    call: &Call,
    stream: u64,
    status: Out<u32>,
    id: Out<u64>,
    graph: Out<u64>,
    nodes: Out<Host>,
    edges: Out<Host>,
    count: Out<usize>,
) -> Answer {
    if generation::current() == RuntimeMajor::Thirteen {
        return graphs::info_with_edges(call, stream, status, id, graph, nodes, edges, count);
    }
    let none = Host::at(0);
    graphs::info(call, stream, status, id, none.result(), none.result(), none.result())
}

/// CUDA 11 gives a node and the result in two places.
fn update(call: &Call, executable: u64, graph: u64, result: Host, old_result: Out<u32>) -> Answer {
    if generation::current() == RuntimeMajor::Eleven {
        return graphs::update_with_node(call, executable, graph, result.result(), old_result);
    }
    graphs::update(call, executable, graph, result.result())
}
