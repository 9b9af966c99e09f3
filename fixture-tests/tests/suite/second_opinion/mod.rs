//! A second opinion on every fixture: compares what the check reports about barriers and races with a direct
//! implementation of Figure 4 of the Weft paper (PLDI 2015) on a trace of the same run.
//!
//! The trace has every access of every thread. `relation.rs` holds everything that happens before each point of each
//! thread, transitively closed; `barriers.rs` replays the barriers; `races.rs` compares all pairs of accesses to each
//! byte. None of them drops or summarizes anything, so they are slow. They share with the check everything that comes
//! before the order: parsing, slicing and the values of the emulator.
//!
//! The following kernels are not compared, but counted: launches of which not all ctas run; kernels whose ctas form
//! clusters, which random kernels are for (`weft-core/tests/small_clusters`); kernels that use barriers by names and have relaxed
//! waits for phases, since the relation has nothing that causes without ordering memory; kernels whose ctas take over the work of
//! others, of which two runs are made; kernels whose ctas might signal to each other, which random kernels are for too
//! (`weft-core/tests/small_signals` and `small_waits`); kernels with case splits, since each case is a
//! run of its own; traces beyond the bounds below; kernels whose `Facts` do not settle. Of open
//! kernels, all accesses at known addresses are compared, and those at open addresses of which the emulator makes
//! shadow copies; accesses that are reported as open (`depends-on-input`) are not.

mod barriers;
mod compare;
mod copies;
mod phases;
mod races;
mod record;
mod relation;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use weft_core::emulate::{self, Cta, DoubtKind, End, Facts, Inputs};
use weft_core::finding::Report;
use weft_core::flow::{Instr, Operand, Placement, Program};
use weft_core::launch::{Dimensions, Launch};
use weft_core::ptx::isa::{Decoded, Effect, Modifier};
use weft_core::ptx::{self, Function, Module};
use weft_core::slice::{self, Dependences, Floats};
use weft_fixture_tests::files;
use weft_fixture_tests::language::Fixture;

use races::Races;
use record::Record;

/// Maximum number of points of a cta; their relation takes half of its square in bits.
const MOST_POINTS: usize = 1 << 15;
/// Maximum number of accesses of all threads of a cta.
const MOST_TOUCHES: usize = 1 << 17;
/// Maximum number of ctas.
const MOST_CTAS: u64 = 64;
/// Maximum number of passes.
const MOST_PASSES: u32 = 16;

/// Whether a kernel was compared, or why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Compared,
    NoLaunch,
    ManyCtas,
    Ways,
    TooLong,
    Clusters,
    Causes,
    TakesOver,
    Signals,
}

/// One run of all ctas; each ends at its end or at a barrier defect.
pub(crate) struct Run<'p> {
    pub(crate) records: Vec<Record<'p>>,
    /// How each cta ended.
    pub(crate) ends: Vec<End>,
    pub(crate) races: Races,
    /// Whether both sides of some branch ran, outside of loops, although all threads of a cta decide alike.
    pub(crate) has_open_branch: bool,
}

fn is_broken(end: &End, record: &Record<'_>) -> bool {
    let is_defect = !matches!(end, End::Finished | End::Undecided(_));
    let is_out = matches!(end, End::Undecided(doubt) if doubt.kind == DoubtKind::Fuel);
    is_defect || is_out || !record.barriers.recycled.is_empty()
}

/// Runs the ctas repeatedly until `Facts` settle. Returns the last run; `None` if a trace is too long.
fn run<'p>(program: &'p Program, inputs: &Inputs) -> Option<Run<'p>> {
    let slice = slice::mark(program, &BTreeSet::new(), Floats::Computed);
    let threads = usize::try_from(inputs.block.count()).expect("few threads");
    let mut facts = Facts::new();
    for _ in 0..MOST_PASSES {
        let mut run = Run {
            records: Vec::new(),
            ends: Vec::new(),
            races: Races::default(),
            has_open_branch: false,
        };
        facts.begin();
        for index in 0..u32::try_from(inputs.grid.count()).expect("few ctas") {
            let cta = Cta { at: inputs.grid.point(index.into()), index };
            let mut record = Record::new(program, threads);
            let mut reached = vec![false; program.code.len()];
            let own =
                emulate::run(program, &slice, inputs, cta, &mut facts, &mut record, &mut reached);
            if record.is_full() {
                return None;
            }
            if !matches!(own.end, End::Misuse { .. } | End::Diverged { .. }) {
                record.assert_settled();
            }
            let is_last = is_broken(&own.end, &record);
            run.records.push(record);
            run.ends.push(own.end);
            if is_last {
                break;
            }
        }
        (0..run.records.len()).for_each(|cta| run.races.add(&run.records, cta));
        let (loaded, bytes) = (facts.take_loaded(), run.races.bytes.iter().copied());
        let is_news = facts.interfere(program, &loaded, bytes, []);
        // Signals are not followed.
        if facts.settle(false) && !is_news {
            run.has_open_branch = facts.splits.left_open().next().is_some();
            return Some(run);
        }
    }
    None
}

