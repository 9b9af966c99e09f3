//! Random kernels in which ctas count themselves: what threads do before and after the atomic, and in the cta that is the last.

use std::fmt::Write;

use crate::dice::Dice;

/// Threads that do something, by their numbers in the cta: two lanes of one warp, and one of another.
pub(crate) const AGENTS: [u32; 3] = [0, 1, 32];

/// A set of agents, a bit each.
pub(crate) type Set = usize;

/// A fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fence {
    /// `fence.sc` for the device.
    Sc,
    /// `fence.acq_rel` for the device.
    AcqRel,
    /// `fence.sc` for the cta.
    OfCta,
}

/// How the atomic orders memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atomic {
    Relaxed,
    Release,
    Acquire,
    AcqRel,
    /// Relaxed, for the cta alone.
    OfCta,
}

/// What agents do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Agents store, each to the word of its cta that is its own.
    Store(Set),
    /// Agents fence.
    Fence(Set, Fence),
    /// Agents fence if an input is 3; in the last cta alone, if so stated.
    PerhapsFence(Set, Fence, bool),
    /// All threads of the cta meet.
    Barrier,
    /// An agent counts its cta, and hands on what the counter held.
    Signal(usize, Atomic),
    /// All threads meet; those of all ctas but the last leave.
    Leave,
    /// An agent loads the word of an agent of the next cta.
    Load(usize, usize),
}

/// Ctas of a kernel, and what they do.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub(crate) ctas: u32,
    pub(crate) steps: Vec<Step>,
}

impl Kernel {
    /// A random kernel.
    pub(crate) fn random(dice: &mut Dice) -> Self {
        let fences = [Fence::Sc, Fence::Sc, Fence::AcqRel, Fence::AcqRel, Fence::OfCta];
        let set = |dice: &mut Dice| if dice.chance(50) { 7 } else { 1 + dice.roll(7) as usize };
        let fence = |dice: &mut Dice| {
            let (set, fence) = (set(dice), dice.pick(&fences));
            match dice.roll(8) {
                0 => Step::PerhapsFence(set, fence, dice.chance(50)),
                _ => Step::Fence(set, fence),
            }
        };
        let agent = |dice: &mut Dice| dice.roll(3) as usize;
        let mut steps = Vec::new();
        for _ in 0..2 + dice.roll(4) {
            steps.push(match dice.roll(4) {
                0 => fence(dice),
                1 => Step::Barrier,
                _ => Step::Store(set(dice)),
            });
        }
        if dice.chance(70) {
            steps.push(fence(dice));
        }
        if dice.chance(60) {
            steps.push(Step::Barrier);
        }
        if dice.chance(30) {
            steps.push(fence(dice));
        }
        let relaxed = [Atomic::Relaxed; 4];
        let others = [Atomic::Release, Atomic::Acquire, Atomic::AcqRel, Atomic::AcqRel];
        let mut atomics: Vec<_> = relaxed.into_iter().chain(others).collect();
        atomics.push(if dice.chance(20) { Atomic::OfCta } else { Atomic::Relaxed });
        steps.push(Step::Signal(agent(dice), dice.pick(&atomics)));
        for _ in 0..dice.roll(3) {
            steps.push(if dice.chance(75) { fence(dice) } else { Step::Store(set(dice)) });
        }
        steps.push(Step::Leave);
        for _ in 0..2 + dice.roll(4) {
            steps.push(match dice.roll(4) {
                0 => fence(dice),
                1 if dice.chance(50) => Step::Barrier,
                _ => Step::Load(agent(dice), agent(dice)),
            });
        }
        Self { ctas: 2 + dice.roll(2), steps }
    }

