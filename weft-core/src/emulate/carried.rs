//! What registers hold when any iteration of a loop begins whose trip count is open: what the loop only adds to is off by
//! multiples of that, and what follows from such registers by arithmetic follows from them still. All else is open.

use std::collections::BTreeSet;

use super::event::Events;
use super::machine::Machine;
use super::maybe::inside;
use super::origin::Origin;
use super::value::{LaneMask, Value};
use crate::flow::{BlockId, Pc, Reg};

impl<E: Events> Machine<'_, E> {
    /// Takes the registers that a loop assigns to what they may hold when any iteration begins.
    pub(super) fn forget_registers(
        &mut self,
        warp: usize,
        header: BlockId,
        mask: LaneMask,
        origin: Origin,
    ) {
        let program = self.program;
        let assigned: BTreeSet<Reg> = inside(program, header)
            .flat_map(|pc| program.code[pc].dests.iter().flatten().copied())
            .filter(|register| self.warps[warp].registers.get_mut(*register).is_some())
            .collect();
        let chains = |chains: &'_ crate::flow::Chains| -> Vec<(Reg, Vec<Pc>)> {
            let of = |own: &Reg| Some((*own, chains.get(&(header, *own))?.clone()));
            assigned.iter().filter_map(of).collect()
        };
        let invariant: BTreeSet<Pc> =
            chains(&program.invariant).into_iter().flat_map(|(_, chain)| chain).collect();
        let derived: Vec<_> = chains(&program.derived)
            .into_iter()
            .filter(|(own, _)| !program.steps.contains_key(&(header, *own)))
            .map(|(own, chain)| (own, chain, self.warps[warp].registers[own].clone()))
            .collect();
        let values: Vec<_> = self.after(warp, invariant.into_iter(), mask, |machine| {
            let after = |own| (own, machine.after_rounds(warp, header, own, origin));
            assigned.iter().copied().map(after).collect()
        });
        for (register, value) in values {
            self.warps[warp].write(register, value, mask);
        }
        let mut values = Vec::new();
        for (register, chain, first) in derived {
            let later = self.after(warp, chain.into_iter(), mask, |machine| {
                machine.warps[warp].registers[register].clone()
            });
            values.push((register, self.one_of(&first, &later, mask, (origin, None))));
        }
        for (register, value) in values {
            self.warps[warp].write(register, value, mask);
        }
    }

    /// What is read after some arithmetic, which leaves no trace.
    fn after<T>(
        &mut self,
        warp: usize,
        chain: impl Iterator<Item = Pc>,
        mask: LaneMask,
        read: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let log = self.warps[warp].log.take();
        let mut before: Vec<(Reg, Value)> = Vec::new();
        for pc in chain {
            let instr = &self.program.code[pc.index()];
            for dest in instr.dests.iter().flatten() {
                before.push((*dest, self.warps[warp].registers[*dest].clone()));
            }
            self.compute(warp, pc, instr, mask);
        }
        let read = read(self);
        for (register, value) in before.into_iter().rev() {
            if let Some((own, _)) = self.warps[warp].registers.get_mut(register) {
                *own = value;
            }
        }
        self.warps[warp].log = log;
        read
    }
}
