//! Driver entry point access: functions of the driver by name.

use crate::call::Call;
use crate::exports::VERSION;
use crate::foreign::{Host, Out, Text};
use crate::interface::entry;
use crate::runtime::generation::{self, RuntimeMajor};
use crate::status::{Answer, Status};

runtime! {
    cudaGetDriverEntryPoint(name: Text, function: Out<Host>, flags: u64, status: Out<i32>) ptsz => find;
    cudaGetDriverEntryPointByVersion(name: Text, function: Out<Host>, version: u32, flags: u64, status: Out<i32>) ptsz => find_version;
    cudaGetExportTable(table: Out<Host>, id: Host) one => entry::export_table;
}

/// CUDA 11 has no place for the status.
fn find(call: &Call, name: Text, function: Out<Host>, flags: u64, status: Out<i32>) -> Answer {
    let own = generation::current();
    let version = own.version().unsigned_abs();
    let status = if own == RuntimeMajor::Eleven { Host::at(0).result() } else { status };
    find_version(call, name, function, version, flags, status)
}

/// A program might be newer than the driver, which then answers with what it has.
fn find_version(
    call: &Call,
    name: Text,
    function: Out<Host>,
    version: u32,
    flags: u64,
    status: Out<i32>,
) -> Answer {
    let version = i32::try_from(version).unwrap_or(VERSION).min(VERSION);
    if status.is_null() {
        let done = entry::first_version(call, name, function, version, flags);
        // That there is no such function is an answer, and no mistake of the program.
        return done.map_err(|refusal| match refusal.status {
            Status::NotFound => Status::NotFound.into(),
            _ => refusal,
        });
    }
    entry::second_version(call, name, function, version, flags, status)
}
