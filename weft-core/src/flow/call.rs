//! Links calls of device functions. The callee's parameters are bound to the caller's variables (PTX ISA §9.7.12.5), or
//! to copies of them if the callee or other code might write them while it runs.

use std::sync::Arc;

use foldhash::HashMap;
use smallvec::smallvec;

use super::call_site::Call;
use super::error::{LinkError, LinkErrorKind};
use super::indirect::{FunctionNames, Targets};
use super::linker::{Bound, Frame, LinkedLine, Linker};
use super::operands;
use super::program::{Address, Condition, Instr, Operand, Operation, PlaceId, Reg, Unlinked};
use super::scope::Declared;
use super::sharing::MAX_CALLS;
use crate::ptx::{self, Function, Instruction, Space, Span, Variable, isa};

/// Functions of the CUDA system that access no memory that the checker compares: their results are open.
const EXTERNAL: [&str; 3] = ["vprintf", "malloc", "free"];

impl<'m> Linker<'m> {
    /// Links a call of a known function, or of the possible targets of a register; a call without known targets stays
    /// as an open operation.
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
        let ptx::ParsedOperand::Name(callee) = call.callee else {
            return Err(self.bad_operand(instruction, "a function's name"));
        };
        let name = self.module.name(*callee);
        if self.functions.get(name).is_some() {
            return self.call_of(frame, instruction, &call, name, condition, place);
        }
        let (scopes, functions, taken) = (&frame.scopes, self.functions, self.taken.as_slice());
        let names =
            FunctionNames { module: self.module, body: frame.body, scopes, functions, taken };
        let targets = frame.definitions.targets(names, frame.scope, &call);
        self.when(condition, place, instruction.span, |linker| {
            linker.dispatch(frame, instruction, &call, &targets, place)
        })
    }

    /// Links a call through a register as a switch over the addresses of its targets. A call of null aborts the launch.
    /// If these might not be all targets, a call of another function stays one instruction.
    fn dispatch(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        call: &Call<'m>,
        Targets { functions: targets, may_be_null, are_all }: &Targets<'m>,
        place: PlaceId,
    ) -> Result<(), LinkError> {
        let span = instruction.span;
        let callee = call.callee.name().unwrap_or(span);
        let other = Operation::Call(callee, Unlinked::NoTargets);
        let other = stays(other, None, Vec::new(), place);
        if targets.is_empty() {
            return self.push(LinkedLine::Instr(other), span);
        }
        let address = self.source(frame, instruction, call.callee, ptx::Type::B64)?;
        let (is_equal, select) = match self.module.address_size {
            32 => ("setp.eq.u32", "selp.b32"),
            _ => ("setp.eq.u64", "selp.b32"),
        };
        if *may_be_null {
            let register = self.new_register();
            let compared = [address, Operand::Constant(0)];
            self.push(LinkedLine::Instr(computed(is_equal, register, &compared, place)), span)?;
            let condition = Some(Condition { register, negated: false });
            self.push(LinkedLine::Exit { condition, place, traps: true }, span)?;
        }
        // An address that is none of the targets gives the index of the last label or, if these are all targets, one
        // past the switch's list: the switch is then undefined, as the call is.
        let mut index = Operand::Constant(targets.len() as u64);
        let mut labels = Vec::with_capacity(targets.len());
        for (at, target) in targets.iter().enumerate().rev() {
            let entry = self.functions.get(target).map_or(0, operands::function_address);
            let (is_it, next) = (self.new_register(), self.new_register());
            let compared = [address, Operand::Constant(entry)];
            self.push(LinkedLine::Instr(computed(is_equal, is_it, &compared, place)), span)?;
            let choices = [Operand::Constant(at as u64), index, Operand::Register(is_it)];
            self.push(LinkedLine::Instr(computed(select, next, &choices, place)), span)?;
            index = Operand::Register(next);
            labels.push(self.new_label());
        }
        labels.reverse();
        labels.extend((!are_all).then(|| self.new_label()));
        let last = labels.last().copied().filter(|_| !are_all);
        self.push(LinkedLine::Switch { index, targets: labels.clone(), place }, span)?;
        let behind = self.new_label();
        for (target, label) in targets.iter().zip(labels) {
            self.push(LinkedLine::Label(label), span)?;
            self.call_of(frame, instruction, call, target, None, place)?;
            self.push(LinkedLine::Jump { condition: None, target: behind, place }, span)?;
        }
        if let Some(label) = last {
            self.push(LinkedLine::Label(label), span)?;
            self.push(LinkedLine::Instr(other), span)?;
        }
        self.push(LinkedLine::Label(behind), span)
    }

    /// Links a call of the function with this name: inlined, as a call of a shared routine, or as an open operation if
    /// it cannot be linked in.
    fn call_of(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        call: &Call<'m>,
        name: &'m str,
        condition: Option<Condition>,
        place: PlaceId,
    ) -> Result<(), LinkError> {
        let why = match self.functions.get(name) {
            Some(function) if function.body.is_some() => {
                if !self.is_recursive(name) && self.stack.len() < MAX_CALLS {
                    return self.when(condition, place, instruction.span, |linker| {
                        if linker.sharing.as_ref().is_some_and(|sharing| sharing.is_shared(name)) {
                            linker.shared_call(frame, instruction, function, call, place)
                        } else {
                            linker.linked_call(frame, instruction, function, call, place)
                        }
                    });
                }
                if self.is_recursive(name) { Unlinked::Recursive } else { Unlinked::TooDeep }
            }
            Some(_) if matches!(name, "__assertfail" | "__assert_fail") => {
                let end = LinkedLine::Exit { condition, place, traps: true };
                return self.push(end, instruction.span);
            }
            Some(function) if EXTERNAL.contains(&name) => {
                return self.external(frame, instruction, call, function, condition, place);
            }
            _ => Unlinked::NoBody,
        };
        let callee = self.functions.get(name).map_or(instruction.span, |function| function.name);
        let unlinked = stays(Operation::Call(callee, why), condition, Vec::new(), place);
        self.push(LinkedLine::Instr(unlinked), instruction.span)
    }

    fn is_recursive(&self, callee: &'m str) -> bool {
        match (&self.sharing, self.stack.last()) {
            (Some(sharing), Some(caller)) => sharing.is_recursive(caller, callee),
            _ => self.stack.contains(&callee),
        }
    }

    /// Emits a call of a function that does nothing but return open results.
    fn external(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        call: &Call<'m>,
        function: &Function,
        guard: Option<Condition>,
        place: PlaceId,
    ) -> Result<(), LinkError> {
        let (mut dests, mut stores) = (Vec::new(), Vec::new());
        for (param, result) in function.returns.iter().zip(call.results) {
            match (param.space, result) {
                (_, ptx::ParsedOperand::Sink) => {}
                (Space::Register, ptx::ParsedOperand::Name(name)) => {
                    dests.push(Some(self.named_register(frame, *name)?));
                }
                _ => {
                    let (space, first) = self.memory_of(frame, instruction, result)?;
                    for (offset, mnemonic) in parts(param) {
                        let register = self.new_register();
                        dests.push(Some(register));
                        let at = Address { space, base: None, offset: first.wrapping_add(offset) };
                        stores.push(Instr { guard, ..stored(mnemonic.1, at, register, place) });
                        if dests.len() > MAX_PARTS {
                            return Err(self.misfit(function, instruction));
                        }
                    }
                }
            }
        }
        let instr = stays(Operation::External(function.name), guard, dests, place);
        self.push(LinkedLine::Instr(instr), instruction.span)?;
        stores
            .into_iter()
            .try_for_each(|store| self.push(LinkedLine::Instr(store), instruction.span))
    }

    fn misfit(&self, function: &Function, instruction: &Instruction) -> LinkError {
        let kind = LinkErrorKind::Call(self.module.name(function.name).into());
        LinkError { kind, span: instruction.span }
    }

    /// Inlines a call: binds the parameters, links the body anew, and copies the results.
    fn linked_call(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        function: &'m Function,
        call: &Call<'m>,
        place: PlaceId,
    ) -> Result<(), LinkError> {
        let &Call { results, arguments, .. } = call;
        if results.len() != function.returns.len() || arguments.len() < function.params.len() {
            return Err(self.misfit(function, instruction));
        }
        let mut bound = HashMap::default();
        for (param, argument) in function.params.iter().zip(arguments) {
            let mut binding = self.bind(frame, instruction, param, argument)?;
            match binding {
                Bound::Register(register) => {
                    let source = self.source(frame, instruction, argument, param.ty)?;
                    self.push(LinkedLine::Instr(moved(register, source, place)), instruction.span)?;
                }
                Bound::Memory(space, _)
                    if self.is_copied(frame, function, param, argument, call, space) =>
                {
                    binding = self.copy(binding, param, instruction.span, place)?;
                }
                Bound::Memory(..) => {}
            }
            bound.insert(self.module.name(param.name), binding);
        }
        let mut copies = Vec::new();
        for (param, result) in function.returns.iter().zip(results) {
            let place_bound = self.bind(frame, instruction, param, result)?;
            if let (Bound::Register(register), ptx::ParsedOperand::Name(name)) =
                (place_bound, result)
            {
                copies.push((self.named_register(frame, *name)?, register));
            }
            bound.insert(self.module.name(param.name), place_bound);
        }
        let behind = self.new_label();
        self.function(function, bound, frame.source.lines(), Some(behind))?;
        self.push(LinkedLine::Label(behind), instruction.span)?;
        for (to, from) in copies {
            self.push(
                LinkedLine::Instr(moved(to, Operand::Register(from), place)),
                instruction.span,
            )?;
        }
        Ok(())
    }

    /// Returns where a parameter is kept: a `.reg` parameter gets a register of its own, a `.param` parameter is the
    /// caller's variable itself.
    fn bind(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        param: &Variable,
        operand: &ptx::ParsedOperand,
    ) -> Result<Bound, LinkError> {
        if param.space == Space::Register {
            return Ok(Bound::Register(self.new_register()));
        }
        let (space, address) = self.memory_of(frame, instruction, operand)?;
        Ok(Bound::Memory(space, address))
    }

    /// Returns the space and address of the variable that is passed as an operand of a call.
    fn memory_of(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &Instruction,
        operand: &ptx::ParsedOperand,
    ) -> Result<(Space, u64), LinkError> {
        if let ptx::ParsedOperand::Name(name) = operand {
            let text = self.module.name(*name);
            if let Some((_, Declared::Variable(variable))) = frame.scopes.find(frame.scope, text) {
                return self.locate(frame, variable);
            }
            if let Some(Bound::Memory(space, address)) = frame.bound.get(text) {
                return Ok((*space, *address));
            }
        }
        Err(self.bad_operand(instruction, "a .param variable"))
    }

    /// Whether a parameter needs memory of its own, because the parameter, or the variable that it would be a copy of,
    /// might be written while the callee runs. A kernel's parameters are never written.
    fn is_copied(
        &mut self,
        frame: &Frame<'m>,
        function: &'m Function,
        param: &Variable,
        argument: &ptx::ParsedOperand,
        call: &Call<'m>,
        space: Space,
    ) -> bool {
        let name = |operand: &ptx::ParsedOperand| operand.name().map(|name| self.module.name(name));
        let given = name(argument);
        let is_result = call.results.iter().any(|result| name(result) == given);
        let is_shown =
            space != Space::Param && given.is_some_and(|text| frame.exposed.is_shown(text));
        let word = self.module.name(param.name);
        is_result || is_shown || self.exposed_in(function).may_change(word)
    }

    /// Gives a parameter memory of its own, and emits code that fills it from the caller's variable.
    fn copy(
        &mut self,
        from: Bound,
        param: &Variable,
        span: Span,
        place: PlaceId,
    ) -> Result<Bound, LinkError> {
        let Bound::Memory(space, first) = from else { return Ok(from) };
        let slot = self.layout.place(self.module, param).ok_or_else(|| self.too_large(param))?;
        for (offset, (load, store)) in parts(param) {
            let register = self.new_register();
            let at = |space, first: u64| Address {
                space,
                base: None,
                offset: first.wrapping_add(offset),
            };
            let load =
                Instr { address: Some(at(space, first)), ..computed(load, register, &[], place) };
            self.push(LinkedLine::Instr(load), span)?;
            let store = stored(store, at(Space::Local, slot), register, place);
            self.push(LinkedLine::Instr(store), span)?;
        }
        Ok(Bound::Memory(Space::Local, slot))
    }
}

