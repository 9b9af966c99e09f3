//! The assumptions that a verdict can rest on, and their sentences in reports.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::launch::Dim3;
use crate::launch::requires::Requirement;

/// Something that a clean verdict takes for granted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Assumption {
    /// Pointer arguments point to different buffers.
    DisjointBuffers,
    /// Accesses through pointer arguments stay within buffers whose sizes the launch does not state.
    WithinBuffers,
    /// These arguments are pointers: addresses might come from them, but it is not certain that any does.
    Pointers(Vec<String>),
    /// Accesses at open addresses stay within their variables.
    WithinVariables,
    /// These variables and buffers are aligned to more than their declarations state.
    Aligned(Vec<Alignment>),
    /// The addresses of these variables and buffers decide something, and only one address of each was tried.
    Places(Vec<String>),
    /// Shared memory is accessed at numbers instead of addresses of variables, so that it is taken to begin at 0.
    SharedFromZero,
    /// The launch does not state the size of dynamic shared memory; accesses need this many bytes.
    DynamicShared(u64),
    /// Lanes of a warp run in lock step.
    WarpSynchronous,
    /// Counters of `atomics = "unique"` do not wrap around.
    UniqueCounters,
    /// The launch states no grid: one cta was checked.
    OneCta,
    /// The launch states no grid: a grid of this size was checked.
    OrdinaryGrid([u32; 3]),
    /// Initialised variables hold their initial values.
    InitialValues,
    /// A cycle has several entries, so that its iterations cannot be counted.
    UncountedLoops,
    /// Barrier divergence is switched off.
    NoDivergence,
    /// Some accesses have open addresses, so that their bounds and alignment are not checked.
    OpenAddresses,
    /// Loads of shared memory at open addresses read what was written before.
    Written,
    /// Open indices of `brx.idx` are in the range of its targets.
    Targets,
    /// `elect.sync` elects the lowest lane.
    Elected,
    /// `activemask` finds only lanes active together that came to it together.
    Grouped,
    /// Each cta is a cluster of its own.
    OneCtaClusters,
    /// Proxy fences order accesses of other threads too.
    ProxyFences,
    /// Arrivals and waits at mbarriers without a scope order the threads of the cluster.
    MbarrierScopes,
    /// The fences of registers stand that products of matrices need.
    ProductFences,
    /// Tensor cores do what a thread issues in order, and no `tcgen05.fence` is missing.
    TensorCores,
    /// Of the orders in which ctas take over the work of others, two are run.
    Takeovers,
    /// Counters by which ctas signal to each other hold zero at the launch, if nothing states what they hold.
    ZeroCounters,
    /// Tensor copies access no memory that anything else writes.
    TensorsUnwritten,
    /// What tensor copies write, nothing else accesses.
    TensorsApart,
    /// Tensor maps have boxes of these sizes in bytes: so many fill what phases of mbarriers expect.
    Boxes(Vec<(String, u64)>),
    /// Sums that depend on open values do not wrap around.
    UnwrappedIndices,
    /// Loops without memory accesses and barriers end.
    LoopsEnd,
    /// All loops end, whatever they wait for.
    AllLoopsEnd,
    /// Divisors are not zero.
    NonzeroDivisors,
    /// Arguments and contents of buffers by which signed numbers are divided are positive.
    PositiveDivisors,
    /// Loops that wait for an open value, and do not count up to it, end.
    WaitsEnd,
    /// `setmaxnreg.inc` does not wait for ever.
    RegistersFree,
    /// Memory that is read through textures and surfaces is not written by the launch.
    TexturesUnwritten,
    /// Threads do not trap on open values.
    NoTrap,
    /// The block size is a guess within `.maxntid`.
    GuessedBlock,
    /// Blocks have a multiple of 32 threads in x: the kernel exchanges values between all lanes of warps.
    WholeWarps,
    /// Launches fulfil these conditions of `requires`, in their order.
    Required(Vec<String>),
    /// A solver outside of this library, with this name, answers right.
    Solver(String),
}

