//! Makes a change of the PTX in the source that the PTX comes from.
//!
//! The line of an instruction is known, its statement is not: a change is made only where the text around the line leaves
//! no doubt. Beside a line, that asks for one plain statement that ends with its line, and for braces around the bodies of
//! loops and conditions; between two lines, for a body whose statements begin and end where the text says so.

mod body;
mod scan;

use weft_core::finding::{Site, SourceLine};
use weft_core::ptx::Module;
use weft_core::repair::{
    Action, Barrier, BarrierKind, BetweenLines, Change, Side, SourceCopies, SourcePlace,
};

use body::BlankText;
use scan::Scan;

/// A change of a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SourceEdit {
    /// The file, as the compiler calls it.
    pub(crate) file: String,
    /// The index of the first line that is replaced, or in front of which lines are inserted.
    pub(crate) line: usize,
    /// The number of lines that are replaced.
    pub(crate) removed: usize,
    /// The new lines, with their line breaks.
    pub(crate) text: String,
    /// What the change is for.
    pub(crate) scope: EditScope,
}

/// What of the PTX a change of a source file is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EditScope {
    /// Instructions.
    Beside {
        /// Their line.
        line: SourceLine,
        /// Their mnemonic.
        mnemonic: String,
        /// At how many of them the change is made.
        copies: usize,
    },
    /// Kernels whose own body has a line.
    Kernels(SourceLine),
}

impl EditScope {
    /// Returns the number of instructions or kernels that the change is made for.
    pub(crate) fn made(&self) -> usize {
        match self {
            Self::Beside { copies, .. } => *copies,
            Self::Kernels(_) => 1,
        }
    }

    /// Returns what the numbers of several changes are added up for.
    pub(crate) fn key(&self) -> (SourceLine, Option<String>) {
        match self {
            Self::Beside { line, mnemonic, .. } => (line.clone(), Some(mnemonic.clone())),
            Self::Kernels(line) => (line.clone(), None),
        }
    }

    /// Returns the number of instructions or kernels that it would change.
    pub(crate) fn all(&self, index: &SourceCopies) -> usize {
        match self {
            Self::Beside { line, mnemonic, .. } => index.count(line, mnemonic),
            Self::Kernels(line) => index.kernels(line),
        }
    }
}

/// What is known of the sources.
pub(crate) struct SourceCode<'s> {
    pub(crate) module: &'s Module,
    /// Returns the text of a file.
    pub(crate) text: &'s dyn Fn(&str) -> Option<String>,
    /// Returns barriers of the kernels, as examples of how the source calls them.
    pub(crate) examples: &'s dyn Fn() -> Vec<Barrier>,
}

impl SourceCode<'_> {
    /// Returns the change of the source; `None` if its place is in doubt. `is_apart`: not beside a line that has further
    /// copies, if it can stand elsewhere.
    pub(crate) fn edit(&self, change: &Change, is_apart: bool) -> Option<SourceEdit> {
        match (change.action, &change.place) {
            (Action::Insert(kind, _), SourcePlace::Between(lines)) => self.between(kind, lines),
            (Action::Insert(kind, side), SourcePlace::Beside) => {
                let here = || self.beside(change, (kind, side), &change.site);
                let right = || self.beside(change, (kind, Side::Before), change.right.as_ref()?);
                let between = || self.between(kind, change.between.as_ref()?);
                let apart = is_apart.then(between).flatten();
                apart.or_else(here).or_else(right).or_else(between)
            }
            (Action::Insert(..), _) => None,
            (Action::Remove, _) => self.replaced(change, None),
            (Action::Replace(kind), _) => self.replaced(change, Some(kind)),
        }
    }

    /// Returns the change of an insertion beside the first line of a site.
    fn beside(
        &self,
        change: &Change,
        (kind, side): (BarrierKind, Side),
        site: &Site,
    ) -> Option<SourceEdit> {
        let file = &change.line.as_ref()?.file;
        let line = site.source.iter().find(|own| own.file == *file)?;
        let done = self.insertion(kind, side, line, change)?;
        Some(self.edit_beside(change, site, line, done))
    }

    fn replaced(&self, change: &Change, kind: Option<BarrierKind>) -> Option<SourceEdit> {
        let line = change.line.as_ref()?;
        Some(self.edit_beside(change, &change.site, line, self.replacement(line, kind)?))
    }

    fn edit_beside(
        &self,
        change: &Change,
        site: &Site,
        line: &SourceLine,
        (at, removed, text): (usize, usize, String),
    ) -> SourceEdit {
        let mnemonic = self.module.mnemonic_in(site.span).to_owned();
        let scope = EditScope::Beside { line: line.clone(), mnemonic, copies: change.copies };
        SourceEdit { file: line.file.clone(), line: at, removed, text, scope }
    }

    /// Returns the insertion of a barrier between two lines of the kernel. A function that is called from several places might
    /// need the barrier for one call only.
    fn between(&self, kind: BarrierKind, lines: &BetweenLines) -> Option<SourceEdit> {
        let BetweenLines { from, to, iteration, is_certain } = lines;
        if !is_certain || lines.is_within_line() {
            return None;
        }
        // In other languages statements are other.
        let call = kind.call(&from.file)?;
        let text = (self.text)(&from.file)?;
        let scan = Scan::of(&text)?;
        let (at, beside) = BlankText::of(&text)?.between([index(from)?, index(to)?], *iteration)?;
        let text = inserted(&scan, at, beside, &format!("{call};"))?;
        let scope = EditScope::Kernels(to.clone());
        Some(SourceEdit { file: from.file.clone(), line: at, removed: 0, text, scope })
    }

    /// Returns the insertion beside the statement of a line.
    fn insertion(
        &self,
        kind: BarrierKind,
        side: Side,
        line: &SourceLine,
        change: &Change,
    ) -> Option<(usize, usize, String)> {
        let text = (self.text)(&line.file)?;
        let scan = Scan::of(&text)?;
        let (first, last) = scan.statement(index(line)?, side == Side::Before)?;
        let is_inside = |site: &Site| {
            site.source.iter().any(|own| {
                own.file == line.file && index(own).is_some_and(|at| (first..=last).contains(&at))
            })
        };
        // The barrier belongs between two accesses of the statement.
        if change.separates.iter().any(|race| race.sites.iter().all(is_inside)) {
            return None;
        }
        let at = if side == Side::Before { first } else { last + 1 };
        let call = self.call(kind, &line.file)?;
        Some((at, 0, inserted(&scan, at, first, &call)?))
    }

    /// Returns the change of the line of a barrier, which has to be a line by itself.
    fn replacement(
        &self,
        line: &SourceLine,
        kind: Option<BarrierKind>,
    ) -> Option<(usize, usize, String)> {
        let text = (self.text)(&line.file)?;
        let (scan, at) = (Scan::of(&text)?, index(line)?);
        let (first, last) = scan.statement(at, false)?;
        if first != last || !is_call(scan.line(at)?) {
            return None;
        }
        let new = match kind {
            Some(kind) => {
                format!("{}{}{}", scan.indent(at), self.call(kind, &line.file)?, scan.line_break)
            }
            None => String::new(),
        };
        Some((at, 1, new))
    }

    /// Returns the statement that calls a barrier in this file: in Rust, the one that is there already.
    fn call(&self, kind: BarrierKind, file: &str) -> Option<String> {
        if let Some(call) = kind.call(file) {
            return Some(format!("{call};"));
        }
        let examples = (self.examples)();
        let mut of_kind = examples.iter().filter(|own| own.kind == kind);
        of_kind.find_map(|own| self.example(&own.site))
    }

    /// Returns the whole statement of a barrier, if it is a line by itself that is written by the kernel's author.
    fn example(&self, site: &Site) -> Option<String> {
        site.source.iter().find_map(|line| {
            let text = (self.text)(&line.file)?;
            let code = text.lines().nth(index(line)?)?.trim();
            is_call(code).then(|| code.to_owned())
        })
    }
}

