//! The reference machine: an interpreter that runs threads one by one, instruction by instruction.
//!
//! Takes the code of a kernel and concrete inputs. Threads run in ascending order as far as they can. A thread stops
//! only before an atomic, so that every order of atomics can be tried. Where nothing races and the barriers are
//! well-synchronized, the order of everything else does not matter.

mod access;
mod arithmetic;
mod bypass;
mod copies;
mod meetings;

use arithmetic::{binary, exceeds, test};
use bypass::{Executed, Rule};

use crate::barriers::{Arrival, Barriers, Fault};
use crate::clocks::{Clocks, Race, Races, Thread};
use crate::code::Op;
use crate::kernel::{
    ALL_PREDS, ALL_REGS, Array, Atomics, GLOBAL, Instr, Kernel, Operand, Pred, What,
};
use crate::memory::{DATA, Memory, NUMBER, ORDER, OUT, Rests, Value, filler};

const WARP: usize = 32;

/// The values of the inputs that the launch can leave open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inputs {
    pub(crate) number: u32,
    /// Contents of the buffer of words.
    pub(crate) words: Vec<u32>,
    /// Seed of the contents of the buffer of bytes.
    pub(crate) out: u32,
    /// Seed of the contents of memory that nothing wrote.
    pub(crate) fill: u32,
}

impl Inputs {
    /// Returns the contents of the buffer of words.
    pub(crate) fn data(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Returns the contents of the buffer of bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        (0..Array::Out.bytes()).map(|at| filler(self.out, at)).collect()
    }
}

/// The state of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Runs,
    /// The thread waits for the rest of its warp to arrive at a cta barrier.
    Arrives {
        arrival: Arrival,
        is_aligned: bool,
        pred: Pred,
    },
    /// The thread waits for a generation to complete.
    Held,
    /// The thread waits for lanes of its warp.
    Meets {
        mask: u32,
        exchanges: bool,
    },
    Ended,
}

#[derive(Clone, Debug)]
struct Lane {
    pc: usize,
    state: State,
    regs: [Value; ALL_REGS],
    preds: [Value; ALL_PREDS],
    own: Memory,
    trace: Vec<Executed>,
    /// The copies that it has not waited for, each with the number of its group, if it belongs to one.
    copies: Vec<(Option<u32>, Thread)>,
    /// The number of groups of copies that it has made.
    groups: u32,
}

/// The result of a run, once no thread is runnable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) fault: Option<Fault>,
    pub(crate) races: std::collections::BTreeMap<Race, bool>,
    pub(crate) misaligned: Vec<usize>,
    /// Accesses outside of the array or the buffer that they start from. They can race, but have no other effect.
    pub(crate) outside: Vec<usize>,
    /// Whether a counter, or an index computed from its values, exceeded 32 bits. The regular wrap-around of `inc` and
    /// `dec` at their bounds does not count.
    pub(crate) wraps: bool,
    /// Whether memory was read that nothing wrote.
    pub(crate) reads_unset: bool,
    /// What branches, guards and addresses depend on.
    pub(crate) decides: Rests,
    /// What stored values depend on.
    pub(crate) stored: Rests,
    /// Identifies which threads access which places of shared and global memory: the sum of hashes of all accesses.
    pub(crate) touched: u64,
}

impl Outcome {
    pub(crate) fn is_defect(&self) -> bool {
        self.fault.is_some() || !self.races.is_empty() || self.is_astray()
    }

