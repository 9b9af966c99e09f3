//! Renders a run as JUnit XML, in the form that nextest writes and that GitLab and Jenkins read: a suite for each PTX
//! file, and a case for each kernel, launch and check, under the names that `cargo test` uses.
//!
//! A check that is not clean is a failure whose type is the code of its first finding. What is accepted or left out by the
//! configuration is skipped, what could not be checked is an error. No times are stated: a check gives three cases.

use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::checked::{CheckResult, Checked, INVALID_LAUNCH, RunProblem};
use super::{escape, human};
use crate::finding::{Check, Class, Finding, Report, Verdict};

/// The suite of the problems that concern no kernel.
const PROBLEMS: &str = "cargo-weft";

/// Gathers the cases of a run.
#[derive(Debug, Default)]
pub struct Junit {
    suites: Vec<Suite>,
}

#[derive(Debug)]
struct Suite {
    name: String,
    cases: Vec<Case>,
}

#[derive(Debug)]
struct Case {
    name: String,
    file: Option<String>,
    outcome: CaseOutcome,
}

#[derive(Debug)]
enum CaseOutcome {
    /// The text has warnings, if there are any.
    Success { text: String },
    /// `kind`: the code of the first finding, or the verdict.
    Failure { kind: &'static str, message: String, text: String },
    /// It could not be checked.
    Error { text: String },
    /// It is left out, or what was found is accepted.
    Skipped { message: String },
}

impl Junit {
    /// Adds the cases of a kernel.
    pub fn add(&mut self, checked: &Checked<'_>) {
        let file = Some(checked.subject.file.to_owned());
        let cases = if checked.kernel.is_empty() {
            let name = checked.name.to_owned();
            vec![Case { name, file, outcome: outcome(checked, Check::Barriers) }]
        } else {
            Check::ALL
                .map(|check| Case {
                    name: format!("{}::{}", checked.name, check.name()),
                    file: file.clone(),
                    outcome: outcome(checked, check),
                })
                .into()
        };
        self.suite(checked.suite).extend(cases);
    }

    /// Adds a problem that concerns no kernel.
    pub fn problem(&mut self, problem: &RunProblem) {
        let text = problem.message.clone();
        let outcome = if problem.is_defect {
            let message = text.lines().next().unwrap_or_default().to_owned();
            CaseOutcome::Failure { kind: INVALID_LAUNCH, message, text }
        } else {
            CaseOutcome::Error { text }
        };
        let case = Case { name: problem.name.clone(), file: None, outcome };
        self.suite(PROBLEMS).push(case);
    }

    /// Returns the cases of the suite with this name.
    fn suite(&mut self, name: &str) -> &mut Vec<Case> {
        let at = self.suites.iter().position(|suite| suite.name == name).unwrap_or_else(|| {
            self.suites.push(Suite { name: name.to_owned(), cases: Vec::new() });
            self.suites.len() - 1
        });
        &mut self.suites[at].cases
    }

    /// Returns the document, without a line break at its end.
    pub fn document(&self) -> String {
        let mut writer = Writer::new_with_indent(Vec::new(), b' ', 4);
        self.write(&mut writer).expect("a vector takes all bytes");
        String::from_utf8(writer.into_inner()).expect("all parts are text")
    }

