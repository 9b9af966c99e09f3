//! What accesses to shared and global memory tell: at known addresses as they are, at open ones where they are anchored.

use std::collections::{BTreeMap, BTreeSet};

use super::access::Piece;
use super::anchor::{Laid, Root};
use super::event::{Access, Events, Kind, OpenAccess};
use super::inputs::argument_of;
use super::machine::Machine;
use super::origin::Region;
use super::ticket::Queue;
use super::value::{LaneMask, Value, WARP, lanes};
use crate::flow::Holds;
use crate::ptx::Space;
use crate::ptx::isa::Effect;

/// Lanes of an open access that are laid out in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    region: Option<usize>,
    root: Option<Root>,
    queue: Option<Queue>,
    drifts: bool,
    is_mirrored: bool,
}

impl<E: Events> Machine<'_, E> {
    /// An access at known addresses.
    pub(super) fn tell_known(&mut self, piece: &Piece<'_>, stored: &[Value]) {
        let &Piece { decoded, space, addresses, lanes: mask, .. } = piece;
        let maybe = self.maybe.as_ref().map(|maybe| maybe.origin);
        let kind = self.own_kind(decoded);
        let variable = if space == Space::Shared { self.variable(piece) } else { None };
        let mirror = self.mirror(piece, variable);
        let root = mirror.as_ref().map(|(root, _)| *root);
        let access =
            Access { maybe, variable, root, ..access(piece, addresses, mask, kind, stored) };
        self.check_bounds(&access);
        self.events.access(&access, self.terms);
        let Some((_, made_up)) = mirror else { return };
        let kind = Kind { is_mirror: true, is_maybe: true, ..kind };
        let (addresses, is_anchored) = (&made_up, true);
        let access = Access { addresses, kind, is_anchored, ..access };
        self.events.access(&access, self.terms);
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
    fn mirror(&self, piece: &Piece<'_>, variable: Option<usize>) -> Option<(Root, Value)> {
        let &Piece { space, addresses, lanes: mask, .. } = piece;
        let place = |lane: usize| match space {
            Space::Global => argument_of(addresses.lane(lane)),
            _ => variable,
        };
        let first = place(mask.trailing_zeros() as usize % WARP);
        let own = (space == Space::Global, first);
        let root = self.terms.mirror(own)?;
        let mut made_up = [0; WARP];
        for lane in lanes(mask) {
            let bits = addresses.lane(lane);
            made_up[lane] = self
                .terms
                .mirrored(own, root, bits, piece.bytes())
                .filter(|_| place(lane) == first)?;
        }
        Some((root, Value::each(made_up)))
    }

    /// The variable in shared memory to whose address the open part of an address is added.
    fn shared_base(&self, piece: &Piece<'_>) -> Option<usize> {
        match self.program.holds[piece.instr.address?.base?.index()] {
            Holds::Shared(variable) => Some(variable),
            _ => None,
        }
    }

    /// An access at open addresses.
    pub(super) fn tell_open(&mut self, piece: &Piece<'_>) {
        let &Piece { pc, decoded, space, addresses, lanes: open, warp, .. } = piece;
        let (is_global, kind) = (space == Space::Global, self.own_kind(decoded));
        let mut groups: BTreeMap<Group, (LaneMask, [Option<Laid>; WARP])> = BTreeMap::new();
        let mut last = None;
        for lane in lanes(open) {
            let whole = addresses.whole(lane);
            let region = match self.terms.region(whole) {
                _ if !is_global => self.shared_base(piece),
                Region::Buffer(argument) => Some(argument),
                _ => None,
            };
            // Lanes often share a term.
            let layout = match last {
                Some((key, layout)) if key == (region, whole.term) => layout,
                _ => whole.term.and_then(|term| self.terms.layout((is_global, region), term)),
            };
            last = Some(((region, whole.term), layout));
            let laid = layout.and_then(|own| self.terms.lay_out(&own, whole.bits, piece.bytes()));
            let group = Group {
                region,
                root: laid.filter(|laid| laid.queue.is_none()).map(|laid| laid.root),
                queue: laid.and_then(|laid| laid.queue),
                drifts: laid.is_some_and(|laid| laid.drifts),
                is_mirrored: laid.is_some_and(|laid| laid.mirror.is_some()),
            };
            let (mask, all) = groups.entry(group).or_insert((0, [None; WARP]));
            *mask |= 1 << lane;
            all[lane] = laid;
        }
        let stored = self.stored(piece);
        if kind.writes {
            let regions: BTreeSet<_> = groups.keys().map(|group| group.region).collect();
            for region in regions {
                self.terms.tickets.write_somewhere((is_global, region), kind.is_atomic);
                self.terms.contention.write_somewhere(is_global, region);
            }
        }
        for (group, (mask, laid)) in groups {
            let Group { region, root, queue, drifts, is_mirrored } = group;
            let origin = addresses.term(mask).and_then(|term| self.terms.origin(term));
            let told = OpenAccess { pc, is_global, region, kind, origin, root, queue };
            self.events.open_access(warp, mask, told);
            if root.is_none() && queue.is_none() {
                continue;
            }
            let outer = self.maybe.as_ref().map(|maybe| maybe.origin);
            let maybe = if drifts { outer.or(origin) } else { outer };
            let own = Kind { is_maybe: kind.is_maybe || drifts, ..kind };
            let at = |of: fn(&Laid) -> Option<u64>| {
                Value::each(std::array::from_fn(|lane| {
                    laid[lane].as_ref().and_then(of).unwrap_or_default()
                }))
            };
            let (is_anchored, addresses) = (true, at(|laid| Some(laid.address)));
            let access = access(piece, &addresses, mask, own, &stored);
            let access = Access { maybe, is_anchored, root, ..access };
            self.events.access(&access, self.terms);
            if is_mirrored {
                let kind = Kind { is_mirror: true, is_maybe: true, ..kind };
                let (maybe, addresses) = (outer.or(origin), at(|laid| laid.mirror));
                let access = Access { addresses: &addresses, kind, maybe, ..access };
                self.events.access(&access, self.terms);
            }
        }
    }
}

fn access<'a>(
    piece: &Piece<'_>,
    addresses: &'a Value,
    lanes: LaneMask,
    kind: Kind,
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
        maybe,
        variable,
        is_anchored,
        root,
    }
}
