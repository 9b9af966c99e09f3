//! Work: what streams are given, and what graphs keep.

use crate::foreign::{Host, HostFunction};
use crate::limits::Configuration;
use crate::modules::Kernel;
use crate::results::Results;

/// Work that a stream is given.
#[derive(Debug, Clone)]
pub(crate) enum Work {
    /// A launch, with the arguments that it was asked for with.
    Launch { kernel: Kernel, configuration: Configuration, arguments: Option<Vec<Vec<u8>>> },
    /// A copy from the host.
    In { to: u64, from: Host, count: u64 },
    /// A copy to the host.
    Out { to: Host, from: u64, count: u64 },
    /// A copy within the device.
    Within { to: u64, from: u64, count: u64 },
    /// A copy within the host.
    OnHost { to: Host, from: Host, count: u64 },
    /// Values in rows: the first address, bytes from row to row, a value, values of a row, rows.
    Set { to: u64, pitch: u64, value: Vec<u8>, width: u64, height: u64 },
    /// Results of a call of a library.
    Compute { function: &'static str, results: Results },
    /// Memory that is allocated anew, whatever was in it before.
    Forget { base: u64 },
    /// A function of the host.
    Call { function: HostFunction, data: Host },
}
