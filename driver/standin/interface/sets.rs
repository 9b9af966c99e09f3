//! Setting memory to a value.

use crate::call::Call;
use crate::order;
use crate::status::{Answer, Refusal, Status, refuse};
use crate::work::Work;

exports! {
    cuMemsetD8_v2(to: u64, value: u8, count: usize) since 3020 ptds => bytes;
    cuMemsetD16_v2(to: u64, value: u16, count: usize) since 3020 ptds => halves;
    cuMemsetD32_v2(to: u64, value: u32, count: usize) since 3020 ptds => words;
    cuMemsetD8Async(to: u64, value: u8, count: usize, stream: u64) since 3020 ptsz => bytes_in_order;
    cuMemsetD16Async(to: u64, value: u16, count: usize, stream: u64) since 3020 ptsz => halves_in_order;
    cuMemsetD32Async(to: u64, value: u32, count: usize, stream: u64) since 3020 ptsz => words_in_order;
    cuMemsetD2D8_v2(to: u64, pitch: usize, value: u8, width: usize, height: usize) since 3020 ptds => rows_of_bytes;
    cuMemsetD2D16_v2(to: u64, pitch: usize, value: u16, width: usize, height: usize) since 3020 ptds => rows_of_halves;
    cuMemsetD2D32_v2(to: u64, pitch: usize, value: u32, width: usize, height: usize) since 3020 ptds => rows_of_words;
    cuMemsetD2D8Async(to: u64, pitch: usize, value: u8, width: usize, height: usize, stream: u64) since 3020 ptsz => rows_of_bytes_in_order;
    cuMemsetD2D16Async(to: u64, pitch: usize, value: u16, width: usize, height: usize, stream: u64) since 3020 ptsz => rows_of_halves_in_order;
    cuMemsetD2D32Async(to: u64, pitch: usize, value: u32, width: usize, height: usize, stream: u64) since 3020 ptsz => rows_of_words_in_order;
}

/// Sets `height` rows of `width` values, `pitch` bytes apart. Stream 0 is the default one.
pub(crate) fn set(
    call: &Call,
    to: u64,
    pitch: usize,
    value: &[u8],
    width: usize,
    height: usize,
    stream: u64,
) -> Answer {
    let mut state = call.current()?;
    state.streams.stream(stream)?;
    let work = work(to, pitch, value, width, height)?;
    order::submit(&mut state, stream, work)
}

/// Returns the same as work.
pub(crate) fn work(
    to: u64,
    pitch: usize,
    value: &[u8],
    width: usize,
    height: usize,
) -> Result<Work, Refusal> {
    let bytes = width.checked_mul(value.len()).ok_or(Status::InvalidValue)?;
    if height > 1 && pitch < bytes {
        return Err(refuse(
            Status::InvalidValue,
            format!("rows of {bytes} bytes, {pitch} bytes apart"),
        ));
    }
    let (pitch, width, height) = (pitch as u64, width as u64, height as u64);
    Ok(Work::Set { to, pitch, value: value.to_vec(), width, height })
}

fn bytes(call: &Call, to: u64, value: u8, count: usize) -> Answer {
    set(call, to, 0, &value.to_le_bytes(), count, 1, 0)
}

fn halves(call: &Call, to: u64, value: u16, count: usize) -> Answer {
    set(call, to, 0, &value.to_le_bytes(), count, 1, 0)
}

fn words(call: &Call, to: u64, value: u32, count: usize) -> Answer {
    set(call, to, 0, &value.to_le_bytes(), count, 1, 0)
}

fn bytes_in_order(call: &Call, to: u64, value: u8, count: usize, stream: u64) -> Answer {
    set(call, to, 0, &value.to_le_bytes(), count, 1, stream)
}

fn halves_in_order(call: &Call, to: u64, value: u16, count: usize, stream: u64) -> Answer {
    set(call, to, 0, &value.to_le_bytes(), count, 1, stream)
}

fn words_in_order(call: &Call, to: u64, value: u32, count: usize, stream: u64) -> Answer {
    set(call, to, 0, &value.to_le_bytes(), count, 1, stream)
}

fn rows_of_bytes(
    call: &Call,
    to: u64,
    pitch: usize,
    value: u8,
    width: usize,
    height: usize,
) -> Answer {
    set(call, to, pitch, &value.to_le_bytes(), width, height, 0)
}

fn rows_of_halves(
    call: &Call,
    to: u64,
    pitch: usize,
    value: u16,
    width: usize,
    height: usize,
) -> Answer {
    set(call, to, pitch, &value.to_le_bytes(), width, height, 0)
}

fn rows_of_words(
    call: &Call,
    to: u64,
    pitch: usize,
    value: u32,
    width: usize,
    height: usize,
) -> Answer {
    set(call, to, pitch, &value.to_le_bytes(), width, height, 0)
}

fn rows_of_bytes_in_order(
    call: &Call,
    to: u64,
    pitch: usize,
    value: u8,
    width: usize,
    height: usize,
    stream: u64,
) -> Answer {
    set(call, to, pitch, &value.to_le_bytes(), width, height, stream)
}

fn rows_of_halves_in_order(
    call: &Call,
    to: u64,
    pitch: usize,
    value: u16,
    width: usize,
    height: usize,
    stream: u64,
) -> Answer {
    set(call, to, pitch, &value.to_le_bytes(), width, height, stream)
}

fn rows_of_words_in_order(
    call: &Call,
    to: u64,
    pitch: usize,
    value: u32,
    width: usize,
    height: usize,
    stream: u64,
) -> Answer {
    set(call, to, pitch, &value.to_le_bytes(), width, height, stream)
}
