//! Asks the solver whether two accesses of two threads can overlap, with the meaning of every bit. That they cannot holds
//! whether integers wrap around or not, and whatever a division by zero gives.
//!
//! A fact that is left out makes the question weaker: "they can" might be wrong then, "they cannot" never.

use super::atom::{Atom, Variance};
use super::copies::ThreadCopies;
use super::draws::DrawPair;
use super::expr::{BinaryOperator, Expr};
use super::intervals::IterationRelation;
use super::launched::LaunchedValues;
use super::solver::{self, Answer, Conflicts, Model, SmtSolver, solve_within};
use super::thread::SymbolicThread;
use super::variance::Variances;
use super::view::Copy;
use crate::flow::{BlockId, Program};
use crate::launch::{Dim3, ExtentBound};

/// One of the two accesses of a question.
#[derive(Clone, Copy, Debug)]
pub(super) struct AskedAccess {
    /// Bytes from the base that both accesses have.
    pub(super) offset: Expr,
    /// Whether the thread executes it.
    pub(super) reach: Expr,
    pub(super) bytes: u32,
}

/// A question about two threads.
pub(super) struct PairQuery<'a> {
    pub(super) copies: ThreadCopies<'a>,
    pub(super) launched: &'a LaunchedValues,
    is_cta: bool,
    pub(super) conditions: Vec<Expr>,
    /// The offsets of both accesses, in 64 bits.
    offsets: Vec<Expr>,
}

/// Conflicts of one question at most.
const CONFLICTS: Conflicts = Conflicts(2000);
/// Likewise, if it has products or quotients of unknowns, few of which more conflicts would decide.
const FEW_CONFLICTS: Conflicts = Conflicts(200);
/// Gates of one question at most.
const GATES: usize = 60_000;

impl<'a> PairQuery<'a> {
    /// Returns the question about two threads: of one cta, whose iterations are related, or of different ctas.
    pub(super) fn new(
        thread: &'a SymbolicThread,
        launched: &'a LaunchedValues,
        variances: &'a Variances,
        relation: Option<IterationRelation>,
    ) -> Self {
        let (shared, apart) = match relation {
            Some(relation) => (Variance::Cta, relation.apart),
            None => (Variance::Launch, u64::MAX),
        };
        let copies = ThreadCopies::new(thread, variances, shared, apart);
        let is_cta = relation.is_some();
        let mut query =
            Self { copies, launched, is_cta, conditions: Vec::new(), offsets: Vec::new() };
        query.extents();
        query.indices();
        query.tell_apart();
        if let Some(relation) = relation {
            query.relate(variances, relation);
        }
        query
    }

    /// Adds a condition.
    pub(super) fn holds(&mut self, condition: Expr) {
        self.conditions.push(condition);
    }

    /// Returns the result of an operator on copied expressions.
    pub(super) fn binary(&mut self, operator: BinaryOperator, a: Expr, b: Expr) -> Expr {
        self.copies.exprs.binary(operator, a, b)
    }

    /// Returns a number.
    pub(super) fn constant(&mut self, value: u64, bits: u32) -> Expr {
        self.copies.exprs.constant(value, bits)
    }

    /// Returns whether `a` is below `b`, without signs.
    fn below(&mut self, a: Expr, b: Expr) -> Expr {
        self.binary(BinaryOperator::Ult, a, b)
    }

    /// Returns whether `a` is at most a number, without signs.
    fn up_to(&mut self, a: Expr, most: u64) -> Expr {
        let most = self.constant(most, self.copies.exprs.bits(a));
        let above = self.below(most, a);
        self.copies.exprs.not(above)
    }

    /// The extents of blocks and grids, each with the atom of its dimension: `None` for one that the launch gives.
    fn open_extents(&self) -> impl Iterator<Item = (Atom, u32)> + use<> {
        let of = |extents: [ExtentBound; 3], atom: fn(u8) -> Atom| {
            (0_u8..).zip(extents).filter_map(move |(part, extent)| match extent {
                ExtentBound::UpTo(most) => Some((atom(part), most)),
                ExtentBound::Is(_) => None,
            })
        };
        of(self.launched.block, Atom::Ntid).chain(of(self.launched.grid, Atom::Nctaid))
    }

