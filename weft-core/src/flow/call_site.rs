//! Finds the calls in a function's text, and the functions of a module by name.

use super::scope::Scope;
use crate::ptx::isa::Effect;
use crate::ptx::{self, Function, Instruction, Module, Statement};

/// The functions of a module by name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Functions<'m>(pub(super) &'m Module);

impl<'m> Functions<'m> {
    pub(super) fn get(self, name: &str) -> Option<&'m Function> {
        self.0.function(name)
    }

    /// Returns the name as the module has it, if there is a function of this name.
    pub(super) fn name(self, name: &str) -> Option<&'m str> {
        self.get(name).map(|function| self.0.name(function.name))
    }
}

/// `call (results), callee, (arguments), list`.
#[derive(Clone, Copy)]
pub(super) struct Call<'m> {
    pub(super) results: &'m [ptx::ParsedOperand],
    pub(super) callee: &'m ptx::ParsedOperand,
    pub(super) arguments: &'m [ptx::ParsedOperand],
    /// The label of the call's targets or of its prototype.
    pub(super) list: Option<&'m ptx::ParsedOperand>,
}

impl<'m> Call<'m> {
    /// Returns the parts of a call; `None` if the instruction is not a call.
    pub(super) fn of(
        module: &Module,
        body: &'m ptx::Body,
        instruction: &Instruction,
    ) -> Option<Self> {
        if module.decoded(instruction)?.row.effect != Effect::Call {
            return None;
        }
        let mut rest = body.operands(&instruction.operands);
        let list = |rest: &mut &'m [ptx::ParsedOperand]| match rest {
            [ptx::ParsedOperand::List(range), behind @ ..] => {
                *rest = behind;
                body.operands(range)
            }
            _ => &[],
        };
        let results = list(&mut rest);
        let (callee, mut rest) = rest.split_first()?;
        let arguments = list(&mut rest);
        Some(Self { results, callee, arguments, list: rest.first() })
    }
}

/// Returns the instructions of a body, each with its scope.
pub(super) fn instructions(body: &ptx::Body) -> impl Iterator<Item = (Scope, &Instruction)> {
    let (mut scopes, mut opened) = (vec![0], 0);
    body.statements.iter().filter_map(move |statement| {
        match statement {
            Statement::Open => {
                opened += 1;
                scopes.push(opened);
            }
            Statement::Close => {
                scopes.pop();
            }
            Statement::Instruction(instruction) => {
                return Some((scopes.last().copied().unwrap_or(0), instruction));
            }
            _ => {}
        }
        None
    })
}
