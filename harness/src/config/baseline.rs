//! The baseline of a package: findings that were there when it began to be checked, which are accepted until they are
//! mended. The file is written by `cargo weft baseline`, and can be read and cut down by hand:
//!
//! ```toml
//! [[finding]]
//! file = "reduce.ptx"          # as in the names of cases
//! kernel = "_Z6reducePf"       # as in the PTX
//! launch = "one-warp"          # the label of the launch, if it has one
//! code = "shared-race"
//! message = "read-write race between warps on shared memory, at `sums` + 0"
//! count = 2                    # of findings that say the same; 1 if it is not stated
//! ```
//!
//! A finding is known by its file, kernel, launch, code and message, and not by its line, so that it stays known while
//! lines are added above it. More of them than are counted are not accepted. An entry whose kernel or launch is not there any
//! more accepts nothing.

use std::fmt::Write as _;
use std::path::Path;

use toml::de::DeTable;
use toml_writer::{ToTomlValue as _, TomlStringBuilder};
use weft_core::finding::Code;

use super::reader::Node;
use super::{Allow, ConfigError, ConfigPlace, Problem, Reader, allow};
use crate::name::KernelName;

const TABLES: &str = "tables: write `[[finding]]`";
const KEYS: [&str; 6] = ["file", "kernel", "launch", "code", "message", "count"];
const HEAD: &str = "\
# The findings that `cargo weft` accepts because they were there when `cargo weft baseline` wrote this file.
# What is mended is removed from it by writing it again.
";

/// The findings of a baseline with their places in its file. The default has none.
#[derive(Clone, Debug, Default)]
pub struct Baseline(Vec<(AcceptedFinding, ConfigPlace)>);

/// A finding of a baseline.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AcceptedFinding {
    /// The PTX file, as in the names of cases.
    pub file: String,
    /// The kernel's name in the PTX.
    pub kernel: String,
    /// The label of the launch, if it has one.
    pub launch: Option<String>,
    /// The code of the finding.
    pub code: Code,
    /// Its message.
    pub message: String,
    /// The number of findings that say this.
    pub count: usize,
}

impl Baseline {
    /// The name of the file, which lies beside the package's `Cargo.toml`.
    pub const FILE: &str = "weft-baseline.toml";

    /// Returns the findings.
    pub fn findings(&self) -> impl Iterator<Item = &AcceptedFinding> {
        self.0.iter().map(|(finding, _)| finding)
    }

    /// Parses the text of a baseline; error messages name it `path`.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let reader = Reader::new(text, path);
        let mut findings = Vec::new();
        for (key, node) in &reader.root()? {
            if key.get_ref() != "finding" {
                return Err(reader.unknown(key, &["finding"]));
            }
            for table in reader.array("finding", TABLES, node)? {
                let keys = reader.table("finding", TABLES, table)?;
                findings.push((finding(reader, table, keys)?, reader.place(&table.span())));
            }
        }
        Ok(Self(findings))
    }

    /// Returns findings in a fixed order, those that say the same as one with their number.
    pub fn counted(mut findings: Vec<AcceptedFinding>) -> Vec<AcceptedFinding> {
        findings.sort();
        findings.dedup_by(|next, own| {
            let is_same = AcceptedFinding { count: own.count, ..next.clone() } == *own;
            own.count += if is_same { next.count } else { 0 };
            is_same
        });
        findings
    }

    /// Returns the text of a baseline with these findings.
    pub fn text(findings: &[AcceptedFinding]) -> String {
        let quoted = |text: &str| TomlStringBuilder::new(text).as_basic().to_toml_value();
        let mut text = HEAD.to_owned();
        for AcceptedFinding { file, kernel, launch, code, message, count } in findings {
            let _ = write!(text, "\n[[finding]]\nfile = {}\n", quoted(file));
            let _ = writeln!(text, "kernel = {}", quoted(kernel));
            if let Some(label) = launch {
                let _ = writeln!(text, "launch = {}", quoted(label));
            }
            let _ = writeln!(text, "code = \"{code}\"\nmessage = {}", quoted(message));
            if *count > 1 {
                let _ = writeln!(text, "count = {count}");
            }
        }
        text
    }

    /// Returns the entries for the launch with this label of a kernel in a file.
    pub(crate) fn of(
        &self,
        file: &str,
        kernel: &KernelName,
        label: Option<&str>,
    ) -> impl Iterator<Item = Allow> {
        let own = self.0.iter().filter(move |(known, _)| {
            known.file == file && known.kernel == kernel.mangled && known.launch.as_deref() == label
        });
        own.map(|(known, place)| Allow {
            code: known.code,
            at: None,
            message: Some(known.message.clone()),
            most: Some(known.count),
            reason: format!("in {}", Self::FILE),
            until: None,
            place: place.clone(),
        })
    }
}

fn finding(
    reader: Reader<'_>,
    node: &Node<'_>,
    table: &DeTable<'_>,
) -> Result<AcceptedFinding, ConfigError> {
    let (mut file, mut kernel, mut launch, mut code, mut message) = (None, None, None, None, None);
    let mut count = 1;
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "file" => file = Some(reader.string("file", "a file's name", value)?.to_owned()),
            "count" => count = reader.number("count", "a number of findings", value)? as usize,
            "kernel" => {
                kernel = Some(reader.string("kernel", "a kernel's name", value)?.to_owned());
            }
            "launch" => launch = Some(reader.string("launch", "a label", value)?.to_owned()),
            "code" => code = Some(allow::known_code(reader, value)?),
            "message" => message = Some(reader.string("message", "a message", value)?.to_owned()),
            _ => return Err(reader.unknown(key, &KEYS)),
        }
    }
    let missing = |key, expected| reader.error(node.span(), Problem::Missing { key, expected });
    Ok(AcceptedFinding {
        file: file.ok_or_else(|| missing("file", "the PTX file, as in the names of cases"))?,
        count,
        kernel: kernel.ok_or_else(|| missing("kernel", "the kernel's name in the PTX"))?,
        launch,
        code: code.ok_or_else(|| missing("code", "the code of the finding"))?,
        message: message.ok_or_else(|| missing("message", "the message of the finding"))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let known = |kernel: &str, launch: Option<&str>, message: &str| AcceptedFinding {
            file: "k.ptx".into(),
            count: 1,
            kernel: kernel.into(),
            launch: launch.map(str::to_owned),
            code: Code::SharedRace,
            message: message.into(),
        };
        let findings = vec![
            known("b", None, "quotes \" and \\ and `'`\u{1b}"),
            known("a", Some("small"), "one"),
            known("a", Some("small"), "one"),
        ];
        let text = Baseline::text(&Baseline::counted(findings.clone()));
        let read = Baseline::parse(&text, Path::new("b.toml")).expect("it is as it was written");
        let read: Vec<AcceptedFinding> = read.0.into_iter().map(|(known, _)| known).collect();
        let twice = AcceptedFinding { count: 2, ..findings[1].clone() };
        assert_eq!(read, [twice, findings[0].clone()]);
    }

    #[test]
    fn mistakes_are_named_with_their_places() {
        let error =
            |text: &str| Baseline::parse(text, Path::new("b.toml")).unwrap_err().to_string();
        assert!(error("[[findings]]").contains("b.toml:1:3: unknown key `findings`"));
        assert!(
            error("[[finding]]\nkernel = 'k'\ncode = 'race'\n")
                .contains("b.toml:3:8: there is no code")
        );
        assert!(
            error("[[finding]]\nfile = 'f'\nkernel = 'k'\ncode = 'limit'\n")
                .contains("`message` is missing")
        );
    }
}
