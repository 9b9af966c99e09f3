//! The words of the mnemonics of tensor memory (PTX ISA §9.7.16) that say what an instruction accesses.

/// What the mnemonic of an instruction of tensor memory says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TensorForm {
    /// The number of ctas whose tensor memory it acts on: 1 or 2; 0 if none is written.
    pub ctas: u8,
    /// The lanes that it accesses: of a load or store, those of its warp; of a copy, the rows that it reads.
    pub lanes: u8,
    /// The columns that it accesses, of 32 bits each.
    pub columns: u16,
    /// Whether a load or store accesses columns of its own in each half of its lanes: `.16x32bx2`.
    pub is_split: bool,
    /// Whether a product is one of 16-bit numbers.
    pub is_of_halves: bool,
}

impl TensorForm {
    /// Takes in a word of a mnemonic. Returns whether it is known.
    pub(super) fn word(&mut self, word: &str) -> bool {
        if let Some(times) = word.strip_prefix('x').and_then(|times| times.parse::<u16>().ok()) {
            self.columns = self.columns.saturating_mul(times);
            return times.is_power_of_two() && times <= 128;
        }
        match word {
            "cta_group::1" => self.ctas = 1,
            "cta_group::2" => self.ctas = 2,
            "kind::f16" => self.is_of_halves = true,
            "pack::16b" | "unpack::16b" => self.columns = self.columns.saturating_mul(2),
            _ => return IGNORED.contains(&word) || self.shape(word),
        }
        true
    }

    fn shape(&mut self, word: &str) -> bool {
        (self.lanes, self.columns) = match word {
            "32x32b" => (32, 1),
            "16x64b" => (16, 2),
            "16x128b" => (16, 4),
            "16x256b" => (16, 8),
            "16x32bx2" => (16, 1),
            "32x128b" => (32, 4),
            "64x128b" => (64, 4),
            "128x128b" => (128, 4),
            "128x256b" => (128, 8),
            _ => return false,
        };
        self.is_split = word == "16x32bx2";
        true
    }
}

/// Words that change nothing of what is followed.
const IGNORED: [&str; 11] = [
    "kind::tf32",
    "kind::f8f6f4",
    "kind::i8",
    "collector::a::fill",
    "collector::a::use",
    "collector::a::lastuse",
    "collector::a::discard",
    "warpx2::02_13",
    "warpx2::01_23",
    "warpx4",
    "mbarrier::arrive::one",
];

#[cfg(test)]
mod tests {
    use crate::ptx::isa::decode;

    #[test]
    fn words_say_what_is_accessed() {
        let form = |mnemonic| {
            let own = decode(mnemonic).expect("the table has it");
            assert!(!own.is_strange, "{mnemonic}");
            (own.tensor.ctas, own.tensor.lanes, own.tensor.columns)
        };
        assert_eq!(form("tcgen05.ld.sync.aligned.32x32b.x64.b32"), (0, 32, 64));
        assert_eq!(form("tcgen05.ld.sync.aligned.16x256b.x4.pack::16b.b32"), (0, 16, 64));
        assert_eq!(form("tcgen05.cp.cta_group::2.32x128b.warpx4"), (2, 32, 4));
        assert_eq!(form("tcgen05.mma.cta_group::1.kind::tf32.collector::a::lastuse"), (1, 0, 0));
        assert!(decode("tcgen05.mma.ws.cta_group::1.kind::f16").is_some_and(|own| own.is_strange));
    }
}
