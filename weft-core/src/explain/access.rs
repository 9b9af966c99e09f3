//! The name of an access in messages, and its role in a finding.

use crate::emulate::AccessKind;
use crate::finding::Role;

/// Returns the name of an access in a sentence, and its role in a finding.
pub(super) const fn word(kind: AccessKind) -> (&'static str, Role) {
    if kind.is_atomic {
        ("atomic", Role::Atomic)
    } else if kind.writes {
        ("write", Role::Write)
    } else {
        ("read", Role::Read)
    }
}
