//! Test: a kernel has the same findings whether its functions are inlined or linked in once as routines.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::find::Effort;
use super::linked::LinkedKernel;
use super::{CheckRequest, attempt};
use crate::finding::{Class, Code, Report, Verdict};
use crate::flow::{self, Growth, Placement};
use crate::launch::{BarrierDivergence, Dim3, Launch, Options};
use crate::ptx::{self, Function, Module};

/// The number of functions besides the kernel; each calls only later ones.
const FUNCTIONS: usize = 3;
/// The block of each launch.
const BLOCK: Dim3 = Dim3 { x: 64, y: 1, z: 1 };

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// Writes the text of a random kernel and its functions.
struct Writer {
    dice: Dice,
    labels: u32,
    text: String,
}

impl Writer {
    fn line(&mut self, text: &str) {
        writeln!(self.text, "{text}").expect("a string takes all");
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    fn call(&mut self, callee: usize) {
        self.line("{ .param .b32 a; .param .b32 b;");
        // A parameter that nothing stores before a call is open, whatever the previous call passed.
        if self.dice.roll(8) > 0 {
            self.line("st.param.b32 [a], %x;");
        }
        self.line(&format!("call (b), f{callee}, (a); ld.param.b32 %x, [b]; }}"));
    }

    /// Writes statements of the function with this number; the kernel has number 0.
    fn body(&mut self, function: usize, depth: u32) {
        for _ in 0..=self.dice.roll(3) {
            match self.dice.roll(10) {
                0 | 1 if function < FUNCTIONS => {
                    let callee =
                        function + 1 + usize::try_from(self.dice.roll(2)).expect("below 2");
                    self.call(callee.min(FUNCTIONS));
                }
                2 if self.dice.roll(6) == 0 => {
                    let at = 4 * self.dice.roll(3);
                    self.line(&format!("st.shared.b32 [words+{at}], %x;"));
                }
                3 => self.line("st.shared.b32 [%cell], %x;"),
                4 if self.dice.roll(2) == 0 => self.line("bar.sync 0;"),
                5 => self.line("add.u32 %x, %x, 1;"),
                6 | 7 if depth < 2 => self.branch(function, depth),
                8 if depth < 2 => self.iterations(function, depth),
                9 if self.dice.roll(4) == 0 => {
                    let bit = 1 << self.dice.roll(6);
                    let end = ["exit", "ret", "trap"]
                        [usize::try_from(self.dice.roll(3)).expect("below 3")];
                    self.line(&format!(
                        "and.b32 %t, %tid.x, {bit}; setp.ne.u32 %p, %t, 0; @%p {end};"
                    ));
                }
                2 if self.dice.roll(6) == 0 => self.line("ld.shared.b32 %t, [words];"),
                _ => self.line("ld.shared.b32 %t, [%cell];"),
            }
        }
    }

    fn branch(&mut self, function: usize, depth: u32) {
        let (otherwise, behind) = (self.label(), self.label());
        // Mostly a branch of whole warps: lanes that diverge do not reach a barrier together.
        let bit = 1 << if self.dice.roll(4) == 0 { self.dice.roll(5) } else { 5 };
        match self.dice.roll(8) {
            0 => self.line("and.b32 %t, %x, 1;"),
            1 if function == 0 => self.line("ld.param.b32 %t, [n];"),
            _ => self.line(&format!("and.b32 %t, %tid.x, {bit};")),
        }
        self.line(&format!("setp.ne.u32 %p, %t, 0; @%p bra {otherwise};"));
        self.body(function, depth + 1);
        self.line(&format!("bra {behind};\n{otherwise}:"));
        self.body(function, depth + 1);
        self.line(&format!("{behind}:"));
    }

    fn iterations(&mut self, function: usize, depth: u32) {
        let (head, count) = (self.label(), format!("%i{depth}"));
        self.line(&format!("mov.b32 {count}, 0;\n{head}:"));
        self.body(function, depth + 1);
        self.line(&format!(
            "add.u32 {count}, {count}, 1; setp.lt.u32 %p, {count}, 2; @%p bra {head};"
        ));
    }

    fn function(&mut self, own: usize) {
        let head = if own == 0 {
            ".entry k(.param .b32 n)".to_owned()
        } else {
            format!(".func (.param .b32 out) f{own}(.param .b32 in)")
        };
        self.line(&head);
        self.line("{ .reg .b32 %x, %t, %cell, %i<3>; .reg .pred %p;");
        self.line(
            "mov.u32 %cell, words; mad.lo.u32 %cell, %tid.x, 4, %cell; add.u32 %cell, %cell, 16;",
        );
        self.line(if own == 0 { "mov.u32 %x, %tid.x;" } else { "ld.param.b32 %x, [in];" });
        self.body(own, 0);
        if own == 0 {
            self.call(1);
            self.call(2);
        } else {
            self.line("st.param.b32 [out], %x;");
        }
        self.line("ret; }");
    }
}

fn text(seed: u64) -> String {
    let mut writer = Writer { dice: Dice(seed), labels: 0, text: String::new() };
    writer.line(".version 8.0\n.target sm_80\n.address_size 64\n.shared .align 4 .b8 words[1024];");
    for function in (0..=FUNCTIONS).rev() {
        writer.function(function);
    }
    writer.text
}

fn checked(module: &Module, kernel: &Function, growth: Growth, launch: &Launch) -> Report {
    let program = flow::build_within(module, kernel, growth, &Placement::default(), None)
        .expect("the text links");
    let linked =
        LinkedKernel::new(module, kernel, launch, &Placement::default()).expect("the text links");
    let (effort, outside) = (Effort::Verdict, None);
    let request = CheckRequest { linked: &linked, launch, effort, outside };
    attempt(&request, &program, Some(BLOCK)).expect("the launch fits").report
}

/// Returns the codes of defects, without the instructions: if several defects can end a run, another one might come
/// first. What is open between two inlined instructions is settled where two others on the same lines certainly race.
fn defects(report: &Report) -> BTreeSet<Code> {
    let codes = report.findings.iter().map(|finding| finding.code);
    codes.filter(|code| code.class() == Class::Defect).collect()
}

#[test]
fn says_what_is_said_of_the_inlined_kernel() {
    let (mut same, mut clean, mut refuted, mut coarser) = (0, 0, 0, 0);
    for seed in 0..600_u64 {
        let text = text(seed);
        let module = ptx::parse(&text);
        assert!(module.errors.is_empty(), "{:?}\n{text}", module.errors);
        let kernel = module.kernel("k").expect("the text declares it");
        let options = Options {
            warp_synchronous: seed % 3 == 1,
            barrier_divergence: if seed % 3 == 2 {
                BarrierDivergence::Cta
            } else {
                BarrierDivergence::Warp
            },
            ..Options::default()
        };
        let launch = Launch { block: Some(BLOCK.into()), options, ..Launch::default() };
        let inlined = checked(&module, kernel, Growth::DEFAULT, &launch);
        let shared = checked(&module, kernel, Growth::NONE, &launch);
        if inlined.verdict() == shared.verdict() {
            same += 1;
            assert_eq!(defects(&inlined), defects(&shared), "{seed}\n{text}");
        } else {
            assert_eq!(shared.verdict(), Verdict::Open, "{seed} {:?}\n{text}", inlined.findings);
            coarser += 1;
        }
        clean += u32::from(shared.verdict() == Verdict::Clean);
        refuted += u32::from(shared.verdict() == Verdict::Defect);
        if shared.verdict() == Verdict::Clean {
            let done = |report: &Report| (report.stats.thread_commands, report.stats.generations);
            assert_eq!(done(&inlined), done(&shared), "{seed}\n{text}");
        }
    }
    assert!(same > 590, "{coarser} are open that inlined are not");
    assert!(clean > 100 && refuted > 100, "{clean} clean, {refuted} with defects");
}
