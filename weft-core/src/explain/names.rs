//! The names of instructions, threads, addresses and origins in findings.

use std::collections::BTreeMap;

use super::{setting, tensor_memory};
use crate::emulate::{self, Cta, CtaRank, LaneMask, Origin, WARP, WarpId, lanes, represented};
use crate::finding::name::short;
use crate::finding::{Role, Site, SourceLine, Thread};
use crate::flow::{
    self, ClusterAddress, Operation, Param, Pc, Place, PlaceId, Program, SHARED_SLOT, Symbol,
    Unlinked, argument_of, offset_in_buffer,
};
use crate::launch::{Arg, Atomics, Dim3, Limit};
use crate::ptx::isa::{Decoded, Effect, Modifier, Opcode};
use crate::ptx::{Function, Module, Space};
use crate::race::Unwritten;
use crate::slice::Base;

/// Stands for the open part of an address. In another run, the same words might name another value.
pub(crate) const OPEN_VALUE: &str = "an open value";

/// The help on stating the size of dynamic shared memory.
pub(crate) const SHARED: &str =
    "give the bytes of dynamic shared memory in weft.toml, as in `shared = 4096`";

/// The memory that an address is in or next to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NearMemory {
    /// A variable that the PTX declares, by its index.
    Variable(usize),
    /// The buffer of an argument, or one that the launch states.
    Buffer,
    /// The object of a parameter, or none that is known.
    Unknown,
}

/// The kernel and launch that names refer to.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    pub(crate) module: &'a Module,
    pub(crate) kernel: &'a Function,
    pub(crate) program: &'a Program,
    pub(crate) grid: Dim3,
    pub(crate) block: Dim3,
    pub(crate) atomics: Atomics,
    /// Bytes of dynamic shared memory, if the launch states them.
    pub(crate) dynamic_shared: Option<u32>,
    /// The arguments that the launch gives.
    pub(crate) args: &'a BTreeMap<usize, Arg>,
    pub(crate) limit: Limit,
    /// Whether ctas are run past findings.
    pub(crate) past_findings: bool,
}

/// The help on having the values of a counter compared.
const ONE_ORDER: &str = "; give what the counter holds at first, and what decides how often threads draw from it: then \
                         one order of the draws is tried";

/// Returns an offset as text with its sign.
fn signed(offset: i64) -> String {
    format!("{} {}", if offset < 0 { '-' } else { '+' }, offset.unsigned_abs())
}

/// Returns the bytes from a variable to an address outside of it; 0 for an address inside.
fn distance(symbol: &Symbol, address: u64) -> u64 {
    let size = if symbol.is_dynamic() { SHARED_SLOT / 2 } else { symbol.size };
    if address < symbol.address {
        symbol.address - address
    } else {
        (address - symbol.address).saturating_sub(size - 1)
    }
}

/// Returns the site of a place in the PTX, without threads.
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

/// Returns the name of a parameter, a field, or a buffer that the launch states.
pub(crate) fn param_of(program: &Program, position: usize) -> String {
    if let Some(name) = program.buffers.name(position) {
        return format!("buffer `{name}`");
    }
    if let Some(field) = program.field(position) {
        let first = field.offset - program.params[field.param].offset;
        let what = if field.is_pointer {
            "pointer".to_owned()
        } else {
            format!("field of {} bytes", field.size)
        };
        return format!("the {what} at byte {first} of {}", param_of(program, field.param));
    }
    match setting::shown_name(program, position) {
        Some(name) => format!("argument {position} (`{name}`)"),
        None => format!("argument {position}"),
    }
}

