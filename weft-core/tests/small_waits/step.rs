//! Random kernels whose threads wait for values: what each cta does, and how it is written as PTX.

use std::fmt::Write;

/// A set of agents, a bit each.
pub(crate) type Set = u32;

/// All threads of the cta, also those that are no agents.
pub(crate) const EVERYONE: Set = !0;

/// How an operation orders memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Weak,
    Volatile,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
}

/// The threads for which an operation is strong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Cta,
    Gpu,
    Sys,
}

impl Scope {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Cta => "cta",
            Self::Gpu => "gpu",
            Self::Sys => "sys",
        }
    }
}

/// What an atomic does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Add(u32),
    /// The same as a reduction, which hands nothing to its thread.
    Reduce(u32),
    Exchange(u32),
}

/// What a value has to be for a wait to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    Equal(u32),
    Differs(u32),
    AtLeast(u32),
    MoreThan(u32),
}

impl Until {
    pub(crate) const fn holds(self, value: u32) -> bool {
        match self {
            Self::Equal(of) => value == of,
            Self::Differs(of) => value != of,
            Self::AtLeast(of) => value >= of,
            Self::MoreThan(of) => value > of,
        }
    }

    /// The comparison that holds, the one that holds otherwise, and the number.
    const fn names(self) -> (&'static str, &'static str, u32) {
        match self {
            Self::Equal(of) => ("eq", "ne", of),
            Self::Differs(of) => ("ne", "eq", of),
            Self::AtLeast(of) => ("ge", "lt", of),
            Self::MoreThan(of) => ("gt", "le", of),
        }
    }
}

/// What agents do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Stores a word of data. Words of ctas are numbered from that of the cta, if so stated.
    Put { word: u32, of_cta: bool },
    /// Loads a word of data.
    Get { word: u32, of_cta: bool },
    /// Stores a value to a sync word.
    Store { sync: usize, value: u32, order: Order, scope: Scope },
    /// Loads a sync word once, for nothing.
    Load { sync: usize, order: Order, scope: Scope },
    /// Changes a sync word.
    Atomic { sync: usize, change: Change, order: Order, scope: Scope },
    /// Loads a sync word until its value passes; written in one of several ways.
    Wait { sync: usize, until: Until, order: Order, scope: Scope, style: u32 },
    /// `fence.sc` or `fence.acq_rel`.
    Fence { is_sc: bool, scope: Scope },
    /// All threads of the cta meet.
    Barrier,
}

/// A step, and who takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// A bit for each cta.
    pub(crate) ctas: u32,
    pub(crate) agents: Set,
    pub(crate) step: Step,
}

/// Ctas of a kernel, and what they do.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub(crate) ctas: u32,
    pub(crate) block: u32,
    /// The threads that do something, by their numbers in the cta.
    pub(crate) agents: Vec<u32>,
    /// Words of data.
    pub(crate) words: u32,
    /// What each sync word holds at the launch.
    pub(crate) syncs: Vec<u32>,
    /// Whether the sync words are in a buffer, of which nothing states what it holds, instead of variables. They are zero.
    pub(crate) is_buffer: bool,
    /// Whether each cta has code of its own.
    pub(crate) is_apart: bool,
    pub(crate) slots: Vec<Slot>,
}

impl Kernel {
    /// The word of data of a cta.
    pub(crate) const fn word(&self, word: u32, of_cta: bool, cta: u32) -> u32 {
        if of_cta { (word + cta) % self.words } else { word % self.words }
    }

    /// The kernel as PTX.
    pub(crate) fn print(&self) -> String {
        let mut text = String::from(".version 8.0\n.target sm_80\n.address_size 64\n");
        let mut line = |own: &str| writeln!(text, "{own}").expect("strings can be written");
        for (at, held) in self.syncs.iter().enumerate() {
            line(&format!(".global .align 4 .u32 s{at} = {held};"));
        }
        line(".visible .entry k(.param .u64 data, .param .u64 syncs)\n{");
        line(".reg .pred %p, %q, %r;\n.reg .b32 %thread, %cta, %bit, %set, %value, %word;");
        line(
            ".reg .b64 %data, %syncs, %at;\nld.param.u64 %data, [data];\nld.param.u64 %syncs, [syncs];",
        );
        line("mov.u32 %thread, %tid.x;\nmov.u32 %cta, %ctaid.x;\nmov.u32 %bit, 0;");
        for (at, thread) in self.agents.iter().enumerate() {
            line(&format!("setp.eq.u32 %p, %thread, {thread};\n@%p mov.u32 %bit, {};", 1 << at));
        }
        if self.is_apart {
            for cta in 1..self.ctas {
                line(&format!("setp.eq.u32 %p, %cta, {cta};\n@%p bra CTA{cta};"));
            }
            for cta in 0..self.ctas {
                line(&format!("CTA{cta}:"));
                for (at, slot) in self.slots.iter().enumerate() {
                    if slot.ctas >> cta & 1 == 1 {
                        line(&self.of(*slot, at, Some(cta)));
                    }
                }
                line("ret;");
            }
        } else {
            for (at, slot) in self.slots.iter().enumerate() {
                line(&self.of(*slot, at, None));
            }
            line("ret;");
        }
        line("}");
        text
    }

