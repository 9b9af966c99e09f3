//! Writes the text that several texts make.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::Linked;
use super::items::{Declaration, ItemKind, Linkage};
use super::names::Table;

/// The section with the names of inlined functions.
const NAMES: &str = ".debug_str";

/// The parts of the text, in their order: what is used has to be declared before.
#[derive(Debug, Default)]
struct Output {
    files: String,
    prototypes: String,
    variables: String,
    rest: String,
    sections: String,
}

/// Returns the text of all items that count.
pub(super) fn text(head: &str, parts: &[Linked], table: &Table) -> Result<String, String> {
    let wanted: BTreeSet<&str> = parts
        .iter()
        .flat_map(Linked::declarations)
        .filter(|(_, own)| !own.is_function && own.linkage == Linkage::Extern)
        .flat_map(|(_, own)| own.names.iter().copied())
        .collect();
    let (mut output, mut paths) = (Output::default(), Vec::new());
    let mut declared: BTreeSet<String> = BTreeSet::new();
    for (number, part) in parts.iter().enumerate() {
        let files = files(part, &mut paths);
        for (at, item) in part.items.iter().enumerate() {
            let place = match &item.kind {
                ItemKind::Declaration(own) => {
                    if !counts(own, (number, at), table, &mut declared)? {
                        continue;
                    }
                    let is_wanted = own.names.iter().any(|name| wanted.contains(name));
                    match (own.is_function, own.is_definition) {
                        (true, false) => &mut output.prototypes,
                        (false, _) if is_wanted => &mut output.variables,
                        _ => &mut output.rest,
                    }
                }
                ItemKind::Section(name) if *name == NAMES => &mut output.sections,
                ItemKind::Other => &mut output.rest,
                _ => continue,
            };
            let writer = Writer { part, files: &files, replaced: table.replaced(number), table };
            writer.item(item.tokens.clone(), &item.kind, place);
        }
    }
    for (at, path) in paths.iter().enumerate() {
        output.files.extend([".file ", &(at + 1).to_string(), " ", path, "\n"]);
    }
    let Output { files, prototypes, variables, rest, sections } = output;
    Ok([head, &files, &prototypes, &variables, &rest, &sections].concat())
}

/// Returns the new numbers of a text's files. `paths`: those of all texts.
fn files<'t>(part: &Linked<'t>, paths: &mut Vec<&'t str>) -> BTreeMap<&'t str, usize> {
    let mut found = BTreeMap::new();
    for item in &part.items {
        let ItemKind::File(number, path) = item.kind else { continue };
        let at = paths.iter().position(|own| *own == path).unwrap_or_else(|| {
            paths.push(path);
            paths.len() - 1
        });
        found.insert(number, at + 1);
    }
    found
}

/// Returns whether a declaration is one that the text has. `at`: its text and item; `declared`: those before it that define nothing.
fn counts(
    own: &Declaration,
    (text, item): (usize, usize),
    table: &Table,
    declared: &mut BTreeSet<String>,
) -> Result<bool, String> {
    let replaced = table.replaced(text);
    let mut each = own.names.iter().map(|name| {
        let called = replaced.get(name).map_or(*name, String::as_str);
        match own.linkage {
            Linkage::Internal if own.is_definition => true,
            Linkage::Extern if !own.is_function && table.linkage(name).is_some() => false,
            _ if own.is_definition => table.is_definition(name, text, item),
            _ => declared.insert(called.to_owned()),
        }
    });
    let first = each.next().unwrap_or(false);
    if each.any(|other| other != first) {
        return Err(format!("one declares several variables at once ({})", own.names.join(", ")));
    }
    Ok(first)
}

/// Writes items of a text.
struct Writer<'w, 't> {
    part: &'w Linked<'t>,
    files: &'w BTreeMap<&'t str, usize>,
    replaced: &'w BTreeMap<&'t str, String>,
    table: &'w Table<'t>,
}

impl Writer<'_, '_> {
    /// Appends an item, with white space and comments inside it as they are.
    fn item(&self, tokens: Range<usize>, kind: &ItemKind, to: &mut String) {
        let Linked { text, tokens: all, .. } = self.part;
        let start = |token: &str| token.as_ptr().addr() - text.as_ptr().addr();
        let is_code = matches!(kind, ItemKind::Declaration(own) if own.is_function);
        let (mut depth, mut done) = (0_usize, None);
        for at in tokens {
            let token = all[at];
            depth += usize::from(token == "{");
            depth -= usize::from(token == "}").min(depth);
            let before = done.map_or("", |done| &text[done..start(token)]);
            to.push_str(before);
            match self.replacement(at, kind, is_code && depth > 0) {
                Some(new) => to.push_str(&new),
                None => to.push_str(token),
            }
            done = Some(start(token) + token.len());
        }
        to.push('\n');
    }

    /// Returns what stands in place of a token. `is_code`: it is within the body of a function.
    fn replacement(&self, at: usize, kind: &ItemKind, is_code: bool) -> Option<String> {
        let all = self.part.tokens;
        let token = all[at];
        let before = |back: usize| at.checked_sub(back).map_or("", |at| all[at]);
        if is_code && matches!(before(1), ".loc" | "inlined_at") {
            return self.files.get(token).map(usize::to_string);
        }
        if let (".extern", ItemKind::Declaration(own)) = (token, kind) {
            let linkage = own.names.iter().find_map(|name| self.table.linkage(name))?;
            return Some(if linkage == Linkage::Weak { ".weak" } else { ".visible" }.to_owned());
        }
        let new = self.replaced.get(token)?;
        // An instruction that is called like a function.
        let is_guarded = before(2) == "@" || (before(2), before(3)) == ("!", "@");
        let begins = matches!(before(1), ";" | "{" | "}" | ":") || is_guarded;
        let is_label = all.get(at + 1) == Some(&":");
        (!is_code || !begins || is_label).then(|| new.clone())
    }
}
