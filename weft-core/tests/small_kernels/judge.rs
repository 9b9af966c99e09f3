//! Compares the check with the reference.

use std::collections::BTreeSet;

use weft_core::finding::Verdict;

use crate::checked::{Checked, Open, Said, Why};
use crate::code::lower;
use crate::kernel::Kernel;
use crate::machine::{Inputs, Machine, Outcome};
use crate::memory::{DATA, NUMBER, ORDER, OUT, Rests, SHARED, UNSET};
use crate::orders;

/// Number of contents that are tried for memory that nothing wrote.
const FILLS: u32 = 4;

/// A kernel and the inputs that are tried.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) kernel: Kernel,
    pub(crate) open: Open,
    /// The inputs; all have the same values where the launch gives them.
    pub(crate) inputs: Vec<Inputs>,
}

/// A claim that does not hold, with the report and the outcome that contradict it.
#[derive(Clone, Debug)]
pub(crate) struct Disagreement {
    pub(crate) claim: &'static str,
    pub(crate) inputs: Inputs,
    pub(crate) said: Said,
    pub(crate) outcome: Outcome,
}

/// Counts kernels by their verdict with open inputs, and runs with given inputs that stay open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) clean: usize,
    /// Clean kernels whose branches, guards or addresses depend on open values.
    pub(crate) clean_on_open: usize,
    pub(crate) defect: usize,
    pub(crate) open: usize,
    /// Open kernels that have a defect for some inputs.
    pub(crate) open_and_wrong: usize,
    /// Number of runs with given inputs.
    pub(crate) given: usize,
    pub(crate) given_open: usize,
}

/// Minimum numbers that a test must decide; the fields are those of [`Tally`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Least {
    pub(crate) clean: usize,
    pub(crate) clean_on_open: usize,
    pub(crate) defect: usize,
    /// Runs with given inputs that are not open.
    pub(crate) given: usize,
}

impl Tally {
    /// Whether the tally reaches these minimums, and at least one open kernel has a defect for some inputs.
    pub(crate) const fn decides(&self, least: Least) -> bool {
        self.clean >= least.clean
            && self.clean_on_open >= least.clean_on_open
            && self.defect >= least.defect
            && self.given - self.given_open >= least.given
            && self.open_and_wrong > 0
    }
    pub(crate) fn add(&mut self, other: &Self) {
        self.clean += other.clean;
        self.clean_on_open += other.clean_on_open;
        self.defect += other.defect;
        self.open += other.open;
        self.open_and_wrong += other.open_and_wrong;
        self.given += other.given;
        self.given_open += other.given_open;
    }
}

/// Checks a kernel with open and with given inputs and compares both with the reference.
pub(crate) fn judge(case: &Case) -> Result<Tally, Box<Disagreement>> {
    let code = lower(&case.kernel);
    let checked = Checked::new(&case.kernel, &code);
    let with_open = checked.check(&case.inputs[0], case.open);
    let mut tally = Tally::default();
    match with_open.verdict {
        Verdict::Clean => tally.clean = 1,
        Verdict::Defect => tally.defect = 1,
        Verdict::Open => tally.open = 1,
    }
    let open = rests_on_open(case.open);
    for inputs in &case.inputs {
        let machine = Machine::new(&case.kernel, &code, inputs);
        let outcomes = orders::outcomes(&machine);
        // Under another schedule, a load can come before the first write.
        let reads_unset =
            || orders::outcomes(&machine.reversed()).iter().any(|own| own.reads_unset);
        let given = checked.check(inputs, Open::NOTHING);
        for said in [&with_open, &given].into_iter().filter(|said| is_independent(said)) {
            if outcomes.iter().any(|own| own.decides & UNSET != 0) && depends(&machine, &outcomes) {
                let claim = "what is clean does not depend on what nobody wrote";
                let (said, outcome) = (said.clone(), outcomes[0].clone());
                let inputs = inputs.clone();
                return Err(Box::new(Disagreement { claim, inputs, said, outcome }));
            }
        }
        tally.given += 1;
        tally.given_open += usize::from(given.verdict == Verdict::Open);
        if outcomes.iter().any(|outcome| outcome.is_defect() && !outcome.is_astray()) {
            tally.open_and_wrong = tally.open;
        }
        if outcomes.iter().any(|outcome| outcome.decides & open != 0) {
            tally.clean_on_open = tally.clean;
        }
        for outcome in &outcomes {
            let disagree = |claim, said: &Said| {
                let (said, outcome) = (said.clone(), outcome.clone());
                Box::new(Disagreement { claim, inputs: inputs.clone(), said, outcome })
            };
            for said in [&with_open, &given] {
                let all =
                    if said.is_of_some_order { &outcomes } else { std::slice::from_ref(outcome) };
                let held = all.iter().map(|outcome| holds(said, outcome));
                held.reduce(Result::or).unwrap_or(Ok(())).map_err(|claim| disagree(claim, said))?;
            }
            exact(&given, outcome, reads_unset).map_err(|claim| disagree(claim, &given))?;
        }
    }
    Ok(tally)
}

/// Whether the report is clean without assumptions or findings about memory that nothing wrote.
fn is_independent(said: &Said) -> bool {
    said.verdict == Verdict::Clean && !said.uninitialized && !said.assumes_written
}

