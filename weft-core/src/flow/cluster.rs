//! Clusters (PTX ISA §2.2.2). A kernel is linked for clusters of one cta each, unless it or its launch states others: then
//! registers of clusters are known, and the shared memory of the cluster is that of the cta.
//!
//! In a cluster of several ctas, an address in shared memory is that of the cta's own memory, unless it is a peer address:
//! then it holds the rank of a cta ([`peer_address`]).

use std::sync::Arc;

use super::addresses::window;
use super::declared::Clusters;
use super::error::LinkError;
use super::linker::{Frame, LinkedLine, Linker, known};
use super::operands::NameMeaning;
use super::program::{Condition, Dests, Instr, Operand, Operation, PlaceId, Program};
use super::special::Special;
use crate::ptx::isa::{Decoded, Effect, Modifier, Opcode};
use crate::ptx::{Instruction, Space, Type};

/// The bit that tells a peer address from one of the cta's own memory.
const PEER: u64 = 1 << 30;
/// The lowest bit of the rank in a peer address. Addresses in the memory of a cta lie below it.
const RANK: u32 = 26;
/// One past the last address that a shared variable can have in a cluster of several ctas.
pub(super) const OWN_END: u64 = 1 << RANK;

/// What a shared address leads to in a cluster of several ctas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClusterAddress {
    /// The cta's own memory, at the address itself.
    Own,
    /// The memory of the cta with this rank, at this address.
    Peer(u64, u64),
    /// It was computed from several peer addresses.
    Unclear,
}

/// Returns the peer address of the start of a cta's shared memory.
pub(crate) const fn peer_start(rank: u64) -> u64 {
    PEER + (rank << RANK)
}

/// Returns what a shared address leads to in a cluster of several ctas.
pub(crate) const fn peer_address(address: u64) -> ClusterAddress {
    match address >> PEER.trailing_zeros() {
        1 => ClusterAddress::Peer((address & (PEER - 1)) >> RANK, address & ((1 << RANK) - 1)),
        2 | 3 => ClusterAddress::Unclear,
        // An address of more than 32 bits lies outside of all memory.
        _ => ClusterAddress::Own,
    }
}

/// An instruction that is linked as others: its guard, its place and its text.
type Translated<'i> = (&'i Instr, &'i Instruction);

/// An address that an instruction translates.
#[derive(Clone, Copy, Debug)]
struct TranslatedAddress {
    operand: Operand,
    /// Its type, `u32` or `u64`.
    width: &'static str,
    /// The first address of shared memory as the instruction sees it: that of the window for generic addresses.
    window: u64,
}

impl Program {
    /// Whether fences might publish what arrivals at the barrier of the cluster do not release: some are `.relaxed`.
    pub fn publishes(&self) -> bool {
        let mut all = self.code.iter().filter_map(Instr::decoded);
        all.any(|own| {
            own.row.opcode == Opcode::ClusterArrive && own.modifiers.has(Modifier::Relaxed)
        })
    }
}

impl<'m> Linker<'m> {
    /// Notes that something depends on the size of clusters. Returns the size; `None`: it is not known.
    fn cluster_size(&mut self) -> Option<u64> {
        self.uses_clusters = true;
        if self.linked.clusters == Clusters::Unused {
            self.linked.clusters = Clusters::AssumedOfOne;
        }
        let clusters = self.linked.clusters;
        (clusters != Clusters::Unknown).then(|| clusters.size().count())
    }

    /// The meaning of a special register of clusters, if that is its name.
    pub(super) fn cluster_register(&mut self, name: &str, part: u8) -> Option<NameMeaning> {
        let of = |special| Some(NameMeaning::Special(special));
        let is_own = ["%cluster", "%ncluster"].iter().any(|first| name.starts_with(first));
        let count = if is_own { self.cluster_size()? } else { return None };
        let size = self.linked.clusters.size();
        let extent = [size.x, size.y, size.z].get(usize::from(part)).copied().unwrap_or(0);
        match name {
            "%cluster_nctaid" => Some(NameMeaning::Number(extent.into())),
            "%cluster_nctarank" => Some(NameMeaning::Number(count)),
            "%cluster_ctaid" | "%cluster_ctarank" if count == 1 => Some(NameMeaning::Number(0)),
            "%cluster_ctaid" => of(Special::ClusterCtaid(part)),
            "%cluster_ctarank" => of(Special::ClusterCtarank),
            "%clusterid" if count == 1 => of(Special::Ctaid(part)),
            "%nclusterid" if count == 1 => of(Special::Nctaid(part)),
            "%clusterid" => of(Special::Clusterid(part)),
            "%nclusterid" => of(Special::Nclusterid(part)),
            _ => None,
        }
    }

