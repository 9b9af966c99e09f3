//! Queries as they come from kernels: can two distinct threads access one address? Each has to be decided within a budget
//! that leaves room.

use super::{Answer, Conflicts, solve};
use crate::symbolic::atom::Atom;
use crate::symbolic::expr::{BinaryOperator, Expr, Exprs};

/// Two threads and what is known of them.
struct KernelQuery {
    exprs: Exprs,
    conditions: Vec<Expr>,
}

/// What differs between the two threads of a pair, as atoms of 32 bits.
#[derive(Clone, Copy)]
struct Coordinates {
    tid: Expr,
    tid_y: Expr,
    ctaid: Expr,
    ctaid_y: Expr,
}

impl KernelQuery {
    fn new() -> KernelQuery {
        KernelQuery { exprs: Exprs::default(), conditions: Vec::new() }
    }

    fn threads(&mut self) -> [Coordinates; 2] {
        [0, 10].map(|at| Coordinates {
            tid: self.atom(Atom::Tid(at)),
            tid_y: self.atom(Atom::Tid(at + 1)),
            ctaid: self.atom(Atom::Ctaid(at)),
            ctaid_y: self.atom(Atom::Ctaid(at + 1)),
        })
    }

    fn atom(&mut self, atom: Atom) -> Expr {
        self.exprs.atom(atom, 32)
    }

    fn op(&mut self, operator: BinaryOperator, a: Expr, b: Expr) -> Expr {
        self.exprs.binary(operator, a, b)
    }

    fn op_number(&mut self, operator: BinaryOperator, a: Expr, number: u64) -> Expr {
        let number = self.exprs.constant(number, self.exprs.bits(a));
        self.exprs.binary(operator, a, number)
    }

    fn sum(&mut self, a: Expr, b: Expr) -> Expr {
        self.op(BinaryOperator::Add, a, b)
    }

    /// `a * number + b`.
    fn index(&mut self, a: Expr, number: u64, b: Expr) -> Expr {
        let scaled = self.op_number(BinaryOperator::Mul, a, number);
        self.sum(scaled, b)
    }

    fn require(&mut self, condition: Expr) {
        self.conditions.push(condition);
    }

    fn require_below(&mut self, a: Expr, limit: u64) {
        let condition = self.op_number(BinaryOperator::Ult, a, limit);
        self.require(condition);
    }

    /// The threads differ in one of these.
    fn require_distinct(&mut self, coordinates: &[(Expr, Expr)]) {
        let mut is_same = self.exprs.truth(true);
        for (a, b) in coordinates {
            let equal = self.op(BinaryOperator::Eq, *a, *b);
            is_same = self.op(BinaryOperator::And, is_same, equal);
        }
        let is_distinct = self.exprs.not(is_same);
        self.require(is_distinct);
    }

    /// The elements of these indices share a byte.
    fn require_overlap(&mut self, [a, b]: [Expr; 2], bytes: u64, is_signed: bool) {
        let base = self.exprs.atom(Atom::Argument(0, 8), 64);
        let [a, b] = [a, b].map(|index| {
            let index = self.exprs.resized(index, 64, is_signed);
            let offset = self.op_number(BinaryOperator::Mul, index, bytes);
            self.sum(base, offset)
        });
        let (ab, ba) = (self.exprs.minus(a, b), self.exprs.minus(b, a));
        let [ab, ba] = [ab, ba].map(|apart| self.op_number(BinaryOperator::Ult, apart, bytes));
        let overlap = self.op(BinaryOperator::Or, ab, ba);
        self.require(overlap);
    }

    /// Asks with growing budgets, and returns the answer with the first that suffices.
    fn answer(&mut self) -> (Answer, u64) {
        for budget in [1, 10, 100, 1000, 10_000, 60_000] {
            let answer = solve(&mut self.exprs, &self.conditions, Conflicts(budget));
            if answer != Answer::Unknown {
                return (answer, budget);
            }
        }
        (Answer::Unknown, 60_000)
    }

    fn expect(&mut self, is_satisfiable: bool, most: u64) {
        let (answer, budget) = self.answer();
        assert_eq!(matches!(answer, Answer::Satisfiable(_)), is_satisfiable, "{answer:?}");
        assert_ne!(answer, Answer::Unknown);
        assert!(budget <= most, "takes up to {budget} conflicts");
    }
}

/// `a[ctaid * ntid + tid]` with 256 threads in a cta.
fn elementwise(bytes: u64, is_signed: bool) -> KernelQuery {
    let mut pair = KernelQuery::new();
    let [a, b] = pair.threads();
    let indices = [a, b].map(|thread| {
        pair.require_below(thread.tid, 256);
        pair.require_below(thread.ctaid, 0x7fff_ffff);
        pair.index(thread.ctaid, 256, thread.tid)
    });
    pair.require_distinct(&[(a.tid, b.tid), (a.ctaid, b.ctaid)]);
    pair.require_overlap(indices, bytes, is_signed);
    pair
}

#[test]
fn elementwise_with_a_guard_is_disjoint() {
    for is_signed in [false, true] {
        let mut pair = elementwise(4, is_signed);
        // Without a guard, ctaid * 256 wraps around, so that two threads meet.
        pair.expect(true, 10);
        let [a, b] = pair.threads();
        for thread in [a, b] {
            pair.require_below(thread.ctaid, 1 << 24);
        }
        pair.expect(false, 10);
    }
}

