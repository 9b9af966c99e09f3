//! Finds out which expressions have one value for all lanes of a warp: lanes that meet at an exchange must come there
//! together.
//!
//! A warp is 32 threads with consecutive numbers in their cta, so that the number of a thread is a multiple of 32, which the
//! lanes of a warp have in common, plus the number of the lane.

use std::collections::BTreeSet;

use super::atom::{Atom, Expr, Variance};
use super::expr::{BinaryOperator, ExprNode, Exprs};
use super::ordinary::CTAS;
use super::result_source::ResultSource;
use super::thread::{ReachCondition, SymbolicThread};
use super::variance::Variances;
use super::warp_value::{self, CommonBits, WarpValue};
use crate::emulate::WARP;
use crate::flow::BlockId;
use crate::launch::{Dim3, ExtentBound};

/// The deepest sum or product of indices that is looked at.
const MOST_DEPTH: u32 = 8;

/// What decides which threads make a warp.
#[derive(Clone, Copy, Debug)]
pub(super) struct WarpLaunch<'a> {
    /// The extents of blocks.
    pub(super) block: [ExtentBound; 3],
    /// Whether all blocks have a multiple of 32 threads in x.
    pub(super) has_whole_warps: bool,
    /// The arguments that are multiples of 32, by their offset and size.
    pub(super) multiples: &'a BTreeSet<(u64, u32)>,
    /// Whether sums and products of indices and extents might wrap around where those of ordinary launches do not.
    pub(super) wraps: bool,
}

/// What the lanes of a warp have in common.
#[derive(Debug)]
pub(super) struct WarpValues {
    /// The loops that all lanes of a warp go round equally often.
    loops: Vec<BlockId>,
    /// By expression; `None`: nothing but itself decides it.
    of: Vec<Option<WarpValue>>,
}

impl WarpValues {
    /// Finds the values that lanes have in common. The lanes of a warp go round a loop together if the conditions on which it
    /// is entered and goes on have one value for them as long as their iterations are the same.
    pub(super) fn of(
        thread: &SymbolicThread,
        launch: WarpLaunch<'_>,
        variances: &Variances,
    ) -> Self {
        let mut loops: Vec<BlockId> = thread.loops.keys().copied().collect();
        loop {
            let count = loops.len();
            let mut found = Self { loops, of: vec![None; thread.exprs.len()] };
            while found.pass(thread, launch, variances) {}
            let is_common = |reach: &ReachCondition| found.is_common(reach.comes);
            let stays = |header: &&BlockId| {
                let own = &thread.loops[*header];
                is_common(&own.entry) && own.again.iter().all(is_common)
            };
            let kept: Vec<BlockId> = found.loops.iter().filter(stays).copied().collect();
            if kept.len() == count {
                return found;
            }
            loops = kept;
        }
    }

    /// Whether all lanes of a warp have one value, if they are in the same iterations of the loops that they go round
    /// together.
    pub(super) fn is_common(&self, of: Expr) -> bool {
        self.of[of.index()].is_some_and(WarpValue::is_common)
    }

    /// Whether the lanes of a warp go round a loop equally often.
    pub(super) fn go_round_together(&self, header: BlockId) -> bool {
        self.loops.contains(&header)
    }

    /// Joins to each value what follows from those of its operands; returns whether that changes any.
    fn pass(
        &mut self,
        thread: &SymbolicThread,
        launch: WarpLaunch<'_>,
        variances: &Variances,
    ) -> bool {
        let mut changed = false;
        for at in thread.exprs.all() {
            let (old, bits) = (self.of[at.index()], thread.exprs.bits(at));
            let found = match thread.exprs.node(at) {
                ExprNode::Atom(atom) => self.atom(atom, bits, thread, launch),
                node => self.node(node, bits, thread),
            };
            let most = if launch.wraps { None } else { index_bits(&thread.exprs, at, MOST_DEPTH) };
            let is_natural = most.is_some_and(|most| most < bits);
            let found = found.map(|found| if is_natural { found.natural(bits) } else { found });
            let new = match found {
                Some(WarpValue::Any) if variances.variance(at) <= Variance::Cta => {
                    Some(WarpValue::common(bits))
                }
                found => found,
            };
            let joined = match (old, new) {
                (Some(old), Some(new)) => Some(old.join(new)),
                (old, new) => old.or(new),
            };
            changed |= joined != old;
            self.of[at.index()] = joined;
        }
        changed
    }

