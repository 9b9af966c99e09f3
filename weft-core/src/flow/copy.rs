//! Links `cp.async` (PTX ISA §9.7.9.25.3.1) as a load from global memory and a store to shared memory, both marked as
//! asynchronous. The bytes of a source that is smaller than the copy are loaded; the rest of what is stored is zero.

use std::sync::Arc;

use super::error::LinkError;
use super::linker::{Frame, LinkedLine, Linker, known};
use super::program::{Address, Condition, Dests, Instr, Operand, Operation, PlaceId, Reg};
use super::scope::Declared;
use crate::ptx::isa::{Decoded, Modifier};
use crate::ptx::{self, Instruction, Space, Span, Type};

/// How much of its source a copy reads.
#[derive(Clone, Copy)]
enum Source {
    /// As many bytes as it stores.
    All,
    /// This many bytes.
    Bytes(Operand),
    /// All bytes, where this does not hold; elsewhere none.
    Unless(Condition),
}

/// A copy while it is linked.
struct AsyncCopy {
    /// Bytes that each lane copies: 4, 8 or 16.
    bytes: u64,
    guard: Option<Condition>,
    /// The registers through which the bytes go.
    through: Dests,
    source: Address,
    place: PlaceId,
    span: Span,
}

impl<'m> Linker<'m> {
    /// Links an asynchronous copy. `guard` and `place`: those of the instruction.
    pub(super) fn asynchronous_copy(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        decoded: &Decoded,
        guard: Option<Condition>,
        place: PlaceId,
    ) -> Result<(), LinkError> {
        let operands = frame.body.operands(&instruction.operands);
        let is_hinted = decoded.modifiers.has(Modifier::CacheHint);
        let ([to, from, bytes], rest) = match operands {
            [to, from, bytes, rest @ ..] => ([to, from, bytes], rest),
            _ => return Err(self.bad_operand(instruction, "two addresses and a number of bytes")),
        };
        let source = match (rest, is_hinted) {
            ([], false) | ([_], true) => Source::All,
            ([read], false) | ([read, _], true) => self.read(frame, instruction, read)?,
            _ => return Err(self.bad_operand(instruction, "other operands")),
        };
        let &ptx::ParsedOperand::Integer(bytes @ (4 | 8 | 16)) = bytes else {
            return Err(self.bad_operand(instruction, "4, 8 or 16 bytes"));
        };
        let source = match source {
            Source::Bytes(Operand::Constant(size)) if size > bytes => {
                let expected = "a source that is not larger than the copy";
                return Err(self.bad_operand(instruction, expected));
            }
            Source::Bytes(Operand::Constant(size)) if size == bytes => Source::All,
            source => source,
        };
        let to = self.address(frame, instruction, to, Space::Shared)?;
        let from = self.address(frame, instruction, from, Space::Global)?;
        let through = (0..bytes / 4).map(|_| Some(self.new_register())).collect();
        let copy = AsyncCopy { bytes, guard, through, source: from, place, span: instruction.span };
        self.copy_loads(&copy, source)?;
        let stored = copy.through.iter().flatten().map(|register| Operand::Register(*register));
        let store = asynchronous(match bytes {
            16 => "st.shared.v4.b32",
            8 => "st.shared.v2.b32",
            _ => "st.shared.b32",
        });
        self.line(&copy, store, guard, Dests::new(), stored.collect(), Some(to))
    }

    /// Returns how much of the source a copy reads, by the operand behind the number of bytes: a predicate to ignore it, or
    /// its size.
    fn read(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        operand: &'m ptx::ParsedOperand,
    ) -> Result<Source, LinkError> {
        let predicate = match operand {
            ptx::ParsedOperand::Not(name) => Some((*name, true)),
            ptx::ParsedOperand::Name(name) => {
                let declared = frame.scopes.find(frame.scope, self.module.name(*name));
                let is_predicate =
                    matches!(declared, Some((_, Declared::Register { is_predicate: true })));
                is_predicate.then_some((*name, false))
            }
            _ => None,
        };
        Ok(match predicate {
            Some((name, negated)) => {
                let register = self.named_register(frame, name)?;
                Source::Unless(Condition { register, negated })
            }
            None => Source::Bytes(self.source(frame, instruction, operand, Type::B32)?),
        })
    }

