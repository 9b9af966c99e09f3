//! The places of everything in a picture, in pixels.

use std::collections::BTreeMap;

use super::levels::{has_label, levels};
use super::text::{LINE, STRONG, safe, width, wrap};
use crate::finding::{
    Chart, ChartGeneration, ChartLane, ChartRow, Disorder, GenerationFate, Participant, Verdict,
};

/// The margin around everything.
pub(super) const MARGIN: i32 = 24;
/// The space between the lanes of two ctas.
const BETWEEN_CTAS: i32 = 36;
/// The space between the last lane and the labels.
const BEFORE_LABELS: i32 = 24;
/// The most width of a label, and of the caption if the lanes and labels take less.
const LABEL: i32 = 460;
const CAPTION: i32 = 640;
/// The height of a level without labels.
const LOW: i32 = 26;
/// The height of a level with a label, beside its lines.
const PADDING: i32 = 13;
/// The height of the legend.
const LEGEND: i32 = 2 * LINE + 30;
/// The most lines by which one generation is described.
const MOST_PLACES: usize = 3;

/// A line of a label, and the classes of its text.
pub(super) type LabelLine = (&'static str, String);

/// A label right of the lanes.
#[derive(Debug)]
pub(super) struct RowLabel {
    pub(super) row: usize,
    pub(super) lines: Vec<LabelLine>,
}

/// Where everything is.
#[derive(Debug)]
pub(super) struct PicturePlan<'a> {
    pub(super) chart: &'a Chart,
    pub(super) width: i32,
    pub(super) height: i32,
    /// The lines of the caption.
    pub(super) caption: Vec<LabelLine>,
    /// The middle of each lane.
    pub(super) x: Vec<i32>,
    /// The middle of each row.
    pub(super) y: Vec<i32>,
    /// The level of each row.
    pub(super) level: Vec<usize>,
    /// Where lanes begin and end.
    pub(super) top: i32,
    pub(super) bottom: i32,
    /// Where labels begin.
    pub(super) labels_at: i32,
    pub(super) labels: Vec<RowLabel>,
    /// The rows that are marks.
    pub(super) marks: Vec<usize>,
}

impl<'a> PicturePlan<'a> {
    pub(super) fn new(chart: &'a Chart) -> Self {
        let level = levels(chart);
        let (x, end) = columns(chart);
        let labels_at = end + BEFORE_LABELS;
        let is_mark = |row: &usize| matches!(chart.rows[*row], ChartRow::Mark(_));
        let marks: Vec<usize> = (0..chart.rows.len()).filter(is_mark).collect();
        let lower = marks.iter().copied().max_by_key(|row| level[*row]);
        let labels: Vec<RowLabel> = (0..chart.rows.len())
            .filter(|row| has_label(&chart.rows[*row]))
            .map(|row| {
                let disorder = chart.disorder.filter(|_| Some(row) == lower);
                RowLabel { row, lines: label(&chart.rows[row], disorder) }
            })
            .collect();
        let lines = labels.iter().flat_map(|label| &label.lines);
        let widest = lines.map(|(class, text)| width(class, text)).max().unwrap_or(0);
        let inner = (labels_at + widest - MARGIN).max(CAPTION);
        let caption = caption(chart, inner);
        let line_count = i32::try_from(caption.len()).unwrap_or(0);
        // The heads of the lanes take two lines.
        let top = MARGIN + (line_count + 3) * LINE + 12;
        let (y, bottom) = heights(&level, &labels, top + 10);
        Self {
            chart,
            width: inner + 2 * MARGIN,
            height: bottom + LEGEND + MARGIN,
            caption,
            x,
            y,
            level,
            top,
            bottom,
            labels_at,
            labels,
            marks,
        }
    }
}

/// Returns the middle of each lane, and where the last one ends.
fn columns(chart: &Chart) -> (Vec<i32>, i32) {
    let widest = (0..chart.lanes.len()).map(|lane| width(STRONG, &lane_name(chart, lane))).max();
    let least = if chart.lanes.len() <= 8 { 72 } else { 44 };
    let column = (widest.unwrap_or(0) + 14).max(least);
    let mut at = MARGIN;
    let mut middles = Vec::new();
    let are_several = chart.lanes.windows(2).any(|pair| pair[0].cta != pair[1].cta);
    for of_cta in chart.lanes.chunk_by(|one, other| one.cta == other.cta) {
        let count = i32::try_from(of_cta.len()).unwrap_or(0);
        // The head of a cta might be wider than its lanes.
        let aside = (width("", &cta_name(of_cta, are_several)) - count * column).max(0) / 2;
        at += if middles.is_empty() { aside } else { BETWEEN_CTAS + aside };
        for _ in of_cta {
            middles.push(at + column / 2);
            at += column;
        }
        at += aside;
    }
    (middles, at)
}

