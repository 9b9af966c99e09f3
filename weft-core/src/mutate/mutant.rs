//! Makes the mutants of a kernel, and the advice that follows if a mutant is still clean.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::asm::Asm;
use super::change::{SyncKind, Weakening};
use super::context::KernelContext;
use super::{atomic, barrier, copies, fence, mbarrier, warp};
use crate::explain::site_at;
use crate::finding::{Advice, Report, Role, Site};
use crate::flow::{self, Pc, Place, Program};
use crate::ptx::isa::{Effect, Opcode};
use crate::ptx::{self, Body, Function, Instruction, Module, Span, Statement};

/// A kernel with one instruction changed, or with a barrier of the cluster deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// The way in which it is weaker.
    pub change: Weakening,
    /// The instruction that is changed.
    pub site: Site,
    /// Instructions that are deleted with it, all behind it in the text.
    pub also: Vec<Site>,
    /// The text that replaces the instruction; empty if the instruction is deleted.
    pub replacement: String,
    kind: SyncKind,
    /// Whether the kernel has atomics.
    is_among_atomics: bool,
}

/// All mutants of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mutants {
    /// The mutants, in the order of the text, then of the changes.
    pub list: Vec<Mutant>,
    /// The number of instructions that were left out because no thread reached them.
    pub unreached: usize,
}

/// Returns the mutants of `kernel`; `report` is the kernel's report. A device function is changed in its text, and so
/// for all its calls.
pub fn mutants(module: &Module, kernel: &Function, report: &Report) -> Mutants {
    let program = flow::build(module, kernel).expect("a kernel that has a report links");
    let context = KernelContext::of(module, &program, report);
    let places = places(&program, &context);
    let texts = instructions(module);
    let mut mutants = Mutants::default();
    for (span, (effect, place)) in &places {
        if report.unreached.binary_search(span).is_ok() {
            mutants.unreached += 1;
            continue;
        }
        let Some(asm) =
            texts.get(span).and_then(|(body, instruction)| Asm::of(module, body, instruction))
        else {
            continue;
        };
        let (kind, changes) = changes(&asm, *effect, *span, &context);
        let here = |place, change: Weakening| {
            site_at(module, Role::Here, place, change.label(kind).to_owned())
        };
        mutants.list.extend(changes.into_iter().map(|(change, replacement)| {
            let whole =
                context.clusters.beginning_at(*span).filter(|_| change == Weakening::Delete);
            let others = whole.into_iter().flatten().filter(|own| *own != span);
            Mutant {
                change,
                site: here(place, change),
                also: others.filter_map(|own| Some(here(places.get(own)?.1, change))).collect(),
                replacement,
                kind,
                is_among_atomics: context.has_atomics,
            }
        }));
    }
    mutants
}

/// Returns the instructions that are weakened, in the order of the text.
fn places<'p>(
    program: &'p Program,
    context: &KernelContext,
) -> BTreeMap<Span, (Effect, &'p Place)> {
    let mut places = BTreeMap::new();
    let mut kept = BTreeSet::new();
    for (at, instr) in program.code.iter().enumerate() {
        let place = program.place(Pc::at(at));
        if context.is_weakened(program, at) {
            places.entry(place.span).or_insert((instr.effect(), place));
        } else if instr.effect() == Effect::CopyGroup {
            kept.insert(place.span);
        }
    }
    // What one call of a function needs stays for all.
    places.retain(|span, _| !kept.contains(span));
    places
}

fn changes(
    asm: &Asm<'_>,
    effect: Effect,
    span: Span,
    context: &KernelContext,
) -> (SyncKind, Vec<(Weakening, String)>) {
    match effect {
        Effect::Barrier => (barrier::kind(asm), barrier::changes(asm, context.threads)),
        Effect::WarpBarrier => (SyncKind::WarpBarrier, warp::changes(asm)),
        Effect::ClusterBarrier => (SyncKind::ClusterBarrier, context.clusters.changes(asm, span)),
        Effect::CopyGroup => (copies::kind(asm), copies::changes(asm)),
        Effect::Mbarrier if asm.decoded.row.opcode == Opcode::CpAsyncArrive => {
            (SyncKind::CopyArrival, copies::arrivals(asm))
        }
        Effect::Mbarrier => mbarrier::counted(asm, context.forms),
        Effect::MbarrierWait => (SyncKind::PhaseWait, mbarrier::waits(asm, context.forms)),
        Effect::ProxyFence => (SyncKind::ProxyFence, fence::changes(asm)),
        Effect::MemoryFence => (SyncKind::Fence, fence::changes(asm)),
        _ => {
            let plain = atomic::plain(asm).map(|text| (Weakening::Plain, text));
            (SyncKind::Atomic, plain.into_iter().collect())
        }
    }
}

/// Returns all instructions by their spans, each with the body that holds its operands.
fn instructions(module: &Module) -> BTreeMap<Span, (&Body, &Instruction)> {
    let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
    bodies.flat_map(of_body).collect()
}

fn of_body(body: &Body) -> impl Iterator<Item = (Span, (&Body, &Instruction))> {
    body.statements.iter().filter_map(move |statement| match statement {
        Statement::Instruction(instruction) => Some((instruction.span, (body, instruction))),
        _ => None,
    })
}

impl Mutant {
    /// Returns the module with the change made. All other instructions keep their line numbers.
    pub fn apply(&self, module: &Module) -> Module {
        let mut text = module.text().to_owned();
        let edits = self.also.iter().map(|site| (site, ""));
        let mut edits: Vec<_> = edits.chain([(&self.site, self.replacement.as_str())]).collect();
        // From the end on, so that the places of the others stay.
        edits.sort_by_key(|(site, _)| Reverse(site.span.range().start));
        for (site, replacement) in edits {
            let range = site.span.range();
            let own = text.get(range.clone()).unwrap_or("");
            let lines = "\n".repeat(own.matches('\n').count());
            let (before, after) = (text.get(..range.start), text.get(range.end..));
            text = [before.unwrap_or(""), replacement, &lines, after.unwrap_or("")].concat();
        }
        ptx::parse(&text)
    }

    /// Whether it orders no less than `deleted`, in which something is deleted: if that is clean, so is this one.
    pub fn lies_before(&self, deleted: &Self) -> bool {
        use Weakening::{InFlight, Narrow, Read, Relaxed};
        let mut gone = [&deleted.site].into_iter().chain(&deleted.also);
        let orders = matches!(self.change, InFlight | Narrow | Read | Relaxed)
            || self.change == Weakening::Arrive && self.kind == SyncKind::ClusterBarrier;
        deleted.change == Weakening::Delete
            && orders
            && gone.any(|site| site.span == self.site.span)
    }

    /// Returns the advice if the mutant is clean. `clean`: the mutant's report; `kernel`: the report of the unchanged
    /// kernel.
    pub fn advice(&self, clean: &Report, kernel: &Report) -> Advice {
        let mut notes = Vec::new();
        if self.is_among_atomics && self.kind != SyncKind::Atomic {
            notes.push(
                "atomics may meet in another order then: that is no race, but may change a result"
                    .to_owned(),
            );
        }
        let new =
            clean.assumptions.iter().filter(|assumption| !kernel.assumptions.contains(assumption));
        notes.extend(new.map(|own| format!("assumed then: {}", own.sentence())));
        Advice {
            change: self.change.name(),
            message: format!(
                "{}: the kernel is still clean for this launch",
                self.change.claim(self.kind)
            ),
            sites: [&self.site].into_iter().chain(&self.also).cloned().collect(),
            line: None,
            notes,
            replacement: self.replacement.clone(),
        }
    }
}
