//! What a launch gives a kernel: parameter bank, buffers, constants, shared memory, and the coordinates of each cta.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::arguments;
use super::clustering::{Clustering, Cta, member};
use super::input_error::InputError;
use super::pages::Memory;
use super::segment::Segment;
use super::tensors;
use crate::emulate::value::origin::Origin;
use crate::flow::addresses::BUFFER_REACH;
use crate::flow::{BufferPlace, Field, Param, Pc, Program, Symbol};
use crate::launch::allocation::MAX_BUFFER;
use crate::launch::{Allocation, Arg, Buffer, Dim3, Fields, Launch, MAX_SHARED, Options, Within};
use crate::ptx::Space;
use crate::slice::Dependences;

/// Bytes of an address.
const POINTER_BYTES: usize = size_of::<u64>();

/// Whether the launch states the size of what a pointer argument points to.
pub fn is_sized(program: &Program, launch: &Launch, position: usize) -> bool {
    let arg = match program.field(position) {
        Some(field) => given(program, launch, field),
        None => launch.args.get(&position),
    };
    match arg {
        Some(Arg::Buffer(Buffer { contents })) => contents.is_some(),
        Some(Arg::Within(within)) => {
            launch.buffers.get(&within.buffer).is_some_and(|buffer| buffer.size.is_some())
        }
        _ => false,
    }
}

/// Whether the launch states into which of its buffers an argument or field points.
pub fn is_within(program: &Program, position: usize) -> bool {
    program.buffers.of_argument(position).is_some()
}

/// Whether the launch gives a value for a parameter or a field; for a pointer, whether it says that it is one.
pub fn is_given(program: &Program, launch: &Launch, position: usize) -> bool {
    let Some(field) = program.field(position) else { return launch.args.contains_key(&position) };
    match launch.args.get(&field.param) {
        Some(Arg::Buffer(Buffer { contents })) => contents.is_some(),
        Some(Arg::Fields(fields)) => {
            is_known(program, fields, field) || given(program, launch, field).is_some()
        }
        _ => false,
    }
}

/// The arguments that point to buffers or objects, by position. Fields of structures have the positions after the last
/// parameter.
pub fn pointers(program: &Program, launch: &Launch) -> BTreeSet<usize> {
    let is_whole = |at: usize, param: &Param| match launch.args.get(&at) {
        Some(Arg::Buffer(_) | Arg::Within(_) | Arg::Tensor(_)) => param.is_scalar,
        Some(_) => false,
        None => param.is_pointer() || param.pointee.is_some() && param.object.is_some(),
    };
    let is_given = |field: &Field| match launch.args.get(&field.param) {
        Some(Arg::Buffer(Buffer { contents })) => contents.is_some(),
        Some(Arg::Fields(given_fields)) => is_known(program, given_fields, field),
        _ => false,
    };
    let is_field = |field: &Field| match given(program, launch, field) {
        Some(arg) => matches!(arg, Arg::Buffer(_) | Arg::Within(_)),
        None => field.is_pointer && !is_given(field),
    };
    let params = program
        .params
        .iter()
        .enumerate()
        .filter(|(at, declared_param)| is_whole(*at, declared_param));
    let fields =
        (program.params.len()..).zip(&program.fields).filter(|(_, described)| is_field(described));
    params.map(|(at, _)| at).chain(fields.map(|(at, _)| at)).collect()
}