/// The most parts that the results of an external function can have: such functions return numbers and pointers.
const MAX_PARTS: usize = 16;

/// Returns the parts in which a parameter is copied, as wide as its alignment allows: the offset of each part, and the
/// mnemonics that load and store it.
fn parts(param: &Variable) -> impl Iterator<Item = (u64, (&'static str, &'static str))> {
    let (size, alignment) = (param.size(), u64::from(param.alignment()));
    let fits = |width: u64| alignment.is_multiple_of(width) && size.is_multiple_of(width);
    let (width, mnemonics) = match () {
        () if fits(8) => (8, ("ld.local.b64", "st.local.b64")),
        () if fits(4) => (4, ("ld.local.b32", "st.local.b32")),
        () if fits(2) => (2, ("ld.local.b16", "st.local.b16")),
        () => (1, ("ld.local.b8", "st.local.b8")),
    };
    (0..size / width).map(move |at| (at * width, mnemonics))
}

/// Returns a store for the linker to add.
pub(super) fn stored(mnemonic: &str, at: Address, from: Reg, place: PlaceId) -> Instr {
    let instr = computed(mnemonic, from, &[Operand::Register(from)], place);
    Instr { dests: smallvec![], address: Some(at), ..instr }
}

/// Returns a call that is kept as one instruction.
fn stays(
    operation: Operation,
    guard: Option<Condition>,
    dests: Vec<Option<Reg>>,
    place: PlaceId,
) -> Instr {
    Instr { operation, guard, dests: dests.into(), sources: Box::new([]), address: None, place }
}

/// Returns an instruction for the linker to add.
pub(super) fn computed(mnemonic: &str, to: Reg, from: &[Operand], place: PlaceId) -> Instr {
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
