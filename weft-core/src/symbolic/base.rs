//! Takes addresses apart: the buffer or variable that an address is based on, and the distance from its first byte.

use std::collections::BTreeMap;

use foldhash::HashSet;

use super::atom::Atom;
use super::expr::{BinaryOperator, Expr, ExprNode, Exprs};
use super::result_source::ResultSource;
use super::thread::{SymbolicLoop, SymbolicThread};
use crate::flow::{BlockId, BufferPlace, Program};
use crate::launch::allocation::POINTER;
use crate::ptx::Space;

/// What an address is based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum AddressBase {
    /// The buffer of a pointer argument, or of a pointer in a structure, by its number: that of the argument, unless
    /// the launch states the buffer.
    Buffer(usize),
    /// A variable of the program's symbols.
    Variable(usize),
}

impl AddressBase {
    /// The space that it lies in.
    pub(super) fn space(self, program: &Program) -> Space {
        match self {
            Self::Variable(at) => program.symbols[at].space,
            Self::Buffer(at) => {
                let object = program.params.get(at).and_then(|param| param.object);
                let of_object = || program.symbols.iter().find(|own| own.parameter == Some(at));
                object.and_then(|_| of_object()).map_or(Space::Global, |symbol| symbol.space)
            }
        }
    }
}

/// An address on one condition.
#[derive(Clone, Copy, Debug)]
pub(super) struct BasedAddress {
    pub(super) condition: Expr,
    pub(super) base: AddressBase,
    /// Bytes from the base.
    pub(super) offset: Expr,
}

/// The deepest address that is followed.
const MOST_DEPTH: u32 = 200;
/// The most buffers and variables that one instruction can access.
const MOST_CASES: usize = 16;

/// Returns the bases of an address, each with its condition; `None` if some of them is not known.
pub(super) fn bases(
    thread: &mut SymbolicThread,
    program: &Program,
    address: Expr,
) -> Option<Vec<BasedAddress>> {
    let SymbolicThread { exprs, loops, results, .. } = thread;
    let holds = exprs.truth(true);
    let mut finder = BaseFinder { exprs, loops, results, depth: 0, program };
    let found = finder.of(address, holds)?;
    (!found.is_empty() && found.len() <= MOST_CASES).then_some(found)
}

/// Whether an expression depends on something that is not followed, such as a load of memory that threads write, directly
/// or through what loops carry.
pub(super) fn is_opaque(thread: &SymbolicThread, of: Expr) -> bool {
    let (mut seen, mut work) = (HashSet::default(), vec![of]);
    while let Some(part) = work.pop() {
        for atom in thread.exprs.atoms(part) {
            match atom {
                Atom::Unknown(_) | Atom::Result(..) => return true,
                Atom::Carried(header, _) if seen.insert(atom) => {
                    let own = thread.loops.get(&header);
                    work.extend(own.and_then(|own| own.carried.get(&atom)).into_iter().flatten());
                }
                _ => {}
            }
        }
    }
    false
}

struct BaseFinder<'a> {
    exprs: &'a mut Exprs,
    loops: &'a BTreeMap<BlockId, SymbolicLoop>,
    results: &'a BTreeMap<Atom, ResultSource>,
    /// How deep the present expression lies in the address.
    depth: u32,
    program: &'a Program,
}

