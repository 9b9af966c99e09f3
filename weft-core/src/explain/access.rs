//! The name of an access in messages, and its role in a finding.

use crate::emulate::AccessKind;
use crate::finding::Role;

/// Returns the name of an access in a sentence, and its role in a finding.
pub(super) const fn word(kind: AccessKind) -> (&'static str, Role) {
    match (kind.is_atomic(), kind.is_asynchronous(), kind.writes) {
        (true, ..) => ("atomic", Role::Atomic),
        (_, true, true) => ("asynchronous write", Role::Write),
        (_, true, false) => ("asynchronous read", Role::Read),
        (_, _, true) => ("write", Role::Write),
        _ => ("read", Role::Read),
    }
}
