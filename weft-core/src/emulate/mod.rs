//! The emulator: runs one cta of a launch on a program and emits events. Warps run one at a time, in the sort order of
//! the program's blocks.
//!
//! Its parts, each of which imports only those before it: `value`, `ops`, `memory`, `sync`, `facts` and
//! `machine`.
//!
//! Only the instructions that the slice kept run. Accesses, arrivals and completions go to an [`Events`] as they
//! happen; the emulator stores no trace. A warp stops where it cannot continue without guessing; the other warps
//! continue, and the reason is returned as the end of the run.

mod facts;
#[cfg(test)]
mod law;
mod machine;
pub(crate) mod memory;
mod ops;
mod support;
mod sync;
mod value;

pub use facts::Facts;
pub use facts::alias::{AliasClass, represented};
pub use facts::assumed::Assumed;
pub use facts::case_split::{Choice, Splits};
pub use facts::counters::{CounterIndex, Drawn};
pub use facts::independent::CtaFacts;
pub use facts::interference::Loaded;
pub use facts::signals::{Signal, SignalKey};
pub(crate) use facts::tensors::{TensorUse, Tensors};
pub use machine::copy_event::{
    AgentWork, BulkGroup, CopyAgent, CopyCommand, MbarrierEvent, MbarrierStep,
};
pub use machine::doubt::{Doubt, DoubtKind};
pub use machine::end::{DivergedThreads, Divergence, End, Stuck, StuckAt};
pub use machine::event::{
    Access, AccessKind, AccessManner, Arrival, AwaitedSignal, BarrierExit, Events, Fault,
    FaultKind, Fence, Issuer, Iteration, OpenAccess, OrderQuery, ProxyFence, SentSignal,
};
pub(crate) use machine::memory_order::fence_order;
pub use machine::memory_order::{MemoryOrder, MemoryScope, Nearness, Ordering};
pub(crate) use machine::piece::kind as access_kind;
pub use machine::run::run;
pub use machine::signal_state::has_signals;
pub use machine::state::CtaRun;
pub use machine::stop::{MAX_AGENTS, MAX_REGISTERS};
pub(crate) use machine::tensor_part::tensor_place;
pub(crate) use memory::arguments::fits;
pub(crate) use memory::clustering::Clustering;
pub use memory::clustering::{Cta, member};
pub use memory::input_error::InputError;
pub use memory::inputs::{Inputs, is_given, is_sized, is_within, pointers};
pub use memory::region::MemoryRegion;
pub(crate) use ops::eval as eval_lane;
pub use support::{Support, Supported, support_of_form, support_table};
pub use sync::barrier::{BarrierId, BarrierNeed, BarrierUse, Barriers, Misuse};
pub use sync::columns::{ColumnNeed, TensorMisuse};
pub use sync::group::CtaRank;
pub use sync::mbarrier::{MbarrierId, MbarrierMisuse, MbarrierNeed, Mbarriers};
pub use sync::registers::RegisterNeed;
pub use value::lane::{LaneMask, SymbolId, WARP, lanes};
pub(crate) use value::lane::{signed, truncate};
pub(crate) use value::offsets::Offsets;
pub use value::origin::{Origin, Region};
pub use value::register::Value;
pub use value::symbolics::Symbolics;
pub use value::warp_id::{PerWarp, WarpId, WarpSet};
