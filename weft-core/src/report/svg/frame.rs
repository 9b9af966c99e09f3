//! What is around the lanes: caption, heads of lanes, labels, legend, and the picture in words.

use super::plan::{MARGIN, PicturePlan, cta_name, lane_name};
use super::shapes::cross;
use super::text::{Canvas, LINE, safe, width, xml};
use crate::finding::{Chart, ChartRow, GenerationFate};

/// Draws the caption.
pub(super) fn caption(canvas: &mut Canvas, plan: &PicturePlan<'_>) {
    let mut y = MARGIN;
    for (class, line) in &plan.caption {
        y += LINE;
        canvas.text((MARGIN, y - 4), class, line);
    }
}

/// Draws the heads of the lanes: for each cta one, for each lane its warps.
pub(super) fn heads(canvas: &mut Canvas, plan: &PicturePlan<'_>) {
    let lanes = &plan.chart.lanes;
    let are_several = lanes.windows(2).any(|pair| pair[0].cta != pair[1].cta);
    let mut first = 0;
    for of_cta in lanes.chunk_by(|one, other| one.cta == other.cta) {
        let last = first + of_cta.len() - 1;
        let middle = i32::midpoint(plan.x[first], plan.x[last]);
        let name = cta_name(of_cta, are_several);
        canvas.text((middle, plan.top - 8 - LINE), "weft-soft weft-middle", &name);
        for lane in first..=last {
            let place = (plan.x[lane], plan.top - 8);
            canvas.text(place, "weft-strong weft-middle", &lane_name(plan.chart, lane));
        }
        first = last + 1;
    }
}

/// Draws the labels of the rows.
pub(super) fn labels(canvas: &mut Canvas, plan: &PicturePlan<'_>) {
    for label in &plan.labels {
        let mut y = plan.y[label.row] + 4;
        for (class, line) in &label.lines {
            canvas.text((plan.labels_at, y), class, line);
            y += LINE;
        }
    }
}

/// Draws the legend.
pub(super) fn legend(canvas: &mut Canvas, plan: &PicturePlan<'_>) {
    let y = plan.bottom + 22;
    let mut x = MARGIN;
    let mut entry = |canvas: &mut Canvas, draw: &dyn Fn(&mut Canvas, i32), text: &str| {
        draw(canvas, x);
        canvas.text((x + 34, y + 4), "weft-soft", text);
        x += 34 + width("", text) + 14;
    };
    entry(canvas, &|canvas, x| canvas.line("weft-lane", (x, y), (x + 26, y)), "runs");
    let waits = |canvas: &mut Canvas, x: i32| {
        canvas.line("weft-lane weft-wait", (x, y), (x + 12, y));
        canvas.rect("weft-bar", (x + 14, y - 6), (12, 12));
        canvas.circle("weft-dot", (x + 20, y), 4);
    };
    entry(canvas, &waits, "waits for a barrier");
    let is_arrival = |row: &ChartRow| matches!(row, ChartRow::Arrival { .. });
    if plan.chart.rows.iter().any(is_arrival) {
        let arrives = |canvas: &mut Canvas, x: i32| {
            canvas.line("weft-edge", (x + 5, y), (x + 26, y));
            canvas.arrow_head((x + 5, y), (x + 26, y));
            canvas.circle("weft-hollow", (x + 5, y), 5);
        };
        entry(canvas, &arrives, "arrives and goes on");
    }
    let is_stop = |row: &ChartRow| match row {
        ChartRow::Stop(stop) => stop.is_defect,
        ChartRow::Generation(own) => matches!(own.fate, GenerationFate::Stuck(_)),
        _ => false,
    };
    if plan.chart.rows.iter().any(is_stop) {
        let stops = |canvas: &mut Canvas, x: i32| cross(canvas, (x + 15, y));
        entry(canvas, &stops, "never goes on");
    }
    if plan.chart.disorder.is_some() {
        let order = |canvas: &mut Canvas, x: i32| canvas.line("weft-order", (x, y), (x + 26, y));
        entry(canvas, &order, "no order");
    }
    let text =
        "Time runs down each lane. What two warps do is ordered only by the barriers between.";
    canvas.text((MARGIN, y + 4 + LINE + 6), "weft-soft", text);
}

/// Returns the title and the description of a picture, as XML.
pub(super) fn words(chart: &Chart, plan: &PicturePlan<'_>) -> (String, String) {
    let title = format!("Synchronization of {}", safe(&chart.kernel));
    let caption = plan.caption.iter().map(|(_, line)| line.as_str());
    let mut description = caption.collect::<Vec<_>>().join(" ");
    let mut labels: Vec<_> = plan.labels.iter().collect();
    labels.sort_by_key(|label| plan.level[label.row]);
    for label in labels {
        let lines: Vec<_> = label.lines.iter().map(|(_, line)| line.as_str()).collect();
        description.push('\n');
        description.push_str(&lines.join("; "));
    }
    let lines: Vec<_> = description.lines().map(xml).collect();
    (xml(&title), lines.join("\n"))
}
