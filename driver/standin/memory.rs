//! The allocations of a process: what is live, which of its bytes are known, and what kernels might have changed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use crate::allocation::{Allocation, Kind, Passed, Words};
use crate::device;
use crate::doubt;
use crate::foreign::Host;
use crate::pages::{self, Pages};
use crate::ranges::Ranges;
use crate::status::{Answer, Refusal, Status, refuse};

mod moves;

/// All allocations.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pages: Pages,
    allocations: BTreeMap<u64, Allocation>,
    /// Ends of allocations that were freed, by address: so that a reason can tell a freed pointer from a foreign one.
    freed: BTreeMap<u64, u64>,
    /// Counts allocations and frees.
    pub(crate) generation: u64,
    /// Counts launches: those after an allocation was overwritten might have changed it, whatever they were given.
    pub(crate) launches: u64,
    /// Bytes in use.
    pub(crate) used: u64,
    /// Counts the calls that made memory of the host known.
    pub(crate) registrations: u64,
    /// Number of live allocations that are the host's own.
    registered: usize,
    /// The addresses between which memory of the host was ever registered, the end of the last included.
    registered_range: Option<RangeInclusive<u64>>,
    /// Memory of the host that was registered before, with the kernels that might have stored there: nobody sees the host overwrite it.
    unregistered: BTreeMap<u64, Allocation>,
    /// Functions of the host that go on beside the program, though what it asks for next is to come after them.
    pub(crate) beside: usize,
}

/// Most freed allocations that are remembered.
const MOST_FREED: usize = 1 << 16;

impl Memory {
    /// Allocates fresh bytes.
    pub(crate) fn allocate(&mut self, size: u64, kind: Kind, flags: u32) -> Result<u64, Refusal> {
        if size == 0 {
            return Err(refuse(Status::InvalidValue, "an allocation of 0 bytes"));
        }
        self.use_bytes(size)?;
        let base = self.pages.take(size);
        let base = base.ok_or_else(|| {
            self.used -= size;
            Status::OutOfMemory
        })?;
        self.add(base, size, kind, flags);
        Ok(base)
    }

    /// Counts bytes of the device as used, if it has so many.
    pub(crate) fn use_bytes(&mut self, size: u64) -> Answer {
        if size > device::MEMORY - self.used {
            return Err(Status::OutOfMemory.into());
        }
        self.used += size;
        Ok(())
    }

    /// Returns the first of so many addresses, a multiple of `alignment`, that nothing else has.
    pub(crate) fn reserve(&mut self, size: u64, alignment: u64) -> Result<u64, Refusal> {
        let room = size.checked_add(alignment).ok_or(Status::OutOfMemory)?;
        let start = self.pages.take(room).ok_or(Status::OutOfMemory)?;
        Ok(start.next_multiple_of(alignment))
    }

    /// Makes reserved addresses an allocation, one with those that touch them. `was_elsewhere`: the memory has lain at other addresses
    /// before, so that nobody knows what is in it.
    pub(crate) fn open(&mut self, base: u64, size: u64, was_elsewhere: bool) {
        self.add(base, size, Kind::Mapped, 0);
        if was_elsewhere && let Some(own) = self.allocations.get_mut(&base) {
            own.computed.insert(0, size);
        }
        let is_mapped = |own: &&Allocation| own.kind == Kind::Mapped;
        if self.allocations.get(&(base + size)).as_ref().is_some_and(is_mapped) {
            self.join(base, base + size);
        }
        let before = self.allocations.range(..base).next_back();
        let before = before.filter(|(at, own)| **at + own.size == base && is_mapped(own));
        if let Some(at) = before.map(|(at, _)| *at) {
            self.join(at, base);
        }
    }

    fn join(&mut self, first: u64, second: u64) {
        if let Some(next) = self.allocations.remove(&second)
            && let Some(own) = self.allocations.get_mut(&first)
        {
            own.join(&next);
        }
    }

