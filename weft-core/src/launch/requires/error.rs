//! The errors of a requirement's text. Each has the position in the text and says what is right there.

/// Why a text is no requirement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("character {}: {problem}", .before + 1)]
pub struct RequirementError {
    /// The byte of the text at which the problem begins; the text's length if something is missing at the end.
    pub at: usize,
    /// The number of characters before it.
    pub before: usize,
    /// What is wrong there, and what would be right.
    pub problem: RequirementProblem,
}

/// What is wrong at a position of a requirement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequirementProblem {
    /// Something else is expected.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What can stand there.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// A symbol that has a counterpart in this language.
    #[error("`{found}` has no meaning here; {remedy}")]
    Foreign {
        /// The symbol.
        found: String,
        /// What to write instead.
        remedy: &'static str,
    },
    /// Several comparisons in a row.
    #[error("comparisons do not chain; write `0 < n && n < 4` for `0 < n < 4`")]
    Chain,
    /// A quantity that is not compared with anything.
    #[error("a quantity by itself is no condition; compare it, as in `n <= 1024`")]
    NoComparison,
    /// A name with a dot that is no extent.
    #[error("there is no `{name}`; did you mean `{nearest}`?")]
    Extent {
        /// The name as written.
        name: String,
        /// The extent whose name is most similar.
        nearest: String,
    },
    /// A call of anything but `pow2`.
    #[error("there is no function `{0}`; the only one is `pow2`, as in `pow2(block.x)`")]
    Function(String),
    /// A number that does not fit 64 bits.
    #[error("`{0}` is no number of up to 64 bits, decimal or with 0x")]
    Number(String),
    /// More parentheses and minus signs within each other than are followed.
    #[error("parentheses and minus signs are nested more than {0} deep")]
    Depth(usize),
    /// A text that is longer than any sensible condition.
    #[error("the condition has more than {0} bytes; write several")]
    Length(usize),
}

/// Returns the name that is most similar to `wrong`; of names that are equally similar, the first.
pub fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |name: &&str| strsim::damerau_levenshtein(wrong, name);
    names.into_iter().min_by_key(distance)
}
