//! What the mutants of a kernel depend on besides the instruction that is changed.

use super::cluster::ClusterBarriers;
use super::fence;
use super::mbarrier::PhaseForms;
use super::products::{ProductRegisters, is_of_products};
use crate::finding::{Assumption, Report};
use crate::flow::Program;
use crate::launch::{Atomics, Dim3};
use crate::ptx::Module;
use crate::ptx::isa::{Effect, Opcode};

/// The version of PTX in which arrivals at mbarriers and waits for them can be `.relaxed`.
const RELAXED_PHASES: (u32, u32) = (8, 6);

/// A kernel, its launch and its module, as far as its mutants depend on them.
#[derive(Debug)]
pub(super) struct KernelContext {
    /// The threads of a cta, in whole warps.
    pub(super) threads: i64,
    /// Whether some atomics are in it.
    pub(super) has_atomics: bool,
    /// The forms of weaker arrivals and waits at mbarriers.
    pub(super) forms: PhaseForms,
    pub(super) clusters: ClusterBarriers,
    products: ProductRegisters,
    /// Whether threads might order memory by fences.
    fences: bool,
    takes_atomics_for_plain: bool,
}

impl KernelContext {
    pub(super) fn of(module: &Module, program: &Program, report: &Report) -> Self {
        Self {
            threads: report.block.map_or(0, Dim3::count).next_multiple_of(32).cast_signed(),
            has_atomics: program.code.iter().any(|instr| instr.effect() == Effect::Atomic),
            forms: forms(module, program, report),
            clusters: ClusterBarriers::of(program),
            products: ProductRegisters::of(program),
            fences: program.publishes() || program.hands_over,
            takes_atomics_for_plain: report.launch.options.atomics == Atomics::Off,
        }
    }

    /// Whether the instruction at an index of the program's code is synchronization that can be weakened.
    pub(super) fn is_weakened(&self, program: &Program, at: usize) -> bool {
        let instr = &program.code[at];
        match instr.effect() {
            Effect::Barrier
            | Effect::WarpBarrier
            | Effect::ClusterBarrier
            | Effect::MbarrierWait => true,
            Effect::Mbarrier => {
                let opcode = instr.decoded().map(|decoded| decoded.row.opcode);
                !matches!(opcode, Some(Opcode::MbarrierInval | Opcode::MbarrierComplete))
            }
            Effect::CopyGroup => !is_of_products(instr) || !self.products.need(program, at),
            Effect::Atomic => !self.takes_atomics_for_plain,
            _ => fence::is_followed(instr, self.fences),
        }
    }
}

fn forms(module: &Module, program: &Program, report: &Report) -> PhaseForms {
    let target = module.target.map_or("", |span| module.name(span));
    PhaseForms {
        relaxed: module.version.is_some_and(|version| version >= RELAXED_PHASES)
            && architecture(target).is_some_and(|number| number >= 90),
        narrow: program.clusters.are_of_several(),
        fewer_bytes: !report.assumptions.iter().any(|own| matches!(own, Assumption::Boxes(_))),
    }
}

/// Returns the number of an architecture such as `sm_90a`.
fn architecture(target: &str) -> Option<u32> {
    let digits = target.split("sm_").nth(1)?;
    digits.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}
