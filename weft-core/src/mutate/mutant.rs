//! Makes the mutants of a kernel, and the advice that follows if a mutant is still clean.

use std::collections::BTreeMap;

use super::asm::Asm;
use super::change::{SyncKind, Weakening};
use super::{atomic, barrier, copies, warp};
use crate::explain::site_at;
use crate::finding::{Advice, Report, Role, Site};
use crate::flow;
use crate::launch::{Atomics, Dim3};
use crate::ptx::isa::{Effect, Opcode};
use crate::ptx::{self, Body, Function, Instruction, Module, Span, Statement};

/// A kernel with one instruction changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// The way in which it is weaker.
    pub change: Weakening,
    /// The instruction that is changed.
    pub site: Site,
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
    let has_atomics = program.code.iter().any(|instr| instr.effect() == Effect::Atomic);
    let is_plain = report.launch.options.atomics == Atomics::Off;
    let mut places = BTreeMap::new();
    for instr in &program.code {
        let effect = instr.effect();
        let synchronizes =
            matches!(effect, Effect::Barrier | Effect::WarpBarrier | Effect::CopyGroup)
                || is_copy_arrival(instr);
        if synchronizes && !is_of_products(instr) || effect == Effect::Atomic && !is_plain {
            let place = &program.places[instr.place.0 as usize];
            places.entry(place.span).or_insert((effect, place));
        }
    }
    let texts = instructions(module);
    let threads = report.block.map_or(0, Dim3::count).next_multiple_of(32).cast_signed();
    let mut mutants = Mutants::default();
    for (span, (effect, place)) in places {
        if report.unreached.binary_search(&span).is_ok() {
            mutants.unreached += 1;
            continue;
        }
        let Some(asm) =
            texts.get(&span).and_then(|(body, instruction)| Asm::of(module, body, instruction))
        else {
            continue;
        };
        let site = site_at(module, Role::Here, place, String::new());
        let (kind, changes) = changes(&asm, effect, threads);
        mutants.list.extend(changes.into_iter().map(|(change, replacement)| Mutant {
            change,
            site: Site { label: label(change).to_owned(), ..site.clone() },
            replacement,
            kind,
            is_among_atomics: has_atomics,
        }));
    }
    mutants
}

/// Whether an instruction makes asynchronous copies arrive at an mbarrier.
fn is_copy_arrival(instr: &flow::Instr) -> bool {
    instr.decoded().is_some_and(|decoded| decoded.row.opcode == Opcode::CpAsyncArrive)
}

/// Whether an instruction makes groups of products of matrices or waits for them: that registers need it is not followed.
fn is_of_products(instr: &flow::Instr) -> bool {
    let of_products = [Opcode::WgmmaCommit, Opcode::WgmmaWait];
    instr.decoded().is_some_and(|decoded| of_products.contains(&decoded.row.opcode))
}

fn changes(asm: &Asm<'_>, effect: Effect, threads: i64) -> (SyncKind, Vec<(Weakening, String)>) {
    match effect {
        Effect::Barrier => (barrier::kind(asm), barrier::changes(asm, threads)),
        Effect::WarpBarrier => (SyncKind::WarpBarrier, warp::changes(asm)),
        Effect::CopyGroup => (copies::kind(asm), copies::changes(asm)),
        Effect::Mbarrier => (SyncKind::CopyArrival, copies::arrivals(asm)),
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
        let (text, range) = (module.text(), self.site.span.range());
        let name = text.get(range.clone()).unwrap_or("");
        let lines = "\n".repeat(name.matches('\n').count());
        let (before, after) = (text.get(..range.start), text.get(range.end..));
        ptx::parse(&[before.unwrap_or(""), &self.replacement, &lines, after.unwrap_or("")].concat())
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
            message: format!("{}: the kernel is still clean for this launch", self.claim()),
            sites: vec![self.site.clone()],
            line: None,
            notes,
            replacement: self.replacement.clone(),
        }
    }

    const fn claim(&self) -> &'static str {
        match (self.change, self.kind) {
            (Weakening::Delete, SyncKind::Arrival) => "this arrival can go",
            (Weakening::Delete, SyncKind::WarpBarrier) => "this warp barrier can go",
            (Weakening::Delete, SyncKind::Reduction) => "this barrier can go, whatever its result",
            (Weakening::Delete, SyncKind::CopyGroup) => {
                "the copies of this group can belong to the next one"
            }
            (_, SyncKind::CopyArrival) => "the phase need not wait for these copies",
            (Weakening::Delete, SyncKind::CopyWait) => "this wait for copies can go",
            (Weakening::InFlight, _) => "this wait can leave one group more in flight",
            (Weakening::Delete, SyncKind::Barrier | SyncKind::Atomic) => "this barrier can go",
            (Weakening::Arrive, _) => "this barrier need not wait, `.arrive` will do",
            (Weakening::Fewer, _) => "this barrier can count 32 threads less",
            (Weakening::NoCount, _) => "this barrier needs no count",
            (Weakening::Halves, _) => "the lanes of this warp barrier can wait in two halves",
            (Weakening::Plain, _) => "this atomic can be a plain load and store",
        }
    }
}

const fn label(change: Weakening) -> &'static str {
    match change {
        Weakening::Delete => "can go",
        Weakening::Arrive => "can be an arrival",
        Weakening::Fewer => "can count 32 threads less",
        Weakening::NoCount => "needs no count",
        Weakening::Halves => "can wait in two halves",
        Weakening::InFlight => "can leave one more in flight",
        Weakening::Plain => "can be plain",
    }
}
