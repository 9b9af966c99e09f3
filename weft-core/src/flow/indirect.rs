//! Finds the functions that a call through a register can reach: those of its `.calltargets`, or those whose addresses
//! are the only values moved into the register, apart from null, which cannot be called (PTX ISA §9.7.12.5). Otherwise
//! the register might hold the address of any function that takes what the call passes and whose address the kernel can
//! find, as in a table of methods.

use foldhash::{HashMap, HashSet};

use super::call_site::{Call, Functions, instructions};
use super::scope::{Declared, Scope, Scopes};
use crate::ptx::{Body, Instruction, Module, ParsedOperand, Space, Span, Variable};

/// The most functions that a call through a register is linked with where its targets are not known.
const MOST_TARGETS: usize = 16;

/// The value that one definition puts into a register.
#[derive(Clone, Copy, Debug)]
enum PointerDefinition<'m> {
    Function(&'m str),
    Register(Scope, &'m str),
    /// Zero: no function, so that no call can reach it.
    Null,
    Other,
}

/// The definitions of a body's registers; empty if the body calls nothing through a register.
#[derive(Debug, Default)]
pub(super) struct Definitions<'m> {
    sources: HashMap<(Scope, &'m str), Vec<PointerDefinition<'m>>>,
}

/// The functions that a call through a register can reach.
#[derive(Debug)]
pub(super) struct Targets<'m> {
    pub(super) functions: Vec<&'m str>,
    /// Whether the register might hold null.
    pub(super) may_be_null: bool,
    /// Whether the call can reach no others.
    pub(super) are_all: bool,
}

/// What is needed to resolve a body's names.
#[derive(Clone, Copy)]
pub(super) struct FunctionNames<'t, 'm> {
    pub(super) module: &'m Module,
    pub(super) body: &'m Body,
    pub(super) scopes: &'t Scopes<'m>,
    pub(super) functions: Functions<'m>,
    /// The functions whose addresses the kernel might find somewhere.
    pub(super) taken: &'t [&'m str],
}

impl<'m> Definitions<'m> {
    /// Collects the definitions of a body.
    pub(super) fn of(names: FunctionNames<'_, 'm>) -> Self {
        let is_indirect = |(_, instruction): &(Scope, &'m Instruction)| {
            Call::of(names.module, names.body, instruction)
                .and_then(|call| call.callee.name())
                .is_some_and(|callee| names.functions.get(names.module.name(callee)).is_none())
        };
        let mut definitions = Self::default();
        if !instructions(names.body).any(|at| is_indirect(&at)) {
            return definitions;
        }
        for (scope, instruction) in instructions(names.body) {
            let operands = names.body.operands(&instruction.operands);
            let Some((first, read)) = operands.split_first() else { continue };
            let mnemonic = names.module.name(instruction.mnemonic);
            let is_callee = mnemonic.starts_with("call") && matches!(first, ParsedOperand::Name(_));
            if is_callee {
                continue;
            }
            let sources: Vec<_> = match (mnemonic, first, read) {
                ("mov.u64" | "mov.b64" | "mov.u32" | "mov.b32", ParsedOperand::Name(_), [one]) => {
                    vec![names.source(scope, one)]
                }
                (
                    "selp.u64" | "selp.b64" | "selp.u32" | "selp.b32",
                    ParsedOperand::Name(_),
                    [a, b, _],
                ) => {
                    vec![names.source(scope, a), names.source(scope, b)]
                }
                _ => vec![PointerDefinition::Other],
            };
            for register in names.written(first) {
                if let Some(register) = names.register(scope, register) {
                    definitions.sources.entry(register).or_default().extend(&sources);
                }
            }
        }
        definitions
    }

