//! The functions of the runtime library, a file a chapter of its manual. Each file starts with its part of the table of functions;
//! most of them are those of the driver under other names.

#[macro_use]
mod functions;
mod addresses;
mod allocations;
mod binaries;
mod copies;
mod devices;
mod entry;
mod errors;
mod events;
mod execution;
mod generation;
mod graphs;
mod libraries;
mod missing;
mod nodes;
mod occupancy;
mod planes;
mod pools;
mod properties;
mod registration;
mod sets;
mod streams;
mod symbols;
mod textures;
