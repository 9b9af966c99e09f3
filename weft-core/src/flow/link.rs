//! Lists of lines out of a kernel and the device functions it calls, all names resolved.
//!
//! A function is linked in anew at each call, its parameters bound to the caller's: both use the same parameter memory
//! unless one of them could notice that it is no copy. Where that would be too much code, functions are linked in once
//! ([`super::sharing`]). Calls through registers whose targets are not known, recursive calls and calls of functions
//! without a body stay, as open operations.

use std::rc::Rc;

use foldhash::{HashMap, HashSet};

use super::declared::{Param, Symbol};
use super::error::{LinkError, LinkErrorKind, MAX_LINES, MAX_PARAMETERS, undeclared};
use super::indirect::{Definitions, Names};
use super::layout::Layout;
use super::parameters::Exposed;
use super::placement::Placement;
use super::places::{Places, Source};
use super::program::{Condition, Instr, Operand, PlaceId, Reg};
use super::scope::{Declared, Scope, Scopes};
use super::sharing::{Growth, Sharing};
use super::unset::Entry;
use crate::ptx::isa::{self, Effect};
use crate::ptx::{self, Body, Function, Instruction, Module, Space, Span, Statement, Variable};

/// A jump's destination before blocks exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Label(pub(super) u32);

/// Linked code: instructions, labels and jumps in the order of the text.
#[derive(Debug)]
pub(super) enum Line {
    Label(Label),
    Instr(Instr),
    Jump {
        condition: Option<Condition>,
        target: Label,
        place: PlaceId,
    },
    Switch {
        index: Operand,
        targets: Vec<Label>,
        place: PlaceId,
    },
    Exit {
        condition: Option<Condition>,
        place: PlaceId,
        traps: bool,
    },
    Call {
        routine: RoutineId,
        place: PlaceId,
    },
    /// A function or a block in braces is entered: an index into `Linker::entries`. None is left in the end.
    Enter(usize),
}

/// A function that is linked in once, or the kernel: an index into `Linked::functions`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RoutineId(pub(super) usize);

/// The lines of one of them.
#[derive(Debug)]
pub(super) struct LinkedFunction {
    pub(super) lines: Vec<Line>,
    /// What its returns jump to.
    pub(super) ret: Option<Label>,
}

/// The functions of a module by name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Functions<'m>(&'m Module);

impl<'m> Functions<'m> {
    pub(super) fn get(self, name: &str) -> Option<&'m Function> {
        self.0.function(name)
    }

    /// Whether there is one of this name, and the name as the module has it.
    pub(super) fn name(self, name: &str) -> Option<&'m str> {
        self.get(name).map(|own| self.0.name(own.name))
    }
}

/// Everything the linker found.
#[derive(Debug)]
pub(super) struct Linked {
    /// Each behind those that it calls, the kernel last.
    pub(super) functions: Vec<LinkedFunction>,
    labels: u32,
    pub(super) registers: u32,
    pub(super) symbols: Vec<Symbol>,
    pub(super) params: Vec<Param>,
    pub(super) places: Places,
    pub(super) static_shared: u64,
    pub(super) placement: Placement,
}

/// Where a parameter of a linked function lives.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bound {
    Memory(Space, u64),
    Register(Reg),
}

/// Where a function that is linked in once has its parameters and results.
#[derive(Debug)]
pub(super) struct Formals {
    pub(super) params: Vec<Bound>,
    pub(super) returns: Vec<Bound>,
}

/// One linked instance of a function.
pub(super) struct Frame<'m> {
    pub(super) body: &'m Body,
    pub(super) scopes: Scopes<'m>,
    pub(super) scope: Scope,
    pub(super) bound: HashMap<&'m str, Bound>,
    /// By the scope that declares them.
    pub(super) registers: HashMap<(Scope, &'m str), Reg>,
    labels: HashMap<(Scope, &'m str), Label>,
    pub(super) variables: HashMap<Span, u64>,
    pub(super) source: Source,
    pub(super) definitions: Definitions<'m>,
    pub(super) exposed: Rc<Exposed<'m>>,
    ret: Option<Label>,
}

pub(super) struct Linker<'m> {
    pub(super) module: &'m Module,
    pub(super) functions: Functions<'m>,
    pub(super) layout: Layout,
    statics: HashMap<Span, u64>,
    pub(super) linked: Linked,
    /// The lines of the routine that is being linked.
    pub(super) lines: Vec<Line>,
    /// Room for the operands of an instruction.
    pub(super) room: (Vec<Option<Reg>>, Vec<Operand>),
    /// Lines of all routines.
    count: usize,
    /// If some functions are linked in once.
    pub(super) sharing: Option<Sharing<'m>>,
    pub(super) routines: HashMap<&'m str, RoutineId>,
    pub(super) formals: HashMap<&'m str, Rc<Formals>>,
    /// What is new where functions and blocks in braces are entered.
    pub(super) entries: Vec<Entry>,
    /// By function.
    pub(super) exposed: HashMap<&'m str, Rc<Exposed<'m>>>,
    /// Functions that are being linked, outermost first.
    pub(super) stack: Vec<&'m str>,
}

