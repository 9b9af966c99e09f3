//! Clusters (PTX ISA §2.2.2). A kernel is linked for clusters of one cta each, unless it states others: then registers of
//! clusters are known, and the shared memory of the cluster is that of the cta.

use std::sync::Arc;

use super::declared::Clusters;
use super::error::LinkError;
use super::linker::{Frame, LinkedLine, Linker, known};
use super::operands::NameMeaning;
use super::program::{Condition, Dests, Instr, Operand, Operation, PlaceId};
use super::special::Special;
use crate::ptx::isa::{Decoded, Opcode};
use crate::ptx::{Instruction, Type};

impl<'m> Linker<'m> {
    /// Notes that something depends on the size of clusters. Returns whether they are of one cta.
    fn is_in_one_cta(&mut self) -> bool {
        if self.linked.clusters == Clusters::Unused {
            self.linked.clusters = Clusters::AssumedOfOne;
        }
        self.linked.clusters != Clusters::Unknown
    }

    /// The meaning of a special register of clusters, if that is its name.
    pub(super) fn cluster_register(&mut self, name: &str, part: u8) -> Option<NameMeaning> {
        let meaning = match name {
            "%cluster_ctaid" | "%cluster_ctarank" => NameMeaning::Number(0),
            "%cluster_nctaid" | "%cluster_nctarank" => NameMeaning::Number(1),
            "%clusterid" => NameMeaning::Special(Special::Ctaid(part)),
            "%nclusterid" => NameMeaning::Special(Special::Nctaid(part)),
            _ => return None,
        };
        self.is_in_one_cta().then_some(meaning)
    }

    /// Returns an instruction as one that is not known, if it might act on other ctas of a cluster.
    pub(super) fn beyond_cta(&self, decoded: &Decoded) -> Option<Arc<Decoded>> {
        // Without `mapa`, an address is that of the cta's own memory.
        let is_beyond = decoded.reaches_cluster && self.linked.clusters == Clusters::Unknown;
        is_beyond.then(|| Arc::new(Decoded { is_strange: true, ..*decoded }))
    }

    /// Links `mapa` and `getctarank`, which translate addresses between the ctas of a cluster. Returns whether it did.
    pub(super) fn map_address(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        decoded: &Decoded,
        (guard, place): (Option<Condition>, PlaceId),
    ) -> Result<bool, LinkError> {
        let is_map = match decoded.row.opcode {
            Opcode::Mapa => true,
            Opcode::Getctarank => false,
            _ => return Ok(false),
        };
        if decoded.is_strange || !self.is_in_one_cta() {
            return Ok(false);
        }
        let own = self.operands(frame, instruction, Some(&Arc::new(*decoded)))?;
        let own = Instr { place, ..own };
        let Some(first) = own.sources.first().copied() else { return Ok(false) };
        let translated = |source: Operand| Instr {
            operation: Operation::Known(Arc::new(known(&format!("mov.{}", width(decoded))))),
            sources: Box::new([source]),
            ..own.clone()
        };
        let moved = translated(if is_map { first } else { Operand::Constant(0) });
        let rank = own.sources.get(1).filter(|_| is_map).copied();
        self.when(guard, place, instruction.span, |linker| {
            if let Some(rank) = rank {
                linker.refuse_rank(rank, &own, instruction)?;
            }
            linker.push(LinkedLine::Instr(moved), instruction.span)
        })?;
        Ok(true)
    }

    /// Makes a thread reach an instruction that is not modelled if the rank of a cta in its cluster is not 0.
    fn refuse_rank(
        &mut self,
        rank: Operand,
        own: &Instr,
        instruction: &Instruction,
    ) -> Result<(), LinkError> {
        let is_other = self.new_register();
        let test = Instr {
            operation: Operation::Known(Arc::new(known("setp.ne.u32"))),
            dests: Dests::from_elem(Some(is_other), 1),
            sources: Box::new([rank, Operand::Constant(0)]),
            ..own.clone()
        };
        self.push(LinkedLine::Instr(test), instruction.span)?;
        let guard = Some(Condition { register: is_other, negated: false });
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
