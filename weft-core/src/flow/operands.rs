//! Resolves an instruction's operands and sorts them, by the table's shape, into those written, those read and the
//! address.

use std::sync::Arc;

use super::addresses::{FUNCTION_ALIGN, FUNCTION_WINDOW};
use super::error::{LinkError, undeclared};
use super::linker::{Bound, Frame, Linker};
use super::program::{Address, Dests, Instr, Operand, Operation, PlaceId, Reg};
use super::scope::{Declared, Scope};
use super::special::Special;
use crate::ptx::isa::{Decoded, Effect, Family, Modifier, Opcode};
use crate::ptx::{self, Function, Instruction, Space, Span, Type};

/// The scope of the condition-code register, which no text can name.
pub(super) const CARRY: Scope = Scope::MAX;
/// The name of the condition-code register in that scope.
pub(super) const CARRY_NAME: &str = "%cc";

/// The meaning of a name as an operand.
pub(super) enum NameMeaning {
    Register(Reg),
    /// The address of a variable in its space.
    Address(Space, u64),
    Special(Special),
    Number(u64),
    /// The address of a function.
    Function(u64),
    Opaque,
}

impl<'m> Linker<'m> {
    /// Returns the instruction with its operands; the caller sets guard and place.
    pub(super) fn operands(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        decoded: Option<&Arc<Decoded>>,
    ) -> Result<Instr, LinkError> {
        // An unknown modifier might change the effect of an instruction that is modelled, which is then unknown.
        // Instructions that are not modelled stay what they are.
        let is_known = |decoded: &&Arc<Decoded>| !decoded.is_strange || !is_modelled(decoded);
        let known = decoded.filter(is_known);
        let mut instr = Instr {
            operation: known.cloned().map_or(Operation::Unknown, Operation::Known),
            guard: None,
            dests: Dests::new(),
            sources: Box::new([]),
            address: None,
            place: PlaceId(0),
        };
        // An unknown instruction might write its first operand, as nearly all instructions do.
        let shape = decoded.map_or("d*", |decoded| decoded.row.shape).as_bytes();
        let is_video = decoded.is_some_and(|decoded| decoded.row.family == Family::Video);
        let (mut dests, mut sources) = std::mem::take(&mut self.room);
        for (at, operand) in frame.body.operands(&instruction.operands).iter().enumerate() {
            let letter = shape.get(at).copied().unwrap_or(b'*');
            if known.is_some() && at >= shape.len() && !shape.ends_with(b"*") {
                return Err(self.bad_operand(instruction, "fewer operands"));
            }
            if matches!(operand, ptx::ParsedOperand::Selected(_)) && !is_video {
                return Err(self.bad_operand(instruction, "whole registers"));
            }
            // An instruction that is not modelled can have an address of any form.
            let is_kept_whole = matches!(operand, ptx::ParsedOperand::Opaque(_))
                && !decoded.is_some_and(|decoded| is_run(decoded.row.effect));
            match letter {
                b'd' if known.is_some() || is_register_like(operand) => {
                    self.dest(frame, instruction, operand, &mut dests)?;
                }
                b'm' if instr.address.is_none() && !is_kept_whole => {
                    let space = decoded.map_or(Space::Generic, |decoded| decoded.space);
                    instr.address = Some(self.address(frame, instruction, operand, space)?);
                }
                _ => {
                    let ty = decoded.map_or(Type::B64, |decoded| literal_type(decoded, at));
                    self.sources(frame, instruction, operand, ty, &mut sources)?;
                }
            }
        }
        if let Some(lacking) = known.and_then(|decoded| lacking(decoded, &dests, &sources)) {
            return Err(self.bad_operand(instruction, lacking));
        }
        self.carry(frame, known.map(|decoded| &**decoded), &mut dests, &mut sources);
        instr.dests = dests.as_slice().into();
        instr.sources = sources.as_slice().into();
        dests.clear();
        sources.clear();
        self.room = (dests, sources);
        Ok(instr)
    }

    /// Whether an instruction uses the condition-code register.
    pub(super) fn uses_carry(&self, instruction: &Instruction) -> bool {
        let uses = |decoded: &Decoded| matches!(carries(decoded), (true, _) | (_, true));
        self.module.decoded(instruction).is_some_and(|decoded| uses(decoded))
    }

