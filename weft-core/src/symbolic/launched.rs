//! What a launch says about the values that threads begin with: extents, thread indices, arguments, and the addresses of
//! variables.

use std::collections::{BTreeMap, BTreeSet};

use super::atom::Atom;
use super::expr::{BinaryOperator, Expr, Exprs};
use crate::emulate::WARP;
use crate::flow::{Program, Special};
use crate::launch::requires::{Axis, LaunchVariable, Quantity, Requirement};
use crate::launch::{Arg, Dim3, ExtentBound, Launch};
use crate::ptx::Space;

/// The values of a launch.
#[derive(Clone, Debug)]
pub(super) struct LaunchedValues {
    pub(super) block: [ExtentBound; 3],
    pub(super) grid: [ExtentBound; 3],
    /// Whether all blocks have a multiple of 32 threads in x.
    pub(super) has_whole_warps: bool,
    /// The arguments that are given as numbers, by the offset of their first byte: their sizes and bits.
    given: BTreeMap<u64, (u32, u64)>,
    /// What arguments are required to be equal to, by their offset and size.
    equal: BTreeMap<(u64, u32), EqualTo>,
    /// The arguments that are multiples of the size of a warp, by their offset and size.
    pub(super) multiples: BTreeSet<(u64, u32)>,
    /// The variables that have addresses: space, first byte, end and index; the end of dynamic shared memory is open.
    variables: Vec<(Space, u64, u64, usize)>,
    /// The variables whose contents the program states.
    stated: BTreeSet<usize>,
}

/// What an argument is required to be equal to.
#[derive(Clone, Copy, Debug)]
enum EqualTo {
    /// An extent of the block or the grid.
    Extent(Special),
    /// An argument that comes before it, of the same type: the offset of its first byte.
    Argument(u64),
}

/// The sizes that are stated for a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StatedSizes {
    /// The block, if it is known.
    pub(crate) block: Option<Dim3>,
    /// The most threads of a block.
    pub(crate) threads: u32,
    /// The grid, if it is known.
    pub(crate) grid: Option<Dim3>,
    /// Whether the grid is stated to be any.
    pub(crate) is_any_grid: bool,
}

impl StatedSizes {
    /// Returns the extents of block and grid. Those that are neither given nor required to be a number are open up to the last
    /// dimension of which the kernel reads an index or a requirement speaks, and in x for blocks and for any grid; behind it
    /// they are 1. A launch with an extent in y has one in x, whether the kernel reads that index or not.
    fn extents(self, program: &Program, launch: &Launch) -> [[ExtentBound; 3]; 2] {
        let required: Vec<_> = launch.requires.iter().flat_map(Requirement::variables).collect();
        let is_required = |variable: LaunchVariable| required.contains(&&variable);
        let equal = |variable: LaunchVariable| {
            let mut all = launch.requires.iter().flat_map(Requirement::equalities);
            all.find_map(|(own, other)| match other {
                Quantity::Number(number) if *own == variable => u32::try_from(*number).ok(),
                _ => None,
            })
        };
        let extent = |given: Option<u32>, is_open: bool, most: u32| match given {
            Some(extent) => ExtentBound::Is(extent),
            None if is_open => ExtentBound::UpTo(most),
            None => ExtentBound::Is(1),
        };
        let from = |axis: Axis| &Axis::ALL[usize::from(axis.number())..];
        let block = |axis: Axis| {
            let is_used = |of: &Axis| {
                program.distinguishes_threads(of.number())
                    || is_required(LaunchVariable::Block(*of))
            };
            let is_open = axis == Axis::X || from(axis).iter().any(is_used);
            let given = self.block.map(|dim| axis.of(dim));
            let given = given.or_else(|| equal(LaunchVariable::Block(axis)));
            extent(given, is_open, axis.of(Dim3::MAX_BLOCK).min(self.threads))
        };
        let grid = |axis: Axis| {
            let is_used = |of: &Axis| {
                program.distinguishes_ctas(of.number()) || is_required(LaunchVariable::Grid(*of))
            };
            let is_open = axis == Axis::X && self.is_any_grid || from(axis).iter().any(is_used);
            let given = self.grid.map(|dim| axis.of(dim));
            let given = given.or_else(|| equal(LaunchVariable::Grid(axis)));
            extent(given, is_open, axis.of(Dim3::MAX_GRID))
        };
        [Axis::ALL.map(block), Axis::ALL.map(grid)]
    }
}

