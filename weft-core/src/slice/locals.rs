//! Finds the stores to local memory that matter: if all loads that are kept name the words that they load, stores that
//! name other words do not matter. Named words hold the parameters and results of functions.

use foldhash::{HashMap, HashSet};

use crate::flow::{Instr, Pc, Program};
use crate::ptx::Space;
use crate::ptx::isa::Effect;

/// Bytes of a word: as long as most elements, so that most accesses name one word.
const WORD: u64 = 8;

/// The loads and stores of local memory.
#[derive(Default)]
pub(super) struct Locals {
    /// The stores that name a word, by word.
    stores: HashMap<u64, Vec<Pc>>,
    /// The words that kept instructions load by name.
    loaded: HashSet<u64>,
    /// The loaded words that [`Locals::next_loaded`] has not returned yet.
    new: Vec<u64>,
    /// Whether a kept instruction loads through a register, which might lead to any word.
    all: bool,
}

impl Locals {
    pub(super) fn of(program: &Program) -> Self {
        let mut locals = Self::default();
        for (instr, pc) in program.code.iter().zip((0..).map(Pc)) {
            if matches!(instr.effect(), Effect::Store | Effect::Atomic) {
                for word in named(instr).into_iter().flatten() {
                    locals.stores.entry(word).or_default().push(pc);
                }
            }
        }
        locals
    }

    /// Takes a load into account. Returns whether it is the first load that might load any word. A load that names its
    /// words adds them to those that `next_loaded` returns.
    pub(super) fn load(&mut self, instr: &Instr) -> bool {
        if let Some(words) = named(instr) {
            self.new.extend(words.filter(|word| self.loaded.insert(*word)));
            return false;
        }
        let space = instr.address.map(|address| address.space);
        let is_any = matches!(space, Some(Space::Local | Space::Generic));
        is_any && !std::mem::replace(&mut self.all, true)
    }

    /// Returns a word that was loaded by name and has not been returned before.
    pub(super) fn next_loaded(&mut self) -> Option<u64> {
        self.new.pop()
    }

    /// Returns the stores that name a word.
    pub(super) fn stores(&self, word: u64) -> Vec<Pc> {
        self.stores.get(&word).cloned().unwrap_or_default()
    }

    /// Whether an access names only local memory that nothing kept loads.
    pub(super) fn is_of_no_use(&self, instr: &Instr) -> bool {
        let is_loaded = |word: u64| self.loaded.contains(&word);
        !self.all && named(instr).is_some_and(|mut words| !words.any(is_loaded))
    }
}

/// Returns the words of local memory that an access names; `None` if it goes through a register.
fn named(instr: &Instr) -> Option<impl Iterator<Item = u64> + use<>> {
    let (first, decoded) = (instr.address?.named_local()?, instr.decoded()?);
    let bytes = u64::from(decoded.ty().bytes() * u32::from(decoded.vector()));
    let last = first.saturating_add(bytes.saturating_sub(1));
    Some(first / WORD..=last / WORD)
}
