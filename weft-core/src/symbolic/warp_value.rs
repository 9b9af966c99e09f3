//! What the lanes of a warp have in common of one value.

use super::expr::BinaryOperator;

/// The bits of the number of a lane.
const LANE_BITS: u32 = 5;
const LANES: u64 = 1 << LANE_BITS;

/// What the lanes of a warp have in common of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WarpValue {
    /// All of it.
    Common(CommonBits),
    /// All but the lowest five bits, which are the number of the lane. The value is below 2 to the power `below`.
    Lane { below: u32 },
    /// Perhaps nothing.
    Any,
}

/// What is known of a value that lanes have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommonBits {
    /// It is a multiple of 2 to this power.
    pub(super) zeros: u32,
    /// It is below 2 to this power.
    pub(super) below: u32,
}

impl CommonBits {
    pub(super) fn of_number(number: u64) -> Self {
        Self { zeros: number.trailing_zeros(), below: u64::BITS - number.leading_zeros() }
    }

    /// The value, shifted down by fewer bits than it has, without a sign.
    fn shifted_down(self, amount: u32) -> Self {
        match self.below.saturating_sub(amount) {
            0 => Self::of_number(0),
            below => Self { zeros: self.zeros.saturating_sub(amount), below },
        }
    }

    fn is_multiple_of_lanes(self) -> bool {
        self.zeros >= LANE_BITS
    }
}

impl WarpValue {
    /// A value of this many bits that lanes have in common.
    pub(super) fn common(bits: u32) -> Self {
        Self::Common(CommonBits { zeros: 0, below: bits })
    }

    /// Whether all lanes have the same value.
    pub(super) fn is_common(self) -> bool {
        matches!(self, Self::Common(_))
    }

    /// What holds of a value that is one of two, the same one for all lanes.
    pub(super) fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Common(a), Self::Common(b)) => Self::Common(CommonBits {
                zeros: a.zeros.min(b.zeros),
                below: a.below.max(b.below),
            }),
            (Self::Lane { below: a }, Self::Lane { below: b }) => Self::Lane { below: a.max(b) },
            _ => Self::Any,
        }
    }

    /// The complement of a value of `bits` bits.
    pub(super) fn complement(self, bits: u32) -> Self {
        if self.is_common() { Self::common(bits) } else { Self::Any }
    }

    /// A value of `from` bits, extended by its sign to `bits` bits.
    pub(super) fn sign_extended(self, from: u32, bits: u32) -> Self {
        match self {
            Self::Common(own) if own.below < from => self,
            Self::Common(own) => Self::Common(CommonBits { below: bits, ..own }),
            Self::Lane { below } if below < from => self,
            // The sign is not a bit of the number of the lane.
            Self::Lane { .. } if from > LANE_BITS => Self::Lane { below: bits },
            _ => Self::Any,
        }
    }

    /// The lowest bits of a value.
    pub(super) fn truncated(self, bits: u32) -> Self {
        match self {
            Self::Common(own) => Self::Common(CommonBits { below: own.below.min(bits), ..own }),
            Self::Lane { below } if bits >= LANE_BITS => Self::Lane { below: below.min(bits) },
            _ => Self::Any,
        }
    }

    /// A value, shifted down by fewer bits than it has, without a sign.
    pub(super) fn shifted_down(self, amount: u32) -> Self {
        match self {
            Self::Common(own) => Self::Common(own.shifted_down(amount)),
            Self::Lane { below } if amount >= LANE_BITS => {
                Self::Common(CommonBits { zeros: 0, below }.shifted_down(amount))
            }
            Self::Lane { .. } if amount == 0 => self,
            _ => Self::Any,
        }
    }

    /// A value of `bits` bits that is not negative.
    pub(super) fn natural(self, bits: u32) -> Self {
        match self {
            Self::Common(own) => Self::Common(CommonBits { below: own.below.min(bits - 1), ..own }),
            Self::Lane { below } => Self::Lane { below: below.min(bits - 1) },
            Self::Any => self,
        }
    }

    /// Whether a value of `bits` bits is known not to be negative.
    fn is_natural(self, bits: u32) -> bool {
        match self {
            Self::Common(CommonBits { below, .. }) | Self::Lane { below } => below < bits,
            Self::Any => false,
        }
    }
}

