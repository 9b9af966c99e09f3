//! The ranges of expressions for ordinary inputs: inputs up to a size, and loops that repeat as often as their conditions
//! say for these. A value that might wrap around for such inputs has no range.

use std::collections::BTreeMap;

use foldhash::HashMap;

use super::atom::{Atom, Expr};
use super::expr::{BinaryOperator, ExprNode, Exprs};
use super::launched::LaunchedValues;
use super::predicate::conjuncts;
use super::thread::SymbolicThread;
use super::var_bounds::VarBounds;
use crate::emulate::truncate;
use crate::launch::ExtentBound;

/// Small inputs are at most this.
pub(super) const SMALL: i128 = 256;
/// An input of medium size is at most this. Only one at a time is taken to be of medium size.
pub(super) const MEDIUM: i128 = 1 << 12;
/// The deepest expression that is followed.
pub(super) const MOST_DEPTH: u32 = 200;
/// The most expressions that are looked at.
const EFFORT: u32 = 200_000;
/// The most addends of a sum that is taken apart.
const MOST_ADDENDS: usize = 16;
/// Numbers above this are in no range, so that sums and products of ranges fit in an `i128`.
const MOST: i128 = 1 << 80;

/// The least and the greatest value.
pub(super) type ValueRange = (i128, i128);

/// What atoms of loops are taken to be while the loops are looked at; `None`: anything.
pub(super) type AssumedValues = BTreeMap<Atom, Option<ValueRange>>;

/// The ranges of expressions, as signed numbers or not.
pub(super) type KnownRanges = HashMap<(Expr, bool), Option<ValueRange>>;

/// The ranges of a thread's expressions for small inputs, and for inputs of medium size.
pub(super) struct OrdinaryRanges<'a> {
    small: RangesOfSize<'a>,
    medium: RangesOfSize<'a>,
}

impl<'a> OrdinaryRanges<'a> {
    pub(super) fn of(thread: &'a SymbolicThread, launched: &'a LaunchedValues) -> Self {
        let of_size = |size| RangesOfSize {
            thread,
            launched,
            size,
            known: KnownRanges::default(),
            loops: BTreeMap::new(),
            assumed: Vec::new(),
            is_end: false,
            entry: None,
            effort: EFFORT,
            depth: 0,
        };
        Self { small: of_size(SMALL), medium: of_size(MEDIUM) }
    }

    pub(super) fn of_size(&mut self, is_medium: bool) -> &mut RangesOfSize<'a> {
        if is_medium { &mut self.medium } else { &mut self.small }
    }
}

/// The ranges of a thread's expressions for inputs up to a size.
pub(super) struct RangesOfSize<'a> {
    pub(super) thread: &'a SymbolicThread,
    launched: &'a LaunchedValues,
    pub(super) size: i128,
    /// The ranges that rest on no assumption.
    known: KnownRanges,
    /// Likewise, of what loops carry and of their iterations.
    pub(super) loops: AssumedValues,
    /// The assumptions of loops that are being looked at, and the ranges that rest on them; the innermost ones last.
    pub(super) assumed: Vec<(AssumedValues, KnownRanges)>,
    /// Whether the expression is one of the two between which a loop counts, itself or as a part of a sum: a difference is not
    /// negative then.
    pub(super) is_end: bool,
    /// What holds where the loop is entered one of whose ends is looked at.
    pub(super) entry: Option<Expr>,
    pub(super) effort: u32,
    pub(super) depth: u32,
}