impl LaunchedValues {
    /// The values of a launch.
    pub(super) fn new(program: &Program, launch: &Launch, sizes: StatedSizes) -> Self {
        let [block, grid] = sizes.extents(program, launch);
        let of_number = |(at, arg): (&usize, &Arg)| {
            let (param, Arg::Integer(value)) = (program.params.get(*at)?, arg) else { return None };
            let size = u32::try_from(param.size).ok().filter(|size| *size <= 8)?;
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the low bits are meant"
            )]
            Some((param.offset, (size, *value as u64)))
        };
        let variables = program.symbols.iter().enumerate().map(|(at, symbol)| {
            let end = if symbol.is_dynamic() {
                u64::MAX
            } else {
                symbol.address.saturating_add(symbol.size.max(1))
            };
            (symbol.space, symbol.address, end, at)
        });
        let symbols = program.symbols.iter().enumerate();
        let stated = symbols.filter(|(_, symbol)| symbol.init.is_some());
        Self {
            block,
            grid,
            has_whole_warps: match block[0] {
                ExtentBound::Is(extent) => (extent as usize).is_multiple_of(WARP),
                ExtentBound::UpTo(_) => launch
                    .requires
                    .iter()
                    .any(|own| own.keeps_multiple(&LaunchVariable::Block(Axis::X), WARP as u64)),
            },
            given: launch.args.iter().filter_map(of_number).collect(),
            equal: equal_arguments(program, launch),
            multiples: multiples(program, launch),
            variables: variables.collect(),
            stated: stated.map(|(at, _)| at).collect(),
        }
    }

    /// The value of a special register.
    pub(super) fn special(&self, exprs: &mut Exprs, special: Special) -> Expr {
        match special {
            Special::Tid(part) => {
                Self::index(exprs, Atom::Tid(part), self.block[usize::from(part)])
            }
            Special::Ctaid(part) => {
                Self::index(exprs, Atom::Ctaid(part), self.grid[usize::from(part)])
            }
            Special::Ntid(part) => {
                Self::extent(exprs, Atom::Ntid(part), self.block[usize::from(part)])
            }
            Special::Nctaid(part) => {
                Self::extent(exprs, Atom::Nctaid(part), self.grid[usize::from(part)])
            }
            Special::DynamicSharedSize => exprs.atom(Atom::DynamicSharedSize, 32),
            Special::Laneid => self.lane(exprs),
            _ => self.lane_mask(exprs, special),
        }
    }

    fn index(exprs: &mut Exprs, atom: Atom, extent: ExtentBound) -> Expr {
        match extent {
            ExtentBound::Is(1) => exprs.constant(0, 32),
            _ => exprs.atom(atom, 32),
        }
    }

    fn extent(exprs: &mut Exprs, atom: Atom, extent: ExtentBound) -> Expr {
        match extent {
            ExtentBound::Is(number) => exprs.constant(u64::from(number), 32),
            ExtentBound::UpTo(_) => exprs.atom(atom, 32),
        }
    }

    /// The lane: the linear index of the thread in its cta, modulo the warp size.
    fn lane(&self, exprs: &mut Exprs) -> Expr {
        let mut linear = self.special(exprs, Special::Tid(2));
        for part in [1, 0] {
            let extent = self.special(exprs, Special::Ntid(part));
            let index = self.special(exprs, Special::Tid(part));
            let scaled = exprs.binary(BinaryOperator::Mul, linear, extent);
            linear = exprs.binary(BinaryOperator::Add, scaled, index);
        }
        let mask = exprs.constant(31, 32);
        exprs.binary(BinaryOperator::And, linear, mask)
    }

    fn lane_mask(&self, exprs: &mut Exprs, special: Special) -> Expr {
        let (lane, one) = (self.lane(exprs), exprs.constant(1, 32));
        let own = exprs.binary(BinaryOperator::Shl, one, lane);
        let below = exprs.minus(own, one);
        let up_to = exprs.binary(BinaryOperator::Or, below, own);
        match special {
            Special::LanemaskEq => own,
            Special::LanemaskLt => below,
            Special::LanemaskLe => up_to,
            Special::LanemaskGe => exprs.not(below),
            Special::LanemaskGt => exprs.not(up_to),
            _ => exprs.unknown(32),
        }
    }

    /// The value of bytes of the parameter bank.
    pub(super) fn argument(&self, exprs: &mut Exprs, offset: u64, bytes: u32) -> Expr {
        match (self.given.get(&offset), self.equal.get(&(offset, bytes))) {
            (Some((size, bits)), _) if *size == bytes => exprs.constant(*bits, bytes * 8),
            (None, Some(EqualTo::Extent(special))) => {
                let extent = self.special(exprs, *special);
                exprs.resized(extent, bytes * 8, false)
            }
            (None, Some(EqualTo::Argument(before))) => self.argument(exprs, *before, bytes),
            _ => {
                let size = u8::try_from(bytes).expect("at most eight bytes");
                exprs.atom(Atom::Argument(offset, size), bytes * 8)
            }
        }
    }

    /// Whether the program states what a variable contains, by the variable's place among its symbols.
    pub(super) fn has_contents(&self, variable: usize) -> bool {
        self.stated.contains(&variable)
    }

    /// A number that the text names as an address: the address of a variable plus an offset, or the number.
    pub(super) fn address(&self, exprs: &mut Exprs, space: Space, number: u64, bits: u32) -> Expr {
        let is_in = |(of, first, end, _): &&(Space, u64, u64, usize)| {
            *of == space && (*first..*end).contains(&number)
        };
        // Dynamic shared memory lies behind all other variables and has no end.
        match self.variables.iter().filter(is_in).max_by_key(|(_, first, ..)| *first) {
            Some((_, first, _, at)) => {
                let base = exprs.atom(Atom::Variable(*at), 64);
                let base = exprs.resized(base, bits, false);
                let offset = exprs.constant(number - first, bits);
                exprs.binary(BinaryOperator::Add, base, offset)
            }
            None => exprs.constant(number, bits),
        }
    }
}

