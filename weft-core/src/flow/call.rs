//! Calls: device functions linked in with their parameters bound to the caller's variables (PTX ISA §9.7.12.5).

use std::collections::HashMap;

use super::error::{LinkError, LinkErrorKind};
use super::link::{Bound, Frame, Line, Linker};
use super::program::{Condition, Instr, Operand, Operation, PlaceId, Reg};
use super::scope::Declared;
use crate::ptx::{self, Function, Instruction, Space, Variable, isa};

/// Calls within calls that are linked in.
const MAX_CALLS: usize = 64;

impl<'m> Linker<'m> {
    pub(super) fn call(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        operands: &'m [ptx::Operand],
        condition: Option<Condition>,
        place: PlaceId,
    ) -> Result<(), LinkError> {
        let list = |operand: Option<&ptx::Operand>| match operand {
            Some(ptx::Operand::List(range)) => Some(range.clone()),
            _ => None,
        };
        let results = list(operands.first());
        let rest = operands.get(usize::from(results.is_some())..).unwrap_or(&[]);
        let Some(ptx::Operand::Name(callee)) = rest.first() else {
            return Err(self.bad_operand(instruction, "a function's name"));
        };
        let arguments = list(rest.get(1)).unwrap_or(0..0);
        let (results, arguments) =
            (frame.body.operands(&results.unwrap_or(0..0)), frame.body.operands(&arguments));
        let name = self.module.name(*callee);
        // A result that is also an argument would need memory of its own.
        let names = |operands: &[ptx::Operand]| -> Vec<&str> {
            operands
                .iter()
                .filter_map(ptx::Operand::name)
                .map(|name| self.module.name(name))
                .collect()
        };
        let shares = names(results).iter().any(|result| names(arguments).contains(result));
        let is_linkable = !shares && !self.stack.contains(&name) && self.stack.len() < MAX_CALLS;
        let function = self.functions.get(name).copied().filter(|_| is_linkable);
        match function {
            Some(function) if function.body.is_some() => {
                self.unless(condition, place, instruction.span, |linker| {
                    linker.linked_call(frame, instruction, function, results, arguments, place)
                })
            }
            Some(_) if matches!(name, "__assertfail" | "__assert_fail") => {
                self.push(Line::Exit { condition, place, traps: true }, instruction.span)
            }
            function => {
                let harmless = function.is_some() && matches!(name, "vprintf" | "malloc" | "free");
                let mut dests = Vec::new();
                for result in results {
                    if let ptx::Operand::Name(result) = result
                        && let Ok(Some(register)) = self.maybe_register(frame, *result)
                    {
                        dests.push(Some(register));
                    }
                }
                let instr = Instr {
                    operation: if harmless { Operation::External } else { Operation::Call },
                    guard: condition,
                    dests: dests.into(),
                    sources: Box::new([]),
                    address: None,
                    place,
                };
                self.push(Line::Instr(instr), instruction.span)
            }
        }
    }

    fn linked_call(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        function: &'m Function,
        results: &'m [ptx::Operand],
        arguments: &'m [ptx::Operand],
        place: PlaceId,
    ) -> Result<(), LinkError> {
        let misfit = || LinkError {
            kind: LinkErrorKind::Call(self.module.name(function.name).into()),
            span: instruction.span,
        };
        if results.len() != function.returns.len() || arguments.len() < function.params.len() {
            return Err(misfit());
        }
        let mut bound = HashMap::new();
        for (param, argument) in function.params.iter().zip(arguments) {
            let own = self.bind(frame, instruction, param, argument)?;
            if let (Bound::Register(register), true) = (own, param.space == Space::Register) {
                let source = self.source(frame, instruction, argument, param.ty)?;
                self.push(Line::Instr(moved(register, source, place)), instruction.span)?;
            }
            bound.insert(self.module.name(param.name), own);
        }
        let mut copies = Vec::new();
        for (param, result) in function.returns.iter().zip(results) {
            let own = self.bind(frame, instruction, param, result)?;
            if let (Bound::Register(register), ptx::Operand::Name(name)) = (own, result) {
                copies.push((self.named_register(frame, *name)?, register));
            }
            bound.insert(self.module.name(param.name), own);
        }
        let behind = self.new_label();
        let mut callers = frame.source.clone();
        callers.extend(&frame.callers);
        self.function(function, bound, callers, Some(behind))?;
        self.push(Line::Label(behind), instruction.span)?;
        for (to, from) in copies {
            self.push(Line::Instr(moved(to, Operand::Register(from), place)), instruction.span)?;
        }
        Ok(())
    }

    /// A `.reg` parameter gets a register of its own, a `.param` one is the caller's variable itself.
    fn bind(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        param: &Variable,
        operand: &ptx::Operand,
    ) -> Result<Bound, LinkError> {
        if param.space == Space::Register {
            return Ok(Bound::Register(self.new_register()));
        }
        if let ptx::Operand::Name(name) = operand {
            let text = self.module.name(*name);
            if let Some(Bound::Memory(space, address)) = frame.bound.get(text) {
                return Ok(Bound::Memory(*space, *address));
            }
            if let Some((_, Declared::Variable(variable))) = frame.scopes.find(frame.scope, text) {
                let (space, address) = self.locate(frame, variable)?;
                return Ok(Bound::Memory(space, address));
            }
        }
        Err(self.bad_operand(instruction, "a .param variable"))
    }
}

fn moved(to: Reg, from: Operand, place: PlaceId) -> Instr {
    let operation = isa::decode("mov.b64").map_or(Operation::Unknown, Operation::Known);
    Instr {
        operation,
        guard: None,
        dests: Box::new([Some(to)]),
        sources: Box::new([from]),
        address: None,
        place,
    }
}