/// Whether threads access other memory if shared memory has other initial contents.
fn depends(machine: &Machine<'_>, outcomes: &[Outcome]) -> bool {
    let touched =
        |all: &[Outcome]| -> BTreeSet<u64> { all.iter().map(|own| own.touched).collect() };
    let is_settled =
        |all: &[Outcome]| orders::are_all(all) && all.iter().all(|own| !own.is_defect());
    let differs = |fill| {
        let others = orders::outcomes(&machine.refilled(fill));
        is_settled(&others) && touched(&others) != touched(outcomes)
    };
    is_settled(outcomes) && (0..FILLS).any(differs)
}

/// Returns the open inputs in the terms of the reference.
fn rests_on_open(open: Open) -> Rests {
    let inputs = [(open.number, NUMBER), (open.data, DATA), (open.out, OUT)];
    let open = inputs.into_iter().filter(|(is_open, _)| *is_open);
    open.fold(UNSET | ORDER, |rests, (_, input)| rests | input)
}

/// Checks the claims that must hold for every report, with open or given inputs.
fn holds(said: &Said, outcome: &Outcome) -> Result<(), &'static str> {
    // An assumption of the report does not hold, so the report says nothing about this outcome.
    let is_granted = outcome.is_astray() && said.assumes_addresses
        || !outcome.outside.is_empty() && (said.assumes_buffers || said.assumes_arrays)
        || outcome.wraps && said.assumes_counters;
    if is_granted {
        return Ok(());
    }
    if said.verdict == Verdict::Clean && outcome.is_defect() {
        return Err("nothing open is ever called clean");
    }
    if said.verdict == Verdict::Defect && !outcome.is_defect() {
        return Err("nothing uncertain is ever called defect");
    }
    // If races decide something, another schedule has other races; after a broken barrier nothing is known.
    if outcome.decides & SHARED != 0 && !outcome.races.is_empty() || outcome.fault.is_some() {
        return Ok(());
    }
    if said.uninitialized && outcome.decides & UNSET == 0 {
        return Err("a decision said to rest on memory that nothing wrote rests on it");
    }
    if said.barriers == Verdict::Defect {
        return Err("a barrier called broken is broken");
    }
    for (race, is_benign) in &said.races {
        match outcome.races.get(race) {
            None => return Err("a race that is named is there"),
            // Stores at known addresses only: values stored at open addresses are open.
            Some(false) if *is_benign && outcome.stored & SHARED == 0 && said.open.is_empty() => {
                return Err("a race called benign is benign");
            }
            Some(_) => {}
        }
    }
    if said.misaligned.iter().any(|site| !outcome.misaligned.contains(site)) {
        return Err("an access called misaligned is misaligned");
    }
    if said.outside.iter().any(|site| !outcome.outside.contains(site)) {
        return Err("an access called out of bounds is out of bounds");
    }
    Ok(())
}

/// Checks the claims for given inputs: only what depends on memory that nothing wrote or on the order of atomics stays
/// open, and every race is reported.
fn exact(
    said: &Said,
    outcome: &Outcome,
    reads_unset: impl Fn() -> bool,
) -> Result<(), &'static str> {
    let is_vacuous = said.verdict == Verdict::Open && said.open == [Why::Vacuous];
    // Another schedule can get further than a broken barrier, or read before a racing store, so that it depends on such
    // memory.
    let races_decide = outcome.decides & SHARED != 0 && !outcome.races.is_empty();
    let reads_before = (races_decide || outcome.fault.is_some())
        && (outcome.reads_unset
            || said.open.contains(&Why::Unset)
            || said.open.contains(&Why::Racing) && reads_unset());
    if outcome.decides & (UNSET | ORDER) != 0 || reads_before || is_vacuous {
        return Ok(());
    }
    if said.verdict == Verdict::Open {
        // Lanes that execute a branch at different times are not matched by the check; `given` of [`Least`] bounds how
        // often. Neither are exchanges of one mask at two instructions, which the reference keeps separate.
        let is_apart = said.open.iter().all(|why| matches!(why, Why::Apart | Why::Meeting));
        return if is_apart { Ok(()) } else { Err("with given inputs nothing is open") };
    }
    if said.verdict != Verdict::Defect && outcome.is_defect() {
        return Err("with given inputs every defect is found");
    }
    if races_decide {
        return Ok(());
    }
    if outcome.fault.is_some() {
        // What depends on a race, on separated lanes or on exchanges at two instructions is open beside the reported
        // race.
        let is_open = |why: &Why| matches!(why, Why::Apart | Why::Meeting | Why::Racing);
        let is_found = said.barriers == Verdict::Defect || said.open.iter().any(is_open);
        return if is_found { Ok(()) } else { Err("every broken barrier is found") };
    }
    if outcome.races.keys().any(|race| !said.races.contains_key(race)) {
        return Err("every race is named");
    }
    let rests = outcome.stored & (SHARED | UNSET | ORDER) != 0;
    let are_benign =
        !outcome.races.is_empty() && outcome.races.values().all(|is_benign| *is_benign);
    if !rests && are_benign && said.races.values().any(|is_benign| !is_benign) {
        return Err("where all races are benign they are so called");
    }
    if outcome.misaligned.iter().any(|site| !said.misaligned.contains(site)) {
        return Err("every misaligned access is found");
    }
    if outcome.outside.iter().any(|site| !said.outside.contains(site)) {
        return Err("every access out of bounds is found");
    }
    Ok(())
}
