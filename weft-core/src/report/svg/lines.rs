//! The lanes of the warps: where they run, where they wait, and where they end.

use super::plan::PicturePlan;
use super::text::Canvas;
use crate::finding::{ChartRow, GenerationFate};

/// How far a warp is drawn as running before it waits.
const BEFORE_WAIT: i32 = 14;

/// What is at a place of a lane.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Knot {
    /// Something that the lane passes.
    Passes,
    /// A generation that it waits for.
    Waits,
    /// Generations that are left out.
    Gap,
    /// Its end: it waits for ever, or cannot go on.
    Stops,
    /// Its end: all its threads have ended.
    Ends,
}

/// Draws all lanes.
pub(super) fn lanes(canvas: &mut Canvas, plan: &PicturePlan<'_>) {
    for lane in 0..plan.chart.lanes.len() {
        draw(canvas, plan, lane);
    }
}

/// Returns what is in a lane, from top to bottom, with levels and heights.
fn knots(plan: &PicturePlan<'_>, lane: usize) -> Vec<(usize, i32, Knot)> {
    let mut knots = Vec::new();
    for (index, row) in plan.chart.rows.iter().enumerate() {
        let knot = match row {
            ChartRow::Arrival { lane: own } if *own == lane => Knot::Passes,
            ChartRow::End { lane: own } if *own == lane => Knot::Ends,
            ChartRow::Mark(mark) if mark.lane == lane => Knot::Passes,
            ChartRow::Fold(fold) if (fold.lanes.0..=fold.lanes.1).contains(&lane) => Knot::Gap,
            ChartRow::Stop(stop) if stop.lanes.contains(&lane) => Knot::Stops,
            ChartRow::Generation(generation) => {
                let mut own = generation.participants.iter().filter(|own| own.lane == lane);
                match (own.any(|own| own.waits), &generation.fate) {
                    (false, _) => continue,
                    (true, GenerationFate::Complete) => Knot::Waits,
                    (true, _) => Knot::Stops,
                }
            }
            _ => continue,
        };
        knots.push((plan.level[index], plan.y[index], knot));
    }
    knots.sort_by_key(|(level, _, _)| *level);
    knots
}

fn draw(canvas: &mut Canvas, plan: &PicturePlan<'_>, lane: usize) {
    let x = plan.x[lane];
    let (mut from, mut level, mut is_over, mut is_waiting) = (plan.top, None, false, false);
    let knots = knots(plan, lane);
    let last = knots.len().wrapping_sub(1);
    for (at, (next, y, knot)) in knots.into_iter().enumerate() {
        if is_over {
            break;
        }
        let is_next = level.map_or(next == 0, |level: usize| next == level + 1);
        match knot {
            _ if is_waiting => canvas.line("weft-lane weft-wait", (x, from), (x, y)),
            Knot::Waits | Knot::Stops if !is_next => {
                let begin = from + BEFORE_WAIT;
                run(canvas, x, from, begin);
                canvas.line("weft-lane weft-wait", (x, begin), (x, y));
            }
            Knot::Gap => {
                run(canvas, x, from, y - 8);
                for dot in [-3, 3] {
                    canvas.circle("weft-lane", (x, y + dot), 1);
                }
            }
            _ => run(canvas, x, from, y),
        }
        is_over = knot == Knot::Ends || knot == Knot::Stops && at == last;
        if knot == Knot::Ends {
            canvas.line("weft-lane", (x - 6, y), (x + 6, y));
        }
        from = if knot == Knot::Gap { y + 9 } else { y };
        level = Some(next);
        is_waiting = knot == Knot::Stops;
    }
    if !is_over {
        run(canvas, x, from, plan.bottom);
    }
}

/// Draws a warp that runs. Where it passes a bar, the halo makes a gap in the bar.
fn run(canvas: &mut Canvas, x: i32, from: i32, to: i32) {
    canvas.line("weft-lane", (x, from), (x, to));
}
