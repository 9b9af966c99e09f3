//! Takes the barriers out of every clean fixture, all of them and each by itself: the repair has to make it clean again, and
//! costs no more than what was there.

#![allow(
    clippy::float_cmp,
    reason = "costs are products of powers of 100 and of 0.5, which are exact"
)]

use std::collections::BTreeSet;
use std::fs;

use weft_core::finding::{Report, Verdict};
use weft_core::launch::{Arg, BarrierDivergence, Dim3, Dimensions, Launch};
use weft_core::ptx::{self, Module};
use weft_core::repair::{
    Aim, Barrier, Cost, Costs, Counterexamples, Edit, RepairOutcome, RepairRequest, Uniformity,
    barriers, cost, edited, repair,
};
use weft_fixture_tests::files;
use weft_fixture_tests::language::Fixture;

/// Which removals were undone, and how.
#[derive(Debug, Default)]
struct Counts {
    kernels: usize,
    removals: usize,
    not_least: usize,
    most_checks: usize,
}

fn report(module: &Module, kernel: &str, launch: &Launch, uniformity: Uniformity) -> Report {
    let mut launch = launch.clone();
    if uniformity == Uniformity::Cta {
        launch.options.barrier_divergence = BarrierDivergence::Cta;
    }
    let kernel = module.kernel(kernel).expect("a change keeps the kernel");
    weft_core::check(module, kernel, &launch).expect("the launch fits")
}

fn is_clean(module: &Module, kernel: &str, launch: &Launch, uniformity: Uniformity) -> bool {
    report(module, kernel, launch, uniformity).verdict() == Verdict::Clean
}

fn request<'m>(module: &'m Module, kernel: &'m str) -> RepairRequest<'m> {
    let (aim, costs, most_checks) = (Aim::Insert, Costs::default(), 200);
    RepairRequest { module, kernel, aim, costs, most_checks, is_source: &|_| true }
}

fn cost_of(module: &Module, kernel: &str) -> Cost {
    cost(&request(module, kernel)).expect("fixtures are small")
}

/// Returns the module without some barriers.
fn without(module: &Module, removed: &[Barrier]) -> Module {
    let edit = |barrier: &Barrier| {
        let range = barrier.site.span.range();
        Edit { range: (range.start, range.end), text: String::new() }
    };
    ptx::parse(&edited(module.text(), &removed.iter().map(edit).collect::<Vec<_>>()))
}

/// Repairs a kernel from which some barriers were taken. `most`: what the repair may cost.
fn restore(module: &Module, kernel: &str, launch: &Launch, most: Cost, counts: &mut Counts) {
    let mut failed = Counterexamples::default();
    let mut check = |changed: &Module, uniformity, depth| {
        assert!(changed.errors.is_empty(), "{kernel}: {:?}", changed.errors);
        let check = |launch: &Launch| Ok::<_, ()>(report(changed, kernel, launch, uniformity));
        failed.check(launch, depth, check).map(|report| vec![report])
    };
    let repair = repair(&request(module, kernel), &mut check).expect("the check has no errors");
    let is_refused = matches!(repair.outcome, RepairOutcome::Refused(_));
    assert!(!is_refused, "{kernel}: {:?}", repair.outcome);
    if let RepairOutcome::Mended(mend) = repair.outcome {
        let mended = ptx::parse(&edited(module.text(), &mend.edits));
        let text = mended.text();
        assert!(is_clean(&mended, kernel, launch, Uniformity::Launch), "{kernel}: {text}");
        assert!(mend.cost <= most, "{kernel}: {} instead of {most}\n{text}", mend.cost);
        // With mbarriers, a barrier more can be a deadlock; a lock orders accesses where a run does not see it: the least cost is
        // not known then.
        let has_others = ["mbarrier.", ".cas."].iter().any(|own| module.text().contains(own));
        counts.not_least += usize::from(!mend.is_least && !has_others);
    }
    counts.most_checks = counts.most_checks.max(repair.checks);
    counts.removals += 1;
}

