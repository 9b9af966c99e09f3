//! Tells the accesses of one statement from those of several copies of it.
//!
//! A loop that is unrolled can have accesses of a single line: what lies between two of them is within a statement, or between
//! two iterations. The shortest run of such accesses is one statement, and longer ones are several.

use std::collections::{BTreeMap, BTreeSet};

use super::level_entry::{LevelElement, LevelEntry};
use super::points::PointId;

/// Accesses of one line, one after the other.
#[derive(Default)]
struct LineRun<'l> {
    element: Option<&'l LevelElement>,
    words: Vec<&'l str>,
    /// The points in between, each with the number of accesses in front of it.
    points: Vec<(PointId, usize)>,
}

/// Returns the points that lie between accesses of one statement.
pub(super) fn points_within(levels: &[Vec<LevelEntry>]) -> BTreeSet<PointId> {
    let mut by_line: BTreeMap<_, Vec<LineRun<'_>>> = BTreeMap::new();
    for run in levels.iter().flat_map(|level| runs(level)) {
        if let Some(element) = run.element {
            by_line.entry(&element.lines).or_default().push(run);
        }
    }
    by_line.values().flat_map(|runs| within(runs)).collect()
}

fn runs(level: &[LevelEntry]) -> Vec<LineRun<'_>> {
    let mut found: Vec<LineRun<'_>> = vec![LineRun::default()];
    for entry in level {
        let last = found.last_mut().expect("there is always one");
        match entry {
            LevelEntry::Point(point) => last.points.push((*point, last.words.len())),
            LevelEntry::Accesses(own) => {
                let element = own.element.as_ref();
                let word = element.and_then(|own| own.word.as_deref());
                let is_same = |known: &LevelElement, own: &LevelElement| {
                    known.lines == own.lines && known.calls == own.calls
                };
                match (last.element, element, word) {
                    (Some(known), Some(own), Some(word)) if is_same(known, own) => {
                        last.words.push(word);
                    }
                    (_, element, word) => {
                        let element = element.filter(|_| word.is_some());
                        let words = word.into_iter().collect();
                        found.push(LineRun { element, words, points: Vec::new() });
                    }
                }
            }
        }
    }
    found
}

/// Returns the points within a statement, for the runs of one line.
fn within(runs: &[LineRun<'_>]) -> Vec<PointId> {
    let length = statement(runs);
    let is_inside = |run: &LineRun<'_>, at: usize| {
        at > 0 && at < run.words.len() && length.is_none_or(|length| !at.is_multiple_of(length))
    };
    let points = runs.iter().flat_map(|run| run.points.iter().map(move |point| (run, *point)));
    points.filter(|(run, (_, at))| is_inside(run, *at)).map(|(_, (point, _))| point).collect()
}

/// Returns the number of accesses of a statement; `None` if the runs do not tell.
fn statement(runs: &[LineRun<'_>]) -> Option<usize> {
    let shortest = runs.iter().min_by_key(|run| run.words.len())?;
    let is_period = |length: usize| {
        let is_of = |run: &LineRun<'_>| {
            let mut words = run.words.iter().enumerate();
            run.words.len().is_multiple_of(length)
                && words.all(|(at, word)| *word == shortest.words[at % length])
        };
        runs.iter().all(is_of)
    };
    // What repeats itself within the shortest run, such as a read and a write, is a statement too; reads alone might be of one.
    let length = shortest.words.len();
    let is_mixed = shortest.words.iter().any(|word| *word != shortest.words[0]);
    let repeated = (2..length).find(|part| is_mixed && is_period(*part));
    repeated.or_else(|| Some(length).filter(|length| is_period(*length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_run_is_a_statement() {
        let run = |words: &str| LineRun {
            words: if words == "lls" { vec!["ld", "ld", "st"] } else { vec!["ld"; words.len()] },
            ..LineRun::default()
        };
        let of = |all: &[&str]| statement(&all.iter().map(|own| run(own)).collect::<Vec<_>>());
        assert_eq!(of(&["ll", "ll", "llll"]), Some(2));
        assert_eq!(of(&["llll"]), Some(4));
        assert_eq!(of(&["ll", "lll"]), None);
        assert_eq!(of(&["lls", "lls"]), Some(3));
        assert_eq!(of(&["lls", "lll"]), None);
        let pairs = LineRun { words: vec!["ld", "st", "ld", "st"], ..LineRun::default() };
        assert_eq!(statement(&[pairs]), Some(2));
    }
}
