//! Builds the [`Program`] of a module's kernel: resolves names, links in device functions (at their call sites, or once as
//! routines), and finds basic blocks, dominators, natural loops and the sort order of ESOP'13 §4.
//!
//! - Linking: `link` drives, `linker` is its state. Names are resolved by `scope` and `operands`. Calls are linked by
//!   `call` (`call_site`, `indirect`, `parameters`); `sharing` decides which functions become routines, and
//!   `routine_calls` links calls of those. `unset` marks what is new in each `entry`. `matrix` links loads and stores
//!   of matrices as accesses to their rows, `copy` links asynchronous copies as a load and a store.
//! - Blocks: `routine` cuts functions into blocks (`dominators`, `loops`, `sort`), `blocks` puts them together.
//! - Addresses: `addresses` is the address map; `layout` and `placement` place variables in it, `statics` those of a
//!   kernel with what they hold; `buffers` numbers the buffers of pointer arguments, and `buffer_addresses` says where
//!   they lie.
//! - Local memory: `local_words` holds words of it in registers, where `local_addresses` finds all that accesses them.
//! - The result: `program`, with its declarations (`declared`) and `places` in the source.
//! - Facts about the program: `constants`, the parameters behind addresses (`sources` and `pointers`, by `reaching`
//!   definitions), and registers of loops (`steps` and `derived`, by `loop_definitions`). `fixpoint` is what several
//!   of these share.

pub(crate) mod addresses;
mod blocks;
mod buffer_addresses;
mod buffers;
mod bulk;
mod call;
mod call_site;
mod cluster;
mod constants;
mod copy;
mod declared;
mod derived;
mod dominators;
mod entry;
mod error;
mod fixpoint;
mod indirect;
mod launch_control;
mod layout;
mod link;
mod linker;
mod local_addresses;
mod local_words;
mod loop_definitions;
mod loops;
mod matrix;
mod memory_order;
mod operands;
mod pair;
mod parameters;
mod placement;
mod places;
mod pointers;
mod program;
mod reaching;
mod register_limit;
mod routine;
mod routine_calls;
mod scope;
mod sharing;
mod signedness;
mod sort;
mod sources;
mod special;
mod statics;
mod steps;
mod tensor;
mod tensor_memory;
mod unset;
mod wgmma;

pub(crate) use addresses::{
    FUNCTION_ALIGN, SHARED_SLOT, TENSOR_MEMORY, is_function, space_of, window,
};
pub use addresses::{argument_of, offset_in_buffer};
pub(crate) use buffers::BufferPlace;
pub use buffers::StatedBuffers;
pub use bulk::{BULK_ALIGN, CopiedSide};
pub(crate) use cluster::{ClusterAddress, peer_address, peer_start};
pub(crate) use constants::{known_locals, known_parameters};
pub use declared::{Clusters, Field, NumberKind, Param, Params, Symbol};
pub use derived::Chains;
pub use error::{LinkError, LinkErrorKind};
pub(crate) use fixpoint::{ByRegister, settle};
pub use placement::Placement;
pub use pointers::sources_of;
pub use program::{
    Address, Block, BlockId, Condition, Holds, Instr, Operand, Operation, Pc, Place, PlaceId,
    Program, Reg, Terminator, Unlinked,
};
pub(crate) use sharing::Growth;
pub use special::Special;
pub use steps::{Fetches, InductionStep, InductionSteps, SteppedOnce};
pub use tensor_memory::tensor_operand;

use crate::launch::Dim3;
use crate::ptx::{Function, Module};

/// Builds the program of a kernel.
///
/// # Errors
/// A name that nothing declares, an operand that does not fit its instruction, or code that grows beyond the limit.
pub fn build(module: &Module, kernel: &Function) -> Result<Program, LinkError> {
    build_within(module, kernel, Growth::DEFAULT, &Placement::default(), None)
}

/// Builds the program of a kernel with everything at the addresses of `placement`. Functions are linked in once where
/// inlining would enlarge the kernel by more than `growth`. `cluster`: the ctas of a cluster, if the launch states them.
pub(crate) fn build_within(
    module: &Module,
    kernel: &Function,
    growth: Growth,
    placement: &Placement,
    cluster: Option<Dim3>,
) -> Result<Program, LinkError> {
    let linked = link::link(module, kernel, growth, placement, cluster)?;
    let mut program =
        blocks::build(linked).map_err(|kind| LinkError { kind, span: kernel.name })?;
    local_words::hold_in_registers(&mut program);
    program.thread_registers = register_limit::registers(kernel);
    program.hands_over = program.might_hand_over();
    pointers::mark(&mut program);
    signedness::mark(&mut program);
    (program.invariant, program.derived) = derived::find(&program);
    (program.steps, program.fetches, program.even) = steps::find(&program, &program.invariant);
    Ok(program)
}
