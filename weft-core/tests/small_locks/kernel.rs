//! Random kernels whose threads take locks: what each thread does, and how it is written as PTX.

use std::fmt::Write;

/// Words that can be locked.
pub(crate) const LOCKS: usize = 2;
/// Words of data.
pub(crate) const WORDS: usize = 3;

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

impl Order {
    pub(crate) const fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcqRel)
    }

    pub(crate) const fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcqRel)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Weak => "",
            Self::Volatile => ".volatile",
            Self::Relaxed => ".relaxed",
            Self::Acquire => ".acquire",
            Self::Release => ".release",
            Self::AcqRel => ".acq_rel",
        }
    }
}

/// An order, and whether it holds for the threads of the device or of a cta.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strength {
    pub(crate) order: Order,
    pub(crate) is_wide: bool,
}

impl Strength {
    /// As modifiers; a volatile access has no scope.
    fn name(self) -> String {
        let scope = if self.is_wide { ".gpu" } else { ".cta" };
        match self.order {
            Order::Weak | Order::Volatile => self.order.name().to_owned(),
            order => format!("{}{scope}", order.name()),
        }
    }
}

/// How a thread asks for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asking {
    /// Again and again before the critical section.
    Before,
    /// Likewise, with the first try in front of the loop.
    Peeled,
    /// Again and again, in a loop around the critical section.
    Around,
    /// Once; the critical section is left out if the lock is taken.
    Once,
}

/// A critical section.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub(crate) lock: usize,
    pub(crate) asking: Asking,
    /// Whether the lock is taken by `cas`; otherwise by `exch`.
    pub(crate) is_cas: bool,
    /// Whether the thread goes into the critical section if the lock is taken already.
    pub(crate) is_reversed: bool,
    pub(crate) take: Strength,
    pub(crate) inside: Vec<Step>,
    /// How the lock is released, what the word then holds, and whether by an atomic.
    pub(crate) release: Option<(Strength, u32, bool)>,
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Section(Section),
    /// Loads or stores a word of data.
    Access {
        word: usize,
        writes: bool,
    },
    Fence(Strength),
    /// Writes to a word that can be locked.
    Write {
        lock: usize,
        value: u32,
        strength: Strength,
        is_atomic: bool,
    },
    /// All threads of the cta meet.
    Barrier,
}

/// A step, and the threads that take it: a bit for each agent of each cta.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) agents: u32,
    pub(crate) step: Step,
}

#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub(crate) ctas: u32,
    pub(crate) block: u32,
    /// The threads of each cta that do something.
    pub(crate) agents: Vec<u32>,
    /// Whether the words that can be locked are in shared memory; and whether the data are.
    pub(crate) is_shared: bool,
    pub(crate) is_data_shared: bool,
    pub(crate) parts: Vec<Part>,
}

