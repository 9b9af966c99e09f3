//! Makes a change of the PTX in the source that the PTX comes from.
//!
//! The line of an instruction is known, its statement is not: a change is made only where the text around the line leaves
//! no doubt. That asks for one plain statement that ends with its line, and for braces around the bodies of loops and
//! conditions.

mod scan;

use weft_core::finding::{Site, SourceLine};
use weft_core::ptx::Module;
use weft_core::repair::{Action, Barrier, BarrierKind, Change, Side};

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
    /// The instruction of the PTX beside which the change is, as its line and mnemonic.
    pub(crate) of: (SourceLine, String),
    /// At how many places of the PTX the change is made.
    pub(crate) copies: usize,
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
    /// Returns the change of the source; `None` if its place is in doubt.
    pub(crate) fn edit(&self, change: &Change) -> Option<SourceEdit> {
        let line = change.line.as_ref()?;
        let edit = |site: &Site, line: &SourceLine, (at, removed, text)| SourceEdit {
            file: line.file.clone(),
            line: at,
            removed,
            text,
            of: (line.clone(), self.module.mnemonic_in(site.span).to_owned()),
            copies: change.copies,
        };
        match change.action {
            Action::Insert(kind, side) => {
                // An instruction under a predicate might come from a condition that is not around the point. What follows
                // in the same run of instructions is as good a place.
                let is_certain = |site: &Site| !self.module.name(site.span).starts_with('@');
                let here = is_certain(&change.site).then(|| {
                    let done = self.insertion(kind, side, line, change)?;
                    Some(edit(&change.site, line, done))
                });
                here.flatten().or_else(|| {
                    let right = change.right.as_ref().filter(|right| is_certain(right))?;
                    let line = right.source.iter().find(|own| own.file == line.file)?;
                    let done = self.insertion(kind, Side::Before, line, change)?;
                    Some(edit(right, line, done))
                })
            }
            Action::Remove => Some(edit(&change.site, line, self.replacement(line, None)?)),
            Action::Replace(kind) => {
                Some(edit(&change.site, line, self.replacement(line, Some(kind))?))
            }
        }
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
        let beside = [at.checked_sub(1), Some(at)].into_iter().flatten();
        let is_there = beside.filter_map(|at| scan.line(at)).any(|own| own.trim() == call);
        let indent = scan.indent(first);
        (!is_there).then(|| (at, 0, format!("{indent}{call}{}", scan.line_break)))
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
            of: (SourceLine { file: String::new(), line: 0, column: 0 }, String::new()),
            copies: 1,
        };
        let (first, second) = (edit(1, 0, "x\n"), edit(2, 1, ""));
        assert_eq!(edited("a\nb\nc\nd\n", &[&first, &second]), "a\nx\nb\nd\n");
        assert_eq!(edited("a\n", &[&edit(1, 0, "end\n")]), "a\nend\n");
        assert_eq!(edited("a // b", &[&edit(1, 0, "end\n")]), "a // b\nend\n");
    }
}
