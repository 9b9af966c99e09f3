//! Splits the text into tokens. White space and comments separate tokens and are dropped; every token has a span.

use super::{ReadError, ReadErrorKind, Span};

/// The kind of a token; its text is given by its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// `abc`, `%r1`, `$L_2`, `_x`.
    Word,
    /// `.reg`, `.u32`, `.x`: a dot and a word.
    Dot,
    /// `12`, `0x1F`, `1.5`, `0f3F800000`; the parser reads the value.
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
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

impl Token {
    /// The parser's token before it has read any.
    pub(super) const START: Self = Self { kind: TokenKind::End, span: Span { start: 0, end: 0 } };
}

/// A position in the text that moves forward token by token.
#[derive(Debug)]
pub(super) struct Lexer<'a> {
    bytes: &'a [u8],
    /// Byte offset at which the search for the next token starts.
    pub(super) at: usize,
    pub(super) errors: Vec<ReadError>,
}

/// The largest length of a name or a string in bytes. It is limited because findings repeat names; compilers abbreviate
/// longer ones.
pub(super) const MAX_NAME: usize = 32 * 1024;

/// The character classes of each byte. A table is faster than comparisons, and every byte of the text is looked up.
static CLASSES: [u8; 256] = classes();
const BLANK: u8 = 1;
const WORD_START: u8 = 2;
const WORD: u8 = 4;
const DIGIT: u8 = 8;
const HEX: u8 = 16;
const ALPHANUMERIC: u8 = 32;

const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        let is_sign = matches!(byte, b'_' | b'$');
        let is = [
            (BLANK, byte.is_ascii_whitespace()),
            (WORD_START, byte.is_ascii_alphabetic() || is_sign || byte == b'%'),
            (WORD, byte.is_ascii_alphanumeric() || is_sign),
            (DIGIT, byte.is_ascii_digit()),
            (HEX, byte.is_ascii_hexdigit()),
            (ALPHANUMERIC, byte.is_ascii_alphanumeric()),
        ];
        let mut at = 0;
        while at < is.len() {
            if is[at].1 {
                classes[byte as usize] |= is[at].0;
            }
            at += 1;
        }
        byte += 1;
    }
    classes
}

fn is(byte: u8, class: u8) -> bool {
    CLASSES[usize::from(byte)] & class != 0
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
            start: u32::try_from(start).expect("texts have at most 4 GiB"),
            end: u32::try_from(self.at).expect("texts have at most 4 GiB"),
        }
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or(&[])
    }

    fn take(&mut self, class: u8) {
        let rest = self.rest();
        self.at += rest.iter().position(|byte| !is(*byte, class)).unwrap_or(rest.len());
    }

    /// Skips to the next occurrence of `byte`, or to the end of the text.
    fn take_until(&mut self, byte: u8) {
        let rest = self.rest();
        self.at += memchr::memchr(byte, rest).unwrap_or(rest.len());
    }

    fn skip_blank(&mut self) {
        loop {
            self.take(BLANK);
            match (self.peek(0), self.peek(1)) {
                (b'/', b'*') => self.skip_block_comment(),
                // Comments, preprocessor lines, and the `@@DWARF` lines of PTX 1.x.
                (b'/', b'/') | (b'#', _) | (b'@', b'@') => self.take_until(b'\n'),
                _ => return,
            }
        }
    }

    fn skip_block_comment(&mut self) {
        let start = self.at;
        self.at += 2;
        loop {
            self.take_until(b'*');
            if self.at >= self.bytes.len() {
                let span = Span {
                    end: u32::try_from(start + 2).expect("texts have at most 4 GiB"),
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

    /// Reads the next token into `token`. It is overwritten in place because returning it by value is slower.
    pub(super) fn next(&mut self, token: &mut Token) {
        self.skip_blank();
        let start = self.at;
        let first = self.peek(0);
        let kind = if self.at >= self.bytes.len() {
            TokenKind::End
        } else if is(first, WORD_START) {
            self.at += 1;
            self.take(WORD);
            TokenKind::Word
        } else if first == b'.' && is(self.peek(1), WORD_START) {
            self.at += 2;
            self.take(WORD);
            TokenKind::Dot
        } else if is(first, DIGIT) || (first == b'.' && is(self.peek(1), DIGIT)) {
            self.number();
            TokenKind::Number
        } else if first == b'"' {
            self.string();
            TokenKind::String
        } else {
            self.punct()
        };
        let span = self.span_from(start);
        if matches!(kind, TokenKind::Word | TokenKind::Dot | TokenKind::String)
            && self.at - start > MAX_NAME
        {
            let end = span.start + 1;
            self.errors.push(ReadError { kind: ReadErrorKind::Name, span: Span { end, ..span } });
        }
        token.kind = kind;
        token.span = span;
    }

    fn number(&mut self) {
        let is_hex =
            self.peek(0) == b'0' && matches!(self.peek(1), b'x' | b'X' | b'f' | b'F' | b'd' | b'D');
        if is_hex {
            self.at += 2;
            self.take(HEX);
        } else {
            self.take(DIGIT);
            if self.peek(0) == b'.' && !is(self.peek(1), WORD_START) {
                self.at += 1;
                self.take(DIGIT);
            }
            let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
            if matches!(self.peek(0), b'e' | b'E') && is(self.peek(1 + sign), DIGIT) {
                self.at += 1 + sign;
            }
            self.take(ALPHANUMERIC);
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

    /// Reads one character that starts no other token; the lexer stays on character boundaries.
    fn punct(&mut self) -> TokenKind {
        let start = self.at;
        self.at += 1;
        let byte = self.bytes[start];
        if byte.is_ascii_graphic() {
            return TokenKind::Punct(byte);
        }
        while (0x80..0xc0).contains(&self.peek(0)) {
            self.at += 1;
        }
        let text = String::from_utf8_lossy(&self.bytes[start..self.at]);
        let character = text.chars().next().unwrap_or('\u{fffd}');
        let span = self.span_from(start);
        self.errors.push(ReadError { kind: ReadErrorKind::Character(character), span });
        TokenKind::Punct(b'?')
    }

    /// Extends the first word of an instruction over the modifiers that follow it: `ld.shared::cta.u32`.
    pub(super) fn mnemonic(&mut self, word: Span) -> Span {
        loop {
            match (self.peek(0), self.peek(1)) {
                (b'.', next) if is(next, WORD) => self.at += 1,
                (b':', b':') => self.at += 2,
                _ => return Span { start: word.start, ..self.span_from(self.at) },
            }
            self.take(WORD);
        }
    }

    /// Skips past the brace that closes the one just read. Returns false if the text ends first.
    pub(super) fn skip_braces(&mut self) -> bool {
        let (mut depth, mut token) = (1_u64, Token::START);
        while depth > 0 {
            self.next(&mut token);
            match token.kind {
                TokenKind::Punct(b'{') => depth += 1,
                TokenKind::Punct(b'}') => depth -= 1,
                TokenKind::End => return false,
                _ => {}
            }
        }
        true
    }
}

/// Returns the byte offset at which each line starts.
pub(super) fn line_starts(text: &str) -> Vec<u32> {
    /// A lower estimate of the average length of a PTX line in bytes.
    const LINE: usize = 20;
    let mut starts = Vec::with_capacity(text.len() / LINE + 1);
    starts.push(0);
    let after_breaks = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
    starts.extend(after_breaks.filter_map(|at| u32::try_from(at).ok()));
    starts
}