impl Kernel {
    fn space(&self) -> &'static str {
        if self.is_shared { "shared" } else { "global" }
    }

    fn data_space(&self) -> &'static str {
        if self.is_data_shared { "shared" } else { "global" }
    }

    pub(crate) fn print(&self) -> String {
        let mut text = String::from(".version 8.6\n.target sm_90\n.address_size 64\n");
        text += ".visible .entry k(.param .u64 data, .param .u64 locks)\n{\n";
        text += ".reg .pred %p, %q;\n.reg .b32 %thread, %cta, %bit, %set, %value, %found;\n";
        text += ".reg .b64 %data, %locks;\n";
        text += "ld.param.u64 %data, [data];\nld.param.u64 %locks, [locks];\n";
        if self.is_shared {
            text += ".shared .align 4 .b8 l[8];\nmov.u64 %locks, l;\n";
        }
        if self.is_data_shared {
            text += ".shared .align 4 .b8 d[12];\nmov.u64 %data, d;\n";
        }
        text += "mov.u32 %thread, %tid.x;\nmov.u32 %cta, %ctaid.x;\nmov.u32 %bit, 0;\n";
        for (at, thread) in self.agents.iter().enumerate() {
            let bit = 1 << at;
            let _ = writeln!(text, "setp.eq.u32 %p, %thread, {thread};\n@%p mov.u32 %bit, {bit};");
        }
        let _ = writeln!(text, "mul.lo.u32 %cta, %cta, {};", self.agents.len());
        text += "shl.b32 %bit, %bit, %cta;\n";
        if self.is_shared {
            text += "setp.ne.u32 %p, %thread, 0;\n@%p bra SET;\n";
            text += "st.shared.u32 [%locks], 0;\nst.shared.u32 [%locks+4], 0;\nSET:\nbar.sync 0;\n";
        }
        for (at, part) in self.parts.iter().enumerate() {
            if matches!(part.step, Step::Barrier) {
                text += "bar.sync 0;\n";
                continue;
            }
            let agents = part.agents;
            let _ = writeln!(text, "and.b32 %set, %bit, {agents};\nsetp.eq.u32 %p, %set, 0;");
            let _ = writeln!(text, "@%p bra N{at};");
            self.step(&part.step, &at.to_string(), &mut text);
            let _ = writeln!(text, "N{at}:");
        }
        text + "ret;\n}\n"
    }

    fn step(&self, step: &Step, name: &str, text: &mut String) {
        let space = self.data_space();
        let mut line = |own: String| {
            *text += &own;
            text.push('\n');
        };
        match step {
            Step::Access { word, writes: true } => {
                line(format!("st.{space}.u32 [%data+{}], %bit;", 4 * word));
            }
            Step::Access { word, writes: false } => {
                line(format!("ld.{space}.u32 %value, [%data+{}];", 4 * word));
            }
            Step::Fence(strength) => {
                let order =
                    if strength.order == Order::Relaxed { ".sc" } else { strength.order.name() };
                line(format!("fence{order}.{};", if strength.is_wide { "gpu" } else { "cta" }));
            }
            Step::Write { lock, value, strength, is_atomic } => {
                line(self.write(*lock, *strength, *value, *is_atomic));
            }
            Step::Barrier => line("bar.sync 0;".to_owned()),
            Step::Section(section) => self.section(section, name, text),
        }
    }

    fn write(&self, lock: usize, strength: Strength, value: u32, is_atomic: bool) -> String {
        let (space, order, at) = (self.space(), strength.name(), 4 * lock);
        if is_atomic {
            format!("atom{order}.{space}.exch.b32 %found, [%locks+{at}], {value};")
        } else {
            format!("st{order}.{space}.u32 [%locks+{at}], {value};")
        }
    }

    fn section(&self, section: &Section, name: &str, text: &mut String) {
        let Section { lock, asking, is_cas, is_reversed, take, inside, release } = section;
        let (space, order, at) = (self.space(), take.name(), 4 * lock);
        let (passes, fails) = if *is_reversed { ("ne", "eq") } else { ("eq", "ne") };
        let atomic = if *is_cas {
            format!("atom{order}.{space}.cas.b32 %found, [%locks+{at}], 0, 1;")
        } else {
            format!("atom{order}.{space}.exch.b32 %found, [%locks+{at}], 1;")
        };
        if *asking == Asking::Peeled {
            let _ = writeln!(text, "{atomic}\nsetp.{passes}.u32 %q, %found, 0;\n@%q bra I{name};");
        }
        let _ = writeln!(text, "L{name}:\n{atomic}");
        let is_before = matches!(asking, Asking::Before | Asking::Peeled);
        let leave = if is_before { "L" } else { "E" };
        // Both ways to write the branch.
        let _ = if name.len().is_multiple_of(2) || *asking == Asking::Around {
            writeln!(text, "setp.{fails}.u32 %q, %found, 0;\n@%q bra {leave}{name};")
        } else {
            writeln!(text, "setp.{passes}.u32 %q, %found, 0;\n@!%q bra {leave}{name};")
        };
        if *asking == Asking::Peeled {
            let _ = writeln!(text, "I{name}:");
        }
        for (number, step) in inside.iter().enumerate() {
            self.step(step, &format!("{name}_{number}"), text);
        }
        if let Some((strength, value, is_atomic)) = release {
            *text += &self.write(*lock, *strength, *value, *is_atomic);
            text.push('\n');
        }
        if *asking == Asking::Around {
            let _ = writeln!(text, "bra D{name};\nE{name}:\nbra L{name};\nD{name}:");
        } else if *asking == Asking::Once {
            let _ = writeln!(text, "E{name}:");
        }
    }
}
