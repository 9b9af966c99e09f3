//! The standing of a kernel under a launch: its verdict, and whether the configuration accepts it or leaves it out.

use weft_core::finding::{Class, Finding, Verdict};

/// What came of a kernel under a launch. Ordered by severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Standing {
    /// Proved.
    Clean,
    /// Nothing remains of its defects and open questions but what an `allow` or the baseline accepts.
    Allowed,
    /// Not checked, because the configuration says so.
    Skipped,
    /// Neither proved nor refuted.
    Open,
    /// Refuted.
    Defect,
    /// It could not be checked.
    Unchecked,
}

impl Standing {
    /// Returns the standing of a kernel with `verdict` on what is not accepted, of which `accepted` are accepted.
    pub(super) fn of<'f>(
        verdict: Verdict,
        accepted: impl IntoIterator<Item = &'f Finding>,
    ) -> Self {
        let mut accepted = accepted.into_iter();
        match verdict {
            Verdict::Defect => Self::Defect,
            Verdict::Open => Self::Open,
            Verdict::Clean if accepted.any(|own| own.code.class() != Class::Warning) => {
                Self::Allowed
            }
            Verdict::Clean => Self::Clean,
        }
    }

    /// Returns the word used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clean => Verdict::Clean.name(),
            Self::Allowed => "allowed",
            Self::Skipped => "skipped",
            Self::Open => Verdict::Open.name(),
            Self::Defect => Verdict::Defect.name(),
            Self::Unchecked => "unchecked",
        }
    }
}