impl RangesOfSize<'_> {
    pub(super) fn exprs(&self) -> &Exprs {
        &self.thread.exprs
    }

    /// The range of an expression as an unsigned or a signed number.
    pub(super) fn exact(&mut self, of: Expr, is_signed: bool) -> Option<ValueRange> {
        let (mut least, most) = self.ring(of, is_signed)?;
        if self.is_end && !is_signed && most >= 0 {
            least = least.max(0);
        }
        let bounds = VarBounds::of_width(self.exprs().bits(of), is_signed);
        (bounds.least <= Some(least) && Some(most) <= bounds.most).then_some((least, most))
    }

    /// The range of an integer that is congruent to an expression modulo its width.
    pub(super) fn ring(&mut self, of: Expr, is_signed: bool) -> Option<ValueRange> {
        // What counts for one of two ends does not for the same expression elsewhere.
        if !self.is_end {
            let known = self.assumed.last().map_or(&self.known, |(_, known)| known);
            if let Some(known) = known.get(&(of, is_signed)) {
                return *known;
            }
        }
        if self.depth > MOST_DEPTH || self.effort == 0 {
            return None;
        }
        self.effort -= 1;
        self.depth += 1;
        let is_end = self.is_end;
        self.is_end &= is_sum_or_copy(self.exprs().node(of));
        let found = self.of_node(of, is_signed);
        self.is_end = is_end;
        self.depth -= 1;
        let found = found.filter(|(least, most)| -MOST < *least && *most < MOST);
        if !is_end {
            let known = self.assumed.last_mut().map_or(&mut self.known, |(_, known)| known);
            known.insert((of, is_signed), found);
        }
        found
    }

    fn of_node(&mut self, of: Expr, is_signed: bool) -> Option<ValueRange> {
        let bits = self.exprs().bits(of);
        match self.exprs().node(of) {
            ExprNode::Constant(value) => {
                let value = i128::from(crate::emulate::signed(value, bits));
                Some(if bits == 1 { (value.abs(), value.abs()) } else { (value, value) })
            }
            _ if bits == 1 => Some((0, 1)),
            ExprNode::Not(a) => {
                self.ring(a, is_signed).map(|(least, most)| (-1 - most, -1 - least))
            }
            ExprNode::Extract(a, 0) => self.ring(a, is_signed),
            ExprNode::Extract(a, low) => {
                self.natural(a).map(|(least, most)| (least >> low, most >> low))
            }
            ExprNode::Zext(a) => self.exact(a, false),
            ExprNode::Sext(a) => self.exact(a, true),
            ExprNode::Ite(_, a, b) => {
                let (a, b) = (self.ring(a, is_signed)?, self.ring(b, is_signed)?);
                Some(hull(a, b))
            }
            ExprNode::Atom(atom) => self.of_atom(of, atom, is_signed),
            ExprNode::Binary(operator, a, b) => self.of_operation(operator, a, b, is_signed),
        }
    }

    fn of_operation(
        &mut self,
        operator: BinaryOperator,
        a: Expr,
        b: Expr,
        is_signed: bool,
    ) -> Option<ValueRange> {
        match operator {
            BinaryOperator::Add => {
                let (a, b) = (self.ring(a, is_signed)?, self.ring(b, is_signed)?);
                Some((a.0 + b.0, a.1 + b.1))
            }
            BinaryOperator::Mul => product(self.ring(a, is_signed)?, self.ring(b, is_signed)?),
            BinaryOperator::UmulHigh => self.of_upper_half(a, b, false),
            BinaryOperator::SmulHigh => self.of_upper_half(a, b, true),
            BinaryOperator::Shl => {
                let (least, most) = self.natural(b)?;
                let power = |exponent: i128| 1_i128.checked_shl(u32::try_from(exponent).ok()?);
                let powers = (power(least)?, power(most).filter(|power| *power < MOST)?);
                product(self.ring(a, is_signed)?, powers)
            }
            BinaryOperator::Lshr | BinaryOperator::Udiv => {
                let known = self.natural(a).or_else(|| self.guarded_difference(a));
                known.map(|(_, most)| (0, most))
            }
            BinaryOperator::Ashr | BinaryOperator::Srem => self.exact(a, true).map(towards_zero),
            BinaryOperator::Sdiv => {
                let (least, most) = self.exact(a, true)?;
                let most = most.max(-least);
                let is_natural =
                    least >= 0 && self.exact(b, true).is_some_and(|(least, _)| least >= 0);
                Some((if is_natural { 0 } else { -most }, most))
            }
            BinaryOperator::Urem | BinaryOperator::And => {
                let most = [self.natural(a), self.natural(b)].into_iter().flatten();
                most.map(|(_, most)| (0, most)).min()
            }
            BinaryOperator::Or | BinaryOperator::Xor => {
                let most = self.natural(a)?.1.max(self.natural(b)?.1);
                let bits = 128 - most.leading_zeros();
                Some((0, (1 << bits) - 1))
            }
            BinaryOperator::Eq | BinaryOperator::Ult | BinaryOperator::Slt => Some((0, 1)),
        }
    }

    fn of_upper_half(&mut self, a: Expr, b: Expr, are_signed: bool) -> Option<ValueRange> {
        let bits = self.exprs().bits(a);
        let (least, most) = product(self.exact(a, are_signed)?, self.exact(b, are_signed)?)?;
        Some((least >> bits, most >> bits))
    }

    /// The range of a sum with the difference of two numbers of which a guard around the loop says that the first is below the
    /// second.
    fn guarded_difference(&mut self, of: Expr) -> Option<ValueRange> {
        let thread = self.thread;
        let exprs = &thread.exprs;
        let addends = addends(exprs, of)?;
        let is_subtracted = |less: Expr| {
            let minus_one = |factor: Expr| {
                exprs.as_constant(factor) == Some(truncate(u64::MAX, exprs.bits(factor)))
            };
            let is_it = |own: &&Expr| match exprs.node(**own) {
                ExprNode::Binary(BinaryOperator::Mul, a, b) => a == less && minus_one(b),
                // -1 - a
                ExprNode::Not(a) => a == less,
                _ => false,
            };
            addends.iter().find(is_it).copied()
        };
        for part in conjuncts(exprs, self.entry?) {
            let ExprNode::Binary(BinaryOperator::Ult | BinaryOperator::Slt, less, more) =
                exprs.node(part)
            else {
                continue;
            };
            let Some(subtracted) = is_subtracted(less).filter(|_| addends.contains(&more)) else {
                continue;
            };
            // The difference is at least one, or without one.
            let least = i128::from(!matches!(exprs.node(subtracted), ExprNode::Not(_)));
            let rest = addends.iter().filter(|own| **own != more && **own != subtracted);
            let rest: Option<Vec<ValueRange>> = rest.map(|own| self.ring(*own, true)).collect();
            if rest?.iter().map(|(least, _)| least).sum::<i128>() + least >= 0 {
                let (_, most) = self.ring(of, false)?;
                let most_of_width = VarBounds::of_width(self.exprs().bits(of), false).most;
                return (Some(most) <= most_of_width).then_some((0, most));
            }
        }
        None
    }

    /// The range of an expression as an unsigned number.
    fn natural(&mut self, of: Expr) -> Option<ValueRange> {
        self.exact(of, false)
    }

    fn of_atom(&mut self, of: Expr, atom: Atom, is_signed: bool) -> Option<ValueRange> {
        match atom {
            Atom::Tid(_)
            | Atom::Ntid(_)
            | Atom::Ctaid(_)
            | Atom::Nctaid(_)
            | Atom::Iteration(_) => self.of_natural(atom),
            Atom::Carried(header, _) => self.of_loop(header, atom),
            Atom::Result(..) if self.thread.drawn.contains(&atom) => self.of_input(of, is_signed),
            // What is computed in ways that are not followed might be anything, and so might what the program states.
            Atom::Variable(_) | Atom::Result(..) | Atom::Unknown(_) => None,
            Atom::Loaded(address, _) if self.is_stated(address) => None,
            Atom::Argument(..) | Atom::Loaded(..) | Atom::DynamicSharedSize => {
                self.of_input(of, is_signed)
            }
        }
    }

    /// The range of an argument, or of what memory holds.
    fn of_input(&self, of: Expr, is_signed: bool) -> Option<ValueRange> {
        let is_signed = is_signed || self.thread.number_use(of).signed;
        let VarBounds { least, most } = VarBounds::of_width(self.exprs().bits(of), is_signed);
        Some((least?.max(-self.size), most?.min(self.size)))
    }

    /// Whether an address is one of a variable whose contents the program states.
    fn is_stated(&self, address: Expr) -> bool {
        let is_stated =
            |atom: Atom| matches!(atom, Atom::Variable(at) if self.launched.has_contents(at));
        self.exprs().atoms(address).into_iter().any(is_stated)
    }

    /// Whether an expression is an input.
    pub(super) fn is_input(&self, of: Expr) -> bool {
        matches!(self.exprs().node(of), ExprNode::Atom(Atom::Argument(..) | Atom::Loaded(..)))
    }

    /// The range of an atom that is never negative.
    pub(super) fn of_natural(&mut self, atom: Atom) -> Option<ValueRange> {
        let (block, grid) = (self.launched.block, self.launched.grid);
        let of_block = |part: u8| match block[usize::from(part)] {
            ExtentBound::Is(number) | ExtentBound::UpTo(number) => i128::from(number),
        };
        let of_grid = |part: u8| match grid[usize::from(part)] {
            ExtentBound::Is(number) => i128::from(number),
            ExtentBound::UpTo(most) => i128::from(most).min(self.size),
        };
        match atom {
            Atom::Tid(part) => Some((0, of_block(part) - 1)),
            Atom::Ntid(part) => Some((1, of_block(part))),
            Atom::Ctaid(part) => Some((0, (of_grid(part) - 1).max(0))),
            Atom::Nctaid(part) => Some((1, of_grid(part).max(1))),
            Atom::Iteration(header) => self.of_loop(header, atom),
            _ => None,
        }
    }
}

