//! The modifiers of mnemonics: the words behind an opcode that are neither types nor state spaces.

use std::fmt;

macro_rules! modifiers {
    ($($variant:ident $($word:literal)+;)*) => {
        /// A modifier; words with the same meaning share one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the names are the manual's")]
        #[repr(u8)]
        pub enum Modifier { $($variant,)* }

        impl Modifier {
            const ALL: &'static [(Self, &'static str)] = &[$((Self::$variant, [$($word),+][0]),)*];

            /// Returns the modifier with this spelling, which is given without its dot.
            pub fn from_word(word: &str) -> Option<Self> {
                Some(match word { $($($word)|+ => Self::$variant,)* _ => return None })
            }
        }
    };
}

modifiers! {
    Lo "lo"; Hi "hi"; Wide "wide"; Sat "sat"; Satfinite "satfinite"; Cc "cc";
    Rn "rn"; Rz "rz"; Rm "rm"; Rp "rp"; Rna "rna"; Rs "rs"; Rni "rni"; Rzi "rzi"; Rmi "rmi"; Rpi "rpi";
    Approx "approx"; Full "full"; Ftz "ftz"; Relu "relu"; Nan "NaN"; Xorsign "xorsign"; Abs "abs"; Oob "oob";
    Eq "eq"; Ne "ne"; Lt "lt"; Le "le"; Gt "gt"; Ge "ge"; Ls "ls"; Hs "hs";
    Equ "equ"; Neu "neu"; Ltu "ltu"; Leu "leu"; Gtu "gtu"; Geu "geu"; Num "num"; IsNan "nan";
    And "and"; Or "or"; Xor "xor"; Popc "popc"; Add "add"; Min "min"; Max "max"; Inc "inc"; Dec "dec";
    Cas "cas"; Exch "exch"; Noftz "noftz"; Shiftamt "shiftamt";
    Finite "finite"; Infinite "infinite"; Number "number"; NotANumber "notanumber"; Normal "normal"; Subnormal "subnormal";
    Proxy "proxy"; MbarrierInit "mbarrier_init"; Parity "parity"; NoComplete "noComplete"; ExpectTx "expect_tx"; NoInc "noinc";
    Sync "sync"; Arrive "arrive"; Red "red"; Aligned "aligned"; Warp "warp";
    Cta "cta"; Gpu "gpu" "gl"; Sys "sys"; Cluster "cluster";
    Volatile "volatile"; Relaxed "relaxed"; Acquire "acquire"; Release "release"; AcqRel "acq_rel"; Sc "sc";
    Weak "weak"; Mmio "mmio";
    Up "up"; Down "down"; Bfly "bfly"; Idx "idx"; All "all"; Any "any"; Uni "uni"; Ballot "ballot";
    Left "l"; Right "r"; Clamp "clamp"; Wrap "wrap";
    F4e "f4e"; B4e "b4e"; Rc8 "rc8"; Ecl "ecl"; Ecr "ecr"; Rc16 "rc16";
    To "to"; V2 "v2"; V4 "v4"; V8 "v8"; Nc "nc";
    M8n8 "m8n8"; X1 "x1"; X2 "x2"; X4 "x4"; Trans "trans";
    // Bulk copies.
    Multicast "multicast::cluster";
    FourRows "tile::gather4" "tile::scatter4";
    // Cache hints change no result. One has an operand.
    CacheHint "L2::cache_hint";
    Cache "ca" "cg" "cs" "lu" "cv" "wb" "wt" "L1" "L2" "L1::evict_normal" "L1::evict_unchanged" "L1::evict_first"
        "L1::evict_last" "L1::no_allocate" "L2::evict_last" "L2::evict_normal" "L2::evict_first"
        "L2::64B" "L2::128B" "L2::256B" "unified";
}

impl fmt::Display for Modifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word =
            Self::ALL.iter().find(|(modifier, _)| modifier == self).map_or("", |(_, word)| word);
        f.write_str(word)
    }
}

/// A set of modifiers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Modifiers(u128);

impl Modifiers {
    /// Adds a modifier.
    pub fn insert(&mut self, modifier: Modifier) {
        self.0 |= 1 << (modifier as u8);
    }

    /// Whether the set contains a modifier.
    pub const fn has(self, modifier: Modifier) -> bool {
        self.0 & (1 << (modifier as u8)) != 0
    }

    /// Returns the first of the candidates that the set contains.
    pub fn first_of(self, candidates: &[Modifier]) -> Option<Modifier> {
        candidates.iter().copied().find(|&modifier| self.has(modifier))
    }
}
