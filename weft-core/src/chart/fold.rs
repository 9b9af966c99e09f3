//! Shortens a log to what a reader can look at: what repeats is left out but for its first rounds, and of what is still too
//! long the beginning, the end and the surroundings of the marks are kept.

use super::log::Entry;

/// The most generations of a cta that are shown.
pub(super) const MOST_GENERATIONS: usize = 36;
/// The most entries of a round that is recognized.
const LONGEST_ROUND: usize = 64;
/// From so many rounds on, repeated rounds are left out.
const ROUNDS: usize = 4;
/// The rounds that are shown of those.
const SHOWN_ROUNDS: usize = 2;
/// The generations that are shown at the beginning, at the end, and before and after a mark, of a log that is too long.
const AROUND: usize = 6;
/// The entries, generations or not, that are looked at there.
const ENTRIES_AROUND: usize = 4 * AROUND;

/// A part of a shortened log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// It is shown.
    Shown(Entry),
    /// So many generations are left out.
    Fold { generations: u64, are_alike: bool },
}

impl Part {
    const fn generations(&self) -> u64 {
        match self {
            Self::Shown(Entry::Generation { .. }) => 1,
            Self::Shown(Entry::Gap(generations)) | Self::Fold { generations, .. } => *generations,
            Self::Shown(Entry::Arrival { .. } | Entry::Point(_) | Entry::End(_)) => 0,
        }
    }
}

/// Shortens a log.
pub(super) fn fold(entries: &[Entry]) -> Vec<Part> {
    let parts = without_rounds(entries);
    let shown = parts.iter().filter(|part| matches!(part, Part::Shown(Entry::Generation { .. })));
    if shown.count() <= MOST_GENERATIONS { parts } else { windows(&parts) }
}

/// Leaves out rounds that repeat.
fn without_rounds(entries: &[Entry]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut at = 0;
    while at < entries.len() {
        let Some((round, count)) = rounds(&entries[at..]) else {
            parts.push(match entries[at] {
                Entry::Gap(generations) => Part::Fold { generations, are_alike: false },
                entry => Part::Shown(entry),
            });
            at += 1;
            continue;
        };
        let first = &entries[at..at + round * SHOWN_ROUNDS];
        let is_generation = |entry: &&Entry| matches!(entry, Entry::Generation { .. });
        let of_round = entries[at..at + round].iter().filter(is_generation).count();
        let generations = ((count - SHOWN_ROUNDS) * of_round) as u64;
        parts.extend(first.iter().copied().map(Part::Shown));
        parts.push(Part::Fold { generations, are_alike: true });
        at += round * count;
    }
    parts
}

/// Returns the number of entries of the shortest round that the entries begin with, and how often it follows; `None` if none
/// follows often enough.
fn rounds(entries: &[Entry]) -> Option<(usize, usize)> {
    (1..=LONGEST_ROUND.min(entries.len() / ROUNDS)).find_map(|round| {
        let pairs = entries.iter().zip(&entries[round..]);
        let alike = pairs.take_while(|(entry, later)| entry.is_alike(later)).count();
        let count = 1 + alike / round;
        let has_generation =
            entries[..round].iter().any(|entry| matches!(entry, Entry::Generation { .. }));
        (count >= ROUNDS && has_generation).then_some((round, count))
    })
}

/// Keeps the beginning, the end, and what is around marks.
fn windows(parts: &[Part]) -> Vec<Part> {
    let mut is_kept = vec![false; parts.len()];
    let mut keep = |towards: &mut dyn Iterator<Item = usize>| {
        let mut generations = 0;
        for at in towards.take(ENTRIES_AROUND) {
            is_kept[at] = true;
            generations += usize::from(parts[at].generations() > 0);
            if generations == AROUND {
                break;
            }
        }
    };
    keep(&mut (0..parts.len()));
    keep(&mut (0..parts.len()).rev());
    for (at, part) in parts.iter().enumerate() {
        if matches!(part, Part::Shown(Entry::Point(_))) {
            keep(&mut (0..=at).rev());
            keep(&mut (at..parts.len()));
        }
    }
    let mut kept: Vec<Part> = Vec::new();
    let mut left_out = None;
    for (part, is_kept) in parts.iter().zip(is_kept) {
        let is_end = matches!(part, Part::Shown(Entry::End(_)));
        if is_kept || is_end {
            if let Some(generations) = left_out.take().filter(|left| *left > 0) {
                kept.push(Part::Fold { generations, are_alike: false });
            }
            kept.push(*part);
        } else {
            left_out = Some(left_out.unwrap_or(0) + part.generations());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::{Entry, Part, fold};

    fn generation(kind: usize, number: u64) -> Entry {
        Entry::Generation { kind, number }
    }

    fn shown(entries: &[Entry]) -> Vec<Part> {
        entries.iter().copied().map(Part::Shown).collect()
    }

    #[test]
    fn rounds_are_shown_twice() {
        // Two barriers in turn, 50 times each; three rounds of a third one.
        let mut entries: Vec<Entry> =
            (0..50).flat_map(|round| [generation(0, round), generation(1, round)]).collect();
        entries.extend((0..3).map(|number| generation(2, number)));
        let mut expected = shown(&entries[..4]);
        expected.push(Part::Fold { generations: 96, are_alike: true });
        expected.extend(shown(&entries[100..]));
        assert_eq!(fold(&entries), expected);
    }

    #[test]
    fn a_mark_interrupts_rounds() {
        let mut entries: Vec<Entry> = (0..10).map(|number| generation(0, number)).collect();
        entries.insert(9, Entry::Point(0));
        let mut expected = shown(&entries[..2]);
        expected.push(Part::Fold { generations: 7, are_alike: true });
        expected.extend(shown(&entries[9..]));
        assert_eq!(fold(&entries), expected);
    }

    #[test]
    fn of_many_different_generations_those_around_a_mark_are_kept() {
        let mut entries: Vec<Entry> = (0..200).map(|kind| generation(kind, 0)).collect();
        entries.insert(100, Entry::Point(0));
        let fold_of = |generations| Part::Fold { generations, are_alike: false };
        // Six at the beginning, six before and after the mark, six at the end.
        let expected = [
            shown(&entries[..6]),
            vec![fold_of(88)],
            shown(&entries[94..107]),
            vec![fold_of(88)],
            shown(&entries[195..]),
        ]
        .concat();
        assert_eq!(fold(&entries), expected);
    }

    #[test]
    fn a_gap_is_a_fold() {
        let entries = [generation(0, 0), Entry::Gap(5), generation(0, 6)];
        let expected = [
            Part::Shown(entries[0]),
            Part::Fold { generations: 5, are_alike: false },
            Part::Shown(entries[2]),
        ];
        assert_eq!(fold(&entries), expected);
    }
}
