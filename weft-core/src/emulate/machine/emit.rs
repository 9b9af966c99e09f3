//! Emits accesses to shared and global memory: those at known addresses as they are, those at open addresses at the
//! representative addresses at which they are compared.

use std::collections::{BTreeMap, BTreeSet};

use smallvec::{SmallVec, smallvec};

use super::event::{Access, AccessKind, Events, OpenAccess, OrderQuery};
use super::may_execute::OpenSide;
use super::piece::Piece;
use super::state::Machine;
use crate::emulate::facts::alias::{AliasClass, Representative};
use crate::emulate::facts::counters::CounterIndex;
use crate::emulate::facts::representative::AliasFrame;
use crate::emulate::memory::region::MemoryRegion;
use crate::emulate::sync::group::CtaRank;
use crate::emulate::value::lane::{Lane, LaneMask, SymbolId, WARP, lanes};
use crate::emulate::value::origin::Region;
use crate::emulate::value::register::Value;
use crate::flow::addresses::{argument_of, buffer};
use crate::launch::Atomics;
use crate::ptx::Space;
use crate::ptx::isa::Effect;
use crate::slice::Keep;

/// What lanes of an open access are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    /// Nothing: everything in their region might conflict with them.
    Region,
    /// All accesses of an alias class, at representative addresses.
    Class { class: AliasClass, at: Representation },
    /// All accesses with the same counter index, at representative addresses.
    Counter { index: CounterIndex, at: Representation },
}

/// How lanes are placed at representative addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Representation {
    /// Whether their addresses are known only modulo the modulus of the class.
    is_congruent: bool,
    /// Whether they have shadow copies as well, where they are compared with accesses that are known only modulo
    /// something.
    has_copy: bool,
}

impl Target {
    fn of(representative: Option<Representative>) -> Self {
        let Some(representative) = representative else { return Self::Region };
        let at = Representation {
            is_congruent: representative.is_congruent,
            has_copy: representative.shadow_copy.is_some(),
        };
        match representative.index {
            Some(index) => Self::Counter { index, at },
            None => Self::Class { class: representative.class, at },
        }
    }

    const fn class(self) -> Option<AliasClass> {
        if let Self::Class { class, .. } = self { Some(class) } else { None }
    }

    const fn index(self) -> Option<CounterIndex> {
        if let Self::Counter { index, .. } = self { Some(index) } else { None }
    }

    const fn representation(self) -> Option<Representation> {
        match self {
            Self::Region => None,
            Self::Class { at, .. } | Self::Counter { at, .. } => Some(at),
        }
    }
}

/// A region that a lane of an open access might access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    /// The argument whose buffer the region is, or the variable in shared memory; `None`: the whole state space.
    base: Option<usize>,
    /// Whether the region is one of several candidates.
    is_one_of_several: bool,
}

/// Lanes of an open access that might access one region and are compared with the same accesses.
struct Represented {
    candidate: Candidate,
    target: Target,
    lanes: LaneMask,
    /// Representative addresses, if the target has any.
    addresses: Value,
    /// Addresses of the shadow copies, if the target has any.
    copies: Value,
}

/// The key of an alias frame: the region and the symbolic value.
type FrameKey = (Option<usize>, Option<SymbolId>);

