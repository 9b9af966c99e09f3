//! How often loops repeat at most for ordinary inputs: as often as one of the conditions for another iteration says, which
//! compares what each iteration steps towards a limit. Ordinary inputs let a loop end as it is meant to: steps that they
//! decide lead towards the limit and meet it if the loop only looks for equality, and do not need many iterations; a
//! difference between whose value and zero the loop counts is not negative.

use super::atom::{Atom, Expr};
use super::expr::BinaryOperator::{Add, Eq, Mul, Shl, Slt, Ult};
use super::expr::ExprNode;
use super::ordinary_range::{AssumedValues, RangesOfSize, ValueRange, hull, product};
use super::predicate::conjuncts;
use super::thread::SymbolicLoop;
use super::var_bounds::VarBounds;
use crate::flow::BlockId;

/// Inputs are not taken to decide that a loop repeats more often than this.
const MOST_TRIPS: i128 = 1 << 24;

/// A comparison that holds where an iteration is followed by another one.
struct LoopCondition {
    /// What the iterations step.
    stepped: Expr,
    /// What they do not change.
    limit: Expr,
    /// How both are read as numbers.
    are_signed: [bool; 2],
    kind: ConditionKind,
}

#[derive(Clone, Copy, PartialEq)]
enum ConditionKind {
    /// The stepped number is below the limit, or equal to it.
    Below {
        or_equal: bool,
    },
    /// The stepped number is above the limit, or equal to it.
    Above {
        or_equal: bool,
    },
    Unequal,
    Equal,
}

