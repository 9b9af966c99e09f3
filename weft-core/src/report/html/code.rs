//! Excerpts for the page: lines with marked parts, and the labels of the marks below their line.

use super::super::excerpt::{Excerpt, Mark};

/// Lines that are further from each marked line than this are left out.
const AROUND: usize = 2;

/// Consecutive lines of a file; lines far from all marks are left out.
pub(super) struct ExcerptView {
    /// The file with line and column of the first mark.
    pub(super) place: String,
    pub(super) lines: Vec<LineView>,
}

/// A line of a file.
pub(super) struct LineView {
    pub(super) number: usize,
    /// Whether lines before it are left out.
    pub(super) is_after_gap: bool,
    pub(super) parts: Vec<PartView>,
    pub(super) labels: Vec<LabelView>,
}

/// A part of a line.
pub(super) struct PartView {
    pub(super) text: String,
    /// `primary` for the offending instruction, `other` for other marks, empty for what is not marked.
    pub(super) mark: &'static str,
}

/// What is said of a mark.
pub(super) struct LabelView {
    pub(super) text: String,
    pub(super) mark: &'static str,
}

fn kind(mark: &Mark) -> &'static str {
    if mark.primary { "primary" } else { "other" }
}

impl ExcerptView {
    /// Prepares an excerpt.
    pub(super) fn of(excerpt: &Excerpt) -> Self {
        let mut starts = Vec::new();
        let mut start = 0;
        for line in excerpt.text.split_inclusive('\n') {
            starts.push((start, line.trim_end_matches('\n')));
            start += line.len();
        }
        let on_line = |(start, text): (usize, &str)| {
            let end = start + text.len();
            let is_on = move |mark: &&Mark| (start..=end).contains(&mark.start);
            excerpt.marks.iter().filter(is_on).collect::<Vec<_>>()
        };
        let is_marked: Vec<bool> = starts.iter().map(|line| !on_line(*line).is_empty()).collect();
        let is_near = |index: usize| {
            let end = is_marked.len().min(index + AROUND + 1);
            is_marked[index.saturating_sub(AROUND)..end].contains(&true)
        };
        let mut lines = Vec::new();
        let mut is_after_gap = false;
        for (index, line) in starts.iter().enumerate() {
            if !is_near(index) {
                is_after_gap = true;
                continue;
            }
            lines.push(LineView {
                number: excerpt.first as usize + index,
                is_after_gap,
                parts: parts(*line, &on_line(*line)),
                labels: on_line(*line).into_iter().map(label).collect(),
            });
            is_after_gap = false;
        }
        Self { place: place(excerpt), lines }
    }
}

/// Returns the path, with the line and the column of the first mark: of the offending one, if it is in the excerpt.
fn place(excerpt: &Excerpt) -> String {
    let Excerpt { path, first, text, marks } = excerpt;
    let primary = marks.iter().find(|mark| mark.primary).or(marks.first());
    let before = primary.and_then(|mark| text.get(..mark.start)).unwrap_or_default();
    let line = *first as usize + before.matches('\n').count();
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("{path}:{line}:{column}")
}

fn label(mark: &Mark) -> LabelView {
    LabelView { text: mark.label.clone(), mark: kind(mark) }
}

/// Cuts a line, which begins at byte `start` of its excerpt, where marks begin and end.
fn parts((start, text): (usize, &str), marks: &[&Mark]) -> Vec<PartView> {
    let within = |byte: usize| byte.saturating_sub(start).min(text.len());
    let mut cuts = vec![0, text.len()];
    cuts.extend(marks.iter().flat_map(|mark| [within(mark.start), within(mark.end)]));
    cuts.sort_unstable();
    cuts.dedup();
    let part = |pair: &[usize]| {
        let is_over = |mark: &&&Mark| within(mark.start) <= pair[0] && pair[1] <= within(mark.end);
        let over = marks.iter().filter(is_over).max_by_key(|mark| mark.primary);
        PartView {
            text: text.get(pair[0]..pair[1]).unwrap_or_default().to_owned(),
            mark: over.map_or("", |mark| kind(mark)),
        }
    };
    cuts.windows(2).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_cut_lines_and_lines_far_from_marks_are_left_out() {
        let mark = |start, end, primary| Mark { start, end, label: String::new(), primary };
        let excerpt = Excerpt {
            path: "k.cu".to_owned(),
            first: 7,
            text: "a(bc);\n1\n2\n3\n4\n5\n6\nlast\n".to_owned(),
            marks: vec![mark(2, 4, true), mark(0, 5, false), mark(19, 23, false)],
        };
        let view = ExcerptView::of(&excerpt);
        assert_eq!(view.place, "k.cu:7:3");
        let shown = |line: &LineView| {
            let parts = line.parts.iter().map(|part| format!("{}|{}", part.text, part.mark));
            (line.number, line.is_after_gap, parts.collect::<Vec<_>>().join(" "))
        };
        let lines: Vec<_> = view.lines.iter().map(shown).collect();
        let first = "a(|other bc|primary )|other ;|".to_owned();
        assert_eq!(lines[0], (7, false, first));
        let numbers: Vec<_> = lines.iter().map(|(number, gap, _)| (*number, *gap)).collect();
        let plain = |number| (number, false);
        assert_eq!(numbers, [plain(7), plain(8), plain(9), (12, true), plain(13), plain(14)]);
        assert_eq!(lines[5].2, "last|other");
    }
}
