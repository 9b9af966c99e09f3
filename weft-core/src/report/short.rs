//! Renders a report with one line per finding, `file:line:column: code: message [kernel]`, for editors and `grep`.
//!
//! The position is that at which the other formats show the first site: the innermost source line whose file is at hand. If no
//! file is, it is the outermost line, that of the kernel itself; where the compiler stated no line, it is that of the PTX. The
//! kernel is named with its package, file and launch.

use super::{ReportContext, escape};
use crate::finding::{Advice, Finding, Site, SourceLine};

/// Returns one finding without a line break.
pub fn finding(context: ReportContext<'_>, finding: &Finding) -> String {
    line(context, finding.sites.first(), finding.code.name(), &finding.message)
}

/// Returns one piece of advice without a line break, with its change in place of a code.
pub fn advice(context: ReportContext<'_>, advice: &Advice) -> String {
    let (change, message) = (advice.change, &advice.message);
    match &advice.line {
        Some(own) => at(context, &source_place(context, own), change, message),
        None => line(context, advice.sites.first(), change, message),
    }
}

fn line(context: ReportContext<'_>, site: Option<&Site>, code: &str, message: &str) -> String {
    let place = site.map_or_else(|| escape(context.ptx).into_owned(), |site| place(context, site));
    at(context, &place, code, message)
}

fn at(context: ReportContext<'_>, place: &str, code: &str, message: &str) -> String {
    format!("{place}: {code}: {} [{}]", escape(message), escape(context.name))
}

/// Returns the place of a line of a source.
fn source_place(context: ReportContext<'_>, line: &SourceLine) -> String {
    let path = context.path(&line.file);
    format!("{}:{}:{}", escape(&path), line.line, line.column.max(1))
}

/// Returns the place of a site: line and column of the source if that is known, otherwise of the PTX. Of inlined code it is the
/// line that can be read, which is not one of a header of the compiler.
pub fn place(context: ReportContext<'_>, site: &Site) -> String {
    let has_line = |own: &&SourceLine| {
        context.sources.text(&own.file).is_some_and(|text| text.line(own.line).is_some())
    };
    match site.source.iter().find(has_line).or(site.source.last()) {
        Some(line) => source_place(context, line),
        None => format!("{}:{}", escape(context.ptx), site.ptx),
    }
}
