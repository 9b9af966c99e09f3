//! The table of symbolic values, which stand for values that the launch does not state. An open lane of a register
//! holds a symbolic value and a known number that is added to it, so addresses with the same symbolic value can be
//! compared without knowing it.
//!
//! A symbolic value is a sum of *atoms* with known coefficients that wraps around at the width of the value. It can be
//! known only modulo a *congruence*: an unknown multiple of that number is added to the sum, as after a loop that adds
//! a constant to a pointer an unknown number of times. A congruence of 1 says that nothing is known, 0 that the sum is
//! exact. *Wrap* is a second modulus of this kind, whose multiple is zero unless a sum of at least 32 bits wraps around
//! before it is extended. Symbolic values that are computed alike have one id, in all threads, ctas and passes of a
//! check. Lanes with one id and one number are equal if the symbolic value is *stable*: if it is known exactly.

mod groups;
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

pub(crate) use groups::{DividedLanes, OwnMask};
pub(crate) use logic::{Literal, Logic, Relation};
use operator::{Operator, OperatorId};

/// One execution of an atomic by a lane: the cta, the number of the atomic among those its warps executed, and the
/// lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Execution {
    pub(crate) cta: u32,
    pub(crate) number: u64,
    pub(crate) lane: usize,
}

/// An exchange: the cta, the warp, and the number of the exchange among those that the warp executed.
pub(crate) type Exchange = (u32, WarpId, u32);

/// The key of a symbolic value in the table: two values with equal keys are the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Identity {
    /// Any value of a region: only its origin and its region are known.
    Any(Origin, Region),
    /// Initial contents of memory: origin, address and number of bytes.
    Initial(Origin, u64, u32),
    /// The result of an atomic, with its width in bits.
    Result(Execution, u32),
    /// The state that an arrival at an mbarrier object returns: the address of the object, and a number of the phase.
    Token(u64, u64),
    /// The mask in which a lane finds those that are grouped with it.
    Group(OwnMask),
    /// The result of an exchange that gives all participating lanes the same value.
    Exchanged(Exchange),
    /// Number of iterations that a cta has run of a loop: the cta, the loop's header, and how often the cta has entered
    /// the loop.
    Iterations(u32, BlockId, u32),
    /// An extension to 64 bits.
    Extension(Extension),
    /// A result that `ValueNumbering` numbers, as an atom of a sum.
    Number(u32),
    /// A result of an operator.
    Operation(OperatorId, Box<[Lane]>),
    Sum(Box<Sum>),
}

/// The sum of a symbolic value and a number, both of `from` bits, extended to 64 bits by its sign or by zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Extension {
    of: SymbolId,
    added: u64,
    from: u32,
    is_signed: bool,
}

/// The key of a sum.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Sum {
    bits: u32,
    /// Atoms with their coefficients, in ascending order.
    atoms: Vec<(SymbolId, u64)>,
    congruence: u64,
    wrap: u64,
    /// For a sum that is known only modulo its congruence: its origin and region.
    reach: Option<(Origin, Region)>,
}

/// The atoms of a symbolic value with their coefficients.
#[derive(Clone, Debug)]
enum Atoms {
    /// The value is an atom: itself, with coefficient 1.
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
    /// Whether the value is computed from exchanges alone, so that all lanes of a warp have it.
    is_exchanged: bool,
}

impl SymbolicValue {
    /// Modulus of a difference: two lanes with this symbolic value and numbers a and b differ by a - b plus a multiple
    /// of it; 0: by exactly a - b.
    const fn modulus(&self) -> u64 {
        gcd(self.congruence, self.wrap)
    }
}

/// All symbolic values of a check.
#[allow(clippy::struct_excessive_bools, reason = "each is about the table as a whole")]
#[derive(Debug)]
pub struct Symbolics {
    all: IndexMap<Identity, SymbolicValue, RandomState>,
    numbers: ValueNumbering,
    operators: IndexSet<Operator, RandomState>,
    /// Operators whose results are conditions.
    logic: HashMap<OperatorId, Logic, RandomState>,
    /// Whether floating-point results that differ from lane to lane are numbered, so that equal ones are recognized, as
    /// needed to compare stored values.
    pub distinguishes_floats: bool,
    /// Whether memory that nothing wrote has been read.
    pub(crate) reads_unwritten: bool,
    /// Whether a sum that is known modulo a number other than a power of two was assumed not to wrap around.
    pub(crate) assumes_unwrapped: bool,
    /// Memory limit of the check in bytes.
    memory: u64,
    /// Bytes that the symbolic values take.
    held: u64,
    /// Whether the table was full, so that some values kept only origin and region.
    pub is_full: bool,
}

impl Default for Symbolics {
    /// An empty table for a check with the default memory limit.
    fn default() -> Self {
        Self::within(Limit::default().memory)
    }
}