/// Links a kernel.
pub(super) fn link(
    module: &Module,
    kernel: &Function,
    growth: Growth,
    placement: &Placement,
) -> Result<Linked, LinkError> {
    let mut linker = Linker::new(module, placement);
    linker.place_statics(kernel)?;
    linker.sharing = Sharing::plan(module, linker.functions, kernel, growth);
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
    linked.static_shared = linker.layout.static_shared();
    linked.symbols = linker.layout.symbols;
    Ok(linked)
}

impl<'m> Linker<'m> {
    fn new(module: &'m Module, placement: &Placement) -> Self {
        Self {
            module,
            functions: Functions(module),
            layout: Layout::new(placement),
            statics: HashMap::default(),
            linked: Linked {
                functions: Vec::new(),
                labels: 0,
                registers: 0,
                symbols: Vec::new(),
                params: Vec::new(),
                static_shared: 0,
                placement: placement.clone(),
                places: Places::default(),
            },
            lines: Vec::new(),
            room: (Vec::new(), Vec::new()),
            count: 0,
            sharing: None,
            routines: HashMap::default(),
            formals: HashMap::default(),
            entries: Vec::new(),
            exposed: HashMap::default(),
            stack: Vec::new(),
        }
    }

    /// Places what the kernel and the functions it can call name: variables with a size first, then dynamic shared
    /// memory behind them.
    fn place_statics(&mut self, kernel: &'m Function) -> Result<(), LinkError> {
        let mut used = Vec::new();
        let mut seen = HashSet::from_iter([self.module.name(kernel.name)]);
        let mut work = vec![kernel];
        while let Some(function) = work.pop() {
            let Some(body) = &function.body else { continue };
            for statement in &body.statements {
                if let Statement::Variable(variable) = statement
                    && matches!(variable.space, Space::Shared | Space::Global | Space::Const)
                {
                    used.push(variable.as_ref());
                }
            }
            let listed = body.statements.iter().flat_map(|statement| match statement {
                Statement::Targets(_, names) => names.as_slice(),
                _ => &[],
            });
            let named = body.operands.iter().filter_map(ptx::Operand::name);
            for name in named.chain(listed.copied()) {
                let name = self.module.name(name);
                if let Some(variable) = self.module.variable(name) {
                    used.push(variable);
                }
                if let Some(callee) = self.functions.get(name)
                    && seen.insert(name)
                {
                    work.push(callee);
                }
            }
        }
        used.sort_by_key(|variable| (variable.size() == 0, variable.name));
        used.dedup_by_key(|variable| variable.name);
        let is_dynamic =
            |variable: &&&Variable| variable.space == Space::Shared && variable.size() == 0;
        used.iter().filter(is_dynamic).for_each(|variable| self.layout.align_dynamic(variable));
        for variable in used {
            let address =
                self.layout.place(self.module, variable).ok_or_else(|| self.too_large(variable))?;
            self.statics.insert(variable.name, address);
        }
        Ok(())
    }

    pub(super) fn too_large(&self, variable: &Variable) -> LinkError {
        LinkError {
            kind: LinkErrorKind::Layout(self.module.name(variable.name).into()),
            span: variable.name,
        }
    }

    /// Where a variable lives, as a space and an address.
    pub(super) fn locate(
        &mut self,
        frame: &mut Frame<'m>,
        variable: &Variable,
    ) -> Result<(Space, u64), LinkError> {
        let known =
            self.statics.get(&variable.name).or_else(|| frame.variables.get(&variable.name));
        let space = if variable.space == Space::Param { Space::Local } else { variable.space };
        if let Some(&address) = known {
            return Ok((space, address));
        }
        let address =
            self.layout.place(self.module, variable).ok_or_else(|| self.too_large(variable))?;
        frame.variables.insert(variable.name, address);
        Ok((space, address))
    }

    pub(super) fn new_register(&mut self) -> Reg {
        self.linked.registers += 1;
        Reg(self.linked.registers - 1)
    }

    pub(super) fn new_label(&mut self) -> Label {
        self.linked.labels += 1;
        Label(self.linked.labels - 1)
    }

    pub(super) fn push(&mut self, line: Line, span: Span) -> Result<(), LinkError> {
        // A switch counts with its targets: many may share one list.
        self.count += if let Line::Switch { targets, .. } = &line { targets.len() } else { 1 };
        if self.count > MAX_LINES {
            return Err(LinkError { kind: LinkErrorKind::Size, span });
        }
        self.lines.push(line);
        Ok(())
    }

