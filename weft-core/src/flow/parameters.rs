//! Analyses the variables that callers pass parameters in: whether a callee can use them instead of copies, and whether
//! all callers of a function can use the same memory for them.
//!
//! PTX wants the stores of arguments right before the call and the loads of results right behind it (PTX ISA §5.1.6.2).
//! Where that holds, nothing else needs the variable in between, and a function that is never called while it is
//! already running can have its parameters and results at one address for all calls.

use foldhash::{HashMap, HashSet};

use super::call_site::{Call, instructions};
use super::indirect::FunctionNames;
use super::scope::{Declared, Scope};
use crate::ptx::isa::Effect;
use crate::ptx::{
    Body, Function, Instruction, Module, ParsedOperand, Space, Span, Statement, Variable,
};

/// How a function uses its own parameters, and the variables that it passes parameters in, beyond loading them and
/// passing them on; by name.
#[derive(Debug, Default)]
pub(super) struct Exposed<'m> {
    /// Variables that are stored to, or filled by a call.
    written: HashSet<&'m str>,
    /// Variables that are used in some other way, such as by their addresses.
    shown: HashSet<&'m str>,
}

impl<'m> Exposed<'m> {
    pub(super) fn of(module: &'m Module, function: &'m Function) -> Self {
        let mut exposed = Self::default();
        let Some(body) = &function.body else { return exposed };
        let declared = body.statements.iter().filter_map(|statement| match statement {
            Statement::Variable(variable) if variable.space == Space::Param => Some(&**variable),
            _ => None,
        });
        let all = function.params.iter().chain(declared);
        let names: HashSet<&str> = all.map(|variable| module.name(variable.name)).collect();
        if names.is_empty() {
            return exposed;
        }
        let named = |operand: &ParsedOperand| {
            operand.name().map(|name| module.name(name)).filter(|name| names.contains(name))
        };
        for (_, instruction) in instructions(body) {
            if let Some(call) = Call::of(module, body, instruction) {
                exposed.written.extend(call.results.iter().filter_map(named));
                continue;
            }
            let mnemonic = module.name(instruction.mnemonic);
            each(body, body.operands(&instruction.operands), &mut |operand| {
                let Some(name) = named(operand) else { return };
                match operand {
                    ParsedOperand::Address { .. } if mnemonic.starts_with("ld.param") => {}
                    ParsedOperand::Address { .. } if mnemonic.starts_with("st.param") => {
                        exposed.written.insert(name);
                    }
                    _ => {
                        exposed.shown.insert(name);
                    }
                }
            });
        }
        exposed
    }

    /// Whether a variable's address is used, so that stores elsewhere might write it.
    pub(super) fn is_shown(&self, name: &str) -> bool {
        self.shown.contains(name)
    }

    /// Whether the function might write a parameter of its own.
    pub(super) fn may_change(&self, name: &str) -> bool {
        self.written.contains(name) || self.shown.contains(name)
    }
}

/// Calls `see` with each operand of an instruction, including those within vectors and lists.
fn each<'m>(
    body: &'m Body,
    operands: &'m [ParsedOperand],
    see: &mut impl FnMut(&'m ParsedOperand),
) {
    for operand in operands {
        match operand {
            ParsedOperand::Vector(parts)
            | ParsedOperand::Pair(parts)
            | ParsedOperand::List(parts) => {
                each(body, body.operands(parts), see);
            }
            _ => see(operand),
        }
    }
}

/// How a variable is used. The number counts straight pieces of code: without labels, jumps or calls in the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VariableUse {
    /// Stored to, in the straight piece of code with this number.
    Store(u32),
    /// Loaded from, in the straight piece of code with this number.
    Load(u32),
    /// Passed to a call at the end of this piece.
    Argument(u32),
    /// Filled by a call at the end of this piece.
    Result(u32),
    Other,
}

/// The uses of variables; a variable is identified by the span of its name.
pub(super) type Uses = HashMap<Span, Vec<VariableUse>>;

