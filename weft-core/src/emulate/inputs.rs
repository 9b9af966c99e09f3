//! What a launch gives a kernel: parameter bank, buffers, constants, and the place of each cta.

use std::sync::Arc;

use super::arguments;
use super::memory::{Memory, Segment};
use super::origin::Origin;
use crate::flow::{Field, Program, Symbol};
use crate::launch::{Arg, Buffer, Dim3, Launch, MAX_SHARED, Options};
use crate::ptx::Space;

/// Where the buffers of pointer arguments lie: a slot each, so far apart that none is reached from another.
const BUFFERS: u64 = 0x5000_0000_0000_0000;
const SLOT: u64 = 1 << 42;
/// A buffer of unknown size reaches so far on both sides of the pointer, which may point into its middle.
const REACH: u64 = 1 << 40;
const MAX_PARAMS: u64 = 4096;

/// The address that a pointer argument holds.
pub(super) const fn buffer(position: usize) -> u64 {
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
    /// The most bytes of shared memory, static and dynamic.
    pub shared: u64,
    /// Bytes of dynamic shared memory; `None`: as many as accesses need.
    pub dynamic_shared: Option<u32>,
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
            params.extend(arguments::segments(program, position, arg)?);
            if param.is_scalar {
                global.push(pointee(position, arg));
            }
        }
        for (at, field) in (program.params.len()..).zip(&program.fields) {
            global.push(pointee(at, given(program, launch, field)));
        }
        let mut constants = Vec::new();
        for (at, symbol) in program.symbols.iter().enumerate() {
            match symbol.space {
                Space::Global => global.push(variable(at, symbol)),
                Space::Const => constants.push(match symbol.parameter {
                    Some(position) => object(position, symbol, launch.args.get(&position)),
                    None => variable(at, symbol),
                }),
                _ => {}
            }
        }
        Ok(Self {
            block,
            grid,
            shared: most_shared(program, launch),
            dynamic_shared: launch.shared,
            options: launch.options,
            runs_all_ctas: false,
            params: Memory::new(params),
            constants: Memory::new(constants),
            global: Memory::new(global),
        })
    }
}

/// What a variable holds before the launch.
fn variable(at: usize, symbol: &Symbol) -> Segment {
    Segment {
        start: symbol.address,
        size: symbol.size,
        contents: symbol.init.clone().unwrap_or_default(),
        zeros_follow: symbol.init.is_some(),
        origin: Origin::Symbol(at),
    }
}

/// The object of a pointer to constant memory. What is given of it begins where the pointer points.
fn object(position: usize, symbol: &Symbol, arg: Option<&Arg>) -> Segment {
    let whole = Segment { origin: Origin::Contents(position), ..variable(position, symbol) };
    match arg {
        Some(Arg::Buffer(Buffer { contents: Some(contents) })) => Segment {
            start: symbol.pointer(),
            size: contents.len() as u64,
            contents: contents.as_slice().into(),
            ..whole
        },
        _ => whole,
    }
}

/// Where the launch does not state it, dynamic shared memory may be as large as devices have it.
fn most_shared(program: &Program, launch: &Launch) -> u64 {
    match launch.shared {
        Some(bytes) => program.static_shared.saturating_add(u64::from(bytes)),
        None if program.has_dynamic_shared() => program.static_shared.max(MAX_SHARED),
        None => program.static_shared,
    }
}

/// What the launch gives for a field.
fn given<'l>(program: &Program, launch: &'l Launch, field: &Field) -> Option<&'l Arg> {
    match launch.args.get(&field.param) {
        Some(Arg::Fields(own)) => {
            own.fields.get(&(field.offset - program.params[field.param].offset))
        }
        _ => None,
    }
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