#[test]
fn what_is_taken_out_of_a_clean_fixture_is_found_again() {
    let mut counts = Counts::default();
    for path in files::fixtures().expect("the folder is part of the checkout") {
        let text = fs::read_to_string(&path).expect("fixtures are text");
        let fixture = Fixture::parse(&text, &path).expect("the header is right");
        let (module, launch) = (ptx::parse(&text), fixture.launch());
        // Without these barriers ctas race, which the repair refuses.
        if path
            .components()
            .any(|part| ["signals", "waits"].iter().any(|own| part.as_os_str() == *own))
        {
            continue;
        }
        for kernel in module.kernels() {
            let optional: Vec<Barrier> =
                barriers(&module, kernel).into_iter().filter(|barrier| barrier.can_go).collect();
            let name = module.name(kernel.name);
            if optional.is_empty() || !is_clean(&module, name, &launch, Uniformity::Launch) {
                continue;
            }
            counts.kernels += 1;
            let single = optional.iter().map(std::slice::from_ref);
            let all = std::iter::once(optional.as_slice());
            for removed in all.chain(single.filter(|_| optional.len() > 1)) {
                let changed = without(&module, removed);
                let before = cost_of(&module, name) - cost_of(&changed, name);
                restore(&changed, name, &launch, before, &mut counts);
            }
        }
    }
    assert!(counts.kernels > 100 && counts.removals > 200, "{counts:?}");
    // A question that is about no pair of accesses might be answered at a point that lies between none.
    assert!(counts.not_least <= 10 && counts.most_checks <= 30, "{counts:?}");
}

#[test]
fn what_is_taken_out_of_unrolled_loops_is_found_again() {
    let path = files::root().join("repair/loops_placed.ptx");
    let module = ptx::parse(&fs::read_to_string(path).expect("the PTX is part of the checkout"));
    let block = Some(Dimensions::Is(Dim3::line(256)));
    let mut counts = Counts::default();
    for kernel in module.kernels() {
        // Of those with an argument besides two pointers, the loops take some steps at once and then the rest.
        let steps = (kernel.params.len() == 3).then_some((2, Arg::Integer(7)));
        let launch = Launch { block, args: steps.into_iter().collect(), ..Launch::default() };
        let (name, all) = (module.name(kernel.name), barriers(&module, kernel));
        let lines: BTreeSet<_> = all.iter().map(|own| own.site.source.first().cloned()).collect();
        let of_line = |line| {
            let is_it = |own: &&Barrier| own.site.source.first() == Option::as_ref(line);
            all.iter().filter(is_it).cloned().collect::<Vec<_>>()
        };
        for removed in lines.iter().map(of_line).chain([all.clone()]) {
            let changed = without(&module, &removed);
            let before = cost_of(&module, name) - cost_of(&changed, name);
            restore(&changed, name, &launch, before, &mut counts);
        }
    }
    assert!(counts.removals > 15, "{counts:?}");
}

#[test]
fn what_is_taken_out_of_a_sample_is_found_again() {
    let line = |extent| Some(Dimensions::Is(Dim3::line(extent)));
    let launched =
        |block, grid| Launch { block: line(block), grid: line(grid), ..Launch::default() };
    // As its weft.toml and the tutorial launch them.
    let block_sum = Launch {
        shared: Some(512),
        args: [(1, Arg::Integer(300))].into_iter().collect(),
        ..launched(128, 3)
    };
    let ping_pong =
        Launch { args: [(2, Arg::Integer(8))].into_iter().collect(), ..launched(96, 1) };
    let samples = [
        ("rust-reduce/kernels/block_sum.ptx", "block_sum", block_sum, Uniformity::Cta, 30),
        ("tutorial/clean/smooth.ptx", "smooth", launched(256, 2), Uniformity::Cta, 30),
        // Its warps meet at named barriers, which stay.
        ("tutorial/ping-pong/ping_pong.ptx", "ping_pong", ping_pong, Uniformity::Launch, 60),
    ];
    for (path, kernel, launch, uniformity, most_checks) in samples {
        let text = fs::read_to_string(files::root().join(path)).expect("the sample has its PTX");
        let module = ptx::parse(&text);
        assert!(is_clean(&module, kernel, &launch, uniformity), "{kernel}");
        let function = module.kernel(kernel).expect("the kernel is there");
        let optional = barriers(&module, function).into_iter().filter(|barrier| barrier.can_go);
        let changed = without(&module, &optional.collect::<Vec<_>>());
        assert!(!is_clean(&changed, kernel, &launch, uniformity), "{kernel}");
        let before = cost_of(&module, kernel) - cost_of(&changed, kernel);
        let mut counts = Counts::default();
        restore(&changed, kernel, &launch, before, &mut counts);
        assert!(counts.not_least == 0 && counts.most_checks <= most_checks, "{kernel}: {counts:?}");
    }
}

