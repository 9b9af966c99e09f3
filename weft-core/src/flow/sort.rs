//! Computes the sort order of ESOP'13 §4: a total order of blocks that follows every edge except back edges and keeps
//! each loop contiguous. On an irreducible graph, edges against the direction of a depth-first search are ignored.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashSet;

use super::loops::Loops;

/// An item that is ordered as a whole within a region: a block, or a loop inside the region. Items compare by the
/// position of their first block in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    /// The block, or the header of the loop.
    block: usize,
    of_loop: Option<usize>,
}

/// The direct contents of a loop, or of the whole function.
#[derive(Debug, Default)]
struct SortRegion {
    items: BTreeSet<Item>,
    edges: BTreeMap<Item, BTreeSet<Item>>,
}

/// Returns all blocks reachable from the entry, in sort order.
pub(super) fn order(successors: &[Vec<usize>], reachable: &[usize], loops: &Loops) -> Vec<usize> {
    let mut regions = regions(successors, reachable, loops);
    let mut placed = Vec::with_capacity(reachable.len());
    // Items still to be placed, the next on top; a loop is replaced by its contents when it is reached.
    let mut stack = topological(&regions.remove(&None).unwrap_or_default());
    while let Some(item) = stack.pop() {
        match item.of_loop {
            Some(_) => {
                stack.extend(topological(&regions.remove(&item.of_loop).unwrap_or_default()));
            }
            None => placed.push(item.block),
        }
    }
    placed
}

fn regions(
    successors: &[Vec<usize>],
    reachable: &[usize],
    loops: &Loops,
) -> BTreeMap<Option<usize>, SortRegion> {
    let mut regions: BTreeMap<Option<usize>, SortRegion> = BTreeMap::new();
    for &block in reachable {
        let region = loops.innermost[block];
        regions.entry(region).or_default().items.insert(Item { block, of_loop: None });
    }
    for (index, looped) in loops.all.iter().enumerate() {
        let item = Item { block: looped.header, of_loop: Some(index) };
        regions.entry(looped.parent).or_default().items.insert(item);
    }
    let retreating: HashSet<_> = loops.retreating.iter().copied().collect();
    for &from in reachable {
        for &to in successors[from].iter().filter(|&&to| !retreating.contains(&(from, to))) {
            let (region, from, to) = lift(loops, from, to);
            if from != to {
                regions.entry(region).or_default().edges.entry(from).or_default().insert(to);
            }
        }
    }
    regions
}

/// Returns the innermost region that contains both ends of an edge, and the items of the region that they belong to.
fn lift(loops: &Loops, from: usize, to: usize) -> (Option<usize>, Item, Item) {
    let depth = |looped: Option<usize>| looped.map_or(0, |own| loops.all[own].depth);
    let (mut a, mut b) = (loops.innermost[from], loops.innermost[to]);
    let (mut from, mut to) =
        (Item { block: from, of_loop: None }, Item { block: to, of_loop: None });
    while a != b {
        let (region, item) =
            if depth(a) >= depth(b) { (&mut a, &mut from) } else { (&mut b, &mut to) };
        let Some(inner) = *region else { break };
        *item = Item { block: loops.all[inner].header, of_loop: Some(inner) };
        *region = loops.all[inner].parent;
    }
    (a, from, to)
}

/// Returns the items of a region, last first: each behind the items with an edge to it, otherwise in the order of the
/// text.
fn topological(region: &SortRegion) -> Vec<Item> {
    let mut incoming: BTreeMap<Item, usize> = region.items.iter().map(|&item| (item, 0)).collect();
    for to in region.edges.values().flatten() {
        *incoming.entry(*to).or_default() += 1;
    }
    let mut ready: BTreeSet<Item> =
        incoming.iter().filter(|(_, count)| **count == 0).map(|(item, _)| *item).collect();
    let mut placed = Vec::with_capacity(incoming.len());
    while !incoming.is_empty() {
        // Only in an irreducible graph can all remaining items wait for each other: take the first in the text.
        let first_waiting = || incoming.keys().next().copied();
        let Some(item) = ready.pop_first().or_else(first_waiting) else { break };
        incoming.remove(&item);
        placed.push(item);
        for to in region.edges.get(&item).into_iter().flatten() {
            if let Some(count) = incoming.get_mut(to) {
                *count -= 1;
                if *count == 0 {
                    ready.insert(*to);
                }
            }
        }
    }
    placed.reverse();
    placed
}

#[cfg(test)]
mod tests {
    use super::super::dominators::post_order;
    use super::super::loops;
    use super::*;

    fn sorted(successors: &[Vec<usize>]) -> (Vec<usize>, Loops) {
        let mut reachable = post_order(successors, 0);
        reachable.sort_unstable();
        let loops = loops::find(successors, 0).expect("few loops");
        (order(successors, &reachable, &loops), loops)
    }

    #[test]
    fn keeps_the_laws_on_all_reducible_graphs_of_five_nodes() {
        let mut tried = 0;
        for bits in 0_u32..1 << 20 {
            let mut successors = vec![Vec::new(); 5];
            let edges = (0..5)
                .flat_map(|from| (0..5).filter(move |to| *to != from).map(move |to| (from, to)));
            for (at, (from, to)) in edges.enumerate() {
                if bits >> at & 1 == 1 {
                    successors[from].push(to);
                }
            }
            if successors.iter().any(|targets| targets.len() > 2) {
                continue;
            }
            let (order, loops) = sorted(&successors);
            assert_eq!(order.len(), post_order(&successors, 0).len());
            if loops.is_irreducible {
                continue;
            }
            tried += 1;
            let mut place = [usize::MAX; 5];
            for (at, &block) in order.iter().enumerate() {
                place[block] = at;
            }
            for &from in &order {
                for &to in &successors[from] {
                    let is_back = loops.retreating.contains(&(from, to));
                    assert!(is_back || place[from] < place[to], "{successors:?} {order:?}");
                }
            }
            for looped in 0..loops.all.len() {
                let inside = |block: usize| {
                    std::iter::successors(loops.innermost[block], |&at| loops.all[at].parent)
                        .any(|at| at == looped)
                };
                let runs = order
                    .chunk_by(|&a, &b| inside(a) == inside(b))
                    .filter(|run| inside(run[0]))
                    .count();
                assert_eq!(runs, 1, "{successors:?} {order:?}");
            }
        }
        assert!(tried > 10_000, "{tried}");
    }
}
