//! Events: times at which a stream has come so far.

use std::time::Instant;

use crate::call::Call;
use crate::foreign::Out;
use crate::status::{Answer, Status, refuse};

exports! {
    cuEventCreate(event: Out<u64>, flags: u32) since 2000 one => create;
    cuEventRecord(event: u64, stream: u64) since 2000 ptsz => record;
    cuEventRecordWithFlags(event: u64, stream: u64, flags: u32) since 11010 ptsz => record_with_flags;
    cuEventQuery(event: u64) since 2000 one => wait;
    cuEventSynchronize(event: u64) since 2000 one => wait;
    cuEventDestroy_v2(event: u64) since 4000 one => destroy;
    cuEventElapsedTime(milliseconds: Out<f32>, start: u64, end: u64) since 2000 one => elapsed;
    cuEventElapsedTime_v2(milliseconds: Out<f32>, start: u64, end: u64) since 12080 one => elapsed;
    cuCtxRecordEvent(context: u64, event: u64) since 12050 one => record_context;
    cuCtxWaitEvent(context: u64, event: u64) since 12050 one => wait_context;
}

pub(crate) fn create(call: &Call, event: Out<u64>, flags: u32) -> Answer {
    let mut state = call.current()?;
    // Events between processes have no time.
    if flags > 7 || flags & 6 == 4 {
        return Err(refuse(Status::InvalidValue, format!("an event with the flags {flags}")));
    }
    let handle = state.handle();
    event.give(handle)?;
    state.streams.add_event(handle, flags);
    Ok(())
}

pub(crate) fn record(call: &Call, event: u64, stream: u64) -> Answer {
    let mut state = call.current()?;
    state.streams.stream(stream)?;
    state.streams.event(event)?.recorded = Some(Instant::now());
    state.graphs.recorded(event, stream);
    Ok(())
}

pub(crate) fn record_with_flags(call: &Call, event: u64, stream: u64, _flags: u32) -> Answer {
    record(call, event, stream)
}

pub(crate) fn wait(call: &Call, event: u64) -> Answer {
    call.current()?.streams.event(event).map(|_| ())
}

pub(crate) fn destroy(call: &Call, event: u64) -> Answer {
    call.current()?.streams.destroy_event(event)
}

pub(crate) fn elapsed(call: &Call, milliseconds: Out<f32>, start: u64, end: u64) -> Answer {
    let time = call.current()?.streams.elapsed(start, end)?;
    milliseconds.give(time)
}

fn record_context(call: &Call, context: u64, event: u64) -> Answer {
    call.current()?.contexts.context(context)?;
    record(call, event, 0)
}

fn wait_context(call: &Call, context: u64, event: u64) -> Answer {
    call.current()?.contexts.context(context)?;
    wait(call, event)
}