    /// The kernel as PTX.
    pub(crate) fn print(&self) -> String {
        let mut text = String::from(
            ".version 8.0\n.target sm_80\n.address_size 64\n.global .align 4 .u32 counter = 0;\n\
             .visible .entry k(.param .u64 words, .param .u64 input)\n{\n.reg .pred %p, %last, %perhaps;\n.reg .b32 %thread, %bit, %own, %value, %cta, %next, %input, %ticket;\n\
             .reg .b64 %words, %mine, %other, %at, %words4;\n.shared .align 4 .u32 ticket;\nld.param.u64 %words, [words];\n\
             ld.param.u64 %at, [input];\nld.global.u32 %input, [%at];\nmov.u32 %ticket, 99;\n\
             mov.u32 %cta, %ctaid.x;\nmov.u32 %thread, %tid.x;\nmov.u32 %bit, 0;\n",
        );
        let mut line = |own: String| writeln!(text, "{own}").expect("strings can be written");
        for (at, thread) in AGENTS.iter().enumerate() {
            line(format!("setp.eq.u32 %p, %thread, {thread};\n@%p mov.u32 %bit, {};", 1 << at));
        }
        line("shr.u32 %next, %bit, 1;\nmul.wide.u32 %words4, %next, 4;".to_owned());
        line("mul.wide.u32 %at, %cta, 12;\nadd.u64 %mine, %words, %at;\nadd.u64 %words4, %mine, %words4;".to_owned());
        line(format!("add.u32 %next, %cta, 1;\nrem.u32 %next, %next, {};", self.ctas));
        line("mul.wide.u32 %at, %next, 12;\nadd.u64 %other, %words, %at;".to_owned());
        for step in &self.steps {
            line(self.of(*step));
        }
        text.push_str("DONE:\nret;\n}\n");
        text
    }

    fn of(&self, step: Step) -> String {
        let select =
            |set: Set| format!("and.b32 %own, %bit, {set};\nsetp.ne.u32 %p, %own, 0;\n@%p");
        match step {
            Step::Store(set) => format!("{} st.global.u32 [%words4], %cta;", select(set)),
            Step::Fence(set, fence) => format!("{} {};", select(set), name(fence)),
            Step::PerhapsFence(set, fence, in_last) => {
                let last = self.ctas - 1;
                let is_last = format!(
                    "setp.eq.u32 %last, %ticket, {last};\nand.pred %perhaps, %perhaps, %last;\n"
                );
                let is_last = if in_last { is_last } else { String::new() };
                format!(
                    "and.b32 %own, %bit, {set};\nsetp.ne.u32 %p, %own, 0;\nsetp.eq.u32 %perhaps, %input, 3;\n\
                     {is_last}and.pred %perhaps, %perhaps, %p;\n@%perhaps {};",
                    name(fence)
                )
            }
            Step::Barrier => "bar.sync 0;".to_owned(),
            Step::Signal(agent, atomic) => {
                let atomic = match atomic {
                    Atomic::Relaxed => "relaxed.gpu",
                    Atomic::Release => "release.gpu",
                    Atomic::Acquire => "acquire.gpu",
                    Atomic::AcqRel => "acq_rel.gpu",
                    Atomic::OfCta => "relaxed.cta",
                };
                let select = select(1 << agent);
                format!(
                    "{select} atom.{atomic}.global.add.u32 %value, [counter], 1;\n@%p st.shared.u32 [ticket], %value;"
                )
            }
            Step::Leave => {
                let last = self.ctas - 1;
                format!(
                    "bar.sync 0;\nld.shared.u32 %ticket, [ticket];\nsetp.ne.u32 %last, %ticket, {last};\n@%last bra DONE;"
                )
            }
            Step::Load(agent, word) => {
                format!("{} ld.global.u32 %value, [%other+{}];", select(1 << agent), 4 * word)
            }
        }
    }
}

fn name(fence: Fence) -> &'static str {
    match fence {
        Fence::Sc => "membar.gl",
        Fence::AcqRel => "fence.acq_rel.gpu",
        Fence::OfCta => "membar.cta",
    }
}
