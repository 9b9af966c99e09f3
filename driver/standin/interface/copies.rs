//! Copies: between host and device, within the device, of rows.

use crate::call::Call;
use crate::foreign::{Host, In, Plain};
use crate::graphs::Work;
use crate::memory::Memory;
use crate::order;
use crate::status::{Answer, Refusal, Status, refuse};

exports! {
    cuMemcpyHtoD_v2(to: u64, from: Host, count: usize) since 3020 ptds => in_;
    cuMemcpyDtoH_v2(to: Host, from: u64, count: usize) since 3020 ptds => out;
    cuMemcpyDtoD_v2(to: u64, from: u64, count: usize) since 3020 ptds => within;
    cuMemcpy(to: u64, from: u64, count: usize) since 4000 ptds => unified;
    cuMemcpyPeer(to: u64, to_context: u64, from: u64, from_context: u64, count: usize) since 4000 ptds => peer;
    cuMemcpyHtoDAsync_v2(to: u64, from: Host, count: usize, stream: u64) since 3020 ptsz => in_in_order;
    cuMemcpyDtoHAsync_v2(to: Host, from: u64, count: usize, stream: u64) since 3020 ptsz => out_in_order;
    cuMemcpyDtoDAsync_v2(to: u64, from: u64, count: usize, stream: u64) since 3020 ptsz => within_in_order;
    cuMemcpyAsync(to: u64, from: u64, count: usize, stream: u64) since 4000 ptsz => unified_in_order;
    cuMemcpyPeerAsync(to: u64, to_context: u64, from: u64, from_context: u64, count: usize, stream: u64) since 4000 ptsz => peer_in_order;
    cuMemcpy2D_v2(copy: In<Rows>) since 3020 ptds => rows;
    cuMemcpy2DUnaligned_v2(copy: In<Rows>) since 3020 ptds => rows;
    cuMemcpy2DAsync_v2(copy: In<Rows>, stream: u64) since 3020 ptsz => rows_in_order;
    cuMemcpy3D_v2(copy: In<Planes>) since 3020 ptds => planes;
    cuMemcpy3DAsync_v2(copy: In<Planes>, stream: u64) since 3020 ptsz => planes_in_order;
}

fn in_(call: &Call, to: u64, from: Host, count: usize) -> Answer {
    call.current()?.memory.copy_in(to, from, count as u64)
}

fn out(call: &Call, to: Host, from: u64, count: usize) -> Answer {
    call.current()?.memory.copy_out(to, from, count as u64)
}

fn within(call: &Call, to: u64, from: u64, count: usize) -> Answer {
    call.current()?.memory.copy(to, from, count as u64)
}

/// Either side might be of the host or of the device: where it is says which.
fn unified(call: &Call, to: u64, from: u64, count: usize) -> Answer {
    between(&mut call.current()?.memory, to, from, count as u64)
}

fn between(memory: &mut Memory, to: u64, from: u64, count: u64) -> Answer {
    match (memory.is_known(to), memory.is_known(from)) {
        (true, true) => memory.copy(to, from, count),
        (true, false) => memory.copy_in(to, Host::at(from), count),
        (false, true) => memory.copy_out(Host::at(to), from, count),
        (false, false) => Memory::copy_on_host(Host::at(to), Host::at(from), count),
    }
}

fn peer(call: &Call, to: u64, _: u64, from: u64, _: u64, count: usize) -> Answer {
    within(call, to, from, count)
}

/// A stream that copies of rows can be given to: they are not kept for graphs.
fn stream(call: &Call, stream: u64) -> Answer {
    let state = call.current()?;
    state.streams.stream(stream)?;
    if state.graphs.capture_of(stream).is_some() {
        let reason = "captures a copy of rows, which the recorder cannot";
        return Err(refuse(Status::StreamCaptureUnsupported, reason));
    }
    Ok(())
}

fn in_in_order(call: &Call, to: u64, from: Host, count: usize, stream: u64) -> Answer {
    order::submit(&mut *call.current()?, stream, Work::In { to, from, count: count as u64 })
}

fn out_in_order(call: &Call, to: Host, from: u64, count: usize, stream: u64) -> Answer {
    order::submit(&mut *call.current()?, stream, Work::Out { to, from, count: count as u64 })
}

fn within_in_order(call: &Call, to: u64, from: u64, count: usize, stream: u64) -> Answer {
    order::submit(&mut *call.current()?, stream, Work::Within { to, from, count: count as u64 })
}

fn unified_in_order(call: &Call, to: u64, from: u64, count: usize, stream: u64) -> Answer {
    let mut state = call.current()?;
    let (memory, count) = (&state.memory, count as u64);
    let work = match (memory.is_known(to), memory.is_known(from)) {
        (true, true) => Work::Within { to, from, count },
        (true, false) => Work::In { to, from: Host::at(from), count },
        (false, true) => Work::Out { to: Host::at(to), from, count },
        (false, false) => return Memory::copy_on_host(Host::at(to), Host::at(from), count),
    };
    order::submit(&mut state, stream, work)
}

fn peer_in_order(
    call: &Call,
    to: u64,
    _: u64,
    from: u64,
    _: u64,
    count: usize,
    stream: u64,
) -> Answer {
    within_in_order(call, to, from, count, stream)
}

/// One side of a copy of rows, as `CUDA_MEMCPY2D` has it twice.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct RowsSide {
    x: usize,
    y: usize,
    kind: u32,
    unused: u32,
    host: u64,
    device: u64,
    array: u64,
    pitch: usize,
}

