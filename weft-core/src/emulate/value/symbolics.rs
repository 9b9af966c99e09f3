//! Open values. A register of a lane that is open holds a term and a number that is added to it, so that addresses which
//! share a term can be compared without knowing it.
//!
//! A term is a sum of atoms with known coefficients, plus *drift*: a multiple of a known number that nobody knows, as a
//! loop leaves it that adds a constant to a pointer an unknown number of times. A drift of 1 says that nothing is known.
//! *Wrap* is the same, but zero unless a sum of 32 bits wraps around before it is extended. Sums wrap at the
//! term's width. Equal symbolic values have one id, in all threads, ctas and passes of a check.

mod logic;
pub(crate) mod operator;
mod own;
mod sum;

use std::collections::HashMap;

use foldhash::fast::RandomState;
use indexmap::{IndexMap, IndexSet};

use super::lane::{Lane, NumberingId, SymbolId};
use super::numbering::ValueNumbering;
use super::origin::{Origin, Region, perhaps_unwritten};
use super::register::Value;
use super::warp_id::WarpId;
use crate::flow::BlockId;
use crate::flow::addresses::argument_of;
use crate::launch::Limit;

pub(crate) use logic::{Literal, Logic};
use operator::{Operator, OperatorId};

/// An atomic that a lane executed: the cta, the number of the atomic instruction that its warps executed, the lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Execution {
    pub(crate) cta: u32,
    pub(crate) number: u64,
    pub(crate) lane: usize,
}

/// An exchange: the cta, the warp, how many the warp has run.
pub(crate) type Exchange = (u32, WarpId, u32);

/// What makes two symbolic values the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Identity {
    /// Something in a region.
    Any(Origin, Region),
    /// Initial contents of memory: cta for the memory of one, address and bytes.
    Initial(Origin, u64, u32),
    /// The result of an atomic, of so many bits.
    Result(Execution, u32),
    /// What lanes got from an exchange that gives all of them one value.
    Exchanged(Exchange),
    /// How often a cta has gone round a loop that it has come to so many times.
    Iterations(u32, BlockId, u32),
    /// An extension to 64 bits.
    Extension(Extension),
    /// What has a number of its own.
    Number(u32),
    /// A result of an operator.
    Operation(OperatorId, Box<[Lane]>),
    Sum(Box<Sum>),
}

/// The sum of a term and a number, of `from` bits, extended to 64 by its sign or by zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Extension {
    of: SymbolId,
    added: u64,
    from: u32,
    is_signed: bool,
}

/// What makes two sums the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Sum {
    bits: u32,
    /// With coefficients, in ascending order.
    atoms: Vec<(SymbolId, u64)>,
    congruence: u64,
    wrap: u64,
    /// Of a sum that drifts: its origin and region.
    reach: Option<(Origin, Region)>,
}

/// Atoms and their coefficients.
#[derive(Clone, Debug)]
enum Atoms {
    /// An atom is once itself.
    Itself([(SymbolId, u64); 1]),
    Sum(Box<[(SymbolId, u64)]>),
}

impl Atoms {
    fn all(&self) -> &[(SymbolId, u64)] {
        match self {
            Self::Itself(symbol) => symbol,
            Self::Sum(all) => all,
        }
    }
}

#[derive(Clone, Debug)]
struct SymbolicValue {
    origin: Origin,
    region: Region,
    bits: u32,
    atoms: Atoms,
    congruence: u64,
    wrap: u64,
    /// Whether it comes from exchanges alone: one term for the lanes of a warp.
    is_exchanged: bool,
}

impl SymbolicValue {
    /// Two values with this term and numbers a and b differ by a - b plus a multiple of this; 0: exactly by a - b.
    const fn modulus(&self) -> u64 {
        gcd(self.congruence, self.wrap)
    }
}

/// All open values of a check.
#[allow(clippy::struct_excessive_bools, reason = "each is about the table as a whole")]
#[derive(Debug)]
pub struct Symbolics {
    all: IndexMap<Identity, SymbolicValue, RandomState>,
    numbers: ValueNumbering,
    operators: IndexSet<Operator, RandomState>,
    /// Operators whose results are conditions.
    logic: HashMap<OperatorId, Logic, RandomState>,
    /// Whether floating-point results keep their identity where they differ from lane to lane. What depends on them is
    /// known to be the same only if they are stored.
    pub distinguishes_floats: bool,
    /// Whether memory that nothing wrote was read.
    pub(crate) reads_unwritten: bool,
    /// Whether a sum that drifts by no power of two was taken not to wrap around.
    pub(crate) assumes_unwrapped: bool,
    /// Bytes that the check may take.
    memory: u64,
    /// Bytes that the terms take.
    held: u64,
    /// Whether some lost their identity, there being too many.
    pub is_full: bool,
}