    /// Adds the condition-code register of extended precision (PTX ISA §9.7.2) as an ordinary operand.
    fn carry(
        &mut self,
        frame: &mut Frame<'m>,
        decoded: Option<&Decoded>,
        dests: &mut Vec<Option<Reg>>,
        sources: &mut Vec<Operand>,
    ) {
        let Some((reads, writes)) = decoded.map(carries) else { return };
        if writes || reads {
            let code = self.register(frame, CARRY, CARRY_NAME);
            if reads {
                sources.push(Operand::Register(code));
            }
            if writes {
                dests.push(Some(code));
            }
        }
    }

    fn dest(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        operand: &'m ptx::ParsedOperand,
        dests: &mut Vec<Option<Reg>>,
    ) -> Result<(), LinkError> {
        match operand {
            ptx::ParsedOperand::Name(name) | ptx::ParsedOperand::Selected(name) => {
                dests.push(Some(self.named_register(frame, *name)?));
            }
            ptx::ParsedOperand::Sink => dests.push(None),
            ptx::ParsedOperand::Vector(parts) | ptx::ParsedOperand::Pair(parts) => {
                for part in frame.body.operands(parts) {
                    self.dest(frame, instruction, part, dests)?;
                }
            }
            _ => return Err(self.bad_operand(instruction, "a register to write")),
        }
        Ok(())
    }

    fn sources(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        operand: &'m ptx::ParsedOperand,
        ty: Type,
        sources: &mut Vec<Operand>,
    ) -> Result<(), LinkError> {
        match operand {
            ptx::ParsedOperand::Vector(parts)
            | ptx::ParsedOperand::Pair(parts)
            | ptx::ParsedOperand::List(parts) => {
                for part in frame.body.operands(parts) {
                    self.sources(frame, instruction, part, ty, sources)?;
                }
            }
            ptx::ParsedOperand::Opaque(text) => {
                sources.push(Operand::Opaque);
                for name in names_in(self.module.name(*text), *text) {
                    if let Ok(Some(register)) = self.find_register(frame, name) {
                        sources.push(Operand::Register(register));
                    }
                }
            }
            _ => sources.push(self.source(frame, instruction, operand, ty)?),
        }
        Ok(())
    }

    /// Resolves one operand that is read; literals become bits of type `ty`.
    pub(super) fn source(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &Instruction,
        operand: &ptx::ParsedOperand,
        ty: Type,
    ) -> Result<Operand, LinkError> {
        Ok(match operand {
            ptx::ParsedOperand::Integer(bits) => Operand::Constant(*bits),
            ptx::ParsedOperand::Float(float) => Operand::Constant(float.bits(ty)),
            ptx::ParsedOperand::Name(name) => self.value(frame, *name, 0)?,
            ptx::ParsedOperand::Offset(name, offset) => self.value(frame, *name, *offset)?,
            ptx::ParsedOperand::Part(name, part) => match self.special(*name, *part)? {
                NameMeaning::Special(special) => Operand::Special(special),
                NameMeaning::Number(bits) => Operand::Constant(bits),
                _ => return Err(undeclared(self.module.name(*name), *name)),
            },
            ptx::ParsedOperand::Not(name) => Operand::Not(self.named_register(frame, *name)?),
            ptx::ParsedOperand::Selected(name) => {
                Operand::Register(self.named_register(frame, *name)?)
            }
            ptx::ParsedOperand::Address { base: Some(name), offset } => {
                self.value(frame, *name, *offset)?
            }
            ptx::ParsedOperand::Address { base: None, offset } => {
                Operand::Constant(offset.cast_unsigned())
            }
            ptx::ParsedOperand::Opaque(_) | ptx::ParsedOperand::Sink => Operand::Opaque,
            ptx::ParsedOperand::Vector(_)
            | ptx::ParsedOperand::Pair(_)
            | ptx::ParsedOperand::List(_) => {
                return Err(self.bad_operand(instruction, "one value"));
            }
        })
    }

