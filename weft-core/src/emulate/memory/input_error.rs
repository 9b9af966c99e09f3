//! What is wrong with an argument.

/// An argument that the kernel cannot take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// As given.
    pub position: usize,
    /// What is wrong and what would be right.
    pub reason: String,
}
