//! Writes a placement into the text of a module, and finds the original instructions again.

use std::collections::{BTreeMap, BTreeSet};

use super::kind::BarrierKind;
use super::points::{Anchor, Point, PointId};
use crate::ptx::{self, Module, Span};

/// A barrier at some of the points.
pub(super) type BarrierPlacement = BTreeMap<PointId, BarrierKind>;

/// A module with a placement written into its text.
pub(super) struct Patched {
    pub(super) module: Module,
    /// What was copied from the original text: the first byte there and here, ascending.
    copied: Vec<(usize, usize)>,
    /// The barriers of the placement, by their first byte in the new text.
    barriers: BTreeMap<usize, PointId>,
}

/// A change of the text of a module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edit {
    /// The bytes that are replaced; empty for an insertion.
    pub range: (usize, usize),
    /// What comes in their place.
    pub text: String,
}

/// Returns a text with changes made. Changes of several kernels can be made together; what several of them ask for is
/// done once.
pub fn edited(text: &str, edits: &[Edit]) -> String {
    let (mut out, mut from) = (String::new(), 0);
    let edits: BTreeSet<&Edit> = edits.iter().collect();
    for Edit { range: (start, end), text: new } in edits {
        out.push_str(text.get(from..*start).unwrap_or(""));
        out.push_str(new);
        from = *end;
    }
    out + &text[from..]
}

/// Writes a placement: at each point the barrier that it states. A barrier that stands at a point already stays only if
/// the placement has it.
pub(super) fn patched(module: &Module, points: &[Point], placement: &BarrierPlacement) -> Patched {
    let original = module.text();
    let (mut text, mut barriers, mut copied, mut from) =
        (String::new(), BTreeMap::new(), Vec::new(), 0);
    for (point, Edit { range: (start, end), text: new }) in edits(points, placement) {
        copied.push((from, text.len()));
        text.push_str(&original[from..start]);
        if !new.is_empty() {
            let indent = new.len() - new.trim_start().len();
            barriers.insert(text.len() + indent, point);
        }
        text.push_str(&new);
        from = end;
    }
    copied.push((from, text.len()));
    text.push_str(&original[from..]);
    let mut patched = Patched { module: ptx::parse(&text), copied, barriers };
    for (at, point) in points.iter().enumerate() {
        if let Anchor::At(span, kind) = point.anchor
            && placement.get(&PointId(at)) == Some(&kind)
        {
            patched.barriers.insert(patched.moved(span.start as usize), PointId(at));
        }
    }
    patched
}

/// Whether a barrier separates more than what a placement has at its point.
pub(super) fn is_more(placement: &BarrierPlacement, point: PointId, kind: BarrierKind) -> bool {
    match placement.get(&point) {
        None => true,
        Some(known) => *known == BarrierKind::Warp && kind == BarrierKind::Cta,
    }
}

/// Returns the changes that a placement makes, in the order of the text.
pub(super) fn edits(points: &[Point], placement: &BarrierPlacement) -> Vec<(PointId, Edit)> {
    let one = |(at, point): (usize, &Point)| {
        let id = PointId(at);
        edit(point.anchor, placement.get(&id).copied()).map(|edit| (id, edit))
    };
    let mut edits: Vec<(PointId, Edit)> = points.iter().enumerate().filter_map(one).collect();
    edits.sort_by(|(_, one), (_, other)| one.cmp(other));
    edits
}

fn edit(anchor: Anchor, kind: Option<BarrierKind>) -> Option<Edit> {
    let (start, end) = (anchor.span().start as usize, anchor.span().end as usize);
    let edit = |range, text: String| Some(Edit { range, text });
    match (anchor, kind) {
        (Anchor::Before(_), Some(kind)) => edit((start, start), format!("{}\n\t", kind.ptx())),
        (Anchor::After(_), Some(kind)) => edit((end, end), format!("\n\t{}", kind.ptx())),
        (Anchor::At(_, known), Some(kind)) if known == kind => None,
        (Anchor::At(..), kind) => {
            edit((start, end), kind.map_or_else(String::new, |kind| kind.ptx().to_owned()))
        }
        (Anchor::Before(_) | Anchor::After(_), None) => None,
    }
}

impl Patched {
    /// Returns the point at which an instruction of the new text is the barrier, otherwise where the instruction stands
    /// in the original text.
    pub(super) fn place(&self, span: Span) -> Result<Span, PointId> {
        if let Some(point) = self.barriers.get(&(span.start as usize)) {
            return Err(*point);
        }
        let offset = |at: u32| {
            let at = at as usize;
            let piece = self.copied.partition_point(|(_, here)| *here <= at).saturating_sub(1);
            let (there, here) = self.copied[piece];
            u32::try_from(there + at.saturating_sub(here)).unwrap_or(u32::MAX)
        };
        let start = offset(span.start);
        Ok(Span { start, end: start + (span.end - span.start) })
    }

    /// Returns where a byte of the original text, which was copied, stands in the new one.
    fn moved(&self, at: usize) -> usize {
        let piece = self.copied.partition_point(|(there, _)| *there <= at).saturating_sub(1);
        let (there, here) = self.copied[piece];
        here + at - there
    }
}
