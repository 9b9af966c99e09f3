//! Calls: device functions linked in with their parameters bound to the caller's variables (PTX ISA §9.7.12.5).

use std::sync::Arc;

use foldhash::HashMap;
use smallvec::smallvec;

use super::error::{LinkError, LinkErrorKind};
use super::indirect::Names;
use super::link::{Bound, Frame, Line, Linker};
use super::operands;
use super::program::{Condition, Instr, Operand, Operation, PlaceId, Reg};
use super::scope::Declared;
use super::sharing::{Call, MAX_CALLS};
use crate::ptx::{self, Function, Instruction, Space, Variable, isa};

impl<'m> Linker<'m> {
    pub(super) fn call(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        condition: Option<Condition>,
        place: PlaceId,
    ) -> Result<(), LinkError> {
        let Some(call) = Call::of(self.module, frame.body, instruction) else {
            return Err(self.bad_operand(instruction, "a function's name"));
        };
        let ptx::Operand::Name(callee) = call.callee else {
            return Err(self.bad_operand(instruction, "a function's name"));
        };
        let name = self.module.name(*callee);
        if self.functions.get(name).is_some() {
            return self.call_of(frame, instruction, &call, name, condition, place);
        }
        let (scopes, functions) = (&frame.scopes, self.functions);
        let names = Names { module: self.module, body: frame.body, scopes, functions };
        match frame.definitions.targets(names, frame.scope, &call) {
            Some(targets) => self.unless(condition, place, instruction.span, |linker| {
                linker.dispatch(frame, instruction, &call, &targets, place)
            }),
            None => self.unlinked(frame, instruction, &call, condition, place, Operation::Call),
        }
    }

    /// A call through a register: a switch over the addresses of its targets.
    fn dispatch(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        call: &Call<'m>,
        targets: &[&'m str],
        place: PlaceId,
    ) -> Result<(), LinkError> {
        let span = instruction.span;
        let address = self.source(frame, instruction, call.callee, ptx::Type::B64)?;
        let (is_equal, select) = match self.module.address_size {
            32 => ("setp.eq.u32", "selp.b32"),
            _ => ("setp.eq.u64", "selp.b32"),
        };
        // An address that is none of the list gives an index behind the switch, which is undefined as the call is.
        let mut index = Operand::Constant(targets.len() as u64);
        let mut labels = Vec::with_capacity(targets.len());
        for (at, target) in targets.iter().enumerate().rev() {
            let own = self.functions.get(target).map_or(0, operands::function_address);
            let (is_it, next) = (self.new_register(), self.new_register());
            let compared = [address, Operand::Constant(own)];
            self.push(Line::Instr(computed(is_equal, is_it, &compared, place)), span)?;
            let choices = [Operand::Constant(at as u64), index, Operand::Register(is_it)];
            self.push(Line::Instr(computed(select, next, &choices, place)), span)?;
            index = Operand::Register(next);
            labels.push(self.new_label());
        }
        labels.reverse();
        self.push(Line::Switch { index, targets: labels.clone(), place }, span)?;
        let behind = self.new_label();
        for (target, label) in targets.iter().zip(labels) {
            self.push(Line::Label(label), span)?;
            self.call_of(frame, instruction, call, target, None, place)?;
            self.push(Line::Jump { condition: None, target: behind, place }, span)?;
        }
        self.push(Line::Label(behind), span)
    }

    /// A call of a known function.
    fn call_of(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        call: &Call<'m>,
        name: &'m str,
        condition: Option<Condition>,
        place: PlaceId,
    ) -> Result<(), LinkError> {
        // A result that is also an argument would need memory of its own.
        let names = |operands: &[ptx::Operand]| -> Vec<&str> {
            operands
                .iter()
                .filter_map(ptx::Operand::name)
                .map(|name| self.module.name(name))
                .collect()
        };
        let arguments = names(call.arguments);
        let shares = names(call.results).iter().any(|result| arguments.contains(result));
        let is_linkable = !shares && !self.is_recursive(name) && self.stack.len() < MAX_CALLS;
        let function = self.functions.get(name).filter(|_| is_linkable);
        match function {
            Some(function) if function.body.is_some() => {
                self.unless(condition, place, instruction.span, |linker| {
                    if linker.sharing.as_ref().is_some_and(|sharing| sharing.is_shared(name)) {
                        linker.shared_call(frame, instruction, function, call, place)
                    } else {
                        linker.linked_call(frame, instruction, function, call, place)
                    }
                })
            }
            Some(_) if matches!(name, "__assertfail" | "__assert_fail") => {
                self.push(Line::Exit { condition, place, traps: true }, instruction.span)
            }
            function => {
                let harmless = function.is_some() && matches!(name, "vprintf" | "malloc" | "free");
                let operation = if harmless { Operation::External } else { Operation::Call };
                self.unlinked(frame, instruction, call, condition, place, operation)
            }
        }
    }

    fn is_recursive(&self, callee: &'m str) -> bool {
        match (&self.sharing, self.stack.last()) {
            (Some(sharing), Some(caller)) => sharing.is_recursive(caller, callee),
            _ => self.stack.contains(&callee),
        }
    }

    /// A call that stays one instruction.
    fn unlinked(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        call: &Call<'m>,
        condition: Option<Condition>,
        place: PlaceId,
        operation: Operation,
    ) -> Result<(), LinkError> {
        let mut dests = Vec::new();
        for result in call.results {
            if let ptx::Operand::Name(result) = result
                && let Ok(Some(register)) = self.maybe_register(frame, *result)
            {
                dests.push(Some(register));
            }
        }
        let instr = Instr {
            operation,
            guard: condition,
            dests: dests.into(),
            sources: Box::new([]),
            address: None,
            place,
        };
        self.push(Line::Instr(instr), instruction.span)
    }

    fn linked_call(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        function: &'m Function,
        call: &Call<'m>,
        place: PlaceId,
    ) -> Result<(), LinkError> {
        let misfit = || LinkError {
            kind: LinkErrorKind::Call(self.module.name(function.name).into()),
            span: instruction.span,
        };
        let &Call { results, arguments, .. } = call;
        if results.len() != function.returns.len() || arguments.len() < function.params.len() {
            return Err(misfit());
        }
        let mut bound = HashMap::default();
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
        self.function(function, bound, frame.source.lines(), Some(behind))?;
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

/// An instruction that the linker adds.
fn computed(mnemonic: &str, to: Reg, from: &[Operand], place: PlaceId) -> Instr {
    Instr {
        operation: isa::decode(mnemonic).map(Arc::new).map_or(Operation::Unknown, Operation::Known),
        guard: None,
        dests: smallvec![Some(to)],
        sources: from.into(),
        address: None,
        place,
    }
}

pub(super) fn moved(to: Reg, from: Operand, place: PlaceId) -> Instr {
    computed("mov.b64", to, &[from], place)
}