    pub(super) fn place_id(&mut self, frame: &mut Frame<'m>, span: Span) -> PlaceId {
        // The kernel itself, which goes back to nowhere, is linked in once.
        self.linked.places.id(span, &mut frame.source, frame.ret.is_none())
    }

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
        let names = Names { module: self.module, body, scopes: &scopes, functions: self.functions };
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
            source: Source::of(&body.statements, callers),
            ret,
        };
        let mut scopes = vec![0];
        let mut opened = 0;
        // Memory that callees share is theirs.
        let passed: HashSet<Span> = frame.variables.keys().copied().collect();
        let (mut new, mut entries) = (Vec::new(), vec![None]);
        // Nothing of the kernel was run before.
        if ret.is_some() {
            let returns = self.returned(function, &frame);
            entries[0] = Some(self.enter(&mut frame, function, &returns)?);
        }
        for statement in &body.statements {
            match statement {
                Statement::Open => {
                    opened += 1;
                    scopes.push(opened);
                    entries.push(Some(self.enter(&mut frame, function, &[])?));
                }
                Statement::Close => {
                    scopes.pop();
                }
                Statement::Loc(loc) => frame.source.move_to(*loc),
                Statement::Label(name) => {
                    let label = self.label(&mut frame, *name)?;
                    self.push(Line::Label(label), *name)?;
                }
                Statement::Instruction(instruction) => self.instruction(&mut frame, instruction)?,
                Statement::Variable(variable) if !passed.contains(&variable.name) => {
                    new.push((frame.scope, variable.as_ref()));
                }
                Statement::Variable(_) | Statement::Targets(..) | Statement::Prototype(_) => {}
            }
            frame.scope = scopes.last().copied().unwrap_or(0);
        }
        self.stack.pop();
        self.note_new(&frame, &entries, &new);
        // A body may end without `ret`.
        let place = self.place_id(&mut frame, function.name);
        let end = match ret {
            Some(target) => Line::Jump { condition: None, target, place },
            None => Line::Exit { condition: None, place, traps: false },
        };
        self.push(end, function.name)
    }

    /// What a function's variables for parameters are used for.
    pub(super) fn exposed_in(&mut self, function: &'m Function) -> Rc<Exposed<'m>> {
        let module = self.module;
        let own = self.exposed.entry(module.name(function.name));
        Rc::clone(own.or_insert_with(|| Rc::new(Exposed::of(module, function))))
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

    /// The register that a declared name stands for in this instance.
    pub(super) fn register(&mut self, frame: &mut Frame<'m>, scope: Scope, text: &'m str) -> Reg {
        *frame.registers.entry((scope, text)).or_insert_with(|| self.new_register())
    }

    fn instruction(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
    ) -> Result<(), LinkError> {
        let module = self.module;
        let decoded = module.decoded(instruction);
        let condition = match instruction.guard {
            Some(guard) => Some(Condition {
                register: self.named_register(frame, guard.register)?,
                negated: guard.negated,
            }),
            None => None,
        };
        let place = self.place_id(frame, instruction.span);
        let operands = frame.body.operands(&instruction.operands);
        match decoded.map(|decoded| decoded.row.effect) {
            Some(Effect::Branch) => self.branch(frame, instruction, operands, condition, place),
            Some(Effect::Call) => self.call(frame, instruction, condition, place),
            Some(Effect::Return) if frame.ret.is_some() => {
                let target = frame.ret.unwrap_or(Label(0));
                self.push(Line::Jump { condition, target, place }, instruction.span)
            }
            Some(Effect::Return | Effect::Exit) => {
                let traps = decoded.is_some_and(|own| own.row.opcode == isa::Opcode::Trap);
                self.push(Line::Exit { condition, place, traps }, instruction.span)
            }
            _ => {
                let mut instr = self.operands(frame, instruction, decoded)?;
                instr.guard = condition;
                instr.place = place;
                self.push(Line::Instr(instr), instruction.span)
            }
        }
    }

    fn branch(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &Instruction,
        operands: &'m [ptx::Operand],
        condition: Option<Condition>,
        place: PlaceId,
    ) -> Result<(), LinkError> {
        match operands {
            [ptx::Operand::Name(label)] => {
                let target = self.label(frame, *label)?;
                self.push(Line::Jump { condition, target, place }, instruction.span)
            }
            [index, ptx::Operand::Name(table)] => {
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
                self.unless(condition, place, instruction.span, |linker| {
                    linker.push(Line::Switch { index, targets, place }, instruction.span)
                })
            }
            _ => Err(self.bad_operand(instruction, "a label")),
        }
    }

    /// Emits code that only the lanes of a condition run.
    pub(super) fn unless(
        &mut self,
        condition: Option<Condition>,
        place: PlaceId,
        span: Span,
        emit: impl FnOnce(&mut Self) -> Result<(), LinkError>,
    ) -> Result<(), LinkError> {
        let Some(condition) = condition else { return emit(self) };
        let behind = self.new_label();
        let skip = Condition { negated: !condition.negated, ..condition };
        self.push(Line::Jump { condition: Some(skip), target: behind, place }, span)?;
        emit(self)?;
        self.push(Line::Label(behind), span)
    }

    pub(super) fn bad_operand(
        &self,
        instruction: &Instruction,
        expected: &'static str,
    ) -> LinkError {
        let mnemonic = self.module.name(instruction.mnemonic).to_owned();
        LinkError { kind: LinkErrorKind::Operand { mnemonic, expected }, span: instruction.span }
    }
}
