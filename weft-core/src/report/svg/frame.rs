//! What is around the lanes: caption, heads of lanes, labels, legend, and the picture in words.

use super::plan::{MARGIN, Plan, lane_name};
use super::text::{Canvas, LINE, safe, width, xml};
use crate::finding::{Chart, ChartRow};

/// Draws the caption.
pub(super) fn caption(canvas: &mut Canvas, plan: &Plan<'_>) {
    let mut y = MARGIN;
    for (class, line) in &plan.caption {
        y += LINE;
        canvas.text((MARGIN, y - 4), class, line);
    }
}

/// Draws the heads of the lanes: for each cta one, for each lane its warps.
pub(super) fn heads(canvas: &mut Canvas, plan: &Plan<'_>) {
    let lanes = &plan.chart.lanes;
    let are_several = lanes.windows(2).any(|pair| pair[0].cta != pair[1].cta);
    for (at, lane) in lanes.iter().enumerate() {
        canvas.text(
            (plan.x[at], plan.top - 8),
            "weft-strong weft-middle",
            &lane_name(plan.chart, at),
        );
        if at > 0 && lanes[at - 1].cta == lane.cta {
            continue;
        }
        let last = lanes.iter().rposition(|other| other.cta == lane.cta).unwrap_or(at);
        let text = match lane.cta {
            _ if !are_several && at == last => "warp".to_owned(),
            _ if !are_several => "warps".to_owned(),
            [x, 0, 0] => format!("cta {x}, warps"),
            [x, y, z] => format!("cta ({x},{y},{z}), warps"),
        };
        let middle = i32::midpoint(plan.x[at], plan.x[last]).max(MARGIN + width(&text) / 2);
        canvas.text((middle, plan.top - 8 - LINE), "weft-soft weft-middle", &text);
    }
}

/// Draws the labels of the rows.
pub(super) fn labels(canvas: &mut Canvas, plan: &Plan<'_>) {
    for label in &plan.labels {
        let mut y = plan.y[label.row] + 4;
        for (class, line) in &label.lines {
            canvas.text((plan.labels_at, y), class, line);
            y += LINE;
        }
    }
}

/// Draws the legend.
pub(super) fn legend(canvas: &mut Canvas, plan: &Plan<'_>) {
    let y = plan.bottom + 22;
    let mut x = MARGIN;
    let mut entry = |canvas: &mut Canvas, draw: &dyn Fn(&mut Canvas, i32), text: &str| {
        draw(canvas, x);
        canvas.text((x + 34, y + 4), "weft-soft", text);
        x += 34 + width(text) + 16;
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
    if plan.chart.disorder.is_some() {
        let order = |canvas: &mut Canvas, x: i32| canvas.line("weft-order", (x, y), (x + 26, y));
        entry(canvas, &order, "no order");
    }
    let text =
        "Time runs down each lane. What two warps do is ordered only by the barriers between.";
    canvas.text((MARGIN, y + 4 + LINE + 6), "weft-soft", text);
}

/// Returns the title and the description of a picture, as XML.
pub(super) fn words(chart: &Chart, plan: &Plan<'_>) -> (String, String) {
    let title = format!("Synchronization of {}", safe(&chart.kernel));
    let caption = plan.caption.iter().map(|(_, line)| line.as_str());
    let mut description = caption.collect::<Vec<_>>().join(" ");
    let mut labels: Vec<_> = plan.labels.iter().collect();
    labels.sort_by_key(|label| plan.level[label.row]);
    for label in labels {
        let lines: Vec<_> = label.lines.iter().map(|(_, line)| line.as_str()).collect();
        description.push_str("\n");
        description.push_str(&lines.join("; "));
    }
    let lines: Vec<_> = description.lines().map(xml).collect();
    (xml(&title), lines.join("\n"))
}
