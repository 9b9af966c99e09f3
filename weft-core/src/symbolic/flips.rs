//! Numbers with some of their bits flipped, `x ^ m`, as partners of a butterfly exchange are: flipping the same bits again gives
//! the number back, and different numbers have different partners.

use super::expr::{BinaryOperator, Expr, ExprNode};
use super::poly::Poly;
use super::system::{Flip, System};
use super::view::{Copy, Views};

impl Views<'_> {
    /// Adds of each unknown that is a flipped number what number that is, if both threads flip the same bits. Returns whether there
    /// is one.
    pub(super) fn find_flips(&mut self) -> bool {
        let xor = |of: Expr| match self.exprs().node(of) {
            ExprNode::Binary(BinaryOperator::Xor, a, b) if self.exprs().bits(of) > 1 => {
                [(a, b), (b, a)].into_iter().find(|(_, mask)| self.is_same_for_both(*mask))
            }
            _ => None,
        };
        let mut found: Vec<_> = self
            .unknowns
            .iter()
            .filter_map(|((of, copy), (var, is_signed))| {
                let (value, mask) = xor(*of)?;
                Some((*of, *copy, *var, *is_signed, value, mask))
            })
            .collect();
        found.sort_unstable_by_key(|(of, copy, ..)| (*of, *copy == Copy::Second));
        for (_, copy, var, is_signed, value, mask) in &found {
            let value = self.exact(*value, *is_signed, *copy);
            let flip = Flip { mask: *mask, value, flipped: Poly::var(*var) };
            // Equal numbers have equal bits only if both are signed, or neither.
            let flips = &mut self.system.flips[usize::from(*is_signed)];
            flips.push(flip);
        }
        !found.is_empty()
    }
}

impl System {
    /// Makes numbers equal whose partners are, and a number the partner of its partner.
    pub(super) fn follow_flips(&mut self) -> bool {
        let mut found = Vec::new();
        for flips in &self.flips {
            for (at, a) in flips.iter().enumerate() {
                for b in flips[..at].iter().filter(|b| b.mask == a.mask) {
                    let mut imply = |first: [&Poly; 2], then: [&Poly; 2]| {
                        if first[0] == first[1] && then[0] != then[1] {
                            found.extend(then[0].minus(then[1]));
                        }
                    };
                    imply([&a.value, &b.value], [&a.flipped, &b.flipped]);
                    imply([&a.flipped, &b.flipped], [&a.value, &b.value]);
                    imply([&a.flipped, &b.value], [&a.value, &b.flipped]);
                    imply([&a.value, &b.flipped], [&a.flipped, &b.value]);
                }
            }
        }
        found.retain(|poly: &Poly| !self.conditions.zero.contains(poly));
        let is_some = !found.is_empty();
        self.conditions.zero.extend(found);
        is_some
    }
}