/// Whether the value of an expression is a sum, or that of an operand.
fn is_sum_or_copy(node: ExprNode) -> bool {
    matches!(
        node,
        ExprNode::Binary(BinaryOperator::Add, ..)
            | ExprNode::Extract(_, 0)
            | ExprNode::Zext(_)
            | ExprNode::Sext(_)
            | ExprNode::Ite(..)
    )
}

/// The addends of a sum, the expression itself if it is none; `None` if there are too many.
fn addends(exprs: &Exprs, of: Expr) -> Option<Vec<Expr>> {
    let (mut found, mut work) = (Vec::new(), vec![of]);
    while let Some(part) = work.pop() {
        match exprs.node(part) {
            ExprNode::Binary(BinaryOperator::Add, a, b) => work.extend([a, b]),
            _ => found.push(part),
        }
        if found.len() + work.len() > MOST_ADDENDS {
            return None;
        }
    }
    Some(found)
}

/// The least range that contains two others.
pub(super) fn hull(a: ValueRange, b: ValueRange) -> ValueRange {
    (a.0.min(b.0), a.1.max(b.1))
}

/// The range of what is nearer to zero, with the same sign.
fn towards_zero((least, most): ValueRange) -> ValueRange {
    (least.min(0), most.max(0))
}

/// The range of a product.
pub(super) fn product(a: ValueRange, b: ValueRange) -> Option<ValueRange> {
    let corners = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)];
    let corners: Option<Vec<i128>> = corners.iter().map(|(a, b)| a.checked_mul(*b)).collect();
    let corners = corners?;
    Some((corners.iter().copied().min()?, corners.iter().copied().max()?))
}
