//! The error for an argument that does not fit its parameter.

/// An argument that the kernel cannot take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// Position of the argument.
    pub position: usize,
    /// What is wrong, and what would be right.
    pub reason: String,
}