    /// Extents that the launch leaves open are within their bounds, and a block has at most as many threads as devices
    /// permit.
    fn extents(&mut self) {
        let mut threads: Option<Expr> = None;
        let mut block_dimensions = 0;
        for (atom, most) in self.open_extents() {
            let extent = self.copies.atom(atom, 32, Copy::Both);
            let (zero, within) = (self.constant(0, 32), self.up_to(extent, u64::from(most)));
            let is_some = self.below(zero, extent);
            self.conditions.extend([is_some, within]);
            if matches!(atom, Atom::Ntid(_)) {
                block_dimensions += 1;
                threads = Some(match threads {
                    Some(others) => self.binary(BinaryOperator::Mul, others, extent),
                    None => extent,
                });
            }
        }
        if let Some(threads) = threads.filter(|_| block_dimensions > 1) {
            // At most 1024 * 1024 * 64, so the product is exact.
            let within = self.up_to(threads, Dim3::MAX_THREADS);
            self.holds(within);
        }
    }

    /// Every index is below its extent.
    fn indices(&mut self) {
        let (block, grid) = (self.launched.block, self.launched.grid);
        let in_cta = (0..3).map(|part| (Atom::Tid(part), Atom::Ntid(part), block));
        let in_grid = (0..3).map(|part| (Atom::Ctaid(part), Atom::Nctaid(part), grid));
        for (part, (index, extent, extents)) in (0..3).cycle().zip(in_cta.chain(in_grid)) {
            let limit = match extents[part] {
                ExtentBound::Is(1) => continue,
                ExtentBound::Is(number) => self.constant(u64::from(number), 32),
                ExtentBound::UpTo(_) => self.copies.atom(extent, 32, Copy::Both),
            };
            let mut last = None;
            for copy in [Copy::First, Copy::Second] {
                let index = self.copies.index(index, copy);
                if last != Some(index) {
                    let within = self.below(index, limit);
                    self.holds(within);
                }
                last = Some(index);
            }
        }
    }

    /// The two threads are different ones, of one cta or of two.
    fn tell_apart(&mut self) {
        let extents = if self.is_cta { self.launched.block } else { self.launched.grid };
        let mut differ = self.copies.exprs.truth(false);
        for (part, extent) in (0_u8..).zip(extents) {
            if extent == ExtentBound::Is(1) {
                continue;
            }
            let atom = if self.is_cta { Atom::Tid(part) } else { Atom::Ctaid(part) };
            let first = self.copies.index(atom, Copy::First);
            let second = self.copies.index(atom, Copy::Second);
            let equal = self.binary(BinaryOperator::Eq, first, second);
            let differs = self.copies.exprs.not(equal);
            differ = self.binary(BinaryOperator::Or, differ, differs);
        }
        self.holds(differ);
    }

    /// Adds that the two threads draw different values from a counter.
    pub(super) fn differ(&mut self, pair: DrawPair) {
        let [first, second] = pair.values;
        let of = (self.copies.of(first, Copy::First), self.copies.of(second, Copy::Second));
        let (Some(first), Some(second)) = of else { return };
        let equal = self.binary(BinaryOperator::Eq, first, second);
        let differ = self.copies.exprs.not(equal);
        self.holds(differ);
        // What lies between a value and the next one is nobody else's.
        let bits = self.copies.exprs.bits(first);
        for (one, other, room) in [(first, second, pair.rooms[0]), (second, first, pair.rooms[1])] {
            let room = self.constant(u64::try_from(room).unwrap_or(1), bits);
            let distance = self.copies.exprs.minus(other, one);
            let is_near = self.below(distance, room);
            let is_far = self.copies.exprs.not(is_near);
            self.holds(is_far);
        }
    }