impl Assumption {
    /// Returns the assumption that launches fulfil these requirements; `None` if there are none. With each requirement come the
    /// names of those arguments in it that are signed numbers.
    pub fn required<'r>(
        requires: impl Iterator<Item = (&'r Requirement, BTreeSet<String>)>,
    ) -> Option<Self> {
        let text = |(requirement, signed): (&Requirement, BTreeSet<String>)| {
            let names = signed.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            match signed.len() {
                0 => requirement.to_string(),
                1 => format!("{requirement} ({names} is signed)"),
                _ => format!("{requirement} ({names} are signed)"),
            }
        };
        let all: Vec<_> = requires.map(text).collect();
        (!all.is_empty()).then_some(Self::Required(all))
    }

    /// Returns the sentence used in reports.
    pub fn sentence(&self) -> Cow<'static, str> {
        match self {
            Self::Aligned(all) => {
                let (words, more): (Vec<_>, Vec<_>) =
                    all.iter().partition(|alignment| is_of_words(alignment));
                let more: Vec<_> = more.into_iter().map(aligned).collect();
                match (words.is_empty(), more.is_empty()) {
                    (_, true) => Cow::Borrowed(OF_WORDS),
                    (true, false) => {
                        format!("aligned beyond what is declared: {}", more.join(", ")).into()
                    }
                    _ => format!("{OF_WORDS}; beyond that: {}", more.join(", ")).into(),
                }
            }
            &Self::OrdinaryGrid([x, y, z]) => {
                format!("no grid is stated: a grid of {} ctas was checked", Dim3 { x, y, z }).into()
            }
            Self::DynamicShared(bytes) => {
                format!("{}: at least {bytes} bytes", self.general()).into()
            }
            Self::Pointers(names) => format!("{}: {}", self.general(), names.join(", ")).into(),
            Self::Places(names) => format!("{PLACES}: {}", names.join(", ")).into(),
            Self::Boxes(all) => {
                let one = |(name, bytes): &(String, u64)| format!("{bytes} bytes with {name}");
                let all: Vec<_> = all.iter().map(one).collect();
                format!("{}: {}", self.general(), all.join(", ")).into()
            }
            Self::Required(all) => format!("{}: {}", self.general(), all.join(", ")).into(),
            Self::Solver(name) => format!("{}: `{name}`", self.general()).into(),
            _ => self.general().into(),
        }
    }

    /// Returns the sentence for several kernels, which names nothing of a single kernel.
    pub fn general(&self) -> &'static str {
        match self {
            Self::DisjointBuffers => "pointer arguments point to buffers that do not overlap",
            Self::WithinBuffers => "accesses through pointer arguments stay within their buffers",
            Self::Pointers(_) => "arguments that addresses might come from are pointers",
            Self::WithinVariables => {
                "accesses at open addresses stay within the variable from whose address they start"
            }
            Self::Aligned(all) if all.iter().all(is_of_words) => OF_WORDS,
            Self::Aligned(_) => {
                "pointer arguments and variables are aligned as their kernel needs it, beyond what is declared"
            }
            Self::Places(_) => PLACES,
            Self::SharedFromZero => {
                "shared memory begins at address 0, and its variables lie in it in the order of their declaration"
            }
            Self::DynamicShared(_) => "dynamic shared memory is as large as the accesses need",
            Self::WarpSynchronous => LOCK_STEP,
            Self::UniqueCounters => {
                "counters that atomics only increase, or only decrease, do not wrap around, nor do indices made of \
                 their values (atomics = \"unique\")"
            }
            Self::OneCta => ONE_CTA,
            Self::OrdinaryGrid(_) => "no grid is stated: a grid of a few ctas was checked",
            Self::InitialValues => "initialised variables hold their initial values at the launch",
            Self::UncountedLoops => {
                "threads reach barriers inside loops with several entries in the same iterations"
            }
            Self::NoDivergence => NO_DIVERGENCE,
            Self::OpenAddresses => OPEN_ADDRESSES,
            Self::Written => WRITTEN,
            Self::Targets => TARGETS,
            Self::Elected => "`elect.sync` elects the lowest lane of its mask",
            Self::Grouped => GROUPED,
            Self::OneCtaClusters => ONE_CTA_CLUSTERS,
            Self::ProxyFences => PROXY_FENCES,
            Self::MbarrierScopes => MBARRIER_SCOPES,
            Self::ProductFences => PRODUCT_FENCES,
            Self::TensorCores => TENSOR_CORES,
            Self::Takeovers => TAKEOVERS,
            Self::ZeroCounters => ZERO_COUNTERS,
            Self::TensorsUnwritten => "nothing writes the tensors that tensor copies read",
            Self::TensorsApart => TENSORS_APART,
            Self::Boxes(_) => "the boxes of tensor copies fill what phases of mbarriers expect",
            Self::UnwrappedIndices => "indices that depend on open values do not wrap around",
            Self::LoopsEnd => "loops without memory accesses and barriers end",
            Self::AllLoopsEnd => "all loops end",
            Self::NonzeroDivisors => "no number is divided by zero",
            Self::PositiveDivisors => "signed divisors in arguments or buffers are positive",
            Self::WaitsEnd => "loops that wait for a value, rather than count to a bound, end",
            Self::RegistersFree => "`setmaxnreg.inc` gets the registers that it waits for",
            Self::TexturesUnwritten => "no thread writes what textures and surfaces read",
            Self::NoTrap => "threads do not abort the launch because of an open value",
            Self::WholeWarps => WHOLE_WARPS,
            Self::GuessedBlock => "the block size is a guess within the kernel's bound, .maxntid",
            Self::Required(_) => "launches fulfil what `requires` states",
            Self::Solver(_) => "the solver that was asked gives right answers",
        }
    }
}