    /// Whether some access is misaligned or outside of memory.
    pub(crate) fn is_astray(&self) -> bool {
        !self.misaligned.is_empty() || !self.outside.is_empty()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Machine<'a> {
    code: &'a [Op],
    block: usize,
    atomics: Atomics,
    /// Whether threads run in descending order.
    is_reversed: bool,
    lanes: Vec<Lane>,
    number: u32,
    /// For each cta, the two shared arrays, one after the other.
    shared: Vec<Memory>,
    data: Memory,
    out: Memory,
    barriers: Vec<Barriers>,
    clocks: Clocks,
    races: Races,
    outcome: Outcome,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(kernel: &Kernel, code: &'a [Op], inputs: &Inputs) -> Self {
        let threads = kernel.block * kernel.grid;
        let unset = |array: Array| Memory::unset(array.bytes(), inputs.fill);
        let lane = Lane {
            pc: 0,
            state: State::Runs,
            regs: [Value::default(); ALL_REGS],
            preds: [Value::default(); ALL_PREDS],
            own: unset(Array::Local),
            trace: Vec::new(),
            copies: Vec::new(),
            groups: 0,
        };
        Self {
            code,
            block: kernel.block,
            atomics: kernel.atomics,
            is_reversed: false,
            lanes: vec![lane; threads],
            number: inputs.number,
            shared: vec![
                Memory::unset(Array::A.bytes() + Array::B.bytes(), inputs.fill);
                kernel.grid
            ],
            data: Memory::given(inputs.data(), DATA),
            out: Memory::given(inputs.bytes(), OUT),
            barriers: vec![Barriers::new(kernel.block.div_ceil(WARP)); kernel.grid],
            clocks: Clocks::new(threads),
            races: Races::default(),
            outcome: Outcome::default(),
        }
    }

    /// Returns this machine with threads in descending order.
    pub(crate) fn reversed(&self) -> Self {
        Self { is_reversed: true, ..self.clone() }
    }

    /// Returns this machine with other initial contents of shared memory.
    pub(crate) fn refilled(&self, fill: u32) -> Self {
        let refill = |own: &Memory| Memory::unset(own.bytes(), fill);
        Self { shared: self.shared.iter().map(refill).collect(), ..self.clone() }
    }

    /// Runs all threads until each has ended, waits or stands at an atomic. Returns the threads at atomics.
    pub(crate) fn advance(&mut self) -> Vec<Thread> {
        loop {
            let mut progress = false;
            for at in 0..self.lanes.len() {
                let thread = if self.is_reversed { self.lanes.len() - 1 - at } else { at };
                while self.can_step(thread) && !self.is_at_atomic(thread) {
                    self.step(thread);
                    progress = true;
                }
            }
            if !progress {
                break;
            }
        }
        (0..self.lanes.len()).filter(|thread| self.can_step(*thread)).collect()
    }

    /// Returns the cta of a thread and its index in the code.
    pub(crate) fn stands_at(&self, thread: Thread) -> (usize, usize) {
        (thread / self.block, self.lanes[thread].pc)
    }

    fn can_step(&self, thread: Thread) -> bool {
        self.outcome.fault.is_none() && self.lanes[thread].state == State::Runs
    }

    /// Returns the outcome, when no thread is runnable.
    pub(crate) fn outcome(mut self) -> Outcome {
        let all_ended = self.lanes.iter().all(|lane| lane.state == State::Ended);
        if self.outcome.fault.is_none() && !all_ended {
            self.outcome.fault = Some(Fault::Deadlock);
        }
        if self.outcome.fault.is_none() && self.is_bypassed() {
            self.outcome.fault = Some(Fault::Divergence);
        }
        self.outcome.races = self.races.found;
        self.outcome
    }

    /// Whether some thread bypasses an aligned barrier that another thread of its warp reaches.
    fn is_bypassed(&self) -> bool {
        let Some(rule) = Rule::of(self.code) else { return false };
        let traces: Vec<_> = self.lanes.iter().map(|lane| rule.trace(&lane.trace)).collect();
        (0..self.lanes.len()).any(|thread| {
            let mut others = self.warp(thread).filter(|other| *other > thread);
            others.any(|other| {
                self.lanes[thread].trace != self.lanes[other].trace
                    && rule.is_bypassed(&traces[thread], &traces[other])
            })
        })
    }

    fn is_at_atomic(&self, thread: Thread) -> bool {
        let lane = &self.lanes[thread];
        match self.code[lane.pc] {
            Op::Do(Instr { what: What::Atomic { .. }, .. }) => self.is_enabled(thread, lane.pc),
            _ => false,
        }
    }

    fn is_enabled(&self, thread: Thread, pc: usize) -> bool {
        let (Op::Do(Instr { guard, .. }) | Op::Jump(guard, _) | Op::Exit(guard)) = self.code[pc]
        else {
            return true;
        };
        guard.is_none_or(|(pred, negated)| (self.lanes[thread].preds[pred].bits != 0) != negated)
    }

    /// Whether a guard holds; records that it decides something.
    fn holds(&mut self, thread: Thread, guard: Option<(Pred, bool)>) -> bool {
        guard.is_none_or(|(pred, negated)| {
            let value = self.lanes[thread].preds[pred];
            self.outcome.decides |= value.rests;
            (value.bits != 0) != negated
        })
    }

    /// Executes the next instruction of a thread.
    pub(crate) fn step(&mut self, thread: Thread) {
        let pc = self.lanes[thread].pc;
        self.lanes[thread].pc += 1;
        let is_enabled = self.is_enabled(thread, pc);
        self.lanes[thread].trace.push(Executed { pc, is_enabled });
        match self.code[pc] {
            Op::Thread => {
                let index = u32::try_from(thread % self.block).expect("few threads");
                self.lanes[thread].regs[0] = Value::known(index);
            }
            Op::Global => {
                let index = 8 * (thread / self.block) + thread % self.block;
                let index = u32::try_from(index).expect("few threads");
                self.lanes[thread].regs[GLOBAL] = Value::known(index);
            }
            Op::Switch(index, targets) => {
                let index = self.lanes[thread].regs[index];
                self.outcome.decides |= index.rests;
                self.lanes[thread].pc = targets[index.bits as usize & 3];
            }
            Op::Number => self.lanes[thread].regs[1] = Value::known(self.number).on(NUMBER),
            Op::Jump(guard, target) => {
                if self.holds(thread, guard) {
                    self.lanes[thread].pc = target;
                }
            }
            Op::Exit(guard) => {
                if self.holds(thread, guard) {
                    self.lanes[thread].state = State::Ended;
                    self.settle(thread);
                }
            }
            Op::Do(Instr { guard, what }) => {
                // The guard of an instruction that only writes a register decides nothing by itself: the result depends
                // on it.
                if let Some(dest) = self.quiet_dest(thread, &what) {
                    self.compute(thread, guard, what, dest);
                } else if self.holds(thread, guard) {
                    self.act(thread, pc, what);
                }
            }
        }
    }

    fn value(&self, thread: Thread, operand: Operand) -> Value {
        match operand {
            Operand::Reg(reg) => self.lanes[thread].regs[reg],
            Operand::Const(bits) => Value::known(bits),
        }
    }

    /// Returns the old value of the destination of an instruction that only writes a register; `None` for others.
    fn quiet_dest(&self, thread: Thread, what: &What) -> Option<Value> {
        let lane = &self.lanes[thread];
        match *what {
            What::Move(dest, _) | What::Compute(dest, ..) | What::Select(dest, ..) => {
                Some(lane.regs[dest])
            }
            What::Test(dest, ..) => Some(lane.preds[dest]),
            _ => None,
        }
    }

    fn compute(&mut self, thread: Thread, guard: Option<(Pred, bool)>, what: What, old: Value) {
        let of = |operand| self.value(thread, operand);
        let new = match what {
            What::Move(_, source) => of(source),
            What::Compute(_, operation, a, b) => {
                let (a, b) = (of(a), of(b));
                let value = binary(operation, a, b);
                self.outcome.wraps |=
                    value.rests & ORDER != 0 && exceeds(operation, a.bits, b.bits);
                value
            }
            What::Test(_, compare, a, b) => test(compare, of(a), of(b)),
            What::Select(_, a, b, pred) => {
                let condition = self.lanes[thread].preds[pred];
                // A selection depends on both values, whichever it returns.
                let rests = of(a).rests | of(b).rests | condition.rests;
                if condition.bits != 0 { of(a) } else { of(b) }.on(rests)
            }
            _ => old,
        };
        let value = match guard {
            None => new,
            Some((pred, negated)) => {
                let condition = self.lanes[thread].preds[pred];
                if (condition.bits != 0) == negated { old } else { new }.on(condition.rests)
            }
        };
        let lane = &mut self.lanes[thread];
        match what {
            What::Move(dest, _) | What::Compute(dest, ..) | What::Select(dest, ..) => {
                lane.regs[dest] = value;
            }
            What::Test(dest, ..) => lane.preds[dest] = value,
            _ => {}
        }
    }

    /// Returns the threads of a thread's warp.
    fn warp(&self, thread: Thread) -> std::ops::Range<Thread> {
        let cta = thread / self.block * self.block;
        let first = cta + (thread - cta) / WARP * WARP;
        first..(first + WARP).min(cta + self.block)
    }

    fn lane_in_warp(&self, thread: Thread) -> usize {
        thread % self.block % WARP
    }
}