/// Returns the line of a call that is inserted in front of a line, indented like another one; `None` if it is there already.
fn inserted(scan: &Scan<'_>, at: usize, like: usize, call: &str) -> Option<String> {
    let beside = [at.checked_sub(1), Some(at)].into_iter().flatten();
    let is_there = beside.filter_map(|at| scan.line(at)).any(|own| own.trim() == call);
    (!is_there).then(|| format!("{}{call}{}", scan.indent(like), scan.line_break))
}

fn index(line: &SourceLine) -> Option<usize> {
    usize::try_from(line.line).ok()?.checked_sub(1)
}

/// Whether a line is a call without arguments, and nothing else: `__syncthreads();` or `unsafe { sync_threads() };`.
fn is_call(line: &str) -> bool {
    let code = line.trim();
    let inner = code.strip_prefix("unsafe {").map_or(code, str::trim_start);
    let name_end = inner.find("()").unwrap_or(0);
    let (name, rest) = inner.split_at(name_end);
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let rest: String = rest.chars().filter(|c| !c.is_whitespace()).collect();
    let ends = if code.starts_with("unsafe") { ["()}", "()};"] } else { ["();", "();"] };
    !name.is_empty() && name.chars().all(is_name) && ends.contains(&rest.as_str())
}

/// Returns a text with changes of its lines made.
pub(crate) fn edited(text: &str, edits: &[&SourceEdit]) -> String {
    let mut out = String::new();
    let mut removed_to = 0;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for at in 0..=lines.len() {
        for edit in edits.iter().filter(|edit| edit.line == at) {
            if !out.is_empty() && !out.ends_with('\n') {
                out.push('\n');
            }
            out.push_str(&edit.text);
            removed_to = removed_to.max(at + edit.removed);
        }
        if let Some(line) = lines.get(at).filter(|_| at >= removed_to) {
            out.push_str(line);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_a_call_and_nothing_else() {
        let calls = ["__syncthreads();", "unsafe { _syncthreads() };", "nvptx::sync_threads();"];
        assert!(calls.into_iter().all(is_call));
        let others =
            ["if (a) __syncthreads();", "a(); b();", "a(b);", "__syncthreads(); // here", ""];
        assert!(!others.into_iter().any(is_call));
    }

    #[test]
    fn lines_are_inserted_and_removed() {
        let edit = |line, removed, text: &str| SourceEdit {
            file: String::new(),
            line,
            removed,
            text: text.to_owned(),
            scope: EditScope::Kernels(SourceLine { file: String::new(), line: 0, column: 0 }),
        };
        let (first, second) = (edit(1, 0, "x\n"), edit(2, 1, ""));
        assert_eq!(edited("a\nb\nc\nd\n", &[&first, &second]), "a\nx\nb\nd\n");
        assert_eq!(edited("a\n", &[&edit(1, 0, "end\n")]), "a\nend\n");
        assert_eq!(edited("a // b", &[&edit(1, 0, "end\n")]), "a // b\nend\n");
    }
}
