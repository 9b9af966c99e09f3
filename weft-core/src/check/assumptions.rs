//! Lists the assumptions that the verdict of a check rests on.

use std::collections::BTreeSet;

use super::decision::Decision;
use crate::emulate::{self, Assumed, TensorUse, Tensors};
use crate::explain::{Names, tensors};
use crate::finding::{Assumption, Code, Report};
use crate::flow::addresses::NEAR_SLOT;
use crate::flow::{self, BlockId, Clusters, Instr, Program};
use crate::launch::{Arg, BarrierDivergence, Launch};
use crate::ptx::Space;
use crate::ptx::isa::{Effect, Modifier, Opcode};
use crate::slice::{AddressRequirement, Base, Dependences, Slice};

/// What a check did, from which its assumptions follow.
pub(super) struct CheckOutcome<'a> {
    pub(super) dependences: &'a Dependences<'a>,
    pub(super) slice: &'a Slice,
    pub(super) decisions: &'a [Decision],
    /// For each instruction, whether some lane ran it.
    pub(super) reached: &'a [bool],
    pub(super) assumed: Assumed,
    /// The tensor maps of copies that were run.
    pub(super) tensors: &'a Tensors,
    /// Whether results of counters are taken to be distinct.
    pub(super) distinguishes_counters: bool,
}