impl Names<'_> {
    /// Returns the symbol index of the shared variable that a read of unwritten memory lies in.
    pub(crate) fn variable_of(&self, read: &Unwritten) -> Option<usize> {
        let (_, first) = CtaRank::of_address(read.address);
        self.program.shared_variable(first, first.saturating_add(u64::from(read.bytes)))
    }

    /// Returns the site of an instruction.
    pub(crate) fn site(&self, role: Role, pc: Pc, threads: Vec<Thread>, label: String) -> Site {
        self.site_at(role, self.program.place(pc), threads, label)
    }

    /// Returns the site of a place in the program, without threads.
    pub(crate) fn site_of(&self, role: Role, place: PlaceId, label: String) -> Site {
        let place = self.program.places.get(place.0 as usize).cloned();
        let place = place.unwrap_or(Place { span: self.kernel.name, source: Vec::new() });
        self.site_at(role, &place, Vec::new(), label)
    }

    fn site_at(&self, role: Role, place: &Place, threads: Vec<Thread>, label: String) -> Site {
        Site { threads, ..site_at(self.module, role, place, label) }
    }

    /// Returns the site of the kernel's head.
    pub(crate) fn kernel_site(&self, label: &str) -> Site {
        let place = Place { span: self.kernel.span, source: Vec::new() };
        self.site_at(Role::Kernel, &place, Vec::new(), label.to_owned())
    }

    /// Returns a thread of the cluster that begins with a cta.
    pub(crate) fn thread(&self, cta: u32, warp: WarpId, lane: usize) -> Thread {
        let (rank, place) = CtaRank::of_warp(warp.index(), self.warps());
        let first = Cta { at: self.grid.point(u64::from(cta)), index: cta };
        Thread {
            cta: self.member(first, rank).at,
            thread: self.block.point((place * WARP + lane) as u64),
        }
    }

    /// The cta of a warp, by its rank in the cluster.
    pub(super) fn rank(&self, warp: WarpId) -> CtaRank {
        CtaRank::of_warp(warp.index(), self.warps()).0
    }

    /// The number of warps of a cta.
    fn warps(&self) -> usize {
        usize::try_from(self.block.count().div_ceil(WARP as u64)).unwrap_or(usize::MAX)
    }

    /// Returns the cta of this rank in the cluster that begins with `first`.
    pub(crate) fn member(&self, first: Cta, rank: CtaRank) -> Cta {
        emulate::member(self.grid, self.program.clusters.size(), first, rank.index() as u64)
    }

    /// Returns the thread of the first of some lanes.
    pub(crate) fn first_thread(&self, cta: u32, warp: WarpId, mask: LaneMask) -> Thread {
        self.thread(cta, warp, lanes(mask).next().unwrap_or(0))
    }

    /// Returns the line of an instruction in the PTX, and its line in the source if that is known.
    pub(crate) fn line(&self, pc: Pc) -> String {
        self.line_at(self.program.place(pc))
    }

    /// Returns the line of a place in the PTX, and its line in the source if that is known.
    pub(crate) fn line_of(&self, place: PlaceId) -> String {
        match self.program.places.get(place.0 as usize) {
            Some(place) => self.line_at(place),
            None => self.module.position(self.kernel.name).line.to_string(),
        }
    }

    fn line_at(&self, place: &Place) -> String {
        let line = self.module.position(place.span).line;
        // For inlined code, the outermost line is where the user should look.
        match place.source.last() {
            Some(&(file, ptx_line, _)) => {
                let file = self.module.file(file).unwrap_or("?");
                let file = file.rsplit('/').next().unwrap_or(file);
                format!("{line} of the PTX ({file}:{ptx_line})")
            }
            None => line.to_string(),
        }
    }

    /// Returns the name of a base.
    pub(crate) fn base(&self, base: Base) -> String {
        match base {
            Base::Pointer(at) => self.param(at),
            Base::Variable(at) => self.symbol(at),
            Base::Parameter(at) => format!("the memory of {}", self.param(at)),
            Base::Window(space) => format!("generic addresses of {} memory", space.word()),
        }
    }

    /// Returns the name of an argument, of a field of one, or of a buffer that the launch states.
    pub(crate) fn param(&self, position: usize) -> String {
        param_of(self.program, position)
    }

    /// Returns the line of weft.toml that gives an argument, a field or a stated buffer this value.
    pub(crate) fn setting(&self, position: usize, value: &str) -> String {
        setting::line(self.program, position, value)
    }

    /// Returns the help on giving an open argument or field. A value of the size of a pointer might be a pointer even
    /// if the kernel is not known to use it as one.
    fn help(&self, position: usize) -> String {
        let program = self.program;
        let is_bytes = match (program.params.get(position), program.field(position)) {
            (Some(param), _) => !param.is_scalar,
            (None, field) => field.is_some_and(|field| !field.is_alone),
        };
        if is_bytes {
            let whole = program.field(position).map_or(position, |field| field.param);
            let size = program.params.get(whole).map_or(0, |param| param.size);
            return format!(
                "give all {size} bytes of {} in weft.toml: `{}`",
                self.param(whole),
                self.setting(whole, "{ u8 = [0, 1] }")
            );
        }
        let may_point = match (program.params.get(position), program.field(position)) {
            (Some(param), _) => !param.is_float && (param.size == 8 || param.object.is_some()),
            (None, field) => field.is_some_and(|field| !field.is_float() && field.size == 8),
        };
        let number = self.setting(position, "1000");
        let help = format!("give {} in weft.toml: `{number}`", self.param(position));
        if !may_point {
            return help;
        }
        let buffer = self.setting(position, "\"buffer\"");
        format!("{help} if it is a number, or `{buffer}` if it is a pointer")
    }

    fn symbol(&self, at: usize) -> String {
        if let Some(position) = self.program.symbols.get(at).and_then(|variable| variable.parameter)
        {
            return self.param(position);
        }
        let name =
            self.program.symbols.get(at).map_or_else(String::new, |symbol| short(&symbol.name));
        format!("`{name}`")
    }

    /// Returns an address as a symbol or argument plus an offset.
    pub(crate) fn address(&self, space: Space, address: u64) -> String {
        if space == Space::Shared && self.program.clusters.are_of_several() {
            let (rank, within) = CtaRank::of_address(address);
            if self.peer(space, within).is_none() {
                let of_cta = self.address_within(space, within);
                return format!("{of_cta} in cta {} of the cluster", rank.index());
            }
        }
        self.address_within(space, address)
    }

    /// For a peer address that leads nowhere: the rank that it holds, and the address.
    pub(super) fn peer(&self, space: Space, address: u64) -> Option<(u64, u64)> {
        match flow::peer_address(CtaRank::of_address(address).1) {
            ClusterAddress::Peer(rank, within) if space == Space::Shared => {
                self.program.clusters.are_of_several().then_some((rank, within))
            }
            _ => None,
        }
    }

    /// As `address`, in the memory of one cta.
    pub(super) fn address_within(&self, space: Space, address: u64) -> String {
        if let Some((rank, within)) = self.peer(space, address) {
            let of_cta = self.address_within(space, within);
            return format!("{of_cta} in cta {rank} of the cluster");
        }
        if let Some(place) = tensor_memory::place(space, address) {
            return place;
        }
        let stated = self.program.buffers.count();
        let arguments = self.program.params.len() + self.program.fields.len() + stated;
        // A sum of two addresses might look like the address of a representative.
        let is_known = |(place, _): &(Option<usize>, i64)| {
            space != Space::Global || place.is_none_or(|at| at < arguments)
        };
        if let Some((place, offset)) = represented(address).filter(is_known) {
            return self.open_address(space, place, offset);
        }
        if space == Space::Global
            && let Some(position) = argument_of(address)
        {
            let offset = self.offset_of_argument(position, offset_in_buffer(position, address));
            return format!("{} {}", self.param(position), signed(offset));
        }
        let holds_it = |declared_param: &&Param| {
            (declared_param.offset..declared_param.offset + declared_param.size).contains(&address)
        };
        if space == Space::Param
            && let Some(param) = self.program.params.iter().find(holds_it)
        {
            return format!("`{}` + {}", param.name, address - param.offset);
        }
        match self.near(space, address) {
            Some((at, offset)) => format!("{} {}", self.symbol(at), signed(offset)),
            None if space == Space::Shared => format!("shared memory + {address}"),
            None => format!("address {address:#x}"),
        }
    }

    /// Returns the offset from where an argument points, for an offset from where it would point if its buffer were not
    /// moved.
    fn offset_of_argument(&self, position: usize, offset: i64) -> i64 {
        offset.wrapping_sub_unsigned(self.program.placement.argument(position))
    }

    /// Returns an address with an open part as text: the memory, an open value and an offset.
    fn open_address(&self, space: Space, place: Option<usize>, offset: i64) -> String {
        let (memory, offset) = match place {
            Some(at) if space == Space::Global => {
                (self.param(at), self.offset_of_argument(at, offset))
            }
            Some(at) => match self.near(space, offset.cast_unsigned()) {
                Some((near, offset)) if near == at => (self.symbol(at), offset),
                _ => (self.symbol(at), offset),
            },
            None if self.program.placement.is_packed => ("shared memory".to_owned(), offset),
            None => match self.near(space, offset.cast_unsigned()) {
                Some((at, offset)) => (self.symbol(at), offset),
                None => ("shared memory".to_owned(), offset),
            },
        };
        format!("{memory} + {OPEN_VALUE} {}", signed(offset))
    }

    /// Returns the memory that an address is in or next to.
    pub(super) fn memory(&self, space: Space, address: u64) -> NearMemory {
        if space == Space::Global && argument_of(address).is_some() {
            return NearMemory::Buffer;
        }
        let near = self.near(space, address).map(|(at, _)| at);
        let declared = near.filter(|at| self.program.symbols[*at].parameter.is_none());
        declared.map_or(NearMemory::Unknown, NearMemory::Variable)
    }

    /// Returns the variable that an address is in or next to, and the offset from the variable.
    fn near(&self, space: Space, address: u64) -> Option<(usize, i64)> {
        let symbols = self.program.symbols.iter().enumerate().rev();
        let in_space = symbols.filter(|(_, symbol)| symbol.space == space);
        let (at, symbol) = in_space.min_by_key(|(_, symbol)| distance(symbol, address))?;
        let is_near = distance(symbol, address) < SHARED_SLOT / 2;
        is_near.then(|| (at, address.wrapping_sub(symbol.pointer()).cast_signed()))
    }

    /// Returns the name of an instruction and why its result is open or its effect not known: "`X`, which ...".
    pub(crate) fn what(&self, pc: Pc) -> String {
        const FUSED: [Opcode; 3] = [Opcode::Add, Opcode::Sub, Opcode::Mul];
        const EXACT: [Modifier; 4] = [Modifier::Rn, Modifier::Rz, Modifier::Rm, Modifier::Rp];
        let is_fused = |decoded: &&Decoded| {
            FUSED.contains(&decoded.row.opcode)
                && decoded.ty().is_float()
                && decoded.modifiers.first_of(&EXACT).is_none()
        };
        let instr = &self.program.code[pc.index()];
        if let Some(call) = self.call(&instr.operation) {
            return call;
        }
        let why = match instr.decoded().filter(is_fused) {
            Some(_) => "the assembler may fuse with another, as it has no `.rn`",
            None => "is not modelled",
        };
        format!("`{}`, which {why}", self.module.mnemonic_in(self.program.place(pc).span))
    }

    /// Whether an instruction is one of mbarrier objects.
    pub(crate) fn is_of_object(&self, pc: Pc) -> bool {
        let effect = self.program.code[pc.index()].effect();
        matches!(effect, Effect::Mbarrier | Effect::MbarrierWait)
    }

    /// Returns the same for the instruction or call at a place that stops a thread.
    pub(crate) fn what_at(&self, place: PlaceId) -> String {
        let mut here = self.program.code.iter().filter(|instr| instr.place == place);
        let call = here.find_map(|instr| self.call(&instr.operation));
        call.unwrap_or_else(|| format!("{}, which is not modelled", self.mnemonic(place)))
    }

    /// Returns the mnemonic of the instruction at a place, in backquotes.
    pub(crate) fn mnemonic(&self, place: PlaceId) -> String {
        let span = self.program.places.get(place.0 as usize).map_or(self.kernel.name, |at| at.span);
        format!("`{}`", self.module.mnemonic_in(span))
    }

    /// Returns how a thread aborts the launch at a place.
    pub(crate) fn abort(&self, place: PlaceId) -> String {
        let span = self.program.places.get(place.0 as usize).map_or(self.kernel.name, |at| at.span);
        match self.module.mnemonic_in(span) {
            name if !name.starts_with("call") => format!("executes `{name}`"),
            _ if self.module.name(span).contains("__assert") => "fails an assertion".to_owned(),
            _ => "calls a function through a null pointer".to_owned(),
        }
    }

    fn call(&self, operation: &Operation) -> Option<String> {
        let (name, why) = match operation {
            Operation::External(name) => (name, Unlinked::NoBody),
            Operation::Call(name, why) => (name, *why),
            _ => return None,
        };
        let name = short(self.module.name(*name));
        Some(match why {
            Unlinked::NoBody => format!("the call of `{name}`, which has no body"),
            Unlinked::Recursive => format!("the call of `{name}`, which is recursive"),
            Unlinked::TooDeep => format!("the call of `{name}`, which is too deep within others"),
            Unlinked::NoTargets => {
                format!("the call through `{name}`, whose targets are not known")
            }
        })
    }

    /// Returns what would settle the result of an atomic, if anything does.
    fn atomics_help(&self) -> Option<String> {
        let help = match self.atomics {
            Atomics::Abstract => {
                "if its values never come back, as those of a counter that only grows, say so in weft.toml: `atomics = \"unique\"`"
            }
            Atomics::Auto => {
                "that counters do not repeat their values (`atomics = \"unique\"`) does not settle it"
            }
            Atomics::Unique => {
                "its location is not a counter, or what is indexed with one value does not fit between two: `atomics = \"unique\"` does not settle it"
            }
            Atomics::Off => return None,
        };
        let takes_turns = !self.program.clusters.are_of_several();
        let tries_order = takes_turns && matches!(self.atomics, Atomics::Auto | Atomics::Unique);
        Some(format!("{help}{}", if tries_order { ONE_ORDER } else { "" }))
    }

    /// Returns where an open value comes from, and what would settle it, if anything does.
    pub(crate) fn origin(&self, origin: Option<Origin>) -> (String, Option<String>) {
        let text = |text: String| (text, None);
        match origin {
            Some(Origin::Argument(position)) => {
                let text = format!("{}, which is not given", self.param(position));
                (text, Some(self.help(position)))
            }
            Some(Origin::Contents(position)) => {
                let contents = setting::contents(self.program, position);
                let setting = self.setting(position, &contents);
                let help = format!("give them in weft.toml: `{setting}`");
                let name = self.param(position);
                let is_stated = self.program.is_stated(position);
                let of = if is_stated { name } else { format!("the buffer behind {name}") };
                (format!("the contents of {of}"), Some(help))
            }
            Some(Origin::Symbol(at)) => {
                text(format!("the contents of {}, which the host may set", self.symbol(at)))
            }
            Some(
                Origin::Nothing(pc)
                | Origin::Unwritten(pc)
                | Origin::NarrowUnwritten(pc)
                | Origin::OfUnwritten(pc)
                | Origin::PerhapsUnwritten(pc),
            ) => text(format!("memory that nothing wrote, read at line {}", self.line(pc))),
            Some(Origin::Atomic(pc)) => {
                let text = format!("the result of the atomic at line {}", self.line(pc));
                (text, self.atomics_help())
            }
            Some(Origin::Strong(pc)) => text(format!(
                "a volatile or relaxed load at line {}, which may see any store",
                self.line(pc)
            )),
            Some(Origin::Racing(pc)) => text(format!(
                "the load at line {}, whose value depends on the schedule",
                self.line(pc)
            )),
            Some(Origin::Unsupported(pc)) => {
                text(format!("the result, at line {}, of {}", self.line(pc), self.what(pc)))
            }
            Some(Origin::Hardware(pc)) if self.is_of_object(pc) => {
                let place = self.program.code[pc.index()].place;
                text(format!("the result of {} at line {}", self.mnemonic(place), self.line(pc)))
            }
            Some(Origin::Hardware(pc)) => {
                text(format!("a hardware register, read at line {}", self.line(pc)))
            }
            Some(Origin::DynamicShared) => {
                let text = "the size of dynamic shared memory, which the launch does not state";
                (text.to_owned(), Some(SHARED.to_owned()))
            }
            Some(Origin::Unkept) => text("memory of which more was written than is kept".into()),
            Some(Origin::Register) => text("a register that nothing wrote".into()),
            None => text("a value that is undefined".into()),
        }
    }
}