/// The result of an operator on values of `bits` bits. `numbers`: the operands that are numbers.
pub(super) fn binary(
    operator: BinaryOperator,
    values: [WarpValue; 2],
    numbers: [Option<u64>; 2],
    bits: u32,
) -> WarpValue {
    use BinaryOperator::{Add, And, Ashr, Eq, Lshr, Or, Shl, Slt, Ult, Xor};
    let is_comparison = matches!(operator, Eq | Ult | Slt);
    let amount = numbers[1].and_then(|number| u32::try_from(number).ok());
    match (operator, values, amount.filter(|amount| *amount < bits)) {
        (Lshr, [value, _], Some(amount)) => value.shifted_down(amount),
        (Ashr, [value, _], Some(amount)) if value.is_natural(bits) => value.shifted_down(amount),
        // The sign is not a bit of the number of the lane.
        (Ashr, [WarpValue::Lane { .. }, _], Some(LANE_BITS..)) if bits > LANE_BITS => {
            WarpValue::common(bits)
        }
        (Shl, [WarpValue::Common(own), _], Some(amount)) => WarpValue::Common(CommonBits {
            zeros: own.zeros + amount,
            below: (own.below + amount).min(bits),
        }),
        (_, [WarpValue::Common(a), WarpValue::Common(b)], _) => {
            let bits = if is_comparison { 1 } else { bits };
            WarpValue::Common(of_common(operator, [a, b], bits))
        }
        (_, [WarpValue::Lane { below }, WarpValue::Common(other)], _) if bits > LANE_BITS => {
            of_lane(operator, below, (other, numbers[1]), bits)
        }
        (Add | And | Or | Xor, [WarpValue::Common(other), WarpValue::Lane { below }], _)
            if bits > LANE_BITS =>
        {
            of_lane(operator, below, (other, numbers[0]), bits)
        }
        // A number is below `32 * w + lane` for all lanes or for none, if it is below `32 * w` or at least `32 * w + 31`.
        (Ult | Slt, [_, WarpValue::Lane { .. }], _)
            if bits > LANE_BITS && numbers[0].is_some_and(|number| number % LANES == LANES - 1) =>
        {
            WarpValue::common(1)
        }
        _ => WarpValue::Any,
    }
}

/// The result of an operator on two values that lanes have in common.
fn of_common(operator: BinaryOperator, [a, b]: [CommonBits; 2], bits: u32) -> CommonBits {
    use BinaryOperator::{Add, And, Mul, Or, Xor};
    let (zeros, below) = match operator {
        Add => (a.zeros.min(b.zeros), below_of_sum(a.below, b.below)),
        Mul => (a.zeros + b.zeros, a.below + b.below),
        And => (a.zeros.max(b.zeros), a.below.min(b.below)),
        Or | Xor => (a.zeros.min(b.zeros), a.below.max(b.below)),
        _ => (0, bits),
    };
    CommonBits { zeros: zeros.min(u64::BITS), below: below.min(bits) }
}

/// The result of an operator on a value with the number of the lane and one that lanes have in common.
fn of_lane(
    operator: BinaryOperator,
    below: u32,
    (other, number): (CommonBits, Option<u64>),
    bits: u32,
) -> WarpValue {
    use BinaryOperator::{Add, And, Or, Slt, Udiv, Ult, Urem, Xor};
    match operator {
        And if number.is_some_and(|number| number % LANES == LANES - 1) => {
            WarpValue::Lane { below: below.min(other.below) }
        }
        _ if !other.is_multiple_of_lanes() => WarpValue::Any,
        Add => WarpValue::Lane { below: below_of_sum(below, other.below).min(bits) },
        Or | Xor => WarpValue::Lane { below: below.max(other.below) },
        And => WarpValue::Common(CommonBits { below: below.min(other.below), ..other }),
        Udiv => WarpValue::common(bits),
        Urem => WarpValue::Lane { below: bits },
        Ult | Slt => WarpValue::common(1),
        _ => WarpValue::Any,
    }
}

/// A sum of numbers below 2 to these powers is below 2 to this power.
fn below_of_sum(a: u32, b: u32) -> u32 {
    match a.min(b) {
        0 => a.max(b),
        _ => a.max(b) + 1,
    }
}