    /// Returns an instruction as one that is not known, if it might act on other ctas of a cluster whose size is not known.
    pub(super) fn beyond_cta(&mut self, decoded: &Decoded) -> Option<Arc<Decoded>> {
        if decoded.row.effect == Effect::ClusterBarrier && self.cluster_size().is_none() {
            return Some(Arc::new(Decoded { is_strange: true, ..*decoded }));
        }
        let is_stated = matches!(self.linked.clusters, Clusters::OfSeveral(_) | Clusters::Unknown);
        let reaches = decoded.reaches_cluster || decoded.modifiers.has(Modifier::Cluster);
        // Without `mapa`, an address is that of the cta's own memory.
        self.uses_clusters |= is_stated && reaches;
        let is_beyond = decoded.reaches_cluster && self.linked.clusters == Clusters::Unknown;
        is_beyond.then(|| Arc::new(Decoded { is_strange: true, ..*decoded }))
    }

    /// Links `mapa`, `getctarank` and, in clusters of several ctas, `isspacep`, which translate addresses between the ctas of a
    /// cluster or tell them apart. Returns whether it did.
    pub(super) fn map_address(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        decoded: &Decoded,
        (guard, place): (Option<Condition>, PlaceId),
    ) -> Result<bool, LinkError> {
        let clusters = self.linked.clusters;
        let asks = decoded.row.opcode == Opcode::Isspacep
            && decoded.space == Space::Shared
            && !decoded.reaches_cluster
            && clusters.are_of_several();
        let is_map = decoded.row.opcode == Opcode::Mapa;
        let is_own = is_map || asks || decoded.row.opcode == Opcode::Getctarank;
        if decoded.is_strange || !is_own {
            return Ok(false);
        }
        let Some(count) = self.cluster_size() else { return Ok(false) };
        let own = self.operands(frame, instruction, Some(&Arc::new(*decoded)))?;
        let own = Instr { place, ..own };
        let Some(first) = own.sources.first().copied() else { return Ok(false) };
        let rank = own.sources.get(1).filter(|_| is_map).copied();
        let is_generic = asks || decoded.space != Space::Shared;
        let address = TranslatedAddress {
            operand: first,
            width: if asks { "u64" } else { width(decoded) },
            window: if is_generic { window(Space::Shared) } else { 0 },
        };
        let of = (&own, instruction);
        self.when(guard, place, instruction.span, |linker| match rank {
            _ if asks => linker.is_own(of, address),
            Some(rank) if count > 1 => linker.map(of, address, rank),
            None if count > 1 => {
                let (is_peer, rank) = linker.rank(of, address)?;
                let own = Operand::Special(Special::ClusterCtarank);
                linker.last(of, "selp.u32", &[rank, own, is_peer])
            }
            _ => {
                let moved = if is_map { first } else { Operand::Constant(0) };
                if let Some(rank) = rank {
                    linker.refuse(of, rank)?;
                }
                linker.last(of, &format!("mov.{}", address.width), &[moved])
            }
        })?;
        Ok(true)
    }

    /// Links `mapa` in a cluster of several ctas: makes a peer address of one of the cta's own memory. A rank that no cluster
    /// has makes an unclear address.
    fn map(
        &mut self,
        of: Translated<'_>,
        address: TranslatedAddress,
        rank: Operand,
    ) -> Result<(), LinkError> {
        let TranslatedAddress { operand, width, .. } = address;
        let rank = self.step(of, "min.u32", &[rank, Operand::Constant(PEER >> RANK)])?;
        let shifted = self.step(of, "shl.b32", &[rank, Operand::Constant(RANK.into())])?;
        let marked = self.step(of, "add.u32", &[shifted, Operand::Constant(PEER)])?;
        let wide = if width == "u64" { self.step(of, "cvt.u64.u32", &[marked])? } else { marked };
        self.last(of, &format!("add.{width}"), &[operand, wide])
    }

