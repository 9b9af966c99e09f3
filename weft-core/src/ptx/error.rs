//! Errors of the PTX reader, each with the span of text that it concerns.

use super::Span;

/// Why a text cannot be read as PTX.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadErrorKind {
    /// The text holds only white space and comments.
    #[error("the file is empty; expected PTX that starts with `.version`")]
    Empty,
    /// The text does not start with `.version`.
    #[error("this is not PTX: expected `.version` first")]
    NoVersion,
    /// A byte that no token starts with.
    #[error("unexpected character {0:?}")]
    Character(char),
    /// The text ends inside a construct, which is named.
    #[error("the text ends inside {0}; the file seems truncated")]
    Truncated(&'static str),
    /// A token differs from the expected one.
    #[error("expected {expected}, found `{found}`")]
    Expected {
        /// The token that should stand here.
        expected: &'static str,
        /// The token that stands here instead.
        found: String,
    },
    /// A number that does not fit its place.
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
    /// Two functions of the same name have a body.
    #[error("function `{0}` is defined a second time")]
    Duplicate(String),
    /// More than 4 GiB of text.
    #[error("the file is larger than 4 GiB")]
    Size,
}

/// A reader's error and where it was noticed. Reading continues with the next statement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct ReadError {
    /// What is wrong.
    pub kind: ReadErrorKind,
    /// Where the error was noticed.
    pub span: Span,
}
