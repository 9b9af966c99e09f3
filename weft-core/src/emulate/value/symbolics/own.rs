//! Open values that a cta has for itself: the same instruction gives another cta others.

use std::collections::HashSet;

use super::{Identity, SymbolId, Symbolics};

impl Symbolics {
    /// Whether a value depends on what one cta alone has: results of its atomics and exchanges, and how often it has gone
    /// round a loop.
    pub(crate) fn is_of_cta(&self, id: SymbolId) -> bool {
        let is_own = |key: &Identity| {
            matches!(key, Identity::Result(..) | Identity::Exchanged(..) | Identity::Iterations(..))
        };
        self.rests_on(id, is_own)
    }

    /// Whether a value depends on results of atomics or exchanges after so many of them.
    pub(crate) fn is_from(&self, id: SymbolId, (atomics, exchanges): (u64, u32)) -> bool {
        self.rests_on(id, |key| match key {
            Identity::Result(execution, _) => execution.number > atomics,
            Identity::Exchanged((.., number)) => *number > exchanges,
            _ => false,
        })
    }

    fn rests_on(&self, id: SymbolId, is_it: impl Fn(&Identity) -> bool) -> bool {
        let (mut seen, mut rest) = (HashSet::new(), vec![id]);
        while let Some(id) = rest.pop() {
            if id.as_number().is_some() || !seen.insert(id) {
                continue;
            }
            let Some((key, _)) = self.all.get_index(id.place()) else { continue };
            match key {
                key if is_it(key) => return true,
                Identity::Extension(extension) => rest.push(extension.of),
                Identity::Operation(_, operands) => {
                    rest.extend(operands.iter().filter_map(|lane| lane.symbol));
                }
                Identity::Sum(sum) => rest.extend(sum.atoms.iter().map(|(atom, _)| *atom)),
                _ => {}
            }
        }
        false
    }
}
