//! Renders a run as SARIF 2.1.0, the exchange format of static analysers: one document with one run.
//!
//! The rules are the finding codes. A result is a finding; what a configuration accepts is a result that is suppressed.
//! Kernels that were skipped or could not be checked are notifications. The structs here and in `sarif/` mirror the
//! objects of the standard (<https://docs.oasis-open.org/sarif/sarif/v2.1.0/>), as far as they are used.

mod objects;
mod rules;

use std::collections::BTreeMap;

use super::checked::{CheckResult, Checked, INVALID_LAUNCH, RunEnd, RunProblem};
use super::escape::escape_json;
use super::place::{FilePlace, Located, facts, located};
use crate::finding::{Code, Finding};
use objects::{
    ArtifactLocation, Driver, Invocation, Location, Log, LogicalLocation, Message, Notification,
    PhysicalLocation, Reference, RegionObject, ResultObject, Run, Suppression, Tool, UriBase,
};

/// The name of the folder that relative paths are relative to.
const ROOT: &str = "%SRCROOT%";
/// The name of the fingerprint; its number changes with what it is made of.
const FINGERPRINT: &str = "weftFinding/v1";
/// The notification about a kernel, file or package that could not be checked.
const UNCHECKED: &str = "unchecked";
/// The notification about a kernel that the configuration leaves out.
const SKIPPED: &str = "skipped";

/// Gathers the results of a run.
#[derive(Debug, Default)]
pub struct Sarif {
    results: Vec<ResultObject>,
    notifications: Vec<Notification>,
}

impl Sarif {
    /// Adds the results of a kernel.
    pub fn add(&mut self, checked: &Checked<'_>) {
        match &checked.result {
            CheckResult::Report { .. } => {
                let findings = checked.result.findings();
                self.results.extend(findings.map(|(own, allowed)| result(checked, own, allowed)));
            }
            CheckResult::Skipped(reason) => {
                let text = format!("{}: skipped: {reason}", checked.name);
                self.notifications.push(notification(SKIPPED, "note", text, Some(checked)));
            }
            CheckResult::Unchecked(reason) => {
                let text = format!("{}: {reason}", checked.name);
                self.notifications.push(notification(UNCHECKED, "error", text, Some(checked)));
            }
        }
    }

    /// Adds a problem that concerns no kernel.
    pub fn problem(&mut self, problem: &RunProblem) {
        let text = format!("{}: {}", problem.name, problem.message);
        let word = if problem.is_defect { INVALID_LAUNCH } else { UNCHECKED };
        self.notifications.push(notification(word, "error", text, None));
    }

    /// Returns the document, without a line break at its end.
    pub fn document(self, end: RunEnd) -> String {
        let description = "the root of the repository, or else the folder of the check";
        let base = UriBase { description: Message::new(description) };
        let log = Log {
            schema: "https://json.schemastore.org/sarif-2.1.0.json",
            version: "2.1.0",
            runs: [Run {
                tool: Tool { driver: driver() },
                invocations: [Invocation {
                    execution_successful: end.counts.unchecked == 0,
                    exit_code: end.exit_code,
                    tool_execution_notifications: self.notifications,
                }],
                original_uri_base_ids: BTreeMap::from([(ROOT, base)]),
                column_kind: "unicodeCodePoints",
                results: self.results,
            }],
        };
        let text = serde_json::to_string_pretty(&log);
        lines(&text.expect("the mirror structs hold nothing that JSON cannot"))
    }
}

/// Escapes what is unsafe to print in JSON of several lines.
fn lines(json: &str) -> String {
    json.lines().map(escape_json).collect::<Vec<_>>().join("\n")
}

fn driver() -> Driver {
    Driver {
        name: "cargo-weft",
        version: env!("CARGO_PKG_VERSION"),
        semantic_version: env!("CARGO_PKG_VERSION"),
        information_uri: env!("CARGO_PKG_REPOSITORY"),
        rules: rules::all(),
        notifications: vec![
            rules::notification(UNCHECKED, "something could not be checked"),
            rules::notification(INVALID_LAUNCH, "a call of a recorded program that CUDA refuses"),
            rules::notification(SKIPPED, "the configuration says that it is not to be checked"),
        ],
    }
}

fn notification(
    id: &'static str,
    level: &'static str,
    text: String,
    checked: Option<&Checked<'_>>,
) -> Notification {
    let location = |checked: &Checked<'_>| Location {
        id: None,
        message: None,
        physical_location: physical(checked.subject.file, None),
        logical_locations: logical(checked),
    };
    Notification {
        descriptor: Reference { id },
        level,
        message: Message::new(text),
        locations: checked.map(location).into_iter().collect(),
    }
}

