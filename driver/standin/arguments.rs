//! Arguments of launches: their bytes, from one address each or from one buffer for all.

use crate::foreign::{Host, In};
use crate::modules::Kernel;
use crate::signature::Signature;
use crate::status::{Refusal, Status, refuse};

/// Keys of the list `extra`: its end, the address of the buffer of parameters, the address of its size.
const END: u64 = 0;
const BUFFER: u64 = 1;
const BUFFER_SIZE: u64 = 2;

/// Reads the arguments of a launch: one address for each parameter, or one buffer for all. `None` where the parameters are not
/// known.
pub(crate) fn read(
    kernel: &Kernel,
    addresses: In<Host>,
    extra: In<Host>,
) -> Result<Option<Vec<Vec<u8>>>, Refusal> {
    let Some(own) = &kernel.signature else { return Ok(None) };
    let done = match (addresses.is_null(), extra.is_null()) {
        (false, false) => {
            Err(refuse(Status::InvalidValue, "both kernelParams and extra are given"))
        }
        (true, true) if own.parameters.is_empty() => Ok(Vec::new()),
        (true, true) => Err(refuse(
            Status::InvalidValue,
            "the kernel has parameters, and no arguments are given",
        )),
        (false, true) => one_by_one(own, addresses),
        (true, false) => from_buffer(own, extra),
    };
    done.map(Some).map_err(|refusal| Refusal { kernel: Some(kernel.name.clone()), ..refusal })
}

fn one_by_one(own: &Signature, addresses: In<Host>) -> Result<Vec<Vec<u8>>, Refusal> {
    let each = own.parameters.iter().enumerate().map(|(index, parameter)| {
        let at = addresses.at(index)?;
        if at.is_null() {
            return Err(refuse(
                Status::InvalidValue,
                format!("the address of argument {index} is null"),
            ));
        }
        at.read(parameter.size)
    });
    each.collect()
}

fn from_buffer(own: &Signature, extra: In<Host>) -> Result<Vec<Vec<u8>>, Refusal> {
    let (mut buffer, mut size) = (None, None);
    for pair in 0.. {
        match extra.at(2 * pair)?.number() {
            END => break,
            BUFFER => buffer = Some(extra.at(2 * pair + 1)?),
            BUFFER_SIZE => size = Some(extra.at(2 * pair + 1)?.values::<usize>().read()?),
            other => {
                return Err(refuse(
                    Status::InvalidValue,
                    format!("extra has the unknown key {other}"),
                ));
            }
        }
    }
    let (Some(buffer), Some(size)) = (buffer, size) else {
        return Err(refuse(Status::InvalidValue, "extra names no buffer or no size"));
    };
    if size < own.size() {
        let reason =
            format!("the buffer of arguments has {size} bytes, and the parameters {}", own.size());
        return Err(refuse(Status::InvalidValue, reason));
    }
    let each =
        own.parameters.iter().map(|parameter| buffer.offset(parameter.offset).read(parameter.size));
    each.collect()
}
