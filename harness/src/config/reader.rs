//! Typed access to parsed TOML. Each accessor expects a type; if the value has another one, it returns an error with
//! the position and the expected form.

use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};
use weft_core::report::escape;

use super::keys::KeySet;
use super::{ConfigError, ConfigPlace, Problem};
use crate::similar;

/// A TOML value with its span in the text.
pub(crate) type Node<'t> = Spanned<DeValue<'t>>;

/// A TOML text and its path, to which all positions refer.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'t> {
    path: &'t Path,
    text: &'t str,
}

impl<'t> Reader<'t> {
    /// Creates a reader of `text`; error messages name it `path`.
    pub(crate) fn new(text: &'t str, path: &'t Path) -> Self {
        Self { path, text }
    }

    /// Parses the whole text as a table.
    pub(crate) fn root(self) -> Result<DeTable<'t>, ConfigError> {
        let table = DeTable::parse(self.text).map_err(|error| {
            // The parser's own message for a control character names only the characters that it expected instead.
            if let Some((at, c)) = self.text.char_indices().find(|(_, c)| is_forbidden(*c)) {
                return self.error(at..at, Problem::Control(c));
            }
            let span = error.span().unwrap_or(0..0);
            self.error(span, Problem::Syntax(error.message().trim().replace('\n', ", ")))
        })?;
        Ok(table.into_inner())
    }

    /// Returns line and column of the start of a span.
    pub(crate) fn place(self, span: &Range<usize>) -> ConfigPlace {
        let mut start = span.start.min(self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        let before = self.text.get(..start).unwrap_or("");
        let line = before.matches('\n').count() + 1;
        let first = before.rfind('\n').map_or(0, |at| at + 1);
        let text = self.text.get(first..).unwrap_or("").lines().next().unwrap_or("");
        let column = before.get(first..).unwrap_or("").chars().count() + 1;
        let rest = text.chars().count().saturating_sub(column - 1);
        let meant = self.text.get(start..span.end.min(self.text.len())).unwrap_or("");
        let width = meant.lines().next().unwrap_or("").chars().count().clamp(1, rest.max(1));
        ConfigPlace { path: self.path.to_path_buf(), line, column, width, text: text.into() }
    }

    /// Returns the byte of the file at which a byte of a string is. Where the file has escapes or several quotes, that
    /// is the start of the string.
    pub(crate) fn within(self, node: &Node<'_>, text: &str, at: usize) -> usize {
        let start = node.span().start;
        let is_literal = self.text.get(start + 1..).is_some_and(|rest| rest.starts_with(text));
        if is_literal { start + 1 + at } else { start }
    }

    /// Returns an error at a span.
    pub(crate) fn error(self, span: Range<usize>, problem: Problem) -> ConfigError {
        ConfigError::At { place: self.place(&span), problem: Box::new(problem) }
    }

    /// Returns the error for a value of the wrong type or form.
    pub(crate) fn wrong(self, key: &str, expected: &'static str, node: &Node<'_>) -> ConfigError {
        let found = match node.get_ref() {
            DeValue::String(text) => format!("the string {text:?}"),
            DeValue::Integer(number) => format!("the number {number}"),
            DeValue::Float(number) => format!("the number {number}"),
            DeValue::Boolean(value) => value.to_string(),
            DeValue::Datetime(_) => "a date".to_owned(),
            DeValue::Array(array) => format!("an array of {}", array.len()),
            DeValue::Table(_) => "a table".to_owned(),
        };
        self.error(node.span(), Problem::Value { key: key.to_owned(), expected, found })
    }

    /// Returns the error for an unknown key.
    pub(crate) fn unknown(
        self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        known: &[&str],
    ) -> ConfigError {
        let similar = similar::question(key.get_ref(), known.iter().copied());
        let known = known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        let key_text = escape(key.get_ref()).into_owned();
        self.error(key.span(), Problem::UnknownKey { key: key_text, similar, known })
    }

    /// Returns the key with this name, or the error for an unknown key.
    pub(crate) fn key<K: KeySet>(
        self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
    ) -> Result<K, ConfigError> {
        K::find(key.get_ref()).ok_or_else(|| self.unknown(key, &K::names()))
    }

    /// Returns the value as a table, or an error.
    pub(crate) fn table<'v>(
        self,
        key: &str,
        expected: &'static str,
        node: &'v Node<'t>,
    ) -> Result<&'v DeTable<'t>, ConfigError> {
        node.get_ref().as_table().ok_or_else(|| self.wrong(key, expected, node))
    }

    /// Returns the value as an array, or an error.
    pub(crate) fn array<'v>(
        self,
        key: &str,
        expected: &'static str,
        node: &'v Node<'t>,
    ) -> Result<&'v DeArray<'t>, ConfigError> {
        node.get_ref().as_array().ok_or_else(|| self.wrong(key, expected, node))
    }

    /// Returns the value as a string, or an error.
    pub(crate) fn string<'v>(
        self,
        key: &str,
        expected: &'static str,
        node: &'v Node<'t>,
    ) -> Result<&'v str, ConfigError> {
        node.get_ref().as_str().ok_or_else(|| self.wrong(key, expected, node))
    }

    /// Returns the value as a `u32`, or an error.
    pub(crate) fn number(
        self,
        key: &str,
        expected: &'static str,
        node: &Node<'_>,
    ) -> Result<u32, ConfigError> {
        let number = integer(node).and_then(|value| u32::try_from(value).ok());
        number.ok_or_else(|| self.wrong(key, expected, node))
    }
}

/// Whether `c` is a control character that TOML does not permit.
fn is_forbidden(c: char) -> bool {
    c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r')
}

/// Returns a node's integer; `None` for other types.
pub(super) fn integer(node: &Node<'_>) -> Option<i128> {
    let DeValue::Integer(number) = node.get_ref() else { return None };
    i128::from_str_radix(number.as_str(), number.radix()).ok()
}

/// Returns a node's number, integer or float; `None` for other types.
pub(super) fn float(node: &Node<'_>) -> Option<f64> {
    match node.get_ref() {
        DeValue::Float(number) => number.as_str().parse().ok(),
        DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
        _ => None,
    }
}