impl CheckOutcome<'_> {
    /// Adds the assumptions to a report whose findings are known. Returns the variables and buffers whose addresses
    /// decide something.
    pub(super) fn list(
        &self,
        names: &Names<'_>,
        launch: &Launch,
        report: &mut Report,
    ) -> BTreeSet<Base> {
        self.assume_of_values(names, report);
        let decides = self.assume_of_places(names, launch, report);
        self.assume_of_tensors(names, report);
        self.assume_of_launch(names, launch, report);
        decides
    }

    fn assume_of_values(&self, names: &Names<'_>, report: &mut Report) {
        let stays = |decision: &Decision| decision.open.stays_in_variables();
        if self.assumed.variables || self.decisions.iter().any(stays) {
            report.assumptions.push(Assumption::WithinVariables);
        }
        if self.decisions.iter().any(|decision| !decision.open.is_empty()) {
            report.assumptions.push(Assumption::OpenAddresses);
        }
        let needs = self.decisions.iter().map(|decision| decision.dynamic_shared);
        let needed = needs.max().filter(|bytes| *bytes > 0);
        report.assumptions.extend(needed.map(Assumption::DynamicShared));
        if self.assumed.indices {
            report.assumptions.push(Assumption::UnwrappedIndices);
        }
        if self.assumed.written {
            report.assumptions.push(Assumption::Written);
        }
        if self.assumed.targets {
            report.assumptions.push(Assumption::Targets);
        }
        if self.assumed.elected {
            report.assumptions.push(Assumption::Elected);
        }
        if self.assumed.grouped && names.program.has_active_masks() {
            report.assumptions.push(Assumption::Grouped);
        }
        if self.assumed.proxies {
            report.assumptions.push(Assumption::ProxyFences);
        }
        if self.assumed.scopes {
            report.assumptions.push(Assumption::MbarrierScopes);
        }
        if self.assumed.products {
            report.assumptions.push(Assumption::ProductFences);
        }
        if self.assumed.tensor_cores {
            report.assumptions.push(Assumption::TensorCores);
        }
        if self.assumed.takeovers {
            report.assumptions.push(Assumption::Takeovers);
        }
        if self.assumed.zero_counters {
            report.assumptions.push(Assumption::ZeroCounters);
        }
        if self.assumed.waits_end {
            report.assumptions.push(Assumption::WaitsEnd);
        }
    }

    fn assume_of_tensors(&self, names: &Names<'_>, report: &mut Report) {
        let uses = &self.tensors.uses;
        if uses.has(TensorUse::Load) {
            report.assumptions.push(Assumption::TensorsUnwritten);
        }
        if uses.has(TensorUse::Store) || uses.has(TensorUse::Reduce) {
            report.assumptions.push(Assumption::TensorsApart);
        }
        let boxes: Vec<_> =
            self.tensors.derived().map(|(map, bytes)| (tensors::name(names, map), bytes)).collect();
        if !boxes.is_empty() {
            report.assumptions.push(Assumption::Boxes(boxes));
        }
    }

    /// Adds what is assumed about the buffers of pointer arguments, and about which arguments are pointers.
    fn assume_of_pointers(
        &self,
        names: &Names<'_>,
        launch: &Launch,
        pointers: &BTreeSet<usize>,
        report: &mut Report,
    ) {
        let program = names.program;
        if are_several(program, pointers) {
            report.assumptions.push(Assumption::DisjointBuffers);
        }
        let stays = |decision: &Decision| decision.open.stays_in_buffers();
        if !pointers.iter().all(|at| emulate::is_sized(program, launch, *at))
            || self.decisions.iter().any(stays)
        {
            report.assumptions.push(Assumption::WithinBuffers);
        }
        let is_said = |at: &usize| {
            matches!(launch.args.get(at), Some(Arg::Buffer(_) | Arg::Within(_) | Arg::Tensor(_)))
        };
        let guessed = pointers.iter().filter(|at| program.guessed.contains(at) && !is_said(at));
        let guessed: Vec<_> = guessed.map(|at| names.param(*at)).collect();
        if !guessed.is_empty() {
            report.assumptions.push(Assumption::Pointers(guessed));
        }
    }

    /// Adds what is assumed about the addresses of variables and buffers. Returns those whose addresses decide
    /// something.
    fn assume_of_places(
        &self,
        names: &Names<'_>,
        launch: &Launch,
        report: &mut Report,
    ) -> BTreeSet<Base> {
        let program = names.program;
        let pointers = emulate::pointers(program, launch);
        self.assume_of_pointers(names, launch, &pointers, report);
        let compares = report.findings.iter().any(|finding| finding.code == Code::BenignRace);
        let dependences = self.dependences;
        let taken = dependences.taken_for_granted(self.slice, self.reached, compares);
        let accessed = dependences.accessed(self.reached);
        let is_free = |base: &Base| !(program.placement.is_packed && is_shared(program, *base));
        let (mut aligned, mut places, mut decides) = (Vec::new(), Vec::new(), BTreeSet::new());
        for (base, place) in taken.into_iter().filter(|(base, _)| is_free(base)) {
            match place {
                AddressRequirement::Multiple(to) => {
                    let bytes = accessed.get(&base).copied().unwrap_or(0);
                    aligned.push((names.base(base), to, dependences.declared(base), bytes));
                    // No device aligns variables in a small space to so much.
                    if to > NEAR_SLOT && is_small(program, base) {
                        decides.insert(base);
                    }
                }
                AddressRequirement::Fixed => {
                    places.push(base);
                    decides.insert(base);
                }
            }
        }
        if !aligned.is_empty() {
            report.assumptions.push(Assumption::Aligned(aligned));
        }
        if !places.is_empty() {
            places.sort_by_key(|base| address(program, *base));
            let places = places.iter().map(|base| names.base(*base)).collect();
            report.assumptions.push(Assumption::Places(places));
        }
        if program.placement.is_packed {
            report.assumptions.push(Assumption::SharedFromZero);
        }
        decides
    }

    fn assume_of_launch(&self, names: &Names<'_>, launch: &Launch, report: &mut Report) {
        let mut assume = |holds: bool, assumption| {
            if holds {
                report.assumptions.push(assumption);
            }
        };
        let program = names.program;
        let is_initial = program.symbols.iter().any(|symbol| symbol.init.is_some());
        assume(is_initial, Assumption::InitialValues);
        assume(launch.options.warp_synchronous, Assumption::WarpSynchronous);
        let assumes_clusters = program.clusters == Clusters::AssumedOfOne;
        assume(assumes_clusters, Assumption::OneCtaClusters);
        let has_atomics = program.code.iter().any(|instr| instr.effect() == Effect::Atomic);
        assume(self.distinguishes_counters && has_atomics, Assumption::UniqueCounters);
        assume(launch.grid.is_none(), Assumption::OneCta);
        let is_aligned = program.code.iter().any(Instr::is_aligned_barrier);
        let is_off = launch.options.barrier_divergence == BarrierDivergence::Off;
        assume(is_off && is_aligned, Assumption::NoDivergence);
        let counts = launch.options.barrier_divergence == BarrierDivergence::Cta;
        assume(counts && program.is_irreducible, Assumption::UncountedLoops);
        let leaves_out = |block: &flow::Block| block.merge != block.post_dominator;
        assume(program.blocks.iter().any(leaves_out), Assumption::NoTrap);
        assume(drops_a_loop(self.slice, program), Assumption::LoopsEnd);
        let is_pool_known = program.thread_registers.is_some();
        let waits = !is_pool_known && program.code.iter().any(waits_for_registers);
        assume(waits, Assumption::RegistersFree);
        assume(might_write_textures(program), Assumption::TexturesUnwritten);
    }
}

