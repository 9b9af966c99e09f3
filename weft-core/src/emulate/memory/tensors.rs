//! The boxes that a launch states of tensor maps.

use std::collections::BTreeMap;

use crate::flow::{Param, Program, window};
use crate::launch::{Arg, Launch, TensorBox};
use crate::ptx::Space;

/// Returns the bytes of the boxes that a launch states, by the generic addresses of their tensor maps.
pub(super) fn boxes(program: &Program, launch: &Launch) -> BTreeMap<u64, u64> {
    let mut boxes = BTreeMap::new();
    for (position, arg) in &launch.args {
        let Some(param) = program.params.get(*position) else { continue };
        let first = window(Space::Param) + param.offset;
        match arg {
            Arg::Tensor(TensorBox { bytes }) => {
                let at = if param.is_scalar { program.pointer(*position) } else { first };
                boxes.insert(at, u64::from(*bytes));
            }
            Arg::Fields(fields) => {
                boxes.extend(fields.fields.iter().filter_map(|(at, field)| match field {
                    Arg::Tensor(TensorBox { bytes }) => Some((first + at, u64::from(*bytes))),
                    _ => None,
                }));
            }
            _ => {}
        }
    }
    boxes
}

/// Checks that a structure can hold a tensor map from this byte on.
pub(super) fn lies_within(param: &Param, first: u64) -> Result<(), String> {
    let end = first.checked_add(TensorBox::MAP).filter(|end| *end <= param.size);
    if end.is_none() {
        let size = param.size;
        return Err(format!("the structure has {size} bytes, so no tensor map at byte {first}"));
    }
    let align = TensorBox::MAP_ALIGN;
    if first.is_multiple_of(align) {
        return Ok(());
    }
    Err(format!("a tensor map begins at a multiple of {align} bytes, not at byte {first}"))
}
