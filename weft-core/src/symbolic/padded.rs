//! Rows of `width + padding` elements: the sum is one radix of an index. It becomes an unknown, so that it is found like any
//! other radix.

use super::poly::{Monomial, Poly, Var, quotient};
use super::system::System;

/// The most sums that become unknowns.
const MOST: usize = 3;

impl System {
    /// The system with unknowns in place of sums that are factors in its equations.
    pub(super) fn with_padded_rows(mut self) -> Self {
        for _ in 0..MOST {
            let Some((width, padding)) = self.padded_row() else { break };
            let Some(sum) = Poly::var(width).plus(&padding) else { break };
            let row = Poly::var(self.var(self.range(&sum)));
            let Some(value) = row.minus(&padding) else { break };
            self.substitute(width, &value);
        }
        self
    }

    /// An unknown and what is added to it, if an equation has fewer terms with an unknown in place of the sum: those of the rows
    /// of two threads. What tells the threads apart is no width.
    fn padded_row(&self) -> Option<(Var, Poly)> {
        let tells_apart = |var: Var| self.distinct.iter().any(|difference| difference.has(var));
        let shortens = |equation: &Poly, width: Var, padding: &Poly| {
            let value = Poly::var(width).minus(padding);
            let shorter = value.and_then(|value| equation.substituted(width, &value));
            shorter.is_some_and(|shorter| shorter.len() + 1 < equation.len())
        };
        self.conditions.zero.iter().find_map(|equation| {
            let found = candidates(equation).into_iter().filter(|(width, padding)| {
                !tells_apart(*width) && !padding.has(*width) && shortens(equation, *width, padding)
            });
            found.min_by_key(|(_, padding)| padding.as_constant().is_none())
        })
    }
}

/// The unknowns in products, each with what might be added to it: what else the other factors are multiplied with.
fn candidates(equation: &Poly) -> Vec<(Var, Poly)> {
    let mut found = Vec::new();
    for (product, weight) in equation.terms() {
        for (at, width) in product.iter().enumerate() {
            let mut others = product.clone();
            others.remove(at);
            if !others.is_empty() {
                let paddings = paddings(equation, (&others, weight));
                found.extend(paddings.map(|padding| (*width, padding)));
            }
        }
    }
    found
}

/// What these others are multiplied with in an equation, as a multiple of a weight: numbers and unknowns.
fn paddings(equation: &Poly, (others, weight): (&Monomial, i128)) -> impl Iterator<Item = Poly> {
    equation.terms().filter_map(move |(product, own)| {
        let rest = quotient(product, others).filter(|rest| rest.len() < 2)?;
        let is_multiple = own % weight == 0 && own / weight > 0;
        is_multiple.then(|| Poly::term(rest, own / weight))
    })
}
