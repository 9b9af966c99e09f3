//! Builds the tree from tokens. The parser always finishes: a statement that cannot be read becomes an error, and
//! reading continues with the next one.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use super::index::Index;
use super::isa::{self, Decoded};
use super::lexer::{Lexer, Token, TokenKind, line_starts};
use super::literal::{self, NumberLiteral};
use super::{Module, ParsedOperand, ReadError, ReadErrorKind, Span};

mod body;
mod constant;
mod function;
mod operand;
mod variable;

/// Reads a whole module. Never fails; see [`Module::errors`] for what could not be read.
pub fn parse(text: &str) -> Module {
    parse_shared(&Arc::from(text))
}

/// Like [`parse`], for a text that is shared; the module keeps a reference to it.
pub fn parse_shared(shared: &Arc<str>) -> Module {
    let text = &**shared;
    let mut module = Module {
        text: shared.clone(),
        lines: line_starts(text),
        version: None,
        target: None,
        address_size: 64,
        variables: Vec::new(),
        functions: Vec::new(),
        files: Vec::new(),
        errors: Vec::new(),
        mnemonics: Vec::new(),
        index: Index::default(),
    };
    if u32::try_from(text.len()).is_err() {
        module.errors.push(ReadError { kind: ReadErrorKind::Size, span: Span::default() });
        return module;
    }
    let mut parser = Parser::new(text);
    parser.module(&mut module);
    module.errors = parser.lexer.errors;
    module.mnemonics = parser.mnemonics;
    module.index = Index::of(&module);
    module
}

/// The state of reading one text: the lexer and the current token.
struct Parser<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
    token: Token,
    /// Operands read so far of the vectors and instructions that are not finished, the innermost last.
    operands: Vec<ParsedOperand>,
    /// Whether the current instruction is a call: parentheses hold lists in a call, and constants elsewhere.
    is_call: bool,
    /// Decoded mnemonics, each once: a text has only a few dozen different ones.
    mnemonics: Vec<Option<Arc<Decoded>>>,
    /// Positions in `mnemonics`, by the text of the mnemonic.
    places: HashMap<&'a str, u32>,
}

/// An error that was recorded; the caller continues with the next statement.
struct Recorded;

