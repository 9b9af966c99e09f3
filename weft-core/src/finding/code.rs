//! The codes of findings: one table of names, classes and summaries, and a page for each.

use std::fmt;

/// Whether a finding is a proved defect, an undecided question or neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Proved wrong.
    Defect,
    /// Neither proved nor refuted.
    Open,
    /// Certain and worth a look, but nothing is wrong yet: the verdict does not depend on it.
    Warning,
}

impl Class {
    /// Returns the class as a noun with its article.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Defect => "a defect",
            Self::Open => "an open question",
            Self::Warning => "a warning",
        }
    }
}

/// The three questions asked about every kernel; each is a test case of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// Deadlock, recycling, counts and divergence of barriers.
    Barriers,
    /// Races on shared memory.
    Shared,
    /// Races on global memory.
    Global,
}

impl Check {
    /// All checks, in the order in which they are reported.
    pub const ALL: [Self; 3] = [Self::Barriers, Self::Shared, Self::Global];

    /// Returns the last part of a test case's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Barriers => "barriers",
            Self::Shared => "shared",
            Self::Global => "global",
        }
    }
}

macro_rules! codes {
    ($($variant:ident $name:literal $class:ident $summary:literal;)*) => {
        /// The kind of a finding; its name is stable and used in weft.toml and JSON.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $summary] $variant,)*
        }

        impl Code {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the stable name, such as `shared-race`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the class: defect, open or warning.
            pub const fn class(self) -> Class {
                match self { $(Self::$variant => Class::$class,)* }
            }

            /// Returns the meaning in one line.
            pub const fn summary(self) -> &'static str {
                match self { $(Self::$variant => $summary,)* }
            }

            /// Returns the page about the code, in Markdown: a title, the rule, a kernel that breaks it, the repaired kernel,
            /// and how to configure what is meant.
            pub const fn page(self) -> &'static str {
                match self {
                    $(Self::$variant => include_str!(concat!("pages/", $name, ".md")),)*
                }
            }
        }
    };
}

codes! {
    Deadlock "deadlock" Defect
        "no thread can run and not all have exited";
    BarrierRecycling "barrier-recycling" Defect
        "a barrier is used again before its last use is known to be complete";
    BarrierCount "barrier-count" Defect
        "a barrier's name, count or kind of use is wrong";
    BarrierDivergence "barrier-divergence" Defect
        "threads that must reach one barrier together stand at different ones, or some go around it";
    MbarrierMisuse "mbarrier-misuse" Defect
        "an mbarrier object is used wrongly: not initialized, too many arrivals, a count out of range";
    MbarrierPhase "mbarrier-phase" Defect
        "which phase of an mbarrier object an arrival or a wait belongs to depends on the schedule";
    RegisterPool "register-pool" Defect
        "warps wait for registers that no warp releases";
    TensorMemory "tensor-memory" Defect
        "tensor memory is used wrongly: not allocated, not freed, or accessed by the wrong warp";
    SharedRace "shared-race" Defect
        "two threads access the same shared memory without order";
    GlobalRace "global-race" Defect
        "two threads access the same global memory without order";
    AsyncRace "async-race" Defect
        "an asynchronous copy and another access of the same memory happen without order";
    ProxyFence "proxy-fence" Defect
        "no `fence.proxy.async` lies between an access of a thread and a later bulk copy or product of the same memory";
    ClusterLifetime "cluster-lifetime" Defect
        "a thread accesses the shared memory of another cta of its cluster that might not have begun yet, or have ended";
    BenignRace "benign-race" Defect
        "racing writes that provably store the same value";
    UnorderedStrong "unordered-strong" Defect
        "conflicting volatile accesses that nothing orders";
    WarpMask "warp-mask" Defect
        "the mask of a warp-level instruction does not fit the lanes that execute it";
    OutOfBounds "out-of-bounds" Defect
        "an access outside of every shared variable, or outside of every buffer, or a write to what may only be read";
    Misaligned "misaligned" Defect
        "an access whose address is not a multiple of its size";
    Uninitialized "uninitialized" Defect
        "a branch, an address or a barrier depends on shared memory that nothing wrote";
    UninitializedValue "uninitialized-value" Warning
        "shared memory that nothing wrote is read";
    BarrierExit "barrier-exit" Warning
        "some lanes of a warp have ended before an aligned barrier that the others wait at";
    Trap "trap" Warning
        "a thread aborts the launch";
    DependsOnInput "depends-on-input" Open
        "the answer depends on a value that the launch leaves open";
    PossibleRace "possible-race" Open
        "two accesses might conflict, depending on open values";
    RaceForInput "race-for-input" Open
        "a race or a defective barrier for a concrete input that nothing states";
    Unsupported "unsupported" Open
        "an instruction that the emulator does not model decides control flow, an address or a barrier";
    Limit "limit" Open
        "a stated limit of the checker was reached";
    Vacuous "vacuous" Open
        "none of the kernel's accesses and barriers was reached";
    NoLaunch "no-launch" Open
        "the block size of this kernel is not stated, or block or grid can be any";
}

impl Code {
    /// Returns the rule in a paragraph: the beginning of the page.
    pub fn explanation(self) -> String {
        let rule = self.page().split("\n## ").next().unwrap_or_default();
        let paragraph = rule.split_once('\n').map_or("", |(_, text)| text);
        paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns the code with this name; `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.name() == name)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