/// Bytes that a symbolic value takes, with its key and its entry in the table.
fn held(key: &Identity, value: &SymbolicValue) -> u64 {
    let parts = match key {
        Identity::Operation(_, operands) => operands.len() * size_of::<Lane>(),
        Identity::Sum(sum) => size_of::<Sum>() + size_of_val(sum.atoms.as_slice()),
        _ => 0,
    };
    let atoms = size_of_val(value.atoms.all());
    (size_of::<(Identity, SymbolicValue)>() + 4 * size_of::<u64>() + parts + atoms) as u64
}

/// Capacity of the table. Once it is full, new values keep only origin and region. Values computed from exchanges alone
/// (such as votes) have twice the capacity, since lanes stay converged by them.
const MAX_TERMS: usize = 1 << 21;

/// The symbolic values of a check take at most its memory limit divided by this.
const TERMS_PART: u64 = 4;

pub(crate) const fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Symbolics {
    /// An empty table for a check with a limit of `memory` bytes.
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

    /// Where a symbolic value comes from; `None` if it is not in the table.
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

    /// The origin of a value that depends on all of these; if one of several is memory that nothing wrote, the value
    /// might depend on it.
    pub(crate) fn origin_among(&self, mut ids: impl Iterator<Item = SymbolId>) -> Option<Origin> {
        let first = ids.find_map(|id| self.origin(id))?;
        let mut others = ids.filter_map(|id| self.origin(id)).peekable();
        if others.peek().is_none() {
            return Some(first);
        }
        Some(perhaps_unwritten([first].into_iter().chain(others)).unwrap_or(first))
    }

    /// The origin of a value that depends on these, if one of them is memory that nothing wrote.
    pub(crate) fn unwritten(&self, values: impl IntoIterator<Item = Lane>) -> Option<Origin> {
        perhaps_unwritten(values.into_iter().filter_map(|value| self.origin(value.symbol?)))
    }

    /// Whether lanes with this symbolic value and equal numbers are equal, wherever they occur.
    pub fn is_stable(&self, id: SymbolId) -> bool {
        id.as_number().is_some() || self.get(id).is_some_and(|value| value.modulus() == 0)
    }

    /// Whether lanes with this symbolic value and equal numbers can differ even if no sum wraps around.
    pub(crate) fn is_congruent(&self, id: SymbolId) -> bool {
        id.as_number().is_none() && self.get(id).is_none_or(|value| value.congruence != 0)
    }

    /// Modulus of a difference: two lanes with this symbolic value and numbers a and b differ by a - b plus a multiple
    /// of it; 0: by exactly a - b.
    pub(crate) fn modulus(&self, id: SymbolId) -> u64 {
        self.get(id).map_or(1, SymbolicValue::modulus)
    }

    /// Width of a symbolic value in bits.
    pub(crate) fn bits(&self, id: SymbolId) -> u32 {
        let number = id.as_number().and_then(|number| self.numbers.bits(number));
        number.or_else(|| self.get(id).map(|value| value.bits)).unwrap_or(64)
    }

    /// Whether a symbolic value contains no address.
    pub(crate) fn is_number(&self, id: SymbolId) -> bool {
        id.as_number().is_some() || self.get(id).is_some_and(|value| value.region == Region::Number)
    }

    /// The symbolic value that an atom extends, if the atom is an extension.
    pub(crate) fn inner(&self, atom: SymbolId) -> Option<SymbolId> {
        self.extended_from(atom).map(|(inner, _)| inner)
    }

    /// The symbolic value that an atom extends, and whether by its sign; `None` if the atom is no extension.
    pub(crate) fn extended_from(&self, atom: SymbolId) -> Option<(SymbolId, bool)> {
        self.extension(atom).map(|extension| (extension.of, extension.is_signed))
    }

    fn extension(&self, atom: SymbolId) -> Option<Extension> {
        match self.all.get_index(atom.place())? {
            (Identity::Extension(extension), _) => Some(*extension),
            _ => None,
        }
    }

    /// The atoms of a symbolic value with their coefficients, without congruence and wrap.
    pub(crate) fn atoms(&self, id: SymbolId) -> &[(SymbolId, u64)] {
        self.get(id).map_or(&[], |value| value.atoms.all())
    }

    /// Number of lowest bits of a symbolic value that are zero whatever its atoms are.
    pub(crate) fn zeros(&self, id: SymbolId) -> u32 {
        let Some(value) = self.get(id) else { return 0 };
        let factors = value.atoms.all().iter().map(|(_, factor)| *factor).chain([value.modulus()]);
        factors.map(u64::trailing_zeros).min().unwrap_or(0)
    }

    /// How a lane is related to addresses.
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

    /// A value of which only origin and region are known: two lanes with it need not be equal. Whether it depends on
    /// memory that nothing wrote is not sure.
    pub(crate) fn any(&mut self, origin: Origin, region: Region) -> SymbolId {
        self.anything(origin.perhaps(), region)
    }

    /// As `any`, but keeps the origin as given: the value surely depends on it if it is memory that nothing wrote.
    pub(crate) fn anything(&mut self, origin: Origin, region: Region) -> SymbolId {
        self.unequal(Identity::Any(origin, region), origin, region)
    }

    /// The state that arrivals at an mbarrier object return in a phase, by the address of the object as events state it, and a
    /// number of the phase. States of one phase need not be equal.
    pub(crate) fn token(&mut self, origin: Origin, object: u64, number: u64) -> SymbolId {
        self.unequal(Identity::Token(object, number), origin, Region::Number)
    }

    /// A value that need not be equal in two lanes that hold it.
    fn unequal(&mut self, key: Identity, origin: Origin, region: Region) -> SymbolId {
        self.reads_unwritten |= origin.unwritten().is_some();
        let (bits, atoms, is_exchanged) = (64, Atoms::Sum(Box::default()), false);
        let (modulus, wrap) = (1, 0);
        let value =
            SymbolicValue { origin, region, bits, atoms, congruence: modulus, wrap, is_exchanged };
        self.intern(key, value)
    }

    /// Any number: a value that contains no address.
    pub(crate) fn any_number(&mut self, origin: Origin) -> SymbolId {
        self.any(origin, Region::Number)
    }

    /// Any value, which can be an address or a difference of addresses.
    pub(crate) fn unclear(&mut self, origin: Origin) -> SymbolId {
        self.any(origin, Region::Unclear)
    }

    /// What `bytes` bytes of memory held before the launch.
    pub(crate) fn initial(&mut self, origin: Origin, address: u64, bytes: u32) -> SymbolId {
        self.atom(Identity::Initial(origin, address, bytes), origin, Region::Number, bytes * 8)
    }

    /// Number of iterations of a loop before this one, the same for all threads of a cta. `entry`: how often the cta
    /// has entered the loop.
    pub(crate) fn iterations(
        &mut self,
        origin: Origin,
        cta: u32,
        header: BlockId,
        entry: u32,
    ) -> SymbolId {
        self.atom(Identity::Iterations(cta, header, entry), origin, Region::Number, 64)
    }

    /// The result of an atomic.
    pub(crate) fn result(&mut self, origin: Origin, execution: Execution, bits: u32) -> SymbolId {
        self.atom(Identity::Result(execution, bits), origin, Region::Number, bits)
    }

    /// The result of an exchange that all its participants get.
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

    /// The result of an operation on lanes of which at least one is open. `region`: how the result is related to
    /// addresses.
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

    /// The result of an operation on known operands that the manual leaves unspecified: one unknown value for equal
    /// operands.
    pub(crate) fn unspecified(
        &mut self,
        origin: Origin,
        (operator, operands): (OperatorId, &[Lane]),
        region: Region,
        bits: u32,
    ) -> SymbolId {
        self.atom(Identity::Operation(operator, operands.into()), origin, region, bits)
    }

    /// The row of results of a floating-point operation on these operands. A result is valid in lanes whose operands
    /// are all stable (`is_stable`). `None`: there are too many rows or operands.
    pub(crate) fn row(
        &mut self,
        operator: OperatorId,
        operands: &[&Value],
        bits: u32,
    ) -> Option<NumberingId> {
        self.numbers.row(operator, bits, operands)
    }

    /// The row of floating-point contents that buffers held before the launch at these addresses.
    pub(crate) fn loaded_row(&mut self, addresses: &Value, bits: u32) -> Option<NumberingId> {
        let loaded = self.operator(Operator::Loaded);
        self.numbers.row(loaded, bits, &[addresses])
    }

    /// The address and the bits of a numbered result, if it is contents of global memory before the launch.
    fn loaded_number(&self, number: u32) -> Option<(u64, u32)> {
        let loaded = self.operators.get_index_of(&Operator::Loaded)?;
        self.numbers.operand_of(OperatorId::at(loaded), number)
    }

    /// The address and the width in bits of initial contents of a buffer, if the symbolic value is such contents.
    fn loaded(&self, id: SymbolId) -> Option<(u64, u32)> {
        match (id.as_number(), self.all.get_index(id.place())) {
            (Some(number), _) => self.loaded_number(number),
            (_, Some((Identity::Initial(Origin::Contents(_), address, bytes), _))) => {
                Some((*address, bytes * 8))
            }
            _ => None,
        }
    }

    /// Whether lanes with these symbolic values and equal numbers are provably equal.
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

    /// The symbolic value itself, or an atom for it if it is a number of `ValueNumbering`, which sums cannot contain.
    fn plain(&mut self, id: SymbolId) -> SymbolId {
        let (Some(number), Some(origin)) = (id.as_number(), self.origin(id)) else { return id };
        self.atom(Identity::Number(number), origin, Region::Number, self.bits(id))
    }
}