    /// Links `isspacep.shared` in a cluster of several ctas: whether a generic address is one of the cta's own shared memory.
    fn is_own(&mut self, of: Translated<'_>, address: TranslatedAddress) -> Result<(), LinkError> {
        let is_shared = self.step(of, "isspacep.shared", &[address.operand])?;
        let (is_peer, rank) = self.rank(of, address)?;
        let own = Operand::Special(Special::ClusterCtarank);
        let is_own = self.step(of, "setp.eq.u32", &[rank, own])?;
        let not_peer = self.step(of, "not.pred", &[is_peer])?;
        let is_own = self.step(of, "or.pred", &[is_own, not_peer])?;
        self.last(of, "and.pred", &[is_shared, is_own])
    }

    /// Computes whether an address is a peer address, and the rank that it holds if it is one.
    fn rank(
        &mut self,
        of: Translated<'_>,
        address: TranslatedAddress,
    ) -> Result<(Operand, Operand), LinkError> {
        let TranslatedAddress { operand, width, window } = address;
        let low = match width {
            "u64" => self.step(of, "cvt.u32.u64", &[operand])?,
            _ => operand,
        };
        let first = Operand::Constant(window & u64::from(u32::MAX));
        let low = self.step(of, "sub.u32", &[low, first])?;
        let is_peer = self.step(of, "and.b32", &[low, Operand::Constant(PEER)])?;
        let is_peer = self.step(of, "setp.ne.u32", &[is_peer, Operand::Constant(0)])?;
        let rank = self.step(of, "shr.u32", &[low, Operand::Constant(RANK.into())])?;
        let rank = self.step(of, "and.b32", &[rank, Operand::Constant((PEER >> RANK) - 1)])?;
        Ok((is_peer, rank))
    }

    /// Pushes an instruction with these operands. Returns its result.
    fn step(
        &mut self,
        of: Translated<'_>,
        mnemonic: &str,
        sources: &[Operand],
    ) -> Result<Operand, LinkError> {
        let result = self.new_register();
        self.computation(of, mnemonic, Dests::from_elem(Some(result), 1), sources)?;
        Ok(Operand::Register(result))
    }

    /// Pushes an instruction with these operands, which has the result of the one that it is linked for.
    fn last(
        &mut self,
        of: Translated<'_>,
        mnemonic: &str,
        sources: &[Operand],
    ) -> Result<(), LinkError> {
        self.computation(of, mnemonic, of.0.dests.clone(), sources)
    }

    fn computation(
        &mut self,
        (own, instruction): Translated<'_>,
        mnemonic: &str,
        dests: Dests,
        sources: &[Operand],
    ) -> Result<(), LinkError> {
        let operation = Operation::Known(Arc::new(known(mnemonic)));
        let step = Instr { operation, dests, sources: sources.into(), ..own.clone() };
        self.push(LinkedLine::Instr(step), instruction.span)
    }

    /// Makes a thread reach an instruction that is not modelled if the rank of a cta in its cluster is not 0.
    fn refuse(&mut self, of: Translated<'_>, rank: Operand) -> Result<(), LinkError> {
        let (own, instruction) = of;
        let is_other = self.step(of, "setp.ne.u32", &[rank, Operand::Constant(0)])?;
        let Operand::Register(register) = is_other else { return Ok(()) };
        let guard = Some(Condition { register, negated: false });
        let (dests, sources) = (Dests::new(), Box::default());
        let operation = Operation::Unknown;
        let refused = Instr { operation, guard, dests, sources, address: None, place: own.place };
        self.push(LinkedLine::Instr(refused), instruction.span)
    }
}

/// The type of the address that an instruction translates.
fn width(decoded: &Decoded) -> &'static str {
    if decoded.ty() == Type::U64 { "u64" } else { "u32" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peer_addresses_hold_a_rank_and_an_address() {
        for (rank, address) in [(0, 0), (1, 0x400), (15, (1 << RANK) - 8)] {
            let peer = PEER + (rank << RANK) + address;
            assert_eq!(peer_address(peer), ClusterAddress::Peer(rank, address));
            assert_eq!(peer_address(address), ClusterAddress::Own);
            assert_eq!(peer_address(peer + PEER), ClusterAddress::Unclear);
            assert_eq!(peer_address(peer + (1 << 32)), ClusterAddress::Own);
        }
    }
}
