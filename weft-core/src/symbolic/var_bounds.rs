//! Bounds of integers.

/// What is known of an unknown by itself. Both bounds are included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct VarBounds {
    pub(super) least: Option<i128>,
    pub(super) most: Option<i128>,
}

impl VarBounds {
    /// The bounds of the number 1.
    pub(super) const ONE: Self = Self { least: Some(1), most: Some(1) };

    /// The values of a width.
    pub(super) fn of_width(bits: u32, is_signed: bool) -> Self {
        let (least, most) = if is_signed {
            (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
        } else {
            (0, (1_i128 << bits) - 1)
        };
        Self { least: Some(least), most: Some(most) }
    }

    /// The bounds that hold in both of two cases.
    pub(super) fn hull(self, other: Self) -> Self {
        Self {
            least: self.least.zip(other.least).map(|(a, b)| a.min(b)),
            most: self.most.zip(other.most).map(|(a, b)| a.max(b)),
        }
    }

    /// The bounds of a value that has both.
    pub(super) fn and(self, other: Self) -> Self {
        let least = [self.least, other.least].into_iter().flatten().max();
        let most = [self.most, other.most].into_iter().flatten().min();
        Self { least, most }
    }

    /// The bounds of a value that has both; `None` if no value has.
    pub(super) fn within(self, other: Self) -> Option<Self> {
        Some(self.and(other)).filter(|both| !both.is_empty())
    }

    /// Whether no value has the bounds.
    pub(super) fn is_empty(self) -> bool {
        self.least.zip(self.most).is_some_and(|(least, most)| least > most)
    }

    /// The bounds of a sum.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            least: self.least.zip(other.least).and_then(|(a, b)| a.checked_add(b)),
            most: self.most.zip(other.most).and_then(|(a, b)| a.checked_add(b)),
        }
    }

    /// The bounds of a quotient, rounded down, by a divisor with these bounds, which is at least 1.
    pub(super) fn divided(self, divisor: Self) -> Self {
        let lowest = divisor.least.map_or(1, |least| least.max(1));
        // Quotients are nearest to zero where the divisor is greatest.
        let outward = |bound: i128| bound.div_euclid(lowest);
        let inward = |bound: i128, of_any: i128| {
            divisor.most.map_or(of_any, |most| bound.div_euclid(most.max(lowest)))
        };
        Self {
            least: self.least.map(|own| if own < 0 { outward(own) } else { inward(own, 0) }),
            most: self.most.map(|own| if own < 0 { inward(own, -1) } else { outward(own) }),
        }
    }

    /// The bounds of a product.
    pub(super) fn times(self, other: Self) -> Self {
        let (a, b) = (self, other);
        let corners =
            |x: Option<i128>, y: Option<i128>| x.zip(y).and_then(|(x, y)| x.checked_mul(y));
        let all = [
            corners(a.least, b.least),
            corners(a.least, b.most),
            corners(a.most, b.least),
            corners(a.most, b.most),
        ];
        let are_known = all.iter().all(Option::is_some);
        if are_known {
            let known = || all.iter().flatten().copied();
            return VarBounds { least: known().min(), most: known().max() };
        }
        // Of two factors that are not negative, the product of the least values is known even if they have no bound.
        let is_natural = |bounds: VarBounds| bounds.least.is_some_and(|least| least >= 0);
        let least = if is_natural(a) && is_natural(b) { corners(a.least, b.least) } else { None };
        VarBounds { least, most: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bounds of a quotient are those of all quotients, one after the other; where a bound is missing, larger numbers
    /// stand for it.
    #[test]
    fn quotients_are_between_their_bounds() {
        const FAR: i128 = 40;
        let ends: Vec<Option<i128>> = (-7..8).map(Some).chain([None]).collect();
        let bounds = |least, most| VarBounds { least, most };
        let values =
            |of: VarBounds, first: i128| of.least.unwrap_or(first)..=of.most.unwrap_or(FAR);
        for (least, most) in ends.iter().flat_map(|a| ends.iter().map(|b| (*a, *b))) {
            for (first, last) in
                (1..6).flat_map(|a| (1..6).map(move |b| (a, Some(b)))).chain([(2, None)])
            {
                let (dividend, divisor) = (bounds(least, most), bounds(Some(first), last));
                let found = dividend.divided(divisor);
                let quotients = values(dividend, -FAR)
                    .flat_map(|a| values(divisor, 1).map(move |b| a.div_euclid(b)));
                let all: Vec<i128> = quotients.collect();
                let (Some(lowest), Some(highest)) = (all.iter().min(), all.iter().max()) else {
                    continue;
                };
                assert!(found.least.is_none_or(|own| own <= *lowest), "{dividend:?} {divisor:?}");
                assert!(found.most.is_none_or(|own| own >= *highest), "{dividend:?} {divisor:?}");
                if least.is_some() && most.is_some() && last.is_some() {
                    assert_eq!(found, bounds(Some(*lowest), Some(*highest)));
                }
            }
        }
    }
}
