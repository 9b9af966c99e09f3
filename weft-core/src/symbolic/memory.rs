//! Accesses of the arbitrary thread: those that others can see are recorded, those to its parameters and to words of its
//! local memory are followed.

use super::atom::{Atom, Expr};
use super::expr::BinaryOperator;
use super::result_source::ResultSource;
use super::state::ThreadState;
use super::thread::{Runner, SymbolicAccess};
use crate::flow::{BlockId, Instr, Pc};
use crate::ptx::isa::{Decoded, Effect, Modifier};
use crate::ptx::{Space, Type};

impl Runner<'_> {
    pub(super) fn access(
        &mut self,
        block: BlockId,
        pc: Pc,
        instr: &Instr,
        reach: Expr,
        state: &mut ThreadState,
    ) {
        let (Some(decoded), Some(address)) = (instr.decoded(), instr.address) else {
            self.thread.unknown.insert(pc);
            return;
        };
        if decoded.is_asynchronous {
            // Intervals between barriers do not say when a copy is complete.
            self.thread.unknown.insert(pc);
        }
        let reads = decoded.row.effect == Effect::Load;
        if self.own_memory(block, pc, instr, decoded, state) {
            return;
        }
        if address.space == Space::Generic && !reads {
            // It might be a word of local memory.
            state.locals.clear();
        }
        let Some(at) = self.address(instr, state) else {
            self.thread.unknown.insert(pc);
            return;
        };
        let bytes = decoded.ty().bytes() * u32::from(decoded.vector());
        let added = self.added(instr, decoded, state);
        let drawn = added.and_then(|_| self.draw(block, pc, instr, decoded, state));
        let is_constant = address.space == Space::Const || (self.facts.is_constant)(pc);
        if !matches!(address.space, Space::Const | Space::Param) {
            let taken = state.taken.clone();
            let access =
                SymbolicAccess { pc, block, address: at, bytes, reach, added, drawn, taken };
            self.thread.accesses.push(access);
            if let Some(word) = self.facts.takings.get(&(block, pc)) {
                state.taken.insert(*word, at);
            }
        } else if !reads {
            self.thread.unknown.insert(pc);
        }
        if drawn.is_some() {
            return;
        }
        // The host or another launch might write what a strong load reads, while the kernel runs.
        if !reads || !is_constant || decoded.is_strong_access() {
            self.forget(block, pc, instr, &ResultSource::Other, state);
            return;
        }
        self.load_constant(instr, decoded, at, state);
    }

    /// An access to the kernel's parameters or to local memory; returns whether it is one.
    fn own_memory(
        &mut self,
        block: BlockId,
        pc: Pc,
        instr: &Instr,
        decoded: &Decoded,
        state: &mut ThreadState,
    ) -> bool {
        let Some(address) = instr.address else { return false };
        let reads = decoded.row.effect == Effect::Load;
        if address.space == Space::Param && address.base.is_none() && reads {
            self.argument(block, pc, instr, address.offset, state);
            return true;
        }
        if let Some(first) = address.named_local() {
            let bytes = decoded.ty().bytes() * u32::from(decoded.vector());
            self.local(block, pc, instr, (first, bytes), state);
            return true;
        }
        if address.space == Space::Local {
            if !reads {
                state.locals.clear();
            }
            self.forget(block, pc, instr, &ResultSource::Other, state);
            return true;
        }
        false
    }

    /// The number that an atomic adds to an integer; `None` if it does something else.
    fn added(&mut self, instr: &Instr, decoded: &Decoded, state: &ThreadState) -> Option<u64> {
        let is_integer = matches!(decoded.ty(), Type::U32 | Type::S32 | Type::U64 | Type::S64);
        let adds = decoded.row.effect == Effect::Atomic && decoded.modifiers.has(Modifier::Add);
        let [added] = &instr.sources[..] else { return None };
        if !adds || !is_integer || decoded.vector() != 1 || decoded.is_strange {
            return None;
        }
        let added = self.operand(added, state)?;
        self.thread.exprs.as_constant(added)
    }

    /// What an atomic finds in memory, an unknown of the width of the access.
    fn draw(
        &mut self,
        block: BlockId,
        pc: Pc,
        instr: &Instr,
        decoded: &Decoded,
        state: &mut ThreadState,
    ) -> Option<(Atom, Expr)> {
        let [dest] = instr.dests[..] else { return None };
        let atom = Atom::Result(pc, block, 0);
        self.thread.results.insert(atom, ResultSource::Other);
        let drawn = self.thread.exprs.atom(atom, decoded.ty().bytes() * 8);
        let value = self.thread.exprs.resized(drawn, 64, decoded.ty().is_signed());
        self.write(dest, Some(value), state);
        Some((atom, drawn))
    }

    /// A load of memory that no thread writes: its address decides what it reads.
    fn load_constant(
        &mut self,
        instr: &Instr,
        decoded: &Decoded,
        at: Expr,
        state: &mut ThreadState,
    ) {
        let size = decoded.ty().bytes();
        for (dest, number) in instr.dests.iter().zip(0_u64..) {
            let exprs = &mut self.thread.exprs;
            let offset = exprs.constant(number * u64::from(size), exprs.bits(at));
            let part = exprs.binary(BinaryOperator::Add, at, offset);
            let value = if size <= 8 {
                let atom = Atom::Loaded(part, u8::try_from(size).expect("at most 8"));
                let value = exprs.atom(atom, size * 8);
                Some(exprs.resized(value, 64, decoded.ty().is_signed()))
            } else {
                None
            };
            self.write(*dest, value, state);
        }
    }

    /// A load of the kernel's parameters.
    fn argument(
        &mut self,
        block: BlockId,
        pc: Pc,
        instr: &Instr,
        offset: u64,
        state: &mut ThreadState,
    ) {
        let Some(decoded) = instr.decoded() else { return };
        let size = decoded.ty().bytes();
        if size > 8 {
            self.forget(block, pc, instr, &ResultSource::Other, state);
            return;
        }
        for (dest, number) in instr.dests.iter().zip(0_u64..) {
            let first = offset.wrapping_add(number * u64::from(size));
            let value = self.launched.argument(&mut self.thread.exprs, first, size);
            let value = self.thread.exprs.resized(value, 64, decoded.ty().is_signed());
            self.write(*dest, Some(value), state);
        }
    }

    /// An access to a local word that the text names.
    fn local(
        &mut self,
        block: BlockId,
        pc: Pc,
        instr: &Instr,
        (first, bytes): (u64, u32),
        state: &mut ThreadState,
    ) {
        let Some(decoded) = instr.decoded() else { return };
        let size = decoded.ty().bytes();
        if decoded.row.effect != Effect::Load {
            let is_plain = decoded.row.effect == Effect::Store && size <= 8;
            for (source, number) in instr.sources.iter().zip(0_u64..) {
                let value = self.operand(source, state).filter(|_| is_plain);
                let value = value.map(|value| self.thread.exprs.resized(value, size * 8, false));
                state.store(first + number * u64::from(size), size, value);
            }
            if !is_plain {
                state.store(first, bytes, None);
            }
            return;
        }
        self.forget(block, pc, instr, &ResultSource::Other, state);
        for (dest, number) in instr.dests.iter().zip(0_u64..) {
            let word = (first + number * u64::from(size), size);
            if let Some(value) = state.locals.get(&word).copied() {
                let value = self.thread.exprs.resized(value, 64, decoded.ty().is_signed());
                self.write(*dest, Some(value), state);
            }
        }
    }

    /// The address of an access in the width of its space.
    fn address(&mut self, instr: &Instr, state: &ThreadState) -> Option<Expr> {
        let address = instr.address?;
        let bits = if matches!(address.space, Space::Generic | Space::Global) { 64 } else { 32 };
        let exprs = &mut self.thread.exprs;
        let Some(base) = address.base else {
            return Some(self.launched.address(exprs, address.space, address.offset, bits));
        };
        let base = state.registers[self.slice.places[base.index()] as usize]?;
        let base = exprs.resized(base, bits, false);
        let offset = exprs.constant(address.offset, bits);
        Some(exprs.binary(BinaryOperator::Add, base, offset))
    }
}
