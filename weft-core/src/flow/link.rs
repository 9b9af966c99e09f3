//! Links a kernel and the device functions that it calls into lists of lines in which all names are resolved.
//!
//! A function is linked in anew at each call, with its parameters bound to the caller's variables: caller and callee
//! use the same memory unless one of them could notice that there is no copy. Where this would be too much code,
//! functions are linked in once ([`super::sharing`]). Calls through registers whose targets are not known, recursive
//! calls and calls of functions without a body are kept as open operations.

use std::sync::Arc;

use foldhash::HashMap;

use super::call_site::instructions;
use super::cluster::OWN_END;
use super::declared::Clusters;
use super::error::{LinkError, LinkErrorKind, MAX_PARAMETERS, undeclared};
use super::indirect::{Definitions, FunctionNames};
use super::linker::{Bound, Frame, Label, Linked, LinkedLine, Linker};
use super::placement::Placement;
use super::places::SourceLines;
use super::program::{Condition, PlaceId};
use super::scope::{Declared, Scope, Scopes};
use super::sharing::{Growth, Sharing};
use crate::launch::Dim3;
use crate::ptx::isa::{self, Decoded, Effect};
use crate::ptx::{self, Function, Instruction, Module, Space, Span, Statement};

/// Links a kernel and all functions that it can call.
pub(super) fn link(
    module: &Module,
    kernel: &Function,
    growth: Growth,
    placement: &Placement,
    cluster: Option<Dim3>,
) -> Result<Linked, LinkError> {
    let mut linker = Linker::new(module, placement);
    linker.place_statics(kernel)?;
    linker.linked.clusters = Clusters::of(kernel, cluster);
    if linker.linked.clusters.are_of_several() && linker.layout.shared_end() > OWN_END {
        linker.linked.clusters = Clusters::Unknown;
    }
    linker.sharing = Sharing::plan((module, linker.functions), &linker.taken, kernel, growth);
    let mut bound = HashMap::default();
    for variable in &kernel.params {
        let param = linker.layout.param(module, variable);
        bound.insert(module.name(variable.name), Bound::Memory(Space::Param, param.offset));
        linker.linked.params.push(param);
        if linker.layout.parameters() > MAX_PARAMETERS {
            let (kind, span) = (LinkErrorKind::Parameters, variable.name);
            return Err(LinkError { kind, span });
        }
    }
    linker.function(kernel, bound, Vec::new(), None)?;
    linker.finish(None);
    let mut linked = linker.linked;
    if linked.clusters.are_of_several() && !linker.uses_clusters {
        linked.clusters = Clusters::Unused;
    }
    linked.static_shared = linker.layout.static_shared();
    linked.symbols = linker.layout.symbols;
    Ok(linked)
}

impl<'m> Linker<'m> {
    /// Links one instance of a function. `bound`: where its parameters and results lie, by name. `callers`: the source
    /// lines of the call, innermost first. `ret`: the label that it returns to; `None` for the kernel.
    pub(super) fn function(
        &mut self,
        function: &'m Function,
        bound: HashMap<&'m str, Bound>,
        callers: Vec<(u32, u32, u32)>,
        ret: Option<Label>,
    ) -> Result<(), LinkError> {
        let Some(body) = &function.body else { return Ok(()) };
        self.stack.push(self.module.name(function.name));
        let scopes = Scopes::collect(self.module, &body.statements);
        let (functions, taken) = (self.functions, self.taken.as_slice());
        let names = FunctionNames { module: self.module, body, scopes: &scopes, functions, taken };
        let definitions = Definitions::of(names);
        let variables = self.passed(body, &scopes)?;
        let exposed = self.exposed_in(function);
        let mut frame = Frame {
            exposed,
            body,
            scopes,
            definitions,
            scope: 0,
            bound,
            registers: HashMap::default(),
            labels: HashMap::default(),
            variables,
            source: SourceLines::of(&body.statements, callers),
            uses_carry: instructions(body).any(|(_, own)| self.uses_carry(own)),
            after_calls: Vec::new(),
            ret,
        };
        self.statements(&mut frame, function)?;
        self.stack.pop();
        // A body can end without `ret`.
        let place = self.place_id(&mut frame, function.name);
        let end = match ret {
            Some(target) => LinkedLine::Jump { condition: None, target, place },
            None => LinkedLine::Exit { condition: None, place, traps: false },
        };
        self.push(end, function.name)
    }

    /// Links the statements of a function's body.
    fn statements(
        &mut self,
        frame: &mut Frame<'m>,
        function: &'m Function,
    ) -> Result<(), LinkError> {
        let mut scopes = vec![0];
        let mut opened = 0;
        let (mut new, mut entries) = (Vec::new(), vec![None]);
        // The kernel is entered only once: nothing can be left from an earlier call.
        if frame.ret.is_some() {
            let returns = self.returned(function, frame);
            entries[0] = Some(self.enter(frame, function, &returns)?);
        }
        for statement in &frame.body.statements {
            match statement {
                Statement::Open => {
                    opened += 1;
                    scopes.push(opened);
                    entries.push(Some(self.enter(frame, function, &[])?));
                }
                Statement::Close => {
                    scopes.pop();
                }
                Statement::Loc(loc) => frame.source.move_to(*loc),
                Statement::Label(name) => {
                    let label = self.label(frame, *name)?;
                    self.push(LinkedLine::Label(label), *name)?;
                }
                Statement::Instruction(instruction) => self.instruction(frame, instruction)?,
                Statement::Variable(variable) => new.push((frame.scope, variable.as_ref())),
                Statement::Targets(..) | Statement::Prototype(_) => {}
            }
            frame.scope = scopes.last().copied().unwrap_or(0);
        }
        self.note_new(frame, &entries, &new);
        Ok(())
    }

