//! Several reads of one memory: remembers the last page, because lanes often read the same one.

use super::{Memory, View};
use crate::emulate::memory::bytes::PAGE;
use crate::emulate::memory::page::{Page, within};
use crate::emulate::value::lane::Lane;
use crate::emulate::value::symbolics::Symbolics;

/// A reader of one memory.
pub(crate) struct MemoryReader<'a> {
    memory: &'a Memory,
    /// The number of the page that was read last, and the page if it is kept.
    page: Option<(u64, Option<&'a Page>)>,
}

impl<'a> MemoryReader<'a> {
    pub(super) const fn of(memory: &'a Memory) -> Self {
        Self { memory, page: None }
    }

    /// As [`Memory::load`].
    pub(crate) fn load(
        &mut self,
        address: u64,
        size: u32,
        view: View<'_>,
        symbolics: &mut Symbolics,
    ) -> Lane {
        let number = address / PAGE;
        let page = match self.page {
            Some((known, page)) if known == number => page,
            _ => self.memory.page(address),
        };
        self.page = Some((number, page));
        let whole = page.and_then(|page| page.read(within(address), size));
        whole.unwrap_or_else(|| self.memory.load_parts(page, address, size, view, symbolics))
    }
}
