//! The pass that decides, between ctas: which bytes of global memory race. No barrier orders ctas.

use std::collections::BTreeSet;

use super::entry::conflict;
use super::pages::Pages;
use crate::emulate::bytes::{Bytes, PAGE, places};
use crate::emulate::rows::rows;
use crate::emulate::{Access, Kind};

/// The ctas that accessed a byte in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    One(u32),
    Many,
}

/// Bytes of a page that were accessed in one way by one cta, or by many; there are few.
#[derive(Clone, Debug)]
struct Way {
    kind: Kind,
    by: By,
    bytes: Bytes,
}

/// The shadow of global memory across ctas.
#[derive(Clone, Debug)]
pub struct Ctas {
    pages: Pages<Vec<Way>>,
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
        Self { pages: Pages::new(), racing: BTreeSet::new() }
    }

    /// The bytes that race; at most 262144 of them.
    pub const fn racing(&self) -> &BTreeSet<u64> {
        &self.racing
    }

    /// Whether more memory was accessed, or raced on, than is followed.
    pub fn is_full(&self) -> bool {
        self.pages.is_full || self.racing.len() >= MAX_RACING
    }

    /// Takes in what one cta did that is not among those yet.
    pub fn take_in(&mut self, cta: Self) {
        self.pages.is_full |= cta.pages.is_full;
        for (number, ways) in cta.pages.into_all() {
            for Way { kind, by, bytes } in ways {
                if let By::One(cta) = by {
                    self.add(number, kind, cta, bytes);
                }
            }
        }
    }

    /// Whether what ctas did conflicts with what others do that go other ways, in bytes that are not known to race.
    pub fn meets(&self, others: &Self) -> bool {
        let is_other = |own: &Way, their: &Way| own.by != their.by || own.by == By::Many;
        let is_new = |byte: &u64| !self.racing.contains(byte) && !others.racing.contains(byte);
        self.pages.all().any(|(number, ways)| {
            let theirs = others.pages.get(number).into_iter().flatten();
            let pairs = theirs.flat_map(|their| ways.iter().map(move |own| (own, their)));
            let racing = pairs
                .filter(|(own, their)| is_other(own, their))
                .filter(|(own, their)| conflict(own.kind, their.kind, false).is_some())
                .fold(0, |racing, (own, their)| racing | own.bytes & their.bytes);
            places(racing).any(|at| is_new(&(number * PAGE + at)))
        })
    }

    /// A warp of a cta accesses.
    pub fn access(&mut self, access: &Access<'_>, cta: u32) {
        rows(access, |number, row| self.add(number, access.kind, cta, row.bytes));
    }

    fn add(&mut self, page: u64, kind: Kind, cta: u32, bytes: Bytes) {
        let Some(ways) = self.pages.page(page) else { return };
        for at in places(add(ways, kind, cta, bytes)) {
            if self.racing.len() < MAX_RACING {
                self.racing.insert(page * PAGE + at);
            }
        }
    }
}

/// Adds an access; the bytes at which it conflicts with one of another cta.
fn add(page: &mut Vec<Way>, kind: Kind, cta: u32, bytes: Bytes) -> Bytes {
    let races = |way: &&Way| way.by != By::One(cta) && conflict(way.kind, kind, false).is_some();
    let racing = page.iter().filter(races).fold(0, |racing, way| racing | way.bytes & bytes);
    let mut shared = 0;
    for way in page.iter_mut().filter(|way| way.kind == kind && way.by != By::One(cta)) {
        shared |= way.bytes & bytes;
        if way.by != By::Many {
            way.bytes &= !bytes;
        }
    }
    note(page, kind, By::Many, shared);
    note(page, kind, By::One(cta), bytes & !shared);
    racing
}

fn note(page: &mut Vec<Way>, kind: Kind, by: By, bytes: Bytes) {
    match page.iter_mut().find(|way| (way.kind, way.by) == (kind, by)) {
        Some(way) => way.bytes |= bytes,
        None if bytes != 0 => page.push(Way { kind, by, bytes }),
        None => {}
    }
}
