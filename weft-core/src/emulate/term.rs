//! Open values: what they come from, and, for the pass that explains races, which of them are provably the same.

use std::collections::HashMap;

use crate::flow::Pc;

/// Where an open value comes from first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The value of a kernel argument, by position.
    Argument(usize),
    /// The contents of the buffer behind a pointer argument.
    Contents(usize),
    /// The contents of a variable that has no initial value, by index of the program's symbols.
    Symbol(usize),
    /// Memory that nothing wrote, read here.
    Unwritten(Pc),
    /// The result of an atomic.
    Atomic(Pc),
    /// The result of an instruction that is not modelled.
    Unsupported(Pc),
    /// A special register that only the hardware knows.
    Hardware(Pc),
    /// A volatile or relaxed load: what it sees is up to the schedule.
    Strong(Pc),
    /// A register that nothing wrote.
    Register,
}

/// What an open value has to do with addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Region {
    /// No address is in it: added to a pointer, it leads to somewhere in the pointer's buffer.
    Number,
    /// An address in the buffer of this argument.
    Buffer(usize),
    /// Addresses are in it in some other way, such as a difference of pointers.
    Unclear,
}

/// What makes two terms the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    /// In the pass that decides: only where it comes from.
    From(Origin, Region),
    /// Initial contents of memory: address and bytes.
    Initial(Origin, u64, u32),
    /// An operation, by its decoded instruction, on these operands; the flag says that an operand is a term.
    Operation(u64, Vec<(bool, u64)>),
}

#[derive(Clone, Copy, Debug)]
struct Term {
    origin: Origin,
    region: Region,
    is_unique: bool,
}

/// All open values of a run.
#[derive(Debug)]
pub struct Terms {
    all: Vec<Term>,
    known: HashMap<Key, u32>,
    /// Whether operations are told apart.
    exact: bool,
}

/// Beyond this many, open values lose their identity and keep their origin.
const MAX_TERMS: usize = 1 << 20;

impl Terms {
    /// `exact`: values get an identity beyond their origin.
    pub fn new(exact: bool) -> Self {
        Self { all: Vec::new(), known: HashMap::new(), exact }
    }

    /// Where a value comes from.
    pub fn origin(&self, term: u32) -> Option<Origin> {
        self.all.get(term as usize).map(|term| term.origin)
    }

    /// What a value has to do with addresses.
    pub fn region(&self, term: u32) -> Region {
        self.all.get(term as usize).map_or(Region::Unclear, |term| term.region)
    }

    /// Whether two open values are provably equal.
    pub fn same(&self, a: u32, b: u32) -> bool {
        self.exact && a == b && self.all.get(a as usize).is_some_and(|term| !term.is_unique)
    }

    fn intern(&mut self, key: Key, term: Term) -> u32 {
        if self.all.len() >= MAX_TERMS {
            return self.shared(Term { is_unique: true, ..term });
        }
        let next = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        let id = *self.known.entry(key).or_insert(next);
        if id == next {
            self.all.push(term);
        }
        id
    }

    /// The one term that stands for all values of an origin.
    fn shared(&mut self, term: Term) -> u32 {
        let next = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        let id = *self.known.entry(Key::From(term.origin, term.region)).or_insert(next);
        if id == next {
            self.all.push(term);
        }
        id
    }

    /// A value that equals no other.
    pub fn fresh(&mut self, origin: Origin) -> u32 {
        self.shared(Term { origin, region: Region::Number, is_unique: true })
    }

    /// A value that equals no other, and may be an address or a difference of them: one of several values.
    pub fn unclear(&mut self, origin: Origin) -> u32 {
        self.shared(Term { origin, region: Region::Unclear, is_unique: true })
    }

    /// What memory held before the launch.
    pub fn initial(&mut self, origin: Origin, address: u64, bytes: u32) -> u32 {
        let term = Term { origin, region: Region::Number, is_unique: false };
        if self.exact {
            self.intern(Key::Initial(origin, address, bytes), term)
        } else {
            self.shared(term)
        }
    }

    /// The result of an operation with an open operand: its origin is that of the first open one. `region`: what the
    /// result has to do with addresses.
    pub fn operation(&mut self, opcode: u64, operands: &[(bool, u64)], region: Region) -> u32 {
        let first = operands.iter().find(|(is_open, _)| *is_open).map_or(0, |(_, term)| *term);
        let from = self.all.get(usize::try_from(first).unwrap_or(0)).copied();
        let Some(from) = from else { return 0 };
        let is_unique = operands.iter().any(|&(is_open, term)| {
            is_open
                && usize::try_from(term)
                    .is_ok_and(|term| self.all.get(term).is_none_or(|term| term.is_unique))
        });
        let term = Term { origin: from.origin, region, is_unique };
        if self.exact && !is_unique {
            self.intern(Key::Operation(opcode, operands.to_vec()), term)
        } else {
            self.shared(term)
        }
    }
}
