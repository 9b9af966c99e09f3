//! Graphs as wholes: capturing, instantiating, launching.

use crate::call::Call;
use crate::foreign::{Host, Out};
use crate::graphs::UPDATED;
use crate::interface::callbacks;
use crate::order;
use crate::status::{Answer, Status};
use crate::work::Work;

exports! {
    cuStreamBeginCapture_v2(stream: u64, mode: u32) since 10010 ptsz => begin;
    cuStreamEndCapture(stream: u64, graph: Out<u64>) since 10000 ptsz => end;
    cuStreamIsCapturing(stream: u64, status: Out<u32>) since 10000 ptsz => is_capturing;
    cuStreamGetCaptureInfo_v2(stream: u64, status: Out<u32>, id: Out<u64>, graph: Out<u64>, nodes: Out<Host>, count: Out<usize>) since 11030 ptsz => info;
    cuStreamGetCaptureInfo_v3(stream: u64, status: Out<u32>, id: Out<u64>, graph: Out<u64>, nodes: Out<Host>, edges: Out<Host>, count: Out<usize>) since 12030 ptsz => info_with_edges;
    cuThreadExchangeStreamCaptureMode(mode: Out<u32>) since 10010 one => exchange_mode;
    cuGraphInstantiate_v2(executable: Out<u64>, graph: u64, node: Out<u64>, log: Host, size: usize) since 11000 one => instantiate_with_log;
    cuGraphInstantiateWithFlags(executable: Out<u64>, graph: u64, flags: u64) since 11040 one => instantiate;
    cuGraphInstantiateWithParams(executable: Out<u64>, graph: u64, parameters: Host) since 12000 ptsz => instantiate_with_parameters;
    cuGraphGetNodes(graph: u64, nodes: Out<u64>, count: Host) since 10000 one => nodes;
    cuGraphUpload(executable: u64, stream: u64) since 11010 ptsz => upload;
    cuGraphLaunch(executable: u64, stream: u64) since 10000 ptsz => launch;
    cuGraphExecUpdate(executable: u64, graph: u64, node: Out<u64>, result: Out<u32>) since 10020 one => update_with_node;
    cuGraphExecUpdate_v2(executable: u64, graph: u64, result: Out<u32>) since 12000 one => update;
    cuGraphExecDestroy(executable: u64) since 10000 one => destroy;
    cuGraphDestroy(graph: u64) since 10000 one => destroy;
}

pub(crate) fn begin(call: &Call, stream: u64, _mode: u32) -> Answer {
    let mut state = call.current()?;
    state.streams.stream(stream)?;
    let fresh = state.handle();
    state.graphs.begin(stream, fresh)
}

pub(crate) fn end(call: &Call, stream: u64, graph: Out<u64>) -> Answer {
    let mut state = call.current()?;
    state.streams.stream(stream)?;
    let fresh = state.handle();
    state.graphs.end(stream, fresh)?;
    graph.give(fresh)
}

pub(crate) fn is_capturing(call: &Call, stream: u64, status: Out<u32>) -> Answer {
    let state = call.current()?;
    state.streams.stream(stream)?;
    status.give(u32::from(state.graphs.capture_of(stream).is_some()))
}

pub(crate) fn info(
    call: &Call,
    stream: u64,
    status: Out<u32>,
    id: Out<u64>,
    graph: Out<u64>,
    nodes: Out<Host>,
    count: Out<usize>,
) -> Answer {
    is_capturing(call, stream, status)?;
    let capture = call.current()?.graphs.capture_of(stream).unwrap_or(0);
    id.give_if_wanted(capture);
    graph.give_if_wanted(capture);
    nodes.give_if_wanted(Host::at(0));
    count.give_if_wanted(0);
    Ok(())
}

#[allow(clippy::too_many_arguments, reason = "the driver's own parameters")]
pub(crate) fn info_with_edges(
    call: &Call,
    stream: u64,
    status: Out<u32>,
    id: Out<u64>,
    graph: Out<u64>,
    nodes: Out<Host>,
    edges: Out<Host>,
    count: Out<usize>,
) -> Answer {
    edges.give_if_wanted(Host::at(0));
    info(call, stream, status, id, graph, nodes, count)
}

pub(crate) fn exchange_mode(call: &Call, mode: Out<u32>) -> Answer {
    drop(call.ready()?);
    // The mode before: global.
    mode.give(0)
}

pub(crate) fn instantiate(call: &Call, executable: Out<u64>, graph: u64, _flags: u64) -> Answer {
    let mut state = call.current()?;
    let fresh = state.handle();
    state.graphs.instantiate(graph, fresh)?;
    executable.give(fresh)
}

fn instantiate_with_log(
    call: &Call,
    executable: Out<u64>,
    graph: u64,
    node: Out<u64>,
    _log: Host,
    _size: usize,
) -> Answer {
    node.give_if_wanted(0);
    instantiate(call, executable, graph, 0)
}

pub(crate) fn instantiate_with_parameters(
    call: &Call,
    executable: Out<u64>,
    graph: u64,
    _parameters: Host,
) -> Answer {
    instantiate(call, executable, graph, 0)
}

/// Gives the number of nodes, or the nodes up to a number.
pub(crate) fn nodes(call: &Call, graph: u64, nodes: Out<u64>, count: Host) -> Answer {
    let mut handles = call.current()?.graphs.graph(graph)?.handles();
    if !nodes.is_null() {
        handles.truncate(count.values::<usize>().read()?);
        nodes.give_all(&handles)?;
    }
    count.result().give(handles.len())
}

pub(crate) fn upload(call: &Call, executable: u64, stream: u64) -> Answer {
    let mut state = call.current()?;
    state.streams.stream(stream)?;
    state.graphs.graph(executable).map(|_| ())
}

pub(crate) fn launch(call: &Call, executable: u64, stream: u64) -> Answer {
    let list = call.current()?.graphs.graph(executable)?.work();
    for work in list {
        let mut state = call.current()?;
        match work {
            Work::Call { function, data } if state.graphs.capture_of(stream).is_none() => {
                drop(state);
                callbacks::run(call, move || function.call(data))?;
            }
            work => order::submit(&mut state, stream, work)?,
        }
    }
    Ok(())
}

/// Gives a number that says whether the graph could be updated. In the structure of later versions it comes first; the nodes behind it,
/// which say what went wrong, are not given.
pub(crate) fn update(call: &Call, executable: u64, graph: u64, result: Out<u32>) -> Answer {
    let number = call.current()?.graphs.update(executable, graph)?;
    result.give_if_wanted(number);
    // Programs make the graph anew then: it is no mistake.
    if number == UPDATED { Ok(()) } else { Err(Status::GraphExecUpdateFailure.into()) }
}

pub(crate) fn update_with_node(
    call: &Call,
    executable: u64,
    graph: u64,
    node: Out<u64>,
    result: Out<u32>,
) -> Answer {
    node.give_if_wanted(0);
    update(call, executable, graph, result)
}

pub(crate) fn destroy(call: &Call, graph: u64) -> Answer {
    call.current()?.graphs.destroy(graph)
}
