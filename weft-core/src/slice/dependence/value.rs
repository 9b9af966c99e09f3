//! What a value has of addresses: the lattice of pointer dependence, and what arithmetic makes of it.
//!
//! A value is `b + f`, where `b` is the address of one of the bases in `based` (or 0, if `is_plain`), and the lowest `j`
//! bits of `f` are computed from no bit of an address that is not among its lowest `min(low, j + shift)`, and of the bases
//! in `read` alone. So moving a base by a multiple of `2^low` moves the value by as much, or not at all.
//!
//! The least element is what nothing computed. Joining values unites the sets and takes the greater numbers, so that any
//! chain of joins is short: 128 bases, and three numbers up to 64.

/// Something whose place nobody states, by index of the list of bases. Those that are too many share the last index.
pub(super) const MAX_BASES: usize = 128;

/// Bits of a register.
pub(super) const ALL: u8 = 64;

/// What a value has of addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Dependence {
    /// It is the address of one of these, plus something.
    pub(super) based: u128,
    /// Or of none of them.
    pub(super) is_plain: bool,
    /// What is added is computed from bits of these.
    pub(super) read: u128,
    pub(super) low: u8,
    pub(super) shift: u8,
    /// Without `based` it is below `2^width`.
    pub(super) width: u8,
}

impl Dependence {
    /// A number below `2^width`.
    pub(super) const fn number(width: u8) -> Self {
        Self { based: 0, is_plain: true, read: 0, low: 0, shift: 0, width }
    }

    /// The address of a base.
    pub(super) const fn address(base: usize) -> Self {
        Self { based: 1 << base, is_plain: false, width: ALL, ..Self::number(0) }
    }

    /// What nothing computed so far, so that nothing can be said of what is computed from it.
    pub(super) const fn is_nothing(&self) -> bool {
        !self.is_plain && self.based == 0
    }

    /// Of what it has any bits.
    pub(super) const fn all(&self) -> u128 {
        self.based | self.read
    }

    /// The one base whose address it surely is, plus something.
    pub(super) fn certain(&self) -> Option<u128> {
        let is_one = self.based.is_power_of_two() && self.based >> (MAX_BASES - 1) == 0;
        (is_one && !self.is_plain).then_some(self.based)
    }

    /// One of two values; which of them depends on no address.
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

    /// Something added that is computed from these bits.
    pub(super) const fn reading(self, read: u128, low: u8, shift: u8) -> Self {
        if read == 0 {
            return self;
        }
        let low = if self.low > low { self.low } else { low };
        let shift = if self.shift > shift { self.shift } else { shift };
        Self { read: self.read | read, low, shift, ..self }
    }

    /// A number each of whose bits is computed from bits of the value that are no higher: sums, products, bitwise
    /// operations.
    pub(super) const fn digits(self, width: u8) -> Self {
        let dependence = Self::number(width).reading(self.read, self.low, self.shift);
        dependence.reading(self.based, ALL, 0).below(width)
    }

    /// A number computed from the value in any other way.
    pub(super) const fn mixed(self, width: u8) -> Self {
        let dependence = Self::number(width).reading(self.read, self.low, ALL);
        dependence.reading(self.based, ALL, ALL)
    }

    /// The same number, known to be below `2^width`.
    pub(super) const fn below(self, width: u8) -> Self {
        if self.based != 0 {
            return self;
        }
        let width = if self.width < width { self.width } else { width };
        let most = width.saturating_add(self.shift);
        let low = if self.low < most { self.low } else { most };
        Self { low, width, ..self }
    }

    /// What is left of it in so many bits. `narrow` are the bases whose addresses have 32.
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

    /// The bits from one on.
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

    /// The same number, which may fill so many bits.
    pub(super) const fn wide(self, width: u8) -> Self {
        Self { width, ..self }
    }

    /// The same, where it depends on another value which of several it is.
    pub(super) const fn choosing(self, by: Self) -> Self {
        let by = by.mixed(1);
        self.reading(by.read, by.low, ALL)
    }

    /// The sum, in a register of so many bits.
    pub(super) fn plus(self, other: Self, width: u8) -> Self {
        if self.based != 0 && other.based != 0 {
            return self.join(other).digits(width);
        }
        let is_plain = if self.based == 0 { other.is_plain } else { self.is_plain };
        Self { is_plain, width, ..self.join(other) }
    }

    /// The difference.
    pub(super) fn minus(self, other: Self, width: u8) -> Self {
        if other.based == 0 {
            return self.plus(other, width);
        }
        self.difference(other, width).unwrap_or_else(|| self.join(other).digits(width))
    }

    /// The difference of two addresses that start from one base: nothing of the base is in it.
    fn difference(self, other: Self, width: u8) -> Option<Self> {
        let is_one = self.certain().is_some() && self.certain() == other.certain();
        let without = |dependence: Self| Self { based: 0, is_plain: true, ..dependence };
        is_one.then(|| without(self).join(without(other)).digits(width))
    }

    /// Whether one is less than the other, or they are equal. Two addresses that start from one base compare alike
    /// wherever that is, as long as nothing wraps around, as what lies a little below some of `wrapping` might.
    pub(super) fn compared(self, other: Self, wrapping: u128) -> Self {
        let distance = self.difference(other, ALL).filter(|_| self.based & wrapping == 0);
        distance.unwrap_or_else(|| self.join(other)).mixed(1)
    }

    /// With the bits of `other` set, cleared or inverted.
    pub(super) fn with_bits(self, other: Self, width: u8) -> Self {
        let (address, number) = if self.based == 0 { (other, self) } else { (self, other) };
        if address.based == 0 || number.based != 0 {
            return self.join(other).digits(width);
        }
        let dependence = address.plus(number, width);
        // What is set is the lower bits of the address, minus what they were.
        dependence.reading(address.based, number.width, 0)
    }

    /// Rounded down to a multiple of `2^bits`: without its lowest bits.
    pub(super) const fn rounded(self, bits: u8) -> Self {
        self.reading(self.based, bits, 0)
    }
}
