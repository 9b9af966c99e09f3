//! What an author may do though nothing is wrong. Advice is no finding and changes no verdict.

use super::Site;

/// Something that could be otherwise, with the place it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// What is changed, in a word: `delete`.
    pub change: &'static str,
    /// One sentence, lower case, no full stop.
    pub message: String,
    /// Where.
    pub site: Site,
    /// Further facts, one a line.
    pub notes: Vec<String>,
    /// The text that would stand there; empty where the instruction goes.
    pub replacement: String,
}
