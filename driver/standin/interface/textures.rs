//! Texture and surface objects: numbers that kernels get. Texture references, which modules declare, are not supported.

use crate::arrays::{self, Object};
use crate::call::{Call, Locked};
use crate::foreign::{In, Out};
use crate::status::{Answer, Refusal, Status, refuse};

exports! {
    cuTexObjectCreate(texture: Out<u64>, resource: In<[u64; 18]>, description: In<[u64; 13]>, view: In<[u64; 14]>) since 5000 one => create;
    cuTexObjectDestroy(texture: u64) since 5000 one => destroy;
    cuTexObjectGetResourceDesc(resource: Out<[u64; 18]>, texture: u64) since 5000 one => resource;
    cuTexObjectGetTextureDesc(description: Out<[u64; 13]>, texture: u64) since 5000 one => description;
    cuTexObjectGetResourceViewDesc(view: Out<[u64; 14]>, texture: u64) since 5000 one => view;
    cuSurfObjectCreate(surface: Out<u64>, resource: In<[u64; 18]>) since 5000 one => create_surface;
    cuSurfObjectDestroy(surface: u64) since 5000 one => destroy_surface;
    cuSurfObjectGetResourceDesc(resource: Out<[u64; 18]>, surface: u64) since 5000 one => surface_resource;
}

/// Kinds of resources (`CUresourcetype`), in the first word of `CUDA_RESOURCE_DESC`. Their words follow it.
const ARRAY: u64 = 0;
const MIPMAPS: u64 = 1;
const LINEAR: u64 = 2;
const ROWS: u64 = 3;

/// Refuses a resource whose memory is not live; returns the memory of its array.
fn check(state: &Locked, resource: &[u64; 18]) -> Result<Option<u64>, Refusal> {
    let [kind, place, parts, first, second, third, ..] = *resource;
    let (format, channels) = (parts & 0xffff_ffff, parts >> 32);
    let element = || {
        let number = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        arrays::element(number(format), number(channels)).map(|bytes| bytes as u64)
    };
    let size = match kind & 0xffff_ffff {
        ARRAY => return Ok(Some(state.arrays.array(place)?.base)),
        MIPMAPS => return Err(refuse(Status::NotSupported, "a texture of mipmaps")),
        LINEAR => {
            element()?;
            first
        }
        // Width, height and pitch.
        ROWS => {
            let last = third.checked_mul(second.saturating_sub(1));
            let row = element()?.checked_mul(first);
            let size = last.zip(row).and_then(|(last, row)| last.checked_add(row));
            size.ok_or(Status::InvalidValue)?
        }
        kind => return Err(refuse(Status::InvalidValue, format!("there is no resource {kind}"))),
    };
    state.memory.range(place, size, "makes a texture of")?;
    Ok(None)
}

fn create(
    call: &Call,
    to: Out<u64>,
    resource: In<[u64; 18]>,
    description: In<[u64; 13]>,
    view: In<[u64; 14]>,
) -> Answer {
    let mut state = call.current()?;
    let (resource, texture) = (resource.read()?, description.read()?);
    let view = if view.is_null() { None } else { Some(view.read()?) };
    let base = check(&state, &resource)?;
    let fresh = state.handle();
    let object = Object { is_surface: false, resource, texture, view, base };
    state.arrays.add_object(fresh, Box::new(object));
    to.give(fresh)
}

fn create_surface(call: &Call, to: Out<u64>, resource: In<[u64; 18]>) -> Answer {
    let mut state = call.current()?;
    let resource = resource.read()?;
    let Some(base) = check(&state, &resource)? else {
        return Err(refuse(Status::InvalidValue, "a surface of memory that is no array"));
    };
    let fresh = state.handle();
    let (texture, view, base) = ([0; 13], None, Some(base));
    let object = Object { is_surface: true, resource, texture, view, base };
    state.arrays.add_object(fresh, Box::new(object));
    to.give(fresh)
}

fn destroy(call: &Call, texture: u64) -> Answer {
    call.current()?.arrays.remove_object(texture, false)
}

fn destroy_surface(call: &Call, surface: u64) -> Answer {
    call.current()?.arrays.remove_object(surface, true)
}

fn resource(call: &Call, resource: Out<[u64; 18]>, texture: u64) -> Answer {
    let found = call.current()?.arrays.object(texture, false)?.resource;
    resource.give(found)
}

fn surface_resource(call: &Call, resource: Out<[u64; 18]>, surface: u64) -> Answer {
    let found = call.current()?.arrays.object(surface, true)?.resource;
    resource.give(found)
}

fn description(call: &Call, description: Out<[u64; 13]>, texture: u64) -> Answer {
    let found = call.current()?.arrays.object(texture, false)?.texture;
    description.give(found)
}

fn view(call: &Call, view: Out<[u64; 14]>, texture: u64) -> Answer {
    let found = call.current()?.arrays.object(texture, false)?.view;
    view.give(found.ok_or_else(|| refuse(Status::InvalidValue, "the texture has no view"))?)
}