/// A kernel of `fixtures/repair` with a launch of it, and the cost of its barriers before and after a repair of the kernel
/// without them.
struct Sample {
    kernel: &'static str,
    block: [u32; 2],
    grid: [u32; 2],
    number: Option<(usize, i128)>,
    costs: [Cost; 2],
}

const fn sample(
    kernel: &'static str,
    (block, grid): ([u32; 2], [u32; 2]),
    number: Option<(usize, i128)>,
    costs: [Cost; 2],
) -> Sample {
    Sample { kernel, block, grid, number, costs }
}

/// In each loop a barrier costs 100. nvcc puts a condition in front of a loop that might have no iteration, which halves
/// the cost of what stands behind it.
const SAMPLES: [Sample; 6] = [
    // A barrier at the start of each iteration also orders what comes before the loop.
    sample("reduction", ([256, 1], [2, 1]), None, [101.0, 100.0]),
    sample("scan", ([128, 1], [1, 1]), None, [101.0, 100.0]),
    sample("transpose", ([16, 16], [2, 2]), Some((2, 32)), [1.0, 1.0]),
    sample("product", ([16, 16], [2, 2]), Some((3, 3)), [100.0, 100.0]),
    // One of the two can stand under the condition in front of the loop.
    sample("histogram", ([256, 1], [2, 1]), Some((2, 2000)), [2.0, 1.5]),
    sample("convolution", ([128, 1], [2, 2]), Some((3, 256)), [1.0, 1.0]),
];

#[test]
fn the_barriers_of_textbook_kernels_are_found_again() {
    let path = files::root().join("repair/kernels.ptx");
    let module = ptx::parse(&fs::read_to_string(path).expect("the PTX is part of the checkout"));
    for Sample { kernel, block, grid, number, costs } in SAMPLES {
        let dim = |[x, y]: [u32; 2]| Some(Dimensions::Is(Dim3 { x, y, z: 1 }));
        let args = number.map(|(at, value)| (at, Arg::Integer(value))).into_iter().collect();
        let launch = Launch { block: dim(block), grid: dim(grid), args, ..Launch::default() };
        assert!(is_clean(&module, kernel, &launch, Uniformity::Cta), "{kernel}");
        let function = module.kernel(kernel).expect("the kernel is there");
        let changed = without(&module, &barriers(&module, function));
        let mut check = |changed: &Module, uniformity, _| {
            Ok::<_, ()>(vec![report(changed, kernel, &launch, uniformity)])
        };
        let repair =
            repair(&request(&changed, kernel), &mut check).expect("the check has no errors");
        let RepairOutcome::Mended(mend) = repair.outcome else {
            panic!("{kernel}: {:?}", repair.outcome)
        };
        let before = cost_of(&module, kernel);
        assert_eq!(([before, mend.cost], mend.is_least), (costs, true), "{kernel}");
        let mended = ptx::parse(&edited(changed.text(), &mend.edits));
        assert!(is_clean(&mended, kernel, &launch, Uniformity::Cta), "{kernel}");
        assert!(repair.checks <= 30, "{kernel}: {} checks", repair.checks);
    }
}
