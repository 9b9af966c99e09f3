//! Renders findings as the messages of a compiler, in the form in which cargo passes them on: what editors read from
//! `cargo check --message-format json`. One JSON object a line.

use serde::Serialize;

use super::checked::{CheckResult, Checked, RunEnd, RunProblem};
use super::escape::escape_json;
use super::place::{FilePlace, facts, located};
use super::{escape, human};
use crate::finding::{Class, Finding};

/// The package and target that messages are about, in cargo's terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageOrigin {
    /// The id of the package.
    pub package_id: String,
    /// The path of its `Cargo.toml`.
    pub manifest_path: String,
    /// The target.
    pub target: MessageTarget,
}

/// A target of a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MessageTarget {
    /// What it is, such as `lib`.
    pub kind: Vec<String>,
    /// What is made of it, such as `rlib`.
    pub crate_types: Vec<String>,
    /// Its name.
    pub name: String,
    /// The path of its first file.
    pub src_path: String,
    /// The edition, such as `2024`.
    pub edition: String,
    /// Whether its documentation is written by default.
    pub doc: bool,
    /// Whether the tests of its documentation are run.
    pub doctest: bool,
    /// Whether it has tests.
    pub test: bool,
}

/// Returns the messages about a kernel, one a line, each with a line break; empty if there is nothing to tell.
pub fn kernel(checked: &Checked<'_>, origin: &MessageOrigin) -> String {
    match &checked.result {
        CheckResult::Report { remaining, .. } => {
            remaining.told().map(|own| line(origin, &finding(checked, own))).collect()
        }
        CheckResult::Skipped(_) => String::new(),
        CheckResult::Unchecked(reason) => {
            line(origin, &failure(&format!("{} could not be checked: {reason}", checked.name)))
        }
    }
}

/// Returns the message about a problem that concerns no kernel, with a line break.
pub fn problem(problem: &RunProblem, origin: &MessageOrigin) -> String {
    line(origin, &failure(&format!("{}: {}", problem.name, problem.message)))
}

/// Returns the last line, with a line break.
pub fn finished(end: RunEnd) -> String {
    text(&Finished { reason: "build-finished", success: end.exit_code == 0 })
}

#[derive(Serialize)]
struct Line<'a> {
    reason: &'static str,
    package_id: &'a str,
    manifest_path: &'a str,
    target: &'a MessageTarget,
    message: &'a Diagnostic,
}

#[derive(Serialize)]
struct Finished {
    reason: &'static str,
    success: bool,
}

#[derive(Serialize)]
struct Diagnostic {
    #[serde(rename = "$message_type")]
    message_type: &'static str,
    message: String,
    code: Option<DiagnosticCode>,
    level: &'static str,
    spans: Vec<MessageSpan>,
    children: Vec<Diagnostic>,
    rendered: Option<String>,
}

#[derive(Serialize)]
struct DiagnosticCode {
    code: &'static str,
    explanation: &'static str,
}

#[derive(Serialize)]
struct MessageSpan {
    file_name: String,
    byte_start: usize,
    byte_end: usize,
    line_start: u32,
    line_end: u32,
    column_start: usize,
    column_end: usize,
    is_primary: bool,
    text: Vec<SpanLine>,
    label: Option<String>,
    suggested_replacement: Option<String>,
    suggestion_applicability: Option<String>,
    /// Always null: PTX knows no macros.
    expansion: Option<String>,
}

#[derive(Serialize)]
struct SpanLine {
    text: String,
    highlight_start: usize,
    highlight_end: usize,
}

fn line(origin: &MessageOrigin, message: &Diagnostic) -> String {
    let MessageOrigin { package_id, manifest_path, target } = origin;
    text(&Line { reason: "compiler-message", package_id, manifest_path, target, message })
}

fn text(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value);
    escape_json(&text.expect("the mirror structs hold nothing that JSON cannot")) + "\n"
}

fn finding(checked: &Checked<'_>, finding: &Finding) -> Diagnostic {
    let located = located(checked, finding);
    let rendered = human::finding(checked.context(), finding);
    let shown = located.iter().enumerate();
    let mut spans: Vec<MessageSpan> =
        shown.map(|(at, own)| span(&own.shown, &own.label, at == 0)).collect();
    let in_ptx = located.iter().filter_map(|own| Some(span(own.ptx.as_ref()?, &own.label, false)));
    spans.extend(in_ptx);
    let mut children = vec![child("note", format!("kernel `{}`", escape(checked.name)))];
    children.extend(facts(&located, finding).iter().map(|fact| {
        let (level, message) = match fact.split_once(": ") {
            Some(("help", help)) => ("help", help),
            Some((_, note)) => ("note", note),
            None => ("note", fact.as_str()),
        };
        child(level, message.to_owned())
    }));
    Diagnostic {
        message_type: "diagnostic",
        message: finding.message.clone(),
        code: Some(DiagnosticCode { code: finding.code.name(), explanation: finding.code.page() }),
        level: match finding.code.class() {
            Class::Defect => "error",
            Class::Open => "warning",
            Class::Warning => "note",
        },
        spans,
        children,
        rendered: Some(rendered),
    }
}

/// Returns the message about something that could not be checked.
fn failure(message: &str) -> Diagnostic {
    let rendered = message.lines().map(escape).collect::<Vec<_>>().join("\n");
    Diagnostic {
        rendered: Some(format!("error: {rendered}\n")),
        ..child("error", message.to_owned())
    }
}

fn child(level: &'static str, message: String) -> Diagnostic {
    Diagnostic {
        message_type: "diagnostic",
        message,
        code: None,
        level,
        spans: Vec::new(),
        children: Vec::new(),
        rendered: None,
    }
}

fn span(place: &FilePlace, label: &str, is_primary: bool) -> MessageSpan {
    let text = place.text.iter().map(|text| SpanLine {
        text: text.clone(),
        highlight_start: place.columns.start,
        highlight_end: place.columns.end,
    });
    MessageSpan {
        file_name: place.file.clone(),
        byte_start: place.bytes.start,
        byte_end: place.bytes.end,
        line_start: place.line,
        line_end: place.line,
        column_start: place.columns.start,
        column_end: place.columns.end,
        is_primary,
        text: text.collect(),
        label: (!label.is_empty()).then(|| label.to_owned()),
        suggested_replacement: None,
        suggestion_applicability: None,
        expansion: None,
    }
}
