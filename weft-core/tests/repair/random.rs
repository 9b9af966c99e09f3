//! Random kernels of a few accesses, of which every placement of barriers is checked.

use std::fmt::Write as _;

use weft_core::ptx::Module;
use weft_core::repair::{Aim, BarrierKind, Costs, RepairOutcome, Uniformity};

use crate::support::{is_clean, kernel, mended, repaired};

/// A generator of random numbers, the linear congruential one of Knuth's MMIX.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// A statement of a kernel.
enum Statement {
    /// An access of the word of this thread, moved by some words in one of two arrays, or of that of its neighbour.
    Access { writes: bool, array: u64, word: Word },
    /// Three iterations.
    Loop(Vec<Statement>),
    /// Under a condition that holds for all threads, for the first warp, or for some threads of each warp.
    If(Condition, Vec<Statement>),
}

#[derive(Clone, Copy)]
enum Word {
    Own,
    /// Of the next thread.
    Next,
    /// Of the thread whose number differs in the last bit: of the same warp.
    Beside,
    /// Of the thread, in one half of the array in even and in the other in odd iterations.
    Alternating,
    /// The first one, for all threads.
    First,
}

#[derive(Clone, Copy)]
enum Condition {
    Uniform,
    FirstWarp,
    SomeLanes,
}

/// A place between statements, with the loops and the conditions around it.
#[derive(Clone, Copy)]
struct Gap {
    loops: i32,
    conditions: i32,
}

/// Writes a kernel as text, with a barrier in some gaps.
struct Writer<'p> {
    placement: &'p [Option<BarrierKind>],
    gaps: Vec<Gap>,
    labels: u32,
    text: String,
}

impl Writer<'_> {
    fn block(&mut self, statements: &[Statement], loops: i32, conditions: i32) {
        self.gap(loops, conditions);
        for statement in statements {
            self.statement(statement, loops, conditions);
            self.gap(loops, conditions);
        }
    }

    fn gap(&mut self, loops: i32, conditions: i32) {
        if let Some(Some(kind)) = self.placement.get(self.gaps.len()) {
            self.line(kind.ptx());
        }
        self.gaps.push(Gap { loops, conditions });
    }

    fn line(&mut self, line: &str) {
        writeln!(self.text, "{line}").expect("a string takes all");
    }

    fn statement(&mut self, statement: &Statement, loops: i32, conditions: i32) {
        self.labels += 1;
        let label = self.labels;
        match statement {
            Statement::Access { writes, array, word } => {
                let at = match word {
                    Word::Own => "mov.u32 %r10, %r2;",
                    Word::Next => "mov.u32 %r10, %r3;",
                    Word::First => "mov.u32 %r10, %r4;",
                    Word::Beside => {
                        "xor.b32 %r10, %r1, 1; shl.b32 %r10, %r10, 2; add.s32 %r10, %r10, %r4;"
                    }
                    Word::Alternating => {
                        "and.b32 %r10, %r9, 1; shl.b32 %r10, %r10, 9; add.s32 %r10, %r10, %r2;"
                    }
                };
                self.line(at);
                let at = array * 1024;
                self.line(&if *writes {
                    format!("add.s32 %r11, %r1, {label};\nst.shared.u32 [%r10+{at}], %r11;")
                } else {
                    format!("ld.shared.u32 %r12, [%r10+{at}];")
                });
            }
            Statement::Loop(body) => {
                self.line(&format!("mov.u32 %r9, 0;\nL{label}:"));
                self.block(body, loops + 1, conditions);
                self.line(&format!(
                    "add.s32 %r9, %r9, 1;\nsetp.lt.u32 %p2, %r9, 3;\n@%p2 bra L{label};"
                ));
            }
            Statement::If(condition, body) => {
                let holds = match condition {
                    Condition::Uniform => "setp.eq.u32 %p1, %r8, 7;",
                    Condition::FirstWarp => "setp.lt.u32 %p1, %r1, 32;",
                    Condition::SomeLanes => "and.b32 %r13, %r1, 5; setp.eq.u32 %p1, %r13, 1;",
                };
                self.line(&format!("{holds}\n@!%p1 bra L{label};"));
                self.block(body, loops, conditions + 1);
                self.line(&format!("L{label}:"));
            }
        }
    }
}

/// Returns some statements; loops and conditions are not nested within their kind, since they share a register.
fn statements(random: &mut Random, most: u64, is_in_loop: bool, is_in_if: bool) -> Vec<Statement> {
    let one = |random: &mut Random| match random.below(8) {
        0 | 1 if !is_in_loop => Statement::Loop(statements(random, 2, true, is_in_if)),
        2 if !is_in_if => {
            let conditions = [Condition::Uniform, Condition::FirstWarp, Condition::SomeLanes];
            let condition = conditions[usize::try_from(random.below(3)).expect("three")];
            Statement::If(condition, statements(random, 2, is_in_loop, true))
        }
        _ => {
            let word = match random.below(16) {
                0 => Word::First,
                1..4 => Word::Own,
                4..7 => Word::Beside,
                7..10 if is_in_loop => Word::Alternating,
                _ => Word::Next,
            };
            Statement::Access { writes: random.below(2) == 0, array: random.below(4) / 3, word }
        }
    };
    (0..=random.below(most)).map(|_| one(random)).collect()
}

