//! Numbers with some of their bits flipped, `x ^ m`, as partners of a butterfly exchange are: flipping the same bits again gives
//! the number back, and different numbers have different partners.

use super::expr::{BinaryOperator, Expr, ExprNode};
use super::poly::Poly;
use super::system::{Flip, System};
use super::view::Views;

impl Views<'_> {
    /// Adds, for each unknown that stands for `value ^ mask` with a mask that both threads have, how it relates to the value. Returns
    /// whether there is one.
    pub(super) fn find_flips(&mut self) -> bool {
        let mut unknowns: Vec<_> = self.unknowns.iter().map(|(key, own)| (*key, *own)).collect();
        unknowns.sort_unstable();
        for ((of, copy), (flipped, is_signed)) in unknowns {
            let Some((value, mask)) = self.flipped(of) else { continue };
            let value = self.exact(value, is_signed, copy);
            // Equal numbers have equal bits only if both are signed, or neither.
            let flips = &mut self.system.flips[usize::from(is_signed)];
            flips.push(Flip { mask, value, flipped: Poly::var(flipped) });
        }
        self.system.flips.iter().any(|own| !own.is_empty())
    }

    /// The value and the mask of an expression `value ^ mask`, if both threads have the same mask.
    fn flipped(&self, of: Expr) -> Option<(Expr, Expr)> {
        let ExprNode::Binary(BinaryOperator::Xor, a, b) = self.exprs().node(of) else {
            return None;
        };
        let is_number = self.exprs().bits(of) > 1;
        [(a, b), (b, a)].into_iter().find(|(_, mask)| is_number && self.is_same_for_both(*mask))
    }
}

impl System {
    /// Makes two values equal if the flipped ones are, and the reverse; and a value the flipped one of what it is flipped to.
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
