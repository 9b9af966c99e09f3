//! What the machine keeps of the signals of the ctas that it runs.

use crate::emulate::memory::inputs::Inputs;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::Program;
use crate::launch::Atomics;

/// The signals of a run.
#[derive(Debug)]
pub(super) struct SignalState {
    /// Whether signals are followed.
    pub(super) are_followed: bool,
    /// For each signal, by its number, the thread that sent it.
    pub(super) senders: Vec<(WarpId, usize)>,
}

impl SignalState {
    /// Before anything has run.
    pub(super) fn new(program: &Program, inputs: &Inputs) -> Self {
        Self { are_followed: has_signals(program, inputs), senders: Vec::new() }
    }
}

/// Whether the signals of a launch are followed: threads of several ctas might order each other through global memory.
pub fn has_signals(program: &Program, inputs: &Inputs) -> bool {
    inputs.runs_all_ctas
        && inputs.grid.count() > inputs.cluster.count()
        && inputs.options.atomics != Atomics::Off
        && program.hands_over
}