    fn value(&self, of: Expr) -> Option<WarpValue> {
        self.of[of.index()]
    }

    fn atom(
        &self,
        atom: Atom,
        bits: u32,
        thread: &SymbolicThread,
        launch: WarpLaunch<'_>,
    ) -> Option<WarpValue> {
        let common_if = |is_common: bool| {
            if is_common { WarpValue::common(bits) } else { WarpValue::Any }
        };
        match atom {
            Atom::Tid(part) => Some(index(part, launch)),
            Atom::Ntid(part) => {
                let zeros = if part == 0 && launch.has_whole_warps { 5 } else { 0 };
                let below = CommonBits::of_number(Dim3::MAX_THREADS).below;
                Some(WarpValue::Common(CommonBits { zeros, below }))
            }
            Atom::Argument(offset, size) if launch.multiples.contains(&(offset, size.into())) => {
                Some(WarpValue::Common(CommonBits { zeros: 5, below: bits }))
            }
            Atom::Ctaid(_) | Atom::Nctaid(_) => {
                Some(WarpValue::common(CommonBits::of_number(Dim3::MAX_GRID.x.into()).below))
            }
            Atom::DynamicSharedSize | Atom::Argument(..) | Atom::Variable(_) => {
                Some(common_if(true))
            }
            Atom::Iteration(header) => Some(common_if(self.loops.contains(&header))),
            Atom::Carried(header, _) if self.loops.contains(&header) => {
                self.carried(atom, header, thread)
            }
            Atom::Loaded(address, _) => Some(common_if(self.value(address)?.is_common())),
            Atom::Result(..) => match thread.results.get(&atom) {
                Some(ResultSource::Operands(operands)) => {
                    let values: Option<Vec<_>> =
                        operands.iter().map(|operand| self.value(*operand)).collect();
                    Some(common_if(values?.into_iter().all(WarpValue::is_common)))
                }
                Some(ResultSource::Cta(_) | ResultSource::Warp) => Some(common_if(true)),
                Some(ResultSource::Other) | None => Some(WarpValue::Any),
            },
            Atom::Carried(..) | Atom::Unknown(_) => Some(WarpValue::Any),
        }
    }

    /// What is carried by a loop that the lanes go round together: one of the values that it hands on.
    fn carried(&self, atom: Atom, header: BlockId, thread: &SymbolicThread) -> Option<WarpValue> {
        let own = &thread.loops[&header];
        let values = own.carried.get(&atom)?.iter().filter_map(|value| self.value(*value));
        let joined = values.reduce(WarpValue::join)?;
        // Which of several values is handed on depends on the way that the iteration took.
        let mut ways = own.again.iter().filter_map(|way| self.value(way.holds));
        let is_one_way = own.again.len() < 2 || ways.all(WarpValue::is_common);
        Some(if is_one_way { joined } else { WarpValue::Any })
    }

    fn node(&self, node: ExprNode, bits: u32, thread: &SymbolicThread) -> Option<WarpValue> {
        let bits_of = |part: Expr| thread.exprs.bits(part);
        Some(match node {
            ExprNode::Constant(number) => WarpValue::Common(CommonBits::of_number(number)),
            ExprNode::Not(a) => self.value(a)?.complement(bits),
            ExprNode::Zext(a) => self.value(a)?,
            ExprNode::Sext(a) => self.value(a)?.sign_extended(bits_of(a), bits),
            ExprNode::Extract(a, 0) => self.value(a)?.truncated(bits),
            ExprNode::Extract(a, low) => self.value(a)?.shifted_down(low.into()).truncated(bits),
            ExprNode::Ite(which, a, b) => {
                let joined = self.value(a)?.join(self.value(b)?);
                if self.value(which)?.is_common() { joined } else { WarpValue::Any }
            }
            ExprNode::Binary(operator, a, b) => {
                let values = [self.value(a)?, self.value(b)?];
                let numbers = [a, b].map(|part| thread.exprs.as_constant(part));
                warp_value::binary(operator, values, numbers, bits_of(a))
            }
            ExprNode::Atom(_) => WarpValue::Any,
        })
    }
}

