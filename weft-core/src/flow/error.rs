//! The reasons why a kernel cannot be linked, and the limits of the linker.

use crate::ptx::Span;

/// The most lines of linked code: bounds the growth by nested calls.
pub(super) const MAX_LINES: usize = 1_000_000;

/// The most loops nested in each other, counting the loops around a function's calls: a block keeps a record for each.
pub(super) const MAX_NESTING: usize = 128;

/// The most bytes of a kernel's parameters (PTX ISA §5.1.6.1).
pub(super) const MAX_PARAMETERS: u64 = 32764;

/// Why a kernel cannot be linked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkErrorKind {
    /// A name that nothing declares.
    #[error("`{0}` is not declared")]
    Undeclared(String),
    /// An operand that the instruction cannot have.
    #[error("`{mnemonic}` does not take these operands; expected {expected}")]
    Operand {
        /// The instruction.
        mnemonic: String,
        /// The operands that it takes.
        expected: &'static str,
    },
    /// The call's arguments differ from the function's parameters.
    #[error("the call does not fit the parameters of `{0}`")]
    Call(String),
    /// A variable that does not fit into its state space.
    #[error("`{0}` does not fit into its state space")]
    Layout(String),
    /// Too many loops within loops.
    #[error("more than {MAX_NESTING} loops within each other")]
    Nesting,
    /// Too many or too large parameters.
    #[error("the parameters take more than {MAX_PARAMETERS} bytes")]
    Parameters,
    /// Too much code.
    #[error("more than {MAX_LINES} instructions and labels once device functions are linked in")]
    Size,
}

/// A link error and the instruction or declaration in the PTX that it concerns.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct LinkError {
    /// What is wrong.
    pub kind: LinkErrorKind,
    /// The text that it concerns.
    pub span: Span,
}

pub(super) fn undeclared(name: &str, span: Span) -> LinkError {
    LinkError { kind: LinkErrorKind::Undeclared(name.into()), span }
}
