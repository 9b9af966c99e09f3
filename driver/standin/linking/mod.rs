//! Links texts of PTX into one text, in which the functions and variables of each are those that the others declare.
//!
//! Takes texts that [`crate::signature`] accepts, and gives a text that says the same as all of them together: one head, each function and
//! variable that several texts know once, and names of one text alone under another name where they clash. Files of sources
//! are numbered anew; of what is written for debuggers, the names of inlined functions stay (PTX ISA, "Linking Directives",
//! "Debugging Directives"). What a definition needs and no text defines stays a declaration.

mod head;
mod items;
mod names;
mod output;

use std::fmt::Display;

use crate::scanner::tokens;
use crate::status::{Refusal, Status, refuse};
use items::Item;

/// A text with its tokens and items.
#[derive(Debug)]
struct Linked<'t> {
    text: &'t str,
    tokens: &'t [&'t str],
    items: Vec<Item<'t>>,
}

/// Returns the text that texts make together.
///
/// Two definitions of a name that all texts know are refused with the error that CUDA has for them, and texts that this cannot link as not
/// supported.
pub(crate) fn link(texts: &[String]) -> Result<String, Refusal> {
    if let [only] = texts {
        return Ok(only.clone());
    }
    let all: Vec<Vec<&str>> = texts.iter().map(|text| tokens(text)).collect();
    let mut parts = Vec::new();
    for (text, tokens) in texts.iter().zip(&all) {
        let items = items::items(tokens).map_err(unsupported)?;
        parts.push(Linked { text, tokens, items });
    }
    let head = head::head(&parts).map_err(unsupported)?;
    let table = names::Table::of(&parts)?;
    output::text(&head, &parts, &table).map_err(unsupported)
}

fn unsupported(reason: impl Display) -> Refusal {
    refuse(Status::NotSupported, format!("links texts of which {reason}"))
}

#[cfg(test)]
mod tests;
