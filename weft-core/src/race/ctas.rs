//! The pass that decides, between ctas: which bytes of global memory race. No barrier orders ctas.

use std::collections::BTreeSet;

use super::entry::conflict;
use super::pages::Pages;
use crate::emulate::{Access, Kind, lanes};

/// The ctas that accessed a cell in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    One(u32),
    Many,
}

/// The ways in which a cell was accessed; there are few.
type Cell = Vec<(Kind, By)>;

/// The shadow of global memory across ctas.
#[derive(Clone, Debug)]
pub struct Ctas {
    cells: Pages<Cell>,
    racing: BTreeSet<u64>,
}

const MAX_RACING: usize = 1 << 18;

impl Default for Ctas {
    fn default() -> Self {
        Self::new()
    }
}

impl Ctas {
    /// Nothing was accessed.
    pub fn new() -> Self {
        Self { cells: Pages::new(), racing: BTreeSet::new() }
    }

    /// The bytes that race; at most 262144 of them.
    pub const fn racing(&self) -> &BTreeSet<u64> {
        &self.racing
    }

    /// Whether more memory was accessed, or raced on, than is followed.
    pub fn is_full(&self) -> bool {
        self.cells.is_full || self.racing.len() >= MAX_RACING
    }

    /// A warp of a cta accesses.
    pub fn access(&mut self, access: &Access<'_>, cta: u32) {
        let racing = &mut self.racing;
        let mut touch = |address: u64| {
            self.cells.for_each(address, access.bytes, |at, size, cell| {
                if add(cell, access.kind, cta) && racing.len() < MAX_RACING {
                    racing.extend(at..at + size);
                }
            });
        };
        match access.addresses.as_uniform() {
            Some(address) => touch(address),
            None => lanes(access.lanes).for_each(|lane| touch(access.addresses.lane(lane))),
        }
    }
}

/// Adds an access; true if it conflicts with one of another cta.
fn add(cell: &mut Cell, kind: Kind, cta: u32) -> bool {
    let is_racing = cell
        .iter()
        .any(|&(other, by)| by != By::One(cta) && conflict(other, kind, false).is_some());
    match cell.iter_mut().find(|(own, _)| *own == kind) {
        Some((_, by)) if *by != By::One(cta) => *by = By::Many,
        Some(_) => {}
        None => cell.push((kind, By::One(cta))),
    }
    is_racing
}
