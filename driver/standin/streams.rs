//! Streams and events. Everything is done when it is asked for, so that a stream never has work waiting.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::status::{Refusal, Status, refuse};

/// A stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream {
    /// Flags of its creation.
    pub(crate) flags: u32,
    /// Its priority.
    pub(crate) priority: i32,
    /// Its context.
    pub(crate) context: u64,
}

/// An event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event {
    /// Flags of its creation.
    pub(crate) flags: u32,
    /// When it was recorded last.
    pub(crate) recorded: Option<Instant>,
}

/// Flag of an event that has no time.
const WITHOUT_TIME: u32 = 2;

/// All streams and events, by handle.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    streams: BTreeMap<u64, Stream>,
    events: BTreeMap<u64, Event>,
}

impl Streams {
    /// Adds a stream.
    pub(crate) fn add(&mut self, handle: u64, stream: Stream) {
        self.streams.insert(handle, stream);
    }

    /// Returns a stream; the default ones (0, and 1 and 2 for the legacy one and that of a thread) always live.
    pub(crate) fn stream(&self, handle: u64) -> Result<Stream, Refusal> {
        if handle <= 2 {
            return Ok(Stream { flags: 0, priority: 0, context: 0 });
        }
        let wrong = || refuse(Status::InvalidHandle, "the stream is not live");
        self.streams.get(&handle).copied().ok_or_else(wrong)
    }

    /// Ends a stream.
    pub(crate) fn destroy(&mut self, handle: u64) -> Result<(), Refusal> {
        let wrong = || refuse(Status::InvalidHandle, "destroys a stream that is not live");
        self.streams.remove(&handle).map(|_| ()).ok_or_else(wrong)
    }

    /// Adds an event.
    pub(crate) fn add_event(&mut self, handle: u64, flags: u32) {
        self.events.insert(handle, Event { flags, recorded: None });
    }

    /// Returns an event.
    pub(crate) fn event(&mut self, handle: u64) -> Result<&mut Event, Refusal> {
        let wrong = || refuse(Status::InvalidHandle, "the event is not live");
        self.events.get_mut(&handle).ok_or_else(wrong)
    }

    /// Ends an event.
    pub(crate) fn destroy_event(&mut self, handle: u64) -> Result<(), Refusal> {
        self.event(handle)?;
        self.events.remove(&handle);
        Ok(())
    }

    /// Returns the milliseconds between two events, more than 0 if the second was recorded later.
    pub(crate) fn elapsed(&mut self, start: u64, end: u64) -> Result<f32, Refusal> {
        let mut time = |handle| {
            let event = self.event(handle)?;
            if event.flags & WITHOUT_TIME != 0 {
                return Err(refuse(
                    Status::InvalidHandle,
                    "asks for the time of an event that has none",
                ));
            }
            event.recorded.ok_or_else(|| {
                refuse(Status::InvalidHandle, "asks for the time of an event that was not recorded")
            })
        };
        let (start, end) = (time(start)?, time(end)?);
        // Half a microsecond is the resolution of the driver.
        let milliseconds = |from: Instant, to: Instant| (to - from).as_secs_f32().max(5e-7) * 1e3;
        Ok(if end >= start { milliseconds(start, end) } else { -milliseconds(end, start) })
    }
}
