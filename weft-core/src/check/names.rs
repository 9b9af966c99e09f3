//! How instructions, threads, addresses and origins are called in findings.

use crate::emulate::{LaneMask, Origin, WARP, anchor_of, argument_of, lanes, offset_in_buffer};
use crate::finding::name::demangle;
use crate::finding::{Role, Site, SourceLine, Thread};
use crate::flow::{Pc, Place, PlaceId, Program};
use crate::launch::{Atomics, Dim3};
use crate::ptx::isa::{Decoded, Modifier, Opcode};
use crate::ptx::{Function, Module, Space};

/// The kernel and launch that names refer to.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    pub(super) module: &'a Module,
    pub(super) kernel: &'a Function,
    pub(super) program: &'a Program,
    pub(super) grid: Dim3,
    pub(super) block: Dim3,
    pub(super) atomics: Atomics,
    /// Bytes of dynamic shared memory.
    pub(super) dynamic_shared: u32,
}

/// The site of a place, without threads.
pub(crate) fn site_at(module: &Module, role: Role, place: &Place, label: String) -> Site {
    let source = place.source.iter().map(|&(file, line, column)| SourceLine {
        file: module.file(file).unwrap_or("?").to_owned(),
        line,
        column,
    });
    let span = place.span;
    let ptx = module.position(span);
    Site { role, ptx, span, source: source.collect(), threads: Vec::new(), label }
}

