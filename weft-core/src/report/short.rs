//! Renders a report with one line per finding, `file:line:column: code: message`, for editors and `grep`.
//!
//! The position is the innermost source line of the first site, if the compiler stated one, otherwise its line in the
//! PTX.

use super::escape;
use crate::finding::{Advice, Finding, Report, Site};

/// Returns one line for each finding that a reader is told ([`Report::told`]); empty if there are none. `ptx`: the path
/// of the PTX to show.
pub fn report(ptx: &str, report: &Report) -> String {
    report.told().map(|each| finding(ptx, each) + "\n").collect()
}

/// Returns one finding without a line break.
pub fn finding(ptx: &str, finding: &Finding) -> String {
    let message = escape(&finding.message);
    let code = finding.code;
    let Some(site) = finding.sites.first() else {
        return format!("{}: {code}: {message}", escape(ptx));
    };
    format!("{}: {code}: {message}", place(ptx, site))
}

/// Returns one piece of advice without a line break, with its change in place of a code.
pub fn advice(ptx: &str, advice: &Advice) -> String {
    let place =
        advice.sites.first().map_or_else(|| escape(ptx).into_owned(), |site| place(ptx, site));
    format!("{place}: {}: {}", advice.change, escape(&advice.message))
}

fn place(ptx: &str, site: &Site) -> String {
    match site.source.first() {
        Some(line) => format!("{}:{}:{}", escape(&line.file), line.line, line.column.max(1)),
        None => format!("{}:{}", escape(ptx), site.ptx),
    }
}
