//! Finds natural loops and how they nest.

use super::dominators::{Dominance, post_order, reversed};
use super::error::{LinkErrorKind, MAX_NESTING};

/// A natural loop: all nodes that reach one of its back edges without passing its header.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub(super) header: usize,
    /// The loop that encloses it directly.
    pub(super) parent: Option<usize>,
    pub(super) depth: u32,
}

/// All loops of a graph.
#[derive(Clone, Debug)]
pub(super) struct Loops {
    pub(super) all: Vec<Loop>,
    /// For each node, the innermost loop that contains it.
    pub(super) innermost: Vec<Option<usize>>,
    /// Edges against the order of a depth-first search; in a reducible graph these are the back edges.
    pub(super) retreating: Vec<(usize, usize)>,
    /// Whether some retreating edge's target does not dominate its source.
    pub(super) is_irreducible: bool,
}

/// Finds the loops that are reachable from `entry`.
///
/// # Errors
/// Loops nested too deeply.
pub(super) fn find(successors: &[Vec<usize>], entry: usize) -> Result<Loops, LinkErrorKind> {
    let order = post_order(successors, entry);
    let mut number = vec![usize::MAX; successors.len()];
    for (at, &node) in order.iter().enumerate() {
        number[node] = at;
    }
    let dominance = Dominance::of(successors, entry);
    let predecessors = reversed(successors);
    let mut found = Loops {
        all: Vec::new(),
        innermost: vec![None; successors.len()],
        retreating: Vec::new(),
        is_irreducible: false,
    };
    // Headers in reverse post-order: outer loops come before the loops inside them.
    for &header in order.iter().rev() {
        let mut latches = Vec::new();
        for &from in predecessors[header].iter().filter(|&&from| number[from] <= number[header]) {
            found.retreating.push((from, header));
            if dominance.dominates(header, from) {
                latches.push(from);
            } else {
                found.is_irreducible = true;
            }
        }
        if !latches.is_empty() {
            found.add(header, latches, &predecessors)?;
        }
    }
    Ok(found)
}

impl Loops {
    /// Returns the headers of the loops that contain a node, outermost first.
    pub(super) fn headers(&self, node: usize) -> Vec<usize> {
        let outwards = std::iter::successors(self.innermost[node], |&inner| self.all[inner].parent);
        let mut headers: Vec<_> = outwards.map(|looped| self.all[looped].header).collect();
        headers.reverse();
        headers
    }

    fn add(
        &mut self,
        header: usize,
        latches: Vec<usize>,
        predecessors: &[Vec<usize>],
    ) -> Result<(), LinkErrorKind> {
        let index = self.all.len();
        let parent = self.innermost[header];
        let depth = parent.map_or(1, |parent| self.all[parent].depth + 1);
        if depth as usize > MAX_NESTING {
            return Err(LinkErrorKind::Nesting);
        }
        self.all.push(Loop { header, parent, depth });
        self.innermost[header] = Some(index);
        let mut work = latches;
        while let Some(node) = work.pop() {
            if self.innermost[node] != Some(index) {
                self.innermost[node] = Some(index);
                work.extend(&predecessors[node]);
            }
        }
        Ok(())
    }
}
