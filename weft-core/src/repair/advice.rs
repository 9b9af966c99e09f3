//! Words a change for its reader.

use std::path::Path;

use super::kind::BarrierKind;
use super::outcome::{Action, Change, Side};
use super::source_place::{BetweenLines, IterationPlace, SourcePlace};
use crate::finding::{Advice, Site};

impl BarrierKind {
    /// Returns the call in the language of a source file; `None` where each library has its own.
    pub fn call(self, file: &str) -> Option<&'static str> {
        match self {
            _ if Path::new(file).extension().is_some_and(|own| own == "rs") => None,
            Self::Cta => Some("__syncthreads()"),
            Self::Warp => Some("__syncwarp()"),
        }
    }

    /// Returns the barrier in words: as the source of `site` calls it, else as PTX.
    pub fn name(self, site: &Site) -> String {
        self.name_in(site.source.first().map(|line| line.file.as_str()))
    }

    /// The same for a file; `None`: in PTX.
    fn name_in(self, file: Option<&str>) -> String {
        let call = file.and_then(|file| self.call(file));
        format!("`{}`", call.unwrap_or_else(|| self.ptx().trim_end_matches(';')))
    }
}

impl Change {
    /// Returns the change as advice: where to make it, and the first two accesses that the barrier separates.
    pub fn advice(&self) -> Advice {
        let (change, message, label, replacement) = self.words();
        let mut sites = vec![Site { label: label.to_owned(), ..self.site.clone() }];
        let race = self.separates.first().into_iter().flat_map(|race| race.sites.clone());
        sites.extend(race.map(|site| self.in_place(site)));
        let line = match &self.place {
            SourcePlace::Between(lines) => Some(lines.from.clone()),
            _ => None,
        };
        let (notes, replacement) = (self.notes(), replacement.to_owned());
        Advice { change, message, sites, line, notes, replacement }
    }

    /// Returns an access with its lines from the first one on that is named as an end of the place.
    fn in_place(&self, mut site: Site) -> Site {
        if let SourcePlace::Between(BetweenLines { from, to, .. }) = &self.place {
            let named = site.source.iter().position(|line| line == from || line == to);
            site.source.drain(..named.unwrap_or(0));
        }
        site
    }

    /// Returns the barrier of an insertion in words: as the source at its place calls it, else as PTX.
    pub fn barrier_name(&self, kind: BarrierKind) -> String {
        match &self.place {
            SourcePlace::Between(lines) => kind.name_in(Some(&lines.from.file)),
            _ => kind.name(&self.site),
        }
    }

    fn words(&self) -> (&'static str, String, &'static str, &'static str) {
        let what = if self.site.source.is_empty() { "instruction" } else { "line" };
        match (self.action, &self.place) {
            (Action::Insert(kind, side), SourcePlace::Between(lines)) => {
                let place = lines.words(|line| format!("line {}", line.line));
                let message = format!("insert {} {place}", self.barrier_name(kind));
                let label = match side {
                    Side::After => "in the PTX it is checked behind this",
                    Side::Before => "in the PTX it is checked in front of this",
                };
                ("insert", message, label, kind.ptx())
            }
            (Action::Insert(kind, side), _) => {
                let message =
                    format!("insert {} {} this {what}", self.barrier_name(kind), side.name());
                let label = match side {
                    Side::After => "insert it behind this",
                    Side::Before => "insert it in front of this",
                };
                ("insert", message, label, kind.ptx())
            }
            (Action::Replace(kind), _) => {
                let message = format!("{} is enough here", kind.name(&self.site));
                ("replace", message, "replace this", kind.ptx())
            }
            (Action::Remove, _) => ("remove", "remove this barrier".to_owned(), "remove this", ""),
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.notes_of_place();
        let first = self.separates.first();
        let own = self.site.source.first().map(|line| line.line);
        if let Some(line) = first.and_then(|race| common_line(&race.sites))
            && own == Some(line)
        {
            notes.push(format!(
                "both accesses are in line {line}: split the statement between them"
            ));
        }
        match self.separates.len() {
            0 | 1 => {}
            2 => notes.push("the barrier might separate one more racing pair".to_owned()),
            count => {
                notes.push(format!("the barrier might separate {} more racing pairs", count - 1));
            }
        }
        if self.copies > 1 {
            notes.push(format!(
                "this is done at {} places of the PTX: a loop is unrolled, or a function inlined",
                self.copies
            ));
        }
        if self.is_skipped {
            notes.push(
                "some threads of the block end without reaching this barrier: PTX does not wait for them, but CUDA asks \
                 that all threads of the block reach it"
                    .to_owned(),
            );
        }
        notes
    }
}

impl Change {
    fn notes_of_place(&self) -> Vec<String> {
        let note = match &self.place {
            SourcePlace::Between(lines) if lines.is_within_line() => {
                let line = lines.from.line;
                format!("both accesses are in line {line}: split the statement between them")
            }
            SourcePlace::Between(lines) => {
                let only = "loops and conditions that contain only one of the two lines";
                match lines.iteration {
                    None => format!("the place is outside of {only}"),
                    Some(IterationPlace::Start) => {
                        format!("the place is in the loop around both, in front of them, outside of {only}")
                    }
                    Some(IterationPlace::End) => {
                        format!("the place is in the loop around both, behind them, outside of {only}")
                    }
                }
            }
            SourcePlace::Doubtful => "the place in the source is in doubt: the instruction has a line, but the compiler might \
                                      have moved it there from elsewhere"
                .to_owned(),
            SourcePlace::Beside | SourcePlace::Unstated => return Vec::new(),
        };
        vec![note]
    }
}

/// Returns the source line of two accesses, if it is the same.
fn common_line(sites: &[Site]) -> Option<u32> {
    let [one, other] = sites else { return None };
    let (one, other) = (one.source.first()?, other.source.first()?);
    (one.file == other.file && one.line == other.line).then_some(one.line)
}
