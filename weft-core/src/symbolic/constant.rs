//! Finds the loads of memory that no thread writes: their address decides what they read, in all ctas.

use std::collections::BTreeSet;

use super::base::AddressBase;
use crate::flow::{Holds, Instr, Operand, Pc, Program};
use crate::ptx::Space;
use crate::ptx::isa::{Effect, Modifier, Opcode};

/// The buffers and variables that stores and atomics might write.
#[derive(Debug)]
pub(super) struct ConstantMemory {
    written: BTreeSet<AddressBase>,
    /// Those of them that are not only read, into shared memory, by what is not modelled.
    kept: BTreeSet<AddressBase>,
    /// Whether some store might write anything.
    is_all_written: bool,
    /// Whether some store might write any global memory.
    is_global_written: bool,
    /// The parameters, fields among them, that are stored, so that other kernels might write through them.
    escaped: BTreeSet<usize>,
}

impl ConstantMemory {
    pub(super) fn of(program: &Program) -> Self {
        let mut memory = Self {
            written: BTreeSet::new(),
            kept: BTreeSet::new(),
            is_all_written: false,
            is_global_written: false,
            escaped: BTreeSet::new(),
        };
        for instr in &program.code {
            if !matches!(
                instr.effect(),
                Effect::Store | Effect::Atomic | Effect::BulkCopy | Effect::Asynchronous
            ) {
                continue;
            }
            // Which of its addresses it writes to is not modelled.
            let is_within_cta = stays_shared(instr);
            memory.is_global_written |= instr.effect() == Effect::Asynchronous && !is_within_cta;
            if !is_within_cta {
                memory.escaped.extend(escaped(program, instr));
                memory.kept.extend(base(program, instr));
            }
            if let Some(base) = base(program, instr) {
                memory.written.insert(base);
            } else {
                let is_shared = instr.address.map(|own| own.space) == Some(Space::Shared);
                memory.is_all_written |= writes_outside(instr);
                memory.is_global_written |= writes_outside(instr) && !is_shared && !is_within_cta;
            }
        }
        memory
    }

    /// Returns the positions of the parameters through which it is written, or might be by what later finds them in memory; `None` if any global memory might be.
    pub(super) fn written_parameters(&self, program: &Program) -> Option<BTreeSet<usize>> {
        let position = |at: usize| program.field(at).map_or(at, |field| field.param);
        let parameter = |base: &AddressBase| match base {
            AddressBase::Buffer(at) => Some(position(*at)),
            AddressBase::Variable(_) => None,
        };
        let written = self.kept.iter().filter_map(parameter);
        let escaped = self.escaped.iter().map(|at| position(*at));
        (!self.is_global_written).then(|| written.chain(escaped).collect())
    }

    /// Whether a load reads memory that no thread writes, as is promised of `ld.global.nc` (PTX ISA, `ld`).
    pub(super) fn is_constant(&self, program: &Program, pc: Pc) -> bool {
        let instr = &program.code[pc.index()];
        let is_promised =
            instr.decoded().is_some_and(|decoded| decoded.modifiers.has(Modifier::Nc));
        let base = base(program, instr);
        // What nothing has written to shared memory differs between ctas.
        let is_of_cta = base.is_some_and(|base| base.space(program) == Space::Shared);
        is_promised
            || !self.is_all_written
                && !is_of_cta
                && base.is_some_and(|base| !self.written.contains(&base))
    }
}

/// Returns the parameters that an instruction stores to memory that outlives the cta.
fn escaped(program: &Program, instr: &Instr) -> BTreeSet<usize> {
    let space = instr.address.map(|address| address.space);
    if matches!(space, Some(Space::Shared | Space::Local | Space::Param)) {
        return BTreeSet::new();
    }
    let held = |operand: &Operand| match operand {
        Operand::Register(register) => match &program.holds[register.index()] {
            Holds::Param(at) => vec![*at],
            Holds::Params(params) => params.all().collect(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    instr.sources.iter().flat_map(held).collect()
}

/// Whether what is not modelled of an instruction is barriers, registers and shared memory alone: copies that are not of whole blocks lead
/// into shared memory (PTX ISA, `cp.async`).
fn stays_shared(instr: &Instr) -> bool {
    instr.decoded().is_some_and(|decoded| match decoded.row.opcode {
        Opcode::CpAsync => !decoded.is_strange,
        Opcode::CpAsyncCommit
        | Opcode::CpAsyncWait
        | Opcode::CpAsyncWaitAll
        | Opcode::BulkLoad
        | Opcode::BulkLoadCta
        | Opcode::ClusterArrive
        | Opcode::ClusterWait
        | Opcode::MbarrierOther
        | Opcode::WmmaLoad
        | Opcode::Ldmatrix
        | Opcode::Stmatrix => true,
        _ => false,
    })
}

/// Whether a store without a known base might write to shared or global memory.
fn writes_outside(instr: &Instr) -> bool {
    let space = instr.address.map(|address| address.space);
    !matches!(space, Some(Space::Local | Space::Param | Space::Const))
}

/// What the address of an access is based on.
fn base(program: &Program, instr: &Instr) -> Option<AddressBase> {
    let address = instr.address?;
    let Some(register) = address.base else {
        let is_in = |symbol: &crate::flow::Symbol| {
            symbol.space == address.space
                && address.offset >= symbol.address
                && (symbol.is_dynamic() || address.offset - symbol.address < symbol.size.max(1))
        };
        return program.symbols.iter().position(is_in).map(AddressBase::Variable);
    };
    match program.holds[register.index()] {
        Holds::Param(at) => Some(AddressBase::Buffer(program.buffer_of(at))),
        Holds::Variable(at) => Some(AddressBase::Variable(at)),
        _ => None,
    }
}
