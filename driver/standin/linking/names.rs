//! Which definition of a name counts, and the names of one text alone that clash with others.

use std::collections::{BTreeMap, BTreeSet};

use super::Linked;
use super::items::{Declaration, ItemKind, Linkage};
use crate::status::{Refusal, Status, refuse};

/// The names of all texts.
#[derive(Debug)]
pub(super) struct Table<'t> {
    /// The definitions that count of the names that all texts know.
    definitions: BTreeMap<&'t str, Definition>,
    /// By text, what its own names are replaced by.
    replaced: Vec<BTreeMap<&'t str, String>>,
}

/// A definition of a name that all texts know.
#[derive(Debug, Clone, Copy)]
struct Definition {
    text: usize,
    item: usize,
    linkage: Linkage,
}

impl<'t> Table<'t> {
    pub(super) fn of(parts: &[Linked<'t>]) -> Result<Self, Refusal> {
        Ok(Table { definitions: definitions(parts)?, replaced: replaced(parts) })
    }

    /// Returns the linkage of the definition of a name that all texts know.
    pub(super) fn linkage(&self, name: &str) -> Option<Linkage> {
        self.definitions.get(name).map(|own| own.linkage)
    }

    /// Returns whether the definition of a name is this item.
    pub(super) fn is_definition(&self, name: &str, text: usize, item: usize) -> bool {
        self.definitions.get(name).is_some_and(|own| (own.text, own.item) == (text, item))
    }

    /// Returns what names of a text are replaced by.
    pub(super) fn replaced(&self, text: usize) -> &BTreeMap<&'t str, String> {
        &self.replaced[text]
    }
}

fn definitions<'t>(parts: &[Linked<'t>]) -> Result<BTreeMap<&'t str, Definition>, Refusal> {
    let mut found: BTreeMap<&str, Definition> = BTreeMap::new();
    for (text, part) in parts.iter().enumerate() {
        for (item, own) in part.declarations() {
            if !own.is_definition || own.linkage == Linkage::Internal {
                continue;
            }
            for name in &own.names {
                let new = Definition { text, item, linkage: own.linkage };
                let known = found.entry(name).or_insert(new);
                if (known.text, known.item) == (text, item) || own.linkage == Linkage::Weak {
                    continue;
                }
                if known.linkage == Linkage::Visible {
                    let reason = format!("{name} is defined in two of the texts that are linked");
                    return Err(refuse(Status::InvalidSource, reason));
                }
                *known = new;
            }
        }
    }
    Ok(found)
}

/// Gives the names of one text alone another name if they are in another text as well, except in the first that has them alone.
fn replaced<'t>(parts: &[Linked<'t>]) -> Vec<BTreeMap<&'t str, String>> {
    let is_internal = |own: &Declaration| own.linkage == Linkage::Internal;
    let declared = |part: &Linked<'t>, wanted: &dyn Fn(&Declaration) -> bool| -> Vec<&'t str> {
        let own = part.declarations().filter(|(_, own)| wanted(own));
        own.flat_map(|(_, own)| own.names.iter().copied()).collect()
    };
    let mut taken: BTreeSet<String> = parts
        .iter()
        .flat_map(|part| declared(part, &|own| !is_internal(own)))
        .map(str::to_owned)
        .collect();
    let mut all = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        // A text might declare a function without a word of linkage that it defines for all.
        let known: BTreeSet<&str> = declared(part, &|own| !is_internal(own)).into_iter().collect();
        let own = declared(part, &is_internal).into_iter().chain(part.labels());
        let own: BTreeSet<&str> = own.filter(|name| !known.contains(name)).collect();
        let mut replaced = BTreeMap::new();
        for name in &own {
            let mut new = (*name).to_owned();
            while taken.contains(&new) || new != *name && own.contains(&new.as_str()) {
                new = format!("{new}${number}");
            }
            if new != *name {
                replaced.insert(*name, new.clone());
            }
            taken.insert(new);
        }
        all.push(replaced);
    }
    all
}

impl<'t> Linked<'t> {
    /// Returns the declarations with the numbers of their items.
    pub(super) fn declarations(&self) -> impl Iterator<Item = (usize, &Declaration<'t>)> {
        self.items.iter().enumerate().filter_map(|(at, item)| match &item.kind {
            ItemKind::Declaration(own) => Some((at, own)),
            _ => None,
        })
    }

    /// Returns the labels in its sections.
    fn labels(&self) -> impl Iterator<Item = &'t str> {
        let sections = self.items.iter().filter(|item| matches!(item.kind, ItemKind::Section(_)));
        let words = sections.flat_map(|item| self.tokens[item.tokens.clone()].windows(2));
        words.filter(|pair| pair[1] == ":").map(|pair| pair[0])
    }
}
