//! Renders a report with one line per finding, `file:line:column: code: message [kernel]`, for editors and `grep`.
//!
//! The position is the innermost source line of the first site, if the compiler stated one, otherwise its line in the
//! PTX. The kernel is named with its package, file and launch.

use super::{ReportContext, escape};
use crate::finding::{Advice, Finding, Site};

/// Returns one finding without a line break.
pub fn finding(context: ReportContext<'_>, finding: &Finding) -> String {
    line(context, finding.sites.first(), finding.code.name(), &finding.message)
}

/// Returns one piece of advice without a line break, with its change in place of a code. Advice whose own place is between two
/// lines is at the first of them.
pub fn advice(context: ReportContext<'_>, advice: &Advice) -> String {
    let in_source = advice.sites.iter().find(|site| !site.source.is_empty());
    line(context, in_source.or(advice.sites.first()), advice.change, &advice.message)
}

fn line(context: ReportContext<'_>, site: Option<&Site>, code: &str, message: &str) -> String {
    let place = site.map_or_else(|| escape(context.ptx).into_owned(), |site| place(context, site));
    format!("{place}: {code}: {} [{}]", escape(message), escape(context.name))
}

/// Returns the place of a site: line and column of the source if that is known, otherwise of the PTX.
pub fn place(context: ReportContext<'_>, site: &Site) -> String {
    match site.source.first() {
        Some(line) => {
            let path = context.path(&line.file);
            format!("{}:{}:{}", escape(&path), line.line, line.column.max(1))
        }
        None => format!("{}:{}", escape(context.ptx), site.ptx),
    }
}