    fn label(&mut self, frame: &mut Frame<'m>, name: Span) -> Result<Label, LinkError> {
        let text = self.module.name(name);
        self.label_named(frame, frame.scope, text, name)
    }

    fn label_named(
        &mut self,
        frame: &mut Frame<'m>,
        from: Scope,
        text: &'m str,
        span: Span,
    ) -> Result<Label, LinkError> {
        let Some((scope, Declared::Label)) = frame.scopes.find(from, text) else {
            return Err(undeclared(text, span));
        };
        Ok(*frame.labels.entry((scope, text)).or_insert_with(|| self.new_label()))
    }

    fn instruction(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
    ) -> Result<(), LinkError> {
        let module = self.module;
        let decoded = module.decoded(instruction);
        let beyond = decoded.and_then(|decoded| self.beyond_cta(decoded));
        let decoded = beyond.as_ref().or(decoded);
        let condition = match instruction.guard {
            Some(guard) => Some(Condition {
                register: self.named_register(frame, guard.register)?,
                negated: guard.negated,
            }),
            None => None,
        };
        let place = self.place_id(frame, instruction.span);
        let operands = frame.body.operands(&instruction.operands);
        if let Some(decoded) = decoded
            && self.translated(frame, instruction, decoded, (condition, place))?
        {
            return Ok(());
        }
        match decoded.map(|decoded| decoded.row.effect) {
            Some(Effect::Branch) => self.branch(frame, instruction, operands, condition, place),
            Some(Effect::Call) => {
                self.call(frame, instruction, condition, place)?;
                self.behind_call(frame, place, instruction.span)
            }
            Some(Effect::Return) if frame.ret.is_some() => {
                let target = frame.ret.unwrap_or(Label(0));
                self.push(LinkedLine::Jump { condition, target, place }, instruction.span)
            }
            Some(Effect::Return | Effect::Exit) => {
                let traps = decoded.is_some_and(|decoded| decoded.row.opcode == isa::Opcode::Trap);
                self.push(LinkedLine::Exit { condition, place, traps }, instruction.span)
            }
            _ => {
                let mut instr = self.operands(frame, instruction, decoded)?;
                instr.guard = condition;
                instr.place = place;
                match decoded.and_then(|decoded| decoded.matrix_rows()) {
                    Some(rows) => self.matrix(instr, rows, instruction),
                    None => self.push(LinkedLine::Instr(instr), instruction.span),
                }
            }
        }
    }

    /// Links an instruction whose operands the machine takes in another form. Returns whether it is one.
    fn translated(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        decoded: &Arc<Decoded>,
        (condition, place): (Option<Condition>, PlaceId),
    ) -> Result<bool, LinkError> {
        let is_bulk = decoded.row.effect == Effect::BulkCopy && !decoded.is_strange;
        match () {
            () if decoded.is_copy() => {
                self.asynchronous_copy(frame, instruction, decoded, condition, place)?;
            }
            () if is_bulk && decoded.is_tensor_copy() => {
                self.tensor_copy(frame, instruction, decoded, condition, place)?;
            }
            () if is_bulk => self.bulk_copy(frame, instruction, decoded, condition, place)?,
            () if decoded.is_product() => {
                self.product(frame, instruction, decoded, condition, place)?;
            }
            () if decoded.row.effect == Effect::TakeOver && !decoded.is_strange => {
                self.take_over(frame, instruction, decoded, (condition, place))?;
            }
            () if decoded.is_of_tensor_memory() => {
                return self.tensor_memory(frame, instruction, decoded, (condition, place));
            }
            () if self.leader_address(frame, instruction, decoded, (condition, place))? => {}
            () => return self.map_address(frame, instruction, decoded, (condition, place)),
        }
        Ok(true)
    }

    fn branch(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &Instruction,
        operands: &'m [ptx::ParsedOperand],
        condition: Option<Condition>,
        place: PlaceId,
    ) -> Result<(), LinkError> {
        match operands {
            [ptx::ParsedOperand::Name(label)] => {
                let target = self.label(frame, *label)?;
                self.push(LinkedLine::Jump { condition, target, place }, instruction.span)
            }
            [index, ptx::ParsedOperand::Name(table)] => {
                let index = self.source(frame, instruction, index, ptx::Type::B32)?;
                let name = self.module.name(*table);
                let Some((scope, names)) = frame.scopes.targets(frame.scope, name) else {
                    return Err(undeclared(name, *table));
                };
                let names: Vec<_> = names.to_vec();
                let mut targets = Vec::with_capacity(names.len());
                for name in names {
                    targets.push(self.label_named(frame, scope, name, *table)?);
                }
                self.when(condition, place, instruction.span, |linker| {
                    linker.push(LinkedLine::Switch { index, targets, place }, instruction.span)
                })
            }
            _ => Err(self.bad_operand(instruction, "a label")),
        }
    }
}
