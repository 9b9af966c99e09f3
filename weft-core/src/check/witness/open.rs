//! The inputs that a launch leaves open: block and grid, numbers, and the contents of buffers.

use std::collections::{BTreeMap, BTreeSet};

use super::deciding::deciding_loads;
use super::roles::{NumberRole, NumberUses, uses};
use crate::check::chosen_sizes;
use crate::check::request::{BlockSource, KnownBlock};
use crate::emulate::{self, is_given, is_sized, is_within};
use crate::explain::setting::ElementType;
use crate::flow::{Instr, Operand, Program, Special, sources_of};
use crate::launch::{Dim3, Dimensions, Launch};
use crate::ptx::isa::Effect;

/// The threads of a chosen block, unless barriers of the kernel need more.
const THREADS: u32 = 64;
/// The threads of a large chosen block.
const LARGE: u32 = 256;
/// The threads of a chosen square block in each dimension.
const SIDE: u32 = 16;
/// Barriers count whole warps.
const WARP: u32 = 32;

/// A number that a launch leaves open.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenNumber {
    /// The position of the parameter or field.
    pub(super) at: usize,
    /// Its size in bytes.
    pub(super) bytes: u64,
    /// Whether it is a floating-point number.
    pub(super) is_float: bool,
    /// What the kernel uses it for.
    pub(super) role: NumberRole,
}

/// The inputs that a launch leaves open.
#[derive(Debug)]
pub(super) struct OpenInputs {
    /// The blocks to try, each in some trials, if nobody states one.
    pub(super) blocks: Option<[Dim3; 3]>,
    /// The grid to try, if the launch states none.
    pub(super) grid: Option<Dim3>,
    /// The block that is stated.
    stated: Option<Dim3>,
    /// The number of ctas of the launch that is tried.
    ctas: u64,
    /// The numbers by position.
    pub(super) numbers: Vec<OpenNumber>,
    /// The buffers whose contents decide something, by the position of their pointers.
    pub(super) contents: BTreeMap<usize, OpenContents>,
}

/// The contents of a buffer that a launch leaves open.
#[derive(Clone, Debug)]
pub(super) struct OpenContents {
    /// The type of the elements that are loaded.
    pub(super) element: ElementType,
    /// The numbers that elements are compared with, if they are whole numbers.
    pub(super) compared: Vec<u64>,
}

impl OpenInputs {
    /// Returns what a launch leaves open. `block`: the block, if launch or kernel state one, or a guess.
    pub(super) fn of(program: &Program, launch: &Launch, block: Option<KnownBlock>) -> Self {
        let is_guess = |block: &KnownBlock| block.source == BlockSource::Guessed;
        let guess = block.filter(is_guess).map(|block| block.size);
        let stated = block.filter(|block| !is_guess(block)).map(|block| block.size);
        let blocks = if stated.is_none() { Some(blocks(program, guess)) } else { None };
        let given = launch.grid.and_then(Dimensions::known);
        let grid = if given.is_none() { Some(chosen_sizes::grid(program)) } else { None };
        let ctas = given.or(grid).map_or(1, Dim3::count);
        let pointers = emulate::pointers(program, launch);
        let uses = uses(program);
        let contents = contents(program, launch, (&pointers, &uses));
        let numbers = numbers(program, launch, (&pointers, &uses));
        Self { blocks, grid, stated, ctas, numbers, contents }
    }

    /// Returns the number of threads of the launch with a chosen block.
    pub(super) fn threads(&self, block: Option<Dim3>) -> u64 {
        block.or(self.stated).map_or(1, Dim3::count).saturating_mul(self.ctas)
    }
}

/// Returns three blocks with several threads in each dimension that the kernel distinguishes: one that is square if there are
/// two dimensions, as tiles often are; two warps, or as many as the counts of its barriers name; and a large one. If a
/// bound is stated, each is within it, the first and the last one the `guess`.
fn blocks(program: &Program, guess: Option<Dim3>) -> [Dim3; 3] {
    let read = [0, 1, 2].map(|dimension| program.distinguishes_threads(dimension));
    let least = barrier_count(program);
    let [small, large] = [THREADS, LARGE].map(|threads| block(program, read, threads.max(least)));
    if let Some(guess) = guess {
        return [guess, if small.count() <= guess.count() { small } else { guess }, guess];
    }
    let is_plane = read == [true, true, false] && least <= THREADS;
    [if is_plane { Dim3 { x: SIDE, y: SIDE, z: 1 } } else { small }, small, large]
}

