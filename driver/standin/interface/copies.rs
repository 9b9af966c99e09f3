//! Copies: between host and device, within the device, of rows.

use crate::call::Call;
use crate::foreign::{Host, In, Plain};
use crate::memory::Memory;
use crate::order;
use crate::state::State;
use crate::status::{Answer, Refusal, Status, refuse};
use crate::work::Work;

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

/// Where one side of a copy is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopyPlace {
    /// Of the host.
    Host,
    /// Of the device, or of the host and known to the device.
    Device,
    /// Either: the address says which.
    Unified,
}

/// Returns whether an address is one that the device knows.
fn is_devices(memory: &Memory, (place, address): (CopyPlace, u64)) -> bool {
    match place {
        CopyPlace::Host => false,
        CopyPlace::Device => true,
        CopyPlace::Unified => memory.is_known(address),
    }
}

/// Returns a copy as work.
pub(crate) fn work(
    memory: &Memory,
    to: (CopyPlace, u64),
    from: (CopyPlace, u64),
    count: u64,
) -> Work {
    let ((_, target), (_, source)) = (to, from);
    match (is_devices(memory, to), is_devices(memory, from)) {
        (true, true) => Work::Within { to: target, from: source, count },
        (true, false) => Work::In { to: target, from: Host::at(source), count },
        (false, true) => Work::Out { to: Host::at(target), from: source, count },
        (false, false) => Work::OnHost { to: Host::at(target), from: Host::at(source), count },
    }
}

/// Copies, or keeps the copy for a graph if the stream is captured.
pub(crate) fn copy(
    state: &mut State,
    stream: u64,
    to: (CopyPlace, u64),
    from: (CopyPlace, u64),
    count: u64,
) -> Answer {
    let work = work(&state.memory, to, from, count);
    order::submit(state, stream, work)
}

fn unified(call: &Call, to: u64, from: u64, count: usize) -> Answer {
    unified_in_order(call, to, from, count, 0)
}

fn peer(call: &Call, to: u64, _: u64, from: u64, _: u64, count: usize) -> Answer {
    within(call, to, from, count)
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
    copy(&mut state, stream, (CopyPlace::Unified, to), (CopyPlace::Unified, from), count as u64)
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
pub(crate) struct PlanesSide {
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
pub(crate) struct Planes {
    from: PlanesSide,
    to: PlanesSide,
    width: usize,
    height: usize,
    depth: usize,
}

// SAFETY: integers alone, without padding.
unsafe impl Plain for Planes {}

/// Kinds of memory of a side (`CUmemorytype`).
const HOST: u32 = 1;
const DEVICE: u32 = 2;
const ARRAY: u32 = 3;
const UNIFIED: u32 = 4;

impl PlanesSide {
    /// Makes a side of plain memory: an address, x, y and z of the first byte, bytes of a row, rows of a plane.
    pub(crate) fn new(
        place: CopyPlace,
        address: u64,
        [x, y, z]: [usize; 3],
        pitch: usize,
        height: usize,
    ) -> Self {
        let kind = match place {
            CopyPlace::Host => HOST,
            CopyPlace::Device => DEVICE,
            CopyPlace::Unified => UNIFIED,
        };
        let (host, device) = (address, address);
        PlanesSide {
            x,
            y,
            z,
            level: 0,
            kind,
            unused: 0,
            host,
            device,
            array: 0,
            reserved: 0,
            pitch,
            height,
        }
    }
}

impl Planes {
    /// Makes a copy of its sides and its extent.
    pub(crate) fn new(to: PlanesSide, from: PlanesSide, extent: [usize; 3]) -> Self {
        let [width, height, depth] = extent;
        Planes { from, to, width, height, depth }
    }
}

/// A side of a copy: where its first byte is, and how far rows and planes are apart.
#[derive(Clone, Copy)]
struct Side {
    kind: CopyPlace,
    start: u64,
    row: u64,
    plane: u64,
}

impl Side {
    /// Returns where the last row begins; `None` if there is no such address.
    fn last(self, height: u64, depth: u64) -> Option<u64> {
        let rows = height.checked_sub(1)?.checked_mul(self.row)?;
        let planes = depth.checked_sub(1)?.checked_mul(self.plane)?;
        self.start.checked_add(rows)?.checked_add(planes)
    }
}

fn side(of: &PlanesSide, width: usize) -> Result<Side, Refusal> {
    let (kind, address) = match of.kind {
        HOST => (CopyPlace::Host, of.host),
        DEVICE => (CopyPlace::Device, of.device),
        UNIFIED => (CopyPlace::Unified, of.device),
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

/// Returns a side that is no array: one that is has its rows in the device's memory.
fn plain(state: &State, of: PlanesSide, copy: &Planes) -> Result<PlanesSide, Refusal> {
    if of.kind != ARRAY {
        return Ok(of);
    }
    let own = state.arrays.array(of.array)?;
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
    Ok(PlanesSide { kind: DEVICE, device: own.base, pitch, height, ..of })
}

/// Returns the copies of the rows as work.
pub(crate) fn works(state: &State, copy: &Planes) -> Result<Vec<Work>, Refusal> {
    let (from, to) = (plain(state, copy.from, copy)?, plain(state, copy.to, copy)?);
    let copy = &Planes { from, to, ..*copy };
    let (from, to) = (side(&copy.from, copy.width)?, side(&copy.to, copy.width)?);
    let width = copy.width as u64;
    if width == 0 || copy.height == 0 || copy.depth == 0 {
        return Ok(Vec::new());
    }
    // Numbers of rows that no memory has are refused before each is looked at.
    for (side, verb) in [(from, "copies from"), (to, "copies to")] {
        let last = side.last(copy.height as u64, copy.depth as u64).ok_or(Status::InvalidValue)?;
        if is_devices(&state.memory, (side.kind, side.start)) {
            state.memory.range(last, width, verb)?;
        }
    }
    let rows = (0..copy.depth as u64).flat_map(|z| (0..copy.height as u64).map(move |y| (z, y)));
    let work = |(z, y)| {
        let at = |side: Side| side.start.wrapping_add(y * side.row).wrapping_add(z * side.plane);
        self::work(&state.memory, (to.kind, at(to)), (from.kind, at(from)), width)
    };
    Ok(rows.map(work).collect())
}

/// Copies row by row, or keeps the copies for a graph if the stream is captured.
pub(crate) fn copy_planes(call: &Call, copy: &Planes, stream: u64) -> Answer {
    let mut state = call.current()?;
    let works = works(&state, copy)?;
    works.into_iter().try_for_each(|work| order::submit(&mut state, stream, work))
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
    rows_in_order(call, copy, 0)
}

fn rows_in_order(call: &Call, copy: In<Rows>, stream: u64) -> Answer {
    copy_planes(call, &planes_of(&copy.read()?), stream)
}

fn planes(call: &Call, copy: In<Planes>) -> Answer {
    planes_in_order(call, copy, 0)
}

fn planes_in_order(call: &Call, copy: In<Planes>, stream: u64) -> Answer {
    copy_planes(call, &copy.read()?, stream)
}
