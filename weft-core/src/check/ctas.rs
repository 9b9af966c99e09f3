//! How many ctas of a launch are checked at a time.

/// The number of ctas that are checked first. If there are more and these are clean, `FIRST` times as many are checked,
/// and so on. If they are not clean, the other ctas are not run: further findings of the same kind would not help.
pub(super) const FIRST: u64 = 64;
