//! Streams that are captured, and graphs: of what streams were given, or made node by node.

use std::collections::BTreeMap;

use crate::graph::{Taken, WorkGraph};
use crate::status::{Refusal, Status, refuse};
use crate::work::Work;

/// Whether a graph could be updated.
pub(crate) const UPDATED: u32 = 0;
const TOPOLOGY_CHANGED: u32 = 2;
const TYPE_CHANGED: u32 = 3;

/// Handle of the default stream of a thread: the others, 0 and 1, are that of all threads, which cannot be captured.
const PER_THREAD: u64 = 2;

/// Handles of nodes are greater than all others.
const FIRST_NODE: u64 = 1 << 48;

/// A capture that is going on.
#[derive(Debug)]
struct Capture {
    /// The stream that it began on, where it has to end.
    origin: u64,
    work: Vec<Work>,
}

/// Captures and graphs, by handle. An executable graph is one that does not change.
#[derive(Debug, Default)]
pub(crate) struct Graphs {
    captures: BTreeMap<u64, Capture>,
    /// The capture that a stream is part of.
    streams: BTreeMap<u64, u64>,
    /// The capture that an event was recorded in.
    events: BTreeMap<u64, u64>,
    live: BTreeMap<u64, WorkGraph>,
    /// Handle of the last node.
    nodes: u64,
    /// The graphs that nodes were added to. Copies of these graphs have the same nodes.
    owners: BTreeMap<u64, u64>,
}

impl Graphs {
    /// Returns the capture that a stream is part of.
    pub(crate) fn capture_of(&self, stream: u64) -> Option<u64> {
        self.streams.get(&stream).copied()
    }

    /// Begins a capture; `fresh` is its handle.
    pub(crate) fn begin(&mut self, stream: u64, fresh: u64) -> Result<(), Refusal> {
        if stream < PER_THREAD {
            return Err(refuse(
                Status::StreamCaptureUnsupported,
                "captures the default stream of all threads",
            ));
        }
        if self.streams.contains_key(&stream) {
            return Err(refuse(Status::IllegalState, "captures a stream that is captured"));
        }
        self.streams.insert(stream, fresh);
        self.captures.insert(fresh, Capture { origin: stream, work: Vec::new() });
        Ok(())
    }

    /// Keeps work for the graph, if the stream is captured; gives it back if not.
    pub(crate) fn keep(&mut self, stream: u64, work: Work) -> Option<Work> {
        let capture = self.streams.get(&stream).and_then(|capture| self.captures.get_mut(capture));
        match capture {
            Some(capture) => {
                capture.work.push(work);
                None
            }
            None => Some(work),
        }
    }

    /// Notes that an event was recorded in a stream.
    pub(crate) fn recorded(&mut self, event: u64, stream: u64) {
        match self.capture_of(stream) {
            Some(capture) => self.events.insert(event, capture),
            None => self.events.remove(&event),
        };
    }

    /// A stream that waits for an event of a capture becomes part of it.
    pub(crate) fn waits(&mut self, stream: u64, event: u64) {
        if let Some(capture) = self.events.get(&event) {
            self.streams.insert(stream, *capture);
        }
    }

    /// Ends a capture; the graph gets the handle `fresh`.
    pub(crate) fn end(&mut self, stream: u64, fresh: u64) -> Result<(), Refusal> {
        let wrong =
            || refuse(Status::IllegalState, "ends the capture of a stream that is not captured");
        let handle = self.capture_of(stream).ok_or_else(wrong)?;
        if self.captures.get(&handle).is_some_and(|capture| capture.origin != stream) {
            return Err(refuse(
                Status::StreamCaptureUnmatched,
                "ends a capture on another stream than it began on",
            ));
        }
        self.streams.retain(|_, capture| *capture != handle);
        self.events.retain(|_, capture| *capture != handle);
        let work = self.captures.remove(&handle).map(|capture| capture.work).unwrap_or_default();
        self.create(fresh);
        let mut last = Vec::new();
        // In the order in which it was captured, which is one of those that the graph allows.
        for own in work {
            last = vec![self.add(fresh, &last, vec![own])?];
        }
        Ok(())
    }

    /// Adds a graph without nodes.
    pub(crate) fn create(&mut self, fresh: u64) {
        self.live.insert(fresh, WorkGraph::default());
    }

    /// Adds a node behind others, and returns its handle.
    pub(crate) fn add(
        &mut self,
        graph: u64,
        behind: &[u64],
        work: Vec<Work>,
    ) -> Result<u64, Refusal> {
        self.nodes += 1;
        let handle = FIRST_NODE + self.nodes;
        self.graph(graph)?.add(handle, behind, work)?;
        self.owners.insert(handle, graph);
        Ok(handle)
    }

    /// Gives a node of the graph that it was added to other work.
    pub(crate) fn change(&mut self, node: u64, work: Vec<Work>) -> Result<(), Refusal> {
        let wrong = || refuse(Status::InvalidValue, "the node is of no graph");
        let graph = self.owners.get(&node).copied().ok_or_else(wrong)?;
        self.graph(graph)?.replace(node, work)
    }

    /// Returns a graph.
    pub(crate) fn graph(&mut self, handle: u64) -> Result<&mut WorkGraph, Refusal> {
        let wrong = || refuse(Status::InvalidValue, "the graph is not live");
        self.live.get_mut(&handle).ok_or_else(wrong)
    }

    /// Makes a copy of a graph, such as an executable one. Its nodes have the same handles.
    pub(crate) fn instantiate(&mut self, graph: u64, fresh: u64) -> Result<(), Refusal> {
        let copy = self.graph(graph)?.clone();
        self.live.insert(fresh, copy);
        Ok(())
    }

    /// Replaces the work of an executable graph by that of a graph with the same kinds of work; otherwise returns the number that says why it
    /// cannot be (`CUgraphExecUpdateResult`).
    pub(crate) fn update(&mut self, executable: u64, graph: u64) -> Result<u32, Refusal> {
        let other = self.graph(graph)?.clone();
        Ok(match self.graph(executable)?.take_over(&other) {
            Taken::Work => UPDATED,
            Taken::OtherNodes => TOPOLOGY_CHANGED,
            Taken::OtherKinds => TYPE_CHANGED,
        })
    }

    /// Ends a graph.
    pub(crate) fn destroy(&mut self, handle: u64) -> Result<(), Refusal> {
        self.graph(handle)?;
        self.live.remove(&handle);
        self.owners.retain(|_, graph| *graph != handle);
        Ok(())
    }
}