/// All lanes of one group are closer to each other than this many bytes. No region that a number leads to is narrower,
/// so lanes between two lanes in one region are in that region.
const NEAR: u64 = 1 << 40;

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Emits an access at known addresses, and its shadow copies.
    pub(super) fn emit_known(&mut self, piece: &Piece<'_>, stored: &[Value]) {
        let &Piece { decoded, space, addresses, lanes: mask, .. } = piece;
        let is_sure = self.comes_last(mask);
        let condition = self.may_execute.as_ref().map(|side| side.origin).filter(|_| !is_sure);
        let kind = self.own_kind(decoded);
        let kind = AccessKind { may_execute: kind.may_execute && !is_sure, ..kind };
        let variable = if space == Space::Shared { self.variable(piece) } else { None };
        let copies = self.shadow_copies(piece, variable);
        let class = copies.as_ref().map(|(class, _)| *class);
        let decides = self.decides(piece);
        let seen = if space == Space::Global { self.seen_signal(mask) } else { None };
        let access = access(piece, addresses, mask, kind, stored);
        let synchronizes = self.synchronizes(piece);
        let access = Access { condition, variable, class, decides, seen, synchronizes, ..access };
        self.check_bounds(&access);
        self.check_objects(piece.home, &access);
        let access = self.lent(access);
        self.emit_at(piece.home, access);
        if let Some((_, addresses)) = &copies {
            self.emit_copies(piece.home, access, addresses);
        }
    }

    /// Emits the shadow copies of an access.
    fn emit_copies(&mut self, home: CtaRank, access: Access<'_>, addresses: &Value) {
        let kind = AccessKind { is_shadow_copy: true, may_execute: true, ..access.kind };
        let copy = Access { addresses, kind, is_representative: true, ..access };
        self.emit_at(home, copy);
    }

    /// Whether something that the slice keeps depends on what an access reads.
    fn decides(&self, piece: &Piece<'_>) -> bool {
        let reads = match piece.decoded.row.effect {
            Effect::Load => true,
            Effect::Atomic => self.inputs.options.atomics == Atomics::Off,
            _ => false,
        };
        reads && self.slice.keep[piece.pc.index()] == Keep::Value
    }

    /// The variable in shared memory that all lanes access; `None` if there is not exactly one.
    fn variable(&self, piece: &Piece<'_>) -> Option<usize> {
        let of = |first: u64| {
            self.program.shared_variable(first, first.saturating_add(u64::from(piece.bytes())))
        };
        // Variables do not overlap: an address between two addresses in one variable is in it too.
        let (least, most) = piece.addresses.ends(piece.lanes);
        let lowest = of(least)?;
        (of(most) == Some(lowest)).then_some(lowest)
    }

    /// The shadow copies of lanes that all access one region at known addresses, and the alias class that needs them;
    /// `None` if no class does.
    fn shadow_copies(
        &self,
        piece: &Piece<'_>,
        variable: Option<usize>,
    ) -> Option<(AliasClass, Value)> {
        let &Piece { space, addresses, lanes: mask, .. } = piece;
        let base = |lane: usize| match space {
            Space::Global => argument_of(addresses.bits_of(lane)),
            _ => variable,
        };
        let first = base(mask.trailing_zeros() as usize % WARP);
        let region = MemoryRegion { is_global: space == Space::Global, base: first };
        let class = self.facts.copied_class(region)?;
        let mut copies = [0; WARP];
        for lane in lanes(mask) {
            let copy =
                self.facts.shadow_copy(region, class, addresses.bits_of(lane), piece.bytes());
            copies[lane] = copy.filter(|_| base(lane) == first)?;
        }
        Some((class, Value::each(copies)))
    }

    /// The variable in shared memory that an open address is based on; `None` if it is not known.
    fn shared_base(&self, piece: &Piece<'_>) -> Option<usize> {
        self.variable_around(piece.pc, Space::Shared)
    }

    /// Emits an access at open addresses.
    pub(super) fn emit_open(&mut self, piece: &Piece<'_>) {
        let groups = match self.one_group(piece) {
            Some(all) => smallvec![all],
            None => self.lane_by_lane(piece),
        };
        self.note_writes(piece, &groups);
        let bases: Vec<_> = groups.iter().map(|group| group.candidate.base).collect();
        self.check_open_objects(piece, &bases);
        let stored = self.stored(piece);
        for group in &groups {
            self.emit_group(piece, group, &stored);
        }
    }

    /// Records that an access writes at open addresses: counters in its regions might change.
    fn note_writes(&mut self, piece: &Piece<'_>, groups: &[Represented]) {
        let kind = self.own_kind(piece.decoded);
        if !kind.writes {
            return;
        }
        let is_global = piece.space == Space::Global;
        let is_widened = self.may_execute.as_ref().is_some_and(OpenSide::is_widened);
        let bases: BTreeSet<_> = groups.iter().map(|group| group.candidate.base).collect();
        for base in bases {
            let region = MemoryRegion { is_global, base };
            let spoils = is_widened || kind.is_atomic() || kind.states_order();
            self.facts.counters.write_somewhere(region, spoils);
            if is_global {
                let (first, last) = region.extent(self.program);
                self.facts.signals.spoil_between(first, last);
                self.facts.awaits.write_between(first, last);
                if kind.is_atomic() {
                    self.facts.signals.send_somewhere();
                }
            }
        }
    }

    /// Emits lanes of an open access that are compared with the same accesses: as an access anywhere in their region,
    /// then at their representative addresses, then at their shadow copies.
    fn emit_group(&mut self, piece: &Piece<'_>, group: &Represented, stored: &[Value]) {
        let &Represented { candidate, target, lanes: mask, ref addresses, ref copies } = group;
        let Candidate { base, is_one_of_several: is_chosen } = candidate;
        let region = MemoryRegion { is_global: piece.space == Space::Global, base };
        let kind = self.own_kind(piece.decoded);
        let kind = AccessKind { may_execute: kind.may_execute || is_chosen, ..kind };
        let symbol = piece.addresses.symbol(mask);
        let origin = symbol.and_then(|symbol| self.facts.symbolics.origin(symbol));
        let (pc, class, index) = (piece.pc, target.class(), target.index());
        let open = OpenAccess { pc, region, kind, origin, class, index };
        self.events.open_access(piece.warp, mask, open);
        let Some(at) = target.representation() else { return };
        let outer = self.may_execute.as_ref().map(|side| side.origin);
        let may_differ = outer.or(origin);
        let condition = if at.is_congruent || is_chosen { may_differ } else { outer };
        let certain = AccessKind { may_execute: kind.may_execute || at.is_congruent, ..kind };
        let access = access(piece, addresses, mask, certain, stored);
        let access = Access { condition, is_representative: true, class, ..access };
        self.check_fit(&access, region);
        let access = self.lent(access);
        self.emit_at(piece.home, access);
        if at.has_copy {
            let access = Access { kind, condition: may_differ, ..access };
            self.emit_copies(piece.home, access, copies);
        }
    }

    /// Returns all lanes as one group. `None` unless they share a symbolic value and the lowest and the highest lane
    /// are as far from each other at their representative addresses, so that no lane in between wraps around.
    fn one_group(&mut self, piece: &Piece<'_>) -> Option<Represented> {
        let &Piece { addresses, lanes, .. } = piece;
        let (symbol, (least, most)) = (addresses.one_symbol(lanes)?, addresses.ends(lanes));
        if most - least >= NEAR {
            return None;
        }
        let mut frame = None;
        let mut represent = |bits| {
            let whole = Lane { bits, symbol: Some(symbol) };
            let [candidate] = self.candidates(piece, whole)[..] else { return None };
            Some((candidate, self.represent(piece, whole, candidate, &mut frame)))
        };
        let ((candidate, first), (other, last)) = (represent(least)?, represent(most)?);
        let shifted = |of: fn(&Representative) -> Option<u64>| {
            let [first, last] =
                [&first, &last].map(|found| found.as_ref().and_then(of).unwrap_or_default());
            let is_one = last.wrapping_sub(first) == most - least || first == 0 && last == 0;
            is_one.then(|| addresses.plus(first.wrapping_sub(least), 64))
        };
        let at_representatives = shifted(|found| Some(found.address))?;
        let copies = shifted(|found| found.shadow_copy)?;
        let (addresses, target) = (at_representatives, Target::of(first));
        let is_one = (candidate, target) == (other, Target::of(last));
        is_one.then_some(Represented { candidate, target, lanes, addresses, copies })
    }

    /// Groups lanes that are compared with the same accesses, lane by lane.
    fn lane_by_lane(&mut self, piece: &Piece<'_>) -> SmallVec<[Represented; 1]> {
        type GroupLanes = (LaneMask, [Option<Representative>; WARP]);
        let mut groups: BTreeMap<(Candidate, Target), GroupLanes> = BTreeMap::new();
        let mut frame = None;
        for lane in lanes(piece.lanes) {
            let whole = piece.addresses.whole(lane);
            for candidate in self.candidates(piece, whole) {
                let representative = self.represent(piece, whole, candidate, &mut frame);
                let key = (candidate, Target::of(representative));
                let (mask, all) = groups.entry(key).or_insert((0, [None; WARP]));
                *mask |= 1 << lane;
                all[lane] = representative;
            }
        }
        let group = |((candidate, target), (lanes, all)): (_, GroupLanes)| {
            let at = |of: fn(&Representative) -> Option<u64>| {
                Value::each(all.map(|found| found.as_ref().and_then(of).unwrap_or_default()))
            };
            let (addresses, copies) =
                (at(|found| Some(found.address)), at(|found| found.shadow_copy));
            Represented { candidate, target, lanes, addresses, copies }
        };
        groups.into_iter().map(group).collect()
    }

    /// The regions that a lane might access; it accesses one of them.
    fn candidates(&self, piece: &Piece<'_>, whole: Lane) -> SmallVec<[Candidate; 2]> {
        let one = |base| smallvec![Candidate { base, is_one_of_several: false }];
        match self.region(piece.pc, whole) {
            _ if piece.space != Space::Global => one(self.shared_base(piece)),
            Region::Buffer(argument) => one(Some(argument)),
            Region::Among(params) => params
                .all()
                .map(|at| Candidate { base: Some(at), is_one_of_several: true })
                .collect(),
            Region::Number | Region::Unclear => one(None),
        }
    }

    /// The representative of a lane in a region; `None` if it is compared with nothing. `last`: the alias frame of the
    /// lane before, since lanes often share a symbolic value.
    fn represent(
        &mut self,
        piece: &Piece<'_>,
        whole: Lane,
        Candidate { base, is_one_of_several: is_chosen }: Candidate,
        last: &mut Option<(FrameKey, Option<AliasFrame>)>,
    ) -> Option<Representative> {
        let region = MemoryRegion { is_global: piece.space == Space::Global, base };
        // Representative addresses do not tell apart the ctas of a cluster.
        if self.has_peers() && !region.is_global {
            return None;
        }
        // An address that is chosen among buffers has the same offset in each of them.
        let start = base.filter(|_| is_chosen).map_or(0, buffer);
        let frame = match *last {
            Some((key, frame)) if key == (base, whole.symbol) => frame,
            _ => whole.symbol.and_then(|symbol| self.facts.alias_frame(region, symbol)),
        };
        *last = Some(((base, whole.symbol), frame));
        let is_repeated = || whole.symbol.is_some_and(|symbol| self.is_repeated(symbol));
        let frame = frame.filter(|frame| frame.is_counter_indexed() || !is_repeated())?;
        self.facts.representative(&frame, whole.bits.wrapping_add(start), piece.bytes())
    }
}

/// The event of an access. What its condition, variable and alias class decide is left empty.
fn access<'a>(
    piece: &Piece<'_>,
    addresses: &'a Value,
    lanes: LaneMask,
    kind: AccessKind,
    stored: &'a [Value],
) -> Access<'a> {
    let &Piece { warp, pc, space, .. } = piece;
    // An atomic leaves something other than its operand.
    let stored = if piece.decoded.row.effect == Effect::Atomic { &[] } else { stored };
    Access {
        warp,
        issuer: None,
        lanes,
        pc,
        space,
        addresses,
        bytes: piece.bytes(),
        kind,
        reads: piece.decoded.row.effect != Effect::Store,
        stored,
        condition: None,
        variable: None,
        is_representative: false,
        class: None,
        decides: false,
        seen: None,
        synchronizes: false,
    }
}
