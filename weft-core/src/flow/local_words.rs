//! Holds words of local memory in registers. Unoptimised code keeps all variables in local memory; the analyses of loops and
//! branches follow only registers.
//!
//! A word is held in a register if all that accesses it are plain loads and stores of that word and no other bytes, at
//! known addresses.

use std::collections::{BTreeMap, BTreeSet};

use smallvec::{SmallVec, smallvec};

use super::call::computed;
use super::constants::Constants;
use super::local_addresses::followed;
use super::program::{Instr, Operand, Pc, Program, Reg};
use crate::ptx::Space;
use crate::ptx::isa::{Decoded, Effect};

/// The most times that addresses and variables are found anew.
const MOST_ROUNDS: u32 = 8;

/// The first byte of a word of local memory, and its size in bytes.
type LocalWord = (u64, u64);

/// The instructions that replace one.
type Replacement = SmallVec<[Instr; 2]>;

/// Gives each word of local memory that a register can hold a register of its own, and replaces its loads and stores by moves.
pub(super) fn hold_in_registers(program: &mut Program) {
    if program.symbols.iter().all(|symbol| symbol.space != Space::Local) {
        return;
    }
    let (constants, extents) = accesses(program);
    let unset = unset(program);
    let mut held = HeldWords { registers: BTreeMap::new() };
    for word in words(program, (&constants, &extents), &unset) {
        held.registers.insert(word.0, (word.1, Reg(program.registers)));
        program.registers += 1;
    }
    if held.registers.is_empty() {
        return;
    }
    let mut code = Vec::with_capacity(program.code.len());
    let mut moved = Vec::with_capacity(program.code.len() + 1);
    for instr in std::mem::take(&mut program.code) {
        moved.push(Pc::at(code.len()));
        let is_unset = is_unset(&instr, &unset);
        code.extend(held.replaced(instr, &constants, is_unset));
    }
    moved.push(Pc::at(code.len()));
    program.code = code;
    for block in &mut program.blocks {
        block.first = moved[block.first.index()];
        block.end = moved[block.end.index()];
    }
}

/// The known addresses of local memory, and the first and the last byte of each variable that only instructions access
/// with such addresses, ascending.
///
/// An address is known if it depends on no memory but these variables: a store at an unknown address might change other
/// memory. Addresses and variables follow from each other, so both are found together, beginning with all variables.
fn accesses(program: &Program) -> (Constants, Vec<(u64, u64)>) {
    let mut constants = Constants::of(program);
    let mut extents = followed(program, &constants);
    for _ in 0..MOST_ROUNDS {
        constants = Constants::following(program, extents.clone());
        let now = followed(program, &constants);
        let kept: Vec<_> = extents.iter().copied().filter(|extent| now.contains(extent)).collect();
        if kept.len() == extents.len() {
            return (constants, extents);
        }
        extents = kept;
    }
    (constants, Vec::new())
}

/// The registers that nothing gives a value. The linker stores them to mark memory as new.
fn unset(program: &Program) -> Vec<bool> {
    let mut is_unset = vec![true; program.registers as usize];
    for instr in &program.code {
        if !matches!(instr.sources[..], [Operand::Unset]) {
            instr.dests.iter().flatten().for_each(|dest| is_unset[dest.index()] = false);
        }
    }
    is_unset
}

/// Whether an instruction is a store that only marks memory as new.
fn is_unset(instr: &Instr, unset: &[bool]) -> bool {
    let is_of_new =
        |source: &Operand| matches!(source, Operand::Register(register) if unset[register.index()]);
    instr.effect() == Effect::Store && instr.sources.iter().all(is_of_new)
}

