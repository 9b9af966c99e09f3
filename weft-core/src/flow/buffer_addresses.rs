//! The addresses of buffers, and those that arguments hold.

use super::addresses::buffer;
use super::buffers::BufferPlace;
use super::declared::Params;
use super::program::Program;

impl Program {
    /// Returns the number of the buffer that an argument or field points into: its position, unless the launch states
    /// another buffer.
    pub(crate) fn buffer_of(&self, position: usize) -> usize {
        self.buffers.of_argument(position).map_or(position, |place| place.buffer)
    }

    /// Returns the numbers of the buffers that arguments point into; `None` if one of them is in no set.
    pub(crate) fn buffers_of(&self, arguments: Params) -> Option<Params> {
        let mut all = arguments.all().map(|at| Params::one(self.buffer_of(at)));
        all.try_fold(Params::NONE, |joined, one| Some(joined.and(one?)))
    }

    /// Whether the launch states this buffer.
    pub(crate) fn is_stated(&self, number: usize) -> bool {
        self.buffers.name(number).is_some()
    }

    /// Returns the pointers into stated buffers that the parameter bank holds, by the offset of their first byte.
    pub(crate) fn stated_pointers(&self) -> impl Iterator<Item = (u64, BufferPlace)> {
        let first = |at: usize| {
            let field = || self.field(at).map(|field| field.offset);
            self.params.get(at).map(|param| param.offset).or_else(field)
        };
        let arguments = self.buffers.arguments();
        let arguments = arguments.iter().filter_map(move |(at, place)| Some((first(*at)?, *place)));
        arguments.chain(self.buffers.others().iter().map(|(at, place)| (*at, *place)))
    }

    /// Returns the address of a place in a buffer.
    pub(crate) fn address_of(&self, place: BufferPlace) -> u64 {
        let first = buffer(place.buffer) + self.placement.argument(place.buffer);
        first.wrapping_add(place.offset)
    }

    /// Returns the address that a pointer argument or field holds.
    pub(crate) fn pointer(&self, position: usize) -> u64 {
        let own = BufferPlace { buffer: position, offset: 0 };
        self.address_of(self.buffers.of_argument(position).unwrap_or(own))
    }
}