const ONE_CTA_CLUSTERS: &str =
    "each cta is a cluster of its own, because the launch states no clusters (`cluster`)";
const GROUPED: &str = "lanes that `activemask` finds active together came to it together";
const TARGETS: &str =
    "branches through a table whose index depends on open values lead to one of its targets";
const WHOLE_WARPS: &str = "blocks have a multiple of 32 threads in x, since the kernel exchanges values between all lanes of a warp";
const OPEN_ADDRESSES: &str =
    "accesses at addresses that depend on open values stay within memory and are aligned";
const LOCK_STEP: &str = "the lanes of a warp run in lock step (warp-synchronous = true)";
const PLACES: &str = "addresses that decide something themselves are those of this check, not null and in ascending order";
const WRITTEN: &str = "loads of shared memory at open addresses read what was written before";
const ONE_CTA: &str =
    "no grid is stated: one cta was checked, races between ctas were not examined";
const NO_DIVERGENCE: &str =
    "no barrier diverges, which was not examined (barrier-divergence = \"off\")";
const TENSORS_APART: &str = "tensor copies write boxes that do not overlap with each other, nor with anything else that is accessed";
const PROXY_FENCES: &str =
    "`fence.proxy.async` orders all that happens before it, whichever threads did it";
const MBARRIER_SCOPES: &str =
    "arrivals and waits at mbarriers that state no scope order the threads of the whole cluster";
const PRODUCT_FENCES: &str =
    "`wgmma.fence` stands wherever `wgmma.mma_async` needs it: that is not checked";
const TENSOR_CORES: &str = "tensor cores do what a thread issues in its order, and `tcgen05.fence` stands wherever it is needed: \
                            that is not checked";
const TAKEOVERS: &str = "other orders in which ctas take over the work of others (`clusterlaunchcontrol`) are like the two that \
                         were run: none does, and a quarter of the clusters does all by turns";
const OF_WORDS: &str = "pointer arguments are aligned to the words that are accessed through them";

/// The alignment of a variable, or of what a pointer argument points to: its name, the alignment that is assumed, the
/// alignment that the declaration states (0 if that of a pointer states none), and the size of the widest access that
/// needs it; all in bytes.
pub type Alignment = (String, u64, u64, u64);

/// Whether the alignment is that of every typed pointer: at most the size of the widest access, and at most 8 bytes.
fn is_of_words((_, to, declared, accessed): &Alignment) -> bool {
    *declared == 0 && to <= accessed && *to <= 8
}

/// Returns text such as "`x` to 16 bytes (declared: 4)".
fn aligned((name, to, declared, _): &Alignment) -> String {
    match declared {
        0 => format!("{name} to {to} bytes"),
        _ => format!("{name} to {to} bytes (declared: {declared})"),
    }
}

const ZERO_COUNTERS: &str = "counters with which ctas find out which of them is the last, and words for whose values they wait, hold zero at the launch, where nothing states what they hold";