impl RangesOfSize<'_> {
    /// How many iterations a loop has at most beside the first one; `None`: no condition limits them. Nothing is known of
    /// what the loop carries; `firsts`: what it carries first.
    pub(super) fn trips(
        &mut self,
        own: &SymbolicLoop,
        header: BlockId,
        firsts: &AssumedValues,
    ) -> Option<i128> {
        let thread = self.thread;
        let of_edge = |reach: &super::thread::ReachCondition| {
            let parts = conjuncts(&thread.exprs, reach.holds);
            let limits = parts.into_iter().flat_map(|part| self.loop_conditions(part));
            let limits: Vec<LoopCondition> = limits.collect();
            limits.iter().filter_map(|limit| self.steps(limit, own, header, firsts)).min()
        };
        // An iteration that another one follows ends with one of the back edges.
        let each: Option<Vec<i128>> = own.again.iter().map(of_edge).collect();
        each?.into_iter().max()
    }

    /// The readings of a predicate as a comparison of a stepped number with a limit.
    fn loop_conditions(&self, part: Expr) -> Vec<LoopCondition> {
        let exprs = self.exprs();
        let (part, holds) = match exprs.node(part) {
            ExprNode::Not(inner) => (inner, false),
            _ => (part, true),
        };
        let ExprNode::Binary(operator @ (Eq | Slt | Ult), a, b) = exprs.node(part) else {
            return Vec::new();
        };
        if exprs.bits(a) == 1 {
            return Vec::new();
        }
        let (below, above) =
            (ConditionKind::Below { or_equal: !holds }, ConditionKind::Above { or_equal: !holds });
        let kinds = match (operator, holds) {
            (Eq, true) => [ConditionKind::Equal; 2],
            (Eq, false) => [ConditionKind::Unequal; 2],
            (_, true) => [below, above],
            (_, false) => [above, below],
        };
        let is_signed = operator == Slt;
        let reading = |stepped: Expr, limit: Expr, kind: ConditionKind| match exprs.node(stepped) {
            // An extended number compares as the number itself.
            ExprNode::Zext(stepped) => {
                Some(LoopCondition { stepped, limit, are_signed: [false, is_signed], kind })
            }
            ExprNode::Sext(stepped) if is_signed || operator == Eq => {
                Some(LoopCondition { stepped, limit, are_signed: [true, true], kind })
            }
            ExprNode::Sext(_) => None,
            _ => Some(LoopCondition { stepped, limit, are_signed: [is_signed; 2], kind }),
        };
        [reading(a, b, kinds[0]), reading(b, a, kinds[1])].into_iter().flatten().collect()
    }

    /// How many iterations a condition lets follow the first one.
    fn steps(
        &mut self,
        condition: &LoopCondition,
        own: &SymbolicLoop,
        header: BlockId,
        firsts: &AssumedValues,
    ) -> Option<i128> {
        let LoopCondition { stepped, limit, kind, are_signed: [is_signed, _] } = *condition;
        let step = self.slope(stepped, own, header).filter(|step| *step != (0, 0))?;
        let mut begin = firsts.clone();
        begin.insert(Atom::Iteration(header), Some((0, 0)));
        let outer = self.entry.replace(own.entry.holds);
        let from = self.end(stepped, is_signed, &begin);
        let to = self.end(limit, condition.are_signed[1], &AssumedValues::new());
        self.entry = outer;
        let (from, (least, most)) = (from?, to?);
        let to = (least, if least == most { most } else { most.min(from.1 + MOST_TRIPS) });
        let width = VarBounds::of_width(self.exprs().bits(stepped), is_signed);
        // A step that inputs decide leads towards the limit.
        let up =
            (step.1 > 0).then(|| if step.0 == step.1 { step } else { (step.0.max(1), step.1) });
        let down = (step.0 < 0).then(|| {
            if step.0 == step.1 { (-step.1, -step.0) } else { ((-step.1).max(1), -step.0) }
        });
        let trips = match kind {
            ConditionKind::Below { or_equal } => {
                let (up, to) = (up?, to.1 + i128::from(or_equal));
                // The last step does not wrap around.
                (Some(to - 1 + up.1) <= width.most).then(|| rounded_up(to - from.0, up.0))
            }
            ConditionKind::Above { or_equal } => {
                let (down, to) = (down?, to.0 - i128::from(or_equal));
                (width.least <= Some(to + 1 - down.1)).then(|| rounded_up(from.1 - to, down.0))
            }
            ConditionKind::Unequal => {
                let up = up.and_then(|up| until_equal((from.0, to.1), (from, to), up));
                let down = down.and_then(|down| until_equal((to.0, from.1), (to, from), down));
                [up, down].into_iter().flatten().max()
            }
            // What changes is equal to the limit once.
            ConditionKind::Equal => (step.0 > 0 || step.1 < 0).then_some(1),
        }?;
        // Inputs that decide both the step and the limit are meant to fit together.
        Some(if step.0 == step.1 || least == most { trips } else { trips.min(self.size) })
    }

    /// The range of one of the two numbers between which a loop counts.
    fn end(&mut self, of: Expr, is_signed: bool, assumed: &AssumedValues) -> Option<ValueRange> {
        let outer = std::mem::replace(&mut self.is_end, true);
        let found = self.under(assumed, |ranges| ranges.exact(of, is_signed));
        self.is_end = outer;
        found
    }

    /// What each iteration adds to an expression; `None` if that is not known.
    fn slope(&mut self, of: Expr, own: &SymbolicLoop, header: BlockId) -> Option<ValueRange> {
        let thread = self.thread;
        if self.depth > super::ordinary_range::MOST_DEPTH {
            return None;
        }
        self.depth += 1;
        let found = match thread.exprs.node(of) {
            ExprNode::Constant(_) => Some((0, 0)),
            ExprNode::Atom(atom) => self.slope_of_atom(atom, own, header),
            ExprNode::Not(a) => self.slope(a, own, header).map(|(least, most)| (-most, -least)),
            ExprNode::Extract(a, 0) => self.slope(a, own, header),
            ExprNode::Binary(Add, a, b) => {
                let (a, b) = (self.slope(a, own, header), self.slope(b, own, header));
                a.zip(b).map(|(a, b)| (a.0 + b.0, a.1 + b.1))
            }
            ExprNode::Binary(Mul, a, b) => self.slope_of_product([a, b], own, header),
            ExprNode::Binary(Shl, a, b) => {
                let power = thread.exprs.as_constant(b).filter(|power| *power < 64);
                let slope = self.slope(a, own, header);
                slope.zip(power).map(|(slope, power)| (slope.0 << power, slope.1 << power))
            }
            // What the loop does not change has the same value in each iteration.
            _ => {
                let atoms = thread.exprs.atoms(of);
                let is_fixed = |atom: Atom| self.slope_of_atom(atom, own, header) == Some((0, 0));
                atoms.into_iter().all(is_fixed).then_some((0, 0))
            }
        };
        self.depth -= 1;
        found
    }

    fn slope_of_product(
        &mut self,
        factors: [Expr; 2],
        own: &SymbolicLoop,
        header: BlockId,
    ) -> Option<ValueRange> {
        let [a, b] = factors.map(|factor| self.slope(factor, own, header));
        match (a?, b?) {
            ((0, 0), (0, 0)) => Some((0, 0)),
            ((0, 0), slope) => product(self.ring(factors[0], true)?, slope),
            (slope, (0, 0)) => product(self.ring(factors[1], true)?, slope),
            _ => None,
        }
    }

    fn slope_of_atom(
        &mut self,
        atom: Atom,
        own: &SymbolicLoop,
        header: BlockId,
    ) -> Option<ValueRange> {
        match atom {
            Atom::Iteration(at) if at == header => Some((1, 1)),
            Atom::Carried(at, _) if at == header => {
                let nexts = own.carried.get(&atom)?;
                let steps: Option<Vec<ValueRange>> = nexts[1..]
                    .iter()
                    .map(|next| self.step(*next, atom, self.exprs().bits(*next)))
                    .collect();
                // Some iterations might not step it.
                steps?.into_iter().reduce(hull).filter(|step| step.0 > 0 || step.1 < 0)
            }
            // Blocks are in sort order: what lies before the loop does not change in it.
            Atom::Iteration(at) | Atom::Carried(at, _) | Atom::Result(_, at, _) => {
                (at < header).then_some((0, 0))
            }
            Atom::Loaded(address, _) => {
                let atoms = self.exprs().atoms(address);
                let is_fixed = |atom: Atom| self.slope_of_atom(atom, own, header) == Some((0, 0));
                atoms.into_iter().all(is_fixed).then_some((0, 0))
            }
            Atom::Unknown(_) => None,
            _ => Some((0, 0)),
        }
    }
}

fn rounded_up(distance: i128, step: i128) -> i128 {
    let distance = distance.max(0);
    distance / step + i128::from(distance % step != 0)
}

/// How many steps lead upwards to a limit that only equality tells, where `range` contains both. Numbers that inputs do not
/// decide have to meet.
fn until_equal(
    range: (i128, i128),
    (from, to): (ValueRange, ValueRange),
    step: ValueRange,
) -> Option<i128> {
    let distance = range.1 - range.0;
    let is_fixed = from.0 == from.1 && to.0 == to.1 && step.0 == step.1;
    let meets = distance >= 0 && (!is_fixed || distance % step.0 == 0);
    meets.then(|| rounded_up(distance, step.0))
}
