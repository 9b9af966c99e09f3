//! Combinations of facts: which non-negative weights of facts leave nothing of a polynomial that might be negative. Each
//! product of unknowns gives one sum of the weights with a limit; a linear program finds the weights.

use foldhash::{HashMap, HashMapExt};

use super::linear_program::{LimitedSum, Table};
use super::poly::{Monomial, Poly};

/// The most pivots of one linear program.
const MOST_PIVOTS: u32 = 120;
/// So many entries of a table that are changed count as a step.
const ENTRIES_OF_STEP: usize = 4000;

/// What is left of a polynomial `of` if facts with weights are subtracted from it.
pub(super) struct Combination<'a> {
    of: &'a Poly,
    facts: &'a [Poly],
    rows: Vec<TermSum>,
    /// Whether all terms of a fact can be balanced.
    is_usable: Vec<bool>,
}

/// What is left of a term.
struct TermSum {
    /// Whether the product might be negative: then nothing may be left.
    is_exact: bool,
    coefficient: i128,
    /// The facts that have the product, with its coefficients there.
    entries: Vec<(usize, i128)>,
}

impl<'a> Combination<'a> {
    /// `is_natural`: whether a product is never negative.
    pub(super) fn new(
        of: &'a Poly,
        facts: &'a [Poly],
        is_natural: impl Fn(&Monomial) -> bool,
    ) -> Self {
        let mut rows: Vec<TermSum> = Vec::new();
        let mut row_of: HashMap<&Monomial, usize> = HashMap::new();
        let all = facts.iter().enumerate().map(|(at, fact)| (Some(at), fact));
        for (at, poly) in std::iter::once((None, of)).chain(all) {
            for (monomial, coefficient) in poly.terms().filter(|(own, _)| !own.is_empty()) {
                let row = *row_of.entry(monomial).or_insert(rows.len());
                if row == rows.len() {
                    let is_exact = !is_natural(monomial);
                    rows.push(TermSum { is_exact, coefficient: 0, entries: Vec::new() });
                }
                match at {
                    Some(at) => rows[row].entries.push((at, coefficient)),
                    None => rows[row].coefficient = coefficient,
                }
            }
        }
        Self { of, facts, rows, is_usable: vec![true; facts.len()] }
    }

    /// Finds weights of the facts, if there are any. Returns the steps that this took, too.
    pub(super) fn weights(mut self) -> (Option<Vec<f64>>, u32) {
        if !self.drop_unbalanced() {
            return (None, 1);
        }
        let usable: Vec<usize> =
            (0..self.facts.len()).filter(|fact| self.is_usable[*fact]).collect();
        let mut numbers = vec![0; self.facts.len()];
        usable.iter().enumerate().for_each(|(number, fact)| numbers[*fact] = number);
        let mut sums = Vec::new();
        for row in &self.rows {
            let entries = row.entries.iter().filter(|(fact, _)| self.is_usable[*fact]);
            let coefficients: Vec<(usize, f64)> =
                entries.map(|(fact, own)| (numbers[*fact], rounded(*own))).collect();
            if !coefficients.is_empty() {
                let limit = rounded(row.coefficient);
                sums.push(LimitedSum { coefficients, limit, is_exact: row.is_exact });
            }
        }
        let gain = |fact: &usize| -rounded(self.facts[*fact].constant_part());
        let gains: Vec<f64> = usable.iter().map(gain).collect();
        let mut table = Table::new(usable.len(), &sums, MOST_PIVOTS);
        let found = table.weights(&gains, -rounded(self.of.constant_part()));
        let entries = table.pivots() as usize * sums.len() * (usable.len() + sums.len());
        let steps = u32::try_from(entries / ENTRIES_OF_STEP).unwrap_or(u32::MAX);
        let weights = found.map(|found| {
            let mut weights = vec![0.0; self.facts.len()];
            usable.iter().zip(found).for_each(|(fact, weight)| weights[*fact] = weight);
            weights
        });
        (weights, steps.saturating_add(1))
    }

    /// Drops facts with terms that nothing balances. Returns whether the rest balances the polynomial's terms.
    fn drop_unbalanced(&mut self) -> bool {
        loop {
            let mut is_changed = false;
            for row in &self.rows {
                let usable = || row.entries.iter().filter(|(fact, _)| self.is_usable[*fact]);
                // A fact of positive weight raises what is left by its negative terms, and lowers it by the others. What is
                // never negative can be left.
                let is_raised = usable().any(|(_, own)| *own < 0);
                let is_lowered = usable().any(|(_, own)| *own > 0) || !row.is_exact;
                if row.coefficient < 0 && !is_raised || row.coefficient > 0 && !is_lowered {
                    return false;
                }
                let can_be_lowered = row.coefficient > 0 || is_raised;
                let can_be_raised = row.coefficient < 0 || is_lowered;
                for (fact, own) in &row.entries {
                    let is_balanced = if *own > 0 { can_be_lowered } else { can_be_raised };
                    is_changed |= !is_balanced && self.is_usable[*fact];
                    self.is_usable[*fact] &= is_balanced;
                }
            }
            if !is_changed {
                return true;
            }
        }
    }
}

/// The nearest floating-point number.
#[allow(clippy::cast_precision_loss, reason = "whoever uses the weights checks them")]
fn rounded(of: i128) -> f64 {
    of as f64
}
