//! What the renderers of text need besides a report: names, and the texts that they quote.

use std::fmt;
use std::rc::Rc;

use super::SourceText;
use crate::ptx::Module;

/// Where the texts of source files come from.
pub trait SourceFiles {
    /// Returns the text of a file by the name that the compiler gave it in `.file`; `None` if it cannot be quoted.
    fn text(&self, name: &str) -> Option<Rc<SourceText>>;
}

impl<F: Fn(&str) -> Option<Rc<SourceText>>> SourceFiles for F {
    fn text(&self, name: &str) -> Option<Rc<SourceText>> {
        self(name)
    }
}

/// The names and texts of one kernel's reports.
#[derive(Clone, Copy)]
pub struct ReportContext<'a> {
    /// The module that was checked.
    pub module: &'a Module,
    /// The path of its PTX to show.
    pub ptx: &'a str,
    /// The kernel's name to show.
    pub kernel: &'a str,
    /// The name of the check: package, file, kernel and launch.
    pub name: &'a str,
    /// The source files.
    pub sources: &'a dyn SourceFiles,
    /// Whether findings are accepted, and nothing else remains of defects and open questions.
    pub is_allowed: bool,
    /// Whether ANSI codes colour the text.
    pub color: bool,
}

/// Shows the names: the module is long, and the sources have no form to show.
impl fmt::Debug for ReportContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReportContext").field("name", &self.name).finish_non_exhaustive()
    }
}

impl ReportContext<'_> {
    /// Returns the path to show for a source file: the one under which it can be opened, if it can be quoted.
    pub fn path(&self, name: &str) -> String {
        let text = self.sources.text(name);
        text.and_then(|text| text.path().map(str::to_owned)).unwrap_or_else(|| name.to_owned())
    }
}
