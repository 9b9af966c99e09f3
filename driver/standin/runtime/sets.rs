//! Memory management: setting bytes to a value.

use crate::call::Call;
use crate::interface::sets;
use crate::status::Answer;

runtime! {
    cudaMemset(to: u64, value: i32, count: usize) ptds => bytes;
    cudaMemsetAsync(to: u64, value: i32, count: usize, stream: u64) ptsz => bytes_in_order;
}

fn bytes(call: &Call, to: u64, value: i32, count: usize) -> Answer {
    bytes_in_order(call, to, value, count, 0)
}

fn bytes_in_order(call: &Call, to: u64, value: i32, count: usize, stream: u64) -> Answer {
    // The value is that of a byte.
    sets::set(call, to, 0, &value.to_le_bytes()[..1], count, 1, stream)
}