    /// Ends a part of such an allocation; what is before it and behind it stays.
    pub(crate) fn close(&mut self, start: u64, size: u64) {
        let Some((base, own)) = self.find(start).map(|(base, own)| (base, own.clone())) else {
            return;
        };
        self.allocations.remove(&base);
        self.generation += 1;
        let (before, behind) = (start - base, (base + own.size).saturating_sub(start + size));
        if before > 0 {
            self.allocations.insert(base, own.part(0, before));
        }
        if behind > 0 {
            self.allocations.insert(start + size, own.part(before + size, behind));
        }
        Pages::zero(start, start + size);
        self.freed.insert(start, start + size);
    }

    fn add(&mut self, base: u64, size: u64, kind: Kind, flags: u32) {
        self.generation += 1;
        let known = if kind.is_hosts() { Ranges::all(size) } else { Ranges::default() };
        let own = Allocation {
            size,
            kind,
            flags,
            known,
            computed: Ranges::default(),
            version: 0,
            passed: BTreeSet::new(),
            was_passed: false,
            since: self.launches,
            snapshot: None,
            words: Words::default(),
            number: self.generation,
            context: 0,
        };
        self.allocations.insert(base, own);
    }

    /// Makes memory of the host known to the device.
    pub(crate) fn register(&mut self, at: Host, size: u64, flags: u32) -> Answer {
        let start = at.number();
        if at.is_null() || size == 0 {
            return Err(refuse(Status::InvalidValue, "registers no bytes"));
        }
        let end = start.checked_add(size).ok_or(Status::InvalidValue)?;
        let before = self.allocations.range(..end).next_back();
        if before.is_some_and(|(base, own)| base + own.size > start) {
            return Err(refuse(
                Status::HostMemoryAlreadyRegistered,
                "registers memory a second time",
            ));
        }
        self.add(start, size, Kind::Registered, flags);
        let all = self.registered_range.take().unwrap_or(start..=end);
        self.registered_range = Some(start.min(*all.start())..=end.max(*all.end()));
        let overlaps = |base: u64, own: &Allocation| base < end && base + own.size > start;
        let before: Vec<Allocation> = self
            .unregistered
            .iter()
            .filter(|(base, own)| overlaps(**base, own))
            .map(|(_, own)| own.clone())
            .collect();
        if let Some(own) = self.allocations.get_mut(&start) {
            for before in before {
                own.inherit(before);
            }
            if self.beside > 0 {
                own.passed.insert(Passed::library("cuLaunchHostFunc"));
            }
        }
        self.registered += 1;
        self.registrations += 1;
        Ok(())
    }

    /// Ends an allocation of one of these kinds.
    pub(crate) fn free(&mut self, base: u64, kinds: &[Kind]) -> Answer {
        let own = self.allocations.get(&base).filter(|own| kinds.contains(&own.kind));
        let Some(size) = own.map(|own| own.size) else {
            return Err(refuse(Status::InvalidValue, self.misuse(base, "frees")));
        };
        let own = self.allocations.remove(&base);
        self.generation += 1;
        if let Some(own) = own.filter(|own| own.kind == Kind::Registered) {
            self.registered -= 1;
            if own.might_differ(0, own.size, self.launches) || own.since < self.launches {
                let mut known = Allocation { snapshot: None, words: Words::default(), ..own };
                if let Some(before) = self.unregistered.remove(&base) {
                    known.size = known.size.max(before.size);
                    known.inherit(before);
                }
                self.unregistered.insert(base, known);
            }
        } else {
            self.used -= size;
            self.pages.give_back(base, size);
            self.freed.insert(base, base + size);
            if self.freed.len() > MOST_FREED {
                self.freed.pop_first();
            }
        }
        Ok(())
    }

    /// Says with which context an allocation ends.
    pub(crate) fn belongs(&mut self, base: u64, context: u64) {
        if let Some(own) = self.allocations.get_mut(&base) {
            own.context = context;
        }
    }

    /// Ends the allocations of a context that has ended.
    pub(crate) fn end_context(&mut self, context: u64) -> Answer {
        let is_own = |(base, own): (&u64, &Allocation)| {
            (own.context == context && context != 0).then_some((*base, own.kind))
        };
        let all: Vec<_> = self.allocations.iter().filter_map(is_own).collect();
        all.into_iter().try_for_each(|(base, kind)| self.free(base, &[kind]))
    }

