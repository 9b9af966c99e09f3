//! The codes of findings: one table of names, classes, summaries and explanations.

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
    ($($variant:ident $name:literal $class:ident $summary:literal $explanation:literal;)*) => {
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

            /// Returns what the code means, what it assumes and what to do about it.
            pub const fn explanation(self) -> &'static str {
                match self { $(Self::$variant => $explanation,)* }
            }
        }
    };
}

codes! {
    Deadlock "deadlock" Defect
        "no thread can run and not all have exited"
        "Every thread that has not exited waits at a barrier whose remaining participants never come: they wait \
         elsewhere or have exited. The report names each waiting group, its barrier, how many threads the barrier \
         expects and how many have come. Look for warps that pass barriers in a different order, for a count that \
         includes warps which do not take part, and for an early return in front of a counted barrier.";
    BarrierRecycling "barrier-recycling" Defect
        "a barrier is used again before its last use is known to be complete"
        "A warp takes part in the next generation of a barrier although nothing orders it after the completion of \
         the previous one. Under another schedule its arrival is counted for the wrong generation, and threads pass \
         or wait that should not. Let the warp wait (`bar.sync`) on this barrier, or on another one that is reached \
         only after completion, before it uses the name again; or use a second barrier name.";
    BarrierCount "barrier-count" Defect
        "a barrier's name, count or kind of use is wrong"
        "All participants of one generation must state the same thread count, a positive multiple of the warp size \
         not larger than the cta; barrier names run from 0 to 15; `bar.red` must not share a generation with \
         `bar.sync` or `bar.arrive`.";
    BarrierDivergence "barrier-divergence" Defect
        "threads that must reach one barrier together stand at different ones, or some go around it"
        "Lanes of one warp wait at different barrier instructions although one of them is `.aligned` (every `bar.X`, \
         and so every `__syncthreads`, is); or some lanes wait at one, and others go around it at a branch and then access \
         memory, wait or exchange values, as after `if (lane < 16) __syncthreads();`. PTX leaves the behaviour \
         undefined. Move the barrier out of the branch. \
         Under `barrier-divergence = \"cta\"` the same is asked of all threads of the cta, loop counters included.";
    SharedRace "shared-race" Defect
        "two threads access the same shared memory without order"
        "Two threads of a cta access overlapping bytes of shared memory, at least one of them writes, and no chain \
         of program order and barriers orders the two. Put a barrier between them that both threads take part in.";
    GlobalRace "global-race" Defect
        "two threads access the same global memory without order"
        "Two threads access overlapping bytes of global memory, at least one of them writes, and nothing orders the \
         two. Threads of one cta are ordered by its barriers, threads of different ctas by nothing within a launch.";
    BenignRace "benign-race" Defect
        "racing writes that provably store the same value"
        "Two threads write the same location without order, but every racing write provably stores the same value. \
         If this is intended, allow it in weft.toml: `allow = [{ code = \"benign-race\", at = \"file.cu:line\", \
         reason = \"...\" }]`.";
    UnorderedStrong "unordered-strong" Defect
        "conflicting volatile or relaxed accesses that nothing orders"
        "Both accesses are strong (volatile, relaxed, acquire, release) with scopes that include each other, so PTX \
         does not call them a data race; yet nothing orders them and the value read depends on the schedule. Allow \
         it if the algorithm means it.";
    WarpMask "warp-mask" Defect
        "the mask of a warp-level instruction does not fit the lanes that execute it"
        "A lane executes a `.sync` warp instruction with a mask that does not contain it, or the mask names lanes \
         that never come, though they have not exited. Both are undefined behaviour. Compute the mask before the \
         branch, and let every lane of the mask reach the instruction.";
    OutOfBounds "out-of-bounds" Defect
        "an access outside of every shared variable, or outside of every buffer, or a write to what may only be read"
        "The address lies in no shared variable of the kernel and not in its dynamic shared memory, whose size the \
         launch gives, in no global variable, or outside a buffer whose size the launch gives. What lies beside a \
         variable is up to the assembler: it may be another variable. Or a write goes to constant memory or to the \
         kernel's parameters, through a generic address.";
    Misaligned "misaligned" Defect
        "an access whose address is not a multiple of its size"
        "PTX requires natural alignment of every access, vectors included.";
    Uninitialized "uninitialized" Defect
        "a branch, an address or a barrier depends on shared memory that nothing wrote"
        "A thread reads shared memory that no thread has written before, and the value decides where the thread goes, \
         what it accesses or which barrier it waits at. Shared memory has no initial contents: store there first, and \
         put a barrier between.";
    UninitializedValue "uninitialized-value" Warning
        "shared memory that nothing wrote is read"
        "A thread reads shared memory that no thread has written before. No branch, address or barrier depends on \
         the value as far as it was followed; whether it goes into a result was not examined.";
    BarrierExit "barrier-exit" Warning
        "some lanes of a warp have ended before an aligned barrier that the others wait at"
        "Some lanes of the warp return early, or go around the barrier and then do nothing that other threads could \
         observe. PTX does not wait for threads that have exited, so that this is no defect. CUDA asks that all \
         threads of the block reach a `__syncthreads`, and an access added behind it would break PTX's rule too. Let \
         the lanes that have nothing to do reach the barrier. With `barrier-divergence = \"cta\"` it is a defect that \
         some threads of the block do not reach a barrier.";
    Trap "trap" Warning
        "a thread aborts the launch"
        "A thread executes `trap`, fails an assertion or calls a null pointer. The launch ends with an error, so that \
         barriers which wait for the thread are no deadlock.";
    DependsOnInput "depends-on-input" Open
        "the answer depends on a value that the launch leaves open"
        "A branch, an address or a barrier operand depends on an argument or on memory contents that are not given. \
         Give the argument in weft.toml (`args = { 2 = 1024 }`), or the contents of the buffer (`args = { 3 = { u64 \
         = [4, 4] } }`). The result of an atomic is open too; that a counter does not repeat its values is taken into \
         account where that settles more (`atomics = \"auto\"`).";
    PossibleRace "possible-race" Open
        "two accesses might conflict, depending on open values"
        "One of the two accesses has an open address or lies under an open condition. Give the values that the \
         finding names.";
    RaceForInput "race-for-input" Open
        "a race or a defective barrier for a concrete input that nothing states"
        "The kernel was run with a few concrete inputs: arguments, contents of buffers and, if nobody states them, block and \
         grid. With the input that the finding names the defect is certain, but the host \
         might never pass this input. The help is a part of weft.toml with which the check reports the defect itself. \
         If the input can occur, correct the kernel; otherwise state in weft.toml the inputs that occur. With `inputs = \
         \"any\"`, which says that the host might pass any value that the launch leaves open, the defect is reported as \
         such. `witness` is the number of inputs to try, or `\"off\"`.";
    Unsupported "unsupported" Open
        "an instruction that the emulator does not model decides control flow, an address or a barrier"
        "The instruction parses but its effect is not modelled, or the function that is called has no body in the module, \
         and what follows depends on it.";
    Limit "limit" Open
        "a stated limit of the checker was reached"
        "Emulation stopped before the kernel ended. Choose a smaller launch or smaller trip counts, or give the check \
         more with `limit` in weft.toml or `--limit` and `--limit-memory`.";
    Vacuous "vacuous" Open
        "none of the kernel's accesses and barriers was reached"
        "With this launch no thread reaches an access or a barrier, so nothing was proved. Choose arguments with \
         which the kernel does its work.";
    NoLaunch "no-launch" Open
        "the block size of this kernel is not stated, or block or grid can be any"
        "Give `block` in weft.toml for this kernel, or state it in the kernel with `.reqntid`; `__launch_bounds__` states only \
         a bound. The help names a block with which the kernel is clean, if one was found. For a block or grid of \
         `\"any\"` size, give a launch for each size that is meant.";
}

impl Code {
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
