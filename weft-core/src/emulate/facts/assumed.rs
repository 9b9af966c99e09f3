//! What the runs of a check take for granted of open values.

/// What the runs of a check take for granted.
#[allow(clippy::struct_excessive_bools, reason = "each is a sentence of its own")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Assumed {
    /// A sum that drifts by no power of two was taken not to wrap around.
    pub indices: bool,
    /// A loop ends that waits for an open value.
    pub waits_end: bool,
    /// A store at an open address stays within the variable that it starts from.
    pub variables: bool,
    /// A load of shared memory at an open address reads what was written.
    pub written: bool,
    /// An open index leads to one of the targets of a branch.
    pub targets: bool,
}

impl Assumed {
    /// Takes in what other runs of the check take for granted.
    pub fn join(&mut self, other: Self) {
        let Self { indices, waits_end, variables, written, targets } = other;
        self.indices |= indices;
        self.waits_end |= waits_end;
        self.variables |= variables;
        self.written |= written;
        self.targets |= targets;
    }
}
