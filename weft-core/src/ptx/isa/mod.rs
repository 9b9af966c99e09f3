//! The instruction set: the table, the modifiers, and how a mnemonic is taken apart.

mod decode;
mod forms;
mod modifier;
mod table;

pub use decode::{Decoded, Meaning, decode};
pub use forms::{FORMS, Form};
pub use modifier::{Modifier, Modifiers};
pub use table::{InstructionRow, Opcode, TABLE};

/// A group of instructions that one file of the machine runs.
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
    /// Registers from registers, modelled.
    Compute,
    /// Registers from registers or read-only memory, not modelled: the results are open.
    Opaque,
    /// Reads memory.
    Load,
    /// Writes memory.
    Store,
    /// Reads and writes memory as one.
    Atomic,
    /// A cta barrier.
    Barrier,
    /// `bar.warp.sync`.
    WarpBarrier,
    /// Exchanges values within a warp.
    Exchange,
    /// Goes elsewhere within the function.
    Branch,
    /// Calls a function.
    Call,
    /// Returns from a function.
    Return,
    /// Ends the thread.
    Exit,
    /// Orders memory. Without an observation a fence orders no accesses of other threads (PTX ISA §8.8).
    MemoryFence,
    /// Nothing that matters here.
    Nothing,
    /// Memory or synchronization that is not modelled: open wherever a thread reaches it.
    Asynchronous,
}
