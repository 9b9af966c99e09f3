//! Unified addressing: what is known of a pointer.

use crate::allocation::Kind;
use crate::call::{Call, Locked};
use crate::contexts;
use crate::foreign::{Host, In, Out};
use crate::status::{Answer, Refusal, Status, refuse};

exports! {
    cuMemGetAddressRange_v2(base: Out<u64>, size: Out<usize>, address: u64) since 3020 one => range;
    cuPointerGetAttribute(data: Host, attribute: i32, address: u64) since 4000 one => attribute;
    cuPointerGetAttributes(count: u32, attributes: In<i32>, data: In<Host>, address: u64) since 7000 one => attributes;
    cuPointerSetAttribute(value: Host, attribute: i32, address: u64) since 6000 one => set_attribute;
}

fn range(call: &Call, base: Out<u64>, size: Out<usize>, address: u64) -> Answer {
    let state = call.current()?;
    let found = state.memory.inside(address);
    let (start, own) = found.ok_or_else(|| {
        refuse(Status::NotFound, "asks for the range of an address that is in no allocation")
    })?;
    base.give_if_wanted(start);
    size.give_if_wanted(usize::try_from(own.size).unwrap_or(usize::MAX));
    Ok(())
}

/// Stores an attribute of an address (`CUpointer_attribute`).
fn give(state: &Locked, data: Host, attribute: i32, address: u64) -> Answer {
    let (base, own) = state.memory.inside(address).ok_or(Status::InvalidValue)?;
    let is_hosts = own.kind.is_hosts();
    match attribute {
        1 => data.result().give(contexts::current().unwrap_or(0)),
        // The host's memory, or the device's.
        2 => data.result().give(if own.kind == Kind::Pinned || own.kind == Kind::Registered {
            1_u32
        } else {
            2
        }),
        3 => data.result().give(address),
        4 if is_hosts => data.result().give(address),
        // Synchronous copies.
        6 => data.result().give(0_u32),
        7 | 20 => data.result().give(own.number),
        8 => data.result().give(u8::from(own.kind == Kind::Managed)),
        9 => data.result().give(0_i32),
        11 | 19 => data.result().give(base),
        12 | 18 => data.result().give(own.size),
        13 => data.result().give(1_u8),
        10 | 15 | 21 => data.result().give(0_u8),
        16 => data.result().give(3_u32),
        14 | 17 => data.result().give(0_u64),
        _ => Err(Refusal::from(Status::InvalidValue)),
    }
}

fn attribute(call: &Call, data: Host, attribute: i32, address: u64) -> Answer {
    // Programs ask whether an address is the device's: that it is not is no mistake.
    give(&call.current()?, data, attribute, address)
}

/// Attributes that an address does not have are zeros.
fn attributes(
    call: &Call,
    count: u32,
    attributes: In<i32>,
    data: In<Host>,
    address: u64,
) -> Answer {
    let state = call.current()?;
    let count = usize::try_from(count).unwrap_or(0);
    for (attribute, to) in attributes.list(count)?.into_iter().zip(data.list(count)?) {
        if give(&state, to, attribute, address).is_err() {
            match attribute {
                2 | 6 | 16 => to.result().give(0_u32)?,
                // No device has this number.
                9 => to.result().give(-2_i32)?,
                8 | 10 | 13 | 15 | 21 => to.result().give(0_u8)?,
                1..=20 => to.result().give(0_u64)?,
                _ => {
                    return Err(refuse(
                        Status::InvalidValue,
                        format!("there is no attribute {attribute} of a pointer"),
                    ));
                }
            }
        }
    }
    Ok(())
}

fn set_attribute(call: &Call, value: Host, attribute: i32, address: u64) -> Answer {
    let state = call.current()?;
    state.memory.range(address, 1, "sets an attribute of")?;
    // Only whether copies are synchronous can be set, and they are.
    if attribute != 6 || value.is_null() {
        return Err(refuse(
            Status::InvalidValue,
            format!("sets the attribute {attribute} of a pointer"),
        ));
    }
    Ok(())
}
