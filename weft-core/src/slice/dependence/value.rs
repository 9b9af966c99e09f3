//! The lattice of pointer dependence, how a value depends on addresses, and the arithmetic on it.
//!
//! A value is `b + f`. `b` is the address of one of the bases in `based`, or 0, which is possible only if `is_plain`.
//! `f` is computed only from addresses of the bases in `read`: its lowest `j` bits depend on no other bits of these
//! addresses than the lowest `min(low, j + shift)`. So moving a base by a multiple of `2^low` moves the value by as
//! much or not at all.
//!
//! The least element is a value that nothing has computed yet. Joining values unites the sets and takes the greater
//! numbers, so that chains of joins are short: 128 bases, and three numbers up to 64.

/// The number of bases that are distinguished. Bases are identified by their index in a list; those beyond the limit
/// share the last index.
pub(super) const MAX_BASES: usize = 128;

/// Bits of a register.
pub(super) const ALL: u8 = 64;

/// How a value depends on addresses; the parameters are explained at the top of this file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Dependence {
    /// The set of bases: the value is the address of one of these plus something.
    pub(super) based: u128,
    /// Whether the value might be the address of none of them.
    pub(super) is_plain: bool,
    /// The set of bases whose addresses' bits go into what is added.
    pub(super) read: u128,
    pub(super) low: u8,
    pub(super) shift: u8,
    /// If `based` is empty, the value is below `2^width`.
    pub(super) width: u8,
}

impl Dependence {
    /// Returns a number below `2^width` that depends on no address.
    pub(super) const fn number(width: u8) -> Self {
        Self { based: 0, is_plain: true, read: 0, low: 0, shift: 0, width }
    }

    /// Returns the address of a base.
    pub(super) const fn address(base: usize) -> Self {
        Self { based: 1 << base, is_plain: false, width: ALL, ..Self::number(0) }
    }

    /// Whether nothing has computed the value yet, so that results computed from it are not known either.
    pub(super) const fn is_nothing(&self) -> bool {
        !self.is_plain && self.based == 0
    }

    /// Returns the set of bases that the value depends on in any way.
    pub(super) const fn all(&self) -> u128 {
        self.based | self.read
    }

    /// Returns the base whose address the value certainly is, plus something, if there is one.
    pub(super) fn certain(&self) -> Option<u128> {
        let is_one = self.based.is_power_of_two() && self.based >> (MAX_BASES - 1) == 0;
        (is_one && !self.is_plain).then_some(self.based)
    }

    /// Returns one of two values, where the choice depends on no address.
    pub(super) fn join(self, other: Self) -> Self {
        Self {
            based: self.based | other.based,
            is_plain: self.is_plain | other.is_plain,
            read: self.read | other.read,
            low: self.low.max(other.low),
            shift: self.shift.max(other.shift),
            width: self.width.max(other.width),
        }
    }

    /// Returns the value plus something computed from the addresses of the bases in `read`, with these parameters `low`
    /// and `shift`.
    pub(super) const fn reading(self, read: u128, low: u8, shift: u8) -> Self {
        if read == 0 {
            return self;
        }
        let low = if self.low > low { self.low } else { low };
        let shift = if self.shift > shift { self.shift } else { shift };
        Self { read: self.read | read, low, shift, ..self }
    }

    /// Returns a number each of whose bits is computed from bits of the value that are not higher: sums, products,
    /// bitwise operations.
    pub(super) const fn digits(self, width: u8) -> Self {
        let dependence = Self::number(width).reading(self.read, self.low, self.shift);
        dependence.reading(self.based, ALL, 0).below(width)
    }

    /// Returns a number that is computed from the value in any other way.
    pub(super) const fn mixed(self, width: u8) -> Self {
        let dependence = Self::number(width).reading(self.read, self.low, ALL);
        dependence.reading(self.based, ALL, ALL)
    }

    /// Returns the same value, known to be below `2^width` if it is not an address.
    pub(super) const fn below(self, width: u8) -> Self {
        if self.based != 0 {
            return self;
        }
        let width = if self.width < width { self.width } else { width };
        let most = width.saturating_add(self.shift);
        let low = if self.low < most { self.low } else { most };
        Self { low, width, ..self }
    }

    /// Returns the lowest `bits` bits of the value. `narrow`: the set of bases whose addresses have 32 bits.
    pub(super) fn truncated(self, bits: u8, narrow: u128) -> Self {
        let lost = if bits >= ALL {
            0
        } else if bits >= 32 {
            self.based & !narrow
        } else {
            self.based
        };
        if lost == 0 {
            return self.below(bits);
        }
        let rest = Self { based: self.based & !lost, is_plain: true, ..self };
        rest.reading(lost, bits, 0).below(bits)
    }

    /// Returns the bits of the value from number `by` on, shifted down.
    pub(super) const fn shifted(self, by: u8) -> Self {
        let Self { width, low, shift, .. } = self.digits(self.width);
        let shift = if shift.saturating_add(by) > ALL { ALL } else { shift + by };
        Self {
            based: 0,
            is_plain: true,
            read: self.all(),
            low,
            shift,
            width: width.saturating_sub(by),
        }
    }

    /// Returns the same number with `width` bits.
    pub(super) const fn wide(self, width: u8) -> Self {
        Self { width, ..self }
    }

    /// Returns the same value if another value, `by`, decides which of several values it is.
    pub(super) const fn choosing(self, by: Self) -> Self {
        let by = by.mixed(1);
        self.reading(by.read, by.low, ALL)
    }

    /// Returns the sum, in a register of `width` bits.
    pub(super) fn plus(self, other: Self, width: u8) -> Self {
        if self.based != 0 && other.based != 0 {
            return self.join(other).digits(width);
        }
        let is_plain = if self.based == 0 { other.is_plain } else { self.is_plain };
        Self { is_plain, width, ..self.join(other) }
    }

    /// Returns the difference, in a register of `width` bits.
    pub(super) fn minus(self, other: Self, width: u8) -> Self {
        if other.based == 0 {
            return self.plus(other, width);
        }
        self.difference(other, width).unwrap_or_else(|| self.join(other).digits(width))
    }

    /// Returns the difference of two addresses based on the same base, which cancels out; `None` for other values.
    fn difference(self, other: Self, width: u8) -> Option<Self> {
        let is_one = self.certain().is_some() && self.certain() == other.certain();
        let without = |dependence: Self| Self { based: 0, is_plain: true, ..dependence };
        is_one.then(|| without(self).join(without(other)).digits(width))
    }

    /// Returns the result of a comparison. Two addresses that are based on the same base compare alike wherever the
    /// base lies, unless something wraps around, as an address slightly below one of the bases in `wrapping` might.
    pub(super) fn compared(self, other: Self, wrapping: u128) -> Self {
        let distance = self.difference(other, ALL).filter(|_| self.based & wrapping == 0);
        distance.unwrap_or_else(|| self.join(other)).mixed(1)
    }

    /// Returns the value with bits of `other` set, cleared or inverted.
    pub(super) fn with_bits(self, other: Self, width: u8) -> Self {
        let (address, number) = if self.based == 0 { (other, self) } else { (self, other) };
        if address.based == 0 || number.based != 0 {
            return self.join(other).digits(width);
        }
        let dependence = address.plus(number, width);
        // The amount added is the bits set minus the lower bits that the address had there.
        dependence.reading(address.based, number.width, 0)
    }

    /// Returns the value rounded down to a multiple of `2^bits`.
    pub(super) const fn rounded(self, bits: u8) -> Self {
        self.reading(self.based, bits, 0)
    }
}
