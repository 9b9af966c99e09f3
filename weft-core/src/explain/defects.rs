//! Defects of synchronization.

use crate::finding::{Check, Code, Finding, Site};

/// Returns a finding about barriers or mbarrier objects.
pub(super) fn defect(
    code: Code,
    message: String,
    sites: Vec<Site>,
    notes: Vec<String>,
    help: &str,
) -> Finding {
    let help = Some(help.to_owned());
    Finding { code, check: Some(Check::Barriers), message, sites, notes, help, pairs: None }
}
