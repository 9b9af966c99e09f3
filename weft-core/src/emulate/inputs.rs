//! What a launch gives a kernel: parameter bank, buffers, constants, and the place of each cta.

use std::sync::Arc;

use super::memory::{Memory, Segment};
use super::origin::Origin;
use crate::flow::{Param, Program};
use crate::launch::{Arg, Buffer, Dim3, Launch, Options};
use crate::ptx::Space;

/// Where the buffers of pointer arguments lie: a slot each, so far apart that none is reached from another.
const BUFFERS: u64 = 0x5000_0000_0000_0000;
const SLOT: u64 = 1 << 42;
/// A buffer of unknown size reaches so far on both sides of the pointer, which may point into its middle.
const REACH: u64 = 1 << 40;
const MAX_PARAMS: u64 = 4096;

/// The address that a pointer argument holds.
const fn buffer(position: usize) -> u64 {
    BUFFERS + (position as u64 + 1) * SLOT
}

/// The first and the last byte of the buffer of a pointer argument, however long it is.
pub(super) const fn slot(position: usize) -> (u64, u64) {
    let first = buffer(position) - SLOT / 2;
    (first, first + (SLOT - 1))
}

/// The pointer argument whose buffer holds an address.
pub fn argument_of(address: u64) -> Option<usize> {
    let at = (address.checked_sub(BUFFERS)? + SLOT / 2) / SLOT;
    (1..=MAX_PARAMS).contains(&at).then(|| usize::try_from(at - 1).unwrap_or(0))
}

/// Bytes from the pointer argument of a buffer to an address in it.
pub const fn offset_in_buffer(position: usize, address: u64) -> i64 {
    address.wrapping_sub(buffer(position)).cast_signed()
}

/// An argument that the kernel cannot take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// As given.
    pub position: usize,
    /// What is wrong and what would be right.
    pub reason: String,
}

/// A launch, resolved.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// Threads of a cta.
    pub block: Dim3,
    /// Ctas of the launch.
    pub grid: Dim3,
    /// Bytes of shared memory, static and dynamic.
    pub shared: u64,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// Choices of the analysis.
    pub options: Options,
    /// Whether all ctas of the launch are run: then nothing else writes global memory.
    pub runs_all_ctas: bool,
    pub(super) params: Memory,
    pub(super) constants: Memory,
    pub(super) global: Memory,
}

/// A cta of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cta {
    /// Its coordinates in the grid.
    pub at: [u32; 3],
    /// Its linear index.
    pub index: u32,
}

impl Inputs {
    /// Resolves a launch for a program.
    ///
    /// # Errors
    /// The first argument that does not fit.
    pub fn new(
        program: &Program,
        launch: &Launch,
        block: Dim3,
        grid: Dim3,
    ) -> Result<Self, InputError> {
        let mut params = Vec::new();
        let mut global = Vec::new();
        for (position, param) in program.params.iter().enumerate() {
            let arg = launch.args.get(&position);
            let contents = bytes(position, param, arg)?;
            let origin = Origin::Argument(position);
            let whole = Segment {
                start: param.offset,
                size: param.size,
                contents: contents.into(),
                zeros_follow: false,
                origin,
            };
            params.extend(with_pointers(whole, program, position));
            global.push(pointee(position, arg));
        }
        let fields = program.params.len()..program.params.len() + program.fields.len();
        global.extend(fields.map(|at| pointee(at, None)));
        let mut constants = Vec::new();
        for (at, symbol) in program.symbols.iter().enumerate() {
            let contents = symbol.init.clone().unwrap_or_default();
            let origin = Origin::Symbol(at);
            let zeros_follow = symbol.init.is_some();
            let (start, size) = (symbol.address, symbol.size);
            let segment = Segment { start, size, contents, zeros_follow, origin };
            match symbol.space {
                Space::Global => global.push(segment),
                Space::Const => constants.push(segment),
                _ => {}
            }
        }
        Ok(Self {
            block,
            grid,
            shared: program.static_shared.saturating_add(u64::from(launch.shared)),
            dynamic_shared: launch.shared,
            options: launch.options,
            runs_all_ctas: false,
            params: Memory::new(params),
            constants: Memory::new(constants),
            global: Memory::new(global),
        })
    }
}