/// A launch, resolved for a program.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// Threads of a cta.
    pub block: Dim3,
    /// Ctas of the launch.
    pub grid: Dim3,
    /// Ctas of a cluster.
    pub cluster: Dim3,
    /// Most bytes of shared memory, static and dynamic.
    pub shared: u64,
    /// Bytes of dynamic shared memory; `None`: as many as accesses need.
    pub dynamic_shared: Option<u32>,
    /// Options of the analysis.
    pub options: Options,
    /// Whether the launch states its grid, so that nothing but its ctas writes global memory while they run.
    pub runs_all_ctas: bool,
    /// Whether ctas draw from counters in turn, instead of in any order. Then defects are certain, but nothing is
    /// proved.
    pub draws_in_turn: bool,
    /// Whether requests to take over the work of other ctas succeed as long as there are such ctas: a quarter of the clusters
    /// run, and take over the others by turns. Otherwise all clusters run, and no such request succeeds.
    pub takes_over: bool,
    /// Accesses whose addresses might lead from one variable or buffer to another, each with a pointer argument that
    /// the addresses are computed from, if there is one.
    pub(crate) strays: BTreeMap<Pc, Option<usize>>,
    /// The pieces of shared memory, ascending: the first byte of each, and the byte after its last.
    pub(crate) shared_pieces: Vec<(u64, u64)>,
    /// Where dynamic shared memory begins; `None` if the kernel declares none.
    pub(crate) first_dynamic: Option<u64>,
    /// The bytes of the boxes that the launch states, by the generic addresses of the tensor maps.
    pub(crate) boxes: BTreeMap<u64, u64>,
    pub(crate) params: Memory,
    pub(crate) constants: Memory,
    pub(crate) global: Memory,
}

/// Of so many clusters, one runs if clusters take over the work of others.
const WORK: u64 = 4;

impl Inputs {
    /// How the ctas form clusters.
    pub(crate) const fn clustering(&self) -> Clustering {
        Clustering { grid: self.grid, cluster: self.cluster }
    }

    /// The number of clusters that run; they are the first ones.
    pub fn running(&self) -> u64 {
        let all = self.clustering().count();
        if self.takes_over { all.div_ceil(WORK) } else { all }
    }

    /// The number of the cluster whose work the cluster of this number takes over by its request of this number; `None`: the
    /// request fails.
    pub(crate) fn taken_over(&self, cluster: u64, request: u64) -> Option<u64> {
        let next = cluster + self.running() * (request + 1);
        (self.takes_over && next < self.clustering().count()).then_some(next)
    }

    /// Returns the ctas of a cluster by rank, from its first cta.
    pub fn members(&self, first: Cta) -> impl Iterator<Item = Cta> {
        let (grid, cluster) = (self.grid, self.cluster);
        (0..cluster.count()).map(move |rank| member(grid, cluster, first, rank))
    }

    /// Resolves a launch for a program with these pointer dependences. `block` and `grid` are counted in threads and ctas.
    ///
    /// # Errors
    /// Returns an error for the first argument that does not fit its parameter.
    pub fn new(
        program: &Program,
        launch: &Launch,
        block: Dim3,
        grid: Dim3,
        dependences: &Dependences<'_>,
    ) -> Result<Self, InputError> {
        let mut params = Vec::new();
        let mut global = Vec::new();
        for (position, param) in program.params.iter().enumerate() {
            let arg = launch.args.get(&position);
            params.extend(arguments::segments(program, position, arg)?);
            if param.is_scalar && !is_within(program, position) {
                global.push(pointee(program, position, arg));
            }
        }
        for (at, field) in (program.params.len()..).zip(&program.fields) {
            if !is_within(program, at) {
                global.push(pointee(program, at, given(program, launch, field)));
            }
        }
        global.extend(stated(program, launch));
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
            cluster: program.clusters.size(),
            shared: most_shared(program, launch),
            dynamic_shared: launch.shared,
            shared_pieces: shared_pieces(program, launch),
            first_dynamic: first_dynamic(program),
            boxes: tensors::boxes(program, launch),
            options: launch.options,
            runs_all_ctas: false,
            draws_in_turn: false,
            takes_over: false,
            strays: dependences.strays(),
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
        gaps: <_>::default(),
        zeros_follow: symbol.init.is_some(),
        origin: Origin::Symbol(at),
    }
}

/// The object of a pointer to constant memory. Contents that the launch gives begin where the pointer points.
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

