//! Tensor maps: making them, and giving them another address.

use crate::call::Call;
use crate::foreign::{Host, In, Out};
use crate::status::{Answer, Refusal, Status, refuse};
use crate::tensor::{ELEMENTS, Mode, RANK, SIZE, TensorMap};

exports! {
    cuTensorMapEncodeTiled(map: Out<[u8; SIZE]>, element: u32, rank: u32, address: Host, sizes: In<u64>, strides: In<u64>, extent: In<u32>, steps: In<u32>, interleave: u32, swizzle: u32, promotion: u32, fill: u32) since 12000 one => tiled;
    cuTensorMapEncodeIm2col(map: Out<[u8; SIZE]>, element: u32, rank: u32, address: Host, sizes: In<u64>, strides: In<u64>, lower: In<i32>, upper: In<i32>, channels: u32, pixels: u32, steps: In<u32>, interleave: u32, swizzle: u32, promotion: u32, fill: u32) since 12000 one => columns;
    cuTensorMapEncodeIm2colWide(map: Out<[u8; SIZE]>, element: u32, rank: u32, address: Host, sizes: In<u64>, strides: In<u64>, lower: i32, upper: i32, channels: u32, pixels: u32, steps: In<u32>, interleave: u32, mode: u32, swizzle: u32, promotion: u32, fill: u32) since 12080 one => wide;
    cuTensorMapReplaceAddress(map: Out<[u8; SIZE]>, address: Host) since 12000 one => replace_address;
}

/// Numbers of types of elements with fewer bits than a byte, which have conditions of their own.
const U4: u8 = 13;
const U4_APART: u8 = 14;
const U6_APART: u8 = 15;

fn wrong(reason: String) -> Refusal {
    refuse(Status::InvalidValue, reason)
}

/// Refuses a value that is not in a range.
fn within(name: &str, value: u64, least: u64, most: u64) -> Answer {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(wrong(format!("{name} is {value}, of {least} to {most}")))
}

fn multiple(name: &str, value: u64, of: u64) -> Answer {
    if value.is_multiple_of(of) {
        Ok(())
    } else {
        Err(wrong(format!("{name} is {value}, no multiple of {of}")))
    }
}

/// Whether elements of less than a byte lie apart, so that conditions of their own hold.
fn is_apart(element: u8) -> bool {
    matches!(element, U4_APART | U6_APART)
}

/// Returns the bytes of which the address and the strides of a map are multiples.
fn unit(interleave: u64, element: u8) -> u64 {
    if interleave == 2 || is_apart(element) { 32 } else { 16 }
}

/// What all kinds of maps have.
struct Common {
    element: u32,
    rank: u32,
    address: Host,
    sizes: In<u64>,
    strides: In<u64>,
    steps: In<u32>,
    modes: [u32; 4],
}

/// Reads what all kinds have, and refuses what the manual says of them all.
fn common(call: &Call, of: &Common, least_rank: u64) -> Result<TensorMap, Refusal> {
    let state = call.current()?;
    if !state.device.has_clusters() {
        let reason = "makes a tensor map, which devices before compute capability 9.0 do not have";
        return Err(refuse(Status::InvalidValue, reason));
    }
    let [interleave, swizzle, promotion, fill] = of.modes.map(u64::from);
    within("tensorDataType", of.element.into(), 0, ELEMENTS.len() as u64 - 1)?;
    within("interleave", interleave, 0, 2)?;
    within("swizzle", swizzle, 0, 6)?;
    within("l2Promotion", promotion, 0, 3)?;
    within("oobFill", fill, 0, 1)?;
    let least_rank = if interleave == 0 { least_rank } else { least_rank.max(3) };
    within("tensorRank", of.rank.into(), least_rank, RANK as u64)?;
    let element = u8::try_from(of.element).unwrap_or(0);
    let unit = unit(interleave, element);
    multiple("globalAddress", of.address.number(), unit)?;
    if interleave == 2 && swizzle != 1 {
        return Err(wrong(format!(
            "swizzle is {swizzle}, and 1 has to go with an interleave of 32 bytes"
        )));
    }
    let rank = usize::try_from(of.rank).unwrap_or(RANK);
    let (mut last, mut strides, mut steps) = ([0; RANK], [0; RANK - 1], [0; RANK]);
    for at in 0..rank {
        let (size, step) = (of.sizes.at(at)?, u64::from(of.steps.at(at)?));
        within(&format!("globalDim[{at}]"), size, 1, 1 << 32)?;
        // There is no step in the first dimension unless it is interleaved.
        if at > 0 || interleave != 0 {
            within(&format!("elementStrides[{at}]"), step, 1, 8)?;
        }
        last[at] = u32::try_from(size - 1).unwrap_or(u32::MAX);
        steps[at] = u8::try_from(step).unwrap_or(1);
    }
    for (at, place) in strides.iter_mut().enumerate().take(rank - 1) {
        *place = of.strides.at(at)?;
        let name = format!("globalStrides[{at}]");
        within(&name, *place, 0, (1 << 40) - 1)?;
        multiple(&name, *place, unit)?;
    }
    match element {
        U4 => multiple("globalDim[0]", u64::from(last[0]) + 1, 2)?,
        _ if is_apart(element) => multiple("globalDim[0]", u64::from(last[0]) + 1, 128)?,
        _ => {}
    }
    let address = of.address.number();
    let modes = of.modes.map(|mode| u8::try_from(mode).unwrap_or(0));
    let mode = Mode::Tiled([0; RANK]);
    Ok(TensorMap { address, element, rank, last, strides, steps, modes, mode })
}

/// Gives a map that the manual wants aligned.
fn give(to: Out<[u8; SIZE]>, map: &TensorMap) -> Answer {
    if !to.is_aligned_to(64) {
        return Err(wrong("the map is not at a multiple of 64".to_owned()));
    }
    to.give(map.encode())
}

