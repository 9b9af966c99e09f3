//! Arrays: making them, and copies of bytes in the order of their elements. Copies of rows and planes are in `copies`.

use crate::allocation::Kind;
use crate::arrays::Array;
use crate::call::Call;
use crate::foreign::{Host, In, Out, Plain};
use crate::order;
use crate::status::{Answer, Refusal, Status, refuse};
use crate::work::Work;

exports! {
    cuArrayCreate_v2(array: Out<u64>, description: In<Plane>) since 3020 one => create;
    cuArrayGetDescriptor_v2(description: Out<Plane>, array: u64) since 3020 one => describe;
    cuArray3DCreate_v2(array: Out<u64>, description: In<Solid>) since 3020 one => create_solid;
    cuArray3DGetDescriptor_v2(description: Out<Solid>, array: u64) since 3020 one => describe_solid;
    cuArrayDestroy(array: u64) since 2000 one => destroy;
    cuMemcpyHtoA_v2(to: u64, offset: usize, from: Host, count: usize) since 3020 ptds => copy_in;
    cuMemcpyHtoAAsync_v2(to: u64, offset: usize, from: Host, count: usize, stream: u64) since 3020 ptsz => copy_in_in_order;
    cuMemcpyAtoH_v2(to: Host, from: u64, offset: usize, count: usize) since 3020 ptds => copy_out;
    cuMemcpyAtoHAsync_v2(to: Host, from: u64, offset: usize, count: usize, stream: u64) since 3020 ptsz => copy_out_in_order;
    cuMemcpyDtoA_v2(to: u64, offset: usize, from: u64, count: usize) since 3020 ptds => copy_from_device;
    cuMemcpyAtoD_v2(to: u64, from: u64, offset: usize, count: usize) since 3020 ptds => copy_to_device;
    cuMemcpyAtoA_v2(to: u64, to_offset: usize, from: u64, from_offset: usize, count: usize) since 3020 ptds => copy_within;
}

/// `CUDA_ARRAY_DESCRIPTOR`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Plane {
    extent: [usize; 2],
    format: u32,
    channels: u32,
}

// SAFETY: integers alone, without padding.
unsafe impl Plain for Plane {}

/// `CUDA_ARRAY3D_DESCRIPTOR`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Solid {
    extent: [usize; 3],
    format: u32,
    channels: u32,
    flags: u32,
    unused: u32,
}

// SAFETY: integers alone, without padding of its own.
unsafe impl Plain for Solid {}

fn make(call: &Call, to: Out<u64>, array: Array) -> Answer {
    let mut state = call.current()?;
    let base = state.memory.allocate(array.size()?, Kind::Array, array.flags)?;
    let fresh = state.handle();
    state.arrays.add(fresh, Array { base, ..array });
    to.give(fresh)
}

fn create(call: &Call, array: Out<u64>, description: In<Plane>) -> Answer {
    let Plane { extent: [width, height], format, channels } = description.read()?;
    let extent = [width, height, 0];
    make(call, array, Array { base: 0, extent, format, channels, flags: 0 })
}

fn create_solid(call: &Call, array: Out<u64>, description: In<Solid>) -> Answer {
    let Solid { extent, format, channels, flags, .. } = description.read()?;
    make(call, array, Array { base: 0, extent, format, channels, flags })
}

fn describe(call: &Call, description: Out<Plane>, array: u64) -> Answer {
    let Array { extent: [width, height, _], format, channels, .. } =
        call.current()?.arrays.array(array)?;
    description.give(Plane { extent: [width, height], format, channels })
}

fn describe_solid(call: &Call, description: Out<Solid>, array: u64) -> Answer {
    let Array { extent, format, channels, flags, .. } = call.current()?.arrays.array(array)?;
    description.give(Solid { extent, format, channels, flags, unused: 0 })
}

fn destroy(call: &Call, array: u64) -> Answer {
    let mut state = call.current()?;
    let own = state.arrays.remove(array)?;
    state.memory.free(own.base, &[Kind::Array])
}

/// Returns where the bytes from an offset on lie.
fn place(call: &Call, array: u64, offset: usize, count: usize) -> Result<u64, Refusal> {
    let own = call.current()?.arrays.array(array)?;
    let (size, start) = (own.size()?, offset as u64);
    if start.checked_add(count as u64).is_none_or(|end| end > size) {
        let reason = format!("copies {count} bytes from {offset} on of an array of {size} bytes");
        return Err(refuse(Status::InvalidValue, reason));
    }
    Ok(own.base + start)
}

fn submit(call: &Call, stream: u64, work: Work) -> Answer {
    order::submit(&mut *call.current()?, stream, work)
}

fn copy_in(call: &Call, to: u64, offset: usize, from: Host, count: usize) -> Answer {
    copy_in_in_order(call, to, offset, from, count, 0)
}

fn copy_in_in_order(
    call: &Call,
    to: u64,
    offset: usize,
    from: Host,
    count: usize,
    stream: u64,
) -> Answer {
    let to = place(call, to, offset, count)?;
    submit(call, stream, Work::In { to, from, count: count as u64 })
}

fn copy_out(call: &Call, to: Host, from: u64, offset: usize, count: usize) -> Answer {
    copy_out_in_order(call, to, from, offset, count, 0)
}

fn copy_out_in_order(
    call: &Call,
    to: Host,
    from: u64,
    offset: usize,
    count: usize,
    stream: u64,
) -> Answer {
    let from = place(call, from, offset, count)?;
    submit(call, stream, Work::Out { to, from, count: count as u64 })
}

fn copy_from_device(call: &Call, to: u64, offset: usize, from: u64, count: usize) -> Answer {
    let to = place(call, to, offset, count)?;
    submit(call, 0, Work::Within { to, from, count: count as u64 })
}

fn copy_to_device(call: &Call, to: u64, from: u64, offset: usize, count: usize) -> Answer {
    let from = place(call, from, offset, count)?;
    submit(call, 0, Work::Within { to, from, count: count as u64 })
}

fn copy_within(
    call: &Call,
    to: u64,
    to_offset: usize,
    from: u64,
    from_offset: usize,
    count: usize,
) -> Answer {
    let (to, from) = (place(call, to, to_offset, count)?, place(call, from, from_offset, count)?);
    submit(call, 0, Work::Within { to, from, count: count as u64 })
}
