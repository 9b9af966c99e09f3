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
