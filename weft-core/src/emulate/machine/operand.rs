//! The values of operands: registers, constants and special registers.

use super::event::{Events, OrderQuery};
use super::state::Machine;
use crate::emulate::value::lane::WARP;
use crate::emulate::value::origin::{Origin, Region};
use crate::emulate::value::register::Value;
use crate::emulate::value::symbolics::operator::Operator;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{Operand, Pc, Special, peer_start};
use crate::launch::Dim3;

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// The value of an operand.
    pub(super) fn operand(&mut self, warp: WarpId, pc: Pc, operand: &Operand) -> Value {
        match operand {
            Operand::Register(register) => self.warps[warp].registers[*register].clone(),
            Operand::Not(register) => {
                let value = self.warps[warp].registers[*register].clone();
                let symbolics = &mut self.facts.symbolics;
                let not = symbolics.operator(Operator::Not);
                value.complement(|value| symbolics.operation(not, &[value], Region::Number, 1))
            }
            Operand::Constant(bits) => Value::uniform(*bits),
            Operand::Variable { first, offset, .. } => {
                Value::uniform(first.wrapping_add_signed(*offset))
            }
            Operand::Special(special) => self.special(warp, pc, *special),
            Operand::Unset => Value::open(self.facts.symbolics.any_number(Origin::Register)),
            Operand::Opaque => {
                Value::open(self.facts.symbolics.any_number(Origin::Unsupported(pc)))
            }
        }
    }

    /// The value of a special register.
    fn special(&mut self, warp: WarpId, pc: Pc, special: Special) -> Value {
        let dimension =
            |at: [u32; 3], part: u8| u64::from(at.get(usize::from(part)).copied().unwrap_or(0));
        let (block, grid) = (self.inputs.block, self.inputs.grid);
        let Dim3 { x, y, z } = self.inputs.cluster;
        let cluster = [x, y, z];
        let mask = |of: fn(u32) -> u32| {
            Value::each(std::array::from_fn(|lane| {
                u64::from(of(u32::try_from(lane).expect("a warp has 32 lanes")))
            }))
        };
        match special {
            Special::Tid(0) if block.y == 1 && block.z == 1 => {
                Value::affine((self.warps[warp].place * WARP) as u64, 1)
            }
            Special::Tid(part) => {
                Value::each(std::array::from_fn(|lane| dimension(self.thread(warp, lane), part)))
            }
            Special::ClusterCtaid(part) => {
                let rank = self.warps[warp].cta.index() as u64;
                Value::uniform(dimension(self.inputs.cluster.point(rank), part))
            }
            Special::ClusterCtarank => Value::uniform(self.warps[warp].cta.index() as u64),
            Special::PairLeader => {
                let rank = self.warps[warp].cta.index() as u64;
                Value::uniform(peer_start(rank & !1))
            }
            Special::Clusterid(part) => {
                let (at, extent) = (dimension(self.cta(warp).at, part), dimension(cluster, part));
                Value::uniform(at / extent.max(1))
            }
            Special::Nclusterid(part) => {
                let (ctas, extent) =
                    (dimension([grid.x, grid.y, grid.z], part), dimension(cluster, part));
                Value::uniform(ctas / extent.max(1))
            }
            Special::Ntid(part) => Value::uniform(dimension([block.x, block.y, block.z], part)),
            Special::Ctaid(part) => Value::uniform(dimension(self.cta(warp).at, part)),
            Special::Nctaid(part) => Value::uniform(dimension([grid.x, grid.y, grid.z], part)),
            Special::Laneid => Value::affine(0, 1),
            Special::LanemaskEq => mask(|lane| 1 << lane),
            Special::LanemaskLt => mask(|lane| (1 << lane) - 1),
            Special::LanemaskLe => mask(|lane| (1 << lane) | ((1 << lane) - 1)),
            Special::LanemaskGe => mask(|lane| !((1 << lane) - 1)),
            Special::LanemaskGt => mask(|lane| !((1 << lane) | ((1 << lane) - 1))),
            Special::DynamicSharedSize => self.dynamic_size(),
            Special::Other => Value::open(self.facts.symbolics.any_number(Origin::Hardware(pc))),
        }
    }
}
