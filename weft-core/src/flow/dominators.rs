//! Immediate dominators of a graph (Cooper, Harvey and Kennedy, *A Simple, Fast Dominance Algorithm*). On the reversed
//! graph they are post-dominators.

/// The nodes reachable from `entry`, every node behind its successors apart from back edges.
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

/// The same graph with all edges turned round.
pub(super) fn reversed(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut predecessors = vec![Vec::new(); successors.len()];
    for (node, targets) in successors.iter().enumerate() {
        for &target in targets {
            predecessors[target].push(node);
        }
    }
    predecessors
}

/// For each node its immediate dominator; `None` for the entry and for what it does not reach.
pub(super) fn immediate_dominators(successors: &[Vec<usize>], entry: usize) -> Vec<Option<usize>> {
    let order = post_order(successors, entry);
    let mut number = vec![usize::MAX; successors.len()];
    for (at, &node) in order.iter().enumerate() {
        number[node] = at;
    }
    let predecessors = reversed(successors);
    let mut dominators = vec![None; successors.len()];
    dominators[entry] = Some(entry);
    let mut changed = true;
    while changed {
        changed = false;
        for &node in order.iter().rev().filter(|&&node| node != entry) {
            let known =
                predecessors[node].iter().copied().filter(|&from| dominators[from].is_some());
            let new = known.reduce(|a, b| common(&dominators, &number, a, b));
            if new.is_some() && dominators[node] != new {
                dominators[node] = new;
                changed = true;
            }
        }
    }
    dominators[entry] = None;
    dominators
}

fn common(dominators: &[Option<usize>], number: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        let deeper = if number[a] < number[b] { &mut a } else { &mut b };
        match dominators[*deeper] {
            Some(up) => *deeper = up,
            None => return *deeper,
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a` dominates `b` if removing `a` cuts `b` off.
    fn dominates(successors: &[Vec<usize>], entry: usize, a: usize, b: usize) -> bool {
        let mut cut = successors.to_vec();
        cut[a].clear();
        a == b || a == entry || !post_order(&cut, entry).contains(&b)
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
            let dominators = immediate_dominators(&successors, 0);
            for node in post_order(&successors, 0) {
                let chain: Vec<_> =
                    std::iter::successors(Some(node), |&at| dominators[at]).collect();
                for candidate in 0..4 {
                    let reachable = post_order(&successors, 0).contains(&candidate);
                    let expected = reachable && dominates(&successors, 0, candidate, node);
                    assert_eq!(
                        chain.contains(&candidate),
                        expected,
                        "{successors:?} {candidate} {node}"
                    );
                }
            }
        }
    }
}
