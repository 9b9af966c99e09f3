//! Turns the sites of a finding into places in files, for formats that state file, line and column apart.
//!
//! A site is shown in its source if that is at hand, otherwise in the PTX, so that every place that is stated can be
//! opened. Columns count characters from 1.

use std::ops::Range;

use super::checked::Checked;
use super::excerpt::{floor, label, origin, trimmed, word};
use crate::finding::{Finding, Site};
use crate::ptx::{Position, Span};

/// Lines that are longer than this are not quoted.
const LONG: usize = 4096;

/// A part of a line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FilePlace {
    /// The path to show.
    pub(super) file: String,
    /// The line, from 1.
    pub(super) line: u32,
    /// The columns of the part.
    pub(super) columns: Range<usize>,
    /// The bytes of the part, from the start of the file.
    pub(super) bytes: Range<usize>,
    /// The whole line; `None` if it is too long to be quoted.
    pub(super) text: Option<String>,
}

/// Where a site of a finding is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Located {
    /// The place to show.
    pub(super) shown: FilePlace,
    /// The place in the PTX, if a source is shown.
    pub(super) ptx: Option<FilePlace>,
    /// What happens there, and the threads that do it.
    pub(super) label: String,
    /// Where the instruction comes from, if `shown` does not tell it.
    pub(super) note: Option<String>,
}

/// Returns where the sites of a finding are, the offending one first; the kernel itself for a finding without sites.
pub(super) fn located(checked: &Checked<'_>, finding: &Finding) -> Vec<Located> {
    let all: Vec<Located> = finding.sites.iter().filter_map(|own| site(checked, own)).collect();
    if !all.is_empty() {
        return all;
    }
    let kernel = checked.module.kernel(checked.kernel).map(|kernel| kernel.name);
    let place = kernel.and_then(|name| ptx(checked, checked.module.position(name), name));
    let of_kernel = |shown| Located { shown, ptx: None, label: String::new(), note: None };
    place.map(of_kernel).into_iter().collect()
}

/// Returns the further facts about a finding, one a line: where its instructions come from, its notes and its help.
pub(super) fn facts(located: &[Located], finding: &Finding) -> Vec<String> {
    let mut origins: Vec<&str> = located.iter().filter_map(|own| own.note.as_deref()).collect();
    origins.dedup();
    let notes = origins.into_iter().chain(finding.notes.iter().map(String::as_str));
    let help = finding.help.iter().map(|help| format!("help: {help}"));
    notes.map(|note| format!("note: {note}")).chain(help).collect()
}

fn site(checked: &Checked<'_>, site: &Site) -> Option<Located> {
    let in_source = site.source.iter().find_map(|line| {
        let file = (checked.source)(&line.file)?;
        let text = file.text.line(line.line)?;
        let (start, end) = word(text, line.column);
        let first = file.text.line_start(line.line)?;
        Some((line, place(file.path.clone(), line.line, text, first, start..end)))
    });
    let in_ptx = ptx(checked, site.ptx, site.span);
    let note = origin(site, in_source.as_ref().map(|(line, _)| *line));
    let (shown, ptx) = match in_source {
        Some((_, shown)) => (shown, in_ptx),
        None => (in_ptx?, None),
    };
    Some(Located { shown, ptx, label: label(site), note })
}

/// Returns the place of an instruction in the PTX, up to the end of its first line.
fn ptx(checked: &Checked<'_>, at: Position, span: Span) -> Option<FilePlace> {
    let text = checked.module.line(at.line)?;
    let start = floor(text, (at.column.max(1) - 1) as usize);
    let length = (span.end.saturating_sub(span.start) as usize).max(1);
    let (start, end) = trimmed(text, start, floor(text, start.saturating_add(length)));
    let first = (span.start as usize).saturating_sub((at.column.max(1) - 1) as usize);
    Some(place(checked.subject.file.to_owned(), at.line, text, first, start..end))
}

/// Returns a place in a line that begins at byte `first` of its file; `part`: bytes of the line.
fn place(file: String, line: u32, text: &str, first: usize, part: Range<usize>) -> FilePlace {
    let column = |byte: usize| text.get(..byte).map_or(0, |before| before.chars().count()) + 1;
    FilePlace {
        file,
        line,
        columns: column(part.start)..column(part.end),
        bytes: first + part.start..first + part.end,
        text: (text.len() <= LONG).then(|| text.to_owned()),
    }
}
