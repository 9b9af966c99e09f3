//! Renders findings as GitHub's workflow commands, which annotate the lines of a commit, and the table of a job's summary.
//!
//! The commands are those of <https://docs.github.com/actions/reference/workflow-commands-for-github-actions>. A kernel
//! gives a line for each finding that a reader is told; accepted findings and skipped kernels are only counted.

use super::checked::{CheckResult, Checked, INVALID_LAUNCH, RunEnd, RunProblem};
use super::escape;
use super::place::{FilePlace, facts, located};
use crate::finding::{Class, Finding};

/// The most findings in the table of the summary, which GitHub limits to 1 MiB.
const LISTED: usize = 200;
/// The most bytes of a text in a cell of the table.
const CELL: usize = 1000;

/// Returns the commands for a kernel, one a line, each with a line break; empty if there is nothing to tell.
pub fn kernel(checked: &Checked<'_>) -> String {
    match &checked.result {
        CheckResult::Report { remaining, .. } => {
            remaining.told().map(|own| finding(checked, own)).collect()
        }
        CheckResult::Skipped(_) => String::new(),
        CheckResult::Unchecked(reason) => {
            let title = format!("{} could not be checked", checked.name);
            command("error", &[("file", checked.subject.file), ("title", &title)], reason)
        }
    }
}

/// Returns the command for a problem that concerns no kernel, with a line break.
pub fn problem(problem: &RunProblem) -> String {
    command("error", &[("title", &problem.name)], &problem.message)
}

fn finding(checked: &Checked<'_>, finding: &Finding) -> String {
    let word = match finding.code.class() {
        Class::Defect => "error",
        Class::Open => "warning",
        Class::Warning => "notice",
    };
    let located = located(checked, finding);
    let mut message = vec![finding.message.clone()];
    message.extend(located.iter().filter(|own| !own.label.is_empty()).map(|own| {
        let FilePlace { file, line, .. } = &own.shown;
        format!("{file}:{line}: {}", own.label)
    }));
    message.extend(facts(&located, finding));
    let title = format!("{}: {}", finding.code, checked.name);
    let place = located.first().map(|own| {
        let FilePlace { line, columns, .. } = &own.shown;
        [line.to_string(), columns.start.to_string(), columns.end.to_string()]
    });
    let file = located.first().map_or(checked.subject.file, |own| &own.shown.file);
    let mut properties = vec![("file", file)];
    if let Some([line, column, end]) = &place {
        properties.extend([("line", line.as_str()), ("col", column), ("endColumn", end)]);
    }
    properties.push(("title", &title));
    command(word, &properties, &message.join("\n"))
}

/// Returns a workflow command with a line break.
fn command(word: &str, properties: &[(&str, &str)], message: &str) -> String {
    let properties: Vec<String> =
        properties.iter().map(|(name, value)| format!("{name}={}", property(value))).collect();
    format!("::{word} {}::{}\n", properties.join(","), data(message))
}

/// Escapes a message. Line breaks stay, in the form that GitHub reads; other control characters do not.
fn data(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| escape(line).replace('%', "%25")).collect();
    lines.join("%0A")
}

/// Escapes the value of a property.
fn property(text: &str) -> String {
    escape(text).replace('%', "%25").replace(':', "%3A").replace(',', "%2C")
}

/// The summary of a job, in Markdown: kernels by verdict, and the findings.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    rows: Vec<String>,
    left_out: usize,
}

impl Summary {
    /// Adds the findings of a kernel, or that it could not be checked.
    pub fn add(&mut self, checked: &Checked<'_>) {
        match &checked.result {
            CheckResult::Report { remaining, .. } => {
                for finding in remaining.told() {
                    let located = located(checked, finding);
                    let place = located.first().map(|own| {
                        let FilePlace { file, line, .. } = &own.shown;
                        format!("{file}:{line}")
                    });
                    let place = place.as_deref().unwrap_or(checked.subject.file);
                    self.row([finding.code.name(), checked.name, place, &finding.message]);
                }
            }
            CheckResult::Skipped(_) => {}
            CheckResult::Unchecked(reason) => {
                self.row(["unchecked", checked.name, checked.subject.file, reason]);
            }
        }
    }

    /// Adds a problem that concerns no kernel.
    pub fn problem(&mut self, problem: &RunProblem) {
        let word = if problem.is_defect { INVALID_LAUNCH } else { "unchecked" };
        self.row([word, &problem.name, "", &problem.message]);
    }

    fn row(&mut self, cells: [&str; 4]) {
        if self.rows.len() == LISTED {
            self.left_out += 1;
        } else {
            self.rows.push(format!("| {} |\n", cells.map(cell).join(" | ")));
        }
    }

    /// Returns the text, with a line break at its end.
    pub fn text(&self, end: RunEnd) -> String {
        let counts = end.counts;
        let verdicts = [
            ("clean", counts.clean),
            ("allowed", counts.allowed),
            ("skipped", counts.skipped),
            ("open", counts.open),
            ("defect", counts.defect),
            ("could not be checked", counts.unchecked),
        ];
        let rows: Vec<String> = verdicts
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(verdict, count)| format!("| {verdict} | {count} |\n"))
            .collect();
        let rows = rows.concat();
        let mut text = format!("### cargo weft\n\n| verdict | kernels |\n|---|---:|\n{rows}\n");
        if !self.rows.is_empty() {
            text += "| finding | kernel | place | message |\n|---|---|---|---|\n";
            text += &self.rows.concat();
            text.push('\n');
        }
        if self.left_out > 0 {
            return format!("{text}and {} more findings\n\n", self.left_out);
        }
        text
    }
}

/// Escapes a text for a cell of a table, on one line, without any effect of Markdown or HTML.
fn cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len() + 8);
    for c in text.lines().map(escape).collect::<Vec<_>>().join(" ").chars() {
        if cell.len() > CELL {
            cell.push('…');
            break;
        }
        match c {
            '&' => cell.push_str("&amp;"),
            '<' => cell.push_str("&lt;"),
            '>' => cell.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '@' | '!' => {
                cell.extend(['\\', c]);
            }
            c => cell.push(c),
        }
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::{cell, command};

    #[test]
    fn commands_are_escaped_as_documented() {
        let properties = [("file", "a:b,c 100%.cu"), ("title", "x\r\n::error::y")];
        assert_eq!(
            command("error", &properties, "50%, a:b\n::warning::c\u{1b}"),
            "::error file=a%3Ab%2Cc 100%25.cu,title=x\\u{d}\\u{a}%3A%3Aerror%3A%3Ay::50%25, a:b%0A::warning::c\\u{1b}\n"
        );
    }

    #[test]
    fn cells_are_plain_text() {
        assert_eq!(
            cell("a|b `c` <script>\n[x](y) _z_"),
            "a\\|b \\`c\\` &lt;script&gt; \\[x\\](y) \\_z\\_"
        );
        assert!(cell(&"x".repeat(5000)).len() < 1100);
    }
}