fn written(statements: &[Statement], placement: &[Option<BarrierKind>]) -> (Module, Vec<Gap>) {
    let mut writer = Writer { placement, gaps: Vec::new(), labels: 0, text: String::new() };
    // Otherwise the threads that skip a last condition end, and nobody would wait for them.
    writer.block(statements, 0, 0);
    writer.line("add.s32 %r14, %r2, 1792;\nst.shared.u32 [%r14], %r1;");
    (kernel(&writer.text), writer.gaps)
}

/// Every barrier in every gap, or none.
fn placements(gaps: usize) -> impl Iterator<Item = Vec<Option<BarrierKind>>> {
    let kinds = [None, Some(BarrierKind::Cta), Some(BarrierKind::Warp)];
    let digits = u32::try_from(gaps).expect("few gaps");
    (0..3_usize.pow(digits)).map(move |number| {
        (0..digits).map(|digit| kinds[number / 3_usize.pow(digit) % 3]).collect()
    })
}

fn cost(gaps: &[Gap], placement: &[Option<BarrierKind>]) -> f64 {
    let costs = Costs::default();
    let of = |(gap, kind): (&Gap, &Option<BarrierKind>)| {
        let factor = match kind {
            None => 0.0,
            Some(BarrierKind::Cta) => 1.0,
            Some(BarrierKind::Warp) => 0.5,
        };
        factor * costs.per_loop.powi(gap.loops) * costs.per_condition.powi(gap.conditions)
    };
    gaps.iter().zip(placement).map(of).sum()
}

/// What the repairs of some kernels came to.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) mended: usize,
    pub(crate) refused: usize,
    pub(crate) unchanged: usize,
    pub(crate) in_loops: usize,
    pub(crate) of_warps: usize,
    pub(crate) most_checks: usize,
}

/// Compares the repair of a random kernel with all placements of at most `most_gaps` gaps. Returns whether there are so
/// few.
pub(crate) fn compare(seed: u64, most_gaps: usize, counts: &mut Counts) -> bool {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    // Every third kernel is a loop.
    let statements = match seed % 3 {
        0 => vec![Statement::Loop(statements(&mut random, 3, true, false))],
        _ => statements(&mut random, 4, false, false),
    };
    let (module, gaps) = written(&statements, &[]);
    if gaps.len() > most_gaps {
        return false;
    }
    let mut fine: Vec<(f64, Vec<Option<BarrierKind>>)> =
        placements(gaps.len()).map(|placement| (cost(&gaps, &placement), placement)).collect();
    fine.sort_by(|a, b| a.0.total_cmp(&b.0));
    let least_for = |uniformity| {
        let is_fine = |placement: &Vec<_>| is_clean(&written(&statements, placement).0, uniformity);
        fine.iter().find(|(_, placement)| is_fine(placement))
    };
    // Barriers that all threads reach are preferred, at any cost.
    let is_clean_as_it_is = is_clean(&module, Uniformity::Launch);
    let uniform = if is_clean_as_it_is { None } else { least_for(Uniformity::Cta) };
    let (least, uniformity) = match uniform {
        Some(least) => (Some(least), Uniformity::Cta),
        None => (least_for(Uniformity::Launch), Uniformity::Launch),
    };
    let repair = repaired(&module, Aim::Insert);
    counts.most_checks = counts.most_checks.max(repair.checks);
    let text = module.text();
    match repair.outcome {
        RepairOutcome::Unchanged { .. } => {
            assert_eq!(least.map(|(cost, _)| *cost), Some(0.0), "seed {seed}:\n{text}");
            counts.unchanged += 1;
        }
        RepairOutcome::Mended(mend) => {
            let cost = least.map(|(cost, _)| *cost);
            let mended = mended(&module, &mend);
            assert_eq!(cost, Some(mend.cost), "seed {seed}: {least:?}\n{}", mended.text());
            assert!(mend.is_least);
            assert!(is_clean(&mended, uniformity), "seed {seed}\n{}", mended.text());
            counts.mended += 1;
            counts.in_loops += usize::from(mend.cost > 20.0);
            counts.of_warps += usize::from(mended.text().contains("bar.warp"));
        }
        RepairOutcome::Refused(why) => {
            assert!(least.is_none(), "seed {seed}: {least:?} {why:?}\n{text}");
            counts.refused += 1;
        }
    }
    true
}

#[test]
fn a_repair_is_as_cheap_as_the_cheapest_of_all_placements() {
    let mut counts = Counts::default();
    let compared = (0..2000).filter(|seed| compare(*seed, 5, &mut counts)).count();
    assert!(compared > 900 && counts.mended > 150 && counts.refused > 20, "{compared} {counts:?}");
    assert!(counts.in_loops > 30 && counts.of_warps > 5, "{counts:?}");
    assert!(counts.most_checks <= 30, "{counts:?}");
}
