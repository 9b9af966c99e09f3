//! Finds plain statements in a source text of C++ or Rust, by brackets, comments and ends of lines, without a grammar.

/// A source text, line by line.
pub(super) struct Scan<'t> {
    lines: Vec<&'t str>,
    /// For each line, its code: comments and the contents of strings are blank.
    code: Vec<String>,
    /// For each line, whether its start is in no parentheses, and in no braces but those of bodies.
    is_in_body: Vec<bool>,
    /// How the lines end.
    pub(super) line_break: &'static str,
}

/// Words after which a line is more than a statement, or does not reach its end.
const CONTROLS: [&str; 18] = [
    "if", "for", "while", "else", "do", "switch", "case", "default", "loop", "match", "return",
    "break", "continue", "goto", "asm", "define", "struct", "template",
];

/// A statement that takes more lines than this is not searched for its ends.
const MOST: usize = 20;

impl<'t> Scan<'t> {
    /// Returns `None` for a text that is not read exactly.
    pub(super) fn of(text: &'t str) -> Option<Self> {
        if text.contains('\u{fffd}') {
            return None;
        }
        let (code, _) = blank(text);
        let line_break = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let is_in_body = in_bodies(&code);
        let code = code.lines().map(|line| line.trim().to_owned()).collect();
        Some(Self { lines: text.lines().collect(), code, is_in_body, line_break })
    }

    pub(super) fn line(&self, at: usize) -> Option<&'t str> {
        self.lines.get(at).copied()
    }

    pub(super) fn indent(&self, at: usize) -> String {
        self.lines[at].chars().take_while(|c| *c == ' ' || *c == '\t').collect()
    }

    /// Returns the first and the last line of the statement to which a line belongs; `None` if where it begins or ends is in
    /// doubt. `is_before`: only its beginning matters; it may then be a condition, which is computed before it is entered.
    pub(super) fn statement(&self, at: usize, is_before: bool) -> Option<(usize, usize)> {
        self.code.get(at)?;
        let begins = |at: &usize| at.checked_sub(1).is_none_or(|above| self.ends(above));
        let first = (at.saturating_sub(MOST)..=at).rev().find(begins)?;
        if !self.is_in_body[first] || self.has_open_head(first) {
            return None;
        }
        let head = &self.code[first];
        if is_before && first == at && ["if", "switch"].iter().any(|word| begins_with(head, word)) {
            return Some((first, first));
        }
        let last = (at..self.code.len().min(at + MOST)).find(|at| self.ends(*at))?;
        let code = self.code[first..=last].join(" ");
        let is_plain = code.ends_with(';')
            && code.matches(';').count() == 1
            && !code.contains(['{', '}', '#', '\\'])
            && is_no_macro(&code)
            && !words(&code).any(|word| CONTROLS.contains(&word));
        is_plain.then_some((first, last))
    }

    /// Whether a new statement can begin behind a line.
    fn ends(&self, at: usize) -> bool {
        let (code, raw) = (&self.code[at], self.lines[at].trim());
        let is_comment = code.is_empty() && !raw.is_empty() && !raw.starts_with("//");
        let is_open = raw.rfind("/*").is_some_and(|start| !raw[start..].contains("*/"));
        !is_comment
            && !is_open
            && (code.is_empty() || code.starts_with('#') || code.ends_with([';', '{', '}']))
    }

    /// Whether what begins at a line is the body of a loop or condition without braces.
    fn has_open_head(&self, first: usize) -> bool {
        let above = self.code[..first].iter().rev().find(|code| !code.is_empty());
        above.is_some_and(|code| !code.ends_with([';', '{', '}']) && !code.starts_with('#'))
    }
}

/// Whether a statement does not look like the use of a macro: those have no lower-case letters by convention.
fn is_no_macro(code: &str) -> bool {
    let is_macro = |word: &str| {
        word.len() > 1
            && word.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit())
            && word.starts_with(|c: char| c.is_ascii_uppercase())
    };
    let called = words(code).filter(|word| is_macro(word));
    called.into_iter().all(|word| !code.contains(&format!("{word}(")))
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

fn begins_with(code: &str, word: &str) -> bool {
    words(code).next() == Some(word) && code.starts_with(word)
}

