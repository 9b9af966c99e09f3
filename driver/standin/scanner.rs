//! The tokens of PTX text (PTX ISA, "Syntax"), as far as declarations need them.

/// Splits a text into tokens: words and numbers (`saxpy`, `%r1`, `0x10`, `8.5`), directives (`.entry`), texts with their quotes,
/// and single signs. Comments are dropped. Every text has tokens; what is no PTX fails later.
pub(crate) fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if first.is_whitespace() => {
                rest = &rest[first.len_utf8()..];
                continue;
            }
            '/' if rest.starts_with("//") => {
                rest = rest.find('\n').map_or("", |end| &rest[end..]);
                continue;
            }
            '/' if rest.starts_with("/*") => {
                rest = rest[2..].find("*/").map_or("", |end| &rest[end + 4..]);
                continue;
            }
            '"' => quoted(rest),
            '0'..='9' => number(rest),
            '.' => 1 + word(&rest[1..]),
            _ if is_of_word(first) => word(rest),
            _ => first.len_utf8(),
        };
        found.push(&rest[..length]);
        rest = &rest[length..];
    }
    found
}

fn is_of_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$' | '%')
}

/// Length of the word at the start of a text.
fn word(text: &str) -> usize {
    text.find(|letter| !is_of_word(letter)).unwrap_or(text.len())
}

/// Length of a number: a word that a point and more digits might follow.
fn number(text: &str) -> usize {
    let whole = word(text);
    let fraction = text[whole..].strip_prefix('.').filter(|rest| rest.starts_with(is_digit));
    fraction.map_or(whole, |rest| whole + 1 + word(rest))
}

fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit()
}

/// Length of a text in quotes, with the quotes; up to the end where the second is missing.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

/// A place within tokens.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'t> {
    tokens: &'t [&'t str],
    at: usize,
}

impl<'t> Cursor<'t> {
    /// Starts at the first token.
    pub(crate) fn new(tokens: &'t [&'t str]) -> Self {
        Cursor { tokens, at: 0 }
    }

    /// Returns the next token without passing it.
    pub(crate) fn peek(&self) -> Option<&'t str> {
        self.tokens.get(self.at).copied()
    }

    /// Returns the next token and passes it.
    pub(crate) fn next(&mut self) -> Option<&'t str> {
        let token = self.peek();
        self.at += 1;
        token
    }

    /// Returns how many tokens it has passed.
    pub(crate) fn place(&self) -> usize {
        self.at
    }

    /// Passes the next token if it is this one, and returns whether it was.
    pub(crate) fn take(&mut self, token: &str) -> bool {
        let found = self.peek() == Some(token);
        self.at += usize::from(found);
        found
    }

    /// Passes the tokens up to the bracket that closes the one that was just passed, and returns those between the two.
    pub(crate) fn bracketed(&mut self, open: &str, close: &str) -> Option<&'t [&'t str]> {
        let (first, mut depth) = (self.at, 1_usize);
        while let Some(token) = self.next() {
            depth += usize::from(token == open);
            if token == close {
                depth -= 1;
                if depth == 0 {
                    return self.tokens.get(first..self.at - 1);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn comments_texts_and_numbers_are_told_apart() {
        let text = ".version 8.5 // .entry a(\n/* { \" */ x$1: mov.u32 %r1,0x1F; .file \"a\\\"// b\" .b8 é[3]";
        let expected = [
            ".version",
            "8.5",
            "x$1",
            ":",
            "mov",
            ".u32",
            "%r1",
            ",",
            "0x1F",
            ";",
            ".file",
            "\"a\\\"// b\"",
            ".b8",
            "é",
            "[",
            "3",
            "]",
        ];
        assert_eq!(tokens(text), expected);
        assert_eq!(tokens("a /* open"), ["a"]);
        assert_eq!(tokens("\"open"), ["\"open"]);
    }
}
