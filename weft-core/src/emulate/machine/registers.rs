//! Runs `setmaxnreg` (PTX ISA §9.7.19.5). A warp that asks for more registers waits until no other warp can go on, and is
//! then given them if the pool of its cta has enough.

use super::doubt::DoubtKind;
use super::event::{Events, OrderQuery};
use super::state::Machine;
use super::stop::{OrStop, doubt};
use super::warp::{Wait, WaitFor, Warp};
use crate::emulate::sync::group::CtaRank;
use crate::emulate::value::lane::LaneMask;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{BlockId, Instr, Operand, Pc, PlaceId};
use crate::ptx::isa::Modifier;

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Changes the number of registers of a warp. Returns the lanes that wait for them.
    pub(super) fn change_registers(
        &mut self,
        warp: WarpId,
        block: BlockId,
        pc: Pc,
        instr: &Instr,
        lanes: LaneMask,
    ) -> OrStop<LaneMask> {
        let unsupported = doubt(DoubtKind::Unsupported, instr.place, None);
        if let Some(side) = &self.may_execute {
            return Err(side.undecided());
        }
        let cta = self.warps[warp].cta;
        let is_known = self.ctas[cta.index()].registers.is_some();
        if !is_known {
            return Ok(0);
        }
        self.check_warpgroup(warp, instr, lanes)?;
        let Some(Operand::Constant(count)) = instr.sources.first() else { return Err(unsupported) };
        let (Ok(count), Some(pool), Some(decoded)) = (
            u32::try_from(*count),
            self.ctas[cta.index()].registers.as_mut(),
            instr.decoded().filter(|own| !own.is_strange),
        ) else {
            return Err(unsupported);
        };
        if !decoded.modifiers.has(Modifier::Inc) {
            return if pool.release(warp, count) { Ok(0) } else { Err(unsupported) };
        }
        match pool.held(warp) {
            held if held > count => Err(unsupported),
            held if held == count => Ok(0),
            _ => {
                let what = WaitFor::Registers(count);
                self.warps[warp].waits.push(Wait { pc, block, lanes, what });
                Ok(lanes)
            }
        }
    }

    /// Gives warps the registers that they wait for, as far as there are enough. Returns whether some warp can go on.
    pub(super) fn give_registers(&mut self) -> OrStop<bool> {
        let mut is_any = false;
        for cta in 0..self.ctas.len() {
            let in_cta = |warp: &&Warp| warp.cta.index() == cta;
            let asks = |warp: &Warp| Some((warp.id, asked(warp)?));
            let waiting: Vec<_> = self.warps.iter().filter(in_cta).filter_map(asks).collect();
            let Some(pool) = self.ctas[cta].registers.as_mut().filter(|_| !waiting.is_empty())
            else {
                continue;
            };
            let (given, depends) = pool.give(&waiting);
            let given = waiting.into_iter().zip(given).filter(|(_, given)| *given);
            for ((warp, _), _) in given {
                for wait in self.take(warp, |wait| matches!(wait.what, WaitFor::Registers(_))) {
                    if depends {
                        self.contended.get_or_insert(self.program.code[wait.pc.index()].place);
                    }
                    self.resume(warp, &wait)?;
                    is_any = true;
                }
            }
        }
        Ok(is_any)
    }

    /// Fails if all threads have ended, but only because some warps were given registers before others.
    pub(super) fn check_registers(&self) -> OrStop<()> {
        match self.contended {
            Some(place) => Err(doubt(DoubtKind::RegisterPool, place, None)),
            None => Ok(()),
        }
    }

    /// Returns an instruction at which a warp waits for registers that warps of its cta hold which have ended: the manual does
    /// not say whether these are free.
    pub(super) fn might_end_free(&self) -> Option<PlaceId> {
        let ended = |cta: CtaRank| {
            let has_ended = move |warp: &&Warp| warp.cta == cta && warp.live == 0;
            let pool = self.ctas[cta.index()].registers.as_ref();
            let held = |warp: &Warp| pool.map_or(0, |pool| pool.held_by_all(warp.id));
            self.warps.iter().filter(has_ended).map(held).sum::<u64>()
        };
        self.warps.iter().find_map(|warp| {
            let count = asked(warp)?;
            let need = self.ctas[warp.cta.index()].registers.as_ref()?.need(warp.id, count);
            let is_enough = need.asked <= need.free + ended(warp.cta);
            is_enough.then(|| self.program.code[warp.waits[0].pc.index()].place)
        })
    }
}

/// The number of registers for each thread that a warp waits for.
fn asked(warp: &Warp) -> Option<u32> {
    warp.waits.iter().find_map(|wait| match wait.what {
        WaitFor::Registers(count) => Some(count),
        _ => None,
    })
}