/// Returns the uses of the variables that a body passes parameters in.
pub(super) fn uses(names: FunctionNames<'_, '_>, function: &Function) -> Uses {
    let mut uses = Uses::default();
    let formals = function.params.iter().chain(&function.returns);
    let formals: HashSet<_> = formals.map(|declared| names.module.name(declared.name)).collect();
    let is_formal = |name: &str| formals.contains(name);
    let (mut piece, mut scopes, mut opened) = (0, vec![0], 0);
    for statement in &names.body.statements {
        let instruction = match statement {
            Statement::Instruction(instruction) => instruction,
            Statement::Open => {
                opened += 1;
                scopes.push(opened);
                continue;
            }
            Statement::Close => {
                scopes.pop();
                continue;
            }
            Statement::Label(_) => {
                piece += 1;
                continue;
            }
            _ => continue,
        };
        let scope = scopes.last().copied().unwrap_or(0);
        let mut note = |name: Span, how: VariableUse| {
            let text = names.module.name(name);
            let found = names.scopes.find(scope, text).filter(|_| !is_formal(text));
            if let Some((_, Declared::Variable(variable))) = found {
                uses.entry(variable.name).or_default().push(how);
            }
        };
        if let Some(call) = Call::of(names.module, names.body, instruction) {
            call.arguments
                .iter()
                .filter_map(ParsedOperand::name)
                .for_each(|span| note(span, VariableUse::Argument(piece)));
            call.results
                .iter()
                .filter_map(ParsedOperand::name)
                .for_each(|name_span| note(name_span, VariableUse::Result(piece)));
        } else {
            let operands = names.body.operands(&instruction.operands);
            accesses(names, instruction, operands, piece, &mut note);
        }
        let effect = names.module.decoded(instruction).map(|decoded| decoded.row.effect);
        if effect.is_some_and(|effect| {
            matches!(effect, Effect::Branch | Effect::Call | Effect::Return | Effect::Exit)
        }) {
            piece += 1;
        }
    }
    uses
}

/// Records the variables in the operands of an instruction that is not a call.
fn accesses(
    names: FunctionNames<'_, '_>,
    instruction: &Instruction,
    operands: &[ParsedOperand],
    piece: u32,
    note: &mut impl FnMut(Span, VariableUse),
) {
    let mnemonic = names.module.name(instruction.mnemonic);
    for operand in operands {
        let how = match operand {
            ParsedOperand::Address { .. } if mnemonic.starts_with("st.param") => {
                VariableUse::Store(piece)
            }
            ParsedOperand::Address { .. } if mnemonic.starts_with("ld.param") => {
                VariableUse::Load(piece)
            }
            ParsedOperand::Vector(parts)
            | ParsedOperand::Pair(parts)
            | ParsedOperand::List(parts) => {
                accesses(names, instruction, names.body.operands(parts), piece, note);
                continue;
            }
            _ => VariableUse::Other,
        };
        if let Some(name) = operand.name() {
            note(name, how);
        }
    }
}

/// Whether a call passes parameters in variables that can lie at the addresses of the function's own parameters.
pub(super) fn fit(
    names: FunctionNames<'_, '_>,
    scope: Scope,
    call: &Call<'_>,
    callee: &str,
    uses: &Uses,
) -> bool {
    let Some(function) = names.functions.get(callee) else { return false };
    let is_direct = call.callee.name().is_some_and(|span| names.module.name(span) == callee);
    let passed = |variable: &Variable, operand: &ParsedOperand, is_result: bool| {
        if variable.space == Space::Register {
            return true;
        }
        let Some(declared) = variable_of(names, scope, operand) else { return false };
        is_direct
            && declared.space == Space::Param
            && declared.size() == variable.size()
            && declared.alignment() <= variable.alignment()
            && uses.get(&declared.name).is_some_and(|uses| is_passed(uses, is_result))
    };
    call.results.len() == function.returns.len()
        && call.arguments.len() >= function.params.len()
        && function.params.iter().zip(call.arguments).all(|(own, given)| passed(own, given, false))
        && function.returns.iter().zip(call.results).all(|(own, given)| passed(own, given, true))
}

/// Returns the variable of a body that an operand names.
pub(super) fn variable_of<'m>(
    names: FunctionNames<'_, 'm>,
    scope: Scope,
    operand: &ParsedOperand,
) -> Option<&'m Variable> {
    let ParsedOperand::Name(name) = operand else { return None };
    match names.scopes.find(scope, names.module.name(*name))? {
        (_, Declared::Variable(variable)) => Some(variable),
        _ => None,
    }
}

/// Whether only one call uses a variable, and the code next to the call only fills or reads the variable.
fn is_passed(uses: &[VariableUse], is_result: bool) -> bool {
    let call = |variable_use: &VariableUse| match variable_use {
        VariableUse::Argument(piece) if !is_result => Some(*piece),
        VariableUse::Result(piece) if is_result => Some(*piece),
        _ => None,
    };
    let Some(piece) = uses.iter().find_map(call) else { return false };
    let around = if is_result { VariableUse::Load(piece + 1) } else { VariableUse::Store(piece) };
    let calls = uses.iter().filter(|usage| call(usage).is_some()).count();
    calls == 1 && uses.iter().all(|each_use| *each_use == around || call(each_use).is_some())
}
