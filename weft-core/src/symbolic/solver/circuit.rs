//! A circuit: gates over unknown bits. Equal gates are one gate, and a gate whose inputs decide it is never built.

use foldhash::fast::RandomState;
use indexmap::IndexSet;

/// The output of a gate, or its complement: twice the gate's number, plus one for the complement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Wire(u32);

/// A gate. Its operands are in an order, and its complements in places, that equal gates share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Gate {
    /// The number 0. Its gate is the first one.
    False,
    /// An unknown bit.
    Input(u32),
    And(Wire, Wire),
    Xor(Wire, Wire),
    /// At least two of three: the carry of a full adder. With [`Gate::Xor`] twice, it is one adder instead of seven
    /// gates, and has clauses through which a SAT solver propagates more.
    Majority(Wire, Wire, Wire),
    /// The second where the first holds, else the third.
    Choice(Wire, Wire, Wire),
}

/// All gates.
#[derive(Debug)]
pub(super) struct Circuit {
    gates: IndexSet<Gate, RandomState>,
    inputs: u32,
}

impl Wire {
    pub(super) const FALSE: Wire = Wire(0);
    pub(super) const TRUE: Wire = Wire(1);

    /// Returns the wire that always has this value.
    pub(super) const fn constant(value: bool) -> Wire {
        if value { Wire::TRUE } else { Wire::FALSE }
    }

    /// Returns the value of a wire that always has the same one.
    pub(super) const fn as_constant(self) -> Option<bool> {
        if self.0 < 2 { Some(self.0 == 1) } else { None }
    }

    /// Returns the number of the gate.
    pub(super) const fn gate(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Whether this is the complement of the gate's output.
    pub(super) const fn is_complement(self) -> bool {
        self.0 & 1 == 1
    }

    fn without_complement(self) -> Wire {
        Wire(self.0 & !1)
    }

    fn complemented_if(self, condition: bool) -> Wire {
        Wire(self.0 ^ u32::from(condition))
    }
}

impl std::ops::Not for Wire {
    type Output = Wire;

    fn not(self) -> Wire {
        Wire(self.0 ^ 1)
    }
}

impl Circuit {
    /// Returns a circuit without inputs.
    pub(super) fn new() -> Circuit {
        Circuit { gates: std::iter::once(Gate::False).collect(), inputs: 0 }
    }

    /// Returns how many gates there are.
    pub(super) fn len(&self) -> usize {
        self.gates.len()
    }

    /// Returns the gate with this number.
    pub(super) fn gate(&self, at: usize) -> Gate {
        self.gates[at]
    }

    fn intern(&mut self, gate: Gate) -> Wire {
        let (at, _) = self.gates.insert_full(gate);
        Wire(u32::try_from(at).expect("the number of gates is limited") << 1)
    }

    /// Returns an unknown bit.
    pub(super) fn input(&mut self) -> Wire {
        self.inputs += 1;
        self.intern(Gate::Input(self.inputs - 1))
    }

    /// Returns `bits` unknown bits.
    pub(super) fn inputs(&mut self, bits: usize) -> Vec<Wire> {
        (0..bits).map(|_| self.input()).collect()
    }

    /// Whether both hold.
    pub(super) fn and(&mut self, a: Wire, b: Wire) -> Wire {
        let (a, b) = if a < b { (a, b) } else { (b, a) };
        if a == Wire::FALSE || a == !b {
            return Wire::FALSE;
        }
        if a == Wire::TRUE || a == b {
            return b;
        }
        for (part, whole) in [(a, b), (b, a)] {
            let Gate::And(p, q) = self.gate(whole.gate()) else { continue };
            for (same, other) in [(p, q), (q, p)] {
                match (whole.is_complement(), part == same, part == !same) {
                    (false, true, _) => return whole,
                    (false, _, true) => return Wire::FALSE,
                    (true, true, _) => return self.and(part, !other),
                    (true, _, true) => return part,
                    _ => {}
                }
            }
        }
        self.intern(Gate::And(a, b))
    }

    /// Whether at least one holds.
    pub(super) fn or(&mut self, a: Wire, b: Wire) -> Wire {
        !self.and(!a, !b)
    }

    /// Whether exactly one holds.
    pub(super) fn xor(&mut self, a: Wire, b: Wire) -> Wire {
        let is_complement = a.is_complement() != b.is_complement();
        let (a, b) = (a.without_complement(), b.without_complement());
        let (a, b) = if a < b { (a, b) } else { (b, a) };
        let result = if a == b {
            Wire::FALSE
        } else if a == Wire::FALSE {
            b
        } else {
            self.intern(Gate::Xor(a, b))
        };
        result.complemented_if(is_complement)
    }

    /// Whether at least two of three hold.
    pub(super) fn majority(&mut self, a: Wire, b: Wire, c: Wire) -> Wire {
        let mut wires = [a, b, c];
        wires.sort_unstable();
        let [a, b, c] = wires;
        // The two wires of one gate have consecutive numbers.
        if a == b || b == !c {
            return a;
        }
        if b == c {
            return b;
        }
        if a == !b {
            return c;
        }
        match a.as_constant() {
            Some(false) => self.and(b, c),
            Some(true) => self.or(b, c),
            None if a.is_complement() => !self.intern(Gate::Majority(!a, !b, !c)),
            None => self.intern(Gate::Majority(a, b, c)),
        }
    }

    /// Returns `a` where `condition` holds, else `b`.
    pub(super) fn choice(&mut self, condition: Wire, a: Wire, b: Wire) -> Wire {
        if condition.is_complement() {
            return self.choice(!condition, b, a);
        }
        if a == b {
            return a;
        }
        if a == !b {
            return self.xor(condition, b);
        }
        let is = |wire: Wire, value: bool| {
            wire == Wire::constant(value) || wire == condition.complemented_if(!value)
        };
        if condition == Wire::FALSE || is(a, false) {
            return self.and(!condition, b);
        }
        if is(a, true) {
            return self.or(condition, b);
        }
        if b == Wire::FALSE || b == condition {
            return self.and(condition, a);
        }
        if b == Wire::TRUE || b == !condition {
            return self.or(!condition, a);
        }
        let is_complement = a.is_complement();
        let (a, b) = (a.complemented_if(is_complement), b.complemented_if(is_complement));
        self.intern(Gate::Choice(condition, a, b)).complemented_if(is_complement)
    }

    /// Whether all hold. A balanced tree, so that the circuit stays shallow.
    pub(super) fn all(&mut self, mut wires: Vec<Wire>) -> Wire {
        while wires.len() > 1 {
            wires = wires
                .chunks(2)
                .map(|pair| if let [a, b] = *pair { self.and(a, b) } else { pair[0] })
                .collect();
        }
        wires.first().copied().unwrap_or(Wire::TRUE)
    }
}
