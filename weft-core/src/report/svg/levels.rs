//! The levels of rows: a row is below another one of its lanes that came before, and below the arrivals that it waits for.
//! Rows that nothing orders can be at any levels, so that a level says no more than the barriers do.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::{Chart, ChartRow};

/// Returns the level of each row, from 0. A row with a label has a level for itself.
pub(super) fn levels(chart: &Chart) -> Vec<usize> {
    let mut levels: Vec<usize> = Vec::with_capacity(chart.rows.len());
    // The first level of a lane that is free.
    let mut free: BTreeMap<usize, usize> = BTreeMap::new();
    let (mut labelled, mut others) = (BTreeSet::new(), BTreeSet::new());
    for row in &chart.rows {
        let at = |lane: &usize| free.get(lane).copied().unwrap_or(0);
        let lanes = occupied(row);
        let mut level = lanes.iter().map(at).max().unwrap_or(0);
        if let ChartRow::Generation(generation) = row {
            let arrivals = generation.participants.iter().filter_map(|own| own.arrival);
            let below = arrivals.filter_map(|arrival| Some(levels.get(arrival)? + 1));
            level = below.fold(level, usize::max);
        }
        let has_label = has_label(row);
        while labelled.contains(&level) || has_label && others.contains(&level) {
            level += 1;
        }
        if has_label {
            labelled.insert(level);
        } else {
            others.insert(level);
        }
        free.extend(lanes.into_iter().map(|lane| (lane, level + 1)));
        levels.push(level);
    }
    levels
}

/// Whether a row has a label.
pub(super) const fn has_label(row: &ChartRow) -> bool {
    !matches!(row, ChartRow::Arrival { .. } | ChartRow::End { .. })
}

/// Returns the lanes in which a row comes after what was there before.
fn occupied(row: &ChartRow) -> Vec<usize> {
    match row {
        ChartRow::Arrival { lane } | ChartRow::End { lane } => vec![*lane],
        ChartRow::Mark(mark) => vec![mark.lane],
        ChartRow::Fold(fold) => (fold.lanes.0..=fold.lanes.1).collect(),
        ChartRow::Stop(stop) => stop.lanes.clone(),
        ChartRow::Generation(generation) => {
            let waiting = generation.participants.iter().filter(|own| own.waits);
            waiting.map(|own| own.lane).collect()
        }
    }
}
