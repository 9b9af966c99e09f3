//! What proofs assume of arithmetic.

/// What a proof takes for granted about arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ArithmeticAssumption {
    /// Integers do not wrap around.
    Unwrapped,
    /// Counters do not wrap around.
    UnwrappedCounters,
    /// Divisors are not zero.
    NonzeroDivisors,
    /// Arguments and contents by which signed numbers are divided are positive.
    PositiveDivisors,
}
