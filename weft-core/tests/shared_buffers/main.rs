//! Compares what the check finds in random kernels, whose pointers lead into a few buffers that the launch states, with
//! an enumeration of all threads, accesses and bytes.

mod brute;
mod kernel;

use std::collections::BTreeSet;

use brute::Wrongs;
use kernel::{Dice, Kernel, Passing};
use weft_core::finding::{Code, Report, Verdict};
use weft_core::launch::{ExtentBound, Launch};
use weft_core::{check, prove_every_input, ptx};

/// Number of kernels.
const SEEDS: u64 = 4000;

/// What a report says is wrong, by step. `lines`: the lines of the steps.
fn found(report: &Report, lines: &[u32]) -> Wrongs {
    let mut wrongs = Wrongs::default();
    for finding in &report.findings {
        let step = |line: u32| lines.iter().position(|own| *own == line);
        let steps: BTreeSet<usize> = finding
            .sites
            .iter()
            .map(|site| {
                let found = step(site.ptx.line);
                assert!(found.is_some(), "a finding is about steps: {finding:#?}");
                found.unwrap_or_default()
            })
            .collect();
        let (first, last) = (*steps.first().expect("a site"), *steps.last().expect("a site"));
        match finding.code {
            // Some bytes of two different numbers are equal.
            Code::GlobalRace | Code::BenignRace => drop(wrongs.races.insert((first, last))),
            Code::OutOfBounds => drop(wrongs.outside.insert(first)),
            Code::Misaligned => drop(wrongs.misaligned.insert(first)),
            code => unreachable!("nothing else can be found, but {code} is"),
        }
    }
    wrongs
}

/// Counts kernels: with races, clean ones, with races between different pointers, proved ones, and with pointers in
/// structures and in buffers among those with races.
#[derive(Debug, Default)]
struct Tally {
    racing: usize,
    clean: usize,
    through_two: usize,
    outside: usize,
    proved: usize,
    proved_for_all: usize,
    fields: usize,
    held: usize,
}

impl Tally {
    fn add(&mut self, kernel: &Kernel, wrongs: &Wrongs) {
        let pointer = |step: usize| match kernel.steps[step] {
            kernel::Step::Access(access) => access.pointer,
            kernel::Step::Barrier => unreachable!("a barrier does not race"),
        };
        let between = wrongs.races.iter().map(|(one, other)| (pointer(*one), pointer(*other)));
        let between: Vec<_> = between.filter(|(one, other)| one != other).collect();
        let is = |passing: Passing| {
            let passed = |at: usize| kernel.pointers[at].passing == passing;
            between.iter().any(|(one, other)| passed(*one) || passed(*other))
        };
        self.racing += usize::from(!wrongs.races.is_empty());
        self.through_two += usize::from(!between.is_empty());
        self.fields += usize::from(is(Passing::Field));
        self.held += usize::from(is(Passing::Held));
        self.outside += usize::from(!wrongs.outside.is_empty());
    }
}

/// Whether a kernel is proved for every block and grid, or for those that it does not tell apart. None of a few sizes that
/// the proof holds for has a race then.
fn is_proved_for_all(kernel: &Kernel, text: &str) -> bool {
    let module = ptx::parse(text);
    let entry = module.kernel("k").expect("the text declares it");
    let launch = Launch { block: None, grid: None, ..kernel.launch() };
    let proved = prove_every_input(&module, entry, &launch).expect("it links");
    let Some(proved) = proved else { return false };
    let [block, _, _] = proved.block.map(ExtentBound::most);
    let [grid, _, _] = proved.grid.map(ExtentBound::most);
    for (threads, ctas) in [(1, 1), (33, 1), (8, 3), (40, 2), (70, 2)] {
        if threads <= u64::from(block) && ctas <= u64::from(grid) {
            let sized = Kernel { block: threads, grid: ctas, ..kernel.clone() };
            let races = brute::wrongs(&sized).races;
            assert!(
                races.is_empty(),
                "proved, but {threads} x {ctas}: {races:?}\n{kernel:#?}\n{text}"
            );
        }
    }
    true
}

#[test]
fn what_is_found_is_what_enumeration_finds() {
    let mut tally = Tally::default();
    for seed in 0..SEEDS {
        let kernel = Kernel::random(&mut Dice(seed));
        let (text, lines) = kernel.text();
        let module = ptx::parse(&text);
        assert!(module.errors.is_empty(), "{:?}\n{text}", module.errors);
        let entry = module.kernel("k").expect("the text declares it");
        let launch = kernel.launch();
        let report = check(&module, entry, &launch).expect("the launch fits");
        let wrongs = brute::wrongs(&kernel);
        let says = || format!("{seed}: {kernel:#?}\n{text}\n{:#?}", report.findings);
        assert_eq!(found(&report, &lines), wrongs, "{}", says());
        let is_clean = wrongs == Wrongs::default();
        assert_eq!(report.verdict() == Verdict::Clean, is_clean, "{}", says());
        let proved = prove_every_input(&module, entry, &launch).expect("it links").is_some();
        assert!(!proved || wrongs.races.is_empty(), "proved, but {wrongs:?}\n{}", says());
        tally.proved_for_all += usize::from(is_proved_for_all(&kernel, &text));
        tally.clean += usize::from(is_clean);
        tally.proved += usize::from(proved);
        tally.add(&kernel, &wrongs);
    }
    let is_enough = tally.clean > 50 && tally.racing > 300 && tally.through_two > 200;
    assert!(
        is_enough && tally.proved > 200 && tally.proved_for_all > 50 && tally.outside > 200,
        "{tally:?}"
    );
    assert!(tally.fields > 50 && tally.held > 50, "{tally:?}");
}
