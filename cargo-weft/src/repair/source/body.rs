//! Finds where a statement can be inserted between two lines of a function of C or C++: in front of or behind a whole
//! statement of the smallest body that contains both. Brackets, words and ends of statements are read, no types and no
//! macros; whatever does not fit is in doubt.

use std::ops::Range;

use weft_core::repair::IterationPlace;

use super::scan::blank;

/// A word, a character, or a directive of the preprocessor.
#[derive(Clone, Copy)]
struct CodeToken<'t> {
    text: &'t str,
    line: usize,
    /// Whether nothing stands in front of it in its line.
    is_first: bool,
    /// The matching bracket.
    partner: usize,
}

/// A statement, and the directives in front of it that belong to it.
struct StatementRange {
    tokens: Range<usize>,
    lines: Range<usize>,
}

/// The statements of a source text.
pub(super) struct Bodies<'t> {
    tokens: Vec<CodeToken<'t>>,
}

/// A text with blanks in place of what is no code.
pub(super) struct BlankText {
    code: String,
    /// For each line, whether its start is code.
    is_code: Vec<bool>,
}

impl BlankText {
    /// Returns `None` for a text that is not read exactly: characters that look like brackets, or raw strings.
    pub(super) fn of(text: &str) -> Option<Self> {
        let is_odd = ["{", "}", "(", ")", "[", "]", "\"", ";"]
            .iter()
            .any(|own| text.contains(&format!("'{own}'")));
        let (code, is_code) = blank(text);
        (!is_odd && !text.contains("R\"") && !text.contains('\u{fffd}'))
            .then_some(Self { code, is_code })
    }

    /// Whether a line can be inserted in front of a line.
    fn is_free(&self, line: usize) -> bool {
        let is_continued = |above: usize| {
            self.code.lines().nth(above).is_some_and(|own| own.trim_end().ends_with('\\'))
        };
        self.is_code.get(line).copied().unwrap_or(true)
            && !line.checked_sub(1).is_some_and(is_continued)
    }

    /// Returns the index of the line in front of which a statement separates two lines, and that of a line with the same
    /// indentation. `from` and `to`: the lines; `iteration`: where, in the loop around both.
    pub(super) fn between(
        &self,
        [from, to]: [usize; 2],
        iteration: Option<IterationPlace>,
    ) -> Option<(usize, usize)> {
        let bodies = Bodies::of(&self.code)?;
        let found = match iteration {
            None => bodies.in_front_of_second(from, to),
            Some(place) => bodies.in_loop(from.min(to), from.max(to), place),
        };
        found.filter(|(line, _)| self.is_free(*line))
    }
}

impl<'t> Bodies<'t> {
    /// Returns `None` if brackets do not match.
    fn of(code: &'t str) -> Option<Self> {
        let mut tokens = tokens(code);
        let mut open: Vec<usize> = Vec::new();
        for at in 0..tokens.len() {
            let closes = match tokens[at].text {
                "(" | "[" | "{" => {
                    open.push(at);
                    continue;
                }
                ")" => "(",
                "]" => "[",
                "}" => "{",
                _ => continue,
            };
            let start = open.pop().filter(|start| tokens[*start].text == closes)?;
            tokens[start].partner = at;
            tokens[at].partner = start;
        }
        open.is_empty().then_some(Self { tokens })
    }

    fn text(&self, at: usize) -> &'t str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    /// Returns the braces around two lines, which are not of these lines, innermost first.
    fn around(&self, first: usize, last: usize) -> impl Iterator<Item = usize> {
        let is_around = move |at: &usize| {
            let own = self.tokens[*at];
            own.text == "{" && own.line < first && self.tokens[own.partner].line > last
        };
        (0..self.tokens.len()).rev().filter(is_around)
    }

    /// Returns the place in front of the statement of the later line, in the smallest body that contains both lines.
    fn in_front_of_second(&self, from: usize, to: usize) -> Option<(usize, usize)> {
        let body = self.around(from, to).next().filter(|_| from < to)?;
        let all = self.statements(body)?;
        let (first, second) = (of_line(&all, from)?, of_line(&all, to)?);
        let are_plain = all[first..=second].iter().all(|own| !self.is_macro(own));
        let start = all[second].lines.start;
        let is_apart = first < second && all[first].lines.end <= start;
        // Threads that leave in between would not come by the place.
        let are_passed = !all[first..second].iter().any(|own| self.is_left(own));
        let is_it = is_apart && are_plain && are_passed && self.is_at_start(&all[second]);
        is_it.then(|| (start, self.first_line(&all[second])))
    }

