//! Words of global and shared memory, by which facts about single bytes are kept.

/// Four bytes of memory, at a multiple of four.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Word {
    pub(crate) is_global: bool,
    /// Its address divided by the size of a word.
    number: u64,
}

impl Word {
    /// Bytes in a word.
    pub(crate) const SIZE: u64 = 4;

    /// The word that contains a byte.
    pub(crate) const fn of(is_global: bool, byte: u64) -> Self {
        Self { is_global, number: byte / Self::SIZE }
    }

    /// Address of the first byte.
    pub(crate) const fn start(self) -> u64 {
        self.number * Self::SIZE
    }

    /// Iterates over the words that contain some of these bytes, ascending.
    pub(crate) fn all(is_global: bool, address: u64, bytes: u32) -> impl Iterator<Item = Self> {
        let last = address.saturating_add(u64::from(bytes).saturating_sub(1));
        (address / Self::SIZE..=last / Self::SIZE).map(move |number| Self { is_global, number })
    }
}
