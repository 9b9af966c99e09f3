//! The bytes of arguments that a kernel reads. The others, such as the padding of structures, say nothing about a launch, but
//! might differ each time that a program runs.

use weft_core::flow::{Operand, Operation, Param, Program};
use weft_core::ptx::Space;
use weft_core::ptx::isa::Effect;

/// The bytes of the parameters that a kernel reads.
#[derive(Clone, Debug)]
pub(super) struct UsedBytes {
    /// Ranges of the parameter bank; `None`: any byte might be read.
    ranges: Option<Vec<(u64, u64)>>,
}

impl UsedBytes {
    pub(super) fn of(program: &Program) -> Self {
        let mut ranges = Vec::new();
        for instr in &program.code {
            let is_parameter =
                |own: &Operand| matches!(own, Operand::Variable { space: Space::Param, .. });
            if matches!(instr.operation, Operation::Unknown)
                || instr.sources.iter().any(is_parameter)
            {
                return Self { ranges: None };
            }
            let Some(address) = instr.address.filter(|own| own.space == Space::Param) else {
                continue;
            };
            let decoded = instr.decoded().filter(|_| instr.effect() == Effect::Load);
            let (Some(decoded), None) = (decoded, address.base) else {
                return Self { ranges: None };
            };
            let size = u64::from(decoded.ty().bytes()) * instr.dests.len() as u64;
            ranges.push((address.offset, size));
        }
        Self { ranges: Some(ranges) }
    }

    /// Whether the kernel might read some of these bytes of a parameter: the first one, and their number.
    pub(super) fn reads(&self, param: &Param, (at, count): (u64, u64)) -> bool {
        let first = param.offset + at;
        let meets = |(own, size): &(u64, u64)| *own < first + count && first < own + size;
        self.ranges.as_ref().is_none_or(|ranges| ranges.iter().any(meets))
    }

    /// Makes bytes of a structure zeros that the kernel does not read. `bytes`: those of this parameter.
    pub(super) fn clear_others(&self, param: &Param, bytes: &mut [u8]) {
        let Some(ranges) = self.ranges.as_ref().filter(|_| !param.is_scalar) else { return };
        for (at, byte) in (param.offset..).zip(bytes) {
            if !ranges.iter().any(|(first, size)| at.wrapping_sub(*first) < *size) {
                *byte = 0;
            }
        }
    }
}