    /// The code of a step, which only some ctas and agents run: branches around it.
    fn of(&self, slot: Slot, at: usize, cta: Option<u32>) -> String {
        let name = cta.map_or_else(|| at.to_string(), |cta| format!("{at}_{cta}"));
        let mut text = String::new();
        let mut line = |own: String| writeln!(text, "{own}").expect("strings can be written");
        let is_everyone = matches!(slot.step, Step::Barrier) || slot.agents == EVERYONE;
        if cta.is_none() && slot.ctas != (1 << self.ctas) - 1 {
            line(format!("mov.u32 %set, {};\nshr.u32 %set, %set, %cta;", slot.ctas));
            line(format!("and.b32 %set, %set, 1;\nsetp.eq.u32 %p, %set, 0;\n@%p bra N{name};"));
        }
        if !is_everyone {
            line(format!("and.b32 %set, %bit, {};\nsetp.eq.u32 %p, %set, 0;", slot.agents));
            line(format!("@%p bra N{name};"));
        }
        if matches!(slot.step, Step::Put { .. }) {
            // No two threads store the same value.
            line(format!(
                "mad.lo.u32 %value, %bit, 4, {};\nadd.u32 %value, %value, %cta;",
                64 * at
            ));
        }
        line(self.body(slot.step, &name, cta));
        line(format!("N{name}:"));
        text
    }

    fn body(&self, step: Step, name: &str, cta: Option<u32>) -> String {
        let place = |sync: usize| {
            if self.is_buffer { format!("[%syncs+{}]", 4 * sync) } else { format!("[s{sync}]") }
        };
        match step {
            Step::Put { word, of_cta } => {
                self.data(word, of_cta, cta, |at| format!("st.global.u32 {at}, %value;"))
            }
            Step::Get { word, of_cta } => {
                self.data(word, of_cta, cta, |at| format!("ld.global.u32 %value, {at};"))
            }
            Step::Store { sync, value, order, scope } => {
                format!("st{}.global.u32 {}, {value};", suffix(order, scope), place(sync))
            }
            Step::Load { sync, order, scope } => {
                format!("ld{}.global.u32 %value, {};", suffix(order, scope), place(sync))
            }
            Step::Atomic { sync, change, order, scope } => {
                let (suffix, place) = (suffix(order, scope), place(sync));
                match change {
                    Change::Add(by) => {
                        format!("atom{suffix}.global.add.u32 %value, {place}, {by};")
                    }
                    Change::Reduce(by) => format!("red{suffix}.global.add.u32 {place}, {by};"),
                    Change::Exchange(to) => {
                        format!("atom{suffix}.global.exch.b32 %value, {place}, {to};")
                    }
                }
            }
            Step::Wait { sync, until, order, scope, style } => {
                let (passes, fails, number) = until.names();
                let load =
                    format!("ld{}.global.u32 %value, {};", suffix(order, scope), place(sync));
                let ask = |name| format!("{load}\nsetp.{name}.u32 %q, %value, {number};");
                match style {
                    0 => format!("L{name}:\n{}\n@%q bra L{name};", ask(fails)),
                    1 => format!("L{name}:\n{}\n@!%q bra L{name};", ask(passes)),
                    2 => format!("L{name}:\n{}\n@%q bra N{name};\nbra L{name};", ask(passes)),
                    _ => format!(
                        "{}\n@%q bra N{name};\nL{name}:\n{}\n@%q bra L{name};",
                        ask(passes),
                        ask(fails)
                    ),
                }
            }
            Step::Fence { is_sc: true, scope: Scope::Gpu } => "membar.gl;".to_owned(),
            Step::Fence { is_sc, scope } => {
                format!("fence.{}.{};", if is_sc { "sc" } else { "acq_rel" }, scope.name())
            }
            Step::Barrier => "bar.sync 0;".to_owned(),
        }
    }

    /// An access to a word of data; the word is computed, if several ctas run the code and each has its own.
    fn data(
        &self,
        word: u32,
        of_cta: bool,
        cta: Option<u32>,
        access: impl Fn(String) -> String,
    ) -> String {
        if of_cta && cta.is_none() {
            return format!(
                "add.u32 %word, %cta, {word};\nrem.u32 %word, %word, {};\nmul.wide.u32 %at, %word, 4;\n\
                 add.u64 %at, %data, %at;\n{}",
                self.words,
                access("[%at]".to_owned())
            );
        }
        let word = self.word(word, of_cta, cta.unwrap_or(0));
        access(format!("[%data+{}]", 4 * word))
    }
}

fn suffix(order: Order, scope: Scope) -> String {
    let name = match order {
        Order::Weak => return String::new(),
        Order::Volatile => return ".volatile".to_owned(),
        Order::Relaxed => "relaxed",
        Order::Acquire => "acquire",
        Order::Release => "release",
        Order::AcqRel => "acq_rel",
    };
    format!(".{name}.{}", scope.name())
}