fn judge(module: &Module, kernel: &Function, launch: &Launch, name: &str) -> Outcome {
    let check = |launch: &Launch| -> Report {
        weft_core::check(module, kernel, launch).expect("the launch fits")
    };
    let mut report = check(launch);
    let mut launch = launch.clone();
    if launch.grid.is_none() && report.grid.count() > 1 {
        // A grid that nobody states was run: with it stated, its defects have their own codes.
        launch.grid = Some(Dimensions::Is(report.grid));
        report = check(&launch);
    }
    let program =
        weft_core::link(module, kernel, &launch, &Placement::default()).expect("fixtures link");
    let meets = |instr: &Instr| instr.effect() == Effect::ClusterBarrier;
    if program.clusters.are_of_several() || program.code.iter().any(meets) {
        return Outcome::Clusters;
    }
    let is_relaxed = |instr: &Instr| {
        let has = |own: &Decoded| own.modifiers.has(Modifier::Relaxed);
        instr.effect() == Effect::MbarrierWait && instr.decoded().is_some_and(has)
    };
    let is_named = |instr: &Instr| {
        let first = instr.sources.first();
        instr.effect() == Effect::Barrier && first.is_some_and(|own| *own != Operand::Constant(0))
    };
    if program.code.iter().any(is_relaxed) && program.code.iter().any(is_named) {
        return Outcome::Causes;
    }
    if program.takes_over() {
        return Outcome::TakesOver;
    }
    let launch = &*weft_core::applied(&program, kernel, &launch).expect("it was checked");
    let Some(block) = report.block else { return Outcome::NoLaunch };
    if report.grid.count() > MOST_CTAS {
        return Outcome::ManyCtas;
    }
    let dependences = Dependences::of(&program, &emulate::pointers(&program, launch));
    let mut inputs =
        Inputs::new(&program, launch, block, report.grid, &dependences).expect("arguments fit");
    inputs.runs_all_ctas = launch.grid.is_some_and(|grid| grid.known().is_some());
    if emulate::has_signals(&program, &inputs) && program.code.iter().any(sees_others) {
        return Outcome::Signals;
    }
    let Some(run) = run(&program, &inputs) else { return Outcome::TooLong };
    let is_split = |end: &End| matches!(end, End::Undecided(doubt) if doubt.split.is_some());
    if run.ends.iter().any(is_split) {
        return Outcome::Ways;
    }
    compare::barriers(module, &program, &report, &run, name);
    compare::races(module, &program, &report, &run, name);
    Outcome::Compared
}

/// Whether a thread might see by an instruction what others have done: an atomic, or a strong load.
fn sees_others(instr: &Instr) -> bool {
    const STRONG: [Modifier; 3] = [Modifier::Volatile, Modifier::Relaxed, Modifier::Acquire];
    let is_strong = |own: &Decoded| STRONG.iter().any(|strong| own.modifiers.has(*strong));
    match instr.effect() {
        Effect::Atomic => true,
        Effect::Load => instr.decoded().is_some_and(is_strong),
        _ => false,
    }
}

#[test]
#[allow(clippy::print_stdout, reason = "what is left out is told")]
fn fixtures_get_a_second_opinion() {
    let mut outcomes: BTreeMap<Outcome, Vec<String>> = BTreeMap::new();
    for path in files::fixtures().expect("the folder is part of the checkout") {
        let text = fs::read_to_string(&path).expect("fixtures are text");
        let fixture = Fixture::parse(&text, &path).expect("the header is right");
        let module = ptx::parse(&text);
        for kernel in module.kernels() {
            let name = format!("{} of {}", module.name(kernel.name), path.display());
            // A witness is a finding of another launch.
            let mut launch = fixture.launch();
            launch.options.witness = 0;
            // A kernel without a block has no run.
            let runs = launch.block.is_some() || kernel.reqntid.or(kernel.maxntid).is_some();
            if !runs {
                continue;
            }
            let outcome = judge(&module, kernel, &launch, &name);
            outcomes.entry(outcome).or_default().push(name);
        }
    }
    let compared = outcomes.remove(&Outcome::Compared).unwrap_or_default().len();
    let ways = outcomes.get(&Outcome::Ways).map_or(0, Vec::len);
    let clusters = outcomes.get(&Outcome::Clusters).map_or(0, Vec::len);
    let signals = outcomes.get(&Outcome::Signals).map_or(0, Vec::len);
    let others = outcomes.values().map(Vec::len).sum::<usize>() - ways - clusters - signals;
    println!("{compared} kernels compared, left out: {outcomes:#?}");
    assert!(
        compared >= 450
            && ways * 9 <= compared
            && others * 50 <= compared
            && signals * 15 <= compared,
        "{compared} compared; left out: {ways} that go several ways, {others} others"
    );
}