    /// Returns what a call can reach.
    pub(super) fn targets(
        &self,
        names: FunctionNames<'_, 'm>,
        scope: Scope,
        call: &Call<'m>,
    ) -> Targets<'m> {
        let moved = self.moved(names, scope, call);
        if let Some(ParsedOperand::Name(list)) = call.list
            && let Some((_, listed)) = names.scopes.targets(scope, names.module.name(*list))
            && listed.iter().all(|name| names.functions.get(name).is_some())
        {
            let may_be_null = moved.is_none_or(|moved| moved.may_be_null);
            return Targets { functions: listed.to_vec(), may_be_null, are_all: true };
        }
        let fitting = || names.taken.iter().copied().filter(|name| names.takes(name, scope, call));
        moved.filter(|moved| !moved.functions.is_empty()).unwrap_or_else(|| Targets {
            functions: fitting().take(MOST_TARGETS).collect(),
            may_be_null: false,
            are_all: false,
        })
    }

    /// Returns the functions whose addresses are all that is moved into a call's register, in the order of the
    /// definitions; `None` if other values might be moved there.
    fn moved(
        &self,
        names: FunctionNames<'_, 'm>,
        scope: Scope,
        call: &Call<'m>,
    ) -> Option<Targets<'m>> {
        let ParsedOperand::Name(register) = call.callee else { return None };
        let mut work = vec![names.register(scope, *register)?];
        let (mut seen, mut known) = (HashSet::default(), HashSet::default());
        let mut found = Targets { functions: Vec::new(), may_be_null: false, are_all: true };
        while let Some(register) = work.pop() {
            if !seen.insert(register) {
                continue;
            }
            for source in self.sources.get(&register)? {
                match source {
                    PointerDefinition::Function(name) if !known.insert(*name) => {}
                    PointerDefinition::Function(name) => found.functions.push(*name),
                    PointerDefinition::Register(scope, name) => work.push((*scope, name)),
                    PointerDefinition::Null => found.may_be_null = true,
                    PointerDefinition::Other => return None,
                }
            }
        }
        Some(found)
    }
}

impl<'m> FunctionNames<'_, 'm> {
    /// Whether a function takes and returns values of the sizes that a call passes.
    fn takes(&self, function: &str, scope: Scope, call: &Call<'m>) -> bool {
        let Some(function) = self.functions.get(function) else { return false };
        let fits = |(own, given): (&Variable, &ParsedOperand)| {
            let passed = given.name().and_then(|name| {
                self.scopes.find(scope, self.module.name(name)).map(|(_, declared)| declared)
            });
            match passed {
                Some(Declared::Variable(variable)) => variable.size() == own.size(),
                _ => own.space == Space::Register,
            }
        };
        function.body.is_some()
            && (function.params.len(), function.returns.len())
                == (call.arguments.len(), call.results.len())
            && function.params.iter().zip(call.arguments).all(fits)
            && function.returns.iter().zip(call.results).all(fits)
    }

    /// Returns the register that a name stands for, if it is one.
    fn register(&self, scope: Scope, name: Span) -> Option<(Scope, &'m str)> {
        let text = self.module.name(name);
        match self.scopes.find(scope, text)? {
            (scope, Declared::Register { .. }) => Some((scope, text)),
            _ => None,
        }
    }

    fn source(&self, scope: Scope, operand: &ParsedOperand) -> PointerDefinition<'m> {
        let name = match operand {
            ParsedOperand::Name(name) => name,
            ParsedOperand::Integer(0) => return PointerDefinition::Null,
            _ => return PointerDefinition::Other,
        };
        let text = self.module.name(*name);
        match (self.register(scope, *name), self.scopes.find(scope, text)) {
            (Some((scope, name)), _) => PointerDefinition::Register(scope, name),
            (None, None) if self.functions.get(text).is_some() => PointerDefinition::Function(text),
            _ => PointerDefinition::Other,
        }
    }

    /// Returns the names in an operand that an instruction might write.
    fn written(&self, operand: &ParsedOperand) -> Vec<Span> {
        match operand {
            ParsedOperand::Vector(parts)
            | ParsedOperand::Pair(parts)
            | ParsedOperand::List(parts) => {
                let parts = self.body.operands(parts);
                parts.iter().flat_map(|part| self.written(part)).collect()
            }
            ParsedOperand::Selected(name) => vec![*name],
            ParsedOperand::Address { .. } => Vec::new(),
            other => other.name().into_iter().collect(),
        }
    }
}