    fn value(
        &mut self,
        frame: &mut Frame<'m>,
        name: Span,
        offset: i64,
    ) -> Result<Operand, LinkError> {
        Ok(match self.meaning(frame, name)? {
            NameMeaning::Register(register) => Operand::Register(register),
            // Only `WARP_SZ` has the register space here: its address is its value.
            NameMeaning::Address(Space::Register, bits) => {
                Operand::Constant(bits.wrapping_add_signed(offset))
            }
            NameMeaning::Address(space, first) => Operand::Variable { space, first, offset },
            NameMeaning::Special(special) => Operand::Special(special),
            NameMeaning::Number(bits) => Operand::Constant(bits),
            NameMeaning::Function(first) => {
                let name = self.module.name(name).to_owned();
                self.layout.function(name, first);
                Operand::Variable { space: Space::Generic, first, offset }
            }
            NameMeaning::Opaque => Operand::Opaque,
        })
    }

    pub(super) fn address(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &Instruction,
        operand: &ptx::ParsedOperand,
        space: Space,
    ) -> Result<Address, LinkError> {
        let (base, offset) = match operand {
            ptx::ParsedOperand::Address { base, offset } => (*base, *offset),
            ptx::ParsedOperand::Name(name) => (Some(*name), 0),
            ptx::ParsedOperand::Offset(name, offset) => (Some(*name), *offset),
            _ => return Err(self.bad_operand(instruction, "an address in brackets")),
        };
        let offset = offset.cast_unsigned();
        let Some(name) = base else { return Ok(Address { space, base: None, offset }) };
        match self.meaning(frame, name)? {
            NameMeaning::Register(register) => Ok(Address { space, base: Some(register), offset }),
            NameMeaning::Address(meant, address) => {
                let offset = address.wrapping_add(offset);
                Ok(Address { space: meant, base: None, offset })
            }
            NameMeaning::Special(_)
            | NameMeaning::Number(_)
            | NameMeaning::Function(_)
            | NameMeaning::Opaque => Err(self.bad_operand(instruction, "a register or a variable")),
        }
    }

    fn meaning(&mut self, frame: &mut Frame<'m>, name: Span) -> Result<NameMeaning, LinkError> {
        let text = self.module.name(name);
        // A shortcut for most names: declared by the current scope and used before.
        if let Some(&register) = frame.registers.get(&(frame.scope, text)) {
            return Ok(NameMeaning::Register(register));
        }
        match frame.scopes.find(frame.scope, text) {
            Some((scope, Declared::Register { .. })) => {
                return Ok(NameMeaning::Register(self.register(frame, scope, text)));
            }
            Some((_, Declared::Variable(variable))) => {
                let (space, address) = self.locate(frame, variable)?;
                return Ok(NameMeaning::Address(space, address));
            }
            Some((_, Declared::Label)) => return Ok(NameMeaning::Opaque),
            None => {}
        }
        if let Some(bound) = frame.bound.get(text) {
            return Ok(match bound {
                Bound::Memory(space, address) => NameMeaning::Address(*space, *address),
                Bound::Register(register) => NameMeaning::Register(*register),
            });
        }
        if let Some(variable) = self.module.variable(text) {
            let (space, address) = self.locate(frame, variable)?;
            return Ok(NameMeaning::Address(space, address));
        }
        if let Some(function) = self.functions.get(text) {
            return Ok(NameMeaning::Function(function_address(function)));
        }
        if frame.scopes.targets(frame.scope, text).is_some() {
            return Ok(NameMeaning::Opaque);
        }
        self.special(name, 0)
    }

    /// The meaning of a special register, or of a part of one.
    fn special(&mut self, name: Span, part: u8) -> Result<NameMeaning, LinkError> {
        let text = self.module.name(name);
        let of_cluster = self.cluster_register(text, part);
        let meaning = of_cluster.or_else(|| special(text, part).map(NameMeaning::Special));
        meaning.ok_or_else(|| undeclared(text, name))
    }

    /// Returns the register of this name; `None` if the name stands for something else.
    pub(super) fn find_register(
        &mut self,
        frame: &mut Frame<'m>,
        name: Span,
    ) -> Result<Option<Reg>, LinkError> {
        Ok(match self.meaning(frame, name)? {
            NameMeaning::Register(register) => Some(register),
            _ => None,
        })
    }

    pub(super) fn named_register(
        &mut self,
        frame: &mut Frame<'m>,
        name: Span,
    ) -> Result<Reg, LinkError> {
        self.find_register(frame, name)?.ok_or_else(|| undeclared(self.module.name(name), name))
    }
}

