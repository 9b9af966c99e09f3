//! Libraries: modules that programs load themselves.

use crate::foreign::{Host, In, Out, Text};
use crate::interface::{kernels, libraries, modules};

runtime! {
    cudaLibraryLoadData(library: Out<u64>, image: Host, options: In<u32>, values: In<Host>, count: u32, own: Host, own_values: Host, own_count: u32) one => libraries::load;
    cudaLibraryLoadFromFile(library: Out<u64>, file: Text, options: In<u32>, values: In<Host>, count: u32, own: Host, own_values: Host, own_count: u32) one => libraries::load_file;
    cudaLibraryUnload(library: u64) one => libraries::unload;
    cudaLibraryGetKernel(kernel: Out<u64>, library: u64, name: Text) one => libraries::kernel;
    cudaLibraryGetKernelCount(count: Out<u32>, library: u64) one => modules::function_count;
    cudaLibraryEnumerateKernels(kernels: Out<u64>, count: u32, library: u64) one => modules::functions;
    cudaLibraryGetGlobal(address: Out<u64>, size: Out<usize>, library: u64, name: Text) one => modules::global;
    cudaLibraryGetManaged(address: Out<u64>, size: Out<usize>, library: u64, name: Text) one => modules::global;
    cudaKernelSetAttributeForDevice(kernel: u64, attribute: i32, value: i32, device: i32) one => set_attribute;
}

fn set_attribute(
    call: &crate::call::Call,
    kernel: u64,
    attribute: i32,
    value: i32,
    device: i32,
) -> crate::status::Answer {
    kernels::set_attribute_on(call, attribute, value, kernel, device)
}
