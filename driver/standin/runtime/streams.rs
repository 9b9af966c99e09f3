//! Streams.

use crate::call::Call;
use crate::foreign::{Host, Out, StreamCallback};
use crate::interface::streams;
use crate::status::Answer;

runtime! {
    cudaStreamCreate(stream: Out<u64>) one => create;
    cudaStreamCreateWithFlags(stream: Out<u64>, flags: u32) one => streams::create;
    cudaStreamCreateWithPriority(stream: Out<u64>, flags: u32, priority: i32) one => streams::create_with_priority;
    cudaStreamDestroy(stream: u64) one => streams::destroy;
    cudaStreamSynchronize(stream: u64) ptsz => streams::wait;
    cudaStreamQuery(stream: u64) ptsz => streams::wait;
    cudaStreamWaitEvent(stream: u64, event: u64, flags: u32) ptsz => streams::wait_event;
    cudaStreamGetPriority(stream: u64, priority: Out<i32>) ptsz => streams::priority;
    cudaStreamGetFlags(stream: u64, flags: Out<u32>) ptsz => streams::flags;
    cudaStreamGetId(stream: u64, id: Out<u64>) ptsz => streams::id;
    cudaStreamGetDevice(stream: u64, device: Out<i32>) ptsz => streams::device;
    cudaStreamAddCallback(stream: u64, callback: StreamCallback, data: Host, flags: u32) ptsz => streams::callback;
    cudaStreamSetAttribute(stream: u64, attribute: u32, value: Host) ptsz => streams::set_attribute;
    cudaStreamGetAttribute(stream: u64, attribute: u32, value: Out<[u64; 4]>) ptsz => streams::get_attribute;
    cudaStreamCopyAttributes(to: u64, from: u64) ptsz => streams::copy_attributes;
    cudaStreamAttachMemAsync(stream: u64, address: u64, size: usize, flags: u32) ptsz => streams::attach;
}

fn create(call: &Call, stream: Out<u64>) -> Answer {
    streams::create(call, stream, 0)
}
