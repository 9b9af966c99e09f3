//! A graph: nodes with work, and which of them are behind which.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use crate::status::{Refusal, Status, refuse};
use crate::work::Work;

/// Whether a graph could take over the work of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It has.
    Work,
    /// The other one has more nodes, or fewer.
    OtherNodes,
    /// A node does work of another kind.
    OtherKinds,
}

/// A node.
#[derive(Debug, Clone)]
struct WorkNode {
    handle: u64,
    work: Vec<Work>,
}

/// A graph, with nodes in the order in which they were added.
#[derive(Debug, Clone, Default)]
pub(crate) struct WorkGraph {
    nodes: Vec<WorkNode>,
    /// Nodes, and one that is behind each.
    edges: Vec<(u64, u64)>,
}

impl WorkGraph {
    /// Adds a node behind others.
    pub(crate) fn add(
        &mut self,
        handle: u64,
        behind: &[u64],
        work: Vec<Work>,
    ) -> Result<(), Refusal> {
        behind.iter().try_for_each(|before| self.place(*before).map(|_| ()))?;
        self.nodes.push(WorkNode { handle, work });
        self.edges.extend(behind.iter().map(|before| (*before, handle)));
        Ok(())
    }

    /// Puts a node behind another one.
    pub(crate) fn order(&mut self, before: u64, behind: u64) -> Result<(), Refusal> {
        for handle in [before, behind] {
            self.place(handle)?;
        }
        self.edges.push((before, behind));
        Ok(())
    }

    /// Gives a node other work.
    pub(crate) fn replace(&mut self, handle: u64, work: Vec<Work>) -> Result<(), Refusal> {
        let at = self.place(handle)?;
        self.nodes[at].work = work;
        Ok(())
    }

    /// Gives the nodes the work of those of a graph with as many nodes of the same kinds, each that of the node that is as far in the order.
    /// Otherwise returns how the graphs differ, and changes nothing.
    pub(crate) fn take_over(&mut self, other: &WorkGraph) -> Taken {
        let (own, others) = (self.ordered(), other.ordered());
        if own.len() != others.len() {
            return Taken::OtherNodes;
        }
        let pairs = || own.iter().zip(&others);
        // A copy of rows is as many copies as it has rows.
        let kind = |node: &WorkNode| node.work.first().map(mem::discriminant);
        if !pairs().all(|(own, other)| kind(own) == kind(other)) {
            return Taken::OtherKinds;
        }
        let work: BTreeMap<u64, Vec<Work>> =
            pairs().map(|(own, other)| (own.handle, other.work.clone())).collect();
        for node in &mut self.nodes {
            if let Some(work) = work.get(&node.handle) {
                node.work.clone_from(work);
            }
        }
        Taken::Work
    }

    fn place(&self, handle: u64) -> Result<usize, Refusal> {
        let wrong = || refuse(Status::InvalidValue, "the node is not in the graph");
        self.nodes.iter().position(|node| node.handle == handle).ok_or_else(wrong)
    }

    /// Returns the handles of the nodes.
    pub(crate) fn handles(&self) -> Vec<u64> {
        self.nodes.iter().map(|node| node.handle).collect()
    }

    /// Returns all work in an order that the graph allows.
    pub(crate) fn work(&self) -> Vec<Work> {
        self.ordered().into_iter().flat_map(|node| node.work.iter().cloned()).collect()
    }

    /// Returns the nodes in an order that the graph allows: the first that was added, if nothing is in front of it, and so on.
    fn ordered(&self) -> Vec<&WorkNode> {
        let mut before: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        for (first, second) in &self.edges {
            before.entry(*second).or_default().insert(*first);
        }
        let (mut done, mut found) = (BTreeSet::new(), Vec::new());
        let mut waiting: Vec<&WorkNode> = self.nodes.iter().collect();
        while !waiting.is_empty() {
            let count = waiting.len();
            waiting.retain(|node| {
                let all = before.get(&node.handle);
                let is_ready = all.is_none_or(|all| all.is_subset(&done));
                if is_ready {
                    done.insert(node.handle);
                    found.push(*node);
                }
                !is_ready
            });
            // A circle: no order is allowed.
            if waiting.len() == count {
                break;
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::{Taken, WorkGraph};
    use crate::foreign::Host;
    use crate::work::Work;

    fn work(number: u64) -> Vec<Work> {
        vec![Work::In { to: number, from: Host::at(0), count: 0 }]
    }

    fn order(graph: &WorkGraph) -> Vec<u64> {
        let number = |work: Work| if let Work::In { to, .. } = work { to } else { 0 };
        graph.work().into_iter().map(number).collect()
    }

    #[test]
    fn work_is_in_an_order_that_the_graph_allows() {
        let mut graph = WorkGraph::default();
        for number in 1..=4 {
            graph.add(number, &[], work(number)).unwrap();
        }
        assert_eq!(order(&graph), [1, 2, 3, 4]);
        graph.order(4, 1).unwrap();
        graph.order(1, 2).unwrap();
        assert_eq!(order(&graph), [3, 4, 1, 2]);
        graph.replace(3, work(7)).unwrap();
        assert_eq!(order(&graph), [7, 4, 1, 2]);
        assert!(graph.order(1, 9).is_err() && graph.add(5, &[9], work(5)).is_err());
        // A node that could not be added is not there.
        assert_eq!(order(&graph), [7, 4, 1, 2]);
        graph.order(2, 4).unwrap();
        assert_eq!(order(&graph), [7]);
    }

    #[test]
    fn nodes_stay_when_a_graph_takes_over_work() {
        let (mut graph, mut other) = (WorkGraph::default(), WorkGraph::default());
        for number in [1, 2] {
            graph.add(number, &[], work(number)).unwrap();
        }
        graph.order(2, 1).unwrap();
        other.add(8, &[], work(20)).unwrap();
        assert_eq!(graph.take_over(&other), Taken::OtherNodes);
        other.add(9, &[8], work(10)).unwrap();
        assert_eq!(graph.take_over(&other), Taken::Work);
        assert_eq!(order(&graph), [20, 10]);
        assert_eq!(graph.handles(), [1, 2]);
        graph.replace(2, work(3)).unwrap();
        assert_eq!(order(&graph), [3, 10]);
        other
            .replace(8, vec![Work::Set { to: 0, pitch: 0, value: vec![0], width: 0, height: 0 }])
            .unwrap();
        assert_eq!(graph.take_over(&other), Taken::OtherKinds);
        assert_eq!(order(&graph), [3, 10]);
    }
}
