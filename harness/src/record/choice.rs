//! Chooses among many launches of a kernel those that differ most.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

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

/// How many launches of a kernel are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MostLaunches(usize);

impl MostLaunches {
    /// The variable of the environment that says how many.
    pub const VARIABLE: &str = "WEFT_MOST_LAUNCHES";

    /// Returns the number.
    pub(super) fn number(self) -> usize {
        self.0
    }
}

impl Default for MostLaunches {
    fn default() -> Self {
        Self(16)
    }
}

impl FromStr for MostLaunches {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.parse().ok().filter(|number| *number > 0);
        let number = if text == "all" { Some(usize::MAX) } else { number };
        number.map(Self).ok_or_else(|| format!("`{text}` is neither a number from 1 on nor `all`"))
    }
}

/// What launches are compared by that can be small or large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Measure {
    Threads,
    Ctas,
    /// An argument, as a number without and with a sign.
    Unsigned(usize),
    Signed(usize),
}

/// Returns at most `most` of the launches, in their order: first such that have the smallest and the largest of every measure, those
/// that have most at once first, then always one with the most features that those before do not have.
pub(super) fn chosen<'l>(launches: &[&'l RecordedLaunch], most: usize) -> Vec<&'l RecordedLaunch> {
    if launches.len() <= most {
        return launches.to_vec();
    }
    let features: Vec<BTreeSet<Feature>> = launches.iter().map(|own| features(own)).collect();
    let mut taken = extreme(launches, most);
    let mut seen: BTreeSet<Feature> =
        taken.iter().flat_map(|at| features[*at].iter().cloned()).collect();
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

/// Returns the places of launches that together have the smallest and the largest of every measure, as far as `most` go.
fn extreme(launches: &[&RecordedLaunch], most: usize) -> BTreeSet<usize> {
    let measured: Vec<_> = launches.iter().map(|own| measures(own)).collect();
    let mut bounds: BTreeMap<Measure, (i128, i128)> = BTreeMap::new();
    for (measure, value) in measured.iter().flatten() {
        let (low, high) = bounds.entry(*measure).or_insert((*value, *value));
        (*low, *high) = ((*low).min(*value), (*high).max(*value));
    }
    // What all have alike says nothing.
    bounds.retain(|_, (low, high)| low != high);
    let ends = |own: &[(Measure, i128)]| -> BTreeSet<(Measure, bool)> {
        let end = |(measure, value): &(Measure, i128)| {
            let (low, high) = bounds.get(measure)?;
            (value == low || value == high).then_some((*measure, value == high))
        };
        own.iter().filter_map(end).collect()
    };
    let all: Vec<_> = measured.iter().map(|own| ends(own)).collect();
    let (mut seen, mut taken) = (BTreeSet::new(), BTreeSet::new());
    while taken.len() < most {
        let fresh = |at: &usize| all[*at].difference(&seen).count();
        let next = (0..all.len()).rev().max_by_key(fresh).filter(|at| fresh(at) > 0);
        let Some(next) = next else { break };
        seen.extend(all[next].iter().copied());
        taken.insert(next);
    }
    taken
}

fn measures(launch: &RecordedLaunch) -> Vec<(Measure, i128)> {
    let product = |all: [u32; 3]| all.iter().map(|own| i128::from(*own)).product();
    let mut found =
        vec![(Measure::Threads, product(launch.block)), (Measure::Ctas, product(launch.grid))];
    for (at, arg) in launch.args.iter().flatten().enumerate() {
        let Some(value) = whole(arg) else { continue };
        let bits = 64 - 8 * arg.bytes.len();
        let signed = i128::from((value << bits).cast_signed() >> bits);
        found.push((Measure::Unsigned(at), value.into()));
        found.push((Measure::Signed(at), signed));
    }
    found
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
                hosts: Vec::new(),
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
        let chosen = chosen(&all, 5);
        assert_eq!(chosen.len(), 5);
        for other in &all[90..] {
            assert!(chosen.contains(other), "{chosen:#?}");
        }
        assert!(chosen.contains(&all[0]), "the first of those that are alike: {chosen:#?}");
    }

    #[test]
    fn the_smallest_and_the_largest_are_among_those_chosen() {
        // Many that differ in blocks, grids and kinds of numbers, and extremes in the middle of them that differ in nothing else.
        let many = || (1..=60_u32).map(|k| launch(64 + 32 * (k % 20), 2 + k % 30, 1000 + k * k));
        let extremes = [
            launch(96, 3, 1),
            launch(96, 3, 0x7fff_ffff),
            launch(96, 3, 0x8000_0000),
            launch(96, 3, u32::MAX),
            launch(1, 3, 1024),
            launch(1024, 3, 1024),
            launch(96, 1, 1024),
            launch(96, 9999, 1024),
        ];
        let all: Vec<_> = many().chain(extremes.clone()).chain(many()).collect();
        let all: Vec<&RecordedLaunch> = all.iter().collect();
        let chosen = chosen(&all, 16);
        assert_eq!(chosen.len(), 16);
        for own in &extremes {
            assert!(chosen.contains(&own), "{own:?}");
        }
    }

    #[test]
    fn the_number_of_launches_is_a_number_or_all() {
        assert_eq!("3".parse(), Ok(MostLaunches(3)));
        assert_eq!("all".parse(), Ok(MostLaunches(usize::MAX)));
        for wrong in ["", "0", "-1", "many"] {
            assert!(wrong.parse::<MostLaunches>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn few_launches_are_all_chosen() {
        let all = [launch(1, 1, 1), launch(1, 1, 2)];
        let all: Vec<&RecordedLaunch> = all.iter().collect();
        assert_eq!(chosen(&all, 16), all);
    }
}
