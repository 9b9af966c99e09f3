//! What the reader cannot read.

use super::Span;

/// Why a text is not the PTX it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadErrorKind {
    /// Nothing but white space and comments.
    #[error("the file is empty; expected PTX that starts with `.version`")]
    Empty,
    /// No `.version` in front.
    #[error("this is not PTX: expected `.version` first")]
    NoVersion,
    /// A byte that no token starts with.
    #[error("unexpected character {0:?}")]
    Character(char),
    /// The text ends inside something.
    #[error("the text ends inside {0}; the file seems truncated")]
    Truncated(&'static str),
    /// Something else was expected.
    #[error("expected {expected}, found `{found}`")]
    Expected {
        /// What should stand here.
        expected: &'static str,
        /// What does.
        found: String,
    },
    /// A number that does not fit.
    #[error("number `{0}` is out of range")]
    Number(String),
    /// A constant expression without a value.
    #[error("this constant divides by zero, or mixes whole and floating-point numbers")]
    Constant,
    /// A name or a string that is too long.
    #[error("a name or string of more than {} bytes", super::lexer::MAX_NAME)]
    Name,
    /// Braces or vectors nested too deeply.
    #[error("nesting is deeper than {0}")]
    Depth(u32),
    /// Two bodies of one name.
    #[error("function `{0}` is defined a second time")]
    Duplicate(String),
    /// More than 4 GiB of text.
    #[error("the file is larger than 4 GiB")]
    Size,
}

/// An error with the place where it was noticed. Reading goes on at the next statement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct ReadError {
    /// What is wrong.
    pub kind: ReadErrorKind,
    /// Where.
    pub span: Span,
}