/// Refuses boxes whose rows do not fit the mode of swizzling. `elements`: of a row.
fn inner(map: &TensorMap, name: &str, elements: u64) -> Answer {
    let [interleave, swizzle, ..] = map.modes;
    if interleave != 0 {
        return Ok(());
    }
    let bytes = elements * ELEMENTS[usize::from(map.element)].1 / 8;
    multiple(&format!("the number of bytes of {name}"), bytes, 16)?;
    let most = match swizzle {
        0 => return Ok(()),
        1 => 32,
        2 => 64,
        _ => 128,
    };
    within(&format!("the number of bytes of {name}"), bytes, 1, most)
}

#[allow(clippy::too_many_arguments, reason = "the driver's own parameters")]
fn tiled(
    call: &Call,
    to: Out<[u8; SIZE]>,
    element: u32,
    rank: u32,
    address: Host,
    sizes: In<u64>,
    strides: In<u64>,
    extent: In<u32>,
    steps: In<u32>,
    interleave: u32,
    swizzle: u32,
    promotion: u32,
    fill: u32,
) -> Answer {
    let modes = [interleave, swizzle, promotion, fill];
    let of = Common { element, rank, address, sizes, strides, steps, modes };
    let map = common(call, &of, 1)?;
    let mut own = [0; RANK];
    for (at, place) in own.iter_mut().enumerate().take(map.rank) {
        let size = extent.at(at)?;
        within(&format!("boxDim[{at}]"), size.into(), 1, 256)?;
        *place = u16::try_from(size).unwrap_or(256);
    }
    if is_apart(map.element) {
        within("boxDim[0]", own[0].into(), 128, 128)?;
    }
    inner(&map, "boxDim[0]", own[0].into())?;
    give(to, &TensorMap { mode: Mode::Tiled(own), ..map })
}

fn corner(name: &str, value: i32, bits: u32) -> Result<i16, Refusal> {
    let most = (1_i32 << (bits - 1)) - 1;
    if !(-most - 1..=most).contains(&value) {
        return Err(wrong(format!("{name} is {value}, of {} to {most}", -most - 1)));
    }
    Ok(i16::try_from(value).unwrap_or(0))
}

fn columns_of(map: &TensorMap, channels: u32, pixels: u32) -> Result<(u16, u16), Refusal> {
    within("channelsPerPixel", channels.into(), 1, 256)?;
    within("pixelsPerColumn", pixels.into(), 1, 1024)?;
    inner(map, "channelsPerPixel", channels.into())?;
    Ok((u16::try_from(channels).unwrap_or(0), u16::try_from(pixels).unwrap_or(0)))
}

#[allow(clippy::too_many_arguments, reason = "the driver's own parameters")]
fn columns(
    call: &Call,
    to: Out<[u8; SIZE]>,
    element: u32,
    rank: u32,
    address: Host,
    sizes: In<u64>,
    strides: In<u64>,
    lower: In<i32>,
    upper: In<i32>,
    channels: u32,
    pixels: u32,
    steps: In<u32>,
    interleave: u32,
    swizzle: u32,
    promotion: u32,
    fill: u32,
) -> Answer {
    let modes = [interleave, swizzle, promotion, fill];
    let of = Common { element, rank, address, sizes, strides, steps, modes };
    let map = common(call, &of, 3)?;
    let (channels, pixels) = columns_of(&map, channels, pixels)?;
    // The more dimensions, the fewer bits each corner has.
    let bits = [16, 8, 5][map.rank.clamp(3, RANK) - 3];
    let (mut low, mut high) = ([0; RANK - 2], [0; RANK - 2]);
    for at in 0..map.rank - 2 {
        low[at] = corner(&format!("pixelBoxLowerCorner[{at}]"), lower.at(at)?, bits)?;
        high[at] = corner(&format!("pixelBoxUpperCorner[{at}]"), upper.at(at)?, bits)?;
    }
    let mode = Mode::Columns { lower: low, upper: high, channels, pixels };
    give(to, &TensorMap { mode, ..map })
}

#[allow(clippy::too_many_arguments, reason = "the driver's own parameters")]
fn wide(
    call: &Call,
    to: Out<[u8; SIZE]>,
    element: u32,
    rank: u32,
    address: Host,
    sizes: In<u64>,
    strides: In<u64>,
    lower: i32,
    upper: i32,
    channels: u32,
    pixels: u32,
    steps: In<u32>,
    interleave: u32,
    mode: u32,
    swizzle: u32,
    promotion: u32,
    fill: u32,
) -> Answer {
    let modes = [interleave, swizzle, promotion, fill];
    let of = Common { element, rank, address, sizes, strides, steps, modes };
    let map = common(call, &of, 3)?;
    let (channels, pixels) = columns_of(&map, channels, pixels)?;
    within("mode", mode.into(), 0, 1)?;
    let (lower, upper) = (
        corner("pixelBoxLowerCornerWidth", lower, 16)?,
        corner("pixelBoxUpperCornerWidth", upper, 16)?,
    );
    let mode = u8::try_from(mode).unwrap_or(0);
    give(to, &TensorMap { mode: Mode::Wide { lower, upper, channels, pixels, mode }, ..map })
}

fn replace_address(call: &Call, to: Out<[u8; SIZE]>, address: Host) -> Answer {
    drop(call.current()?);
    let map = TensorMap::decode(&to.present()?);
    let map = map.ok_or_else(|| wrong("what gets another address is no tensor map".to_owned()))?;
    multiple("globalAddress", address.number(), unit(map.modes[0].into(), map.element))?;
    give(to, &TensorMap { address: address.number(), ..map })
}
