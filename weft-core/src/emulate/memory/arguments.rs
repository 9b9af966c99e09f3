//! Fills the parameter bank: arguments as the launch gives them, pointers with addresses of buffers and objects of
//! their own. The rest is open.

use std::collections::BTreeMap;

use super::input_error::InputError;
use super::pages::Segment;
use crate::emulate::value::origin::Origin;
use crate::flow::addresses::buffer;
use crate::flow::{Field, Param, Program};
use crate::launch::{Arg, Buffer, Fields};
use crate::ptx::Space;

/// The address that a pointer argument holds.
pub(crate) fn pointer(program: &Program, position: usize) -> u64 {
    buffer(position) + program.placement.argument(position)
}

/// The segments of the parameter bank that one parameter fills.
pub(crate) fn segments(
    program: &Program,
    position: usize,
    arg: Option<&Arg>,
) -> Result<Vec<Segment>, InputError> {
    let param = &program.params[position];
    let fail = |reason| InputError { position, reason };
    if !param.is_scalar {
        return structure(program, position, arg).map_err(fail);
    }
    let contents = scalar(program, position, arg).map_err(fail)?;
    let origin = Origin::Argument(position);
    Ok(vec![segment(param.offset, param.size, contents, origin)])
}

fn segment(start: u64, size: u64, contents: Vec<u8>, origin: Origin) -> Segment {
    Segment { start, size, contents: contents.into(), zeros_follow: false, origin }
}

/// The bytes of a scalar parameter; empty if its value is open.
fn scalar(program: &Program, position: usize, arg: Option<&Arg>) -> Result<Vec<u8>, String> {
    let param = &program.params[position];
    let size = usize::try_from(param.size).unwrap_or(usize::MAX);
    if let Some(space @ (Space::Shared | Space::Const | Space::Local)) = param.pointee {
        return own_object(program, param, space, arg);
    }
    let pointer = || pointer(program, position).to_le_bytes().to_vec();
    match arg {
        None if param.is_pointer() => Ok(pointer()),
        None => Ok(Vec::new()),
        Some(Arg::Buffer(given)) => match object(program, param) {
            Some(_) if given.contents.is_some() && !param.is_pointer() => Err(NO_CONTENTS.into()),
            Some(address) if !param.is_pointer() => Ok(address),
            _ if size == 8 => Ok(pointer()),
            _ => Err(format!("it is a number of {size} bytes, not a pointer")),
        },
        Some(Arg::Fields(_)) => {
            Err("it is no structure with fields; give a number or `\"buffer\"`".to_owned())
        }
        Some(Arg::Integer(_) | Arg::Float(_)) => number(arg, size, param.is_float),
    }
}

const NO_CONTENTS: &str =
    "it points to shared memory, which holds nothing when the kernel starts; give `\"buffer\"`";

/// The address of the object that a parameter points to in shared or constant memory, if it has one.
fn object(program: &Program, param: &Param) -> Option<Vec<u8>> {
    let bytes = usize::try_from(param.size).unwrap_or(0).min(8);
    let address = program.symbols.get(param.object?)?.pointer();
    Some(address.to_le_bytes()[..bytes].to_vec())
}

/// The bytes of a parameter that is declared to point to a state space whose addresses the host does not know.
fn own_object(
    program: &Program,
    param: &Param,
    space: Space,
    arg: Option<&Arg>,
) -> Result<Vec<u8>, String> {
    let is_given = |buffer: &Buffer| buffer.contents.is_some() && space == Space::Shared;
    match (arg, object(program, param)) {
        (Some(Arg::Buffer(buffer)), _) if is_given(buffer) => Err(NO_CONTENTS.into()),
        (None | Some(Arg::Buffer(_)), Some(address)) => Ok(address),
        (None, None) => Ok(Vec::new()),
        (_, object) => {
            let what = if object.is_some() {
                "give `\"buffer\"`, an object of its own"
            } else {
                "leave it open"
            };
            Err(format!(
                "it is declared to point to {} memory, whose addresses the launch does not choose; {what}",
                space.word()
            ))
        }
    }
}

/// The bytes of a number that the launch gives; empty if it gives none.
fn number(arg: Option<&Arg>, size: usize, is_float: bool) -> Result<Vec<u8>, String> {
    match arg {
        Some(Arg::Float(value)) if is_float => Ok(float_bytes(*value, size)),
        Some(Arg::Integer(value)) if is_float => {
            #[allow(
                clippy::cast_precision_loss,
                reason = "rounding to the parameter's type is documented"
            )]
            let value = *value as f64;
            Ok(float_bytes(value, size))
        }
        Some(Arg::Float(value)) => {
            Err(format!("{value} is not a whole number; the parameter is an integer"))
        }
        Some(Arg::Integer(value)) => {
            let bits = u32::try_from(size * 8).unwrap_or(64).min(64);
            let fits = (-(1_i128 << (bits - 1))..1_i128 << bits).contains(value);
            if fits {
                Ok(value.to_le_bytes()[..size.min(16)].to_vec())
            } else {
                Err(format!("{value} does not fit {bits} bits"))
            }
        }
        _ => Ok(Vec::new()),
    }
}

fn float_bytes(value: f64, size: usize) -> Vec<u8> {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "rounding to the parameter's type is documented"
    )]
    match size {
        4 => (value as f32).to_le_bytes().to_vec(),
        8 => value.to_le_bytes().to_vec(),
        _ => Vec::new(),
    }
}