    /// Returns what is wrong with an address that is in no live allocation of the right kind.
    fn misuse(&self, address: u64, verb: &str) -> String {
        match self.allocations.range(..=address).next_back() {
            Some((base, own)) if *base == address => {
                return format!(
                    "{verb} memory that was allocated by another function ({:?})",
                    own.kind
                )
                .to_lowercase();
            }
            Some((base, own)) if address < base + own.size => {
                return format!(
                    "{verb} an address within an allocation, {} bytes behind its start",
                    address - base
                );
            }
            _ => {}
        }
        if self.is_freed(address) {
            format!("{verb} memory that was freed before")
        } else {
            format!("{verb} an address that is in no allocation")
        }
    }

    /// Returns whether an address is in memory that was freed.
    pub(crate) fn is_freed(&self, address: u64) -> bool {
        let freed = self.freed.range(..=address).next_back();
        freed.is_some_and(|(_, end)| address < *end)
    }

    /// Returns the allocation that an address is in, or one past the end of, with its base.
    pub(crate) fn find(&self, address: u64) -> Option<(u64, &Allocation)> {
        let (base, own) = self.allocations.range(..=address).next_back()?;
        (address <= base + own.size).then_some((*base, own))
    }

    /// Returns the allocation that an address is in, with its base.
    pub(crate) fn inside(&self, address: u64) -> Option<(u64, &Allocation)> {
        self.find(address).filter(|(base, own)| address < base + own.size)
    }

    /// Returns an allocation by its base.
    pub(crate) fn at(&mut self, base: u64) -> Option<&mut Allocation> {
        self.allocations.get_mut(&base)
    }

    /// Returns all live allocations.
    pub(crate) fn all(&mut self) -> impl Iterator<Item = (u64, &mut Allocation)> {
        self.allocations.iter_mut().map(|(base, own)| (*base, own))
    }

    /// Returns whether memory of the host is known to the device.
    pub(crate) fn has_registered(&self) -> bool {
        self.registered > 0
    }

    /// Returns whether a word might be the address of an allocation, without looking for one where that is cheaper.
    pub(crate) fn might_be_address(&self, word: u64) -> bool {
        let is_near = self.registered_range.as_ref().is_some_and(|own| own.contains(&word));
        pages::is_address(word) || (is_near && self.registered > 0 && self.find(word).is_some())
    }

    /// Returns whether eight bytes in a row among these might be an address; `false` is certain.
    pub(crate) fn might_hold_address(&self, bytes: &[u8]) -> bool {
        self.registered > 0 || pages::might_hold_address(bytes)
    }

    /// Returns base and offset of `count` bytes of one live allocation, or a refusal that says what is wrong.
    pub(crate) fn range(
        &self,
        address: u64,
        count: u64,
        verb: &str,
    ) -> Result<(u64, u64), Refusal> {
        let found = self.find(address);
        let (base, own) =
            found.ok_or_else(|| refuse(Status::InvalidValue, self.misuse(address, verb)))?;
        let (offset, size) = (address - base, own.size);
        if count > size - offset {
            let end = offset.saturating_add(count);
            let reason = format!("{verb} bytes {offset}..{end} of an allocation of {size} bytes");
            return Err(refuse(Status::InvalidValue, reason));
        }
        Ok((base, offset))
    }

    /// Notes that a library would have computed these bytes, of one live allocation.
    pub(crate) fn compute(&mut self, to: u64, count: u64, by: &str) -> Answer {
        if count == 0 {
            return Ok(());
        }
        let (base, offset) = self.range(to, count, "writes")?;
        let Some(own) = self.allocations.get_mut(&base) else { return Ok(()) };
        if own.kind.is_hosts() {
            // What is there at a launch counts as known, so that only who has changed it can be noted.
            own.passed.insert(Passed::library(by));
            doubt::share(true);
        }
        own.known_no_more(offset, offset + count);
        Ok(())
    }

    /// Notes that nobody knows what is in an allocation.
    pub(crate) fn forget(&mut self, base: u64) {
        if let Some(own) = self.allocations.get_mut(&base) {
            own.known_no_more(0, own.size);
        }
    }