impl Names<'_> {
    /// The site of an instruction.
    pub(super) fn site(&self, role: Role, pc: Pc, threads: Vec<Thread>, label: String) -> Site {
        self.site_at(role, self.program.place(pc), threads, label)
    }

    pub(super) fn site_of(&self, role: Role, place: PlaceId, label: String) -> Site {
        let place = self.program.places.get(place.0 as usize).cloned();
        let place = place.unwrap_or(Place { span: self.kernel.name, source: Vec::new() });
        self.site_at(role, &place, Vec::new(), label)
    }

    fn site_at(&self, role: Role, place: &Place, threads: Vec<Thread>, label: String) -> Site {
        Site { threads, ..site_at(self.module, role, place, label) }
    }

    /// The site of the kernel's head.
    pub(super) fn kernel_site(&self, label: &str) -> Site {
        let place = Place { span: self.kernel.span, source: Vec::new() };
        self.site_at(Role::Kernel, &place, Vec::new(), label.to_owned())
    }

    pub(super) fn thread(&self, cta: u32, warp: usize, lane: usize) -> Thread {
        Thread {
            cta: self.grid.point(u64::from(cta)),
            thread: self.block.point((warp * WARP + lane) as u64),
        }
    }

    /// The first thread of some lanes.
    pub(super) fn first_thread(&self, cta: u32, warp: usize, mask: LaneMask) -> Thread {
        self.thread(cta, warp, lanes(mask).next().unwrap_or(0))
    }

    /// The line of an instruction in the PTX.
    pub(super) fn line(&self, pc: Pc) -> u32 {
        self.module.position(self.program.place(pc).span).line
    }

    /// The line of a place in the PTX.
    pub(super) fn line_of(&self, place: PlaceId) -> u32 {
        let place = self.program.places.get(place.0 as usize);
        self.module.position(place.map_or(self.kernel.name, |place| place.span)).line
    }

    fn param(&self, position: usize) -> String {
        if let Some(field) = self.program.field(position) {
            let first = field.offset - self.program.params[field.param].offset;
            return format!("the pointer at byte {first} of {}", self.param(field.param));
        }
        let name = self.program.params.get(position).map_or("", |param| param.name.as_str());
        // nvcc and rustc number parameters; only a name that says something is shown.
        if name.ends_with(&format!("_param_{position}")) || name.is_empty() {
            return format!("argument {position}");
        }
        format!("argument {position} (`{name}`)")
    }

    fn symbol(&self, at: usize) -> String {
        let name = self.program.symbols.get(at).map_or_else(String::new, |own| demangle(&own.name));
        format!("`{name}`")
    }

    /// An address as a symbol or argument plus an offset.
    pub(super) fn address(&self, space: Space, address: u64) -> String {
        if let Some((place, offset)) = anchor_of(address) {
            let memory = match place {
                None => "shared memory".to_owned(),
                Some(at) if space == Space::Global => self.param(at),
                Some(at) => self.symbol(at),
            };
            let sign = if offset < 0 { '-' } else { '+' };
            return format!("{memory} + an open value {sign} {}", offset.unsigned_abs());
        }
        if space == Space::Global
            && let Some(position) = argument_of(address)
        {
            let offset = offset_in_buffer(position, address);
            let sign = if offset < 0 { '-' } else { '+' };
            return format!("{} {sign} {}", self.param(position), offset.unsigned_abs());
        }
        let holds = |symbol: &&crate::flow::Symbol| {
            let is_dynamic = symbol.size == 0 && address >= self.program.static_shared;
            symbol.space == space
                && address >= symbol.address
                && (is_dynamic || address - symbol.address < symbol.size)
        };
        match self.program.symbols.iter().filter(holds).max_by_key(|symbol| symbol.address) {
            Some(symbol) => format!("`{}` + {}", demangle(&symbol.name), address - symbol.address),
            None if space == Space::Shared => format!("shared memory + {address}"),
            None => format!("address {address:#x}"),
        }
    }

    /// Why the result of an instruction is open: "which ...".
    pub(super) fn why_open(&self, pc: Pc) -> &'static str {
        const FUSED: [Opcode; 3] = [Opcode::Add, Opcode::Sub, Opcode::Mul];
        const EXACT: [Modifier; 4] = [Modifier::Rn, Modifier::Rz, Modifier::Rm, Modifier::Rp];
        let is_fused = |own: &&Decoded| {
            FUSED.contains(&own.row.opcode)
                && own.ty().is_float()
                && own.modifiers.first_of(&EXACT).is_none()
        };
        match self.program.code[pc.index()].decoded().filter(is_fused) {
            Some(_) => "the assembler may fuse with another, as it has no `.rn`",
            None => "is not modelled",
        }
    }

    /// Where an open value comes from, and what would settle it.
    pub(super) fn origin(&self, origin: Option<Origin>) -> (String, Option<String>) {
        let text = |text: String| (text, None);
        match origin {
            Some(Origin::Argument(position)) => {
                let is_scalar =
                    self.program.params.get(position).is_none_or(|param| param.is_scalar);
                let value = if is_scalar { "1024" } else { "{ u8 = [0, 1] }" };
                let help =
                    format!("give its value in weft.toml: `args = {{ {position} = {value} }}`");
                (format!("{}, which is not given", self.param(position)), Some(help))
            }
            Some(Origin::Contents(position)) if self.program.field(position).is_some() => {
                text(format!("the contents of the buffer behind {}", self.param(position)))
            }
            Some(Origin::Contents(position)) => {
                let help = format!(
                    "give them in weft.toml: `args = {{ {position} = {{ u32 = [0, 1] }} }}`"
                );
                (format!("the contents of the buffer behind {}", self.param(position)), Some(help))
            }
            Some(Origin::Symbol(at)) => {
                text(format!("the contents of {}, which the host may set", self.symbol(at)))
            }
            Some(Origin::Unwritten(pc)) => {
                text(format!("memory that nothing wrote, read at line {}", self.line(pc)))
            }
            Some(Origin::Atomic(pc)) => {
                let help = match self.atomics {
                    Atomics::Abstract => Some(
                        "if its values never come back, as those of a counter that only grows, say so in weft.toml: `atomics = \"unique\"`",
                    ),
                    Atomics::Auto => Some(
                        "that counters do not repeat their values (`atomics = \"unique\"`) does not settle it",
                    ),
                    Atomics::Unique => Some(
                        "its location is not a counter, or what is indexed with one value does not fit between two: `atomics = \"unique\"` does not settle it",
                    ),
                    Atomics::Off => None,
                };
                let text = format!("the result of the atomic at line {}", self.line(pc));
                (text, help.map(str::to_owned))
            }
            Some(Origin::Strong(pc)) => text(format!(
                "a volatile or relaxed load at line {}, which may see any store",
                self.line(pc)
            )),
            Some(Origin::Unsupported(pc)) => text(format!(
                "the instruction at line {}, which {}",
                self.line(pc),
                self.why_open(pc)
            )),
            Some(Origin::Hardware(pc)) => {
                text(format!("a hardware register, read at line {}", self.line(pc)))
            }
            Some(Origin::Unkept) => text("memory of which more was written than is kept".into()),
            Some(Origin::Register) => text("a register that nothing wrote".into()),
            None => text("a value that is undefined".into()),
        }
    }
}
