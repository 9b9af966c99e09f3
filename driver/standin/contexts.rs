//! Contexts, and the stack of them that each thread has.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem::ManuallyDrop;

use crate::status::{Refusal, Status, refuse};

thread_local! {
    /// It is never dropped: programs call the driver while they end, when values of the thread that would be are gone.
    static STACK: ManuallyDrop<RefCell<Vec<u64>>> = const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// What a context remembers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Context {
    /// Flags of its creation.
    pub(crate) flags: u32,
    /// Limits that were set, by number.
    pub(crate) limits: BTreeMap<u32, u64>,
    /// Preferred cache configuration.
    pub(crate) cache: u32,
    /// Preferred banks of shared memory.
    pub(crate) banks: u32,
}

/// All contexts.
#[derive(Debug, Default)]
pub(crate) struct Contexts {
    live: BTreeMap<u64, Context>,
    /// Handle of the primary context, from its first use on.
    primary: Option<u64>,
    /// How often the primary context is retained.
    pub(crate) retained: u64,
    /// Flags of the primary context.
    pub(crate) primary_flags: u32,
}

/// Returns the current context of this thread.
pub(crate) fn current() -> Option<u64> {
    STACK.with(|stack| stack.borrow().last().copied()).filter(|handle| *handle != 0)
}

/// Puts a context on the stack of this thread.
pub(crate) fn push(handle: u64) {
    STACK.with(|stack| stack.borrow_mut().push(handle));
}

/// Takes the top of the stack of this thread.
pub(crate) fn pop() -> Option<u64> {
    STACK.with(|stack| stack.borrow_mut().pop())
}

/// Replaces the top of the stack of this thread; 0 takes it.
pub(crate) fn set(handle: u64) {
    pop();
    if handle != 0 {
        push(handle);
    }
}

impl Contexts {
    /// Adds a context.
    pub(crate) fn add(&mut self, handle: u64, flags: u32) {
        self.live.insert(handle, Context { flags, ..Context::default() });
    }

    /// Retains the primary context; `fresh` is its handle if there is none yet.
    pub(crate) fn retain(&mut self, fresh: u64) -> u64 {
        let handle = *self.primary.get_or_insert(fresh);
        if self.retained == 0 {
            self.add(handle, self.primary_flags);
        }
        self.retained += 1;
        handle
    }

    /// Returns the handle of the primary context, once it was used.
    pub(crate) fn primary(&self) -> Option<u64> {
        self.primary
    }

    /// Releases the primary context, which ends with its last release; returns whether it did.
    pub(crate) fn release(&mut self) -> Result<bool, Refusal> {
        if self.retained == 0 {
            return Err(refuse(
                Status::InvalidContext,
                "the primary context is released more often than retained",
            ));
        }
        self.retained -= 1;
        if self.retained == 0 {
            self.end_primary();
        }
        Ok(self.retained == 0)
    }

    /// Ends the primary context.
    pub(crate) fn end_primary(&mut self) {
        if let Some(handle) = self.primary {
            self.live.remove(&handle);
        }
    }

    /// Returns a live context.
    pub(crate) fn context(&mut self, handle: u64) -> Result<&mut Context, Refusal> {
        let is_ended = self.primary == Some(handle);
        let wrong = || {
            if is_ended {
                refuse(Status::ContextIsDestroyed, "the primary context was released")
            } else {
                refuse(Status::InvalidContext, "the context is not live")
            }
        };
        self.live.get_mut(&handle).ok_or_else(wrong)
    }

    /// Ends a context that the program has made.
    pub(crate) fn destroy(&mut self, handle: u64) -> Result<(), Refusal> {
        self.context(handle)?;
        if self.primary == Some(handle) {
            return Err(refuse(
                Status::InvalidContext,
                "the primary context is released, not destroyed",
            ));
        }
        self.live.remove(&handle);
        if current() == Some(handle) {
            pop();
        }
        Ok(())
    }
}
