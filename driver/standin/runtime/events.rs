//! Events.

use crate::call::Call;
use crate::foreign::Out;
use crate::interface::events;
use crate::status::Answer;

runtime! {
    cudaEventCreate(event: Out<u64>) one => create;
    cudaEventCreateWithFlags(event: Out<u64>, flags: u32) one => events::create;
    cudaEventRecord(event: u64, stream: u64) ptsz => events::record;
    cudaEventRecordWithFlags(event: u64, stream: u64, flags: u32) ptsz => events::record_with_flags;
    cudaEventQuery(event: u64) one => events::wait;
    cudaEventSynchronize(event: u64) one => events::wait;
    cudaEventDestroy(event: u64) one => events::destroy;
    cudaEventElapsedTime(milliseconds: Out<f32>, start: u64, end: u64) one => events::elapsed;
    cudaEventElapsedTime_v2(milliseconds: Out<f32>, start: u64, end: u64) one => events::elapsed;
}

fn create(call: &Call, event: Out<u64>) -> Answer {
    events::create(call, event, 0)
}
