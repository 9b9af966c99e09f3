//! Calls of routines, which are functions that are linked in once: their parameters and results are at the same
//! addresses for all callers.

use std::rc::Rc;

use foldhash::HashMap;

use super::call::moved;
use super::call_site::{Call, instructions};
use super::entry::{Passing, Storage};
use super::error::LinkError;
use super::indirect::FunctionNames;
use super::linker::{Bound, Formals, Frame, LinkedLine, Linker, RoutineId};
use super::parameters::variable_of;
use super::program::{Operand, PlaceId};
use super::scope::Scopes;
use crate::ptx::{self, Body, Function, Instruction, Space, Span, Variable};

impl<'m> Linker<'m> {
    /// Links a call of a routine, with moves for the parameters and results that are registers.
    pub(super) fn shared_call(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        function: &'m Function,
        call: &Call<'m>,
        place: PlaceId,
    ) -> Result<(), LinkError> {
        let span = instruction.span;
        let formals = self.formals(function)?;
        for ((bound, given), param) in
            formals.params.iter().zip(call.arguments).zip(&function.params)
        {
            if let Bound::Register(register) = bound {
                let source = self.source(frame, instruction, given, param.ty)?;
                self.push(LinkedLine::Instr(moved(*register, source, place)), span)?;
            }
        }
        let routine = self.routine(function)?;
        self.push(LinkedLine::Call { routine, place }, span)?;
        for (binding, given) in formals.returns.iter().zip(call.results) {
            if let (Bound::Register(register), ptx::ParsedOperand::Name(name)) = (binding, given) {
                let to = self.named_register(frame, *name)?;
                self.push(LinkedLine::Instr(moved(to, Operand::Register(*register), place)), span)?;
            }
        }
        Ok(())
    }

    /// Links a function as a routine of its own, unless that has been done.
    fn routine(&mut self, function: &'m Function) -> Result<RoutineId, LinkError> {
        let name = self.module.name(function.name);
        if let Some(known) = self.routines.get(name) {
            return Ok(*known);
        }
        let formals = self.formals(function)?;
        let params = function.params.iter().zip(&formals.params);
        let returns = function.returns.iter().zip(&formals.returns);
        let bound: HashMap<_, _> = params
            .chain(returns)
            .map(|(variable, at)| (self.module.name(variable.name), *at))
            .collect();
        let callers_lines = std::mem::take(&mut self.lines);
        let ret = Some(self.new_label());
        self.function(function, bound, Vec::new(), ret)?;
        self.finish(ret);
        self.lines = callers_lines;
        let id = RoutineId(self.linked.functions.len() - 1);
        self.routines.insert(name, id);
        let params = in_memory(&function.params, &formals.params);
        let returns = in_memory(&function.returns, &formals.returns);
        self.passing.insert(id, Passing { params, returns });
        Ok(id)
    }

    /// Returns where a routine keeps its parameters and results; assigns registers and addresses at the first call.
    fn formals(&mut self, function: &'m Function) -> Result<Rc<Formals>, LinkError> {
        let name = self.module.name(function.name);
        if let Some(known) = self.formals.get(name) {
            return Ok(Rc::clone(known));
        }
        let mut place = |variable: &Variable| {
            if variable.space == Space::Register {
                return Ok(Bound::Register(self.new_register()));
            }
            let address = self.layout.place(self.module, variable);
            let address = address.ok_or_else(|| self.too_large(variable))?;
            Ok(Bound::Memory(Space::Local, address))
        };
        let params = function.params.iter().map(&mut place).collect::<Result<_, _>>()?;
        let returns = function.returns.iter().map(&mut place).collect::<Result<_, _>>()?;
        let formals = Rc::new(Formals { params, returns });
        self.formals.insert(name, Rc::clone(&formals));
        Ok(formals)
    }

    /// Returns the addresses of a body's variables that lie where routines that it calls keep parameters and results.
    pub(super) fn passed(
        &mut self,
        body: &'m Body,
        scopes: &Scopes<'m>,
    ) -> Result<HashMap<Span, u64>, LinkError> {
        let mut passed = HashMap::default();
        if self.sharing.is_none() {
            return Ok(passed);
        }
        for (scope, instruction) in instructions(body) {
            let Some(call) = Call::of(self.module, body, instruction) else { continue };
            let Some(callee) = call.callee.name() else { continue };
            let name = self.module.name(callee);
            let is_shared = self.sharing.as_ref().is_some_and(|sharing| sharing.is_shared(name));
            let Some(function) = self.functions.get(name).filter(|_| is_shared) else {
                continue;
            };
            let formals = self.formals(function)?;
            let params = formals.params.iter().zip(call.arguments);
            let returns = formals.returns.iter().zip(call.results);
            let (functions, taken) = (self.functions, self.taken.as_slice());
            let names = FunctionNames { module: self.module, body, scopes, functions, taken };
            for (bound, given) in params.chain(returns) {
                if let (Bound::Memory(_, at), Some(variable)) =
                    (bound, variable_of(names, scope, given))
                {
                    passed.insert(variable.name, *at);
                }
            }
        }
        Ok(passed)
    }
}

/// Returns the storage of those parameters or results that lie in local memory.
fn in_memory(variables: &[Variable], places: &[Bound]) -> Vec<Storage> {
    let memory = |(variable, place): (&Variable, &Bound)| match place {
        Bound::Memory(_, first) => Some(Storage::Memory(*first, variable.size())),
        Bound::Register(_) => None,
    };
    variables.iter().zip(places).filter_map(memory).collect()
}
