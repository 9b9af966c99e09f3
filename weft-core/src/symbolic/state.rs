//! What the registers and the local words of the arbitrary thread hold at one point of its run.

use std::collections::BTreeMap;

use super::expr::{Expr, Exprs};

/// The contents of registers and of local memory. A register is identified by its place in the slice.
#[derive(Clone, Debug, Default)]
pub(super) struct ThreadState {
    /// `None`: nothing has written the register, or what it holds does not matter.
    pub(super) registers: Vec<Option<Expr>>,
    /// Words of local memory that the text names, by the first byte and the number of bytes.
    pub(super) locals: BTreeMap<(u64, u32), Expr>,
    /// The address of each word that is a lock where an atomic that takes it was last executed, if one was.
    pub(super) taken: BTreeMap<usize, Expr>,
}

impl ThreadState {
    /// Writes a local word. Words that overlap it are no longer known.
    pub(super) fn store(&mut self, first: u64, bytes: u32, value: Option<Expr>) {
        let end = first.saturating_add(u64::from(bytes));
        self.locals
            .retain(|(at, size), _| *at >= end || at.saturating_add(u64::from(*size)) <= first);
        if let Some(value) = value {
            self.locals.insert((first, bytes), value);
        }
    }

    /// Merges this state with one that is reached under `condition` instead.
    pub(super) fn merge(&mut self, exprs: &mut Exprs, condition: Expr, other: &Self) {
        let both = |exprs: &mut Exprs, here: Expr, there: Expr| {
            let bits = exprs.bits(here).max(exprs.bits(there));
            let there = exprs.resized(there, bits, false);
            let here = exprs.resized(here, bits, false);
            exprs.ite(condition, there, here)
        };
        for (here, there) in self.registers.iter_mut().zip(&other.registers) {
            *here = match (*here, *there) {
                (Some(own), Some(other)) => Some(both(exprs, own, other)),
                _ => None,
            };
        }
        let mut merged = BTreeMap::new();
        for (word, here) in &self.locals {
            if let Some(there) = other.locals.get(word) {
                merged.insert(*word, both(exprs, *here, *there));
            }
        }
        self.locals = merged;
        self.taken.retain(|word, here| other.taken.get(word) == Some(here));
    }
}
