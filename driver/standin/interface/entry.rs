//! `cuGetProcAddress`: functions by name and version (manual, "Driver Entry Point Access").

use crate::call::Call;
use crate::exports::{Address, Export, VERSION};
use crate::foreign::{Host, Out, Text};
use crate::interface;
use crate::status::{Answer, Refusal, Status, refuse};

exports! {
    cuGetProcAddress(name: Text, function: Out<Host>, version: i32, flags: u64) since 11030 one => first_version;
    cuGetProcAddress_v2(name: Text, function: Out<Host>, version: i32, flags: u64, status: Out<i32>) since 12000 one => second_version;
    cuGetExportTable(table: Out<Host>, id: Host) since 3000 one => export_table;
}

/// Flag that asks for functions whose default stream is that of the thread.
const PER_THREAD: u64 = 2;

/// What was found; the numbers are those of `CUdriverProcAddressQueryResult`.
enum Found {
    Function(Address),
    NoSymbol,
    /// The symbol is newer than the version that was asked for.
    TooOld,
}

/// Returns the function of a name that is the newest up to a version.
fn find(name: &str, version: i32, flags: u64) -> Found {
    let mut known = false;
    let mut best: Option<&Export> = None;
    for export in interface::exports().filter(|export| export.name() == name) {
        known = true;
        if export.since <= version && best.is_none_or(|best| best.since < export.since) {
            best = Some(export);
        }
    }
    match best {
        Some(export) => {
            let per_thread = export.per_thread.filter(|_| flags & PER_THREAD != 0);
            Found::Function(per_thread.unwrap_or(export.address))
        }
        None if known => Found::TooOld,
        None => Found::NoSymbol,
    }
}

fn look_up(call: &Call, name: Text, version: i32, flags: u64) -> Result<Found, Refusal> {
    let name = name.read()?;
    if version > VERSION {
        let reason =
            format!("asks for {name} of CUDA {version}, newer than the driver's {VERSION}");
        return Err(refuse(Status::InvalidValue, reason));
    }
    if flags > 2 {
        return Err(refuse(
            Status::InvalidValue,
            format!("asks for {name} with unknown flags {flags}"),
        ));
    }
    let found = find(&name, version, flags);
    // NVIDIA's runtime asks for a function without a name.
    if matches!(found, Found::NoSymbol) && !name.is_empty() {
        call.any().record.missing(&name);
    }
    Ok(found)
}

/// Before CUDA 12, a function that is not found is an error.
pub(crate) fn first_version(
    call: &Call,
    name: Text,
    function: Out<Host>,
    version: i32,
    flags: u64,
) -> Answer {
    match look_up(call, name, version, flags)? {
        Found::Function(address) => function.give(Host::function(address.0)),
        Found::NoSymbol | Found::TooOld => {
            function.give(Host::at(0))?;
            Err(Status::NotFound.into())
        }
    }
}

pub(crate) fn second_version(
    call: &Call,
    name: Text,
    function: Out<Host>,
    version: i32,
    flags: u64,
    status: Out<i32>,
) -> Answer {
    let (address, number) = match look_up(call, name, version, flags)? {
        Found::Function(address) => (Host::function(address.0), 0),
        Found::NoSymbol => (Host::at(0), 1),
        Found::TooOld => (Host::at(0), 2),
    };
    function.give(address)?;
    status.give_if_wanted(number);
    Ok(())
}

/// Tables of functions that NVIDIA's own libraries share with the driver are not documented; a program that asks for them, such as
/// one with NVIDIA's runtime inside, cannot be recorded.
pub(crate) fn export_table(call: &Call, table: Out<Host>, _id: Host) -> Answer {
    call.any().record.missing("cuGetExportTable");
    table.give(Host::at(0))?;
    Err(Status::NotSupported.into())
}
