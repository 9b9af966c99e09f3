//! Bytes to tokens. White space and comments separate tokens and are dropped; every token has a span.

use super::{ReadError, ReadErrorKind, Span};

/// What a token is; its text is its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `abc`, `%r1`, `$L_2`, `_x`.
    Word,
    /// `.reg`, `.u32`, `.x`: a dot and a word.
    Dot,
    /// `12`, `0x1F`, `1.5`, `0f3F800000`; the parser takes it apart.
    Number,
    /// `"..."`.
    String,
    /// One other character.
    Punct(u8),
    /// The end of the text.
    End,
}

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) span: Span,
}

/// A place in the text, moving forward.
#[derive(Debug)]
pub(super) struct Lexer<'a> {
    bytes: &'a [u8],
    /// Where the next token is looked for.
    pub(super) at: usize,
    pub(super) errors: Vec<ReadError>,
}

/// Bytes of a name or of a string: findings repeat names. Compilers abbreviate longer ones.
pub(super) const MAX_NAME: usize = 32 * 1024;

const fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$' | b'%')
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), at: 0, errors: Vec::new() }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn span_from(&self, start: usize) -> Span {
        // `parse` refuses texts of 4 GiB and more.
        Span {
            start: u32::try_from(start).unwrap_or(u32::MAX),
            end: u32::try_from(self.at).unwrap_or(u32::MAX),
        }
    }

    fn take_while(&mut self, accept: impl Fn(u8) -> bool) {
        while self.bytes.get(self.at).is_some_and(|&byte| accept(byte)) {
            self.at += 1;
        }
    }

    fn skip_blank(&mut self) {
        loop {
            self.take_while(|byte| byte.is_ascii_whitespace());
            match (self.peek(0), self.peek(1)) {
                (b'/', b'/') => self.take_while(|byte| byte != b'\n'),
                (b'/', b'*') => self.skip_block_comment(),
                // Lines of the pre-processor and PTX 1.x's `@@DWARF` lines.
                (b'#', _) | (b'@', b'@') => self.take_while(|byte| byte != b'\n'),
                _ => return,
            }
        }
    }

    fn skip_block_comment(&mut self) {
        let start = self.at;
        self.at += 2;
        loop {
            self.take_while(|byte| byte != b'*');
            if self.at >= self.bytes.len() {
                let span = Span {
                    end: u32::try_from(start + 2).unwrap_or(u32::MAX),
                    ..self.span_from(start)
                };
                self.errors.push(ReadError { kind: ReadErrorKind::Truncated("a comment"), span });
                return;
            }
            self.at += 1;
            if self.peek(0) == b'/' {
                self.at += 1;
                return;
            }
        }
    }

    /// The next token.
    pub(super) fn next(&mut self) -> Token {
        self.skip_blank();
        let start = self.at;
        let first = self.peek(0);
        let kind = if self.at >= self.bytes.len() {
            Kind::End
        } else if is_word_start(first) {
            self.at += 1;
            self.take_while(is_word);
            Kind::Word
        } else if first == b'.' && (is_word_start(self.peek(1))) {
            self.at += 2;
            self.take_while(is_word);
            Kind::Dot
        } else if first.is_ascii_digit() || (first == b'.' && self.peek(1).is_ascii_digit()) {
            self.number();
            Kind::Number
        } else if first == b'"' {
            self.string();
            Kind::String
        } else {
            self.punct()
        };
        let span = self.span_from(start);
        if matches!(kind, Kind::Word | Kind::Dot | Kind::String) && self.at - start > MAX_NAME {
            let end = span.start + 1;
            self.errors.push(ReadError { kind: ReadErrorKind::Name, span: Span { end, ..span } });
        }
        Token { kind, span }
    }

    fn number(&mut self) {
        let is_hex =
            self.peek(0) == b'0' && matches!(self.peek(1), b'x' | b'X' | b'f' | b'F' | b'd' | b'D');
        if is_hex {
            self.at += 2;
            self.take_while(|byte| byte.is_ascii_hexdigit());
        } else {
            self.take_while(|byte| byte.is_ascii_digit());
            if self.peek(0) == b'.' && !is_word_start(self.peek(1)) {
                self.at += 1;
                self.take_while(|byte| byte.is_ascii_digit());
            }
            let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
            if matches!(self.peek(0), b'e' | b'E') && self.peek(1 + sign).is_ascii_digit() {
                self.at += 1 + sign;
            }
            self.take_while(|byte| byte.is_ascii_alphanumeric());
        }
        if self.peek(0) == b'U' {
            self.at += 1;
        }
    }

    fn string(&mut self) {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek(0) {
                b'"' => break self.at += 1,
                b'\\' if self.at + 1 < self.bytes.len() => self.at += 2,
                b'\n' | 0 => {
                    let span = self.span_from(start);
                    self.errors
                        .push(ReadError { kind: ReadErrorKind::Truncated("a string"), span });
                    break;
                }
                _ => self.at += 1,
            }
        }
    }

    /// One character that starts no other token; the lexer stays on character boundaries.
    fn punct(&mut self) -> Kind {
        let start = self.at;
        self.at += 1;
        let byte = self.bytes[start];
        if byte.is_ascii_graphic() {
            return Kind::Punct(byte);
        }
        self.take_while(|byte| (0x80..0xc0).contains(&byte));
        let text = String::from_utf8_lossy(&self.bytes[start..self.at]);
        let character = text.chars().next().unwrap_or('\u{fffd}');
        let span = self.span_from(start);
        self.errors.push(ReadError { kind: ReadErrorKind::Character(character), span });
        Kind::Punct(b'?')
    }

    /// Extends a word that starts an instruction over its modifiers: `ld.shared::cta.u32`.
    pub(super) fn mnemonic(&mut self, word: Span) -> Span {
        loop {
            match (self.peek(0), self.peek(1)) {
                (b'.', next) if is_word(next) => self.at += 1,
                (b':', b':') => self.at += 2,
                _ => return Span { start: word.start, ..self.span_from(self.at) },
            }
            self.take_while(is_word);
        }
    }

    /// Skips to behind the brace that closes the one just read. False if the text ends first.
    pub(super) fn skip_braces(&mut self) -> bool {
        let mut depth = 1_u64;
        while depth > 0 {
            match self.next().kind {
                Kind::Punct(b'{') => depth += 1,
                Kind::Punct(b'}') => depth -= 1,
                Kind::End => return false,
                _ => {}
            }
        }
        true
    }
}

/// The byte offset at which each line starts.
pub(super) fn line_starts(text: &str) -> Vec<u32> {
    let after_breaks =
        text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(after_breaks).filter_map(|at| u32::try_from(at).ok()).collect()
}
