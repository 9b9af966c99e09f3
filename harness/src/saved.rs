//! Saved PTX that a build script took because it did not compile the source: what `weft-build` says of it in the marker
//! beside the file, `NAME.ptx.saved`. The module `marker` of `weft-build` describes the form.
//!
//! PTX without a marker was compiled, or is none that `weft-build` made: nothing is known of it.

use std::path::{Path, PathBuf};

use weft_core::report::escape;

use crate::bounded;

/// Maximum size of a marker in bytes.
const MAX_MARKER: u64 = 1024 * 1024;

/// What is known of PTX that was not compiled in this build. The texts are safe to print.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedPtx {
    /// The saved file, relative to the package.
    pub saved: String,
    /// The source, relative to the package.
    pub source: String,
    /// How to have the source compiled.
    pub remedy: String,
    /// Whether its sources have changed since it was compiled.
    pub state: SourceState,
    /// Whether it is no saved file, but PTX of a record of launches; the texts are empty then.
    pub is_recorded: bool,
}

/// Whether the sources of saved PTX have changed since it was compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceState {
    /// They have not.
    Current,
    /// These have.
    Changed(Vec<String>),
    /// It is not known, for this reason; empty: nobody says why.
    Unknown(String),
}

impl Default for SourceState {
    fn default() -> Self {
        Self::Unknown(String::new())
    }
}

impl SavedPtx {
    /// Reads the marker of the PTX file at `ptx`; `None` if there is none. A marker that cannot be read says that there is
    /// one.
    pub fn of(ptx: &Path) -> Option<Self> {
        let mut path = ptx.as_os_str().to_owned();
        path.push(".saved");
        let path = PathBuf::from(path);
        if !path.is_file() {
            return None;
        }
        let bytes = bounded::read(&path, MAX_MARKER).unwrap_or_default();
        Some(Self::parse(&String::from_utf8_lossy(&bytes)))
    }

    /// Parses the text of a marker. Keys that are not known are skipped.
    pub fn parse(text: &str) -> Self {
        let mut own = Self::default();
        let mut changed = Vec::new();
        for line in text.lines() {
            let (key, value) = line.split_once(' ').unwrap_or((line, ""));
            let value = escape(value.trim()).into_owned();
            match key {
                "saved" => own.saved = value,
                "source" => own.source = value,
                "remedy" => own.remedy = value,
                "current" => own.state = SourceState::Current,
                "unknown" => own.state = SourceState::Unknown(value),
                "changed" => changed.push(value),
                _ => {}
            }
        }
        if !changed.is_empty() {
            own.state = SourceState::Changed(changed);
        }
        own
    }

    /// Returns what a reader of verdicts on the file must know; `None` if it is what its sources give, or is not checked.
    /// `name`: what messages call the file.
    pub fn note(&self, name: &str) -> Option<String> {
        if self.is_recorded {
            return self.recorded().map(|what| format!("{name} is {what}"));
        }
        let SourceState::Unknown(why) = &self.state else { return None };
        let Self { saved, source, remedy, .. } = self;
        let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
        let remedy = if remedy.is_empty() { String::new() } else { format!("; {remedy}") };
        Some(format!(
            "{name} is saved PTX ({saved}), not compiled from {source} in this build: changes of the source since are not \
             seen{why}{remedy}"
        ))
    }

    /// Returns what PTX of a record is, to follow its names and a verb; `None` if it is not checked, or is none.
    pub fn recorded(&self) -> Option<String> {
        let what = "PTX of the record, checked as it was when recorded: ";
        match &self.state {
            _ if !self.is_recorded => None,
            SourceState::Changed(_) => None,
            SourceState::Current => Some(format!("{what}its sources have not changed since")),
            SourceState::Unknown(why) => {
                Some(format!("{what}changes of its sources since are not seen ({why})"))
            }
        }
    }

    /// Returns why the file is not checked; `None` if it is.
    pub fn outdated(&self, name: &str) -> Option<String> {
        let SourceState::Changed(files) = &self.state else { return None };
        let Self { saved, remedy, .. } = self;
        let remedy = if remedy.is_empty() { String::new() } else { format!(": {remedy}") };
        if self.is_recorded {
            return Some(format!(
                "{name}: could not be checked: this PTX of the record is older than its source: {} changed since; record anew by \
                 `cargo weft record`",
                files.join(", ")
            ));
        }
        Some(format!(
            "{name}: could not be checked: saved PTX ({saved}) is older than its source: {} changed since; compile it \
             anew, and save the result{remedy}",
            files.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "saved kernels/k.ptx\nsource kernels/k.cu\nremedy install nvcc\n";

    #[test]
    fn what_is_not_known_is_noted() {
        let own = SavedPtx::parse(&format!("{HEAD}later key\nunknown it does not say so\n"));
        let note = "k.ptx is saved PTX (kernels/k.ptx), not compiled from kernels/k.cu in this build: changes of the source \
                    since are not seen (it does not say so); install nvcc";
        assert_eq!(own.note("k.ptx").as_deref(), Some(note));
        assert_eq!(own.outdated("k.ptx"), None);
        // A marker that says nothing is no proof that all is well.
        assert!(SavedPtx::parse("").note("k.ptx").is_some());
        assert!(SavedPtx::parse(HEAD).note("k.ptx").is_some());
    }

    #[test]
    fn a_change_is_no_note_but_an_error() {
        let own =
            SavedPtx::parse(&format!("{HEAD}changed kernels/k.cu\r\nchanged kernels/t.h\r\n"));
        let text = "k.ptx: could not be checked: saved PTX (kernels/k.ptx) is older than its source: kernels/k.cu, \
                    kernels/t.h changed since; compile it anew, and save the result: install nvcc";
        assert_eq!(own.outdated("k.ptx").as_deref(), Some(text));
        assert_eq!(own.note("k.ptx"), None);
    }

    #[test]
    fn ptx_of_a_record_is_told_from_saved_ptx() {
        let own = |state| SavedPtx { state, is_recorded: true, ..SavedPtx::default() };
        let changed = own(SourceState::Changed(vec!["k.cu".to_owned()]));
        let text = "r.ptx: could not be checked: this PTX of the record is older than its source: k.cu changed since; record \
                    anew by `cargo weft record`";
        assert_eq!(
            (changed.note("r.ptx"), changed.outdated("r.ptx").as_deref()),
            (None, Some(text))
        );
        let current = own(SourceState::Current);
        let text = "r.ptx is PTX of the record, checked as it was when recorded: its sources have not changed since";
        assert_eq!(
            (current.note("r.ptx").as_deref(), current.outdated("r.ptx")),
            (Some(text), None)
        );
        let text = "r.ptx is PTX of the record, checked as it was when recorded: changes of its sources since are not seen (why)";
        let unknown = own(SourceState::Unknown("why".to_owned()));
        assert_eq!(unknown.note("r.ptx").as_deref(), Some(text));
        assert_eq!(SavedPtx::parse(HEAD).recorded(), None);
    }

    #[test]
    fn of_current_ptx_there_is_nothing_to_say() {
        let own = SavedPtx::parse(&format!("{HEAD}current\n"));
        assert_eq!((own.note("k.ptx"), own.outdated("k.ptx")), (None, None));
    }
}
