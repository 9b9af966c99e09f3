//! Memory pools: handles with attributes. All of them hand out the same memory.

use std::collections::BTreeMap;

use crate::status::{Refusal, Status, refuse};

/// All pools, by handle; the first is the default one of the device.
#[derive(Debug, Default)]
pub(crate) struct Pools {
    live: BTreeMap<u64, BTreeMap<u32, u64>>,
    default: Option<u64>,
    /// The pool that allocations without one come from, if the program has set it.
    pub(crate) chosen: Option<u64>,
}

impl Pools {
    /// Returns the default pool, whose handle is `fresh` if it is asked for the first time.
    pub(crate) fn default_pool(&mut self, fresh: u64) -> u64 {
        let handle = *self.default.get_or_insert(fresh);
        self.live.entry(handle).or_default();
        handle
    }

    /// Adds a pool.
    pub(crate) fn add(&mut self, handle: u64) {
        self.live.insert(handle, BTreeMap::new());
    }

    /// Returns the attributes of a pool that were set, by number.
    pub(crate) fn pool(&mut self, handle: u64) -> Result<&mut BTreeMap<u32, u64>, Refusal> {
        let wrong = || refuse(Status::InvalidValue, "the memory pool is not live");
        self.live.get_mut(&handle).ok_or_else(wrong)
    }

    /// Ends a pool.
    pub(crate) fn destroy(&mut self, handle: u64) -> Result<(), Refusal> {
        self.pool(handle)?;
        if self.default == Some(handle) {
            return Err(refuse(Status::InvalidValue, "destroys the default memory pool"));
        }
        self.live.remove(&handle);
        if self.chosen == Some(handle) {
            self.chosen = None;
        }
        Ok(())
    }
}
