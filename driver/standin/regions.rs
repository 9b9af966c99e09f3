//! Virtual memory management: ranges of addresses that are reserved, memory without an address, and which memory lies where.

use std::collections::BTreeMap;

use crate::status::{Answer, Refusal, Status, refuse};

/// Bytes of which all sizes and addresses are multiples.
pub(crate) const GRANULARITY: u64 = 2 << 20;

/// Memory that was created.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Physical {
    /// Its bytes.
    pub(crate) size: u64,
    /// How it was asked for (`CUmemAllocationProp`).
    pub(crate) properties: [u32; 8],
    /// How often it has to be released.
    references: u64,
    /// Whether it lies somewhere.
    is_mapped: bool,
    /// Whether it has lain somewhere before: nobody here knows what was written there.
    was_mapped: bool,
}

/// Memory at an address.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mapping {
    /// Its bytes.
    pub(crate) size: u64,
    /// The memory.
    pub(crate) handle: u64,
    /// How the device can access it (`CUmemAccess_flags`): 0 not at all, 1 reading, 3 writing too.
    pub(crate) access: u64,
    /// Whether it was in use before, here or elsewhere: nobody knows what is in it.
    pub(crate) was_mapped: bool,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Regions {
    reserved: BTreeMap<u64, u64>,
    physical: BTreeMap<u64, Physical>,
    mappings: BTreeMap<u64, Mapping>,
}

fn wrong(reason: String) -> Refusal {
    refuse(Status::InvalidValue, reason)
}

/// Refuses sizes and addresses that are no multiples of the granularity, and no bytes at all.
pub(crate) fn whole(name: &str, size: u64) -> Answer {
    if size > 0 && size.is_multiple_of(GRANULARITY) {
        return Ok(());
    }
    Err(wrong(format!("{name} is {size} bytes, no multiple of {GRANULARITY}")))
}

impl Regions {
    /// Adds a reserved range.
    pub(crate) fn reserve(&mut self, start: u64, size: u64) {
        self.reserved.insert(start, size);
    }

    /// Ends a reserved range.
    pub(crate) fn unreserve(&mut self, start: u64, size: u64) -> Answer {
        if self.reserved.get(&start) != Some(&size) {
            return Err(wrong("frees a range of addresses that was not reserved so".to_owned()));
        }
        if self.mappings.range(start..start + size).next().is_some() {
            return Err(wrong("frees a range of addresses with memory in it".to_owned()));
        }
        self.reserved.remove(&start);
        Ok(())
    }

    /// Adds memory.
    pub(crate) fn create(&mut self, handle: u64, size: u64, properties: [u32; 8]) {
        let own = Physical { size, properties, references: 1, is_mapped: false, was_mapped: false };
        self.physical.insert(handle, own);
    }

    /// Returns memory that was created.
    pub(crate) fn memory(&mut self, handle: u64) -> Result<&mut Physical, Refusal> {
        let wrong = || refuse(Status::InvalidValue, "there is no memory with this handle");
        self.physical.get_mut(&handle).ok_or_else(wrong)
    }

    /// Releases memory once; returns its bytes if it is gone with that.
    pub(crate) fn release(&mut self, handle: u64) -> Result<u64, Refusal> {
        let own = self.memory(handle)?;
        if own.references == 0 {
            return Err(wrong("releases memory more often than it was asked for".to_owned()));
        }
        own.references -= 1;
        Ok(self.collect(handle))
    }

    /// Forgets memory that nobody has; returns its bytes.
    fn collect(&mut self, handle: u64) -> u64 {
        let is_gone = |own: &Physical| own.references == 0 && !own.is_mapped;
        match self.physical.get(&handle).copied().filter(is_gone) {
            Some(own) => {
                self.physical.remove(&handle);
                own.size
            }
            None => 0,
        }
    }

    /// Puts memory at an address.
    pub(crate) fn map(&mut self, start: u64, size: u64, handle: u64) -> Answer {
        let end = start.checked_add(size).ok_or(Status::InvalidValue)?;
        let range = self.reserved.range(..=start).next_back();
        if range.is_none_or(|(from, reserved)| end > from + reserved) {
            return Err(wrong("maps memory to addresses that are not reserved".to_owned()));
        }
        let before = self.mappings.range(..end).next_back();
        if before.is_some_and(|(from, own)| from + own.size > start) {
            return Err(wrong("maps memory to addresses where there is some".to_owned()));
        }
        let own = self.memory(handle)?;
        if size > own.size {
            return Err(wrong(format!("maps {size} bytes of memory of {}", own.size)));
        }
        if own.is_mapped {
            return Err(refuse(Status::NotSupported, "maps memory to two addresses"));
        }
        let was_mapped = std::mem::replace(&mut own.was_mapped, true);
        own.is_mapped = true;
        self.mappings.insert(start, Mapping { size, handle, access: 0, was_mapped });
        Ok(())
    }

    /// Returns the mappings that a range consists of, with their addresses.
    pub(crate) fn within(
        &self,
        start: u64,
        size: u64,
        verb: &str,
    ) -> Result<Vec<(u64, Mapping)>, Refusal> {
        let end = start.checked_add(size).ok_or(Status::InvalidValue)?;
        let (mut at, mut found) = (start, Vec::new());
        while at < end {
            let own = self.mappings.get(&at).filter(|own| own.size <= end - at);
            let own = own
                .ok_or_else(|| wrong(format!("{verb} a range that is not all of mapped memory")))?;
            found.push((at, *own));
            at += own.size;
        }
        Ok(found)
    }

    /// Returns the mapping that an address is in, with its start.
    pub(crate) fn at(&self, address: u64) -> Option<(u64, &Mapping)> {
        let (start, own) = self.mappings.range(..=address).next_back()?;
        (address < start + own.size).then_some((*start, own))
    }

    /// Says how a mapping can be accessed from now on.
    pub(crate) fn set_access(&mut self, start: u64, access: u64) {
        if let Some(own) = self.mappings.get_mut(&start) {
            own.was_mapped |= own.access != 0 && access == 0;
            own.access = access;
        }
    }

    /// Takes memory from its address; returns the bytes that are gone with that.
    pub(crate) fn unmap(&mut self, start: u64) -> u64 {
        let Some(own) = self.mappings.remove(&start) else { return 0 };
        if let Some(memory) = self.physical.get_mut(&own.handle) {
            memory.is_mapped = false;
        }
        self.collect(own.handle)
    }

    /// Asks for memory once more, by an address of it.
    pub(crate) fn retain(&mut self, address: u64) -> Result<u64, Refusal> {
        let found = self.at(address).map(|(_, own)| own.handle);
        let handle = found
            .ok_or_else(|| wrong("asks for the memory of an address that has none".to_owned()))?;
        self.memory(handle)?.references += 1;
        Ok(handle)
    }
}