/// Most bytes of shared memory. If the launch does not state its size, dynamic shared memory can be as large as devices
/// allow.
fn most_shared(program: &Program, launch: &Launch) -> u64 {
    match launch.shared {
        Some(bytes) => program.static_shared.saturating_add(u64::from(bytes)),
        None if program.has_dynamic_shared() => program.static_shared.max(MAX_SHARED),
        None => program.static_shared,
    }
}

/// The pieces of shared memory: one for all of it if it is packed, otherwise one for each variable; and one for each
/// object of a pointer.
fn shared_pieces(program: &Program, launch: &Launch) -> Vec<(u64, u64)> {
    let most = most_shared(program, launch);
    let is_packed = program.placement.is_packed;
    let is_piece = |variable: &&Symbol| {
        variable.space == Space::Shared && (!is_packed || variable.parameter.is_some())
    };
    let mut pieces: Vec<_> = program
        .symbols
        .iter()
        .filter(is_piece)
        .map(|symbol| {
            let size = if symbol.is_dynamic() { most - program.static_shared } else { symbol.size };
            (symbol.address, symbol.address.saturating_add(size))
        })
        .chain(is_packed.then_some((0, most)))
        .collect();
    pieces.sort_unstable();
    pieces.dedup();
    pieces
}

fn first_dynamic(program: &Program) -> Option<u64> {
    program.symbols.iter().find(|variable| variable.is_dynamic()).map(|symbol| symbol.address)
}

/// The argument that the launch gives for a field of a structure.
fn given<'l>(program: &Program, launch: &'l Launch, field: &Field) -> Option<&'l Arg> {
    match launch.args.get(&field.param) {
        Some(Arg::Fields(fields)) => {
            fields.fields.get(&(field.offset - program.params[field.param].offset))
        }
        _ => None,
    }
}

/// Whether the bytes given of a structure have all those of a field.
fn is_known(program: &Program, given: &Fields, field: &Field) -> bool {
    let first = field.offset - program.params[field.param].offset;
    (first..first.saturating_add(field.size)).all(|at| given.byte(at).is_some())
}

/// The buffers that the launch states.
fn stated(program: &Program, launch: &Launch) -> impl Iterator<Item = Segment> {
    launch.buffers.iter().filter_map(|(name, allocation)| {
        let first = program.buffers.place(&Within { buffer: name.clone(), offset: 0 })?;
        let size = allocation.size.unwrap_or(MAX_BUFFER);
        let (start, origin) = (program.address_of(first), Origin::Contents(first.buffer));
        Some(Segment::partly_known(start, size, &contents(program, allocation), origin))
    })
}

/// The bytes of a stated buffer that are known, from its first one on.
fn contents(program: &Program, allocation: &Allocation) -> Vec<Option<u8>> {
    let mut bytes = allocation.contents.clone();
    for (first, within) in &allocation.pointers {
        let place: Option<BufferPlace> = program.buffers.place(within);
        let address = place.map(|place| program.address_of(place).to_le_bytes());
        let first = usize::try_from(*first).unwrap_or(usize::MAX);
        let end = first.saturating_add(POINTER_BYTES);
        bytes.resize(bytes.len().max(end), None);
        let there = bytes.iter_mut().skip(first).zip(address.into_iter().flatten());
        there.for_each(|(byte, own)| *byte = Some(own));
    }
    bytes
}

fn pointee(program: &Program, position: usize, arg: Option<&Arg>) -> Segment {
    let (at, origin) = (program.pointer(position), Origin::Contents(position));
    match arg {
        Some(Arg::Buffer(Buffer { contents: Some(contents) })) => Segment {
            start: at,
            size: contents.len() as u64,
            contents: contents.as_slice().into(),
            gaps: <_>::default(),
            zeros_follow: false,
            origin,
        },
        _ => Segment {
            start: at - BUFFER_REACH,
            size: 2 * BUFFER_REACH,
            contents: Arc::default(),
            gaps: <_>::default(),
            zeros_follow: false,
            origin,
        },
    }
}
