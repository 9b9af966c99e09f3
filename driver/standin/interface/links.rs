//! Linking of PTX at run time. The result is text: the stand-in compiles nothing.

use std::fs;

use crate::call::Call;
use crate::fatbin;
use crate::foreign::{Host, In, Out, Text};
use crate::interface::modules;
use crate::linking;
use crate::signature;
use crate::state::OpenLink;
use crate::status::{Answer, Refusal, Status, refuse};

// The first versions differ in nothing that the caller passes.
exports! {
    cuLinkCreate(count: u32, options: In<u32>, values: In<Host>, link: Out<u64>) since 5050 one => create;
    cuLinkAddData(link: u64, kind: u32, data: Host, size: usize, name: Text, count: u32, options: In<u32>, values: In<Host>) since 5050 one => add;
    cuLinkAddFile(link: u64, kind: u32, file: Text, count: u32, options: In<u32>, values: In<Host>) since 5050 one => add_file;
    cuLinkCreate_v2(count: u32, options: In<u32>, values: In<Host>, link: Out<u64>) since 6050 one => create;
    cuLinkAddData_v2(link: u64, kind: u32, data: Host, size: usize, name: Text, count: u32, options: In<u32>, values: In<Host>) since 6050 one => add;
    cuLinkAddFile_v2(link: u64, kind: u32, file: Text, count: u32, options: In<u32>, values: In<Host>) since 6050 one => add_file;
    cuLinkComplete(link: u64, image: Out<Host>, size: Out<usize>) since 5050 one => complete;
    cuLinkDestroy(link: u64) since 5050 one => destroy;
}

/// Kinds of inputs (`CUjitInputType`).
const PTX: u32 = 1;
const FATBIN: u32 = 2;

fn create(call: &Call, count: u32, options: In<u32>, values: In<Host>, link: Out<u64>) -> Answer {
    let mut state = call.current()?;
    modules::log("", count, options, values)?;
    let handle = state.handle();
    link.give(handle)?;
    state.links.insert(handle, OpenLink::default());
    Ok(())
}

fn unknown() -> Refusal {
    refuse(Status::InvalidHandle, "the link is not live")
}

fn add_bytes(call: &Call, link: u64, kind: u32, bytes: &[u8]) -> Answer {
    let mut state = call.current()?;
    let device = state.device.number();
    let own = state.links.get_mut(&link).ok_or_else(unknown)?;
    let text = match kind {
        PTX => bytes.to_vec(),
        FATBIN => {
            fatbin::ptx(bytes, device).map_err(|reason| refuse(Status::NotSupported, reason))?
        }
        _ => {
            return Err(refuse(Status::NotSupported, "links machine code"));
        }
    };
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    let text = String::from_utf8_lossy(&text[..end]).into_owned();
    signature::read(&text).map_err(|reason| refuse(Status::InvalidPtx, reason))?;
    own.texts.push(text);
    // What cannot be linked is refused here, as CUDA does.
    let done = linking::link(&own.texts);
    if done.is_err() {
        own.texts.pop();
    }
    done.map(|_| ())
}

#[allow(clippy::too_many_arguments, reason = "the driver's own parameters")]
fn add(
    call: &Call,
    link: u64,
    kind: u32,
    data: Host,
    size: usize,
    _name: Text,
    _count: u32,
    _options: In<u32>,
    _values: In<Host>,
) -> Answer {
    add_bytes(call, link, kind, &data.read(size)?)
}

fn add_file(
    call: &Call,
    link: u64,
    kind: u32,
    file: Text,
    _count: u32,
    _options: In<u32>,
    _values: In<Host>,
) -> Answer {
    let name = file.read()?;
    let bytes = fs::read(&name)
        .map_err(|error| refuse(Status::FileNotFound, format!("{name}: {error}")))?;
    add_bytes(call, link, kind, &bytes)
}

fn complete(call: &Call, link: u64, image: Out<Host>, size: Out<usize>) -> Answer {
    let mut state = call.current()?;
    let own = state.links.get_mut(&link).ok_or_else(unknown)?;
    if own.texts.is_empty() {
        return Err(refuse(Status::InvalidValue, "links nothing"));
    }
    let mut linked = linking::link(&own.texts)?.into_bytes();
    linked.push(0);
    image.give(Host::function(linked.as_ptr().cast()))?;
    size.give_if_wanted(linked.len());
    own.images.push(linked);
    Ok(())
}

fn destroy(call: &Call, link: u64) -> Answer {
    call.current()?.links.remove(&link).map(|_| ()).ok_or_else(unknown)
}