/// Returns the text with comments and the contents of strings replaced by spaces, and for each line whether its start is code.
pub(super) fn blank(text: &str) -> (String, Vec<bool>) {
    let (mut out, mut chars) = (String::new(), text.chars().peekable());
    let (mut inside, mut is_code) = (TextState::Code, vec![true]);
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        let (then, shown, takes_next) = match (inside, c, next) {
            (TextState::Code, '/', Some('/')) => (TextState::Line, ' ', false),
            (TextState::Code, '/', Some('*')) => (TextState::Block, ' ', true),
            (TextState::Code, '"', _) => (TextState::Text, '"', false),
            (TextState::Line, '\n', _) => (TextState::Code, '\n', false),
            (TextState::Block, '*', Some('/')) => (TextState::Code, ' ', true),
            (TextState::Text, '\\', Some(_)) => (TextState::Text, ' ', true),
            (TextState::Text, '"', _) => (TextState::Code, '"', false),
            (TextState::Code, _, _) => (TextState::Code, c, false),
            (_, '\n', _) => (inside, '\n', false),
            _ => (inside, ' ', false),
        };
        out.push(shown);
        let has_break = takes_next && chars.next() == Some('\n');
        if has_break {
            out.push('\n');
        }
        inside = then;
        if has_break || c == '\n' {
            is_code.push(inside == TextState::Code);
        }
    }
    (out, is_code)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TextState {
    Code,
    Line,
    Block,
    Text,
}

/// Returns for each line whether its start is in no parentheses, and in no braces but those of bodies.
fn in_bodies(code: &str) -> Vec<bool> {
    let (mut open, mut last) = (Vec::new(), ' ');
    let mut found = Vec::new();
    for line in code.lines() {
        found.push(open.iter().all(|is_body| *is_body) && !open.is_empty());
        for c in line.chars().filter(|c| !c.is_whitespace()) {
            match c {
                '(' | '[' => open.push(false),
                // Behind these, braces enclose values.
                '{' => open.push(!matches!(last, '=' | ',' | '(' | '{' | ']') || open.is_empty()),
                ')' | ']' | '}' => drop(open.pop()),
                _ => {}
            }
            last = c;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(body: &str, line: &str) -> Option<(usize, usize)> {
        let text = format!("void k() {{\n{body}}}\n");
        let scan = Scan::of(&text).expect("it is text");
        let at = scan.lines.iter().position(|own| own.contains(line)).expect("the line is there");
        scan.statement(at, false).map(|(first, last)| (first - 1, last - 1))
    }

    #[test]
    fn a_statement_is_found_where_it_is_plain() {
        assert_eq!(around("int t;\ns[t] = 1;\nb();\n", "s[t]"), Some((1, 1)));
        assert_eq!(around("a();\ns[t] = f(a,\n b);  // both\n", "b);"), Some((1, 2)));
        assert_eq!(around("#pragma unroll\ns[t] = 1;\n", "s[t]"), Some((1, 1)));
        assert_eq!(around("s[t] = 1; /* t */\n", "s[t]"), Some((0, 0)));
        assert_eq!(around("if (t) {\n s[t] = 1;\n}\n", "s[t]"), Some((1, 1)));
    }

    #[test]
    fn what_is_in_doubt_is_no_statement() {
        for body in [
            "if (t < 4)\n  s[t] = 1;\n",
            "for (;;) s[t] = 1;\n",
            "a();\nif (s[t] > 1) {\n b();\n}\n",
            "s[t] = 1; x = s[1];\n",
            "case 1:\n s[t] = 1;\n",
            "auto put = [&](int i) { s[t] = i; };\n",
            "int4 y = {\n s[t],\n s[1]};\n",
            "for (int i = 0;\n s[t] > i;\n ++i) {\n}\n",
            "return s[t];\n",
            "SUM(s[t]);\n",
            "/* a();\n s[t] = 1;\n */\n",
            "s[t] = 1; /* a\n b */\n",
        ] {
            assert_eq!(around(body, "s[t]"), None, "{body}");
        }
    }

    #[test]
    fn a_condition_has_a_beginning() {
        let scan = Scan::of("void k() {\n  a();\n  if (s[t] > 1) {\n  }\n}\n").expect("it is text");
        assert_eq!(scan.statement(2, true), Some((2, 2)));
        assert_eq!(scan.statement(2, false), None);
    }
}