/// `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Rows {
    from: RowsSide,
    to: RowsSide,
    width: usize,
    height: usize,
}

// SAFETY: integers alone, without padding.
unsafe impl Plain for Rows {}

/// One side of a copy of planes, as `CUDA_MEMCPY3D` has it twice.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct PlanesSide {
    x: usize,
    y: usize,
    z: usize,
    level: usize,
    kind: u32,
    unused: u32,
    host: u64,
    device: u64,
    array: u64,
    reserved: u64,
    pitch: usize,
    height: usize,
}

/// `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Planes {
    from: PlanesSide,
    to: PlanesSide,
    width: usize,
    height: usize,
    depth: usize,
}

// SAFETY: integers alone, without padding.
unsafe impl Plain for Planes {}

/// A side of a copy: where its first byte is, and how far rows and planes are apart.
#[derive(Clone, Copy)]
struct Side {
    kind: Place,
    start: u64,
    row: u64,
    plane: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Host,
    Device,
    Unified,
}

fn side(of: &PlanesSide, width: usize) -> Result<Side, Refusal> {
    let (kind, address) = match of.kind {
        1 => (Place::Host, of.host),
        2 => (Place::Device, of.device),
        4 => (Place::Unified, of.device),
        other => {
            return Err(refuse(Status::InvalidValue, format!("a copy of unknown memory {other}")));
        }
    };
    // No pitch means that rows follow each other.
    let row = if of.pitch == 0 { width as u64 } else { of.pitch as u64 };
    if row < width as u64 {
        return Err(refuse(
            Status::InvalidValue,
            format!("rows of {width} bytes, {row} bytes apart"),
        ));
    }
    let plane = row.checked_mul(of.height as u64).ok_or(Status::InvalidValue)?;
    let offset = || {
        let rows = (of.y as u64).checked_mul(row)?;
        let planes = (of.z as u64).checked_mul(plane)?;
        address.checked_add(of.x as u64)?.checked_add(rows)?.checked_add(planes)
    };
    Ok(Side { kind, start: offset().ok_or(Status::InvalidValue)?, row, plane })
}

/// Number of the kind of memory that arrays are, and of the kind that they are taken for here.
const OF_ARRAY: u32 = 3;
const OF_DEVICE: u32 = 2;

/// Returns a side that is no array: one that is has its rows in the device's memory.
fn plain(call: &Call, of: PlanesSide, copy: &Planes) -> Result<PlanesSide, Refusal> {
    if of.kind != OF_ARRAY {
        return Ok(of);
    }
    let own = call.current()?.arrays.array(of.array)?;
    let (pitch, [_, height, depth]) = (own.row()?, own.extent.map(|size| size.max(1)));
    let ends = [(of.x, copy.width, pitch), (of.y, copy.height, height), (of.z, copy.depth, depth)];
    for (start, count, size) in ends {
        if start.checked_add(count).is_none_or(|end| end > size) {
            let reason = format!(
                "copies {count} from {start} on, in one direction, of an array with {size}"
            );
            return Err(refuse(Status::InvalidValue, reason));
        }
    }
    Ok(PlanesSide { kind: OF_DEVICE, device: own.base, pitch, height, ..of })
}

fn copy_planes(call: &Call, copy: &Planes) -> Answer {
    let (from, to) = (plain(call, copy.from, copy)?, plain(call, copy.to, copy)?);
    let copy = &Planes { from, to, ..*copy };
    let (from, to) = (side(&copy.from, copy.width)?, side(&copy.to, copy.width)?);
    let width = copy.width as u64;
    let mut state = call.current()?;
    let memory = &mut state.memory;
    for z in 0..copy.depth as u64 {
        for y in 0..copy.height as u64 {
            let at =
                |side: Side| side.start.wrapping_add(y * side.row).wrapping_add(z * side.plane);
            let (source, target) = (at(from), at(to));
            match (to.kind, from.kind) {
                (Place::Device, Place::Host) => memory.copy_in(target, Host::at(source), width),
                (Place::Host, Place::Device) => memory.copy_out(Host::at(target), source, width),
                (Place::Device, Place::Device) => memory.copy(target, source, width),
                (Place::Host, Place::Host) => {
                    Memory::copy_on_host(Host::at(target), Host::at(source), width)
                }
                _ => between(memory, target, source, width),
            }?;
        }
    }
    Ok(())
}

fn planes_of(rows: &Rows) -> Planes {
    let side = |of: RowsSide| PlanesSide {
        x: of.x,
        y: of.y,
        z: 0,
        level: 0,
        kind: of.kind,
        unused: 0,
        host: of.host,
        device: of.device,
        array: of.array,
        reserved: 0,
        pitch: of.pitch,
        height: 0,
    };
    Planes {
        from: side(rows.from),
        to: side(rows.to),
        width: rows.width,
        height: rows.height,
        depth: 1,
    }
}

fn rows(call: &Call, copy: In<Rows>) -> Answer {
    copy_planes(call, &planes_of(&copy.read()?))
}

fn rows_in_order(call: &Call, copy: In<Rows>, stream: u64) -> Answer {
    self::stream(call, stream)?;
    rows(call, copy)
}

fn planes(call: &Call, copy: In<Planes>) -> Answer {
    copy_planes(call, &copy.read()?)
}

fn planes_in_order(call: &Call, copy: In<Planes>, stream: u64) -> Answer {
    self::stream(call, stream)?;
    planes(call, copy)
}
