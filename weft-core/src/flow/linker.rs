//! The linker's state: what is linked so far, and one instance of a function that is being linked.

use std::rc::Rc;

use foldhash::HashMap;

use super::call_site::Functions;
use super::declared::{Param, Symbol};
use super::entry::{Passing, ScopeEntry};
use super::error::{LinkError, LinkErrorKind, MAX_LINES};
use super::indirect::Definitions;
use super::layout::Layout;
use super::parameters::Exposed;
use super::placement::Placement;
use super::places::{Places, SourceLines};
use super::program::{Condition, Instr, Operand, PlaceId, Reg};
use super::scope::{Scope, Scopes};
use super::sharing::Sharing;
use crate::ptx::{Body, Function, Instruction, Module, Space, Span, Variable};

/// A jump's destination before blocks exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Label(pub(super) u32);

/// Linked code: instructions, labels and jumps in the order of the text.
#[derive(Debug)]
pub(super) enum LinkedLine {
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
    /// A function or a block in braces is entered, or a call has come back: an index into `Linker::entries`. None is left in
    /// the end.
    Enter(usize),
}

/// A function that is linked in once, or the kernel: an index into `Linked::functions`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct RoutineId(pub(super) usize);

/// The lines of one of them.
#[derive(Debug)]
pub(super) struct LinkedFunction {
    pub(super) lines: Vec<LinkedLine>,
    /// What its returns jump to.
    pub(super) ret: Option<Label>,
}

/// Everything the linker found.
#[derive(Debug)]
pub(super) struct Linked {
    /// Each behind those that it calls, the kernel last.
    pub(super) functions: Vec<LinkedFunction>,
    pub(super) labels: u32,
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
    pub(super) labels: HashMap<(Scope, &'m str), Label>,
    pub(super) variables: HashMap<Span, u64>,
    pub(super) source: SourceLines,
    /// Whether some instruction uses the condition-code register.
    pub(super) uses_carry: bool,
    /// The entries behind calls, which do not preserve that register (PTX ISA §9.7.2): indices into `Linker::entries`.
    pub(super) after_calls: Vec<usize>,
    pub(super) definitions: Definitions<'m>,
    pub(super) exposed: Rc<Exposed<'m>>,
    pub(super) ret: Option<Label>,
}

pub(super) struct Linker<'m> {
    pub(super) module: &'m Module,
    pub(super) functions: Functions<'m>,
    pub(super) layout: Layout,
    pub(super) statics: HashMap<Span, u64>,
    pub(super) linked: Linked,
    /// The lines of the routine that is being linked.
    pub(super) lines: Vec<LinkedLine>,
    /// Room for the operands of an instruction.
    pub(super) room: (Vec<Option<Reg>>, Vec<Operand>),
    /// Lines of all routines.
    pub(super) count: usize,
    /// If some functions are linked in once.
    pub(super) sharing: Option<Sharing<'m>>,
    pub(super) routines: HashMap<&'m str, RoutineId>,
    pub(super) formals: HashMap<&'m str, Rc<Formals>>,
    /// What is new where functions and blocks in braces are entered, and behind calls.
    pub(super) entries: Vec<ScopeEntry>,
    /// By function that is linked in once, but for the one that is being linked.
    pub(super) passing: HashMap<RoutineId, Passing>,
    /// By function.
    pub(super) exposed: HashMap<&'m str, Rc<Exposed<'m>>>,
    /// Functions that are being linked, outermost first.
    pub(super) stack: Vec<&'m str>,
}

impl<'m> Linker<'m> {
    pub(super) fn new(module: &'m Module, placement: &Placement) -> Self {
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
            passing: HashMap::default(),
            exposed: HashMap::default(),
            stack: Vec::new(),
        }
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

    pub(super) fn push(&mut self, line: LinkedLine, span: Span) -> Result<(), LinkError> {
        // A switch counts with its targets: many may share one list.
        self.count +=
            if let LinkedLine::Switch { targets, .. } = &line { targets.len() } else { 1 };
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

    /// What a function's variables for parameters are used for.
    pub(super) fn exposed_in(&mut self, function: &'m Function) -> Rc<Exposed<'m>> {
        let module = self.module;
        let entry = self.exposed.entry(module.name(function.name));
        Rc::clone(entry.or_insert_with(|| Rc::new(Exposed::of(module, function))))
    }

    /// The register that a declared name stands for in this instance.
    pub(super) fn register(&mut self, frame: &mut Frame<'m>, scope: Scope, text: &'m str) -> Reg {
        *frame.registers.entry((scope, text)).or_insert_with(|| self.new_register())
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
        self.push(LinkedLine::Jump { condition: Some(skip), target: behind, place }, span)?;
        emit(self)?;
        self.push(LinkedLine::Label(behind), span)
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
