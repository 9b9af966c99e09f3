//! A stand-in for the driver library of CUDA (`libcuda.so`), and for its runtime library (`libcudart.so`), that runs no kernel and
//! writes down every launch.
//!
//! A host program that loads it, or is linked with it, finds a device, memory, modules and kernels, and can copy in, launch and
//! copy out. What it launches is written into a folder: [`record`] documents the format. Memory reads as what the host
//! copied in or set, since kernels do not run. Calls that the driver would refuse are refused with its error code, and noted.
//!
//! The order of the modules is that of their imports: each uses only those before it.
//!
//! | room | modules |
//! |---|---|
//! | facts | `status`, `foreign`, `hash`, `json`, `ranges` |
//! | what programs hand in | `scanner`, `signature`, `lz4`, `zstd/`, `fatbin`, `tensor`, `linking/` |
//! | the state of the device | `device`, `doubt`, `pages`, `mapped`, `allocation`, `memory`, `results`, `regions`, `arrays`, `contexts`, `streams`, `pools`, `handles` |
//! | the record | `lines`, `record`, `contents` |
//! | modules, limits of launches, graphs | `modules`, `registry`, `limits`, `work`, `graph`, `graphs` |
//! | the one locked state | `state`, `call`, `exports` |
//! | launches, and other work of streams | `arguments`, `launches`, `order` |
//! | the driver interface | `interface/` (a file a chapter of the manual) |
//! | the runtime library | `runtime/` (a file a chapter of its manual) |
//! | cuBLAS, cuBLASLt and cuRAND | `math/` (a file a kind of functions) |
//!
//! The library is compiled by `rustc` alone, without a package manager, so it uses nothing but `std`. It is the only part of the project
//! with `unsafe` code; each block says why it is sound.
//!
//! Sources: the CUDA driver API and the CUDA runtime API, reference manuals 13.0 (functions, error codes, what is refused); the
//! headers of CUDA 11.8, 12.9 and 13.0 (what the runtime library has in each).

#![cfg(target_os = "linux")]
#![deny(unsafe_op_in_unsafe_fn)]

mod status;
#[macro_use]
mod exports;
mod allocation;
mod arguments;
mod arrays;
mod call;
mod contents;
mod contexts;
mod device;
mod doubt;
mod fatbin;
mod foreign;
mod graph;
mod graphs;
mod handles;
mod hash;
mod interface;
mod json;
mod launches;
mod limits;
mod lines;
mod linking;
mod lz4;
mod mapped;
mod math;
mod memory;
mod modules;
mod order;
mod pages;
mod pools;
mod ranges;
mod record;
mod regions;
mod registry;
mod results;
mod runtime;
mod scanner;
mod signature;
mod state;
mod streams;
mod tensor;
mod work;
mod zstd;
