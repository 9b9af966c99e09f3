//! The instruction set: the table, the modifiers, and the decoding of mnemonics.

mod decode;
mod forms;
mod modifier;
mod table;
mod tensor;

pub use decode::{Decoded, Meaning, decode};
pub use forms::{FORMS, Form};
pub use modifier::{Modifier, Modifiers};
pub use table::{InstructionRow, Opcode, TABLE};
pub use tensor::TensorForm;

/// A group of related instructions, by which the machine picks the code that computes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the manual's chapters")]
pub enum Family {
    Arithmetic,
    Bits,
    Compare,
    Convert,
    Move,
    Access,
    Texture,
    Control,
    Synchronization,
    Fence,
    Warp,
    Matrix,
    Video,
}

/// What an instruction does to the state beyond its registers, as far as the machine models it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Computes registers from registers; modelled.
    Compute,
    /// Computes registers from registers or read-only memory; not modelled: the results are open.
    Opaque,
    /// Reads memory.
    Load,
    /// Writes memory.
    Store,
    /// Reads and writes memory as one operation.
    Atomic,
    /// A cta barrier.
    Barrier,
    /// Arrives at the barrier of a cluster, or waits for it.
    ClusterBarrier,
    /// `bar.warp.sync`.
    WarpBarrier,
    /// Exchanges values between the lanes of a warp.
    Exchange,
    /// Makes a group of the asynchronous copies of a thread, or waits for such groups.
    CopyGroup,
    /// Copies from global to shared memory asynchronously, and counts the bytes at an mbarrier object.
    BulkCopy,
    /// Multiplies matrices in shared memory asynchronously, as one of the four warps of a warpgroup.
    Multiply,
    /// Allocates tensor memory or frees it, accesses it, multiplies matrices into it, or waits for such accesses.
    TensorMemory,
    /// Asks to take over the work of ctas that have not begun; the answer is written asynchronously.
    TakeOver,
    /// Reads such an answer.
    Answer,
    /// Initializes an mbarrier object, ends its use, or arrives at it.
    Mbarrier,
    /// Tests whether a phase of an mbarrier object is complete.
    MbarrierWait,
    /// Changes how many registers the threads of a warp have.
    RegisterCount,
    /// Jumps within the function.
    Branch,
    /// Calls a function.
    Call,
    /// Returns from a function.
    Return,
    /// Ends the thread.
    Exit,
    /// Orders memory. A fence alone orders no accesses of different threads: one thread has to observe a value that the
    /// other one wrote (PTX ISA §8.8).
    MemoryFence,
    /// Orders accesses of the generic proxy and of the async proxy (PTX ISA §8.9.5).
    ProxyFence,
    /// Has no effect that the checker models or needs.
    Nothing,
    /// Memory or synchronization that is not modelled: the verdict is open if a thread reaches it.
    Asynchronous,
}

impl Effect {
    /// Whether it is that of a barrier of a cta or of a cluster.
    pub const fn is_barrier(self) -> bool {
        matches!(self, Self::Barrier | Self::ClusterBarrier)
    }
}
