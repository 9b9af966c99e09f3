//! Immediate dominators of a graph (Semi-NCA of Georgiadis, *Linear-Time Algorithms for Dominators and Related
//! Problems*, with the semi-dominators of Lengauer and Tarjan). On the reversed graph they are post-dominators.
//!
//! The simpler algorithm, which intersects paths in the dominator tree, costs the depth of the graph for each edge into
//! a node. That is too much for the block that ends a thread, which thousands of asserts can lead to.

/// Returns the nodes reachable from `entry`, every node behind its successors apart from back edges.
pub(super) fn post_order(successors: &[Vec<usize>], entry: usize) -> Vec<usize> {
    let mut order = Vec::with_capacity(successors.len());
    let mut seen = vec![false; successors.len()];
    let mut stack = vec![(entry, 0)];
    seen[entry] = true;
    while let Some((node, next)) = stack.last_mut() {
        if let Some(&successor) = successors[*node].get(*next) {
            *next += 1;
            if !std::mem::replace(&mut seen[successor], true) {
                stack.push((successor, 0));
            }
        } else {
            order.push(*node);
            stack.pop();
        }
    }
    order
}

/// Returns the same graph with all edges reversed.
pub(super) fn reversed(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut predecessors = vec![Vec::new(); successors.len()];
    for (node, targets) in successors.iter().enumerate() {
        for &target in targets {
            predecessors[target].push(node);
        }
    }
    predecessors
}

/// Returns the immediate dominator of each node; `None` for the entry and for nodes that it does not reach.
pub(crate) fn immediate_dominators(successors: &[Vec<usize>], entry: usize) -> Vec<Option<usize>> {
    let tree = Tree::of(successors, entry);
    let semi = semi_dominators(&tree, &reversed(successors));
    // Nodes are numbered in search order: the dominator is the nearest ancestor in the tree whose number is not above
    // the semi-dominator.
    let mut above = tree.parents.clone();
    for at in 1..above.len() {
        while above[at] > semi[at] {
            above[at] = above[above[at]];
        }
    }
    let mut dominators = vec![None; successors.len()];
    for (at, &node) in tree.order.iter().enumerate().skip(1) {
        dominators[node] = Some(tree.order[above[at]]);
    }
    dominators
}

/// The dominance relation of a graph, answered in constant time for each pair of nodes.
#[derive(Clone, Debug)]
pub(super) struct Dominance {
    /// For each node, the times at which a walk over the dominator tree enters and leaves it; `None`: the node is not
    /// reached.
    visits: Vec<Option<(usize, usize)>>,
}

impl Dominance {
    /// Computes the relation for the nodes reachable from `entry`.
    pub(super) fn of(successors: &[Vec<usize>], entry: usize) -> Self {
        let mut below = vec![Vec::new(); successors.len()];
        for (node, above) in immediate_dominators(successors, entry).into_iter().enumerate() {
            if let Some(above) = above {
                below[above].push(node);
            }
        }
        let mut visits = vec![None; successors.len()];
        let mut clock = 0;
        let mut stack = vec![(entry, 0)];
        while let Some((node, next)) = stack.last_mut() {
            let (came, _) = *visits[*node].get_or_insert((clock, clock));
            clock += 1;
            if let Some(&under) = below[*node].get(*next) {
                *next += 1;
                stack.push((under, 0));
            } else {
                visits[*node] = Some((came, clock));
                stack.pop();
            }
        }
        Self { visits }
    }

    /// Whether every path to `b` passes `a`; a node dominates itself. False for nodes that are not reached.
    pub(super) fn dominates(&self, a: usize, b: usize) -> bool {
        match (self.visits[a], self.visits[b]) {
            (Some((came, left)), Some((inner, _))) => came <= inner && inner < left,
            _ => false,
        }
    }
}

/// A depth-first search tree, its nodes numbered in the order of the search.
struct Tree {
    /// Nodes by number.
    order: Vec<usize>,
    /// Numbers by node; `usize::MAX` for nodes that are not reached.
    numbers: Vec<usize>,
    /// For each number, the number of the parent in the tree; the entry is its own parent.
    parents: Vec<usize>,
}

