//! Which symbolic values depend on what belongs to one cta, or to one iteration of a loop: another cta or iteration
//! gets other values from the same instructions.

use std::collections::HashSet;

use super::{Identity, SymbolId, Symbolics};

impl Symbolics {
    /// Whether a value depends on something that belongs to one cta: results of its atomics and exchanges, and
    /// iteration numbers of its loops.
    pub(crate) fn is_of_cta(&self, id: SymbolId) -> bool {
        let is_own = |key: &Identity| {
            matches!(key, Identity::Result(..) | Identity::Exchanged(..) | Identity::Iterations(..))
        };
        self.rests_on(id, is_own)
    }

    /// Whether a value depends on atomics or exchanges later than these counts of them.
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
