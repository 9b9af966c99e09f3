//! What registers hold when any iteration begins of a loop whose trip count is open. If a loop only adds to a register,
//! the register differs from its value before the loop by a multiple of the greatest common divisor of what is added;
//! if it is computed from such registers, or from registers that the loop does not define, it is computed here from
//! their values. Everything else is open.

use std::collections::BTreeSet;

use super::event::{Events, OrderQuery};
use super::open_loop::inside;
use super::state::Machine;
use crate::emulate::value::lane::{Lane, LaneMask, WARP};
use crate::emulate::value::origin::{Origin, Region};
use crate::emulate::value::register::Value;
use crate::emulate::value::symbolics::gcd;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{self, BlockId, Holds, Pc, Reg};
use crate::ptx::Space;

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Sets the registers that a loop assigns to what they can hold when any iteration begins.
    pub(super) fn forget_registers(
        &mut self,
        warp: WarpId,
        header: BlockId,
        mask: LaneMask,
        origin: Origin,
    ) {
        let program = self.program;
        let assigned: BTreeSet<Reg> = inside(program, header)
            .flat_map(|(_, instr)| instr.dests.iter().flatten().copied())
            .filter(|register| self.warps[warp].registers.has(*register))
            .collect();
        for register in &assigned {
            let before = self.warps[warp].registers[*register].clone();
            self.pass_on(header, *register, &before, mask);
        }
        let chains = |chains: &'_ crate::flow::Chains| -> Vec<(Reg, Vec<Pc>)> {
            let of = |dest: &Reg| Some((*dest, chains.get(&(header, *dest))?.clone()));
            assigned.iter().filter_map(of).collect()
        };
        let invariant: BTreeSet<Pc> =
            chains(&program.invariant).into_iter().flat_map(|(_, chain)| chain).collect();
        let derived: Vec<_> = chains(&program.derived)
            .into_iter()
            .filter(|(register, _)| !program.steps.contains_key(&(header, *register)))
            .map(|(carried, chain)| (carried, chain, self.warps[warp].registers[carried].clone()))
            .collect();
        let values: Vec<_> = self.after(warp, invariant.into_iter(), mask, |machine| {
            let after =
                |carried| (carried, machine.after_iterations(warp, header, carried, origin));
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

    /// Computes the instructions of `chain`, returns what `read` reads then, and restores the registers.
    fn after<T>(
        &mut self,
        warp: WarpId,
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
            if let Some((current, _)) = self.warps[warp].registers.get_mut(register) {
                *current = value;
            }
        }
        self.warps[warp].log = log;
        read
    }

    /// What a register can hold after some iterations of a loop.
    pub(super) fn after_iterations(
        &mut self,
        warp: WarpId,
        header: BlockId,
        register: Reg,
        origin: Origin,
    ) -> Value {
        let origin = self.facts.passed_on.in_register(header, register, origin);
        let program = self.program;
        let region = match program.holds[register.index()] {
            Holds::Param(at) if program.is_pointer(at) => Region::Buffer(program.buffer_of(at)),
            Holds::Params(params) if params.all().all(|at| program.is_pointer(at)) => {
                program.buffers_of(params).map_or(Region::Unclear, Region::Among)
            }
            Holds::Params(params) if params.all().any(|at| program.is_pointer(at)) => {
                Region::Unclear
            }
            Holds::Variable(at) if program.symbols[at].space == Space::Global => Region::Unclear,
            Holds::Mixed => Region::Unclear,
            _ => Region::Number,
        };
        let unknown = Value::open(self.facts.symbolics.any(origin, region));
        if let Some(fetches) = program.fetches.get(&(header, register)) {
            return self.next_counter_values(warp, register, fetches, &unknown);
        }
        let Some(steps) = program.steps.get(&(header, register)) else { return unknown };
        let moduli = self.moduli(warp, header, steps);
        let bits = steps.iter().map(|step| step.bits).min().unwrap_or(64);
        let value = self.warps[warp].registers[register].clone();
        Value::from_lanes(|lane| match moduli[lane] {
            Some(modulus) => {
                self.facts.symbolics.congruent(value.whole(lane), (modulus, bits), origin)
            }
            None => unknown.whole(lane),
        })
    }

    /// For each lane: the greatest common divisor of all amounts that the definitions add in one iteration; `None` if
    /// one of them is not known.
    fn moduli(
        &mut self,
        warp: WarpId,
        header: BlockId,
        steps: &[flow::InductionStep],
    ) -> [Option<u64>; WARP] {
        let mut moduli = [Some(0_u64); WARP];
        for step in steps {
            let amounts = self.amounts(warp, header, step);
            for (modulus, amount) in moduli.iter_mut().zip(amounts) {
                let size = amount.map(|amount| amount.cast_signed().unsigned_abs());
                *modulus = modulus.zip(size).map(|(known, size)| gcd(known, size));
            }
        }
        moduli
    }

    /// For each lane: what a definition adds in one iteration; `None` if that is not known.
    pub(super) fn amounts(
        &mut self,
        warp: WarpId,
        header: BlockId,
        step: &flow::InductionStep,
    ) -> [Option<u64>; WARP] {
        let at = self.program.blocks[header.index()].first;
        let mut sums = [Some(0_u64); WARP];
        for (amount, is_less) in &step.amounts {
            let value = self.operand(warp, at, amount);
            for (lane, sum) in sums.iter_mut().enumerate() {
                let Lane { bits, symbol } = value.whole(lane);
                let signed = if *is_less { bits.wrapping_neg() } else { bits };
                // An amount that leads from one buffer to another is no step.
                let is_step = symbol.is_none() && Region::of(bits) == Region::Number;
                *sum = sum.filter(|_| is_step).map(|sum| sum.wrapping_add(signed));
            }
        }
        sums
    }
}
