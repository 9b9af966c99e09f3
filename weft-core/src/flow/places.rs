//! Places of linked instructions: the position in the PTX, and the source lines, including those of the calls around
//! them.

use foldhash::HashMap;
use foldhash::fast::RandomState;
use indexmap::IndexSet;

use super::program::{Place, PlaceId};
use crate::ptx::{Loc, Span, Statement};

/// `(file, line, column)`.
type LocLine = (u32, u32, u32);

/// All places of a program, each stored once.
#[derive(Debug, Default)]
pub(super) struct Places {
    pub(super) all: Vec<Place>,
    /// Identifiers by span in the PTX and index into `sources`.
    ids: HashMap<(Span, usize), PlaceId>,
    /// Lists of source lines, each stored once.
    sources: IndexSet<Vec<LocLine>, RandomState>,
}

impl Places {
    /// Returns the identifier of a place. `is_new` states that this span has no place yet.
    pub(super) fn id(&mut self, span: Span, source: &mut SourceLines, is_new: bool) -> PlaceId {
        let list = source.number(&mut self.sources);
        let mut new = || {
            let source = self.sources.get_index(list).cloned().unwrap_or_default();
            self.all.push(Place { span, source });
            PlaceId(u32::try_from(self.all.len() - 1).expect("a program has fewer instructions"))
        };
        if is_new { new() } else { *self.ids.entry((span, list)).or_insert_with(new) }
    }
}

/// The source lines of the code that is linked next, and how the compiler inlined the lines of the current function.
#[derive(Debug)]
pub(super) struct SourceLines {
    inlined: HashMap<LocLine, LocLine>,
    /// The lines of the last `.loc`, innermost first.
    own: Vec<LocLine>,
    /// The lines of the call, innermost first.
    callers: Vec<LocLine>,
    /// The index of the lines of both in `Places::sources`, once it is known.
    list: Option<usize>,
}

impl SourceLines {
    /// Returns the state at the start of a function whose call has the lines `callers`.
    pub(super) fn of(statements: &[Statement], callers: Vec<LocLine>) -> Self {
        let mut inlined = HashMap::default();
        for statement in statements {
            if let Statement::Loc(Loc { file, line, column, inlined_at: Some(at) }) = statement {
                inlined.insert((*file, *line, *column), *at);
            }
        }
        Self { inlined, own: Vec::new(), callers, list: None }
    }

    /// Moves to the lines of a `.loc`.
    pub(super) fn move_to(&mut self, loc: Loc) {
        const MAX_INLINING: usize = 16;
        self.list = None;
        self.own.clear();
        if loc.line > 0 {
            let outer = std::iter::successors(loc.inlined_at, |at| self.inlined.get(at).copied());
            let chain = std::iter::once((loc.file, loc.line, loc.column)).chain(outer);
            self.own.extend(chain.take(MAX_INLINING));
        }
    }

    /// Returns the lines of a call at the current position, for the function that it calls.
    pub(super) fn lines(&self) -> Vec<LocLine> {
        self.own.iter().chain(&self.callers).copied().collect()
    }

    fn number(&mut self, sources: &mut IndexSet<Vec<LocLine>, RandomState>) -> usize {
        /// The most source lines of one place: calls within calls, in each of which the compiler might have inlined
        /// many.
        const MAX_SOURCE: usize = 64;
        *self.list.get_or_insert_with(|| {
            let lines = self.own.iter().chain(&self.callers).take(MAX_SOURCE);
            sources.insert_full(lines.copied().collect()).0
        })
    }
}