    /// How the iterations of the two threads relate.
    fn relate(&mut self, variances: &Variances, relation: IterationRelation) {
        for header in &variances.synchronized {
            let bit = variances.bit(*header);
            let first = self.copies.iteration(*header, Copy::First);
            let second = self.copies.iteration(*header, Copy::Second);
            let (zero, one) = (self.constant(0, 64), self.constant(1, 64));
            let after =
                |number: Expr, query: &mut Self| query.binary(BinaryOperator::Add, number, one);
            if relation.ahead_a & bit != 0 {
                let next = after(second, self);
                let is_next = self.binary(BinaryOperator::Eq, first, next);
                self.holds(is_next);
            }
            if relation.ahead_b & bit != 0 {
                let next = after(first, self);
                let is_next = self.binary(BinaryOperator::Eq, second, next);
                self.holds(is_next);
            }
            for (bits, number) in [(relation.first_a, first), (relation.first_b, second)] {
                if bits & bit != 0 {
                    let is_first = self.binary(BinaryOperator::Eq, number, zero);
                    self.holds(is_first);
                }
            }
        }
    }

    /// Adds that the first thread executes one access and the second another one, and that some byte of both is the same.
    /// The blocks are those that the accesses are in. `None` if there are too many expressions.
    pub(super) fn overlap(
        &mut self,
        program: &Program,
        accesses: [(AskedAccess, BlockId); 2],
    ) -> Option<()> {
        for ((access, block), copy) in accesses.iter().zip([Copy::First, Copy::Second]) {
            self.repeated(program, *block, copy)?;
            let reach = self.copies.of(access.reach, copy)?;
            self.holds(reach);
            let offset = self.copies.of(access.offset, copy)?;
            // Addresses in small spaces have 32 bits, and a variable lies within its space.
            let offset = self.copies.exprs.resized(offset, 64, true);
            self.offsets.push(offset);
        }
        let [first, second] = self.offsets[..] else { return None };
        let [bytes_a, bytes_b] = accesses.map(|(access, _)| u64::from(access.bytes));
        // The distance is from 1 - bytes_b to bytes_a - 1, modulo 2^64, since addresses wrap around.
        let distance = self.copies.exprs.minus(second, first);
        let shift = self.constant(bytes_b.wrapping_sub(1), 64);
        let shifted = self.binary(BinaryOperator::Add, distance, shift);
        let overlaps = self.up_to(shifted, (bytes_a + bytes_b).saturating_sub(2));
        self.holds(overlaps);
        Some(())
    }

    /// Asks the solver.
    pub(super) fn ask(&mut self) -> Answer {
        let conflicts = self.conflicts();
        solve_within(&mut self.copies.exprs, &self.conditions, conflicts, GATES)
    }

    /// Asks a solver outside of the library.
    pub(super) fn ask_outside(&self, outside: &dyn SmtSolver) -> Answer {
        solver::ask(outside, &self.copies.exprs, &self.conditions)
    }

    fn conflicts(&self) -> Conflicts {
        if self.copies.has_products() { FEW_CONFLICTS } else { CONFLICTS }
    }

    /// Looks for values that a run can replay in short time, given that the question has not been refuted: small extents,
    /// offsets and arguments first.
    pub(super) fn model(&mut self) -> Option<Model> {
        let conflicts = self.conflicts();
        for (threads, ctas, argument, reach) in SMALL {
            let mut conditions = self.conditions.clone();
            for (atom, _) in self.open_extents() {
                let extent = self.copies.atom(atom, 32, Copy::Both);
                let most = if matches!(atom, Atom::Ntid(_)) { threads } else { ctas };
                conditions.push(self.up_to(extent, most));
            }
            for offset in self.offsets.clone() {
                conditions.push(self.up_to(offset, reach));
            }
            for argument_expr in self.copies.arguments() {
                let bits = self.copies.exprs.bits(argument_expr);
                if bits > 16 {
                    conditions.push(self.up_to(argument_expr, argument));
                }
            }
            if let Answer::Satisfiable(model) =
                solve_within(&mut self.copies.exprs, &conditions, conflicts, GATES)
            {
                return Some(model);
            }
        }
        None
    }
}

/// Bounds of what is looked for, tried in this order: threads and ctas in each dimension, arguments, and offsets.
const SMALL: [(u64, u64, u64, u64); 4] = [
    (64, 2, 1 << 7, 1 << 16),
    (64, 2, 1 << 16, 1 << 20),
    (1024, 4, u32::MAX as u64, 1 << 24),
    (1024, u32::MAX as u64, u64::MAX, 1 << 47),
];
