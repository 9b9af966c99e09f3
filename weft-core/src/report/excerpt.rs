//! Turns the sites of a finding or an advice into excerpts: consecutive lines of one file, with marks for the places to
//! underline.
//!
//! A site is shown in the source line it came from, if that file is available, and always in the PTX. A source that is
//! not available becomes a note. Marks on the same characters are joined.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{ReportContext, SourceText, escape};
use crate::finding::{Site, SourceLine, Thread};

/// Marks that are more lines apart than this are shown in separate excerpts.
const REACH: u32 = 500;
/// The most threads listed at a site; the rest is counted.
const THREADS: usize = 4;

/// A run of lines with marks.
pub(super) struct Excerpt {
    /// The file, escaped.
    pub(super) path: String,
    /// Number of the first line.
    pub(super) first: u32,
    /// The lines, escaped.
    pub(super) text: String,
    /// Byte ranges of `text`.
    pub(super) marks: Vec<Mark>,
}

/// Something to underline.
pub(super) struct Mark {
    /// Bytes of the excerpt's text.
    pub(super) start: usize,
    /// One past the last byte.
    pub(super) end: usize,
    /// The text beside the mark, escaped.
    pub(super) label: String,
    /// Whether it is the offending instruction.
    pub(super) primary: bool,
}

/// The excerpts of some sites, and notes for what cannot be shown.
pub(super) struct Excerpts {
    /// Sources first, then the PTX.
    pub(super) shown: Vec<Excerpt>,
    /// One note per line, escaped.
    pub(super) notes: Vec<String>,
}

/// A mark before excerpts are cut out of its file; `start` and `end` are bytes of its line.
struct LineMark {
    line: u32,
    start: usize,
    end: usize,
    label: String,
    primary: bool,
}

/// Returns the excerpts of the sites.
pub(super) fn excerpts(context: ReportContext<'_>, sites: &[Site]) -> Excerpts {
    let module = context.module;
    let mut texts: BTreeMap<&str, Option<Rc<SourceText>>> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    let mut places: BTreeMap<&str, Vec<LineMark>> = BTreeMap::new();
    let mut in_ptx: Vec<LineMark> = Vec::new();
    let mut notes = Vec::new();
    for (index, site) in sites.iter().enumerate() {
        let primary = index == 0;
        let label = label(site);
        let mut shown = None;
        for line in &site.source {
            let text = texts.entry(&line.file).or_insert_with(|| context.sources.text(&line.file));
            let Some(raw) = text.as_ref().and_then(|text| text.line(line.line)) else {
                continue;
            };
            let (start, end) = word(raw, line.column);
            if !order.contains(&line.file.as_str()) {
                order.push(&line.file);
            }
            join(places.entry(&line.file).or_default(), line.line, start, end, &label, primary);
            shown = Some(line);
            break;
        }
        if let Some(raw) = module.line(site.ptx.line) {
            let start = floor(raw, (site.ptx.column.max(1) - 1) as usize);
            let length = (site.span.end.saturating_sub(site.span.start) as usize).max(1);
            let (start, end) = trimmed(raw, start, floor(raw, start.saturating_add(length)));
            let short = if shown.is_some() { escape(site.role.name()).into_owned() } else { label };
            join(&mut in_ptx, site.ptx.line, start, end, &short, primary);
        }
        notes.extend(origin(site, shown));
    }
    let mut shown = Vec::new();
    for file in order {
        if let (Some(Some(text)), Some(places)) = (texts.get(file), places.remove(file)) {
            let path = text.path().unwrap_or(file);
            cut(path, &|number| text.line(number), places, &mut shown);
        }
    }
    cut(context.ptx, &|number| module.line(number), in_ptx, &mut shown);
    notes.dedup();
    Excerpts { shown, notes }
}

/// Returns the label of a site, with its threads.
pub(super) fn label(site: &Site) -> String {
    let what = if site.label.is_empty() { site.role.name() } else { &site.label };
    let threads = threads(&site.threads);
    let gap = if threads.is_empty() { "" } else { ", " };
    escape(&format!("{what}{gap}{threads}")).into_owned()
}

fn threads(threads: &[Thread]) -> String {
    let mut listed: Vec<String> = threads.iter().take(THREADS).map(ToString::to_string).collect();
    if threads.len() > THREADS {
        listed.push(format!("{} more", threads.len() - THREADS));
    }
    listed.join(", ")
}

