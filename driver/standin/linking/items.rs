//! The items of PTX text: directives of the module, declarations, functions and sections (PTX ISA, "Module", "Linking Directives").

use std::ops::Range;

use crate::scanner::Cursor;

/// A part of a text that stands for itself.
#[derive(Debug)]
pub(super) struct Item<'t> {
    pub(super) kind: ItemKind<'t>,
    /// Which tokens of the text it consists of.
    pub(super) tokens: Range<usize>,
}

/// What an item is.
#[derive(Debug)]
pub(super) enum ItemKind<'t> {
    /// `.version` with its number.
    Version(&'t str),
    /// `.target` with its words.
    Target(Vec<&'t str>),
    /// `.address_size` with its number.
    AddressSize(&'t str),
    /// `.file` with its number and its name in quotes.
    File(&'t str, &'t str),
    /// `.section` with its name.
    Section(&'t str),
    /// Functions and variables.
    Declaration(Declaration<'t>),
    /// Anything else, such as `.pragma`.
    Other,
}

/// A declaration of a function or of variables.
#[derive(Debug)]
pub(super) struct Declaration<'t> {
    pub(super) linkage: Linkage,
    pub(super) is_function: bool,
    /// Whether it is the definition: a function has its body then.
    pub(super) is_definition: bool,
    pub(super) names: Vec<&'t str>,
}

/// Which texts know a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Linkage {
    /// This one alone.
    Internal,
    /// All; another one defines it.
    Extern,
    /// All.
    Visible,
    /// All; of several definitions, one counts (`.weak`, `.common`).
    Weak,
}

/// Splits the tokens of a text into items.
pub(super) fn items<'t>(tokens: &'t [&'t str]) -> Result<Vec<Item<'t>>, String> {
    let mut cursor = Cursor::new(tokens);
    let mut found = Vec::new();
    while let Some(first) = cursor.peek() {
        let start = cursor.place();
        let kind = match first {
            ".version" => ItemKind::Version(word(&mut cursor)?),
            ".address_size" => ItemKind::AddressSize(word(&mut cursor)?),
            ".target" => target(&mut cursor)?,
            ".file" => file(&mut cursor)?,
            ".section" => section(&mut cursor)?,
            _ if first.starts_with('.') => declaration(&mut cursor)?,
            // Such as the lines of debuggers that old compilers write: `@@DWARF`.
            _ => return Err(format!("`{first}` begins no declaration")),
        };
        found.push(Item { kind, tokens: start..cursor.place().min(tokens.len()) });
    }
    Ok(found)
}

/// Passes a directive, and returns the word behind it.
fn word<'t>(cursor: &mut Cursor<'t>) -> Result<&'t str, String> {
    let directive = cursor.next().unwrap_or_default();
    cursor.next().ok_or_else(|| format!("the text ends behind {directive}"))
}

fn target<'t>(cursor: &mut Cursor<'t>) -> Result<ItemKind<'t>, String> {
    let mut words = vec![word(cursor)?];
    while cursor.peek() == Some(",") {
        words.push(word(cursor)?);
    }
    Ok(ItemKind::Target(words))
}

fn file<'t>(cursor: &mut Cursor<'t>) -> Result<ItemKind<'t>, String> {
    let number = word(cursor)?;
    let name = cursor.next().ok_or("a .file has no name")?;
    // Time and size.
    while cursor.peek() == Some(",") {
        word(cursor)?;
    }
    Ok(ItemKind::File(number, name))
}

fn section<'t>(cursor: &mut Cursor<'t>) -> Result<ItemKind<'t>, String> {
    let name = word(cursor)?;
    let is_closed = cursor.take("{") && cursor.bracketed("{", "}").is_some();
    is_closed.then_some(ItemKind::Section(name)).ok_or_else(|| format!("{name} has no end"))
}

/// Reads what begins with words of linkage, a state space, `.entry` or `.func`, or a directive that ends with a semicolon.
fn declaration<'t>(cursor: &mut Cursor<'t>) -> Result<ItemKind<'t>, String> {
    let mut linkage = Linkage::Internal;
    while let Some(token) = cursor.next() {
        match token {
            ".extern" => linkage = Linkage::Extern,
            ".visible" => linkage = Linkage::Visible,
            ".weak" | ".common" => linkage = Linkage::Weak,
            // The host finds kernels whatever their linkage is.
            ".entry" if linkage == Linkage::Internal => {
                return function(cursor, Linkage::Visible);
            }
            ".entry" | ".func" => return function(cursor, linkage),
            ".global" | ".const" | ".shared" | ".tex" => return variables(cursor, linkage),
            ";" => return Ok(ItemKind::Other),
            _ => {}
        }
    }
    Err("a declaration does not end".to_owned())
}

fn function<'t>(cursor: &mut Cursor<'t>, linkage: Linkage) -> Result<ItemKind<'t>, String> {
    let mut name = None;
    let is_definition = loop {
        match cursor.next().ok_or("a function does not end")? {
            "(" => drop(cursor.bracketed("(", ")").ok_or("parameters do not end")?),
            ".pragma" => while cursor.next().is_some_and(|token| token != ";") {},
            ";" => break false,
            "{" => {
                cursor.bracketed("{", "}").ok_or("the body of a function does not end")?;
                break true;
            }
            token if name.is_none() && !token.starts_with('.') => name = Some(token),
            _ => {}
        }
    };
    let names = vec![name.ok_or("a function has no name")?];
    Ok(ItemKind::Declaration(Declaration { linkage, is_function: true, is_definition, names }))
}

fn variables<'t>(cursor: &mut Cursor<'t>, linkage: Linkage) -> Result<ItemKind<'t>, String> {
    let (mut names, mut is_named) = (Vec::new(), false);
    let open = || "a declaration does not end".to_owned();
    loop {
        match cursor.next().ok_or_else(open)? {
            ";" => break,
            "," => is_named = false,
            ".align" => drop(cursor.next()),
            "(" => drop(cursor.bracketed("(", ")").ok_or_else(open)?),
            "[" => drop(cursor.bracketed("[", "]").ok_or_else(open)?),
            "{" => drop(cursor.bracketed("{", "}").ok_or_else(open)?),
            token if !is_named && !token.starts_with('.') => {
                names.push(token);
                is_named = true;
            }
            _ => {}
        }
    }
    let is_definition = linkage != Linkage::Extern;
    Ok(ItemKind::Declaration(Declaration { linkage, is_function: false, is_definition, names }))
}
