//! Splits the text of a requirement into tokens.

use super::condition::{Arithmetic, Comparison};
use super::error::RequirementProblem;

/// One token. Names and numbers are as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Lexeme<'t> {
    /// `block.x`, or a parameter's name.
    Name(&'t str),
    /// `1024`, `0x400` or `1_024`.
    Number(&'t str),
    /// `#3`, without the `#`.
    Position(&'t str),
    Compare(Comparison),
    Combine(Arithmetic),
    And,
    Open,
    Close,
    End,
}

/// Symbols of other languages, and what stands for them here.
const FOREIGN: [(&str, &str); 10] = [
    ("||", "state each alternative as a launch of its own"),
    ("=>", "for `at least`, write `>=`"),
    ("=<", "for `at most`, write `<=`"),
    ("<<", "multiply by a power of two"),
    (">>", "divide by a power of two"),
    ("=", "for equality, write `==`"),
    ("&", "conditions are joined by `&&`"),
    ("|", "state each alternative as a launch of its own"),
    ("!", "compare with `!=`, or exchange `<` and `>=`"),
    ("^", "write out the product"),
];

/// Symbols that are more than one token in a row, or would be read as the wrong ones.
fn foreign(rest: &str) -> Option<RequirementProblem> {
    let is_own = |symbol: &str| {
        rest.starts_with("==") || rest.starts_with("!=") || symbol == "&" && rest.starts_with("&&")
    };
    let (symbol, remedy) =
        FOREIGN.into_iter().find(|(symbol, _)| rest.starts_with(symbol) && !is_own(symbol))?;
    Some(RequirementProblem::Foreign { found: symbol.to_owned(), remedy })
}

/// Returns the first token of `rest`, which does not begin with white space, and its length in bytes.
pub(super) fn first(rest: &str) -> Result<(Lexeme<'_>, usize), RequirementProblem> {
    let Some(begin) = rest.chars().next() else { return Ok((Lexeme::End, 0)) };
    if let Some(problem) = foreign(rest) {
        return Err(problem);
    }
    let through = |text: &str, is_part: fn(char) -> bool| {
        text.find(|c: char| !is_part(c)).unwrap_or(text.len())
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.');
    match begin {
        '(' => return Ok((Lexeme::Open, 1)),
        ')' => return Ok((Lexeme::Close, 1)),
        '#' => {
            let end = 1 + through(&rest[1..], |c| c.is_ascii_alphanumeric());
            return Ok((Lexeme::Position(&rest[1..end]), end));
        }
        '0'..='9' => {
            let end = through(rest, is_name);
            return Ok((Lexeme::Number(&rest[..end]), end));
        }
        'a'..='z' | 'A'..='Z' | '_' | '$' => {
            let end = through(rest, is_name);
            return Ok((Lexeme::Name(&rest[..end]), end));
        }
        _ => {}
    }
    if rest.starts_with("&&") {
        return Ok((Lexeme::And, 2));
    }
    let compare = Comparison::ALL.into_iter().find(|(symbol, _)| rest.starts_with(symbol));
    if let Some((symbol, comparison)) = compare {
        return Ok((Lexeme::Compare(comparison), symbol.len()));
    }
    let combine = Arithmetic::ALL.into_iter().find(|(symbol, _)| rest.starts_with(symbol));
    if let Some((symbol, arithmetic)) = combine {
        return Ok((Lexeme::Combine(arithmetic), symbol.len()));
    }
    let found = format!("`{}`", begin.escape_default());
    Err(RequirementProblem::Expected { expected: "a condition such as `n <= 1024`", found })
}

/// Returns the value of a number, decimal or with `0x`, with `_` between digits.
pub(super) fn number(text: &str) -> Option<u64> {
    let digits = text.replace('_', "");
    match digits.strip_prefix("0x") {
        Some(digits) if digits.starts_with(|c: char| c.is_ascii_hexdigit()) => {
            u64::from_str_radix(digits, 16).ok()
        }
        Some(_) => None,
        None => digits.parse().ok(),
    }
}