/// The segments of a structure: fields as the launch gives them or as the given bytes contain them, other pointers with
/// buffers of their own, the rest open.
fn structure(
    program: &Program,
    position: usize,
    arg: Option<&Arg>,
) -> Result<Vec<Segment>, String> {
    let param = &program.params[position];
    let none = BTreeMap::new();
    let (bytes, given) = match arg {
        None | Some(Arg::Buffer(Buffer { contents: None })) => (None, &none),
        Some(Arg::Buffer(Buffer { contents })) => (contents.as_deref(), &none),
        Some(Arg::Fields(Fields { bytes, fields })) => (bytes.as_deref(), fields),
        Some(Arg::Integer(_) | Arg::Float(_)) => {
            return Err(format!(
                "it is a structure of {} bytes; give its fields by their first bytes, as in {{ 0 = 1024, 8 = \
                 \"buffer\" }}, or its bytes, as in {{ u8 = [...] }}",
                param.size
            ));
        }
    };
    if let Some(bytes) = bytes.filter(|bytes| bytes.len() as u64 != param.size) {
        let (size, count) = (param.size, bytes.len());
        return Err(format!("the structure has {size} bytes, the contents given have {count}"));
    }
    let numbered = program.fields.iter().zip(program.params.len()..);
    let mut of_param: Vec<_> = numbered.filter(|(field, _)| field.param == position).collect();
    of_param.sort_by_key(|(field, _)| field.offset);
    given.keys().try_for_each(|at| fits(&of_param, param, *at))?;
    parts(program, &of_param, param, bytes, given, Origin::Argument(position))
}

/// Splits a structure into segments: one for each field, and one for each gap between fields.
fn parts(
    program: &Program,
    fields: &[(&Field, usize)],
    param: &Param,
    bytes: Option<&[u8]>,
    given: &BTreeMap<u64, Arg>,
    origin: Origin,
) -> Result<Vec<Segment>, String> {
    let part = |first: u64, size: u64| -> Vec<u8> {
        let at = |place: u64| usize::try_from(place - param.offset).unwrap_or(usize::MAX);
        let part = bytes.and_then(|bytes| bytes.get(at(first)..at(first.saturating_add(size))));
        part.map(<[u8]>::to_vec).unwrap_or_default()
    };
    let between =
        |first: u64, end: u64| segment(first, end - first, part(first, end - first), origin);
    let (mut parts, mut here) = (Vec::new(), param.offset);
    for (field, at) in fields {
        let pointer = || pointer(program, *at).to_le_bytes().to_vec();
        let contents = match given.get(&(field.offset - param.offset)) {
            Some(arg) => given_field(arg, field, param, pointer)?,
            None if bytes.is_none() && field.is_pointer => pointer(),
            None => part(field.offset, field.size),
        };
        parts.push(between(here, field.offset));
        parts.push(segment(field.offset, field.size, contents, Origin::Argument(*at)));
        here = field.offset + field.size;
    }
    parts.push(between(here, param.offset.saturating_add(param.size)));
    parts.retain(|part| part.size > 0);
    Ok(parts)
}

fn given_field(
    arg: &Arg,
    field: &Field,
    param: &Param,
    pointer: impl Fn() -> Vec<u8>,
) -> Result<Vec<u8>, String> {
    let (size, first) = (field.size, field.offset - param.offset);
    match arg {
        Arg::Buffer(_) if size == 8 => Ok(pointer()),
        Arg::Buffer(_) => {
            Err(format!("the field at byte {first} has {size} bytes, not those of a pointer"))
        }
        _ => field_number(arg, usize::try_from(size).unwrap_or(usize::MAX), field.is_float)
            .map_err(|reason| format!("the {size} bytes at byte {first}: {reason}")),
    }
}

/// The bytes of a number given for a field. A load does not always state that a number is floating-point, so a number
/// written as one counts as such.
fn field_number(arg: &Arg, size: usize, is_float: bool) -> Result<Vec<u8>, String> {
    let is_written = matches!(arg, Arg::Float(_)) && matches!(size, 4 | 8);
    match arg {
        Arg::Fields(_) => Err("structures within it are given by their own fields".into()),
        _ => number(Some(arg), size, is_float || is_written),
    }
}

/// Checks that a field can be given at this byte: the kernel's loads there define its size.
fn fits(fields: &[(&Field, usize)], param: &Param, at: u64) -> Result<(), String> {
    let first = |field: &Field| field.offset - param.offset;
    let is_there =
        |(field, _): &&(&Field, usize)| (first(field)..first(field) + field.size).contains(&at);
    let list = || {
        let one = |(field, _): &(&Field, usize)| format!("{} ({})", first(field), field.size);
        fields.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    match fields.iter().find(is_there) {
        None if fields.is_empty() => Err(format!(
            "the kernel loads nothing of it at a known place, so that the size of the field at byte {at} is not known; \
             give its {} bytes, as in {{ u8 = [...] }}",
            param.size
        )),
        None => Err(format!(
            "the kernel loads nothing at byte {at}; it loads (with the number of bytes) {}",
            list()
        )),
        Some((field, _)) if first(field) != at => Err(format!(
            "byte {at} is inside of the {} bytes that the kernel loads at byte {}; give the field there",
            field.size,
            first(field)
        )),
        Some((field, _)) if !field.is_alone => Err(format!(
            "the kernel loads byte {at} as a part of different numbers of bytes, so that the size of the field is not \
             known; give all {} bytes of the structure, as in {{ u8 = [...] }}",
            param.size
        )),
        Some(_) => Ok(()),
    }
}