/// Returns a sort key: pointer arguments first, the rest by generic address.
fn address(program: &Program, base: Base) -> (usize, u64) {
    match base {
        Base::Pointer(at) => (at, 0),
        Base::Variable(at) => {
            let symbol = &program.symbols[at];
            (usize::MAX, flow::window(symbol.space).wrapping_add(symbol.address))
        }
        Base::Parameter(at) => (usize::MAX, flow::window(Space::Param) + at as u64),
        Base::Window(space) => (usize::MAX, flow::window(space)),
    }
}

/// Whether the buffer or object of a pointer argument might overlap another one or a variable.
fn are_several(program: &Program, pointers: &BTreeSet<usize>) -> bool {
    let count = |space| program.symbols.iter().filter(|variable| variable.space == space).count();
    let is_object =
        |at: &&usize| program.params.get(**at).is_some_and(|param| param.object.is_some());
    let objects = pointers.iter().filter(is_object).count();
    // That the buffers which a launch states are apart from all others is a part of what it states.
    let (stated, own): (BTreeSet<usize>, BTreeSet<usize>) = pointers
        .iter()
        .filter(|at| !is_object(at))
        .map(|at| program.buffer_of(*at))
        .partition(|buffer| program.is_stated(*buffer));
    let buffers = own.len() + stated.len() + count(Space::Global);
    !own.is_empty() && buffers > 1 || objects > 0 && count(Space::Shared) > 1
}

/// Whether a base is a variable in a space that is small on devices.
fn is_small(program: &Program, base: Base) -> bool {
    let is_small = |space| matches!(space, Space::Shared | Space::Local | Space::Const);
    matches!(base, Base::Variable(at) if is_small(program.symbols[at].space))
}

fn is_shared(program: &Program, base: Base) -> bool {
    matches!(base, Base::Variable(at) if program.symbols[at].space == Space::Shared)
}

/// Whether a kernel reads textures or surfaces and writes memory in which they might lie: what lies behind a texture is in
/// no argument.
pub(super) fn might_write_textures(program: &Program) -> bool {
    let reads = |instr: &Instr| {
        let opcode = instr.decoded().map(|decoded| decoded.row.opcode);
        matches!(opcode, Some(Opcode::Tex | Opcode::Tld4 | Opcode::Suld))
    };
    let writes = |instr: &Instr| {
        let space = instr.address.map(|address| address.space);
        matches!(instr.effect(), Effect::Store | Effect::Atomic)
            && matches!(space, Some(Space::Global | Space::Generic))
    };
    program.code.iter().any(reads) && program.code.iter().any(writes)
}

/// Whether an instruction waits for registers that other warps release. PTX does not state how many registers a cta
/// has, so the checker does not follow whether enough are released.
fn waits_for_registers(instr: &flow::Instr) -> bool {
    instr.decoded().is_some_and(|decoded| {
        decoded.row.opcode == Opcode::Setmaxnreg && decoded.modifiers.has(Modifier::Inc)
    })
}

/// Whether the slice drops a loop: it decides none of the branches from the loop's header to its latch. Blocks between
/// them that lead only to the end of the thread do not count.
fn drops_a_loop(slice: &Slice, program: &Program) -> bool {
    let is_decided = |header: BlockId, latch: BlockId| {
        let is_loop = program.spans.contains_key(&header);
        let is_in = |at: &BlockId| program.blocks[at.index()].loops.contains(&header) || !is_loop;
        let blocks = (header.0..=latch.0).map(BlockId).filter(is_in);
        blocks.into_iter().any(|at| slice.branches[at.index()])
    };
    program.blocks.iter().zip(0..).any(|(block, latch)| {
        let back = |header: &BlockId| header.0 <= latch;
        let mut headers = block.terminator.successors().into_iter().filter(back);
        headers.any(|header| !is_decided(header, BlockId(latch)))
    })
}
