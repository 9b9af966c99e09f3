//! The errors of a configuration. Each has the position in the file and says what to write instead.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use weft_core::launch::requires::RequirementProblem;
use weft_core::launch::{BufferMisfit, Dim3, Misfit};

/// A position in a configuration file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConfigPlace {
    /// The file as it was named by the caller.
    pub path: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The number of characters of the line that are meant, at least 1.
    pub width: usize,
    /// The text of the line.
    pub text: Arc<str>,
}

impl ConfigPlace {
    /// Returns the line with a mark under what is meant, to follow an error; empty if the line is long or has characters
    /// that do not show as one.
    pub(crate) fn excerpt(&self) -> String {
        /// The most characters of a line that is shown.
        const LONGEST: usize = 110;
        let text = self.text.trim_end();
        let is_plain = text.chars().all(|c| !c.is_control());
        if text.is_empty() || !is_plain || text.chars().count() > LONGEST {
            return String::new();
        }
        let number = self.line.to_string();
        let (gap, before) = (" ".repeat(number.len()), " ".repeat(self.column - 1));
        let mark = "^".repeat(self.width);
        format!("\n{gap} |\n{number} | {text}\n{gap} | {before}{mark}")
    }
}

impl fmt::Display for ConfigPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display().to_string();
        write!(f, "{}:{}:{}", weft_core::report::escape(&path), self.line, self.column)
    }
}

/// Why a configuration cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is a link to nothing.
    #[error("{}: is a link to {}, which is not there; correct or remove the link", path.display(), target.display())]
    Dangling {
        /// The link.
        path: PathBuf,
        /// What it names.
        target: PathBuf,
    },
    /// The file cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Two places hold the configuration of one package.
    #[error("{}: `[package.metadata.weft]` of {} holds a configuration too; keep one of the two", file.display(), manifest.display())]
    Both {
        /// The `weft.toml`.
        file: PathBuf,
        /// The `Cargo.toml`.
        manifest: PathBuf,
    },
    /// The configuration has an error at this position.
    #[error("{place}: {problem}{}", place.excerpt())]
    At {
        /// The position.
        place: ConfigPlace,
        /// The error, and what to write instead.
        problem: Box<Problem>,
    },
    /// The configuration has several errors.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Several(Vec<ConfigError>),
}

impl ConfigError {
    /// Returns the values, or all errors among them as one.
    pub(super) fn all<T>(
        results: impl IntoIterator<Item = Result<T, ConfigError>>,
    ) -> Result<Vec<T>, ConfigError> {
        let (mut values, mut errors) = (Vec::new(), Vec::new());
        for result in results {
            match result {
                Ok(value) => values.push(value),
                Err(Self::Several(others)) => errors.extend(others),
                Err(error) => errors.push(error),
            }
        }
        match errors.len() {
            0 => Ok(values),
            1 => Err(errors.remove(0)),
            _ => Err(Self::Several(errors)),
        }
    }
}

/// What is wrong at a position of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The file is not valid TOML; the text is the TOML parser's message.
    #[error("{0}")]
    Syntax(String),
    /// The file is not UTF-8.
    #[error("the file is not UTF-8; save it as such")]
    Encoding,
    /// A control character that TOML does not permit.
    #[error("a control character, U+{:04X}; remove it", u32::from(*.0))]
    Control(char),
    /// An unknown key.
    #[error("unknown key `{key}`; {similar}the keys here are {known}")]
    UnknownKey {
        /// The key as written.
        key: String,
        /// A question after the key that is probably meant, or nothing.
        similar: String,
        /// The keys that are valid here.
        known: String,
    },
    /// A required key is missing.
    #[error("`{key}` is missing: {expected}")]
    Missing {
        /// The key.
        key: &'static str,
        /// What the key holds.
        expected: &'static str,
    },
    /// A value of the wrong type or form.
    #[error("`{key}` takes {expected}, not {found}")]
    Value {
        /// The key.
        key: String,
        /// The expected type or form.
        expected: &'static str,
        /// The value as written.
        found: String,
    },
    /// A block with more threads than a device supports, or none.
    #[error("a block of {0} threads: `block` takes 1 to 1024 threads, such as `256` or `[16, 16]`")]
    Block(u64),
    /// A block or grid that is too large for a device in one dimension.
    #[error(
        "a {key} of {misfit}: `block` takes at most [1024, 1024, 64], `grid` at most [2147483647, 65535, 65535]"
    )]
    Extent {
        /// `block` or `grid`.
        key: &'static str,
        /// The dimension and its size.
        misfit: Misfit,
    },
    /// A grid with more ctas than can be numbered.
    #[error("a grid of {0} ctas: at most 4294967295 can be checked; choose a smaller grid")]
    Grid(u64),
    /// A cluster with more ctas than a device supports.
    #[error("a cluster of {0} ctas: a cluster has at most {max}", max = Dim3::MAX_CLUSTER)]
    Cluster(u64),
    /// A number that does not fit the element type of its buffer.
    #[error("{value} does not fit {element}")]
    Element {
        /// The number as written.
        value: String,
        /// The element type.
        element: &'static str,
    },
    /// An invalid regular expression; the text is the regex parser's message.
    #[error("`name` is not a regular expression: {0}")]
    Regex(String),
    /// A file pattern that matches no file.
    #[error("`{pattern}` matches no file under {}; correct or remove it", dir.display())]
    NoFile {
        /// The pattern.
        pattern: String,
        /// The package's directory.
        dir: PathBuf,
    },
    /// An invalid file pattern.
    #[error("not a file pattern: {0}")]
    Glob(&'static str),
    /// An unknown finding code.
    #[error("there is no code `{code}`; {similar}the codes are {known}")]
    Code {
        /// The code as written.
        code: String,
        /// A question after the code that is probably meant, or nothing.
        similar: String,
        /// All codes.
        known: String,
    },
    /// Two launches of one kernel with the same label.
    #[error(
        "the label `{label}` is taken by the launch in line {line}; labels name test cases and must differ"
    )]
    DuplicateLabel {
        /// The label.
        label: String,
        /// The line of the first launch with this label.
        line: usize,
    },
    /// A condition that cannot be read; the position is that in its text, if the text has no escapes.
    #[error("`requires`: {0}")]
    Requirement(RequirementProblem),
    /// A name that no parameter of a kernel has.
    #[error("kernel `{kernel}` has no parameter `{name}`; {remedy}")]
    NoParameter {
        /// The name as written.
        name: String,
        /// The kernel.
        kernel: String,
        /// The nearest name and all names.
        remedy: String,
    },
    /// A stated buffer that cannot be.
    #[error("buffer `{name}`: {misfit}")]
    Buffer {
        /// Its name.
        name: String,
        /// What is wrong, and what would be right.
        misfit: BufferMisfit,
    },
    /// A pointer that leads into no stated buffer.
    #[error("{0}")]
    Pointer(BufferMisfit),
    /// A buffer into which nothing points.
    #[error(
        "nothing points into buffer `{0}`; give an argument such as `args = {{ x = {{ in = \"{0}\" }} }}`, or remove the buffer"
    )]
    UnusedBuffer(String),
    /// One argument that a table gives twice.
    #[error(
        "argument {position} is given twice, as `{first}` and as `{second}`; keep one of the two"
    )]
    SameArgument {
        /// Its position.
        position: usize,
        /// The first key.
        first: String,
        /// The second key.
        second: String,
    },
    /// A key that is valid only for one kernel, in a table for all kernels.
    #[error("`{0}` belongs to a `[[kernel]]`, since it fits one kernel's parameters or findings")]
    KernelOnly(String),
}
