//! Values and memory of the reference machine, each with what it depends on.

/// What a value depends on, as a set of bits.
pub(crate) type Rests = u8;
/// Initial contents of shared or local memory that nothing wrote.
pub(crate) const UNSET: Rests = 1;
/// Contents of memory that threads share, which depend on the schedule if there are races.
pub(crate) const SHARED: Rests = 2;
/// The order of atomics.
pub(crate) const ORDER: Rests = 4;
/// The argument; below: the buffer of words, and the buffer of bytes.
pub(crate) const NUMBER: Rests = 8;
pub(crate) const DATA: Rests = 16;
pub(crate) const OUT: Rests = 32;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) bits: u32,
    pub(crate) rests: Rests,
}

impl Value {
    pub(crate) const fn known(bits: u32) -> Self {
        Self { bits, rests: 0 }
    }

    /// Returns this value with further dependences.
    pub(crate) const fn on(self, rests: Rests) -> Self {
        Self { rests: self.rests | rests, ..self }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Byte {
    byte: u8,
    rests: Rests,
}

/// The contents of an array.
#[derive(Clone, Debug)]
pub(crate) struct Memory(Vec<Byte>);

impl Memory {
    pub(crate) fn given(bytes: impl IntoIterator<Item = u8>, rests: Rests) -> Self {
        Self(bytes.into_iter().map(|byte| Byte { byte, rests }).collect())
    }

    pub(crate) fn unset(bytes: usize, fill: u32) -> Self {
        let byte = |at| Byte { byte: filler(fill, at), rests: UNSET };
        Self((0..bytes).map(byte).collect())
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.len()
    }

    /// Loads a little-endian value.
    pub(crate) fn load(&self, at: usize, bytes: usize) -> Value {
        let mut value = Value::default();
        for (shift, byte) in self.0[at..at + bytes].iter().enumerate() {
            value.rests |= byte.rests;
            // Registers keep the lower four of eight bytes.
            if shift < 4 {
                value.bits |= u32::from(byte.byte) << (8 * shift);
            }
        }
        value
    }

    pub(crate) fn store(&mut self, at: usize, bytes: usize, value: Value) {
        for (shift, byte) in self.0[at..at + bytes].iter_mut().enumerate() {
            *byte = Byte { byte: byte_of(value, shift), rests: value.rests };
        }
    }
}

/// Returns a byte of a stored value; bytes beyond the fourth are zero.
pub(crate) fn byte_of(value: Value, at: usize) -> u8 {
    value.bits.to_le_bytes().get(at).copied().unwrap_or(0)
}

/// Returns a byte of the initial contents: words are 0 or 1, in one of eight fillings the largest number.
pub(crate) fn filler(fill: u32, at: usize) -> u8 {
    if fill.is_multiple_of(8) {
        return u8::MAX;
    }
    let word = u32::try_from(at / 4).expect("arrays are small");
    u8::from(at.is_multiple_of(4) && (fill ^ word).wrapping_mul(0x9e37_79b9) >> 31 == 1)
}
