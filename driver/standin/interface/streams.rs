//! Streams. Work is done when it is asked for, so that waiting never waits.

use crate::call::Call;
use crate::contexts;
use crate::foreign::{Host, Out, StreamCallback};
use crate::interface::callbacks;
use crate::order;
use crate::status::{Answer, Status, refuse};
use crate::streams::Stream;

exports! {
    cuStreamCreate(stream: Out<u64>, flags: u32) since 2000 one => create;
    cuStreamCreateWithPriority(stream: Out<u64>, flags: u32, priority: i32) since 5050 one => create_with_priority;
    cuStreamDestroy_v2(stream: u64) since 4000 one => destroy;
    cuStreamSynchronize(stream: u64) since 2000 ptsz => wait;
    cuStreamQuery(stream: u64) since 2000 ptsz => wait;
    cuStreamWaitEvent(stream: u64, event: u64, flags: u32) since 3020 ptsz => wait_event;
    cuStreamGetPriority(stream: u64, priority: Out<i32>) since 5050 ptsz => priority;
    cuStreamGetFlags(stream: u64, flags: Out<u32>) since 5050 ptsz => flags;
    cuStreamGetId(stream: u64, id: Out<u64>) since 12000 ptsz => id;
    cuStreamGetCtx(stream: u64, context: Out<u64>) since 9020 ptsz => context;
    cuStreamGetCtx_v2(stream: u64, context: Out<u64>, green: Out<u64>) since 12050 ptsz => context_and_green;
    cuStreamGetDevice(stream: u64, device: Out<i32>) since 12080 ptsz => device;
    cuStreamAddCallback(stream: u64, callback: StreamCallback, data: Host, flags: u32) since 5000 ptsz => callback;
    cuStreamSetAttribute(stream: u64, attribute: u32, value: Host) since 11000 ptsz => set_attribute;
    cuStreamGetAttribute(stream: u64, attribute: u32, value: Out<[u64; 4]>) since 11000 ptsz => get_attribute;
    cuStreamCopyAttributes(to: u64, from: u64) since 11000 ptsz => copy_attributes;
    cuStreamAttachMemAsync(stream: u64, address: u64, size: usize, flags: u32) since 6000 ptsz => attach;
}

pub(crate) fn create(call: &Call, stream: Out<u64>, flags: u32) -> Answer {
    create_with_priority(call, stream, flags, 0)
}

pub(crate) fn create_with_priority(
    call: &Call,
    stream: Out<u64>,
    flags: u32,
    priority: i32,
) -> Answer {
    let (mut state, context) = call.context()?;
    if flags > 1 {
        return Err(refuse(
            Status::InvalidValue,
            format!("a stream with the unknown flags {flags}"),
        ));
    }
    let handle = state.handle();
    stream.give(handle)?;
    state.streams.add(handle, Stream { flags, priority, context });
    Ok(())
}

pub(crate) fn destroy(call: &Call, stream: u64) -> Answer {
    call.current()?.streams.destroy(stream)
}

pub(crate) fn wait(call: &Call, stream: u64) -> Answer {
    let state = call.current()?;
    state.streams.stream(stream)?;
    order::refuse_capture(&state, stream)
}

pub(crate) fn wait_event(call: &Call, stream: u64, event: u64, _flags: u32) -> Answer {
    let mut state = call.current()?;
    state.streams.stream(stream)?;
    state.streams.event(event)?;
    state.graphs.waits(stream, event);
    Ok(())
}

pub(crate) fn priority(call: &Call, stream: u64, priority: Out<i32>) -> Answer {
    let own = call.current()?.streams.stream(stream)?;
    priority.give(own.priority)
}

pub(crate) fn flags(call: &Call, stream: u64, flags: Out<u32>) -> Answer {
    let own = call.current()?.streams.stream(stream)?;
    flags.give(own.flags)
}

pub(crate) fn id(call: &Call, stream: u64, id: Out<u64>) -> Answer {
    call.current()?.streams.stream(stream)?;
    id.give(stream)
}

fn context(call: &Call, stream: u64, context: Out<u64>) -> Answer {
    let own = call.current()?.streams.stream(stream)?;
    let current = contexts::current().unwrap_or(0);
    context.give(if own.context == 0 { current } else { own.context })
}

fn context_and_green(call: &Call, stream: u64, context: Out<u64>, green: Out<u64>) -> Answer {
    green.give(0)?;
    self::context(call, stream, context)
}

pub(crate) fn device(call: &Call, stream: u64, device: Out<i32>) -> Answer {
    call.current()?.streams.stream(stream)?;
    device.give(0)
}

pub(crate) fn callback(
    call: &Call,
    stream: u64,
    callback: StreamCallback,
    data: Host,
    flags: u32,
) -> Answer {
    call.current()?.streams.stream(stream)?;
    if flags != 0 {
        return Err(refuse(Status::InvalidValue, "the flags are not 0"));
    }
    callbacks::run(call, move || callback.call(stream, data))
}

pub(crate) fn attach(call: &Call, stream: u64, address: u64, _size: usize, _flags: u32) -> Answer {
    let state = call.current()?;
    state.streams.stream(stream)?;
    state.memory.range(address, 1, "attaches").map(|_| ())
}

/// Caches, priorities, and when hosts may go on: which threads run does not depend on them.
pub(crate) fn set_attribute(call: &Call, stream: u64, _attribute: u32, value: Host) -> Answer {
    call.current()?.streams.stream(stream)?;
    if value.is_null() {
        return Err(refuse(Status::InvalidValue, "sets an attribute of a stream to nothing"));
    }
    Ok(())
}

/// Attributes are as if nobody had set them. The union for them had 32 bytes once, which still hold all that can be asked for.
pub(crate) fn get_attribute(
    call: &Call,
    stream: u64,
    _attribute: u32,
    value: Out<[u64; 4]>,
) -> Answer {
    call.current()?.streams.stream(stream)?;
    value.give([0; 4])
}

pub(crate) fn copy_attributes(call: &Call, to: u64, from: u64) -> Answer {
    let state = call.current()?;
    state.streams.stream(to)?;
    state.streams.stream(from).map(|_| ())
}