/// The bits that a sum or a product of indices, extents and numbers needs in launches with ordinary grids, if nothing wraps
/// around; `None` for any other expression. `depth`: the deepest expression that is looked at.
fn index_bits(exprs: &Exprs, of: Expr, depth: u32) -> Option<u32> {
    let depth = depth.checked_sub(1)?;
    let most = match exprs.node(of) {
        ExprNode::Constant(number) => number,
        ExprNode::Atom(Atom::Tid(_) | Atom::Ntid(_)) => Dim3::MAX_THREADS,
        ExprNode::Atom(Atom::Ctaid(_) | Atom::Nctaid(_)) => {
            return Some(i128::BITS - CTAS.leading_zeros());
        }
        ExprNode::Binary(operator @ (BinaryOperator::Add | BinaryOperator::Mul), a, b) => {
            let [a, b] = [index_bits(exprs, a, depth)?, index_bits(exprs, b, depth)?];
            return Some(if operator == BinaryOperator::Add { a.max(b) + 1 } else { a + b });
        }
        _ => return None,
    };
    Some(CommonBits::of_number(most).below)
}

/// The index of a thread in a dimension of a block.
fn index(part: u8, WarpLaunch { block, has_whole_warps, .. }: WarpLaunch<'_>) -> WarpValue {
    let part = usize::from(part);
    let most = match block[part] {
        ExtentBound::Is(extent) | ExtentBound::UpTo(extent) => u64::from(extent).max(1) - 1,
    };
    let below = CommonBits::of_number(most).below;
    let (inner, outer) = (&block[..part], &block[part + 1..]);
    let is_one = |extent: &ExtentBound| *extent == ExtentBound::Is(1);
    let fills_warps = |extents: &[ExtentBound]| {
        let known = extents.iter().map(|extent| match extent {
            ExtentBound::Is(extent) => Some(*extent),
            ExtentBound::UpTo(_) => None,
        });
        known
            .product::<Option<u32>>()
            .is_some_and(|threads| (threads as usize).is_multiple_of(WARP))
    };
    if part > 0 && (has_whole_warps || fills_warps(inner)) {
        WarpValue::common(below)
    } else if inner.iter().all(is_one)
        && (outer.iter().all(is_one)
            || fills_warps(&block[part..=part])
            || part == 0 && has_whole_warps)
    {
        WarpValue::Lane { below }
    } else {
        WarpValue::Any
    }
}

#[cfg(test)]
mod tests {
    use super::super::solver::laws::generate::OPERATORS;
    use super::super::split_mix::SplitMix;
    use super::*;
    use crate::emulate::truncate;

    /// A number near a multiple of 32 of a few bits, or an amount to shift by.
    fn number(dice: &mut SplitMix, bits: u32) -> u64 {
        let number = match dice.below(4) {
            0 => dice.below(8),
            1 => (dice.below(32) * 32).wrapping_sub(dice.below(2)),
            2 => dice.below(5) * 32,
            _ => dice.number(bits),
        };
        truncate(number, bits)
    }

    fn random(exprs: &mut Exprs, dice: &mut SplitMix, bits: u32, depth: u32) -> Expr {
        if depth == 0 || dice.below(8) == 0 {
            let own = match dice.below(4) {
                0 => return exprs.constant(number(dice, bits), bits),
                1 => exprs.atom(Atom::Tid(0), 32),
                2 => exprs.atom(dice.one_of(&[Atom::Ctaid(0), Atom::Ntid(0)]), 32),
                _ => exprs.atom(Atom::Argument(dice.below(2) * 4, 4), 32),
            };
            return exprs.resized(own, bits, dice.below(2) == 0);
        }
        let depth = depth - 1;
        match dice.below(8) {
            0 => {
                let own = dice.one_of(&[5, 6, 32, 64]);
                let inner = random(exprs, dice, own, depth);
                exprs.resized(inner, bits, dice.below(2) == 0)
            }
            1 => {
                let inner = random(exprs, dice, 64, depth);
                let low = u32::try_from(dice.below(u64::from(64 - bits) + 1)).unwrap();
                exprs.extract(inner, low, bits)
            }
            2 => {
                let inner = random(exprs, dice, bits, depth);
                exprs.not(inner)
            }
            3 => {
                let which = random(exprs, dice, 1, depth);
                let (a, b) = (random(exprs, dice, bits, depth), random(exprs, dice, bits, depth));
                exprs.ite(which, a, b)
            }
            _ => {
                let operator = dice.one_of(&OPERATORS);
                let is_comparison = matches!(
                    operator,
                    BinaryOperator::Eq | BinaryOperator::Ult | BinaryOperator::Slt
                );
                let own = if is_comparison { dice.one_of(&[5, 6, 32, 64]) } else { bits };
                let (a, b) = (random(exprs, dice, own, depth), random(exprs, dice, own, depth));
                let result = exprs.binary(operator, a, b);
                exprs.resized(result, bits, false)
            }
        }
    }