#[test]
fn elements_of_twelve_bytes_are_disjoint() {
    let mut pair = elementwise(12, false);
    let [a, b] = pair.threads();
    for thread in [a, b] {
        pair.require_below(thread.ctaid, 1 << 24);
    }
    pair.expect(false, 1000);
}

#[test]
fn threads_of_half_the_index_share_an_element() {
    let mut pair = KernelQuery::new();
    let [a, b] = pair.threads();
    let indices = [a, b].map(|thread| {
        pair.require_below(thread.tid, 256);
        pair.op_number(BinaryOperator::Lshr, thread.tid, 1)
    });
    pair.require_distinct(&[(a.tid, b.tid)]);
    pair.require_overlap(indices, 4, false);
    pair.expect(true, 10);
}

#[test]
fn tiles_of_a_matrix_of_known_width_are_disjoint() {
    let mut pair = KernelQuery::new();
    let [a, b] = pair.threads();
    let indices = [a, b].map(|thread| {
        pair.require_below(thread.tid, 16);
        pair.require_below(thread.tid_y, 16);
        pair.require_below(thread.ctaid, 63);
        pair.require_below(thread.ctaid_y, 1 << 16);
        let row = pair.index(thread.ctaid_y, 16, thread.tid_y);
        let column = pair.index(thread.ctaid, 16, thread.tid);
        pair.index(row, 1008, column)
    });
    let coordinates =
        [(a.tid, b.tid), (a.tid_y, b.tid_y), (a.ctaid, b.ctaid), (a.ctaid_y, b.ctaid_y)];
    pair.require_distinct(&coordinates);
    pair.require_overlap(indices, 4, true);
    pair.expect(false, 60_000);
}

#[test]
fn rows_and_columns_by_division_are_disjoint() {
    let mut pair = KernelQuery::new();
    let [a, b] = pair.threads();
    let indices = [a, b].map(|thread| {
        pair.require_below(thread.tid, 1024);
        let row = pair.op_number(BinaryOperator::Udiv, thread.tid, 24);
        let column = pair.op_number(BinaryOperator::Urem, thread.tid, 24);
        pair.index(row, 25, column)
    });
    pair.require_distinct(&[(a.tid, b.tid)]);
    pair.require_overlap(indices, 4, false);
    pair.expect(false, 10_000);
}

#[test]
fn a_swizzle_is_a_permutation() {
    let mut pair = KernelQuery::new();
    let [a, b] = pair.threads();
    let indices = [a, b].map(|thread| {
        pair.require_below(thread.tid, 1024);
        let row = pair.op_number(BinaryOperator::Lshr, thread.tid, 5);
        let column = pair.op_number(BinaryOperator::And, thread.tid, 31);
        let mixed = pair.op(BinaryOperator::Xor, column, row);
        let start = pair.op_number(BinaryOperator::Shl, row, 5);
        pair.op(BinaryOperator::Or, start, mixed)
    });
    pair.require_distinct(&[(a.tid, b.tid)]);
    pair.require_overlap(indices, 4, false);
    pair.expect(false, 1000);
}

#[test]
fn halves_of_a_reduction_are_disjoint() {
    let mut pair = KernelQuery::new();
    let [a, b] = pair.threads();
    let stride = pair.atom(Atom::Result(crate::flow::Pc(0), crate::flow::BlockId(0), 0));
    pair.require_below(stride, 512);
    for thread in [a, b] {
        pair.require_below(thread.tid, 1024);
        let is_active = pair.op(BinaryOperator::Ult, thread.tid, stride);
        pair.require(is_active);
    }
    let read = pair.sum(b.tid, stride);
    pair.require_overlap([a.tid, read], 4, false);
    pair.expect(false, 100);
}

#[test]
fn one_cta_with_an_unknown_number_of_threads_is_disjoint() {
    let mut pair = KernelQuery::new();
    let [a, b] = pair.threads();
    let threads = pair.atom(Atom::Ntid(0));
    let is_same = pair.op(BinaryOperator::Eq, a.ctaid, b.ctaid);
    pair.require(is_same);
    let indices = [a, b].map(|thread| {
        let start = pair.op(BinaryOperator::Mul, thread.ctaid, threads);
        pair.sum(start, thread.tid)
    });
    pair.require_distinct(&[(a.tid, b.tid)]);
    pair.require_overlap(indices, 4, true);
    pair.expect(false, 1);
}

#[test]
fn ctas_of_an_unknown_number_of_threads_are_disjoint_in_64_bits() {
    let mut pair = KernelQuery::new();
    let [a, b] = pair.threads();
    let threads = pair.atom(Atom::Ntid(0));
    pair.require_below(threads, 33);
    let indices = [a, b].map(|thread| {
        let is_in_cta = pair.op(BinaryOperator::Ult, thread.tid, threads);
        pair.require(is_in_cta);
        pair.require_below(thread.ctaid, 1 << 6);
        let [ctaid, threads, tid] =
            [thread.ctaid, threads, thread.tid].map(|part| pair.exprs.resized(part, 64, false));
        let start = pair.op(BinaryOperator::Mul, ctaid, threads);
        pair.sum(start, tid)
    });
    pair.require_distinct(&[(a.tid, b.tid), (a.ctaid, b.ctaid)]);
    pair.require_overlap(indices, 4, true);
    pair.expect(false, 60_000);
}
