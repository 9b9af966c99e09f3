//! Copies expressions of the arbitrary thread for two threads, into a table of their own. An unknown that might differ
//! between the two is one unknown for each.

use foldhash::HashMap;
use smallvec::SmallVec;

use super::atom::{Atom, Variance};
use super::expr::{BinaryOperator, Expr, ExprNode, Exprs};
use super::thread::SymbolicThread;
use super::variance::Variances;
use super::view::Copy;
use crate::flow::BlockId;

/// The iteration of a loop that an expression is evaluated in, as an expression of the copies, if it is not the present one.
pub(super) type OtherIteration = Option<(BlockId, Expr)>;

/// The two copies of a thread's expressions.
pub(super) struct ThreadCopies<'a> {
    pub(super) thread: &'a SymbolicThread,
    variances: &'a Variances,
    /// The greatest variance with which both threads have the same value.
    shared: Variance,
    /// The synchronized loops that the two threads might be in different iterations of, as bits.
    apart: u64,
    pub(super) exprs: Exprs,
    copied: HashMap<(Expr, Copy, OtherIteration), Expr>,
    atoms: HashMap<(Atom, u32, Copy), Expr>,
}

/// The most expressions of the copies.
const MOST_EXPRESSIONS: usize = 4000;

impl<'a> ThreadCopies<'a> {
    pub(super) fn new(
        thread: &'a SymbolicThread,
        variances: &'a Variances,
        shared: Variance,
        apart: u64,
    ) -> Self {
        Self {
            thread,
            variances,
            shared,
            apart,
            exprs: Exprs::default(),
            copied: HashMap::default(),
            atoms: HashMap::default(),
        }
    }

    /// Returns the copy of an expression for a thread; `None` if there are too many expressions.
    pub(super) fn of(&mut self, of: Expr, copy: Copy) -> Option<Expr> {
        self.at(of, copy, None)
    }

    /// Returns the copy of an expression for a thread in an iteration of a loop.
    pub(super) fn at(&mut self, of: Expr, copy: Copy, at: OtherIteration) -> Option<Expr> {
        let mut work = vec![of];
        while let Some(&part) = work.last() {
            if self.copied.contains_key(&(part, copy, at)) {
                work.pop();
                continue;
            }
            if self.exprs.len() > MOST_EXPRESSIONS || self.copied.len() > 4 * MOST_EXPRESSIONS {
                return None;
            }
            let operands: SmallVec<[Expr; 3]> = self.thread.exprs.operands(part).collect();
            let known = |own: &Expr| self.copied.get(&(*own, copy, at)).copied();
            let missing: SmallVec<[Expr; 3]> =
                operands.iter().copied().filter(|own| known(own).is_none()).collect();
            if missing.is_empty() {
                let operands: SmallVec<[Expr; 3]> = operands.iter().filter_map(known).collect();
                let result = self.rebuilt(part, &operands, copy, at);
                self.copied.insert((part, copy, at), result);
                work.pop();
            } else {
                work.extend(missing);
            }
        }
        self.copied.get(&(of, copy, at)).copied()
    }

    fn rebuilt(&mut self, of: Expr, operands: &[Expr], copy: Copy, at: OtherIteration) -> Expr {
        let bits = self.thread.exprs.bits(of);
        let exprs = &mut self.exprs;
        match (self.thread.exprs.node(of), operands) {
            (ExprNode::Atom(Atom::Iteration(header)), _)
                if let Some((_, number)) = at.filter(|(own, _)| *own == header) =>
            {
                number
            }
            (ExprNode::Atom(atom), _) => {
                let is_common = self.variances.is_common(of, self.shared, self.apart);
                self.atom(atom, bits, if is_common { Copy::Both } else { copy })
            }
            (ExprNode::Constant(value), _) => exprs.constant(value, bits),
            (ExprNode::Not(_), &[a]) => exprs.not(a),
            (ExprNode::Binary(operator, ..), &[a, b]) => exprs.binary(operator, a, b),
            (ExprNode::Extract(_, low), &[a]) => exprs.extract(a, u32::from(low), bits),
            (ExprNode::Zext(_), &[a]) => exprs.resized(a, bits, false),
            (ExprNode::Sext(_), &[a]) => exprs.resized(a, bits, true),
            (ExprNode::Ite(..), &[a, b, c]) => exprs.ite(a, b, c),
            _ => unreachable!("an expression has the operands of its operator"),
        }
    }

    /// Returns an unknown of a thread. Those of the launch, and those of the first thread that the launch has names for,
    /// keep their names.
    pub(super) fn atom(&mut self, atom: Atom, bits: u32, copy: Copy) -> Expr {
        if let Some(known) = self.atoms.get(&(atom, bits, copy)) {
            return *known;
        }
        let keeps_name = match atom {
            Atom::Ntid(_)
            | Atom::Nctaid(_)
            | Atom::DynamicSharedSize
            | Atom::Argument(..)
            | Atom::Variable(_) => true,
            Atom::Tid(_) | Atom::Ctaid(_) => copy != Copy::Second,
            _ => false,
        };
        let new = if keeps_name { self.exprs.atom(atom, bits) } else { self.exprs.unknown(bits) };
        self.atoms.insert((atom, bits, copy), new);
        new
    }

    /// Whether the thread's expressions multiply or divide unknowns by each other.
    pub(super) fn has_products(&self) -> bool {
        use BinaryOperator::{Mul, Sdiv, SmulHigh, Srem, Udiv, UmulHigh, Urem};
        let exprs = &self.thread.exprs;
        self.copied.keys().any(|(of, ..)| match exprs.node(*of) {
            ExprNode::Binary(Mul | UmulHigh | SmulHigh | Udiv | Urem | Sdiv | Srem, a, b) => {
                exprs.as_constant(a).or(exprs.as_constant(b)).is_none()
            }
            _ => false,
        })
    }

    /// Returns the arguments that the copies mention, in the order of the parameters.
    pub(super) fn arguments(&self) -> Vec<Expr> {
        let is_argument = |(atom, ..): &&(Atom, u32, Copy)| matches!(atom, Atom::Argument(..));
        let mut keys: Vec<_> = self.atoms.keys().filter(is_argument).copied().collect();
        keys.sort_unstable();
        keys.iter().map(|key| self.atoms[key]).collect()
    }

    /// Returns the number of a thread's iteration of a loop.
    pub(super) fn iteration(&mut self, header: BlockId, copy: Copy) -> Expr {
        let bit = self.variances.bit(header);
        let is_common = bit != 0 && bit & self.apart == 0 && self.shared >= Variance::Cta;
        self.atom(Atom::Iteration(header), 64, if is_common { Copy::Both } else { copy })
    }

    /// Returns the index of a thread in its cta, or of its cta in the grid.
    pub(super) fn index(&mut self, atom: Atom, copy: Copy) -> Expr {
        let is_common = matches!(atom, Atom::Ctaid(_)) && self.shared >= Variance::Cta;
        self.atom(atom, 32, if is_common { Copy::Both } else { copy })
    }
}