    /// Emits the loads of a copy into the registers through which it goes.
    fn copy_loads(&mut self, copy: &AsyncCopy, source: Source) -> Result<(), LinkError> {
        let all = match copy.bytes {
            16 => "ld.global.v4.b32",
            8 => "ld.global.v2.b32",
            _ => "ld.global.b32",
        };
        let size = match source {
            Source::All => return self.copy_load(copy, all, copy.guard, copy.source),
            Source::Unless(ignored) => {
                self.fill(copy, None, Operand::Constant(0))?;
                let read = Condition { negated: !ignored.negated, ..ignored };
                let guard = self.both(copy, read)?;
                return self.copy_load(copy, all, Some(guard), copy.source);
            }
            Source::Bytes(size) => size,
        };
        self.fill(copy, None, Operand::Constant(0))?;
        let whole = self.compared(copy, "ge", [size, Operand::Constant(copy.bytes)], copy.guard)?;
        self.copy_load(copy, all, Some(whole), copy.source)?;
        let partial =
            self.compared(copy, "lt", [size, Operand::Constant(copy.bytes)], copy.guard)?;
        for part in [8, 4, 2, 1].into_iter().filter(|part| *part < copy.bytes) {
            self.copy_part(copy, size, part, partial)?;
        }
        let some = self.compared(copy, "ne", [size, Operand::Constant(0)], Some(partial))?;
        self.fill(copy, Some(some), Operand::Opaque)
    }

    /// Emits the load of the `part` bytes, a power of two, that this bit of the size stands for.
    fn copy_part(
        &mut self,
        copy: &AsyncCopy,
        size: Operand,
        part: u64,
        partial: Condition,
    ) -> Result<(), LinkError> {
        let bits = |linker: &mut Self, mask: u64| {
            linker.made(copy, "and.b32", [size, Operand::Constant(mask)].into())
        };
        let own = Operand::Register(bits(self, part)?);
        let has = self.compared(copy, "ne", [own, Operand::Constant(0)], Some(partial))?;
        let before = Operand::Register(bits(self, copy.bytes - 2 * part)?);
        let before = Operand::Register(self.made(copy, "cvt.u64.u32", [before].into())?);
        let base = copy.source.base.map_or(Operand::Constant(0), Operand::Register);
        let base = self.made(copy, "add.u64", [base, before].into())?;
        let load = match part {
            8 => "ld.global.b64",
            4 => "ld.global.b32",
            2 => "ld.global.b16",
            _ => "ld.global.b8",
        };
        let from = Address { base: Some(base), ..copy.source };
        let unused = Dests::from_elem(None, 1);
        self.line(copy, asynchronous(load), Some(has), unused, [].into(), Some(from))
    }

    fn copy_load(
        &mut self,
        copy: &AsyncCopy,
        mnemonic: &str,
        guard: Option<Condition>,
        from: Address,
    ) -> Result<(), LinkError> {
        let load = asynchronous(mnemonic);
        self.line(copy, load, guard, copy.through.clone(), [].into(), Some(from))
    }

    /// Emits a value for each register that the copy goes through.
    fn fill(
        &mut self,
        copy: &AsyncCopy,
        guard: Option<Condition>,
        value: Operand,
    ) -> Result<(), LinkError> {
        for register in &copy.through {
            let dest = Dests::from_elem(*register, 1);
            self.line(copy, known("mov.b32"), guard, dest, [value].into(), None)?;
        }
        Ok(())
    }

    /// Emits a comparison of two numbers that also asks for `guard`.
    fn compared(
        &mut self,
        copy: &AsyncCopy,
        comparison: &str,
        [a, b]: [Operand; 2],
        guard: Option<Condition>,
    ) -> Result<Condition, LinkError> {
        let register = match guard.map(Condition::operand) {
            Some(guard) => {
                self.made(copy, &format!("setp.{comparison}.and.u32"), [a, b, guard].into())
            }
            None => self.made(copy, &format!("setp.{comparison}.u32"), [a, b].into()),
        }?;
        Ok(Condition { register, negated: false })
    }

    /// Emits a condition that asks for the copy's guard too.
    fn both(&mut self, copy: &AsyncCopy, condition: Condition) -> Result<Condition, LinkError> {
        let Some(guard) = copy.guard else { return Ok(condition) };
        let register =
            self.made(copy, "and.pred", [guard.operand(), condition.operand()].into())?;
        Ok(Condition { register, negated: false })
    }

    /// Emits a computation of a new register.
    fn made(
        &mut self,
        copy: &AsyncCopy,
        mnemonic: &str,
        sources: Box<[Operand]>,
    ) -> Result<Reg, LinkError> {
        let register = self.new_register();
        let dest = Dests::from_elem(Some(register), 1);
        self.line(copy, known(mnemonic), None, dest, sources, None)?;
        Ok(register)
    }

    fn line(
        &mut self,
        copy: &AsyncCopy,
        decoded: Decoded,
        guard: Option<Condition>,
        dests: Dests,
        sources: Box<[Operand]>,
        address: Option<Address>,
    ) -> Result<(), LinkError> {
        let operation = Operation::Known(Arc::new(decoded));
        let instr = Instr { operation, guard, dests, sources, address, place: copy.place };
        self.push(LinkedLine::Instr(instr), copy.span)
    }
}

fn asynchronous(mnemonic: &str) -> Decoded {
    Decoded { is_asynchronous: true, ..known(mnemonic) }
}