impl Default for Symbolics {
    /// None yet, for a check that takes what checks take by default.
    fn default() -> Self {
        Self::within(Limit::default().memory)
    }
}

/// Bytes that a term takes, with its key and its place in the table.
fn held(key: &Identity, value: &SymbolicValue) -> u64 {
    let parts = match key {
        Identity::Operation(_, operands) => operands.len() * size_of::<Lane>(),
        Identity::Sum(sum) => size_of::<Sum>() + size_of_val(sum.atoms.as_slice()),
        _ => 0,
    };
    let atoms = size_of_val(value.atoms.all());
    (size_of::<(Identity, SymbolicValue)>() + 4 * size_of::<u64>() + parts + atoms) as u64
}

/// Beyond this many, open values lose their identity and keep their origin. What votes decide keeps it longer: lanes
/// stay together by it.
const MAX_TERMS: usize = 1 << 21;

/// Of the memory that a check may take, open values may take this part.
const TERMS_PART: u64 = 4;

pub(crate) const fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Symbolics {
    /// None yet, for a check that takes no more than so many bytes.
    pub fn within(memory: u64) -> Self {
        Self {
            all: IndexMap::default(),
            numbers: ValueNumbering::default(),
            operators: IndexSet::default(),
            logic: HashMap::default(),
            distinguishes_floats: false,
            reads_unwritten: false,
            assumes_unwrapped: false,
            memory,
            held: 0,
            is_full: false,
        }
    }

    fn get(&self, id: SymbolId) -> Option<&SymbolicValue> {
        self.all.get_index(id.place()).map(|(_, value)| value)
    }

    /// Where a value comes from.
    pub fn origin(&self, id: SymbolId) -> Option<Origin> {
        let mut id = id;
        while let Some(number) = id.as_number() {
            if let Some((address, _)) = self.loaded_number(number) {
                return argument_of(address).map(Origin::Contents);
            }
            id = self.numbers.open_operand(number)?;
        }
        self.get(id).map(|value| value.origin)
    }

    /// Where a value comes from that depends on these: perhaps memory that nothing wrote if one of several does.
    pub(crate) fn origin_among(&self, mut ids: impl Iterator<Item = SymbolId>) -> Option<Origin> {
        let first = ids.find_map(|id| self.origin(id))?;
        let mut others = ids.filter_map(|id| self.origin(id)).peekable();
        if others.peek().is_none() {
            return Some(first);
        }
        Some(perhaps_unwritten([first].into_iter().chain(others)).unwrap_or(first))
    }

    /// Where values come from, if one of them depends on memory that nothing wrote.
    pub(crate) fn unwritten(&self, values: impl IntoIterator<Item = Lane>) -> Option<Origin> {
        perhaps_unwritten(values.into_iter().filter_map(|value| self.origin(value.symbol?)))
    }

    /// Whether values with this term and one number are equal, wherever they occur.
    pub fn is_stable(&self, id: SymbolId) -> bool {
        id.as_number().is_some() || self.get(id).is_some_and(|value| value.modulus() == 0)
    }

    /// Whether values with this term and one number may differ even if no sum wraps around.
    pub(crate) fn is_congruent(&self, id: SymbolId) -> bool {
        id.as_number().is_none() && self.get(id).is_none_or(|value| value.congruence != 0)
    }

    /// Two values with this term and numbers a and b differ by a - b plus a multiple of this; 0: exactly by a - b.
    pub(crate) fn modulus(&self, id: SymbolId) -> u64 {
        self.get(id).map_or(1, SymbolicValue::modulus)
    }

    /// Its width.
    pub(crate) fn bits(&self, id: SymbolId) -> u32 {
        let number = id.as_number().and_then(|number| self.numbers.bits(number));
        number.or_else(|| self.get(id).map(|value| value.bits)).unwrap_or(64)
    }

    /// Whether no address is in it.
    pub(crate) fn is_number(&self, id: SymbolId) -> bool {
        id.as_number().is_some() || self.get(id).is_some_and(|value| value.region == Region::Number)
    }

    /// What an atom extends.
    pub(crate) fn inner(&self, atom: SymbolId) -> Option<SymbolId> {
        self.extended_from(atom).map(|(inner, _)| inner)
    }

    /// What an atom extends, and whether by its sign.
    pub(crate) fn extended_from(&self, atom: SymbolId) -> Option<(SymbolId, bool)> {
        self.extension(atom).map(|extension| (extension.of, extension.is_signed))
    }

    fn extension(&self, atom: SymbolId) -> Option<Extension> {
        match self.all.get_index(atom.place())? {
            (Identity::Extension(extension), _) => Some(*extension),
            _ => None,
        }
    }

    /// The atoms of a term with their coefficients, its drift and wrap apart.
    pub(crate) fn atoms(&self, id: SymbolId) -> &[(SymbolId, u64)] {
        self.get(id).map_or(&[], |value| value.atoms.all())
    }

    /// How many of the lowest bits of a term are zero, whatever its atoms are.
    pub(crate) fn zeros(&self, id: SymbolId) -> u32 {
        let Some(value) = self.get(id) else { return 0 };
        let factors = value.atoms.all().iter().map(|(_, factor)| *factor).chain([value.modulus()]);
        factors.map(u64::trailing_zeros).min().unwrap_or(0)
    }

    /// What a lane has to do with addresses.
    pub(crate) fn region(&self, lane: Lane) -> Region {
        let region = Region::of(lane.bits);
        match lane.symbol {
            None => region,
            Some(id) if self.is_number(id) => region,
            Some(id) => region.plus(self.get(id).map_or(Region::Unclear, |value| value.region)),
        }
    }

    fn intern(&mut self, key: Identity, value: SymbolicValue) -> SymbolId {
        if let Some(known) = self.all.get_index_of(&key) {
            return SymbolId::at(known);
        }
        let is_exchanged = match &key {
            Identity::Exchanged(..) => true,
            Identity::Operation(_, operands) => {
                let is_exchanged = |id| self.get(id).is_some_and(|symbolic| symbolic.is_exchanged);
                operands.iter().filter_map(|lane| lane.symbol).all(is_exchanged)
            }
            _ => false,
        };
        let most = if is_exchanged { 2 } else { 1 };
        let is_full = self.all.len() >= most * MAX_TERMS
            || self.held / most as u64 >= self.memory / TERMS_PART;
        if is_full && !matches!(key, Identity::Any(..)) {
            self.is_full = true;
            return self.any(value.origin, value.region);
        }
        self.held += held(&key, &value);
        let id = SymbolId::at(self.all.len());
        let is_atom = value.atoms.all().is_empty() && value.congruence == 0;
        let atoms = if is_atom { Atoms::Itself([(id, 1)]) } else { value.atoms };
        self.all.insert(key, SymbolicValue { atoms, is_exchanged, ..value });
        id
    }

    fn atom(&mut self, key: Identity, origin: Origin, region: Region, bits: u32) -> SymbolId {
        let atoms = Atoms::Sum(Box::default());
        let (modulus, wrap, is_exchanged) = (0, 0, false);
        let value =
            SymbolicValue { origin, region, bits, atoms, congruence: modulus, wrap, is_exchanged };
        self.intern(key, value)
    }

    /// Some value of a region: nothing else is known, not even whether it is the same the next time.
    pub(crate) fn any(&mut self, origin: Origin, region: Region) -> SymbolId {
        self.anything(origin.perhaps(), region)
    }

    /// The same of what surely depends on where it comes from, should that be memory that nothing wrote.
    pub(crate) fn anything(&mut self, origin: Origin, region: Region) -> SymbolId {
        self.reads_unwritten |= origin.unwritten().is_some();
        let (bits, atoms, is_exchanged) = (64, Atoms::Sum(Box::default()), false);
        let (modulus, wrap) = (1, 0);
        let value =
            SymbolicValue { origin, region, bits, atoms, congruence: modulus, wrap, is_exchanged };
        self.intern(Identity::Any(origin, region), value)
    }

    /// Some number.
    pub(crate) fn fresh(&mut self, origin: Origin) -> SymbolId {
        self.any(origin, Region::Number)
    }

    /// Some value that may be an address or a difference of addresses.
    pub(crate) fn unclear(&mut self, origin: Origin) -> SymbolId {
        self.any(origin, Region::Unclear)
    }

    /// What memory held before the launch.
    pub(crate) fn initial(&mut self, origin: Origin, address: u64, bytes: u32) -> SymbolId {
        self.atom(Identity::Initial(origin, address, bytes), origin, Region::Number, bytes * 8)
    }

    /// How many rounds of a loop came before, the same for all threads of a cta.
    pub(crate) fn iterations(
        &mut self,
        origin: Origin,
        cta: u32,
        header: BlockId,
        entry: u32,
    ) -> SymbolId {
        self.atom(Identity::Iterations(cta, header, entry), origin, Region::Number, 64)
    }

    /// What an atomic returned.
    pub(crate) fn result(&mut self, origin: Origin, execution: Execution, bits: u32) -> SymbolId {
        self.atom(Identity::Result(execution, bits), origin, Region::Number, bits)
    }

    /// What all participants of an exchange got.
    pub(crate) fn exchanged(&mut self, origin: Origin, which: Exchange, bits: u32) -> SymbolId {
        self.atom(Identity::Exchanged(which), origin, Region::Number, bits)
    }

    /// The identity of an operator.
    pub(crate) fn operator(&mut self, operator: Operator) -> OperatorId {
        OperatorId::at(self.operators.insert_full(operator).0)
    }

    /// The identity of an operator whose results are conditions.
    pub(crate) fn condition_operator(&mut self, operator: Operator, logic: Logic) -> OperatorId {
        let id = self.operator(operator);
        self.logic.insert(id, logic);
        id
    }

    /// The result of an operation on lanes of which one is open. `region`: what it has to do with addresses.
    pub(crate) fn operation(
        &mut self,
        operator: OperatorId,
        operands: &[Lane],
        region: Region,
        bits: u32,
    ) -> SymbolId {
        let origin = self.origin_among(operands.iter().filter_map(|lane| lane.symbol));
        let origin = origin.unwrap_or(Origin::Register).perhaps();
        let mut symbolics = operands.iter().filter_map(|lane| lane.symbol);
        if symbolics.all(|id| self.is_stable(id)) {
            self.atom(Identity::Operation(operator, operands.into()), origin, region, bits)
        } else {
            self.any(origin, region)
        }
    }

    /// The result of an operation on known operands, which is one value that nobody knows.
    pub(crate) fn unspecified(
        &mut self,
        origin: Origin,
        (operator, operands): (OperatorId, &[Lane]),
        region: Region,
        bits: u32,
    ) -> SymbolId {
        self.atom(Identity::Operation(operator, operands.into()), origin, region, bits)
    }

    /// The results of floating-point arithmetic, told apart from others: for the lanes in which no operand drifts. `None`:
    /// there are too many.
    pub(crate) fn row(
        &mut self,
        operator: OperatorId,
        operands: &[&Value],
        bits: u32,
    ) -> Option<NumberingId> {
        self.numbers.row(operator, bits, operands)
    }

    /// Floating-point contents of buffers before the launch, told apart likewise, by their addresses.
    pub(crate) fn loaded_row(&mut self, addresses: &Value, bits: u32) -> Option<NumberingId> {
        let loaded = self.operator(Operator::Loaded);
        self.numbers.row(loaded, bits, &[addresses])
    }

    /// The address and the bits of a numbered result, if it is contents of global memory before the launch.
    fn loaded_number(&self, number: u32) -> Option<(u64, u32)> {
        let loaded = self.operators.get_index_of(&Operator::Loaded)?;
        self.numbers.operand_of(OperatorId::at(loaded), number)
    }

    /// The address and the bits of contents of memory before the launch.
    fn loaded(&self, id: SymbolId) -> Option<(u64, u32)> {
        match (id.as_number(), self.all.get_index(id.place())) {
            (Some(number), _) => self.loaded_number(number),
            (_, Some((Identity::Initial(Origin::Contents(_), address, bytes), _))) => {
                Some((*address, bytes * 8))
            }
            _ => None,
        }
    }

    /// Whether values with these symbolic values and one number are provably equal.
    pub fn are_same(&self, a: SymbolId, b: SymbolId) -> bool {
        let are_one = |a: SymbolId, b: SymbolId| {
            let is_itself = a == b && self.is_stable(a);
            is_itself || self.loaded(a).is_some_and(|contents| Some(contents) == self.loaded(b))
        };
        match (a.as_number(), b.as_number()) {
            (Some(a), Some(b)) => self.numbers.are_equal(a, b, are_one),
            _ => are_one(a, b),
        }
    }

    /// A number as a term that sums are made of.
    fn plain(&mut self, id: SymbolId) -> SymbolId {
        let (Some(number), Some(origin)) = (id.as_number(), self.origin(id)) else { return id };
        self.atom(Identity::Number(number), origin, Region::Number, self.bits(id))
    }
}
