//! Parses the operands of instructions (PTX ISA §6).

use super::super::tree::{Body, ParsedOperand};
use super::super::{ReadErrorKind, Span};
use super::{Parser, Read, TokenKind};

/// The deepest nesting of vectors, lists and pairs; real PTX needs three levels.
const MAX_DEPTH: u32 = 8;

impl Parser<'_> {
    /// Reads operands up to the character `end`, appends them to the body, and returns their range.
    pub(super) fn operands(
        &mut self,
        body: &mut Body,
        end: u8,
        depth: u32,
    ) -> Read<std::ops::Range<u32>> {
        let first = self.operands.len();
        let mut is_expected = !self.is_punct(end);
        while is_expected {
            let operand = self.operand(body, depth)?;
            // `|` joins two destinations, a comma separates operands; both kinds are identified by position.
            let operand = if self.eat(b'|') {
                let second = self.operand(body, depth)?;
                ParsedOperand::Pair(append(body, [operand, second]))
            } else {
                operand
            };
            self.operands.push(operand);
            is_expected = self.eat(b',');
        }
        if !self.is_punct(end) {
            return Err(self.unexpected("`,` or the end of the operands"));
        }
        Ok(append(body, self.operands.drain(first..)))
    }

    fn operand(&mut self, body: &mut Body, depth: u32) -> Read<ParsedOperand> {
        let span = self.token.span;
        if depth > MAX_DEPTH {
            return Err(self.error(ReadErrorKind::Depth(MAX_DEPTH), span));
        }
        match self.token.kind {
            TokenKind::Word if self.is_warp_size() => self.constant_operand(),
            TokenKind::Word => self.name_operand(),
            TokenKind::Punct(b'-') if self.is_before_name() => {
                self.advance();
                let end = self.token.span;
                self.name_operand()?;
                Ok(ParsedOperand::Opaque(span.to(end)))
            }
            TokenKind::Number | TokenKind::Punct(b'-' | b'+' | b'~') => self.constant_operand(),
            TokenKind::Punct(b'(') if depth > 0 || !self.is_call => self.constant_operand(),
            TokenKind::Punct(b'[') => self.address(),
            TokenKind::Punct(b'{') => {
                self.advance();
                if self.is_punct(b'}') {
                    return Err(self.unexpected("the parts of a vector"));
                }
                let parts = self.operands(body, b'}', depth + 1)?;
                self.advance();
                Ok(ParsedOperand::Vector(parts))
            }
            TokenKind::Punct(b'(') => {
                self.advance();
                let parts = self.operands(body, b')', depth + 1)?;
                self.advance();
                Ok(ParsedOperand::List(parts))
            }
            TokenKind::Punct(b'!') => {
                self.advance();
                if self.token.kind == TokenKind::Word && !self.is_warp_size() {
                    return Ok(ParsedOperand::Not(self.advance().span));
                }
                Ok(self.constant_behind_not()?.operand())
            }
            _ => Err(self.unexpected("an operand")),
        }
    }

    fn name_operand(&mut self) -> Read<ParsedOperand> {
        let name = self.advance().span;
        if self.token.kind == TokenKind::Dot && self.token.span.start == name.end {
            let part = match self.word() {
                ".x" | ".r" => 0,
                ".y" | ".g" => 1,
                ".z" | ".b" => 2,
                ".w" | ".a" => 3,
                word if is_selector(word) => {
                    self.advance();
                    return Ok(ParsedOperand::Selected(name));
                }
                _ => return Err(self.unexpected("a part .x, .y, .z or .w")),
            };
            self.advance();
            return Ok(ParsedOperand::Part(name, part));
        }
        if self.is_punct(b'+') || self.is_punct(b'-') {
            return Ok(ParsedOperand::Offset(name, self.symbol_offset()?));
        }
        if self.is_punct(b'[') {
            let end = self.skip_brackets()?;
            return Ok(ParsedOperand::Opaque(name.to(end)));
        }
        Ok(if self.slice(name) == "_" { ParsedOperand::Sink } else { ParsedOperand::Name(name) })
    }

    fn constant_operand(&mut self) -> Read<ParsedOperand> {
        Ok(self.constant()?.operand())
    }

    /// Whether a name follows the sign at the current token.
    fn is_before_name(&self) -> bool {
        let rest = self.text.get(self.token.span.end as usize..).unwrap_or("").trim_start();
        let is_name = |first: char| first.is_ascii_alphabetic() || "_$%".contains(first);
        rest.starts_with(is_name) && !rest.starts_with("WARP_SZ")
    }

    /// Reads `[base]`, `[base+4]` or `[4]`; anything else in brackets is kept whole as an opaque operand.
    fn address(&mut self) -> Read<ParsedOperand> {
        let (place, token, errors) = (self.lexer.at, self.token, self.lexer.errors.len());
        self.advance();
        let base =
            if self.token.kind == TokenKind::Word { Some(self.advance().span) } else { None };
        let offset = if base.is_some() { self.symbol_offset() } else { self.whole_constant() };
        if let (Ok(offset), true) = (offset, self.is_punct(b']')) {
            self.advance();
            return Ok(ParsedOperand::Address { base, offset });
        }
        // Only the lexer's position is restored, not its errors: copying them would be slow in a text with many.
        (self.lexer.at, self.token) = (place, token);
        self.lexer.errors.truncate(errors);
        let start = self.token.span;
        let end = self.skip_brackets()?;
        Ok(ParsedOperand::Opaque(start.to(end)))
    }

    /// Skips from an opening bracket past its closing one and returns the span of the latter.
    fn skip_brackets(&mut self) -> Read<Span> {
        let mut depth = 0_u64;
        loop {
            match self.token.kind {
                TokenKind::Punct(b'[') => depth += 1,
                TokenKind::Punct(b']') => depth -= 1,
                TokenKind::End | TokenKind::Punct(b';') => return Err(self.unexpected("`]`")),
                _ => {}
            }
            let token = self.advance();
            if depth == 0 {
                return Ok(token.span);
            }
        }
    }
}

/// Whether a word selects bytes or halves of a register: `.b0` to `.b7654`, `.h0` to `.h32`.
fn is_selector(word: &str) -> bool {
    let digits = word.strip_prefix(".b").or_else(|| word.strip_prefix(".h"));
    digits.is_some_and(|digits| {
        (1..=4).contains(&digits.len()) && digits.bytes().all(|c| c.is_ascii_digit())
    })
}

fn append(
    body: &mut Body,
    operands: impl IntoIterator<Item = ParsedOperand>,
) -> std::ops::Range<u32> {
    let index = |length: usize| u32::try_from(length).expect("texts have at most 4 GiB");
    let start = index(body.operands.len());
    body.operands.extend(operands);
    start..index(body.operands.len())
}