type Read<T> = Result<T, Recorded>;

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        let mut parser = Self {
            text,
            lexer: Lexer::new(text),
            token: Token::START,
            operands: Vec::new(),
            is_call: false,
            mnemonics: Vec::new(),
            places: HashMap::default(),
        };
        parser.advance();
        parser
    }

    fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// Returns the text of the current token.
    fn word(&self) -> &'a str {
        self.slice(self.token.span)
    }

    /// Returns the position of a mnemonic in `mnemonics`, decoding it if it is new.
    fn decoded(&mut self, mnemonic: Span) -> u32 {
        let text = self.slice(mnemonic);
        if let Some(&place) = self.places.get(text) {
            return place;
        }
        let place = u32::try_from(self.mnemonics.len()).expect("texts have at most 4 GiB");
        self.mnemonics.push(isa::decode(text).map(Arc::new));
        self.places.insert(text, place);
        place
    }

    #[inline]
    fn advance(&mut self) -> Token {
        let token = self.token;
        self.lexer.next(&mut self.token);
        token
    }

    fn is_punct(&self, byte: u8) -> bool {
        self.token.kind == TokenKind::Punct(byte)
    }

    fn is_dot(&self, word: &str) -> bool {
        self.token.kind == TokenKind::Dot && self.word() == word
    }

    /// Whether a colon follows the current word: a label has a single colon, `::` belongs to a modifier.
    fn is_label(&self) -> bool {
        let rest = self.text.get(self.token.span.end as usize..).unwrap_or("");
        // Nearly every word is followed by a modifier: this skips the search for white space, of which there are many
        // kinds.
        if rest.starts_with('.') {
            return false;
        }
        let rest = rest.trim_start();
        rest.starts_with(':') && !rest.starts_with("::")
    }

    fn eat(&mut self, byte: u8) -> bool {
        let is = self.is_punct(byte);
        if is {
            self.advance();
        }
        is
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Read<Token> {
        if self.is_punct(byte) { Ok(self.advance()) } else { Err(self.unexpected(expected)) }
    }

    fn expect_word(&mut self, expected: &'static str) -> Read<Span> {
        if self.token.kind == TokenKind::Word {
            Ok(self.advance().span)
        } else {
            Err(self.unexpected(expected))
        }
    }

    fn error(&mut self, kind: ReadErrorKind, span: Span) -> Recorded {
        self.lexer.errors.push(ReadError { kind, span });
        Recorded
    }

    fn unexpected(&mut self, expected: &'static str) -> Recorded {
        let span = self.token.span;
        if self.token.kind == TokenKind::End {
            return self.error(ReadErrorKind::Truncated(expected), span);
        }
        let found = self.start_of_word();
        self.error(ReadErrorKind::Expected { expected, found }, span)
    }

    /// Returns the start of the current token's text, short enough for a message.
    fn start_of_word(&self) -> String {
        self.word().chars().take(40).collect()
    }

    fn bad_number(&mut self, span: Span) -> Recorded {
        let number = self.start_of_word();
        self.error(ReadErrorKind::Number(number), span)
    }

    /// Reads an unsigned or signed whole number.
    fn integer(&mut self) -> Read<i64> {
        let negative = self.eat(b'-');
        let span = self.token.span;
        if self.token.kind != TokenKind::Number {
            return Err(self.unexpected("a number"));
        }
        let Some(NumberLiteral::Integer(value)) = literal::read(self.word()) else {
            return Err(self.bad_number(span));
        };
        self.advance();
        let value = value.cast_signed();
        Ok(if negative { value.wrapping_neg() } else { value })
    }

    fn small(&mut self) -> Read<u32> {
        let span = self.token.span;
        let value = self.integer()?;
        u32::try_from(value).map_err(|_| self.error(ReadErrorKind::Number(value.to_string()), span))
    }

    /// Skips past the next semicolon, or to a brace that a statement cannot contain.
    fn recover(&mut self) {
        loop {
            match self.token.kind {
                TokenKind::Punct(b';') => {
                    self.advance();
                    return;
                }
                TokenKind::Punct(b'}') | TokenKind::End => return,
                TokenKind::Punct(b'{') => {
                    self.skip_braces();
                }
                _ => {
                    self.advance();
                }
            }
        }
    }

    /// Skips from an opening brace past its closing one.
    fn skip_braces(&mut self) {
        let open = self.token.span;
        if !self.lexer.skip_braces() {
            self.error(ReadErrorKind::Truncated("braces"), open);
        }
        self.advance();
    }

    fn module(&mut self, module: &mut Module) {
        if self.token.kind == TokenKind::End {
            self.error(ReadErrorKind::Empty, self.token.span);
            return;
        }
        if !self.is_dot(".version") {
            self.error(ReadErrorKind::NoVersion, self.token.span);
            return;
        }
        while self.token.kind != TokenKind::End {
            if self.item(module).is_err() {
                self.recover();
                self.eat(b'}');
            }
        }
        self.duplicates(module);
    }

    fn duplicates(&mut self, module: &Module) {
        let mut defined = HashSet::default();
        for function in module.functions.iter().filter(|function| function.body.is_some()) {
            let name = self.slice(function.name);
            if !defined.insert(name) {
                self.error(ReadErrorKind::Duplicate(name.to_owned()), function.name);
            }
        }
    }

    fn item(&mut self, module: &mut Module) -> Read<()> {
        match self.token.kind {
            TokenKind::Dot => {}
            // LLVM emits labels behind its debug sections.
            TokenKind::Word if self.is_label() => {
                self.advance();
                self.advance();
                return Ok(());
            }
            _ => return if self.eat(b';') { Ok(()) } else { Err(self.unexpected("a directive")) },
        }
        match self.word() {
            ".version" => module.version = Some(self.version()?),
            ".target" => module.target = Some(self.target()?),
            ".address_size" => {
                self.advance();
                module.address_size = self.small()?;
            }
            ".file" => module.files.push(self.file()?),
            ".section" => self.section()?,
            ".pragma" | ".alias" => self.recover(),
            _ => self.declaration(module)?,
        }
        Ok(())
    }

    fn version(&mut self) -> Read<(u32, u32)> {
        self.advance();
        let (span, text) = (self.token.span, self.word());
        let parts = text
            .split_once('.')
            .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        let version = parts.ok_or_else(|| self.bad_number(span))?;
        self.advance();
        Ok(version)
    }

    fn target(&mut self) -> Read<Span> {
        self.advance();
        let target = self.expect_word("a target such as sm_80")?;
        while self.eat(b',') {
            self.expect_word("a target option")?;
        }
        Ok(target)
    }

    fn file(&mut self) -> Read<(u32, String)> {
        self.advance();
        let index = self.small()?;
        if self.token.kind != TokenKind::String {
            return Err(self.unexpected("a path in quotes"));
        }
        let path = self.word().trim_matches('"').to_owned();
        self.advance();
        while self.eat(b',') {
            self.integer()?;
        }
        Ok((index, path))
    }

    /// Skips a section such as `.section .debug_info { ... }`: DWARF data is not used.
    fn section(&mut self) -> Read<()> {
        self.advance();
        self.advance();
        if !self.is_punct(b'{') {
            return Err(self.unexpected("the `{` of a section"));
        }
        self.skip_braces();
        Ok(())
    }
}
