//! The buffers that pointer arguments point into, by number. A pointer argument has a buffer of its own, whose number is
//! the argument's position, unless the launch states into which of its named buffers it points: these are numbered
//! behind the last field, so that arguments that share a buffer have addresses in one slot, at their true distance.

use std::collections::{BTreeMap, BTreeSet};

use super::addresses::MAX_BUFFERS;
use super::declared::{Field, Param};
use crate::launch::allocation::POINTER;
use crate::launch::{Arg, Launch, Within};

/// A place in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BufferPlace {
    /// The number of the buffer.
    pub(crate) buffer: usize,
    /// Bytes from its first byte.
    pub(crate) offset: u64,
}

/// The buffers that a launch states, and what points into them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatedBuffers {
    /// The number of the first one.
    first: usize,
    /// Their names, ascending.
    names: Vec<String>,
    /// The arguments and fields that point into them, by position.
    arguments: BTreeMap<usize, BufferPlace>,
    /// The pointers in structures that are no field, by their offset in the parameter bank.
    others: BTreeMap<u64, BufferPlace>,
    /// The numbers of those that contents of others point into.
    held: BTreeSet<usize>,
}

impl StatedBuffers {
    /// Returns the buffers of a launch. Pointers that do not fit are left out: they are errors of the launch.
    pub fn of(params: &[Param], fields: &[Field], launch: &Launch) -> Self {
        let first = params.len() + fields.len();
        let names = launch.buffers.keys().cloned().collect();
        let mut stated = Self { first, names, ..Self::default() };
        for (position, arg) in &launch.args {
            let Some(param) = params.get(*position) else { continue };
            match arg {
                Arg::Within(within) if param.is_scalar => {
                    let place = stated.place(within);
                    stated.arguments.extend(place.map(|place| (*position, place)));
                }
                Arg::Fields(given) => {
                    for (at, field) in &given.fields {
                        let Arg::Within(within) = field else { continue };
                        let Some(place) = stated.place(within) else { continue };
                        let at = param.offset.saturating_add(*at);
                        let is_it = |field: &Field| (field.offset, field.size) == (at, POINTER);
                        match fields.iter().position(is_it) {
                            Some(field) => stated.arguments.insert(params.len() + field, place),
                            None => stated.others.insert(at, place),
                        };
                    }
                }
                _ => {}
            }
        }
        let pointers = launch.buffers.values().flat_map(|buffer| buffer.pointers.values());
        stated.held = pointers.filter_map(|within| Some(stated.place(within)?.buffer)).collect();
        stated
    }

    /// Returns the place that a pointer leads to; `None` if the launch does not state the buffer.
    pub(crate) fn place(&self, within: &Within) -> Option<BufferPlace> {
        let at = self.names.binary_search(&within.buffer).ok()?;
        Some(BufferPlace { buffer: self.first + at, offset: within.offset })
    }

    /// Returns the name of a buffer; `None` if it is that of an argument alone.
    pub fn name(&self, number: usize) -> Option<&str> {
        self.names.get(number.checked_sub(self.first)?).map(String::as_str)
    }

    /// Returns the place that an argument or field points to; `None` if the launch does not state one.
    pub(crate) fn of_argument(&self, position: usize) -> Option<BufferPlace> {
        self.arguments.get(&position).copied()
    }

    /// Returns the places that arguments and fields point to, by position.
    pub(crate) const fn arguments(&self) -> &BTreeMap<usize, BufferPlace> {
        &self.arguments
    }

    /// Returns the pointers in structures that are no field, by their offset in the parameter bank.
    pub(crate) const fn others(&self) -> &BTreeMap<u64, BufferPlace> {
        &self.others
    }

    /// Returns the numbers of the buffers that contents point into.
    pub(crate) const fn held(&self) -> &BTreeSet<usize> {
        &self.held
    }

    /// Returns the number of stated buffers.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// Whether all buffers of the program have slots among the addresses.
    pub(crate) fn fit(&self) -> bool {
        self.names.is_empty() || (self.first + self.names.len()) as u64 <= MAX_BUFFERS
    }
}
