//! Inputs from the launches with which, as the solver says, two threads might access the same bytes.

use super::permitted::Permission;
use crate::emulate::{self, is_given};
use crate::explain::witness::{ChosenInput, ChosenValue};
use crate::flow::NumberKind;
use crate::launch::Dim3;
use crate::symbolic::CandidateLaunch;

/// Returns the input of a candidate. What the candidate does not decide is as in `ordinary`.
pub(super) fn input(
    permission: &Permission<'_>,
    candidate: &CandidateLaunch,
    ordinary: &ChosenInput,
) -> ChosenInput {
    let Permission { program, launch, .. } = *permission;
    let dim = |[x, y, z]: [u32; 3]| Dim3 { x, y, z };
    let mut input = ordinary.clone();
    input.block = input.block.map(|_| dim(candidate.block));
    input.grid = input.grid.map(|_| dim(candidate.grid));
    let pointers = emulate::pointers(program, launch);
    for (at, bits) in &candidate.arguments {
        let (size, is_signed, is_float) = match (program.params.get(*at), program.field(*at)) {
            (Some(param), _) => (param.size, param.is_signed, param.is_float),
            (None, Some(field)) if field.is_alone => {
                (field.size, field.kind == NumberKind::Signed, field.is_float())
            }
            (None, _) => continue,
        };
        if !pointers.contains(at) && !is_given(program, launch, *at) && !is_float {
            let value = number(*bits, size, is_signed);
            input.values.insert(*at, ChosenValue::Integer(value));
        }
    }
    input
}

/// Returns the number that the low bytes of `bits` are.
fn number(bits: u64, bytes: u64, is_signed: bool) -> i128 {
    let values = 1_i128 << (8 * bytes.min(8));
    let number = i128::from(bits) % values;
    if is_signed && number >= values / 2 { number - values } else { number }
}
