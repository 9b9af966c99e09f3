//! Decodes a mnemonic into its row of the table, types, state space and modifiers.

use std::sync::OnceLock;

use foldhash::HashMap;

use super::{Effect, Family, InstructionRow, Modifier, Modifiers, Opcode, TABLE, TensorForm};
use crate::ptx::{Space, Type};

/// A decoded mnemonic.
#[derive(Clone, Copy, Debug)]
pub struct Decoded {
    /// Its row of the table.
    pub row: &'static InstructionRow,
    /// The types in the order written; the first is the type of the result.
    pub types: [Option<Type>; 3],
    /// The state space as written; generic if none is written.
    pub space: Space,
    /// Modifiers.
    pub modifiers: Modifiers,
    /// For products of matrices by a warpgroup, the number of columns of the product; 0 for other instructions.
    pub columns: u16,
    /// For instructions of tensor memory, what they access.
    pub tensor: TensorForm,
    /// Whether a modifier is unknown, so that the instruction might not do what its row says.
    pub is_strange: bool,
    /// Whether it acts on the shared memory of some cta of the cluster: `.shared::cluster`.
    pub reaches_cluster: bool,
    /// Whether it is the load or the store that the linker makes of an asynchronous copy (`flow/copy.rs`). A decoded mnemonic is
    /// neither.
    pub is_asynchronous: bool,
}

/// What an instruction computes, whatever its operands are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Meaning {
    opcode: Opcode,
    types: [Option<Type>; 3],
    space: Space,
    modifiers: Modifiers,
}

impl Decoded {
    /// Returns what it computes: instructions of one meaning do the same.
    pub const fn meaning(&self) -> Meaning {
        let Self { row, types, space, modifiers, .. } = *self;
        Meaning { opcode: row.opcode, types, space, modifiers }
    }

    /// Whether it is a fence that orders memory. Fences between proxies order accesses of different kinds, and
    /// `fence.mbarrier_init` makes mbarrier objects visible to other ctas.
    pub fn is_memory_fence(&self) -> bool {
        const OTHER: [Modifier; 2] = [Modifier::Proxy, Modifier::MbarrierInit];
        self.row.effect == Effect::MemoryFence && self.modifiers.first_of(&OTHER).is_none()
    }

    /// Whether it is a load or a store that is strong (PTX ISA, "Memory Consistency Model").
    pub fn is_strong_access(&self) -> bool {
        const STRONG: [Modifier; 6] = [
            Modifier::Volatile,
            Modifier::Relaxed,
            Modifier::Mmio,
            Modifier::Acquire,
            Modifier::Release,
            Modifier::AcqRel,
        ];
        self.row.family == Family::Access && self.modifiers.first_of(&STRONG).is_some()
    }

    /// Returns the first type, `.b32` if none is written.
    pub fn ty(&self) -> Type {
        self.types[0].unwrap_or(Type::B32)
    }

    /// Whether it computes a floating-point number.
    pub fn is_float_arithmetic(&self) -> bool {
        let is_arithmetic = self.row.family == Family::Arithmetic;
        is_arithmetic && self.row.effect == Effect::Compute && self.ty().is_float()
    }

    /// Whether it compares floating-point numbers.
    pub fn is_float_comparison(&self) -> bool {
        matches!(self.row.opcode, Opcode::Setp | Opcode::Set) && self.source_type().is_float()
    }

    /// Returns the second type, or the first if only one is written.
    pub fn source_type(&self) -> Type {
        self.types[1].unwrap_or_else(|| self.ty())
    }

    /// Returns the number of elements of a vector access: 1, 2, 4 or 8.
    pub fn vector(&self) -> u8 {
        match self.modifiers.first_of(&[Modifier::V2, Modifier::V4, Modifier::V8]) {
            Some(Modifier::V2) => 2,
            Some(Modifier::V4) => 4,
            Some(_) => 8,
            None => 1,
        }
    }