    /// Whether a sum or a product of indices that ordinary launches keep within the width of signed numbers leaves it, somewhere
    /// in an expression.
    fn wraps_around(exprs: &Exprs, of: Expr, atoms: &impl Fn(Atom) -> u64) -> bool {
        let bits = exprs.bits(of);
        let is_of_indices = index_bits(exprs, of, MOST_DEPTH).is_some_and(|most| most < bits);
        let leaves = match exprs.node(of) {
            ExprNode::Binary(operator @ (BinaryOperator::Add | BinaryOperator::Mul), a, b)
                if is_of_indices =>
            {
                let [a, b] = [a, b].map(|part| exprs.value(part, atoms).map(u128::from));
                let (a, b) = (a.expect("an index"), b.expect("an index"));
                let exact = if operator == BinaryOperator::Add { a + b } else { a * b };
                exact >= 1 << (bits - 1)
            }
            _ => false,
        };
        leaves || exprs.operands(of).any(|part| wraps_around(exprs, part, atoms))
    }

    /// Checks what was found of the values of the lanes of a warp.
    fn check(found: WarpValue, values: &[u64], seed: u64) {
        let below = match found {
            WarpValue::Common(own) => {
                assert!(values.iter().all(|value| *value == values[0]), "seed {seed}");
                assert_eq!(truncate(values[0], own.zeros.clamp(1, 63)) & !1, 0, "seed {seed}");
                own.below
            }
            WarpValue::Lane { below } => {
                for (lane, value) in (0..).zip(values) {
                    assert_eq!(*value, values[0] & !31 | lane, "seed {seed}");
                }
                below
            }
            WarpValue::Any => unreachable!("left out"),
        };
        let is_below = |value: &u64| below >= 64 || value >> below == 0;
        assert!(values.iter().all(is_below), "seed {seed}");
    }

    #[test]
    fn values_are_what_is_found_of_them() {
        let (mut common, mut numbered) = (0, 0);
        for seed in 0..20_000 {
            let dice = &mut SplitMix(seed);
            let mut thread = SymbolicThread::default();
            let bits = dice.one_of(&[1, 5, 6, 32, 32, 64]);
            let of = random(&mut thread.exprs, dice, bits, 4);
            let variances = Variances::of(&thread);
            let block = [ExtentBound::UpTo(1024), ExtentBound::Is(1), ExtentBound::Is(1)];
            let multiples = &BTreeSet::from([(0, 4)]);
            let wraps = seed % 2 == 0;
            let launch = WarpLaunch { block, has_whole_warps: false, multiples, wraps };
            let found = WarpValues::of(&thread, launch, &variances).of[of.index()];
            let found = found.expect("there are no loops");
            if found == WarpValue::Any || variances.variance(of) <= Variance::Cta {
                continue;
            }
            for warp in [0, 1, 2, 17, 31] {
                let mut arguments = [0, 1].map(|_| number(dice, 32));
                arguments[0] &= !31;
                let indices = [dice.below(1 << 31), 1 + dice.below(1024)];
                let atoms = |atom: Atom, thread: u64| match atom {
                    Atom::Tid(_) => thread,
                    Atom::Ctaid(_) => indices[0],
                    Atom::Ntid(_) => indices[1],
                    Atom::Argument(0, _) => arguments[0],
                    _ => arguments[1],
                };
                let value_of =
                    |lane: u64| thread.exprs.value(of, &|atom| atoms(atom, warp * 32 + lane));
                // A division by zero is not decided.
                let Some(values) = (0..32).map(value_of).collect::<Option<Vec<u64>>>() else {
                    continue;
                };
                let is_excluded = |lane: u64| {
                    let atoms = |atom: Atom| atoms(atom, warp * 32 + lane);
                    !wraps && wraps_around(&thread.exprs, of, &atoms)
                };
                if (0..32).any(is_excluded) {
                    continue;
                }
                check(found, &values, seed);
                let of_kind = if found.is_common() { &mut common } else { &mut numbered };
                *of_kind += 1;
            }
        }
        assert!(common > 1000 && numbered > 2000, "{common} {numbered}");
    }
}
