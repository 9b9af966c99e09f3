//! The `allow` entries: findings that the author of a kernel accepts, each with a reason.

use jiff::civil::Date;
use toml::de::{DeTable, DeValue};
use weft_core::finding::{Code, Finding};
use weft_core::report::escape;

use super::keys::AllowKey;
use super::reader::Node;
use super::{ConfigError, ConfigPlace, Problem, Reader};
use crate::similar;

const LIST: &str = "an array of tables such as `[{ code = \"benign-race\", at = \"file.cu:12\", reason = \"...\" }]`";
const AT: &str = "a file and a line, such as `\"reduce.cu:12\"`";
const UNTIL: &str = "a date, such as `\"2027-01-31\"`";

/// One accepted finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allow {
    /// The finding code that it accepts.
    pub code: Code,
    /// The line at which findings are accepted; `None`: everywhere in the kernel.
    pub at: Option<At>,
    /// The message of the findings that are accepted; `None`: those with any message. Only a baseline states it.
    pub message: Option<String>,
    /// The most findings that are accepted, the first ones of the report; `None`: all. Only a baseline states it.
    pub most: Option<usize>,
    /// The author's reason.
    pub reason: String,
    /// The last day, in UTC, on which findings are accepted; `None`: for ever.
    pub until: Option<Date>,
    /// Where the entry stands in the configuration.
    pub place: ConfigPlace,
}

/// A line of a source or PTX file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At {
    /// The end of the file's path, whole components: `reduce.cu` fits `kernels/reduce.cu`.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
}

impl At {
    /// Parses `file:line`; `None` if `text` has another form.
    pub fn parse(text: &str) -> Option<Self> {
        let (file, line) = text.rsplit_once(':')?;
        let line = line.parse().ok().filter(|line| *line > 0)?;
        let is_name = |part: &str| !part.is_empty() && part != ".";
        file.split(['/', '\\']).any(is_name).then(|| Self { file: file.to_owned(), line })
    }

    fn fits(&self, path: &str, line: u32) -> bool {
        let parts = |path: &str| -> Vec<String> {
            path.split(['/', '\\'])
                .filter(|part| !part.is_empty() && *part != ".")
                .map(str::to_owned)
                .collect()
        };
        line == self.line && parts(path).ends_with(&parts(&self.file))
    }
}

impl Allow {
    /// Whether this entry is about `finding`. `ptx` is the displayed path of the PTX file. If `at` is set, at least one
    /// site of the finding must be at that line.
    pub fn matches(&self, finding: &Finding, ptx: &str) -> bool {
        let is_here = |at: &At| {
            finding.sites.iter().any(|site| {
                at.fits(ptx, site.ptx.line)
                    || site.source.iter().any(|line| at.fits(&line.file, line.line))
            })
        };
        finding.code == self.code
            && self.message.as_ref().is_none_or(|message| *message == finding.message)
            && self.at.as_ref().is_none_or(is_here)
    }

    /// Returns the error for an entry that accepts nothing.
    pub fn unused(&self) -> String {
        let (place, code) = (&self.place, self.code);
        if self.message.is_some() {
            let remedy = "write it again with `cargo weft baseline`";
            return format!(
                "{place}: this `{code}` of the baseline is not found any more; {remedy}"
            );
        }
        let at =
            self.at.as_ref().map(|at| format!(" in {}:{}", at.file, at.line)).unwrap_or_default();
        format!(
            "{place}: no finding is a `{code}`{at}, so that this `allow` accepts nothing; correct or remove it"
        )
    }

    /// Whether this entry accepted findings until a day before `today`.
    pub fn has_ended(&self, today: Date) -> bool {
        self.until.is_some_and(|until| until < today)
    }
}

/// Parses the value of an `allow` key.
pub(super) fn list(reader: Reader<'_>, node: &Node<'_>) -> Result<Vec<Allow>, ConfigError> {
    let entries = reader.array("allow", LIST, node)?;
    entries.iter().map(|entry| one(reader, entry, reader.table("allow", LIST, entry)?)).collect()
}

fn one(reader: Reader<'_>, node: &Node<'_>, table: &DeTable<'_>) -> Result<Allow, ConfigError> {
    let (mut code, mut at, mut reason, mut until) = (None, None, None, None);
    for (key, value) in table {
        match reader.key(key)? {
            AllowKey::Code => code = Some(known_code(reader, value)?),
            AllowKey::Until => until = Some(date(reader, value)?),
            AllowKey::At => {
                let text = reader.string("at", AT, value)?;
                at = Some(At::parse(text).ok_or_else(|| reader.wrong("at", AT, value))?);
            }
            AllowKey::Reason => {
                let text = reader.string("reason", "a sentence", value)?.trim();
                if text.is_empty() {
                    return Err(reader.wrong(
                        "reason",
                        "a sentence that says why the finding is accepted",
                        value,
                    ));
                }
                reason = Some(text.to_owned());
            }
        }
    }
    let missing = |key, expected| reader.error(node.span(), Problem::Missing { key, expected });
    Ok(Allow {
        code: code.ok_or_else(|| {
            missing("code", "the code of the findings to accept, such as `\"benign-race\"`")
        })?,
        at,
        message: None,
        most: None,
        until,
        reason: reason
            .ok_or_else(|| missing("reason", "a sentence that says why the finding is accepted"))?,
        place: reader.place(&node.span()),
    })
}

/// Parses a day, as a date of TOML or as text.
fn date(reader: Reader<'_>, node: &Node<'_>) -> Result<Date, ConfigError> {
    let text = match node.get_ref() {
        DeValue::Datetime(date) => date.to_string(),
        DeValue::String(text) => text.to_string(),
        _ => String::new(),
    };
    // A time of day would parse as well, and be ignored.
    let is_day = text.len() == "2027-01-31".len();
    let day = is_day.then(|| text.parse().ok()).flatten();
    day.ok_or_else(|| reader.wrong("until", UNTIL, node))
}

pub(super) fn known_code(reader: Reader<'_>, node: &Node<'_>) -> Result<Code, ConfigError> {
    let name = reader.string("code", "the name of a code", node)?;
    Code::from_name(name).ok_or_else(|| {
        let known = Code::ALL.iter().map(|code| code.name()).collect::<Vec<_>>().join(", ");
        let similar = similar::question(name, Code::ALL.iter().map(|code| code.name()));
        let code = escape(name).into_owned();
        reader.error(node.span(), Problem::Code { code, similar, known })
    })
}
