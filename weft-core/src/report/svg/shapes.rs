//! What happens in the lanes: generations, arrivals, marks, and threads that cannot go on.

use super::plan::PicturePlan;
use super::text::Canvas;
use crate::finding::{ChartGeneration, ChartRow, GenerationFate, Participant};

/// Half the height of the bar of a generation, and how far it goes beyond its lanes.
const HALF: i32 = 6;
const BEYOND: i32 = 14;

/// Draws what is behind the lanes: leaders from rows to their labels, and the bars of generations.
pub(super) fn behind(canvas: &mut Canvas, plan: &PicturePlan<'_>) {
    for label in &plan.labels {
        let y = plan.y[label.row];
        let from = right_of(plan, &plan.chart.rows[label.row]);
        canvas.line("weft-leader", (from, y), (plan.labels_at - 8, y));
    }
    for (index, row) in plan.chart.rows.iter().enumerate() {
        if let ChartRow::Generation(generation) = row {
            bar(canvas, plan, generation, plan.y[index]);
        }
    }
}

/// Returns the right end of what a row shows.
fn right_of(plan: &PicturePlan<'_>, row: &ChartRow) -> i32 {
    match row {
        ChartRow::Generation(generation) => {
            span(plan, generation).map_or(plan.x[0], |(_, right)| right)
        }
        ChartRow::Mark(mark) => plan.x[mark.lane] + 10,
        ChartRow::Fold(fold) => plan.x[fold.lanes.1] + 10,
        ChartRow::Stop(stop) => {
            stop.lanes.last().map_or(plan.labels_at - 8, |lane| plan.x[*lane] + 10)
        }
        ChartRow::Arrival { lane } | ChartRow::End { lane } => plan.x[*lane],
    }
}

/// Returns the ends of a generation's bar: it spans the warps that wait, or all if none does.
fn span(plan: &PicturePlan<'_>, generation: &ChartGeneration) -> Option<(i32, i32)> {
    let of = |is_meant: fn(&&Participant) -> bool| {
        let own = generation.participants.iter().filter(is_meant);
        let places: Vec<i32> = own.map(|own| plan.x[own.lane]).collect();
        Some((places.iter().min()? - BEYOND, places.iter().max()? + BEYOND))
    };
    of(|own| own.waits).or_else(|| of(|_| true))
}

/// Draws the bar of a generation. Lanes that do not wait for it pass through a gap.
fn bar(canvas: &mut Canvas, plan: &PicturePlan<'_>, generation: &ChartGeneration, y: i32) {
    let Some((left, right)) = span(plan, generation) else { return };
    let class = match generation.fate {
        GenerationFate::Complete => "weft-bar",
        GenerationFate::Stuck(_) => "weft-bad-bar",
        GenerationFate::Unused | GenerationFate::Unknown => "weft-soft-bar",
    };
    canvas.rect(class, (left, y - HALF), (right - left, 2 * HALF));
    for (lane, x) in plan.x.iter().enumerate() {
        let waits = generation.participants.iter().any(|own| own.waits && own.lane == lane);
        if !waits && (left..=right).contains(x) {
            canvas.line("weft-halo", (*x, y - HALF - 2), (*x, y + HALF + 2));
        }
    }
}

/// Draws what is before the lanes.
pub(super) fn before(canvas: &mut Canvas, plan: &PicturePlan<'_>) {
    for (index, row) in plan.chart.rows.iter().enumerate() {
        let y = plan.y[index];
        match row {
            ChartRow::Generation(generation) => participants(canvas, plan, generation, y),
            ChartRow::Stop(stop) if stop.is_defect => {
                for lane in &stop.lanes {
                    cross(canvas, (plan.x[*lane], y));
                }
            }
            ChartRow::Stop(stop) => {
                for lane in &stop.lanes {
                    let x = plan.x[*lane];
                    canvas.line("weft-lane", (x - 6, y), (x + 6, y));
                }
            }
            _ => {}
        }
    }
    // Arrivals lie above the edges that begin there.
    for (index, row) in plan.chart.rows.iter().enumerate() {
        if let ChartRow::Arrival { lane } = row {
            canvas.circle("weft-hollow", (plan.x[*lane], plan.y[index]), 5);
        }
    }
    marks(canvas, plan);
}

fn participants(canvas: &mut Canvas, plan: &PicturePlan<'_>, generation: &ChartGeneration, y: i32) {
    let Some((left, right)) = span(plan, generation) else { return };
    for Participant { lane, waits, arrival, .. } in &generation.participants {
        let x = plan.x[*lane];
        if *waits {
            match generation.fate {
                GenerationFate::Stuck(_) => cross(canvas, (x, y)),
                _ => canvas.circle("weft-dot", (x, y), 4),
            }
            continue;
        }
        let end = match x {
            x if x < left => (left, y),
            x if x > right => (right, y),
            // Beside its lane, so that it is not taken for the lane.
            x => (x + 11, y - HALF),
        };
        let start = arrival.map_or((x, y), |row| (x, plan.y[row]));
        canvas.line("weft-edge", start, end);
        canvas.arrow_head(start, end);
        if arrival.is_none() {
            canvas.circle("weft-hollow", (x, y), 5);
        }
    }
}

/// Draws where a thread never goes on.
pub(super) fn cross(canvas: &mut Canvas, (x, y): (i32, i32)) {
    let path = format!("M{} {}l14 14m0 -14l-14 14", x - 7, y - 7);
    canvas.path("weft-bad", &path);
}

/// Draws the marks, and the line between two that says that nothing orders them.
fn marks(canvas: &mut Canvas, plan: &PicturePlan<'_>) {
    let place = |row: &usize| {
        let ChartRow::Mark(mark) = &plan.chart.rows[*row] else { return (0, 0) };
        (plan.x[mark.lane], plan.y[*row])
    };
    if let ([one, two], Some(_)) = (plan.marks.as_slice(), plan.chart.disorder) {
        let ((x1, y1), (x2, y2)) = (place(one), place(two));
        // In one lane, beside it.
        let aside = if x1 == x2 { 34 } else { 0 };
        let path = format!("M{x1} {y1}C{} {y1} {} {y2} {x2} {y2}", x1 - aside, x2 - aside);
        let path = if aside == 0 { format!("M{x1} {y1}L{x2} {y2}") } else { path };
        canvas.path("weft-order", &path);
    }
    for (number, row) in plan.marks.iter().enumerate() {
        let (x, y) = place(row);
        canvas.circle("weft-mark", (x, y), 9);
        canvas.text((x, y + 4), "weft-number", &(number + 1).to_string());
    }
}
