//! Advice: what an author can change although nothing is wrong. Advice is not a finding and changes no verdict.

use super::{Site, SourceLine};

/// A possible change, and the instruction that it concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The kind of change in a word, such as `delete`.
    pub change: &'static str,
    /// One sentence, lower case, no full stop.
    pub message: String,
    /// The instruction that can be changed, then others that show why.
    pub sites: Vec<Site>,
    /// The line of the source at which it is told, if that is not the first line of the first site.
    pub line: Option<SourceLine>,
    /// Further facts, one per line.
    pub notes: Vec<String>,
    /// The text that would replace the instruction; empty if the instruction is deleted.
    pub replacement: String,
}