/// Returns a note for a source line that is not shown, or for the calls that the shown line was inlined through.
pub(super) fn origin(site: &Site, shown: Option<&SourceLine>) -> Option<String> {
    let chain = |lines: &[SourceLine]| {
        let names: Vec<String> =
            lines.iter().map(|line| format!("`{}:{}`", escape(&line.file), line.line)).collect();
        names.join(", inlined into ")
    };
    match shown {
        None if site.source.is_empty() => None,
        None => Some(format!("the {} comes from {}", site.role.noun(), chain(&site.source))),
        Some(line) if site.source.len() > 1 || site.source.first() != Some(line) => {
            Some(format!("the {} comes from {}", site.role.noun(), chain(&site.source)))
        }
        Some(_) => None,
    }
}

fn join(
    places: &mut Vec<LineMark>,
    line: u32,
    start: usize,
    end: usize,
    label: &str,
    primary: bool,
) {
    if let Some(same) =
        places.iter_mut().find(|place| (place.line, place.start, place.end) == (line, start, end))
    {
        if same.label != label {
            same.label = format!("{}; {label}", same.label);
        }
        same.primary |= primary;
        return;
    }
    places.push(LineMark { line, start, end, label: label.to_owned(), primary });
}

/// Cuts a file into excerpts around its marks.
fn cut<'t>(
    path: &str,
    line: &dyn Fn(u32) -> Option<&'t str>,
    mut places: Vec<LineMark>,
    out: &mut Vec<Excerpt>,
) {
    places.sort_by_key(|place| (place.line, place.start, place.end));
    let mut clusters: Vec<Vec<LineMark>> = Vec::new();
    for place in places {
        match clusters.last_mut() {
            Some(cluster) if cluster.last().is_some_and(|last| place.line - last.line <= REACH) => {
                cluster.push(place);
            }
            _ => clusters.push(vec![place]),
        }
    }
    // The excerpt with the offending instruction comes first, because the headline shows its position.
    clusters.sort_by_key(|cluster| !cluster.iter().any(|place| place.primary));
    out.extend(clusters.iter().map(|cluster| excerpt(path, line, cluster)));
}

fn excerpt<'t>(path: &str, line: &dyn Fn(u32) -> Option<&'t str>, cluster: &[LineMark]) -> Excerpt {
    let first = cluster.first().map_or(1, |place| place.line);
    let last = cluster.last().map_or(first, |place| place.line);
    let mut lines = String::new();
    let mut marks = Vec::new();
    for (number, raw) in (first..=last).map_while(|number| Some((number, line(number)?))) {
        let base = lines.len();
        let on_line = || cluster.iter().filter(|place| place.line == number);
        let (from, raw) = window(raw, on_line().map(|place| place.start).min().unwrap_or(0));
        for place in on_line() {
            let at = |byte: usize| {
                let within = floor(raw, byte.saturating_sub(from));
                base + raw.get(..within).map_or(0, |before| escape(before).len())
            };
            let label = place.label.clone();
            marks.push(Mark {
                start: at(place.start),
                end: at(place.end),
                label,
                primary: place.primary,
            });
        }
        lines.push_str(&escape(raw));
        lines.push('\n');
    }
    Excerpt { path: escape(path).into_owned(), first, text: lines, marks }
}

/// Returns the part of a line that is shown, which for a very long line is the part around its first mark, and the byte
/// where it begins.
fn window(line: &str, mark: usize) -> (usize, &str) {
    const LONG: usize = 4096;
    const BEFORE: usize = 128;
    if line.len() <= LONG {
        return (0, line);
    }
    let from = if mark < LONG / 2 { 0 } else { floor(line, mark - BEFORE) };
    (from, line.get(from..floor(line, from + LONG)).unwrap_or(""))
}

/// Returns the byte range of the word at a column, which counts from 1, or of the whole line if there is none.
pub(super) fn word(line: &str, column: u32) -> (usize, usize) {
    let start = floor(line, (column.max(1) - 1) as usize);
    let rest = line.get(start..).unwrap_or("");
    if column == 0 || rest.trim().is_empty() {
        return trimmed(line, 0, line.len());
    }
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let length = if length == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { length };
    trimmed(line, start, start + length)
}

/// Returns the range without white space at its ends.
pub(super) fn trimmed(line: &str, start: usize, end: usize) -> (usize, usize) {
    let part = line.get(start..end).unwrap_or("");
    let leading = part.len() - part.trim_start().len();
    let length = part.trim().len();
    if length == 0 { (start, end) } else { (start + leading, start + leading + length) }
}

/// Returns the nearest character boundary at or before `byte`.
pub(super) fn floor(line: &str, byte: usize) -> usize {
    let mut byte = byte.min(line.len());
    while !line.is_char_boundary(byte) {
        byte -= 1;
    }
    byte
}
