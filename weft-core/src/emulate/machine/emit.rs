//! What accesses to shared and global memory tell: at known addresses as they are, at open ones where they are anchored.

use std::collections::{BTreeMap, BTreeSet};

use smallvec::{SmallVec, smallvec};

use super::event::{Access, AccessKind, Events, OpenAccess, OrderQuery};
use super::may_execute::MayExecute;
use super::piece::Piece;
use super::state::Machine;
use crate::emulate::facts::alias::{AliasClass, Representative};
use crate::emulate::facts::counters::Queue;
use crate::emulate::facts::representative::AliasFrame;
use crate::emulate::value::lane::{Lane, LaneMask, SymbolId, WARP, lanes};
use crate::emulate::value::origin::Region;
use crate::emulate::value::register::Value;
use crate::flow::addresses::{argument_of, buffer};
use crate::launch::Atomics;
use crate::ptx::Space;
use crate::ptx::isa::Effect;
use crate::slice::Keep;

/// Lanes of an open access that are laid out in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct EmitGroup {
    region: Option<usize>,
    /// Whether it may lie in another region as well.
    is_chosen: bool,
    root: Option<AliasClass>,
    queue: Option<Queue>,
    drifts: bool,
    is_mirrored: bool,
}

/// Lanes of an open access with the made-up addresses at which they are told.
struct LaidOut {
    group: EmitGroup,
    lanes: LaneMask,
    addresses: Value,
    mirror: Value,
}

/// Where a lane may be laid out.
#[derive(Clone, Copy)]
struct Place {
    region: Option<usize>,
    is_chosen: bool,
}

/// What decides a layout: the region, and the term.
type LayoutKey = (Option<usize>, Option<SymbolId>);

