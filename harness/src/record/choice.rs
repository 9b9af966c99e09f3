//! Chooses among many launches of a kernel those that differ most.

use std::collections::BTreeSet;

use super::recorded::{RecordedArg, RecordedLaunch};

/// In what launches can differ, as far as it matters for a choice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Feature {
    Block([u32; 3]),
    Grid([u32; 3]),
    Cluster(Option<[u32; 3]>),
    Shared(u32),
    /// Argument, allocation and offset of a pointer.
    Pointer(usize, usize, u64),
    /// Whether an argument is a multiple of the threads of a cta in x, a multiple of 32, and no more than all threads.
    Number(usize, [bool; 3]),
}

/// Returns at most `most` of the launches, in their order: first the one with the most features, then always one with the
/// most features that those before do not have.
pub(super) fn chosen<'l>(launches: &[&'l RecordedLaunch], most: usize) -> Vec<&'l RecordedLaunch> {
    if launches.len() <= most {
        return launches.to_vec();
    }
    let features: Vec<BTreeSet<Feature>> = launches.iter().map(|own| features(own)).collect();
    let (mut seen, mut taken) = (BTreeSet::new(), BTreeSet::new());
    while taken.len() < most {
        let rest = (0..launches.len()).filter(|at| !taken.contains(at));
        // The first of those that are equal: the choice does not depend on how many there are.
        let next = rest.rev().max_by_key(|at| features[*at].difference(&seen).count());
        let Some(next) = next else { break };
        seen.extend(features[next].iter().cloned());
        taken.insert(next);
    }
    taken.into_iter().map(|at| launches[at]).collect()
}

fn features(launch: &RecordedLaunch) -> BTreeSet<Feature> {
    let mut found = BTreeSet::from([
        Feature::Block(launch.block),
        Feature::Grid(launch.grid),
        Feature::Cluster(launch.cluster),
        Feature::Shared(launch.shared),
    ]);
    for (at, arg) in launch.args.iter().flatten().enumerate() {
        let pointers = arg.pointers.iter();
        found.extend(pointers.map(|own| Feature::Pointer(at, own.allocation, own.offset)));
        found.extend(whole(arg).map(|value| Feature::Number(at, kinds(value, launch))));
    }
    found
}

/// Returns the number that an argument is, if it can be one.
fn whole(arg: &RecordedArg) -> Option<u64> {
    let mut bytes = [0; 8];
    let is_number = arg.pointers.is_empty() && matches!(arg.bytes.len(), 1 | 2 | 4 | 8);
    is_number.then(|| bytes[..arg.bytes.len()].copy_from_slice(&arg.bytes))?;
    Some(u64::from_le_bytes(bytes))
}

fn kinds(value: u64, launch: &RecordedLaunch) -> [bool; 3] {
    let product =
        |all: [u32; 3]| all.iter().fold(1_u64, |all, own| all.saturating_mul((*own).into()));
    let threads = product(launch.block).saturating_mul(product(launch.grid));
    let block = u64::from(launch.block[0].max(1));
    [value.is_multiple_of(block), value.is_multiple_of(32), value <= threads]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(block: u32, grid: u32, n: u32) -> RecordedLaunch {
        RecordedLaunch {
            kernel: "k".to_owned(),
            module: None,
            block: [block, 1, 1],
            grid: [grid, 1, 1],
            cluster: None,
            shared: 0,
            args: Some(vec![RecordedArg {
                bytes: n.to_le_bytes().into(),
                pointers: Vec::new(),
                freed: Vec::new(),
                maps: Vec::new(),
            }]),
            allocations: Vec::new(),
            variables: Vec::new(),
        }
    }

    #[test]
    fn those_that_differ_are_chosen() {
        // Ninety launches that differ only in how large a multiple of the block their argument is, and three others.
        let mut all: Vec<_> = (1..=90).map(|k| launch(64, 200, 64 * k)).collect();
        all.extend([launch(64, 200, 65), launch(32, 200, 64), launch(64, 7, 64)]);
        let all: Vec<&RecordedLaunch> = all.iter().collect();
        let chosen = chosen(&all, 4);
        assert_eq!(chosen.len(), 4);
        for other in &all[90..] {
            assert!(chosen.contains(other), "{chosen:#?}");
        }
        assert!(chosen.contains(&all[0]), "the first of those that are alike: {chosen:#?}");
    }

    #[test]
    fn few_launches_are_all_chosen() {
        let all = [launch(1, 1, 1), launch(1, 1, 2)];
        let all: Vec<&RecordedLaunch> = all.iter().collect();
        assert_eq!(chosen(&all, 16), all);
    }
}
