//! Fills the parameter bank: arguments as the launch gives them, pointers with addresses of buffers and objects of
//! their own. The rest is open.

use super::input_error::InputError;
use super::segment::Segment;
use super::tensors;
use crate::emulate::value::origin::Origin;
use crate::flow::{Field, Param, Program};
use crate::launch::allocation::POINTER;
use crate::launch::{Arg, Buffer, Fields, Launch, Within};
use crate::ptx::Space;

/// Checks the pointers into stated buffers that an argument holds: that the buffers are there, and that the pointers fit
/// the parameter.
///
/// # Errors
/// The first pointer that does not.
pub(crate) fn fits(
    program: &Program,
    launch: &Launch,
    position: usize,
    arg: &Arg,
) -> Result<(), InputError> {
    let fail = |reason: String| InputError { position, reason };
    let leads = |within: &Within| match within.misfit(&launch.buffers) {
        Some(misfit) => Err(misfit.to_string()),
        None => Ok(()),
    };
    let Some(param) = program.params.get(position) else { return Ok(()) };
    match arg {
        Arg::Within(within) => holds_pointer(param).and_then(|()| leads(within)).map_err(fail),
        Arg::Fields(fields) => {
            let pointers = fields.fields.iter().filter_map(|(at, field)| match field {
                Arg::Within(within) => Some((*at, within)),
                _ => None,
            });
            let mut end = 0;
            for (at, within) in pointers {
                let last = at.checked_add(POINTER).filter(|last| *last <= param.size);
                let last = last.ok_or_else(|| {
                    fail(format!(
                        "the structure has {} bytes, so no pointer at byte {at}",
                        param.size
                    ))
                })?;
                if at < end {
                    return Err(fail(format!("the pointer at byte {at} overlaps the one before")));
                }
                end = last;
                leads(within)
                    .map_err(|reason| fail(format!("the pointer at byte {at}: {reason}")))?;
            }
            Ok(())
        }
        Arg::Integer(_) | Arg::Float(_) | Arg::Buffer(_) | Arg::Tensor(_) => Ok(()),
    }
}

const NO_POINTER: &str =
    "it is a structure; give the fields of it that are pointers, by their first bytes";

/// Checks that a parameter can hold a pointer into a stated buffer, which lies in global memory.
fn holds_pointer(param: &Param) -> Result<(), String> {
    match param.pointee {
        _ if !param.is_scalar => Err(NO_POINTER.to_owned()),
        Some(space) if space != Space::Global => Err(format!(
            "it is declared to point to {} memory, whose addresses the launch does not choose",
            space.word()
        )),
        None if param.object.is_some() => {
            Err("the kernel uses it as an address of shared memory; give `\"buffer\"`".to_owned())
        }
        _ if param.is_float => Err("it is a floating-point number, not a pointer".to_owned()),
        _ if param.size != POINTER => {
            Err(format!("it is a number of {} bytes, not a pointer", param.size))
        }
        _ => Ok(()),
    }
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
    let (contents, gaps) = (contents.into(), <_>::default());
    Segment { start, size, contents, gaps, zeros_follow: false, origin }
}

