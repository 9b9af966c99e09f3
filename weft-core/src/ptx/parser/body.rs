//! Parses the statements of a function body: labels, instructions, declarations, scopes and `.loc` lines.

use super::super::space::Space;
use super::super::tree::{Body, GuardPredicate, Instruction, Loc, Statement};
use super::super::{ReadErrorKind, Span};
use super::{Parser, Read, TokenKind};

/// The deepest nesting of scopes; compilers use a few levels.
const MAX_SCOPES: u32 = 64;

impl Parser<'_> {
    /// Reads from behind the opening brace of a function past its closing one.
    pub(super) fn body(&mut self, open: Span) -> Body {
        let mut body = Body::default();
        let mut depth = 0_u32;
        loop {
            match self.token.kind {
                TokenKind::End => {
                    self.error(ReadErrorKind::Truncated("a function body"), open);
                    return body;
                }
                TokenKind::Punct(b'{') => {
                    depth += 1;
                    if depth > MAX_SCOPES {
                        self.error(ReadErrorKind::Depth(MAX_SCOPES), self.token.span);
                        self.skip_braces();
                        depth -= 1;
                        continue;
                    }
                    body.statements.push(Statement::Open);
                    self.advance();
                }
                TokenKind::Punct(b'}') => {
                    self.advance();
                    if depth == 0 {
                        return body;
                    }
                    depth -= 1;
                    body.statements.push(Statement::Close);
                }
                TokenKind::Punct(b';') => {
                    self.advance();
                }
                _ => {
                    if self.statement(&mut body).is_err() {
                        self.recover();
                    }
                }
            }
        }
    }

    fn statement(&mut self, body: &mut Body) -> Read<()> {
        match self.token.kind {
            TokenKind::Dot => self.directive(body),
            TokenKind::Punct(b'@') => {
                let start = self.advance().span;
                let negated = self.eat(b'!');
                let register = self.expect_word("a predicate")?;
                let word = self.token.span;
                if self.token.kind != TokenKind::Word {
                    return Err(self.unexpected("an instruction"));
                }
                self.instruction(body, Some(GuardPredicate { register, negated }), start, word)
            }
            TokenKind::Word => self.label_or_instruction(body),
            _ => Err(self.unexpected("a statement")),
        }
    }

    fn label_or_instruction(&mut self, body: &mut Body) -> Read<()> {
        let word = self.token.span;
        if !self.is_label() {
            return self.instruction(body, None, word, word);
        }
        self.advance();
        self.advance();
        if self.is_dot(".branchtargets") || self.is_dot(".calltargets") {
            self.advance();
            let mut targets = vec![self.expect_word("a label")?];
            while self.eat(b',') {
                targets.push(self.expect_word("a label")?);
            }
            body.statements.push(Statement::Targets(word, targets));
        } else if self.is_dot(".callprototype") {
            self.recover();
            body.statements.push(Statement::Prototype(word));
        } else {
            body.statements.push(Statement::Label(word));
        }
        Ok(())
    }

    fn instruction(
        &mut self,
        body: &mut Body,
        guard: Option<GuardPredicate>,
        start: Span,
        word: Span,
    ) -> Read<()> {
        let mnemonic = self.lexer.mnemonic(word);
        let decoded = self.decoded(mnemonic);
        self.advance();
        // An instruction that could not be read might have left operands behind.
        self.operands.clear();
        self.is_call = self.slice(mnemonic).starts_with("call");
        let operands = self.operands(body, b';', 0)?;
        let end = self.advance().span;
        let span = start.to(end);
        body.statements.push(Statement::Instruction(Instruction {
            guard,
            mnemonic,
            decoded,
            operands,
            span,
        }));
        Ok(())
    }

    fn directive(&mut self, body: &mut Body) -> Read<()> {
        match self.word() {
            ".loc" => {
                let loc = self.loc()?;
                body.statements.push(Statement::Loc(loc));
                Ok(())
            }
            ".pragma" => {
                self.recover();
                Ok(())
            }
            _ => {
                let attributes = self.attributes(false)?;
                loop {
                    let variable = self.declarator(attributes, Space::Register)?;
                    body.statements.push(Statement::Variable(Box::new(variable)));
                    if !self.eat(b',') {
                        break;
                    }
                }
                self.expect(b';', "`;` behind a declaration").map(drop)
            }
        }
    }

    /// Reads `.loc file line column`, which has no semicolon at its end.
    fn loc(&mut self) -> Read<Loc> {
        self.advance();
        let mut loc = Loc {
            file: self.small()?,
            line: self.small()?,
            column: self.small()?,
            inlined_at: None,
        };
        while self.eat(b',') {
            match self.word() {
                "inlined_at" => {
                    self.advance();
                    loc.inlined_at = Some((self.small()?, self.small()?, self.small()?));
                }
                "function_name" => {
                    self.advance();
                    self.expect_word("a label")?;
                    self.symbol_offset()?;
                }
                _ => return Err(self.unexpected("`function_name` or `inlined_at`")),
            }
        }
        Ok(loc)
    }
}