/// Whether an instruction reads the condition-code register, and whether it writes it.
fn carries(decoded: &Decoded) -> (bool, bool) {
    let reads = matches!(decoded.row.opcode, Opcode::Addc | Opcode::Subc | Opcode::Madc);
    (reads, decoded.modifiers.has(Modifier::Cc))
}

/// Returns the address of a function: outside of all memory, and different for each function.
pub(super) const fn function_address(function: &Function) -> u64 {
    FUNCTION_WINDOW + FUNCTION_ALIGN * function.name.start as u64
}

const fn is_modelled(decoded: &Decoded) -> bool {
    use Effect::{Asynchronous, MemoryFence, Nothing, Opaque, ProxyFence};
    !matches!(decoded.row.effect, Opaque | Asynchronous | MemoryFence | ProxyFence | Nothing)
}

/// What an instruction needs beside these operands, if anything.
fn lacking(decoded: &Decoded, dests: &[Option<Reg>], sources: &[Operand]) -> Option<&'static str> {
    let shape = decoded.row.shape;
    if shape.starts_with('d') && dests.is_empty() {
        return Some("a destination first");
    }
    let is_short = sources.len() < shape.matches('s').count();
    (is_run(decoded.row.effect) && is_short).then_some("more operands")
}

/// Whether the machine runs an instruction with this effect, and so relies on its operands.
const fn is_run(effect: Effect) -> bool {
    use Effect::{
        Atomic, Barrier, Compute, CopyGroup, Exchange, Load, Mbarrier, MbarrierWait, Store,
        WarpBarrier,
    };
    let is_access = matches!(effect, Load | Store | Atomic | CopyGroup);
    let waits = matches!(effect, Barrier | WarpBarrier | Exchange | MbarrierWait);
    is_access || waits || matches!(effect, Compute | Mbarrier)
}

const fn is_register_like(operand: &ptx::ParsedOperand) -> bool {
    matches!(operand, ptx::ParsedOperand::Name(_) | ptx::ParsedOperand::Sink)
}

/// Returns the type of a literal operand by the operand's position.
fn literal_type(decoded: &Decoded, position: usize) -> Type {
    match (decoded.row.opcode, position) {
        (Opcode::Cvt | Opcode::Set, _) | (Opcode::Slct, 3) => decoded.source_type(),
        _ => decoded.ty(),
    }
}

/// Returns the names in a text that begins at `place`, such as the coordinates of a texture: `%r1` for `%r1.x`.
pub(super) fn names_in(text: &str, place: Span) -> Vec<Span> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_$%.".contains(&byte);
    let mut names = Vec::new();
    let mut start = place.start;
    for word in text.as_bytes().split(|byte| !is_name(*byte)) {
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).expect("texts have at most 4 GiB");
        let name = word.split(|byte| *byte == b'.').next().unwrap_or(word);
        if name.first().is_some_and(|first| !first.is_ascii_digit()) {
            names.push(Span { start, end: start + length(name) });
        }
        start += length(word) + 1;
    }
    names
}

fn special(name: &str, part: u8) -> Option<Special> {
    Some(match name {
        "%tid" => Special::Tid(part),
        "%ntid" => Special::Ntid(part),
        "%ctaid" => Special::Ctaid(part),
        "%nctaid" => Special::Nctaid(part),
        "%laneid" => Special::Laneid,
        "%lanemask_eq" => Special::LanemaskEq,
        "%lanemask_le" => Special::LanemaskLe,
        "%lanemask_lt" => Special::LanemaskLt,
        "%lanemask_ge" => Special::LanemaskGe,
        "%lanemask_gt" => Special::LanemaskGt,
        "%dynamic_smem_size" => Special::DynamicSharedSize,
        _ => {
            const OTHERS: [&str; 15] = [
                "%warpid",
                "%nwarpid",
                "%total_smem_size",
                "%smid",
                "%nsmid",
                "%gridid",
                "%clock",
                "%pm",
                "%envreg",
                "%globaltimer",
                "%reserved_smem",
                "%cluster",
                "%ncluster",
                "%is_explicit_cluster",
                "%aggr_smem_size",
            ];
            let is_other =
                OTHERS.iter().any(|other| name.starts_with(other)) || name == "%current_graph_exec";
            return is_other.then_some(Special::Other);
        }
    })
}
