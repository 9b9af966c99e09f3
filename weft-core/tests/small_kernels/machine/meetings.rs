//! The reference machine: synchronization of threads, within a warp and at cta barriers.

use super::{Machine, State, WARP};
use crate::barriers::Fault;
use crate::clocks::Thread;
use crate::code::Op;
use crate::kernel::{Instr, PREDS, Pred, Use, What};
use crate::memory::{UNSET, Value};

impl Machine<'_> {
    pub(super) fn meet(&mut self, thread: Thread, pc: usize, mask: u32, exchanges: bool) {
        if mask >> self.lane_in_warp(thread) & 1 == 0 {
            self.outcome.fault = Some(Fault::Mask);
            return;
        }
        self.lanes[thread].pc = pc;
        self.lanes[thread].state = State::Meets { mask, exchanges };
        self.settle(thread);
    }

    /// Updates all waits after a thread has begun to wait or has ended: threads whose wait is over become runnable.
    pub(super) fn settle(&mut self, thread: Thread) {
        while self.meet_in_warp(thread) {}
        self.arrive(thread);
        let cta = thread / self.block;
        loop {
            let (first, block, lanes) = (cta * self.block, self.block, &self.lanes);
            let is_live = |warp: usize| {
                let own = first + warp * WARP..first + ((warp + 1) * WARP).min(block);
                lanes[own].iter().any(|lane| lane.state != State::Ended)
            };
            let Some(complete) = self.barriers[cta].complete(is_live, &mut self.clocks) else {
                break;
            };
            // The result carries no dependences: `arrive` recorded those of the predicates as deciding.
            let count = u32::try_from(complete.threads.len()).expect("few threads");
            for thread in complete.threads {
                let lane = &mut self.lanes[thread];
                if let Op::Do(Instr { what: What::Barrier { how, dest, .. }, .. }) =
                    self.code[lane.pc]
                {
                    let votes = complete.votes;
                    match how {
                        Use::Sync | Use::Arrive => {}
                        Use::Reduce => lane.regs[dest] = Value::known(votes),
                        Use::All => {
                            lane.preds[dest % PREDS] = Value::known((votes == count).into());
                        }
                        Use::Any => lane.preds[dest % PREDS] = Value::known((votes > 0).into()),
                    }
                }
                lane.pc += 1;
                lane.state = State::Runs;
            }
        }
    }

    /// Makes one set of lanes runnable that wait for each other and have all arrived. Returns whether there was one.
    fn meet_in_warp(&mut self, thread: Thread) -> bool {
        let warp = self.warp(thread);
        for first in warp.clone() {
            let State::Meets { mask, exchanges } = self.lanes[first].state else { continue };
            let is_with = |other: &Thread| {
                let lane = &self.lanes[*other];
                // Lanes exchange values at one instruction; warp barriers synchronize lanes at any instructions.
                lane.state == State::Meets { mask, exchanges }
                    && (!exchanges || lane.pc == self.lanes[first].pc)
            };
            let here: Vec<_> = warp.clone().filter(is_with).collect();
            let has_come = |other: Thread| {
                let is_named = mask >> self.lane_in_warp(other) & 1 == 1;
                !is_named || self.lanes[other].state == State::Ended || here.contains(&other)
            };
            if warp.clone().all(has_come) {
                if exchanges {
                    self.exchange(&here);
                } else {
                    self.order(&here);
                }
                for other in here {
                    self.lanes[other].pc += 1;
                    self.lanes[other].state = State::Runs;
                }
                return true;
            }
        }
        false
    }

    /// Orders everything that these threads did before everything that they do next.
    fn order(&mut self, threads: &[Thread]) {
        let mut given = Vec::new();
        for &thread in threads {
            crate::clocks::join(&mut given, &self.clocks.give(thread));
        }
        for &thread in threads {
            self.clocks.learn(thread, &given);
        }
    }

    fn exchange(&mut self, threads: &[Thread]) {
        let Op::Do(Instr { what, .. }) = self.code[self.lanes[threads[0]].pc] else { return };
        match what {
            What::Vote { dest, pred, .. } => self.vote(threads, dest, pred),
            What::Shuffle { dest, source, lane, .. } => {
                let from =
                    threads.iter().find(|thread| self.lane_in_warp(**thread) == lane as usize);
                // The source lane does not participate, so its value is undefined.
                self.outcome.reads_unset |= from.is_none();
                let value =
                    from.map_or(Value::default().on(UNSET), |from| self.lanes[*from].regs[source]);
                for &thread in threads {
                    self.lanes[thread].regs[dest] = value;
                }
            }
            _ => {}
        }
    }

    fn vote(&mut self, threads: &[Thread], dest: Pred, pred: Pred) {
        let own = threads.iter().map(|thread| self.lanes[*thread].preds[pred]);
        let any = own.fold(Value::default(), |any, own| Value {
            bits: any.bits | own.bits,
            rests: any.rests | own.rests,
        });
        for &thread in threads {
            self.lanes[thread].preds[dest] = any;
        }
    }

    /// Lets a warp arrive at a cta barrier if all its threads that have not ended wait at one.
    fn arrive(&mut self, thread: Thread) {
        let warp = self.warp(thread);
        let live: Vec<_> =
            warp.filter(|thread| self.lanes[*thread].state != State::Ended).collect();
        let waits: Vec<_> = live.iter().map(|thread| &self.lanes[*thread]).collect();
        let mut first = None;
        let mut votes = 0;
        for lane in waits {
            let State::Arrives { arrival, is_aligned, pred } = lane.state else { return };
            let (known, was_aligned, pc) = *first.get_or_insert((arrival, is_aligned, lane.pc));
            if known != arrival || pc != lane.pc && (is_aligned || was_aligned) {
                self.outcome.fault = Some(Fault::Divergence);
                return;
            }
            votes += u32::from(lane.preds[pred].bits != 0);
            if arrival.how == Use::Reduce {
                self.outcome.decides |= lane.preds[pred].rests;
            }
        }
        let Some((arrival, ..)) = first else { return };
        let cta = thread / self.block;
        let index = thread % self.block / WARP;
        let arrived = self.barriers[cta].arrive(index, &live, votes, arrival, &mut self.clocks);
        if let Err(fault) = arrived {
            self.outcome.fault = Some(fault);
            return;
        }
        for thread in live {
            let lane = &mut self.lanes[thread];
            if arrival.how == Use::Arrive {
                lane.pc += 1;
                lane.state = State::Runs;
            } else {
                lane.state = State::Held;
            }
        }
    }
}