    /// Notes that a library might have computed anything, everywhere.
    pub(crate) fn compute_anything(&mut self, by: &str) {
        for own in self.allocations.values_mut() {
            own.passed.insert(Passed::library(by));
            doubt::share(own.kind.is_hosts());
        }
    }

    /// Notes that a function of the host goes on beside the program, and might write where the host does without calls.
    pub(crate) fn left_to_host(&mut self, by: &str) {
        for own in self.allocations.values_mut().filter(|own| own.kind.is_hosts()) {
            own.passed.insert(Passed::library(by));
        }
    }

    /// Returns whether an address is in a live allocation, or looks like one of the device.
    pub(crate) fn is_known(&self, address: u64) -> bool {
        pages::is_address(address) || self.inside(address).is_some()
    }

    /// Sets bytes to repetitions of a pattern of 1, 2 or 4 bytes.
    pub(crate) fn set(&mut self, to: u64, pattern: &[u8], count: u64) -> Answer {
        let bytes = count.checked_mul(pattern.len() as u64).ok_or(Status::InvalidValue)?;
        if bytes == 0 {
            return Ok(());
        }
        if !to.is_multiple_of(pattern.len() as u64) {
            return Err(refuse(
                Status::InvalidValue,
                "sets memory at an address that is not aligned to the value",
            ));
        }
        let (base, offset) = self.range(to, bytes, "sets")?;
        let is_zero = pattern.iter().all(|byte| *byte == 0);
        // Large memory that is only cleared takes none of the machine's.
        let cleared = if is_zero { Pages::zero(to, to + bytes) } else { None };
        match cleared {
            Some((first, last)) => {
                Self::fill(to, first - to, pattern);
                Self::fill(last, to + bytes - last, pattern);
            }
            None => Self::fill(to, bytes, pattern),
        }
        self.overwritten(base, offset, bytes);
        Ok(())
    }

    /// Fills a range of a live allocation, a multiple of the pattern.
    fn fill(to: u64, bytes: u64, pattern: &[u8]) {
        let Ok(length) = usize::try_from(bytes) else { return };
        let Some((first, rest)) = pattern.split_first() else { return };
        if rest.iter().all(|byte| byte == first) {
            // SAFETY: the range is within a live allocation, which is mapped (a registered one by the host).
            unsafe { Host::at(to).raw().write_bytes(*first, length) };
            return;
        }
        for at in (0..length).step_by(pattern.len()) {
            let target = Host::at(to).offset(at).raw();
            // SAFETY: as above; the range is a multiple of the pattern.
            unsafe { target.copy_from(pattern.as_ptr(), pattern.len()) };
        }
    }

    /// Returns bytes of a live allocation from an offset on, fewer at its end.
    pub(crate) fn read(&self, base: u64, offset: u64, count: usize) -> Vec<u8> {
        let size = self.allocations.get(&base).map_or(0, |own| own.size);
        let most = usize::try_from(size.saturating_sub(offset)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; count.min(most)];
        let from = Host::at(base + offset).raw();
        // SAFETY: the bytes are within a live allocation, and the vector has as many. If it is the host's memory, a thread of the program
        // that writes there at this moment races with the launch that it has just asked for.
        unsafe { bytes.as_mut_ptr().copy_from_nonoverlapping(from, bytes.len()) };
        bytes
    }

    /// Stores the initial bytes of a variable.
    pub(crate) fn initialise(&mut self, base: u64, contents: &[u8]) {
        let Some(own) = self.allocations.get(&base).filter(|own| own.size >= contents.len() as u64)
        else {
            return;
        };
        let size = own.size;
        // SAFETY: within a live allocation, and from memory of ours.
        unsafe { Host::at(base).raw().copy_from(contents.as_ptr(), contents.len()) };
        self.overwritten(base, 0, size);
    }

    /// Notes that the host has given these bytes values.
    fn overwritten(&mut self, base: u64, offset: u64, count: u64) {
        let Some(own) = self.allocations.get_mut(&base) else { return };
        own.known.insert(offset, offset + count);
        own.computed.remove(offset, offset + count);
        own.changed(offset, offset + count);
        if count == own.size {
            own.passed.clear();
            own.since = self.launches;
        }
    }
}
