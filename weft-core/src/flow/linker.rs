//! The state of the linker: the code linked so far, and the instance of a function that is being linked.

use std::rc::Rc;

use foldhash::HashMap;

use super::call_site::Functions;
use super::declared::{Clusters, Param, Symbol};
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
use crate::ptx::isa::{self, Decoded};
use crate::ptx::{Body, Function, Instruction, Module, Space, Span, Variable};

/// The destination of a jump, used before blocks exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Label(pub(super) u32);

/// A line of linked code, in the order of the text.
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
    /// A function or a block in braces is entered, or a call has returned: an index into `Linker::entries`.
    /// `Linker::finish` removes these lines.
    Enter(usize),
}

/// The kernel, or a function that is linked in once: an index into `Linked::functions`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct RoutineId(pub(super) usize);

/// The lines of a routine.
#[derive(Debug)]
pub(super) struct LinkedFunction {
    pub(super) lines: Vec<LinkedLine>,
    /// The label that its returns jump to; `None` for the kernel.
    pub(super) ret: Option<Label>,
}

/// The result of linking.
#[derive(Debug)]
pub(super) struct Linked {
    /// The routines, each behind those that it calls, the kernel last.
    pub(super) functions: Vec<LinkedFunction>,
    pub(super) labels: u32,
    pub(super) registers: u32,
    pub(super) symbols: Vec<Symbol>,
    pub(super) params: Vec<Param>,
    pub(super) places: Places,
    pub(super) static_shared: u64,
    pub(super) placement: Placement,
    pub(super) clusters: Clusters,
}

/// Where a parameter or result of a linked function is kept.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bound {
    Memory(Space, u64),
    Register(Reg),
}

/// Where a function that is linked in once keeps its parameters and results.
#[derive(Debug)]
pub(super) struct Formals {
    pub(super) params: Vec<Bound>,
    pub(super) returns: Vec<Bound>,
}

/// An instruction of the table with this mnemonic.
pub(super) fn known(mnemonic: &str) -> Decoded {
    isa::decode(mnemonic).expect("it is in the table")
}

/// One instance of a function while it is linked.
pub(super) struct Frame<'m> {
    pub(super) body: &'m Body,
    pub(super) scopes: Scopes<'m>,
    pub(super) scope: Scope,
    pub(super) bound: HashMap<&'m str, Bound>,
    /// Registers by the scope that declares them and by name.
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
    /// The functions whose addresses the kernel might find somewhere, in the order of the text.
    pub(super) taken: Vec<&'m str>,
    pub(super) layout: Layout,
    pub(super) statics: HashMap<Span, u64>,
    pub(super) linked: Linked,
    /// Whether something depends on the size of clusters.
    pub(super) uses_clusters: bool,
    /// The lines of the routine that is being linked.
    pub(super) lines: Vec<LinkedLine>,
    /// Buffers for the operands of an instruction, reused to save allocations.
    pub(super) room: (Vec<Option<Reg>>, Vec<Operand>),
    /// The number of lines of all routines.
    pub(super) count: usize,
    /// The functions that are linked in once; `None` if every call is inlined.
    pub(super) sharing: Option<Sharing<'m>>,
    pub(super) routines: HashMap<&'m str, RoutineId>,
    pub(super) formals: HashMap<&'m str, Rc<Formals>>,
    /// What is new where functions and blocks in braces are entered, and behind calls: the targets of
    /// `LinkedLine::Enter`.
    pub(super) entries: Vec<ScopeEntry>,
    /// For each routine that is completely linked, the storage that its calls pass values in.
    pub(super) passing: HashMap<RoutineId, Passing>,
    /// By function name: how it uses the variables of parameters.
    pub(super) exposed: HashMap<&'m str, Rc<Exposed<'m>>>,
    /// Functions that are being linked, outermost first.
    pub(super) stack: Vec<&'m str>,
}

impl<'m> Linker<'m> {
    pub(super) fn new(module: &'m Module, placement: &Placement) -> Self {
        Self {
            module,
            functions: Functions(module),
            taken: Vec::new(),
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
                clusters: Clusters::default(),
            },
            uses_clusters: false,
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

    /// Returns the space and address of a variable; assigns an address if it has none yet.
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
        // A switch counts as many lines as it has targets, because many switches can share one list.
        self.count +=
            if let LinkedLine::Switch { targets, .. } = &line { targets.len() } else { 1 };
        if self.count > MAX_LINES {
            return Err(LinkError { kind: LinkErrorKind::Size, span });
        }
        self.lines.push(line);
        Ok(())
    }

    pub(super) fn place_id(&mut self, frame: &mut Frame<'m>, span: Span) -> PlaceId {
        // Only the kernel has no return label. It is linked once, so that each of its instructions is a new place.
        self.linked.places.id(span, &mut frame.source, frame.ret.is_none())
    }

    /// Returns how a function uses the variables that hold parameters.
    pub(super) fn exposed_in(&mut self, function: &'m Function) -> Rc<Exposed<'m>> {
        let module = self.module;
        let entry = self.exposed.entry(module.name(function.name));
        Rc::clone(entry.or_insert_with(|| Rc::new(Exposed::of(module, function))))
    }

    /// Returns the register that a declared name stands for in this instance.
    pub(super) fn register(&mut self, frame: &mut Frame<'m>, scope: Scope, text: &'m str) -> Reg {
        *frame.registers.entry((scope, text)).or_insert_with(|| self.new_register())
    }

    /// Emits code that only the lanes run for which the condition holds.
    pub(super) fn when(
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
