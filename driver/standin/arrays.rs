//! Arrays, and the textures and surfaces by which kernels access them. Where the elements of an array lie is the device's own affair: here they lie
//! row after row in an allocation that programs do not see.

use std::collections::BTreeMap;

use crate::status::{Refusal, Status, refuse};

/// An array.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Array {
    /// Its memory.
    pub(crate) base: u64,
    /// Elements in x, y and z; 0 for a dimension that it does not have.
    pub(crate) extent: [usize; 3],
    /// Number of the format of a part of an element (`CUarray_format`).
    pub(crate) format: u32,
    /// Parts of an element.
    pub(crate) channels: u32,
    /// Flags of its creation.
    pub(crate) flags: u32,
}

/// Returns the bytes of an element of some parts of a format.
pub(crate) fn element(format: u32, channels: u32) -> Result<usize, Refusal> {
    let bytes = match format {
        1 | 8 => 1,
        2 | 9 | 0x10 => 2,
        3 | 10 | 0x20 => 4,
        _ => {
            let reason = format!("an array of the format {format}");
            return Err(refuse(Status::NotSupported, reason));
        }
    };
    match channels {
        1 | 2 | 4 => Ok(bytes * usize::try_from(channels).unwrap_or(0)),
        _ => {
            Err(refuse(Status::InvalidValue, format!("elements of {channels} parts, of 1, 2 or 4")))
        }
    }
}

impl Array {
    /// Returns the bytes of a row.
    pub(crate) fn row(&self) -> Result<usize, Refusal> {
        let row = element(self.format, self.channels)?.checked_mul(self.extent[0]);
        row.filter(|bytes| *bytes > 0)
            .ok_or_else(|| refuse(Status::InvalidValue, "an array without elements"))
    }

    /// Returns the bytes of all rows.
    pub(crate) fn size(&self) -> Result<u64, Refusal> {
        let rows = self.extent[1].max(1).checked_mul(self.extent[2].max(1));
        let bytes = rows.and_then(|rows| rows.checked_mul(self.row().ok()?));
        self.row()?;
        bytes.map(|bytes| bytes as u64).ok_or(Status::OutOfMemory.into())
    }
}

/// A texture or a surface: what the program said of it, word for word.
#[derive(Debug)]
pub(crate) struct Object {
    /// Whether kernels can write by it.
    pub(crate) is_surface: bool,
    /// `CUDA_RESOURCE_DESC`.
    pub(crate) resource: [u64; 18],
    /// `CUDA_TEXTURE_DESC`.
    pub(crate) texture: [u64; 13],
    /// `CUDA_RESOURCE_VIEW_DESC`, if there is one.
    pub(crate) view: Option<[u64; 14]>,
    /// The memory of its array, if it has one.
    pub(crate) base: Option<u64>,
}

/// All of them, by handle.
#[derive(Debug, Default)]
pub(crate) struct Arrays {
    live: BTreeMap<u64, Array>,
    objects: BTreeMap<u64, Box<Object>>,
}

impl Arrays {
    /// Adds an array.
    pub(crate) fn add(&mut self, handle: u64, array: Array) {
        self.live.insert(handle, array);
    }

    /// Returns an array.
    pub(crate) fn array(&self, handle: u64) -> Result<Array, Refusal> {
        let wrong = || refuse(Status::InvalidHandle, "the array is not live");
        self.live.get(&handle).copied().ok_or_else(wrong)
    }

    /// Forgets an array.
    pub(crate) fn remove(&mut self, handle: u64) -> Result<Array, Refusal> {
        let found = self.array(handle)?;
        self.live.remove(&handle);
        Ok(found)
    }

    /// Adds a texture or a surface.
    pub(crate) fn add_object(&mut self, handle: u64, object: Box<Object>) {
        self.objects.insert(handle, object);
    }

    /// Returns a texture, or a surface.
    pub(crate) fn object(&self, handle: u64, is_surface: bool) -> Result<&Object, Refusal> {
        let found = self.objects.get(&handle).filter(|own| own.is_surface == is_surface);
        let what = if is_surface { "surface" } else { "texture" };
        let wrong = || refuse(Status::InvalidValue, format!("the {what} is not live"));
        found.map(AsRef::as_ref).ok_or_else(wrong)
    }

    /// Forgets a texture or a surface.
    pub(crate) fn remove_object(&mut self, handle: u64, is_surface: bool) -> Result<(), Refusal> {
        self.object(handle, is_surface)?;
        self.objects.remove(&handle);
        Ok(())
    }

    /// Returns the memory that kernels can write to by surfaces.
    pub(crate) fn written(&self) -> impl Iterator<Item = u64> {
        self.objects.values().filter(|own| own.is_surface).filter_map(|own| own.base)
    }
}
