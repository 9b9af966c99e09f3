//! Doing the work that streams are given.

use crate::launches;
use crate::state::State;
use crate::status::{Answer, Status, refuse};
use crate::work::Work;

/// Does work at once, or keeps it if the stream is captured.
pub(crate) fn submit(state: &mut State, stream: u64, work: Work) -> Answer {
    state.streams.stream(stream)?;
    match state.graphs.keep(stream, work) {
        Some(work) => perform(state, &work),
        None => Ok(()),
    }
}

/// Does work, but for calls of the host, which need the lock free.
pub(crate) fn perform(state: &mut State, work: &Work) -> Answer {
    let memory = &mut state.memory;
    match work {
        Work::Launch { kernel, configuration, arguments } => {
            launches::record(state, kernel, configuration, arguments.as_deref());
            Ok(())
        }
        Work::In { to, from, count } => memory.copy_in(*to, *from, *count),
        Work::Out { to, from, count } => memory.copy_out(*to, *from, *count),
        Work::Within { to, from, count } => memory.copy(*to, *from, *count),
        Work::OnHost { to, from, count } => memory.copy_on_host(*to, *from, *count),
        Work::Set { to, pitch, value, width, height } => {
            let start = |row: u64| {
                let start = pitch.checked_mul(row).and_then(|offset| to.checked_add(offset));
                start.ok_or(Status::InvalidValue)
            };
            let Some(last) = height.checked_sub(1).filter(|_| *width > 0) else { return Ok(()) };
            // A number of rows that no memory has is refused before each is looked at.
            let bytes = width.checked_mul(value.len() as u64).ok_or(Status::InvalidValue)?;
            memory.range(start(last)?, bytes, "sets")?;
            (0..*height).try_for_each(|row| memory.set(start(row)?, value, *width))
        }
        Work::Forget { base } => {
            memory.forget(*base);
            Ok(())
        }
        Work::Compute { function, results } => results.note(memory, function),
        Work::Call { .. } => Err(refuse(Status::Unknown, "a function of the host was not called")),
    }
}

/// Refuses what waits for a stream that is captured.
pub(crate) fn refuse_capture(state: &State, stream: u64) -> Answer {
    if state.graphs.capture_of(stream).is_some() {
        return Err(refuse(
            Status::StreamCaptureUnsupported,
            "waits for a stream that is captured",
        ));
    }
    Ok(())
}
