//! A host program that launches the kernels of `kernels.ptx` in the current folder, as its arguments say; it needs nothing
//! but the CUDA driver.
//!
//! `copy=TO,FROM,N`: one block of 32 threads in an allocation of 1024 bytes, places in bytes; `empty`: the same without a block;
//! `scatter=INDEX,...`: a thread for each index; `again=ARG`: `copy` with the indices as that argument, then `scatter` again;
//! `read`: copies memory to the host; `wait`: says so and does nothing for a minute; `runtime`: asks what NVIDIA's runtime library asks;
//! `fail`: ends the program with status 3.

use std::ffi::{CString, c_char, c_void};
use std::process::exit;
use std::ptr::null_mut;
use std::{env, fs};

type Handle = *mut c_void;

#[link(name = "cuda")]
unsafe extern "C" {
    fn cuInit(flags: u32) -> i32;
    fn cuDevicePrimaryCtxRetain(context: *mut Handle, device: i32) -> i32;
    fn cuCtxSetCurrent(context: Handle) -> i32;
    fn cuGetExportTable(table: *mut Handle, id: *const [u8; 16]) -> i32;
    fn cuModuleLoadData(module: *mut Handle, image: *const c_void) -> i32;
    fn cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char) -> i32;
    fn cuMemAlloc_v2(pointer: *mut u64, size: usize) -> i32;
    fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, size: usize) -> i32;
    fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, size: usize) -> i32;
    #[rustfmt::skip]
    fn cuLaunchKernel(
        function: Handle, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32, stream: Handle,
        arguments: *mut Handle, extra: *mut Handle,
    ) -> i32;
}

fn ok(result: i32) {
    assert_eq!(result, 0);
}

fn allocate(size: usize) -> u64 {
    let mut pointer = 0;
    ok(unsafe { cuMemAlloc_v2(&mut pointer, size) });
    pointer
}

fn kernel(module: Handle, name: &str) -> Handle {
    let (mut function, name) = (null_mut(), CString::new(name).expect("no zeros"));
    ok(unsafe { cuModuleGetFunction(&mut function, module, name.as_ptr()) });
    function
}

/// Launches one block, or none.
fn launch(function: Handle, grid: u32, block: u32, arguments: &mut [u64]) -> i32 {
    let mut all: Vec<Handle> = arguments.iter_mut().map(|own| (own as *mut u64).cast()).collect();
    unsafe {
        cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, null_mut(), all.as_mut_ptr(), null_mut())
    }
}

/// Launches `copy` by a thread whose name is longer than the system keeps. `context` and `function` are addresses.
fn launch_by_thread(context: usize, function: usize, memory: u64) {
    let name = String::from("tests::the_first_of_all");
    let launched = std::thread::Builder::new().name(name).spawn(move || unsafe {
        ok(cuCtxSetCurrent(context as Handle));
        ok(launch(function as Handle, 1, 32, &mut [memory + 4, memory, 8]));
    });
    launched.expect("it starts").join().expect("it ends");
}

/// Ends as a program with NVIDIA's static runtime library does, before anything else.
fn be_refused() {
    assert_ne!(unsafe { cuGetExportTable(&mut null_mut(), &[0; 16]) }, 0);
    exit(3);
}

fn main() {
    let (mut context, mut module) = (null_mut(), null_mut());
    let ptx = CString::new(fs::read("kernels.ptx").expect("there is a file")).expect("no zeros");
    unsafe {
        ok(cuInit(0));
        ok(cuDevicePrimaryCtxRetain(&mut context, 0));
        ok(cuCtxSetCurrent(context));
        if env::args().nth(1).as_deref() == Some("refused") {
            be_refused();
        }
        ok(cuModuleLoadData(&mut module, ptx.as_ptr().cast()));
    }
    let (memory, indices, out) = (allocate(1024), allocate(16), allocate(16));
    for action in env::args().skip(1) {
        let (word, values) = action.split_once('=').unwrap_or((&action, ""));
        let values: Vec<u32> = values.split(',').filter_map(|own| own.parse().ok()).collect();
        match (word, &values[..]) {
            ("copy", &[to, from, n]) => {
                let mut arguments = [memory + u64::from(to), memory + u64::from(from), n.into()];
                ok(launch(kernel(module, "copy"), 1, 32, &mut arguments));
            }
            ("named", _) => {
                launch_by_thread(context as usize, kernel(module, "copy") as usize, memory);
            }
            ("empty", _) => {
                let mut arguments = [memory, memory, 1];
                assert_ne!(launch(kernel(module, "copy"), 0, 32, &mut arguments), 0);
            }
            ("scatter", index) => {
                let bytes = size_of_val(index);
                ok(unsafe { cuMemcpyHtoD_v2(indices, index.as_ptr().cast(), bytes) });
                let threads = u32::try_from(index.len()).expect("few");
                ok(launch(kernel(module, "scatter"), 1, threads, &mut [out, indices]));
            }
            ("again", &[argument]) => {
                let mut arguments = [memory, memory + 512, 4];
                arguments[argument as usize] = indices;
                ok(launch(kernel(module, "copy"), 1, 4, &mut arguments));
                ok(launch(kernel(module, "scatter"), 1, 4, &mut [out, indices]));
            }
            ("read", _) => {
                let mut bytes = [0_u8; 1024];
                ok(unsafe { cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), memory, bytes.len()) });
            }
            ("wait", _) => {
                println!("waiting");
                std::thread::sleep(std::time::Duration::from_secs(60));
            }
            ("runtime", _) => {
                let mut table = null_mut();
                assert_ne!(unsafe { cuGetExportTable(&mut table, &[0; 16]) }, 0);
            }
            ("fail", _) => exit(3),
            _ => panic!("there is no action {action}"),
        }
    }
}