fn block(program: &Program, read: [bool; 3], threads: u32) -> Dim3 {
    let row = threads / WARP;
    match read {
        [false, false, false] => {
            Dim3::line(if program.code.iter().any(is_for_several) { threads } else { 1 })
        }
        [_, false, false] => Dim3::line(threads),
        [false, true, false] => Dim3 { x: 1, y: threads, z: 1 },
        [false, false, true] => Dim3 { x: threads.div_ceil(64), y: 1, z: 64 },
        [true, true, false] => Dim3 { x: WARP, y: row, z: 1 },
        [true, false, true] => Dim3 { x: WARP, y: 1, z: row },
        [false, true, true] => Dim3 { x: 1, y: threads / 2, z: 2 },
        [true, true, true] => Dim3 { x: WARP / 2, y: row, z: 2 },
    }
}

/// Whether an instruction is of use only if there are several threads: it names its lane, or waits for others.
fn is_for_several(instr: &Instr) -> bool {
    use Special::{Laneid, LanemaskEq, LanemaskGe, LanemaskGt, LanemaskLe, LanemaskLt};
    let is_lane = |operand: &Operand| {
        matches!(
            operand,
            Operand::Special(
                Laneid | LanemaskEq | LanemaskGe | LanemaskGt | LanemaskLe | LanemaskLt
            )
        )
    };
    instr.waits() || instr.sources.iter().any(is_lane)
}

/// Returns the largest count that a barrier states as a number, in whole warps.
fn barrier_count(program: &Program) -> u32 {
    let barriers = program.code.iter().filter(|instr| instr.effect() == Effect::Barrier);
    let counts = barriers.filter_map(|instr| match instr.sources.get(1) {
        Some(Operand::Constant(count)) => u32::try_from(*count).ok(),
        _ => None,
    });
    counts.max().unwrap_or(0).min(1024).next_multiple_of(WARP)
}

/// Returns the numbers that a launch leaves open. A number of eight bytes that is used for nothing known might be a
/// pointer, and stays open.
fn numbers(
    program: &Program,
    launch: &Launch,
    (pointers, uses): (&BTreeSet<usize>, &NumberUses),
) -> Vec<OpenNumber> {
    let is_open = |at: usize| !pointers.contains(&at) && !is_given(program, launch, at);
    let params = program.params.iter().enumerate().filter(|(_, param)| {
        param.is_scalar && param.pointee.is_none() && matches!(param.size, 1 | 2 | 4 | 8)
    });
    let params = params.map(|(at, param)| (at, param.size, param.is_float));
    let fields = (program.params.len()..).zip(&program.fields);
    let fields = fields.filter(|(_, field)| field.is_alone && matches!(field.size, 1 | 2 | 4 | 8));
    let fields = fields.map(|(at, field)| (at, field.size, field.is_float()));
    let number = |(at, bytes, is_float): (usize, u64, bool)| {
        let role = uses.roles.get(at).copied().unwrap_or_default();
        let is_number = bytes != 8 || is_float || role != NumberRole::Unknown;
        (is_open(at) && is_number).then_some(OpenNumber { at, bytes, is_float, role })
    };
    params.chain(fields).filter_map(number).collect()
}

/// Returns the buffers with open contents that decide something: a branch, an address or a barrier.
fn contents(
    program: &Program,
    launch: &Launch,
    (pointers, uses): (&BTreeSet<usize>, &NumberUses),
) -> BTreeMap<usize, OpenContents> {
    let loads = deciding_loads(program);
    let mut contents = BTreeMap::new();
    for (load, sources) in loads.iter().zip(sources_of(program, &loads)) {
        let Some(element) = program.code[load.index()].decoded().and_then(ElementType::of) else {
            continue;
        };
        // The contents of stated buffers are not chosen: several arguments might see them.
        let is_open = |at: &usize| {
            let is_own = !is_within(program, *at);
            is_own && pointers.contains(at) && !is_sized(program, launch, *at)
        };
        for at in sources.into_iter().filter(is_open) {
            let compared = uses.compared.get(&at).filter(|_| !element.is_float);
            let compared = compared.into_iter().flatten().copied().collect();
            contents.entry(at).or_insert(OpenContents { element, compared });
        }
    }
    contents
}