    /// Returns the number of rows, of 16 bytes each, that `ldmatrix` and `stmatrix` access: 8 for each 8x8 matrix of 16-bit
    /// elements. `None` for other instructions, for other shapes of matrices, and without `.shared`: an address outside of
    /// shared memory is undefined.
    pub fn matrix_rows(&self) -> Option<u8> {
        let is_of_rows = matches!(self.row.opcode, Opcode::Ldmatrix | Opcode::Stmatrix)
            && self.modifiers.has(Modifier::M8n8)
            && self.types == [Some(Type::B16), None, None]
            && self.space == Space::Shared
            && !self.is_strange;
        match self.modifiers.first_of(&[Modifier::X1, Modifier::X2, Modifier::X4])? {
            _ if !is_of_rows => None,
            Modifier::X1 => Some(8),
            Modifier::X2 => Some(16),
            _ => Some(32),
        }
    }

    /// Whether it multiplies matrices in shared memory as a part of a warpgroup, in a form that is modelled.
    pub fn is_product(&self) -> bool {
        self.row.effect == Effect::Multiply && self.columns > 0 && !self.is_strange
    }

    /// Whether it is a `cp.async` from global to shared memory that is completed by groups. Bulk copies and what arrives at an
    /// mbarrier have words that are unknown.
    pub fn is_copy(&self) -> bool {
        let is_plain = self.types == [None; 3] && !self.is_strange;
        self.row.opcode == Opcode::CpAsync && self.space == Space::Global && is_plain
    }

    /// Whether it copies a box of a tensor.
    pub const fn is_tensor_copy(&self) -> bool {
        matches!(self.row.opcode, Opcode::TensorCopy | Opcode::TensorReduce)
    }

    /// Whether it acts on tensor memory, or waits for those that do.
    pub fn is_of_tensor_memory(&self) -> bool {
        self.row.effect == Effect::TensorMemory || self.row.opcode == Opcode::TensorCommit
    }

    /// Whether it waits for loads or stores of tensor memory.
    pub fn is_tensor_wait(&self) -> bool {
        matches!(self.row.opcode, Opcode::TensorWaitLoad | Opcode::TensorWaitStore)
    }

    /// Whether it allocates tensor memory.
    pub fn is_allocation(&self) -> bool {
        self.row.opcode == Opcode::TensorAlloc
    }

    /// Whether it is a tensor copy from global to shared memory: the space that it reads is written last.
    pub fn loads_tensor(&self) -> bool {
        self.row.opcode == Opcode::TensorCopy && self.space == Space::Global
    }
}

/// Decodes a mnemonic; `None` if no row of the table fits.
pub fn decode(mnemonic: &str) -> Option<Decoded> {
    let row = find(mnemonic)?;
    let mut decoded = Decoded {
        row,
        types: [None; 3],
        space: Space::Generic,
        modifiers: Modifiers::default(),
        columns: 0,
        tensor: TensorForm::default(),
        is_strange: false,
        reaches_cluster: false,
        is_asynchronous: false,
    };
    for word in mnemonic.split('.').skip(1) {
        decoded.word(word);
    }
    Some(decoded)
}

impl Decoded {
    fn word(&mut self, word: &str) {
        let is_of_pair = self.is_tensor_copy() && word.starts_with("cta_group::");
        if (is_of_pair || self.is_of_tensor_memory()) && self.tensor.word(word) {
            return;
        }
        if let Some(ty) = Type::from_suffix(word) {
            match self.types.iter_mut().find(|slot| slot.is_none()) {
                Some(slot) => *slot = Some(ty),
                None => self.is_strange = true,
            }
        } else if let Some(space) = space(word) {
            self.space = space;
            self.reaches_cluster |= word == CLUSTER_SPACE;
        } else if let Some(modifier) = Modifier::from_word(word) {
            self.modifiers.insert(modifier);
        } else if let Some(columns) = columns(word).filter(|_| self.row.effect == Effect::Multiply)
        {
            self.columns = columns;
        } else {
            let is_own = self.row.pattern.split('.').any(|part| part == word)
                || self.is_tensor_copy() && TENSOR_WORDS.contains(&word);
            self.is_strange |= !is_own;
        }
    }
}

/// The shared memory of all ctas of a cluster.
const CLUSTER_SPACE: &str = "shared::cluster";

/// Returns the number of columns of a shape such as `m64n128k16`.
fn columns(word: &str) -> Option<u16> {
    let (columns, _) = word.strip_prefix("m64n")?.split_once('k')?;
    columns.parse().ok().filter(|columns| (8..=256).contains(columns) && columns % 8 == 0)
}