impl Tree {
    fn of(successors: &[Vec<usize>], entry: usize) -> Self {
        let mut tree = Self {
            order: Vec::new(),
            numbers: vec![usize::MAX; successors.len()],
            parents: Vec::new(),
        };
        tree.add(entry, 0);
        let mut stack = vec![(entry, 0)];
        while let Some((node, next)) = stack.last_mut() {
            let Some(&successor) = successors[*node].get(*next) else {
                stack.pop();
                continue;
            };
            *next += 1;
            if tree.numbers[successor] == usize::MAX {
                tree.add(successor, tree.numbers[*node]);
                stack.push((successor, 0));
            }
        }
        tree
    }

    fn add(&mut self, node: usize, parent: usize) {
        self.numbers[node] = self.order.len();
        self.order.push(node);
        self.parents.push(parent);
    }
}

/// Returns for each number the semi-dominator: the least number from which a path leads to the node through greater
/// numbers only.
fn semi_dominators(tree: &Tree, predecessors: &[Vec<usize>]) -> Vec<usize> {
    let count = tree.order.len();
    let mut semi: Vec<usize> = (0..count).collect();
    // The forest of processed nodes: for each node its next ancestor, and the node with the least semi-dominator on the
    // way there.
    let mut up = tree.parents.clone();
    let mut least: Vec<usize> = (0..count).collect();
    let mut way = Vec::new();
    for at in (1..count).rev() {
        for &from in &predecessors[tree.order[at]] {
            let from = tree.numbers[from];
            if from == usize::MAX {
                continue;
            }
            // Nodes with numbers above `at` are processed; their paths are compressed.
            let mut top = from;
            while top > at {
                way.push(top);
                top = up[top];
            }
            let mut best = top;
            let mut is_first = true;
            for node in way.drain(..).rev() {
                if !std::mem::take(&mut is_first) && semi[least[best]] < semi[least[node]] {
                    least[node] = least[best];
                }
                up[node] = top;
                best = node;
            }
            let candidate = if from > at { semi[least[from]] } else { from };
            semi[at] = semi[at].min(candidate);
        }
    }
    semi
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether `a` dominates `b`: removing `a` makes `b` unreachable.
    fn dominates(successors: &[Vec<usize>], entry: usize, a: usize, b: usize) -> bool {
        let mut cut = successors.to_vec();
        cut[a].clear();
        a == b || a == entry || !post_order(&cut, entry).contains(&b)
    }

    fn check(successors: &[Vec<usize>]) {
        let dominators = immediate_dominators(successors, 0);
        let reachable = post_order(successors, 0);
        for &node in &reachable {
            let chain: Vec<_> = std::iter::successors(Some(node), |&at| dominators[at]).collect();
            for candidate in 0..successors.len() {
                let expected =
                    reachable.contains(&candidate) && dominates(successors, 0, candidate, node);
                assert_eq!(
                    chain.contains(&candidate),
                    expected,
                    "{successors:?} {candidate} {node}"
                );
            }
        }
    }

    #[test]
    fn agrees_with_the_definition_on_all_graphs_of_four_nodes() {
        for bits in 0_u32..1 << 12 {
            let mut successors = vec![Vec::new(); 4];
            let edges = (0..4)
                .flat_map(|from| (0..4).filter(move |to| *to != from).map(move |to| (from, to)));
            for (at, (from, to)) in edges.enumerate() {
                if bits >> at & 1 == 1 {
                    successors[from].push(to);
                }
            }
            check(&successors);
        }
    }

    #[test]
    fn agrees_with_the_definition_on_many_graphs_of_a_dozen_nodes() {
        let mut state = 1_u64;
        let mut roll = |sides: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from((state >> 33) % sides).expect("31 bits")
        };
        for _ in 0..1500 {
            let successors: Vec<Vec<usize>> =
                (0..12).map(|_| (0..=roll(3)).map(|_| roll(12)).collect()).collect();
            check(&successors);
        }
    }
}
