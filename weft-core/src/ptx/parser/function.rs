//! Parses kernels, device functions and variables at module scope (PTX ISA §11).

use super::super::Span;
use super::super::clusters::ClusterDirectives;
use super::super::space::Space;
use super::super::tree::{Function, Module, Variable};
use super::{Parser, Read, TokenKind};

impl Parser<'_> {
    /// Reads linkage directives, then an `.entry`, a `.func` or a variable.
    pub(super) fn declaration(&mut self, module: &mut Module) -> Read<()> {
        let start = self.token.span;
        let mut is_extern = false;
        while self.token.kind == TokenKind::Dot {
            match self.word() {
                ".extern" => is_extern = true,
                ".visible" | ".weak" | ".common" | ".noreturn" => {}
                ".entry" => {
                    let function = self.function(start, true)?;
                    module.functions.push(function);
                    return Ok(());
                }
                ".func" => {
                    let function = self.function(start, false)?;
                    module.functions.push(function);
                    return Ok(());
                }
                _ => return self.module_variable(module, is_extern),
            }
            self.advance();
        }
        Err(self.unexpected("a function or a variable"))
    }

    fn module_variable(&mut self, module: &mut Module, is_extern: bool) -> Read<()> {
        let attributes = self.attributes(is_extern)?;
        loop {
            let variable = self.declarator(attributes, Space::Global)?;
            module.variables.push(variable);
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b';', "`;` behind a variable").map(drop)
    }

    fn function(&mut self, start: Span, is_kernel: bool) -> Read<Function> {
        self.advance();
        self.linkage_words()?;
        let returns = if self.is_punct(b'(') { self.parameters()? } else { Vec::new() };
        self.linkage_words()?;
        let name = self.expect_word("a function's name")?;
        let mut end = name;
        let params = if self.is_punct(b'(') {
            let params = self.parameters()?;
            end = params.last().map_or(name, |param| param.name);
            params
        } else {
            Vec::new()
        };
        let mut function = Function {
            is_kernel,
            name,
            span: start.to(end),
            params,
            returns,
            reqntid: None,
            maxntid: None,
            clusters: ClusterDirectives::default(),
            minnctapersm: None,
            maxnreg: None,
            body: None,
        };
        while self.token.kind == TokenKind::Dot {
            self.function_directive(&mut function)?;
        }
        if self.is_punct(b'{') {
            let open = self.advance().span;
            function.body = Some(self.body(open));
        } else {
            self.expect(b';', "`{` or `;` behind a function's head")?;
        }
        Ok(function)
    }

    /// Skips `.attribute(...)` and `.noreturn`, which can stand in front of a function's name.
    fn linkage_words(&mut self) -> Read<()> {
        while self.token.kind == TokenKind::Dot {
            let has_list = self.is_dot(".attribute");
            self.advance();
            if has_list {
                self.attribute_list()?;
            }
        }
        Ok(())
    }

    fn parameters(&mut self) -> Read<Vec<Variable>> {
        self.expect(b'(', "`(`")?;
        let mut params = Vec::new();
        while !self.eat(b')') {
            let attributes = self.attributes(false)?;
            params.push(self.declarator(attributes, Space::Param)?);
            if !self.eat(b',') && !self.is_punct(b')') {
                return Err(self.unexpected("`,` or `)` behind a parameter"));
            }
        }
        Ok(params)
    }

    /// Reads `.maxntid 256, 1, 1` and similar directives; unknown ones are skipped with their numbers.
    fn function_directive(&mut self, function: &mut Function) -> Read<()> {
        let word = self.word();
        self.advance();
        let mut numbers = [1_u32; 3];
        let mut count = 0;
        while matches!(self.token.kind, TokenKind::Number | TokenKind::String) {
            if self.token.kind == TokenKind::String {
                self.advance();
            } else {
                let value = self.small()?;
                if let Some(slot) = numbers.get_mut(count) {
                    *slot = value;
                }
                count += 1;
            }
            if !self.eat(b',') {
                break;
            }
        }
        // A semicolon ends a pragma; behind any other directive it ends a declaration.
        if word == ".pragma" {
            self.eat(b';');
        }
        match word {
            ".reqntid" => function.reqntid = Some(numbers),
            ".maxntid" => function.maxntid = Some(numbers),
            ".reqnctapercluster" => function.clusters.required = Some(numbers),
            ".maxclusterrank" => function.clusters.most = Some(numbers[0]),
            ".explicitcluster" => function.clusters.is_explicit = true,
            ".minnctapersm" => function.minnctapersm = Some(numbers[0]),
            ".maxnreg" => function.maxnreg = Some(numbers[0]),
            _ => {}
        }
        Ok(())
    }
}