/// Words of tensor copies that change nothing of what is followed.
const TENSOR_WORDS: [&str; 12] = [
    "1d",
    "2d",
    "3d",
    "4d",
    "5d",
    "tile",
    "im2col",
    "im2col::w",
    "im2col::w::128",
    "im2col_no_offs",
    "mbarrier::complete_tx::bytes",
    "bulk_group",
];

fn space(word: &str) -> Option<Space> {
    Some(match word {
        "const" => Space::Const,
        "global" => Space::Global,
        "local" => Space::Local,
        "param" | "param::entry" | "param::func" => Space::Param,
        "shared" | "shared::cta" | CLUSTER_SPACE => Space::Shared,
        _ => return None,
    })
}

fn find(mnemonic: &str) -> Option<&'static InstructionRow> {
    static BY_FIRST_WORD: OnceLock<HashMap<&str, Vec<&InstructionRow>>> = OnceLock::new();
    let rows = BY_FIRST_WORD.get_or_init(|| {
        let mut rows: HashMap<&str, Vec<&InstructionRow>> = HashMap::default();
        for row in TABLE {
            rows.entry(first_word(row.pattern)).or_default().push(row);
        }
        rows
    });
    let candidates = rows.get(first_word(mnemonic))?;
    candidates
        .iter()
        .copied()
        .filter(|row| starts_with(mnemonic, row.pattern))
        .max_by_key(|row| row.pattern.len())
}

fn first_word(mnemonic: &str) -> &str {
    mnemonic.split('.').next().unwrap_or(mnemonic)
}

fn starts_with(mnemonic: &str, pattern: &str) -> bool {
    mnemonic.strip_prefix(pattern).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::super::{Effect, Opcode};
    use super::*;

    #[test]
    fn the_longest_pattern_counts() {
        let opcode = |mnemonic| decode(mnemonic).map(|decoded| decoded.row.opcode);
        assert_eq!(opcode("bar.warp.sync"), Some(Opcode::BarWarp));
        assert_eq!(opcode("bar.sync"), Some(Opcode::Bar));
        assert_eq!(opcode("bar.red.popc.u32"), Some(Opcode::BarRed));
        assert_eq!(opcode("barrier.cluster.arrive.aligned"), Some(Opcode::ClusterArrive));
        assert_eq!(opcode("red.global.add.u32"), Some(Opcode::AtomNoReturn));
        assert_eq!(opcode("frobnicate.u32"), None);
    }

    #[test]
    fn fences_of_proxies_order_no_memory() {
        let is_fence = |mnemonic| decode(mnemonic).is_some_and(|own| own.is_memory_fence());
        for fence in ["membar.gl", "fence.acq_rel.gpu", "fence.sc.cta"] {
            assert!(is_fence(fence), "{fence}");
        }
        for other in [
            "fence.proxy.async",
            "fence.proxy.async.shared::cta",
            "fence.proxy.alias",
            "fence.mbarrier_init.release.cluster",
        ] {
            assert!(!is_fence(other), "{other}");
        }
        let effect = |mnemonic| decode(mnemonic).map(|own| own.row.effect);
        assert_eq!(effect("fence.proxy.async.shared::cta"), Some(Effect::ProxyFence));
        assert_eq!(effect("fence.proxy.alias"), Some(Effect::MemoryFence));
    }

    #[test]
    fn mnemonics_come_apart() {
        let ld = decode("ld.volatile.shared::cta.v4.f32").unwrap();
        assert_eq!(
            (ld.row.effect, ld.space, ld.ty(), ld.vector()),
            (Effect::Load, Space::Shared, Type::F32, 4)
        );
        assert!(ld.modifiers.has(Modifier::Volatile) && !ld.is_strange);
        assert!(decode("ld.global.quickly.u32").unwrap().is_strange);
    }

    #[test]
    fn patterns_are_unique() {
        let mut patterns: Vec<_> = TABLE.iter().map(|row| row.pattern).collect();
        patterns.sort_unstable();
        patterns.dedup();
        assert_eq!(patterns.len(), TABLE.len());
    }
}
