//! Splits C++ and Rust into words, signs and literals, with the lines that they are in; comments are left out.

/// A language of source files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// CUDA C++.
    Cpp,
    /// Rust.
    Rust,
}

impl Language {
    /// Returns the language of a file by the ending of its name; `None` for other languages.
    pub(super) fn of(file: &str) -> Option<Self> {
        let (_, ending) = file.rsplit_once('.')?;
        match ending {
            "cu" | "cuh" | "h" | "hh" | "hpp" | "hxx" | "c" | "cc" | "cpp" | "cxx" | "inl" => {
                Some(Self::Cpp)
            }
            "rs" => Some(Self::Rust),
            _ => None,
        }
    }
}

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An identifier, a keyword or a number.
    Word,
    /// One character of punctuation.
    Sign,
    /// A string or a character.
    Literal,
    /// A line of the C++ preprocessor, with the lines that continue it.
    Directive,
}

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SourceToken<'t> {
    /// Its kind.
    pub(super) kind: Kind,
    /// Its text.
    pub(super) text: &'t str,
    /// The byte of the file at which it begins.
    pub(super) start: usize,
    /// The line in which it begins, from 1.
    pub(super) line: u32,
}

impl SourceToken<'_> {
    /// Whether it is this sign.
    pub(super) fn is(&self, sign: &str) -> bool {
        self.kind == Kind::Sign && self.text == sign
    }

    /// Whether it is a word that does not begin with a digit.
    pub(super) fn is_name(&self) -> bool {
        self.kind == Kind::Word && !self.text.starts_with(|c: char| c.is_ascii_digit())
    }
}

/// Returns the tokens of a text; `None` if a comment or literal in it does not end, or if compilers might read its lines in
/// another way.
pub(super) fn tokens(text: &str, language: Language) -> Option<Vec<SourceToken<'_>>> {
    if language == Language::Cpp && has_odd_lines(text) {
        return None;
    }
    let mut found: Vec<SourceToken<'_>> = Vec::new();
    let (mut rest, mut line) = (text, 1_u32);
    while let Some(first) = rest.chars().next() {
        // Whether only white space and comments are before it in its line.
        let is_at_start = found.last().is_none_or(|last| last.line < line);
        let (kind, length) = match first {
            _ if first.is_whitespace() => (None, first.len_utf8()),
            '/' if rest.starts_with("//") => (None, line_length(rest, language)),
            '/' if rest.starts_with("/*") => (None, comment_length(rest, language)?),
            '#' if language == Language::Cpp && is_at_start => {
                let length = line_length(rest, language);
                // A comment or a string that begins there might end in a later line.
                let directive = &rest[..length];
                let opens = directive.rfind("/*").map(|at| directive.split_at(at).1);
                let goes_on = opens.is_some_and(|comment| !comment.contains("*/"));
                if goes_on || directive.contains("R\"") {
                    return None;
                }
                (Some(Kind::Directive), length)
            }
            '"' => (Some(Kind::Literal), quoted_length(rest, '"')?),
            '\'' => quote(rest, language)?,
            _ if is_word(first) => {
                let (kind, length) = word(rest, language)?;
                (Some(kind), length)
            }
            _ => (Some(Kind::Sign), first.len_utf8()),
        };
        let (token, behind) = rest.split_at(length);
        if let Some(kind) = kind {
            found.push(SourceToken { kind, text: token, start: text.len() - rest.len(), line });
        }
        line = line.saturating_add(u32::try_from(token.matches('\n').count()).ok()?);
        rest = behind;
    }
    Some(found)
}

/// Whether a text has a `\` before white space at the end of a line, which some compilers take for one at the end, or the
/// trigraph for it.
fn has_odd_lines(text: &str) -> bool {
    let is_odd = |line: &str| {
        let code = line.trim_end_matches(['\n', '\r']);
        let bare = code.trim_end();
        bare.len() < code.len() && bare.ends_with('\\')
    };
    text.contains("??/") || text.split_inclusive('\n').any(is_odd)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Returns the length of a word. A number in C++ can have `'` between its digits.
fn word_length(text: &str, language: Language) -> usize {
    let is_number = language == Language::Cpp && text.starts_with(|c: char| c.is_ascii_digit());
    text.find(|c| !(is_word(c) || (is_number && c == '\''))).unwrap_or(text.len())
}

/// Returns the length up to the end of a line. A line of C++ goes on behind `\`.
fn line_length(text: &str, language: Language) -> usize {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        let code = line.trim_end_matches(['\n', '\r']);
        length += line.len();
        if language == Language::Rust || !code.ends_with('\\') {
            return length - (line.len() - code.len());
        }
    }
    length
}

/// Returns the length of a comment. Comments nest in Rust.
fn comment_length(text: &str, language: Language) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, 0);
    loop {
        let rest = text.get(at..)?;
        if rest.starts_with("/*") && (depth == 0 || language == Language::Rust) {
            (depth, at) = (depth + 1, at + 2);
        } else if rest.starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return Some(at);
            }
        } else {
            at += rest.chars().next()?.len_utf8();
        }
    }
}

/// Returns the length of a literal in quotes.
fn quoted_length(text: &str, quote: char) -> Option<usize> {
    let mut chars = text.char_indices().skip(1);
    loop {
        match chars.next()? {
            (_, '\\') => drop(chars.next()?),
            (at, c) if c == quote => return Some(at + c.len_utf8()),
            _ => {}
        }
    }
}

/// Returns kind and length of what begins with `'`: a character, or a lifetime of Rust.
fn quote(text: &str, language: Language) -> Option<(Option<Kind>, usize)> {
    let mut chars = text.chars().skip(1);
    let (first, second) = (chars.next()?, chars.next());
    if language == Language::Rust && is_word(first) && second != Some('\'') {
        let length = 1 + word_length(text.get(1..)?, language);
        return Some((Some(Kind::Literal), length));
    }
    Some((Some(Kind::Literal), quoted_length(text, '\'')?))
}

/// Returns the length of what opens a raw string at the start of a text, and what closes it; `None` if there is none.
fn raw_string(text: &str, language: Language) -> Option<(usize, String)> {
    let word = text.get(..word_length(text, language))?;
    let rest = text.get(word.len()..)?;
    match language {
        Language::Cpp if ["R", "LR", "uR", "UR", "u8R"].contains(&word) => {
            let (delimiter, _) = rest.strip_prefix('"')?.split_once('(')?;
            Some((word.len() + delimiter.len() + 2, format!("){delimiter}\"")))
        }
        Language::Rust if ["r", "br", "cr"].contains(&word) => {
            let hashes = rest.chars().take_while(|c| *c == '#').count();
            // Otherwise it is a raw identifier, or a word.
            let is_text = rest.get(hashes..)?.starts_with('"');
            is_text.then(|| (word.len() + hashes + 1, format!("\"{}", "#".repeat(hashes))))
        }
        _ => None,
    }
}

/// Returns kind and length of a word or a raw string; `None` if the string does not end.
fn word(text: &str, language: Language) -> Option<(Kind, usize)> {
    let Some((opening, closing)) = raw_string(text, language) else {
        return Some((Kind::Word, word_length(text, language)));
    };
    let end = text.get(opening..)?.find(&closing)?;
    Some((Kind::Literal, opening + end + closing.len()))
}
