//! Memory management: rows and planes with a distance between them.

use crate::allocation::Kind;
use crate::call::Call;
use crate::foreign::{Host, In, Out, Plain};
use crate::interface::copies::{self, Planes, PlanesSide};
use crate::interface::{allocations, sets};
use crate::runtime::copies::places;
use crate::status::{Answer, Refusal, Status, refuse};

runtime! {
    cudaMallocPitch(address: Out<u64>, pitch: Out<usize>, width: usize, height: usize) one => allocate_rows;
    cudaMalloc3D(pitched: Host, extent: PlanesExtent) one => allocate_planes;
    cudaMemcpy2D(to: u64, to_pitch: usize, from: u64, from_pitch: usize, width: usize, height: usize, kind: u32) ptds => copy_rows;
    cudaMemcpy2DAsync(to: u64, to_pitch: usize, from: u64, from_pitch: usize, width: usize, height: usize, kind: u32, stream: u64) ptsz => copy_rows_in_order;
    cudaMemcpy3D(copy: In<PlanesCopy>) ptds => copy_planes;
    cudaMemcpy3DAsync(copy: In<PlanesCopy>, stream: u64) ptsz => copy_planes_in_order;
    cudaMemset2D(to: u64, pitch: usize, value: i32, width: usize, height: usize) ptds => set_rows;
    cudaMemset2DAsync(to: u64, pitch: usize, value: i32, width: usize, height: usize, stream: u64) ptsz => set_rows_in_order;
    cudaMemset3D(pitched: Pitched, value: i32, extent: PlanesExtent) ptds => set_planes;
    cudaMemset3DAsync(pitched: Pitched, value: i32, extent: PlanesExtent, stream: u64) ptsz => set_planes_in_order;
}

/// `cudaExtent`: bytes of a row, rows of a plane, planes.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct PlanesExtent {
    width: usize,
    height: usize,
    depth: usize,
}

/// `cudaPitchedPtr`: an address, bytes from row to row, bytes of a row that are used, rows of a plane.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Pitched {
    address: u64,
    pitch: usize,
    width: usize,
    height: usize,
}

// SAFETY: integers alone, without padding.
unsafe impl Plain for Pitched {}

/// One side of a copy, as `cudaMemcpy3DParms` has it twice.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct PitchedSide {
    array: u64,
    at: [usize; 3],
    memory: Pitched,
}

/// `cudaMemcpy3DParms`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct PlanesCopy {
    from: PitchedSide,
    to: PitchedSide,
    extent: PlanesExtent,
    kind: u32,
    padding: u32,
}

// SAFETY: integers alone, without padding of its own.
unsafe impl Plain for PlanesCopy {}

fn allocate_rows(
    call: &Call,
    address: Out<u64>,
    pitch: Out<usize>,
    width: usize,
    height: usize,
) -> Answer {
    if width == 0 || height == 0 {
        pitch.give(0)?;
        return address.give(0);
    }
    let row = allocations::pitch_of(width)?;
    let bytes = row.checked_mul(height).ok_or(Status::InvalidValue)?;
    allocations::give(call, address, bytes, Kind::Device, 0)?;
    pitch.give(row)
}

fn allocate_planes(call: &Call, pitched: Host, extent: PlanesExtent) -> Answer {
    if pitched.is_null() {
        return Err(refuse(Status::InvalidValue, "no place for the address is given"));
    }
    let PlanesExtent { width, height, depth } = extent;
    let rows = height.checked_mul(depth).ok_or(Status::InvalidValue)?;
    // Address and distance are the first two of the structure.
    allocate_rows(call, pitched.result(), pitched.offset(8).result(), width, rows)?;
    pitched.offset(16).result::<[usize; 2]>().give([width, height])
}

/// Refuses rows that are longer than their distance.
fn check_pitch(pitch: usize, width: usize, rows: usize) -> Answer {
    if pitch < width && rows > 0 {
        let reason = format!("rows of {width} bytes, {pitch} bytes apart");
        return Err(refuse(Status::InvalidPitchValue, reason));
    }
    Ok(())
}