/// No region that a number leads to is narrower.
const NEAR: u64 = 1 << 40;

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// An access at known addresses.
    pub(super) fn tell_known(&mut self, piece: &Piece<'_>, stored: &[Value]) {
        let &Piece { decoded, space, addresses, lanes: mask, .. } = piece;
        let maybe = self.may_execute.as_ref().map(|maybe| maybe.origin);
        let kind = self.own_kind(decoded);
        let variable = if space == Space::Shared { self.variable(piece) } else { None };
        let mirror = self.mirror(piece, variable);
        let root = mirror.as_ref().map(|(root, _)| *root);
        let decides = self.decides(piece);
        let access = access(piece, addresses, mask, kind, stored);
        let access = Access { condition: maybe, variable, class: root, decides, ..access };
        self.check_bounds(&access);
        self.events.access(&access, &self.facts.symbolics);
        let Some((_, made_up)) = mirror else { return };
        let kind = AccessKind { is_shadow_copy: true, may_execute: true, ..kind };
        let (addresses, is_anchored) = (&made_up, true);
        let access = Access { addresses, kind, is_representative: is_anchored, ..access };
        self.events.access(&access, &self.facts.symbolics);
    }

    /// Whether what it reads decides something.
    fn decides(&self, piece: &Piece<'_>) -> bool {
        let reads = match piece.decoded.row.effect {
            Effect::Load => true,
            Effect::Atomic => self.inputs.options.atomics == Atomics::Off,
            _ => false,
        };
        reads && self.slice.keep[piece.pc.index()] == Keep::Value
    }

    /// The variable in shared memory that all lanes access.
    fn variable(&self, piece: &Piece<'_>) -> Option<usize> {
        let of = |first: u64| {
            self.program.shared_variable(first, first.saturating_add(u64::from(piece.bytes())))
        };
        // Variables do not overlap: what lies between two places of one is in it too.
        let (least, most) = piece.addresses.ends(piece.lanes);
        let lowest = of(least)?;
        (of(most) == Some(lowest)).then_some(lowest)
    }

    /// Where lanes at known addresses of one place are mirrored.
    fn mirror(&self, piece: &Piece<'_>, variable: Option<usize>) -> Option<(AliasClass, Value)> {
        let &Piece { space, addresses, lanes: mask, .. } = piece;
        let place = |lane: usize| match space {
            Space::Global => argument_of(addresses.lane(lane)),
            _ => variable,
        };
        let first = place(mask.trailing_zeros() as usize % WARP);
        let region = (space == Space::Global, first);
        let root = self.facts.copied_class(region)?;
        let mut made_up = [0; WARP];
        for lane in lanes(mask) {
            let bits = addresses.lane(lane);
            made_up[lane] = self
                .facts
                .shadow_copy(region, root, bits, piece.bytes())
                .filter(|_| place(lane) == first)?;
        }
        Some((root, Value::each(made_up)))
    }

    /// The variable in shared memory to whose address the open part of an address is added.
    fn shared_base(&self, piece: &Piece<'_>) -> Option<usize> {
        self.variable_around(piece.pc, Space::Shared)
    }

    /// An access at open addresses.
    pub(super) fn tell_open(&mut self, piece: &Piece<'_>) {
        let &Piece { pc, decoded, space, addresses, warp, .. } = piece;
        let (is_global, kind) = (space == Space::Global, self.own_kind(decoded));
        let groups = match self.together(piece) {
            Some(all) => smallvec![all],
            None => self.lane_by_lane(piece),
        };
        let stored = self.stored(piece);
        if kind.writes {
            let spoils =
                kind.is_atomic || self.may_execute.as_ref().is_some_and(MayExecute::is_widened);
            let regions: BTreeSet<_> =
                groups.iter().map(|laid_out| laid_out.group.region).collect();
            for region in regions {
                self.facts.counters.write_somewhere((is_global, region), spoils);
            }
        }
        for LaidOut { group, lanes: mask, addresses: made_up, mirror } in groups {
            let EmitGroup { region, is_chosen, root, queue, drifts, is_mirrored } = group;
            let kind = AccessKind { may_execute: kind.may_execute || is_chosen, ..kind };
            let origin = addresses.term(mask).and_then(|term| self.facts.symbolics.origin(term));
            let told = OpenAccess { pc, is_global, region, kind, origin, class: root, queue };
            self.events.open_access(warp, mask, told);
            if root.is_none() && queue.is_none() {
                continue;
            }
            let outer = self.may_execute.as_ref().map(|maybe| maybe.origin);
            let maybe = if drifts || is_chosen { outer.or(origin) } else { outer };
            let access_kind = AccessKind { may_execute: kind.may_execute || drifts, ..kind };
            let access = access(piece, &made_up, mask, access_kind, &stored);
            let access =
                Access { condition: maybe, is_representative: true, class: root, ..access };
            self.check_fit(&access, (is_global, region));
            self.events.access(&access, &self.facts.symbolics);
            if is_mirrored {
                let kind = AccessKind { is_shadow_copy: true, may_execute: true, ..kind };
                let maybe = outer.or(origin);
                let access = Access { addresses: &mirror, kind, condition: maybe, ..access };
                self.events.access(&access, &self.facts.symbolics);
            }
        }
    }

    /// All lanes at once: they share a term, and the ends are as far apart where they are laid out, so that nothing in
    /// between wraps around.
    fn together(&mut self, piece: &Piece<'_>) -> Option<LaidOut> {
        let &Piece { addresses, lanes, .. } = piece;
        let (term, (least, most)) = (addresses.one_term(lanes)?, addresses.ends(lanes));
        if most - least >= NEAR {
            return None;
        }
        let mut layout = None;
        let mut lay_out = |bits| {
            let whole = Lane { bits, symbol: Some(term) };
            let [place] = self.places(piece, whole)[..] else { return None };
            Some(self.lay_out(piece, whole, place, &mut layout))
        };
        let ((group, first), (other, last)) = (lay_out(least)?, lay_out(most)?);
        let shift = |of: fn(&Representative) -> Option<u64>| {
            let place =
                |laid: &Option<Representative>| laid.as_ref().and_then(of).unwrap_or_default();
            let (first, last) = (place(&first), place(&last));
            let is_one = last.wrapping_sub(first) == most - least || first == 0 && last == 0;
            is_one.then(|| addresses.plus(first.wrapping_sub(least), 64))
        };
        let made_up = shift(|laid| Some(laid.address))?;
        let mirror = shift(|laid| laid.shadow_copy)?;
        (group == other).then_some(LaidOut { group, lanes, addresses: made_up, mirror })
    }

    fn lane_by_lane(&mut self, piece: &Piece<'_>) -> SmallVec<[LaidOut; 1]> {
        let mut groups: BTreeMap<EmitGroup, (LaneMask, [Option<Representative>; WARP])> =
            BTreeMap::new();
        let mut layout = None;
        for lane in lanes(piece.lanes) {
            let whole = piece.addresses.whole(lane);
            for place in self.places(piece, whole) {
                let (group, laid) = self.lay_out(piece, whole, place, &mut layout);
                let (mask, all) = groups.entry(group).or_insert((0, [None; WARP]));
                *mask |= 1 << lane;
                all[lane] = laid;
            }
        }
        let laid_out = |(group, (lanes, laid)): (_, (_, [Option<Representative>; WARP]))| {
            let at = |of: fn(&Representative) -> Option<u64>| {
                Value::each(laid.map(|laid| laid.as_ref().and_then(of).unwrap_or_default()))
            };
            let (addresses, mirror) = (at(|laid| Some(laid.address)), at(|laid| laid.shadow_copy));
            LaidOut { group, lanes, addresses, mirror }
        };
        groups.into_iter().map(laid_out).collect()
    }

    /// The regions in one of which a lane accesses.
    fn places(&self, piece: &Piece<'_>, whole: Lane) -> SmallVec<[Place; 2]> {
        let one = |region| smallvec![Place { region, is_chosen: false }];
        match self.region(piece.pc, whole) {
            _ if piece.space != Space::Global => one(self.shared_base(piece)),
            Region::Buffer(argument) => one(Some(argument)),
            Region::Among(params) => {
                params.all().map(|at| Place { region: Some(at), is_chosen: true }).collect()
            }
            Region::Number | Region::Unclear => one(None),
        }
    }

    /// Where a lane is laid out. `last`: the layout of the lane before, for lanes often share a term.
    fn lay_out(
        &mut self,
        piece: &Piece<'_>,
        whole: Lane,
        Place { region, is_chosen }: Place,
        last: &mut Option<(LayoutKey, Option<AliasFrame>)>,
    ) -> (EmitGroup, Option<Representative>) {
        let is_global = piece.space == Space::Global;
        // What is chosen among buffers starts in each of them alike.
        let start = region.filter(|_| is_chosen).map_or(0, buffer);
        let layout = match *last {
            Some((key, layout)) if key == (region, whole.symbol) => layout,
            _ => whole.symbol.and_then(|term| self.facts.alias_frame((is_global, region), term)),
        };
        *last = Some(((region, whole.symbol), layout));
        let layout = layout.filter(|frame| {
            frame.has_queue() || !whole.symbol.is_some_and(|term| self.is_repeated(term))
        });
        let laid = layout.and_then(|own| {
            self.facts.representative(&own, whole.bits.wrapping_add(start), piece.bytes())
        });
        let group = EmitGroup {
            region,
            is_chosen,
            root: laid.filter(|laid| laid.queue.is_none()).map(|laid| laid.class),
            queue: laid.and_then(|laid| laid.queue),
            drifts: laid.is_some_and(|laid| laid.is_congruent),
            is_mirrored: laid.is_some_and(|laid| laid.shadow_copy.is_some()),
        };
        (group, laid)
    }
}

fn access<'a>(
    piece: &Piece<'_>,
    addresses: &'a Value,
    lanes: LaneMask,
    kind: AccessKind,
    stored: &'a [Value],
) -> Access<'a> {
    let &Piece { warp, pc, space, .. } = piece;
    // The operand of an atomic is not what it leaves.
    let stored = if piece.decoded.row.effect == Effect::Atomic { &[] } else { stored };
    let (bytes, is_anchored) = (piece.bytes(), false);
    let (maybe, variable, root) = (None, None, None);
    Access {
        warp,
        lanes,
        pc,
        space,
        addresses,
        bytes,
        kind,
        reads: piece.decoded.row.effect != Effect::Store,
        stored,
        condition: maybe,
        variable,
        is_representative: is_anchored,
        class: root,
        decides: false,
    }
}
