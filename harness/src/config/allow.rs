//! The `allow` entries: findings that the author of a kernel accepts, each with a reason.

use toml::de::DeTable;
use weft_core::finding::{Code, Finding};
use weft_core::report::escape;

use super::reader::Node;
use super::{ConfigError, ConfigPlace, Problem, Reader};

const KEYS: [&str; 3] = ["code", "at", "reason"];
const LIST: &str = "an array of tables such as `[{ code = \"benign-race\", at = \"file.cu:12\", reason = \"...\" }]`";
const AT: &str = "a file and a line, such as `\"reduce.cu:12\"`";

/// One accepted finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allow {
    /// The finding code that it accepts.
    pub code: Code,
    /// The line at which findings are accepted; `None`: everywhere in the kernel.
    pub at: Option<At>,
    /// The author's reason.
    pub reason: String,
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
        (!file.trim().is_empty()).then(|| Self { file: file.to_owned(), line })
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
    /// Whether this entry accepts `finding`. `ptx` is the displayed path of the PTX file. If `at` is set, at least one
    /// site of the finding must be at that line.
    pub fn matches(&self, finding: &Finding, ptx: &str) -> bool {
        let Some(at) = &self.at else { return finding.code == self.code };
        finding.code == self.code
            && finding.sites.iter().any(|site| {
                at.fits(ptx, site.ptx.line)
                    || site.source.iter().any(|line| at.fits(&line.file, line.line))
            })
    }
}

/// Parses the value of an `allow` key.
pub(super) fn list(reader: Reader<'_>, node: &Node<'_>) -> Result<Vec<Allow>, ConfigError> {
    let entries = reader.array("allow", LIST, node)?;
    entries.iter().map(|entry| one(reader, entry, reader.table("allow", LIST, entry)?)).collect()
}

fn one(reader: Reader<'_>, node: &Node<'_>, table: &DeTable<'_>) -> Result<Allow, ConfigError> {
    let (mut code, mut at, mut reason) = (None, None, None);
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "code" => code = Some(known_code(reader, value)?),
            "at" => {
                let text = reader.string("at", AT, value)?;
                at = Some(At::parse(text).ok_or_else(|| reader.wrong("at", AT, value))?);
            }
            "reason" => {
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
            _ => return Err(reader.unknown(key, &KEYS)),
        }
    }
    let missing = |key, expected| reader.error(node.span(), Problem::Missing { key, expected });
    Ok(Allow {
        code: code.ok_or_else(|| {
            missing("code", "the code of the findings to accept, such as `\"benign-race\"`")
        })?,
        at,
        reason: reason
            .ok_or_else(|| missing("reason", "a sentence that says why the finding is accepted"))?,
        place: reader.place(&node.span()),
    })
}

fn known_code(reader: Reader<'_>, node: &Node<'_>) -> Result<Code, ConfigError> {
    let name = reader.string("code", "the name of a code", node)?;
    Code::from_name(name).ok_or_else(|| {
        let known = Code::ALL.iter().map(|code| code.name()).collect::<Vec<_>>().join(", ");
        reader.error(node.span(), Problem::Code { code: escape(name).into_owned(), known })
    })
}