impl BaseFinder<'_> {
    /// The bases of an expression, if it has any; an empty list if it is a number.
    fn of(&mut self, address: Expr, condition: Expr) -> Option<Vec<BasedAddress>> {
        if self.depth > MOST_DEPTH {
            return None;
        }
        self.depth += 1;
        let found = self.of_node(address, condition);
        self.depth -= 1;
        found
    }

    fn of_node(&mut self, address: Expr, condition: Expr) -> Option<Vec<BasedAddress>> {
        let bits = self.exprs.bits(address);
        match self.exprs.node(address) {
            ExprNode::Atom(atom) => Some(match self.base(atom) {
                Some((base, offset)) => {
                    let offset = self.exprs.constant(offset, bits);
                    vec![BasedAddress { condition, base, offset }]
                }
                None if self.has_base(address) => return None,
                None => Vec::new(),
            }),
            ExprNode::Binary(BinaryOperator::Add, a, b) => {
                let (of_a, of_b) = (self.of(a, condition)?, self.of(b, condition)?);
                match (of_a.is_empty(), of_b.is_empty()) {
                    (true, true) => Some(Vec::new()),
                    (false, true) => Some(self.plus(of_a, b)),
                    (true, false) => Some(self.plus(of_b, a)),
                    (false, false) => None,
                }
            }
            // Addresses in small spaces have 32 bits, and a variable lies within its space.
            ExprNode::Zext(inner) | ExprNode::Extract(inner, 0) if bits >= 32 => {
                let found = self.of(inner, condition)?;
                let resized = found.into_iter().map(|based| {
                    let offset = self.exprs.resized(based.offset, bits, true);
                    BasedAddress { offset, ..based }
                });
                Some(resized.collect())
            }
            ExprNode::Ite(which, a, b) => {
                let not = self.exprs.not(which);
                let then = self.exprs.binary(BinaryOperator::And, condition, which);
                let otherwise = self.exprs.binary(BinaryOperator::And, condition, not);
                let (mut of_a, of_b) = (self.of(a, then)?, self.of(b, otherwise)?);
                if of_a.is_empty() != of_b.is_empty() {
                    let number = if of_a.is_empty() { a } else { b };
                    // Nothing is accessed through the null pointer, which small spaces do not have.
                    let mut based = of_a.iter().chain(&of_b);
                    let is_null = bits == 64 && self.exprs.as_constant(number) == Some(0);
                    if !is_null
                        || !based.all(|based| based.base.space(self.program) == Space::Global)
                    {
                        return None;
                    }
                }
                of_a.extend(of_b);
                (of_a.len() <= MOST_CASES).then_some(of_a)
            }
            _ => (!self.has_base(address)).then(Vec::new),
        }
    }

    fn plus(&mut self, found: Vec<BasedAddress>, addend: Expr) -> Vec<BasedAddress> {
        let mut sum = |based: BasedAddress| {
            let offset = self.exprs.binary(BinaryOperator::Add, based.offset, addend);
            BasedAddress { offset, ..based }
        };
        found.into_iter().map(&mut sum).collect()
    }

    /// The base whose address an atom is, and the distance from its first byte.
    fn base(&self, atom: Atom) -> Option<(AddressBase, u64)> {
        match atom {
            Atom::Variable(at) => Some((AddressBase::Variable(at), 0)),
            Atom::Argument(offset, 8) => {
                let stated = self.program.stated_pointers().find(|(at, _)| *at == offset);
                if let Some((_, BufferPlace { buffer, offset })) = stated {
                    return Some((AddressBase::Buffer(buffer), offset));
                }
                let params = self.program.params.iter().map(|param| (param.offset, param.size));
                let fields = self.program.fields.iter().map(|field| (field.offset, field.size));
                let at = params.chain(fields).position(|place| place == (offset, 8))?;
                self.program.is_pointer(at).then_some((AddressBase::Buffer(at), 0))
            }
            _ => None,
        }
    }

    /// Whether an atom is bytes of the parameter bank among which some are those of a pointer into a stated buffer.
    fn is_part_of_pointer(&self, atom: Atom) -> bool {
        let Atom::Argument(first, size) = atom else { return false };
        let end = first.saturating_add(u64::from(size));
        let mut pointers = self.program.stated_pointers().map(|(at, _)| at);
        pointers.any(|at| at < end && first < at.saturating_add(POINTER))
    }

    /// Whether an expression depends on a base in another way than by a sum.
    fn has_base(&self, of: Expr) -> bool {
        let (mut seen, mut work) = (HashSet::default(), vec![of]);
        while let Some(part) = work.pop() {
            // A predicate is no address, whatever it compares.
            if self.exprs.bits(part) == 1 || !seen.insert(part) {
                continue;
            }
            if let ExprNode::Atom(atom) = self.exprs.node(part) {
                if self.base(atom).is_some() || self.is_part_of_pointer(atom) {
                    return true;
                }
                let carried = match atom {
                    Atom::Carried(header, _) => self.loops.get(&header),
                    _ => None,
                };
                let handed_on = carried.and_then(|own| own.carried.get(&atom));
                let operands = self.results.get(&atom).and_then(ResultSource::operands);
                work.extend(handed_on.into_iter().chain(operands).flatten());
            }
            work.extend(self.exprs.operands(part));
        }
        false
    }
}