fn result(checked: &Checked<'_>, finding: &Finding, allowed: Option<&str>) -> ResultObject {
    let located = located(checked, finding);
    let rule_id = finding.code.name();
    let mut text = vec![finding.message.clone()];
    text.extend(facts(&located, finding));
    let fingerprint = [rule_id, checked.name, &finding.message].join("|");
    ResultObject {
        rule_id,
        rule_index: Code::ALL.iter().position(|code| *code == finding.code),
        level: rules::level(finding.code),
        message: Message::new(text.join("\n")),
        locations: vec![primary(checked, located.first())],
        related_locations: related(checked, &located),
        partial_fingerprints: BTreeMap::from([(FINGERPRINT, fingerprint)]),
        suppressions: allowed
            .map(|reason| Suppression {
                kind: "external",
                status: "accepted",
                justification: reason.to_owned(),
            })
            .into_iter()
            .collect(),
    }
}

/// Returns the location of a result: its first site, or the whole file of a finding whose place is not known.
fn primary(checked: &Checked<'_>, first: Option<&Located>) -> Location {
    let physical_location = match first {
        Some(own) => physical(&own.shown.file, Some(&own.shown)),
        None => physical(checked.subject.file, None),
    };
    Location {
        id: None,
        message: first.and_then(|own| labelled(&own.label)),
        physical_location,
        logical_locations: logical(checked),
    }
}

/// Returns the other locations of a result: the PTX of its first site if the source is its place, then the other sites.
fn related(checked: &Checked<'_>, located: &[Located]) -> Vec<Location> {
    let of_ptx = |own: &Located| {
        let label = format!("in the PTX of `{}`: {}", checked.subject.demangled, own.label);
        own.ptx.clone().map(|place| (place, label))
    };
    let first = located.first().and_then(of_ptx);
    let others = located.iter().skip(1).flat_map(|own| {
        [Some((own.shown.clone(), own.label.clone())), of_ptx(own)].into_iter().flatten()
    });
    (1..)
        .zip(first.into_iter().chain(others))
        .map(|(id, (place, label))| Location {
            id: Some(id),
            message: labelled(&label),
            physical_location: physical(&place.file, Some(&place)),
            logical_locations: Vec::new(),
        })
        .collect()
}

fn labelled(label: &str) -> Option<Message> {
    (!label.is_empty()).then(|| Message::new(label))
}

/// Returns the kernel, with the label of its launch; nothing for a file that cannot be read.
fn logical(checked: &Checked<'_>) -> Vec<LogicalLocation> {
    let label = checked.subject.label.map(|label| format!("@{label}")).unwrap_or_default();
    let kernel = || LogicalLocation {
        name: format!("{}{label}", checked.subject.demangled),
        decorated_name: checked.kernel.to_owned(),
        fully_qualified_name: checked.name.to_owned(),
        kind: "function",
    };
    (!checked.kernel.is_empty()).then(kernel).into_iter().collect()
}

fn physical(file: &str, place: Option<&FilePlace>) -> PhysicalLocation {
    let is_absolute = file.starts_with('/') || file.get(1..3) == Some(":/");
    let artifact_location = if is_absolute {
        let slash = if file.starts_with('/') { "" } else { "/" };
        ArtifactLocation { uri: format!("file://{slash}{}", encoded(file)), uri_base_id: None }
    } else {
        ArtifactLocation { uri: encoded(file), uri_base_id: Some(ROOT) }
    };
    let region = place.map(|place| RegionObject {
        start_line: place.line,
        start_column: place.columns.start,
        end_column: place.columns.end,
        snippet: place.text.as_deref().map(|text| {
            let part = text.chars().skip(place.columns.start - 1).take(place.columns.len());
            Message::new(part.collect::<String>())
        }),
    });
    PhysicalLocation { artifact_location, region }
}

/// Returns a path in the form of a URI (RFC 3986): all but unreserved characters and `/` are percent-encoded.
fn encoded(path: &str) -> String {
    let part = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    path.bytes().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        let uri = |file| {
            let location = physical(file, None).artifact_location;
            (location.uri, location.uri_base_id)
        };
        assert_eq!(uri("a b/ü\"%.cu"), ("a%20b/%C3%BC%22%25.cu".to_owned(), Some(ROOT)));
        assert_eq!(uri("a:b.ptx"), ("a%3Ab.ptx".to_owned(), Some(ROOT)));
        assert_eq!(uri("/out/a.ptx"), ("file:///out/a.ptx".to_owned(), None));
        assert_eq!(uri("C:/out/a.ptx"), ("file:///C%3A/out/a.ptx".to_owned(), None));
    }
}
