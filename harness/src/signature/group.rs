//! Brackets among tokens: where a group ends, and what commas separate in it.

use super::tokens::SourceToken;

/// A group in angle brackets with more tokens than this is not followed: `<` can also be a comparison.
const MOST_IN_ANGLES: usize = 64;
/// A function whose body begins later behind its parameters is not followed.
const MOST_BEFORE_BODY: usize = 256;

/// The tokens of a file with their brackets in pairs.
pub(super) struct Code<'t> {
    /// The tokens.
    pub(super) tokens: Vec<SourceToken<'t>>,
    /// For each token that opens a group with `(`, `[` or `{`, the position of the one that closes it.
    ends: Vec<Option<usize>>,
}

impl<'t> Code<'t> {
    /// Pairs the brackets.
    pub(super) fn of(tokens: Vec<SourceToken<'t>>) -> Self {
        let mut ends = vec![None; tokens.len()];
        let mut open: Vec<(usize, &str)> = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            if let Some(end) = closing(token).filter(|end| *end != ">") {
                open.push((at, end));
            } else if [")", "]", "}"].into_iter().any(|end| token.is(end)) {
                match open.pop() {
                    Some((start, end)) if token.is(end) => ends[start] = Some(at),
                    // Nothing is known of groups around brackets that do not match.
                    _ => open.clear(),
                }
            }
        }
        Self { tokens, ends }
    }

    /// Returns the token at a position.
    pub(super) fn at(&self, at: usize) -> Option<&SourceToken<'t>> {
        self.tokens.get(at)
    }

    /// Returns the position of the bracket that closes the one at `open`; `None` if there is none, or if it is in doubt.
    pub(super) fn close(&self, open: usize) -> Option<usize> {
        if self.at(open)?.is("<") { self.close_angle(open) } else { *self.ends.get(open)? }
    }

    /// Returns the position of the `{` that begins a function's body; `None` if `;` comes first. `at`: behind the parameters.
    pub(super) fn body(&self, at: usize) -> Option<usize> {
        let behind = self.tokens.get(at..)?.iter().take(MOST_BEFORE_BODY);
        let found = behind.enumerate().find(|(_, token)| token.is("{") || token.is(";"))?;
        found.1.is("{").then_some(at + found.0)
    }

    fn close_angle(&self, open: usize) -> Option<usize> {
        let (mut depth, mut at) = (0_usize, open);
        while at <= open + MOST_IN_ANGLES {
            let token = self.at(at)?;
            if token.is("<") {
                depth += 1;
            } else if token.is(">") && !self.is_arrow(at) {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            } else if closing(token).is_some() {
                at = self.close(at)?;
            } else if [")", "]", "}", ";"].into_iter().any(|end| token.is(end)) {
                return None;
            }
            at += 1;
        }
        None
    }

    /// Whether the `>` at this position belongs to `->` or `=>`.
    fn is_arrow(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.at(before));
        before.is_some_and(|token| token.is("-") || token.is("="))
    }

    /// Returns what commas outside of all brackets separate between two positions, without an empty part at the end; `None`
    /// if brackets are not in pairs.
    pub(super) fn parts(&self, start: usize, end: usize) -> Option<Vec<&[SourceToken<'t>]>> {
        let (mut parts, mut first, mut at) = (Vec::new(), start, start);
        while at < end {
            let token = self.at(at)?;
            if token.is(">") && !self.is_arrow(at) {
                return None;
            }
            if closing(token).is_some() {
                at = self.close(at).filter(|close| *close < end)?;
            } else if token.is(",") {
                parts.push(self.tokens.get(first..at)?);
                first = at + 1;
            }
            at += 1;
        }
        if first < end {
            parts.push(self.tokens.get(first..end)?);
        }
        Some(parts)
    }
}

/// Returns tokens as a text in one line, with spaces where the file has any.
pub(super) fn words(tokens: &[SourceToken<'_>]) -> String {
    let mut text = String::new();
    let mut end = None;
    for token in tokens {
        if end.is_some_and(|end| end != token.start) {
            text.push(' ');
        }
        text.push_str(token.text);
        end = Some(token.start + token.text.len());
    }
    text
}

/// Returns the sign that closes a group which this token opens; `None` if it opens none.
fn closing(token: &SourceToken<'_>) -> Option<&'static str> {
    let pairs = [("(", ")"), ("[", "]"), ("{", "}"), ("<", ">")];
    pairs.into_iter().find(|(open, _)| token.is(open)).map(|(_, end)| end)
}