/// The bytes of an argument that can hold every extent of a block or a grid.
const SIZE_OF_EXTENT: u32 = 4;

/// Returns the arguments that requirements say are equal to an extent, or to an argument of the same type before them.
fn equal_arguments(program: &Program, launch: &Launch) -> BTreeMap<(u64, u32), EqualTo> {
    let equalities = launch.requires.iter().flat_map(Requirement::equalities);
    let equal = |(own, other): (&LaunchVariable, &Quantity)| {
        let (LaunchVariable::Argument(at), Quantity::Variable(other)) = (own, other) else {
            return None;
        };
        let param = program.params.get(*at).filter(|param| param.is_scalar)?;
        let size = u32::try_from(param.size).ok().filter(|size| *size <= 8)?;
        let to = match other {
            LaunchVariable::Block(axis) => EqualTo::Extent(Special::Ntid(axis.number())),
            LaunchVariable::Grid(axis) => EqualTo::Extent(Special::Nctaid(axis.number())),
            LaunchVariable::Argument(before) => {
                let other = program.params.get(*before).filter(|_| before < at)?;
                let is_alike = (other.size, other.is_signed, other.is_scalar)
                    == (param.size, param.is_signed, param.is_scalar);
                is_alike.then_some(EqualTo::Argument(other.offset))?
            }
            LaunchVariable::Named(_) => return None,
        };
        let is_wide = matches!(to, EqualTo::Argument(_)) || size >= SIZE_OF_EXTENT;
        is_wide.then_some(((param.offset, size), to))
    };
    equalities.filter_map(equal).collect()
}

/// Returns the arguments that requirements say are multiples of the size of a warp.
fn multiples(program: &Program, launch: &Launch) -> BTreeSet<(u64, u32)> {
    let is_multiple = |at: usize| {
        launch
            .requires
            .iter()
            .any(|own| own.keeps_multiple(&LaunchVariable::Argument(at), WARP as u64))
    };
    let params = program.params.iter().enumerate().filter(|(at, _)| is_multiple(*at));
    params.filter_map(|(_, param)| Some((param.offset, u32::try_from(param.size).ok()?))).collect()
}