/// The words that registers can hold.
fn words(
    program: &Program,
    (constants, extents): (&Constants, &[(u64, u64)]),
    unset: &[bool],
) -> BTreeSet<LocalWord> {
    let accesses: Vec<(bool, Vec<LocalWord>)> = program
        .code
        .iter()
        .filter(|instr| instr.address.is_some() && !is_unset(instr, unset))
        .map(|instr| (is_plain(instr), constants.elements(instr)))
        .collect();
    let is_followed = |(first, bytes): LocalWord| {
        let at = extents.partition_point(|(start, _)| *start <= first);
        at.checked_sub(1).is_some_and(|at| first + (bytes - 1) <= extents[at].1)
    };
    let mut all: BTreeSet<LocalWord> = BTreeSet::new();
    let mut refused = BTreeSet::new();
    for (is_plain, elements) in &accesses {
        all.extend(elements);
        let refuses = |word: &&LocalWord| !is_plain || word.1 > 8 || !is_followed(**word);
        refused.extend(elements.iter().filter(refuses));
    }
    // No register can hold a word that overlaps another one.
    let mut reached: Option<LocalWord> = None;
    for word in &all {
        if let Some(before) = reached.filter(|before| word.0 < before.0 + before.1) {
            refused.extend([before, *word]);
        }
        reached = reached.into_iter().chain([*word]).max_by_key(|word| word.0 + word.1);
    }
    // A vector is held in registers as a whole.
    loop {
        let before = refused.len();
        for (_, elements) in &accesses {
            if elements.iter().any(|word| refused.contains(word)) {
                refused.extend(elements);
            }
        }
        if refused.len() == before {
            break;
        }
    }
    all.difference(&refused).copied().collect()
}

/// Whether an instruction is a load or store that accesses memory once.
fn is_plain(instr: &Instr) -> bool {
    let is_plain = |decoded: &Decoded| {
        matches!(decoded.row.effect, Effect::Load | Effect::Store) && !decoded.is_asynchronous
    };
    instr.decoded().is_some_and(is_plain)
}

/// The words that registers hold.
struct HeldWords {
    /// The size and the register of each word, by its first byte.
    registers: BTreeMap<u64, (u64, Reg)>,
}

impl HeldWords {
    /// Returns what replaces an instruction.
    fn replaced(&self, instr: Instr, constants: &Constants, is_unset: bool) -> Replacement {
        let elements = constants.elements(&instr);
        if is_unset {
            return self.marked_as_new(instr, &elements);
        }
        let held: Option<SmallVec<[Reg; 2]>> =
            elements.iter().map(|word| Some(self.registers.get(&word.0)?.1)).collect();
        let (Some(decoded), Some(held)) = (instr.decoded(), held) else { return smallvec![instr] };
        if held.is_empty() {
            return smallvec![instr];
        }
        let of = |to: Reg, from: Operand, mnemonic: &str| Instr {
            guard: instr.guard,
            ..computed(mnemonic, to, &[from], instr.place)
        };
        if decoded.row.effect == Effect::Store {
            let stored = instr.sources.iter().zip(held);
            return stored.map(|(from, word)| of(word, *from, kept(decoded))).collect();
        }
        let loaded = instr.dests.iter().zip(held);
        let loaded = loaded.filter_map(|(dest, word)| Some(((*dest)?, word)));
        loaded.map(|(dest, word)| of(dest, Operand::Register(word), extended(decoded))).collect()
    }

    /// A store that marks memory as new, and moves that mark the words in it.
    fn marked_as_new(&self, store: Instr, elements: &[LocalWord]) -> Replacement {
        let mut marked = Replacement::new();
        for (first, bytes) in elements {
            let words = self.registers.range(first.saturating_sub(7)..first + bytes);
            for (_, (_, word)) in words.filter(|(start, (size, _))| *start + size > *first) {
                let marks = computed("mov.b64", *word, &[Operand::Unset], store.place);
                marked.push(Instr { guard: store.guard, ..marks });
            }
        }
        marked.push(store);
        marked
    }
}

/// The instruction by which a register takes what a store would write: the low bits of a register that can be wider.
fn kept(store: &Decoded) -> &'static str {
    match store.ty().bytes() {
        1 => "cvt.u16.u8",
        2 => "cvt.u16.u16",
        4 => "cvt.u32.u32",
        _ => "mov.b64",
    }
}

/// The instruction that gives what a load would read.
fn extended(load: &Decoded) -> &'static str {
    match (load.ty().is_signed(), load.ty().bytes()) {
        (true, 1) => "cvt.s64.s8",
        (true, 2) => "cvt.s64.s16",
        (true, 4) => "cvt.s64.s32",
        (_, 4) => "mov.b32",
        (_, 8) => "mov.b64",
        _ => "mov.b16",
    }
}
