//! Copies between allocations and the memory of the host, and what is known of the bytes afterwards.

use super::Memory;
use crate::allocation::Passed;
use crate::doubt;
use crate::foreign::Host;
use crate::pages;
use crate::status::{Answer, Refusal, Status, refuse};

impl Memory {
    /// Returns whether these bytes of the host are those of one live allocation, such as pinned memory. Those of which only a part is
    /// one, and those where only allocations lie, are refused.
    fn holds(&self, at: Host, count: u64, verb: &str) -> Result<bool, Refusal> {
        let start = at.number();
        if pages::is_address(start) || self.inside(start).is_some() {
            return self.range(start, count, verb).map(|_| true);
        }
        let next = self.allocations.range(start..start.saturating_add(count)).next();
        let reason = || format!("{verb} memory of the host of which only a part is registered");
        next.map_or(Ok(false), |_| Err(refuse(Status::InvalidValue, reason())))
    }

    /// Copies from the host to the device.
    pub(crate) fn copy_in(&mut self, to: u64, from: Host, count: u64) -> Answer {
        if count == 0 {
            return Ok(());
        }
        if from.is_null() {
            return Err(refuse(Status::InvalidValue, "copies from a null pointer of the host"));
        }
        if self.holds(from, count, "copies from")? {
            return self.copy(to, from.number(), count);
        }
        let (base, offset) = self.range(to, count, "copies to")?;
        Self::move_bytes(Host::at(to), from, count);
        self.overwritten(base, offset, count);
        // A function of the host might have written there before.
        if self.beside > 0
            && let Some(own) = self.allocations.get_mut(&base)
        {
            own.known_no_more(offset, offset + count);
        }
        Ok(())
    }

    /// Copies from the device to the host.
    pub(crate) fn copy_out(&mut self, to: Host, from: u64, count: u64) -> Answer {
        if count == 0 {
            return Ok(());
        }
        if to.is_null() {
            return Err(refuse(Status::InvalidValue, "copies to a null pointer of the host"));
        }
        if self.holds(to, count, "copies to")? {
            return self.copy(to.number(), from, count);
        }
        let (base, offset) = self.range(from, count, "copies from")?;
        let own = self.allocations.get(&base);
        let launches = self.launches;
        doubt::read(own.is_some_and(|own| own.might_differ(offset, offset + count, launches)));
        Self::move_bytes(to, Host::at(from), count);
        Ok(())
    }

    /// Copies within the device. What is not known of the source is not known of the target, and kernels that might have changed
    /// the source have changed the target.
    pub(crate) fn copy(&mut self, to: u64, from: u64, count: u64) -> Answer {
        if count == 0 {
            return Ok(());
        }
        let (source, start) = self.range(from, count, "copies from")?;
        let (target, offset) = self.range(to, count, "copies to")?;
        Self::move_bytes(Host::at(to), Host::at(from), count);
        let Some(own) = self.allocations.get(&source) else { return Ok(()) };
        let (known, passed) = (own.known.within(start, start + count), own.passed.clone());
        let since = own.since;
        let is_known = known == [(start, start + count)];
        let computed = own.computed.within(start, start + count);
        let is_changed = own.might_differ(start, start + count, self.launches);
        self.overwritten(target, offset, count);
        let Some(own) = self.allocations.get_mut(&target) else { return Ok(()) };
        if !own.kind.is_hosts() {
            own.known.remove(offset, offset + count);
            for (low, high) in known {
                own.known.insert(low - start + offset, high - start + offset);
            }
        }
        for (low, high) in computed {
            own.computed.insert(low - start + offset, high - start + offset);
        }
        own.passed.extend(passed);
        own.was_passed |= is_changed;
        if own.kind.is_hosts() {
            // What is there at a launch counts as known, so that only who has changed it can be noted.
            if !is_known {
                own.passed.insert(Passed::library("cuMemcpy"));
            }
            // The host reads such memory without a call.
            doubt::read(is_changed);
        }
        own.since = own.since.min(since);
        Ok(())
    }

    /// Copies within the host.
    pub(crate) fn copy_on_host(&mut self, to: Host, from: Host, count: u64) -> Answer {
        if count > 0 && (to.is_null() || from.is_null()) {
            return Err(refuse(Status::InvalidValue, "copies from or to a null pointer"));
        }
        if count == 0 {
            return Ok(());
        }
        match (self.holds(to, count, "copies to")?, self.holds(from, count, "copies from")?) {
            (true, true) => return self.copy(to.number(), from.number(), count),
            (true, false) => return self.copy_in(to.number(), from, count),
            (false, true) => return self.copy_out(to, from.number(), count),
            (false, false) => {}
        }
        Self::move_bytes(to, from, count);
        Ok(())
    }

    fn move_bytes(to: Host, from: Host, count: u64) {
        let Ok(count) = usize::try_from(count) else { return };
        // SAFETY: each side is a range of a live allocation, or an address for which the caller of the driver promises as many
        // bytes. They might overlap.
        unsafe { to.raw().copy_from(from.raw(), count) };
    }
}
