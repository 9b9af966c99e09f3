//! A report at one line a finding, `file:line:column: code: message`, for editors and `grep`.
//!
//! The place is the first site's innermost source line where the compiler left one, else its line in the PTX.

use super::escape;
use crate::finding::{Advice, Finding, Report, Site};

/// One line for each finding; empty for a clean report. `ptx` is the path of the PTX as it is to be shown.
pub fn report(ptx: &str, report: &Report) -> String {
    report.findings.iter().map(|each| finding(ptx, each) + "\n").collect()
}

/// One finding without a line break.
pub fn finding(ptx: &str, finding: &Finding) -> String {
    let message = escape(&finding.message);
    let code = finding.code;
    let Some(site) = finding.sites.first() else {
        return format!("{}: {code}: {message}", escape(ptx));
    };
    format!("{}: {code}: {message}", place(ptx, site))
}

/// One advice without a line break, its change in place of a code.
pub fn advice(ptx: &str, advice: &Advice) -> String {
    format!("{}: {}: {}", place(ptx, &advice.site), advice.change, escape(&advice.message))
}

fn place(ptx: &str, site: &Site) -> String {
    match site.source.first() {
        Some(line) => format!("{}:{}:{}", escape(&line.file), line.line, line.column.max(1)),
        None => format!("{}:{}", escape(ptx), site.ptx),
    }
}