/// The bytes of a scalar parameter; empty if its value is open.
fn scalar(program: &Program, position: usize, arg: Option<&Arg>) -> Result<Vec<u8>, String> {
    let param = &program.params[position];
    let size = usize::try_from(param.size).unwrap_or(usize::MAX);
    if let Some(space @ (Space::Shared | Space::Const | Space::Local)) = param.pointee {
        return own_object(program, param, space, arg);
    }
    let pointer = || program.pointer(position).to_le_bytes().to_vec();
    match arg {
        None if param.is_pointer() => Ok(pointer()),
        None => Ok(Vec::new()),
        Some(Arg::Buffer(given)) => match object(program, param) {
            Some(_) if given.contents.is_some() && !param.is_pointer() => Err(NO_CONTENTS.into()),
            Some(address) if !param.is_pointer() => Ok(address),
            _ if size == 8 => Ok(pointer()),
            _ => Err(format!("it is a number of {size} bytes, not a pointer")),
        },
        Some(Arg::Tensor(_)) if size == 8 && param.object.is_none() && !param.is_float => {
            Ok(pointer())
        }
        Some(Arg::Tensor(_)) => Err("it is no tensor map and no pointer to one".to_owned()),
        Some(Arg::Within(_)) => holds_pointer(param).map(|()| pointer()),
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
    let given = match arg {
        Some(Arg::Within(_)) => return Err(NO_POINTER.to_owned()),
        None => Fields::default(),
        Some(Arg::Buffer(Buffer { contents })) => {
            Fields { bytes: contents.clone(), ..Fields::default() }
        }
        Some(Arg::Fields(given)) => given.clone(),
        Some(Arg::Tensor(_)) => {
            tensors::lies_within(param, 0)?;
            Fields::default()
        }
        Some(Arg::Integer(_) | Arg::Float(_)) => {
            return Err(format!(
                "it is a structure of {} bytes; give its fields by their first bytes, as in {{ 0 = 1024, 8 = \
                 \"buffer\" }}, or its bytes, as in {{ u8 = [...] }}",
                param.size
            ));
        }
    };
    let count = given.bytes.as_ref().map(Vec::len);
    if let Some(count) = count.filter(|count| *count as u64 != param.size) {
        let size = param.size;
        return Err(format!("the structure has {size} bytes, the contents given have {count}"));
    }
    let numbered = program.fields.iter().zip(program.params.len()..);
    let mut of_param: Vec<_> = numbered.filter(|(field, _)| field.param == position).collect();
    of_param.sort_by_key(|(field, _)| field.offset);
    let maps = given.fields.iter().filter(|(_, arg)| matches!(arg, Arg::Tensor(_)));
    maps.map(|(at, _)| *at).try_for_each(|at| tensors::lies_within(param, at))?;
    let numbers =
        given.fields.iter().filter(|(_, arg)| !matches!(arg, Arg::Within(_) | Arg::Tensor(_)));
    numbers.map(|(at, _)| *at).try_for_each(|at| is_field(&of_param, param, at))?;
    parts(program, &of_param, param, &given, Origin::Argument(position))
}

/// The bytes of a structure that are known from the given bytes and from pointers into stated buffers, which the kernel
/// need not load as fields.
fn known_bytes(program: &Program, param: &Param, given: &Fields) -> Vec<Option<u8>> {
    let places = 0..given.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
    let mut known: Vec<_> = places.map(|at| given.byte(at)).collect();
    for (at, place) in program.stated_pointers() {
        let first = at.checked_sub(param.offset).filter(|first| *first < param.size);
        let Some(first) = first.and_then(|first| usize::try_from(first).ok()) else { continue };
        let address = program.address_of(place).to_le_bytes();
        known.resize(known.len().max(first + address.len()), None);
        let there = known.iter_mut().skip(first);
        there.zip(address).for_each(|(byte, own)| *byte = Some(own));
    }
    known
}

/// Splits a structure into segments: one for each field, and one for each gap between fields.
fn parts(
    program: &Program,
    fields: &[(&Field, usize)],
    param: &Param,
    given: &Fields,
    origin: Origin,
) -> Result<Vec<Segment>, String> {
    let known = known_bytes(program, param, given);
    let part = |first: u64, size: u64, origin: Origin| {
        let at = |place: u64| usize::try_from(place - param.offset).unwrap_or(usize::MAX);
        let end = at(first.saturating_add(size)).min(known.len());
        let part = known.get(at(first)..end).unwrap_or_default();
        Segment::partly_known(first, size, part, origin)
    };
    let between = |first: u64, end: u64| part(first, end - first, origin);
    let (mut parts, mut here) = (Vec::new(), param.offset);
    for (field, at) in fields {
        let own = Origin::Argument(*at);
        let whole = |contents| segment(field.offset, field.size, contents, own);
        let pointer = || program.pointer(*at).to_le_bytes().to_vec();
        let is_open = |part: &Segment| part.contents.is_empty();
        let field_part = part(field.offset, field.size, own);
        let field_part = match given.fields.get(&(field.offset - param.offset)) {
            Some(Arg::Within(_) | Arg::Tensor(_)) => field_part,
            Some(arg) => whole(given_field(arg, field, param, pointer)?),
            None if field.is_pointer && is_open(&field_part) => whole(pointer()),
            None => field_part,
        };
        parts.push(between(here, field.offset));
        parts.push(field_part);
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
        _ => field_number(arg, usize::try_from(size).unwrap_or(usize::MAX), field.is_float())
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
fn is_field(fields: &[(&Field, usize)], param: &Param, at: u64) -> Result<(), String> {
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