/// A structure that is open, with its pointers to buffers of their own.
fn with_pointers(whole: Segment, program: &Program, position: usize) -> Vec<Segment> {
    let mut fields: Vec<_> = (program.params.len()..)
        .zip(&program.fields)
        .filter(|(_, field)| field.param == position && field.is_pointer)
        .collect();
    if fields.is_empty() || !whole.contents.is_empty() {
        return vec![whole];
    }
    fields.sort_by_key(|(_, field)| field.offset);
    let end = whole.start.saturating_add(whole.size);
    let (mut parts, mut here) = (Vec::new(), whole.start);
    let part = |start: u64, end: u64, contents: Vec<u8>| Segment {
        start,
        size: end - start,
        contents: contents.into(),
        ..whole.clone()
    };
    for (at, field) in fields {
        parts.push(part(here, field.offset, Vec::new()));
        here = field.offset + 8;
        parts.push(part(field.offset, here, buffer(at).to_le_bytes().to_vec()));
    }
    parts.push(part(here, end, Vec::new()));
    parts.retain(|part| part.size > 0);
    parts
}

fn pointee(position: usize, arg: Option<&Arg>) -> Segment {
    let (at, origin) = (buffer(position), Origin::Contents(position));
    match arg {
        Some(Arg::Buffer(Buffer { contents: Some(contents) })) => Segment {
            start: at,
            size: contents.len() as u64,
            contents: contents.as_slice().into(),
            zeros_follow: false,
            origin,
        },
        _ => Segment {
            start: at - REACH,
            size: 2 * REACH,
            contents: Arc::default(),
            zeros_follow: false,
            origin,
        },
    }
}

/// The bytes of a parameter in the bank; empty where they are open.
fn bytes(position: usize, param: &Param, arg: Option<&Arg>) -> Result<Vec<u8>, InputError> {
    let fail = |reason: String| Err(InputError { position, reason });
    let size = usize::try_from(param.size).unwrap_or(usize::MAX);
    match arg {
        None if param.is_pointer => Ok(buffer(position).to_le_bytes().to_vec()),
        None => Ok(Vec::new()),
        Some(Arg::Buffer(buffer)) if !param.is_scalar => match &buffer.contents {
            None => Ok(Vec::new()),
            Some(contents) if contents.len() == size => Ok(contents.clone()),
            Some(contents) => fail(format!(
                "the structure has {size} bytes, the contents given have {}",
                contents.len()
            )),
        },
        Some(_) if !param.is_scalar => fail(format!(
            "it is a structure of {size} bytes; give its bytes, as in {{ u8 = [...] }}"
        )),
        Some(Arg::Buffer(_)) if size == 8 => Ok(buffer(position).to_le_bytes().to_vec()),
        Some(Arg::Buffer(_)) => fail(format!("it is a number of {size} bytes, not a pointer")),
        Some(Arg::Float(value)) if param.is_float => Ok(float_bytes(*value, size)),
        Some(Arg::Integer(value)) if param.is_float => {
            #[allow(
                clippy::cast_precision_loss,
                reason = "rounding to the parameter's type is documented"
            )]
            let value = *value as f64;
            Ok(float_bytes(value, size))
        }
        Some(Arg::Float(value)) => {
            fail(format!("{value} is not a whole number; the parameter is an integer"))
        }
        Some(Arg::Integer(value)) => {
            let bits = u32::try_from(size * 8).unwrap_or(64).min(64);
            let fits = (-(1_i128 << (bits - 1))..1_i128 << bits).contains(value);
            if fits {
                Ok(value.to_le_bytes()[..size.min(16)].to_vec())
            } else {
                fail(format!("{value} does not fit {bits} bits"))
            }
        }
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