/// Returns the head of the lanes of a cta.
pub(super) fn cta_name(lanes: &[ChartLane], are_several: bool) -> String {
    match lanes {
        [] => String::new(),
        [lane] if !are_several && lane.first == lane.last => "warp".to_owned(),
        _ if !are_several => "warps".to_owned(),
        [lane, ..] => match lane.cta {
            [x, 0, 0] => format!("cta {x}, warps"),
            [x, y, z] => format!("cta ({x},{y},{z}), warps"),
        },
    }
}

/// Returns the name of a lane, such as `0` or `2–15`.
pub(super) fn lane_name(chart: &Chart, lane: usize) -> String {
    let lane = &chart.lanes[lane];
    if lane.first == lane.last {
        lane.first.to_string()
    } else {
        format!("{}–{}", lane.first, lane.last)
    }
}

/// Returns the middle of each row, and where the last level ends.
fn heights(level: &[usize], labels: &[RowLabel], top: i32) -> (Vec<i32>, i32) {
    let mut heights: BTreeMap<usize, i32> = level.iter().map(|level| (*level, LOW)).collect();
    for label in labels {
        let lines = i32::try_from(label.lines.len()).unwrap_or(0);
        heights.insert(level[label.row], lines * LINE + PADDING);
    }
    let mut at = top;
    let mut middles = BTreeMap::new();
    for (level, height) in heights {
        middles.insert(level, at + LINE / 2 + 3);
        at += height;
    }
    (level.iter().map(|level| middles[level]).collect(), at + 14)
}

fn caption(chart: &Chart, most: i32) -> Vec<LabelLine> {
    // The title's letters are larger.
    let title = wrap(STRONG, &chart.kernel, most * 3 / 4).into_iter().take(3);
    let mut lines: Vec<LabelLine> = title.map(|line| ("weft-title", line)).collect();
    let mut add = |class: &'static str, text: &str| {
        lines.extend(wrap(class, text, most).into_iter().take(4).map(|line| (class, line)));
    };
    add("weft-soft", &chart.launch);
    let class = match chart.verdict {
        Verdict::Defect => "weft-strong weft-bad-text",
        Verdict::Clean | Verdict::Open => "weft-strong",
    };
    match &chart.finding {
        Some((code, message)) => {
            add(class, &format!("{}: {code}: {message}", chart.verdict.name()));
        }
        None => add(class, chart.verdict.name()),
    }
    for note in &chart.notes {
        add("weft-soft", note);
    }
    lines
}

/// Returns the lines of a row's label. `disorder`: what to say of the order of the two marks.
fn label(row: &ChartRow, disorder: Option<Disorder>) -> Vec<LabelLine> {
    let mut lines: Vec<LabelLine> = Vec::new();
    let mut add = |class: &'static str, text: &str| {
        lines.extend(wrap(class, text, LABEL).into_iter().take(3).map(|line| (class, line)));
    };
    match row {
        ChartRow::Arrival { .. } | ChartRow::End { .. } => {}
        ChartRow::Mark(mark) => {
            add("weft-strong weft-bad-text", &mark.label);
            add("weft-soft", &mark.place);
            if mark.ends_early {
                add("weft-soft", "the thread ends before its warp's next barrier");
            }
            if let Some(disorder) = disorder {
                add("weft-strong weft-bad-text", disorder.sentence());
            }
        }
        ChartRow::Fold(fold) => {
            let generations = if fold.generations == 1 { "generation" } else { "generations" };
            let end = if fold.are_alike { "more {} alike" } else { "{} not shown" };
            let end = end.replace("{}", generations);
            add("weft-soft", &format!("… {} {end}", fold.generations));
        }
        ChartRow::Stop(stop) => {
            let class = if stop.is_defect { "weft-strong weft-bad-text" } else { "weft-strong" };
            add(class, &stop.label);
            add("weft-soft", &stop.place);
        }
        ChartRow::Generation(generation) => {
            let ChartGeneration { barrier, number, participants, fate } = generation;
            let name = format!("barrier {barrier}, generation {number}");
            match fate {
                GenerationFate::Complete => add("weft-strong", &name),
                GenerationFate::Unused => add("weft-strong", &format!("{name}: never complete")),
                GenerationFate::Unknown => add("weft-strong", &format!("{name}: not complete yet")),
                GenerationFate::Stuck(lacks) => {
                    add("weft-strong weft-bad-text", &format!("{name}: never completes"));
                    add("weft-bad-text", lacks);
                }
            }
            for (word, waits) in [("arrive", false), ("wait", true)] {
                if let Some(places) = places(participants, waits) {
                    add("weft-soft", &format!("{word}: {places}"));
                }
            }
        }
    }
    lines
}

/// Returns the lines of source code at which participants arrive.
fn places(participants: &[Participant], waits: bool) -> Option<String> {
    let own = participants.iter().filter(|own| own.waits == waits);
    let mut lines: Vec<String> = own.map(|own| safe(&own.line)).collect();
    lines.sort();
    lines.dedup();
    let more = if lines.len() > MOST_PLACES { ", …" } else { "" };
    lines.truncate(MOST_PLACES);
    (!lines.is_empty()).then(|| lines.join(", ") + more)
}