#[allow(clippy::too_many_arguments, reason = "the library's own parameters")]
fn copy_rows(
    call: &Call,
    to: u64,
    to_pitch: usize,
    from: u64,
    from_pitch: usize,
    width: usize,
    height: usize,
    kind: u32,
) -> Answer {
    copy_rows_in_order(call, to, to_pitch, from, from_pitch, width, height, kind, 0)
}

#[allow(clippy::too_many_arguments, reason = "the library's own parameters")]
fn copy_rows_in_order(
    call: &Call,
    to: u64,
    to_pitch: usize,
    from: u64,
    from_pitch: usize,
    width: usize,
    height: usize,
    kind: u32,
    stream: u64,
) -> Answer {
    let (target, source) = places(kind)?;
    check_pitch(to_pitch, width, height)?;
    check_pitch(from_pitch, width, height)?;
    let to = PlanesSide::new(target, to, [0; 3], to_pitch, height);
    let from = PlanesSide::new(source, from, [0; 3], from_pitch, height);
    copies::copy_planes(call, &Planes::new(to, from, [width, height, 1]), stream)
}

fn copy_planes(call: &Call, copy: In<PlanesCopy>) -> Answer {
    copy_planes_in_order(call, copy, 0)
}

fn copy_planes_in_order(call: &Call, copy: In<PlanesCopy>, stream: u64) -> Answer {
    copies::copy_planes(call, &copy.read()?.planes()?, stream)
}

impl PlanesCopy {
    /// Returns the same as the driver's structure.
    pub(super) fn planes(self) -> Result<Planes, Refusal> {
        let PlanesCopy { from, to, extent, kind, .. } = self;
        let (target, source) = places(kind)?;
        let side = |of: PitchedSide, place| -> Result<PlanesSide, Refusal> {
            if of.array != 0 {
                let reason = "copies of arrays are not supported by the recorder";
                return Err(refuse(Status::NotSupported, reason));
            }
            let Pitched { address, pitch, height, .. } = of.memory;
            check_pitch(pitch, extent.width, extent.height)?;
            Ok(PlanesSide::new(place, address, of.at, pitch, height))
        };
        let planes = [extent.width, extent.height, extent.depth];
        Ok(Planes::new(side(to, target)?, side(from, source)?, planes))
    }
}

fn set_rows(call: &Call, to: u64, pitch: usize, value: i32, width: usize, height: usize) -> Answer {
    set_rows_in_order(call, to, pitch, value, width, height, 0)
}

fn set_rows_in_order(
    call: &Call,
    to: u64,
    pitch: usize,
    value: i32,
    width: usize,
    height: usize,
    stream: u64,
) -> Answer {
    check_pitch(pitch, width, height)?;
    // The value is that of a byte.
    sets::set(call, to, pitch, &value.to_le_bytes()[..1], width, height, stream)
}

fn set_planes(call: &Call, pitched: Pitched, value: i32, extent: PlanesExtent) -> Answer {
    set_planes_in_order(call, pitched, value, extent, 0)
}

fn set_planes_in_order(
    call: &Call,
    pitched: Pitched,
    value: i32,
    extent: PlanesExtent,
    stream: u64,
) -> Answer {
    let Pitched { address, pitch, height, .. } = pitched;
    if extent.width == 0 || extent.height == 0 {
        return Ok(());
    }
    let plane = pitch.checked_mul(height).ok_or(Status::InvalidValue)? as u64;
    for z in 0..extent.depth as u64 {
        let offset = plane.checked_mul(z).ok_or(Status::InvalidValue)?;
        let to = address.checked_add(offset).ok_or(Status::InvalidValue)?;
        set_rows_in_order(call, to, pitch, value, extent.width, extent.height, stream)?;
    }
    Ok(())
}
