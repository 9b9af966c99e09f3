//! The pointers that a kernel begins with: those in the parameter bank, and those that buffers hold. Their bases are the
//! buffers, however many arguments point into one.

use std::collections::BTreeSet;

use super::Dependences;
use super::value::{Dependence, MAX_BASES};
use crate::flow::Program;
use crate::launch::allocation::POINTER;

/// Returns the numbers of the buffers, and objects, that these arguments point into, and of those that other pointers of
/// the launch lead to.
pub(super) fn buffers(program: &Program, arguments: &BTreeSet<usize>) -> BTreeSet<usize> {
    let of_arguments = arguments.iter().map(|at| program.buffer_of(*at));
    let stated = program.stated_pointers().map(|(_, place)| place.buffer);
    of_arguments.chain(stated).chain(program.buffers.held().iter().copied()).collect()
}

/// Returns base, offset and size in bytes of each pointer in the parameter bank. `buffers`: the first bases.
pub(super) fn in_bank(
    program: &Program,
    arguments: &BTreeSet<usize>,
    buffers: &BTreeSet<usize>,
) -> Vec<(usize, u64, u64)> {
    let base = |buffer: usize| index(buffers, buffer);
    let argument = |at: &usize| {
        let (offset, size) = match program.params.get(*at) {
            Some(param) => (param.offset, param.size),
            None => program.field(*at).map(|field| (field.offset, field.size))?,
        };
        Some((base(program.buffer_of(*at))?, offset, size))
    };
    let others = program.buffers.others().iter();
    let others = others.filter_map(|(at, place)| Some((base(place.buffer)?, *at, POINTER)));
    arguments.iter().filter_map(argument).chain(others).collect()
}

/// Returns the index of the base that stands for a buffer.
fn index(buffers: &BTreeSet<usize>, buffer: usize) -> Option<usize> {
    buffers.iter().position(|own| *own == buffer).map(|at| at.min(MAX_BASES - 1))
}

impl Dependences<'_> {
    /// Takes the pointers into account that buffers hold when the kernel starts.
    pub(super) fn hold_pointers(&mut self, buffers: &BTreeSet<usize>) {
        let held = self.program.buffers.held().iter();
        let bases = held.filter_map(|buffer| index(buffers, *buffer));
        let pointers = bases.map(Dependence::address).collect::<Vec<_>>();
        self.memory.hold(pointers.into_iter());
    }
}
