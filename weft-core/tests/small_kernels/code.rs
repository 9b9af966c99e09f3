//! Lowers small kernels from statements to instructions and jumps.

use std::collections::HashMap;

use crate::kernel::{
    ALL_REGS, Binary, Compare, DEPTH, GLOBAL, Instr, Kernel, Operand, PREDS, Pred, REGS, Reg, Stmt,
    What,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Do(Instr),
    /// Jumps to this index if the guard holds.
    Jump(Option<(Pred, bool)>, usize),
    Exit(Option<(Pred, bool)>),
    /// Jumps to one of these indices, selected by the two lowest bits of a register.
    Switch(Reg, [usize; 4]),
    /// Sets a register to the thread's index in its cta.
    Thread,
    /// Sets a register to the argument.
    Number,
    /// Sets a register to the thread's index in the launch; consecutive ctas start eight apart.
    Global,
}

/// Returns the instructions of a kernel, including the prelude; the last one is an exit.
pub(crate) fn lower(kernel: &Kernel) -> Vec<Op> {
    let start = vec![Op::Thread, Op::Number, Op::Global];
    let mut lowering = Lowering { code: start, ..Lowering::default() };
    let zero = |reg| What::Move(reg, Operand::Const(0));
    let zeros = (5..GLOBAL).chain(REGS..ALL_REGS).map(zero);
    Kernel::PRELUDE.into_iter().chain(zeros).for_each(|what| lowering.plain(what));
    lowering.block(&kernel.body, 0);
    // A break outside of loops ends the thread.
    let breaks = std::mem::take(&mut lowering.breaks);
    lowering.land(&breaks);
    lowering.plain_op(Op::Exit(None));
    for (at, label) in std::mem::take(&mut lowering.jumps) {
        let target = lowering.labels.get(&label).copied().filter(|target| *target > at);
        // A backward jump could loop for ever: it falls through instead.
        lowering.aim(at, target.unwrap_or(at + 1));
    }
    lowering.code
}

#[derive(Default)]
struct Lowering {
    code: Vec<Op>,
    /// The jumps out of the innermost loop, whose targets are not known yet.
    breaks: Vec<usize>,
    /// The jumps to labels, whose targets are not known yet.
    jumps: Vec<(usize, u32)>,
    labels: HashMap<u32, usize>,
}

impl Lowering {
    fn plain_op(&mut self, op: Op) -> usize {
        self.code.push(op);
        self.code.len() - 1
    }

    fn plain(&mut self, what: What) {
        self.code.push(Op::Do(Instr { guard: None, what }));
    }

    fn aim(&mut self, jump: usize, to: usize) {
        if let Op::Jump(_, target) = &mut self.code[jump] {
            *target = to;
        }
    }

    /// Makes these jumps go to the next instruction.
    fn land(&mut self, jumps: &[usize]) {
        let here = self.code.len();
        for &jump in jumps {
            self.aim(jump, here);
        }
    }

    fn block(&mut self, stmts: &[Stmt], depth: usize) {
        for stmt in stmts {
            self.stmt(stmt, depth);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, depth: usize) {
        match stmt {
            Stmt::Do(instr) => self.code.push(Op::Do(*instr)),
            Stmt::Return(guard) => self.code.push(Op::Exit(*guard)),
            Stmt::Break(guard) => {
                let jump = self.plain_op(Op::Jump(*guard, 0));
                self.breaks.push(jump);
            }
            Stmt::Jump(guard, label) => {
                let jump = self.plain_op(Op::Jump(*guard, 0));
                self.jumps.push((jump, *label));
            }
            Stmt::Label(label) => {
                self.labels.insert(*label, self.code.len());
            }
            Stmt::If { pred, negated, then, otherwise } => {
                let to_else = self.plain_op(Op::Jump(Some((*pred, !negated)), 0));
                self.block(then, depth);
                if otherwise.is_empty() {
                    return self.land(&[to_else]);
                }
                let to_end = self.plain_op(Op::Jump(None, 0));
                self.land(&[to_else]);
                self.block(otherwise, depth);
                self.land(&[to_end]);
            }
            Stmt::Switch { index, arms } => self.switch(*index, arms, depth),
            Stmt::Loop { count, tests_first, body } if depth < DEPTH => {
                self.repeat(*count, *tests_first, body, depth);
            }
            Stmt::Loop { body, .. } => self.block(body, depth),
        }
    }

    fn switch(&mut self, index: Reg, arms: &[Vec<Stmt>; 4], depth: usize) {
        let at = self.plain_op(Op::Switch(index, [0; 4]));
        let mut targets = [0; 4];
        let mut to_end = Vec::new();
        for (arm, target) in arms.iter().zip(&mut targets) {
            *target = self.code.len();
            self.block(arm, depth);
            to_end.push(self.plain_op(Op::Jump(None, 0)));
        }
        self.land(&to_end);
        self.code[at] = Op::Switch(index, targets);
    }

    fn repeat(&mut self, count: Operand, tests_first: bool, body: &[Stmt], depth: usize) {
        let (counter, pred) = (REGS + 2 * depth, PREDS + depth);
        self.plain(What::Move(counter, Operand::Const(0)));
        let outer = std::mem::take(&mut self.breaks);
        let head = self.code.len();
        if tests_first {
            self.test(count, depth);
            let jump = self.plain_op(Op::Jump(Some((pred, false)), 0));
            self.breaks.push(jump);
        }
        self.block(body, depth + 1);
        let one = Operand::Const(1);
        self.plain(What::Compute(counter, Binary::Add, Operand::Reg(counter), one));
        if tests_first {
            self.plain_op(Op::Jump(None, head));
        } else {
            self.test(count, depth);
            self.plain_op(Op::Jump(Some((pred, true)), head));
        }
        let breaks = std::mem::replace(&mut self.breaks, outer);
        self.land(&breaks);
    }

    /// Adds the test whether a loop has run all its iterations, at most three.
    fn test(&mut self, count: Operand, depth: usize) {
        let (counter, limit, pred) = (REGS + 2 * depth, REGS + 2 * depth + 1, PREDS + depth);
        self.plain(What::Compute(limit, Binary::Min, count, Operand::Const(3)));
        let (counter, limit) = (Operand::Reg(counter), Operand::Reg(limit));
        self.plain(What::Test(pred, Compare::Ge, counter, limit));
    }
}