    fn write(&self, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
        writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        let all = || self.suites.iter().flat_map(|suite| &suite.cases);
        let suites = writer.create_element("testsuites").with_attribute(("name", PROBLEMS));
        suites.with_attributes(attributes(&counts(all()))).write_inner_content(|writer| {
            self.suites.iter().try_for_each(|suite| suite.write(writer))
        })?;
        Ok(())
    }
}

impl Suite {
    fn write(&self, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
        let name = one_line(&self.name);
        let suite = writer.create_element("testsuite").with_attribute(("name", name.as_str()));
        suite.with_attributes(attributes(&counts(self.cases.iter()))).write_inner_content(
            |writer| self.cases.iter().try_for_each(|case| case.write(&name, writer)),
        )?;
        Ok(())
    }
}

impl Case {
    fn write(&self, suite: &str, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
        let name = one_line(&self.name);
        let file = self.file.as_deref().map(one_line);
        let case = writer
            .create_element("testcase")
            .with_attributes([("name", name.as_str()), ("classname", suite)])
            .with_attributes(file.as_deref().map(|file| ("file", file)));
        match &self.outcome {
            CaseOutcome::Success { text } if text.is_empty() => case.write_empty()?,
            outcome => case.write_inner_content(|writer| outcome.write(writer))?,
        };
        Ok(())
    }
}

impl CaseOutcome {
    fn write(&self, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
        match self {
            Self::Success { text } => {
                writer.create_element("system-out").write_text_content(content(&lines(text)))?
            }
            Self::Failure { kind, message, text } => writer
                .create_element("failure")
                .with_attributes([("type", *kind), ("message", &one_line(message))])
                .write_text_content(content(&lines(text)))?,
            Self::Error { text } => {
                let message = one_line(text.lines().next().unwrap_or_default());
                writer
                    .create_element("error")
                    .with_attributes([("type", "unchecked"), ("message", &message)])
                    .write_text_content(content(&lines(text)))?
            }
            Self::Skipped { message } => writer
                .create_element("skipped")
                .with_attribute(("message", one_line(message).as_str()))
                .write_empty()?,
        };
        Ok(())
    }
}

/// Returns what came of one check of a kernel.
fn outcome(checked: &Checked<'_>, check: Check) -> CaseOutcome {
    let (remaining, accepted) = match &checked.result {
        CheckResult::Report { remaining, accepted } => (*remaining, accepted),
        CheckResult::Skipped(reason) => {
            return CaseOutcome::Skipped { message: (*reason).to_owned() };
        }
        CheckResult::Unchecked(reason) => return CaseOutcome::Error { text: (*reason).to_owned() },
    };
    if remaining.verdict_of(check) != Verdict::Clean {
        return failure(checked, remaining, check);
    }
    let mut reasons: Vec<String> = Vec::new();
    for (finding, reason) in accepted {
        let reason = format!("allowed: {reason}");
        let counts = is_of(finding, check) && finding.code.class() != Class::Warning;
        if counts && !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    if reasons.is_empty() {
        CaseOutcome::Success { text: findings(checked, remaining, check) }
    } else {
        CaseOutcome::Skipped { message: reasons.join("; ") }
    }
}

fn failure(checked: &Checked<'_>, remaining: &Report, check: Check) -> CaseOutcome {
    let is_reason = |own: &&Finding| is_of(own, check) && own.code.class() != Class::Warning;
    let summary = human::summary(checked.context(), remaining);
    let Some(first) = remaining.told().find(is_reason) else {
        let message = "races can only be judged once the barriers are sound".to_owned();
        return CaseOutcome::Failure {
            kind: Verdict::Open.name(),
            text: format!("open: {message}\n\n{summary}"),
            message,
        };
    };
    CaseOutcome::Failure {
        kind: first.code.name(),
        message: first.message.clone(),
        text: findings(checked, remaining, check) + &summary,
    }
}

fn is_of(finding: &Finding, check: Check) -> bool {
    finding.check.is_none_or(|own| own == check)
}

/// Returns the findings of a check in the form for people, each with an empty line behind it.
fn findings(checked: &Checked<'_>, remaining: &Report, check: Check) -> String {
    let own = remaining.told().filter(|finding| is_of(finding, check));
    own.map(|finding| human::finding(checked.context(), finding) + "\n").collect()
}

/// Returns the numbers of cases, failures, errors and skipped cases.
fn counts<'a>(cases: impl Iterator<Item = &'a Case>) -> [String; 4] {
    let mut counts = [0; 4];
    for case in cases {
        counts[0] += 1;
        match case.outcome {
            CaseOutcome::Success { .. } => {}
            CaseOutcome::Failure { .. } => counts[1] += 1,
            CaseOutcome::Error { .. } => counts[2] += 1,
            CaseOutcome::Skipped { .. } => counts[3] += 1,
        }
    }
    counts.map(|count| count.to_string())
}

fn attributes(counts: &[String; 4]) -> [(&str, &str); 4] {
    let [tests, failures, errors, skipped] = counts;
    [("tests", tests), ("failures", failures), ("errors", errors), ("skipped", skipped)]
}

fn content(text: &str) -> BytesText<'_> {
    BytesText::new(text)
}

/// Makes a text safe to print and valid in XML, which has no control characters even in escaped form.
fn one_line(text: &str) -> String {
    escape(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

fn lines(text: &str) -> String {
    text.lines().map(one_line).collect::<Vec<_>>().join("\n")
}