    /// Returns the place in front of or behind the statements of two lines, in the smallest body of a loop that contains both.
    fn in_loop(&self, low: usize, high: usize, place: IterationPlace) -> Option<(usize, usize)> {
        let body = self.around(low, high).find(|body| self.is_loop(*body))?;
        let all = self.statements(body)?;
        let (first, last) = (of_line(&all, low)?, of_line(&all, high)?);
        if first == last && all[first].tokens.clone().any(|at| self.begins_loop(at))
            || all.iter().any(|own| self.is_macro(own))
        {
            return None;
        }
        match place {
            IterationPlace::Start => {
                let start = all[first].lines.start;
                self.is_at_start(&all[first]).then(|| (start, self.first_line(&all[first])))
            }
            IterationPlace::End => {
                let StatementRange { tokens, lines } = &all[last];
                let next = self.tokens.get(tokens.end)?;
                let indent = self.first_line(&all[last]);
                (next.line >= lines.end && self.is_at_start(&all[last]))
                    .then_some((lines.end, indent))
            }
        }
    }

    fn is_at_start(&self, own: &StatementRange) -> bool {
        self.tokens[own.tokens.start].is_first
    }

    /// Returns the first line of a statement behind its directives.
    fn first_line(&self, own: &StatementRange) -> usize {
        let is_code = |at: &usize| !self.text(*at).starts_with('#');
        own.tokens.clone().find(is_code).map_or(own.lines.start, |at| self.tokens[at].line)
    }

    /// Whether a statement begins with a word without lower-case letters, by convention a macro.
    fn is_macro(&self, own: &StatementRange) -> bool {
        let word = self.text(own.tokens.start);
        word.len() > 1
            && word.starts_with(|c: char| c.is_ascii_uppercase())
            && !word.contains(|c: char| c.is_ascii_lowercase())
    }

    /// Whether a token is the word that begins a loop.
    fn begins_loop(&self, at: usize) -> bool {
        ["for", "while", "do"].contains(&self.text(at))
    }

    /// Whether threads might leave a statement for another one than the next.
    fn is_left(&self, own: &StatementRange) -> bool {
        let is_loop = self.begins_loop(own.tokens.start);
        let leaves = |word: &str| match word {
            "return" | "goto" | "asm" | "__asm__" | "exit" | "__trap" => true,
            "break" | "continue" => !is_loop,
            _ => false,
        };
        own.tokens.clone().any(|at| leaves(self.text(at)))
    }

    /// Whether a brace opens the body of a loop.
    fn is_loop(&self, brace: usize) -> bool {
        let Some(before) = brace.checked_sub(1) else { return false };
        let head = || self.tokens[before].partner.checked_sub(1).map(|at| self.text(at));
        match self.text(before) {
            "do" => true,
            ")" => matches!(head(), Some("for" | "while")),
            _ => false,
        }
    }

    /// Returns the statements of a body, if it has nothing else.
    fn statements(&self, brace: usize) -> Option<Vec<StatementRange>> {
        let (mut at, end) = (brace + 1, self.tokens[brace].partner);
        let mut found = Vec::new();
        while at < end {
            let next = self.statement(at).filter(|next| *next <= end)?;
            let lines = self.tokens[at].line..self.tokens[next - 1].line + 1;
            found.push(StatementRange { tokens: at..next, lines });
            at = next;
        }
        Some(found)
    }

    /// Returns the end of the statement that begins at a token.
    fn statement(&self, at: usize) -> Option<usize> {
        match self.text(at) {
            "" | "}" | ")" | "]" | "case" | "default" | "else" | "catch" | "try" | "asm" => None,
            "{" => Some(self.tokens[at].partner + 1),
            "do" => {
                let tail = self.statement(at + 1)?;
                let is_tail = self.text(tail) == "while" && self.text(tail + 1) == "(";
                self.plain(is_tail.then_some(tail + 1)?)
            }
            "for" | "while" | "switch" => self.statement(self.behind_head(at + 1)?),
            "if" => {
                let head = if self.text(at + 1) == "constexpr" { at + 2 } else { at + 1 };
                let then = self.statement(self.behind_head(head)?)?;
                if self.text(then) == "else" { self.statement(then + 1) } else { Some(then) }
            }
            text if text.starts_with('#') => {
                let is_pragma = text[1..].trim_start().starts_with("pragma");
                is_pragma.then(|| self.statement(at + 1))?
            }
            _ if self.text(at + 1) == ":" && self.text(at + 2) != ":" => None,
            _ => self.plain(at),
        }
    }

    fn behind_head(&self, at: usize) -> Option<usize> {
        (self.text(at) == "(").then(|| self.tokens[at].partner + 1)
    }

    /// Returns the end of a statement that ends with a semicolon.
    fn plain(&self, mut at: usize) -> Option<usize> {
        loop {
            match self.text(at) {
                ";" => return Some(at + 1),
                "(" | "[" | "{" => at = self.tokens[at].partner + 1,
                "" | ")" | "]" | "}" => return None,
                text if text.starts_with('#') => return None,
                // A macro in front that ends without a semicolon might hide what this statement is the body of.
                "for" | "while" | "if" | "else" | "do" | "switch" | "case" => return None,
                _ => at += 1,
            }
        }
    }
}

/// Returns the statement that has a line, if no other one has.
fn of_line(all: &[StatementRange], line: usize) -> Option<usize> {
    let mut found = (0..all.len()).filter(|at| all[*at].lines.contains(&line));
    found.next().filter(|_| found.next().is_none())
}

