//! The order that waits make between ctas: a thread that has waited until a location holds a value comes after the store that left it
//! there, or after all signals of the location, if the two form a release and an acquire pattern (PTX ISA §8.8), and after what the senders
//! had waited for before that.

use std::collections::BTreeMap;

use super::Order;
use super::signals::{AwaitRecord, SignalRecord};
use super::tag::Strength;
use crate::emulate::{Access, AwaitedSignal, Nearness, SignalKey, WarpId};
use crate::order::clock::{Clock, Epoch};

/// Most waits of a cta that are followed.
const MOST: usize = 256;

impl Order {
    /// Records that a lane has waited for signals.
    pub fn await_signal(&mut self, awaited: AwaitedSignal) {
        let warp = awaited.warp;
        let Some(own) = &mut self.signalling else { return };
        if own.awaits.len() < MOST && awaited.order.scope().holds(Nearness::Grid) {
            let (when, fences) = (self.warps[warp].now, own.fences.len());
            own.awaits.push(AwaitRecord { awaited, when, fences });
            self.warps[warp].tick();
        }
    }

    /// How an access acquires what its cta has waited for.
    pub(super) fn awaited(&self, access: &Access<'_>) -> Vec<(SignalKey, Strength)> {
        let mut all = BTreeMap::<SignalKey, Strength>::new();
        for record in self.signalling.iter().flat_map(|own| &own.awaits) {
            let by = self.acquired(&record.seeing(), access);
            let mut add = |key: SignalKey, by: Strength| {
                let known = all.entry(key).or_default();
                *known = known.and(by);
            };
            add(record.awaited.key, by);
            // Each step on the way is a pattern of its own.
            record.awaited.before.iter().for_each(|key| add(*key, by.pattern()));
        }
        all.into_iter().filter(|(_, by)| *by != Strength::default()).collect()
    }

    /// What had been waited for when the last signal was sent, so that it comes before that signal.
    pub fn awaited_before(&self) -> Vec<SignalKey> {
        let Some(own) = &self.signalling else { return Vec::new() };
        let Some(sent) = own.sent.last().filter(|_| own.has_last) else { return Vec::new() };
        let is_before = |record: &&AwaitRecord| {
            let seeing = record.seeing();
            self.acquired_at(&seeing).any(|event| sent.is_behind(event))
        };
        own.awaits.iter().filter(is_before).map(|record| record.awaited.key).collect()
    }
}

impl SignalRecord {
    /// Whether something that a lane did comes before the signal by a release pattern.
    fn is_behind(&self, (warp, when, lane): (WarpId, Epoch, usize)) -> bool {
        let is_known = |ready: &Clock| ready.unknown(warp, when, 1 << lane) == 0;
        let mut ready = self.released.iter().filter(|(by, _)| by.is_pattern());
        ready.any(|(_, ready)| is_known(ready))
    }
}