/// Splits code into words, other characters, and directives with their continued lines.
fn tokens(code: &str) -> Vec<CodeToken<'_>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut found, mut at, mut line, mut is_first) = (Vec::new(), 0, 0, true);
    while let Some(c) = code[at..].chars().next() {
        let rest = &code[at..];
        let length = match c {
            '#' if is_first => {
                let mut end = 0;
                for own in rest.split_inclusive('\n') {
                    end += own.len();
                    if !own.trim_end().ends_with('\\') {
                        break;
                    }
                }
                rest[..end].trim_end().len()
            }
            _ if is_word(c) => rest.find(|c: char| !is_word(c)).unwrap_or(rest.len()),
            _ => c.len_utf8(),
        };
        let text = &rest[..length];
        if c == '\n' {
            (line, is_first) = (line + 1, true);
        } else if !c.is_whitespace() {
            found.push(CodeToken { text, line, is_first, partner: 0 });
            line += text.matches('\n').count();
            is_first = false;
        }
        at += length;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Inserts `sync` between the lines that contain `from` and `to`, counted from the kernel's first; `None` in doubt.
    fn inserted(body: &str, iteration: Option<IterationPlace>) -> Option<String> {
        let text = format!("void k() {{\n{body}}}\n");
        let line = |what: &str| text.lines().position(|own| own.contains(what));
        let lines = [line("from")?, line("to()")?];
        let (at, _) = BlankText::of(&text)?.between(lines, iteration)?;
        let mut all: Vec<&str> = body.lines().collect();
        all.insert(at - 1, "sync");
        Some(all.join(" "))
    }

    fn between(body: &str) -> Option<String> {
        inserted(body, None)
    }

    #[test]
    fn the_place_is_in_front_of_the_second_statement() {
        for (body, expected) in [
            ("from();\nto();\n", "from(); sync to();"),
            ("for (;;)\nfrom();\nfor (;;)\nto();\n", "for (;;) from(); sync for (;;) to();"),
            (
                "from();\n#pragma unroll\nfor (;;)\nfor (;;) {\nto();\n}\n",
                "from(); sync #pragma unroll for (;;) for (;;) { to(); }",
            ),
            (
                "if (a) {\nfrom();\n} else\nb();\nif (c) to();\n",
                "if (a) { from(); } else b(); sync if (c) to();",
            ),
            (
                "for (;;) {\nfrom();\nif (a) break;\n}\nto();\n",
                "for (;;) { from(); if (a) break; } sync to();",
            ),
            (
                "for (;;) {\nfrom();\nb();\nwhile (a)\nto();\n}\n",
                "for (;;) { from(); b(); sync while (a) to(); }",
            ),
            (
                "do {\nfrom();\n} while (a);\nint x =\nto();\n",
                "do { from(); } while (a); sync int x = to();",
            ),
            (
                "auto f = [&] { return 1; };\nfrom();\nint v[] = {\nto() };\n",
                "auto f = [&] { return 1; }; from(); sync int v[] = { to() };",
            ),
            ("from(\na);\n// b\nto();\n", "from( a); // b sync to();"),
        ] {
            assert_eq!(between(body).as_deref(), Some(expected), "{body}");
        }
    }

    #[test]
    fn what_is_in_doubt_has_no_place() {
        for body in [
            "from(); x();\nto(); y(); z(\n);\n",
            "if (a)\nfrom();\nelse\nto();\n",
            "while (from())\nto();\n",
            "switch (a) {\ncase 1:\nfrom();\nto();\n}\n",
            "from();\n#if A\nb();\n#endif\nto();\n",
            "from();\nLOOP(i)\nb();\nto();\n",
            "from();\nlabel:\nto();\n",
            "from(); for (;;)\nto();\n",
            "from();\nb(); /* c\n*/ to();\n",
            "from('{');\nto();\n",
            "from();\nif (a) return;\nto();\n",
            "for (;;)\nif (from()) {\nreturn;\n}\nto();\n",
            "from();\nif (a)\ncontinue;\nto();\n",
        ] {
            assert_eq!(between(body), None, "{body}");
        }
    }

    #[test]
    fn accesses_of_two_iterations_are_apart_in_their_loop() {
        let body = "for (;;) {\na();\nif (b) {\nto();\n}\nfor (;;)\nfrom();\n}\n";
        let both =
            [IterationPlace::Start, IterationPlace::End].map(|own| inserted(body, Some(own)));
        let expected = [
            "for (;;) { a(); sync if (b) { to(); } for (;;) from(); }",
            "for (;;) { a(); if (b) { to(); } for (;;) from(); sync }",
        ];
        assert_eq!(both, expected.map(|own| Some(own.to_owned())));
        for body in [
            "to();\nfrom();\n",
            "for (;;) {\nfor (;;)\nto(from());\n}\n",
            "for (;;) {\na(); for (;;)\nto();\nfrom(); b();\n}\n",
        ] {
            assert_eq!(inserted(body, Some(IterationPlace::Start)), None, "{body}");
        }
    }
}
