//! The operations of which a bit depends on no higher bits of known operands: all lanes at once.

use crate::emulate::value::{Value, truncate};
use crate::ptx::Type;
use crate::ptx::isa::{Decoded, Modifier, Opcode};

/// The result where all operands are known; `None`: lane by lane.
pub(super) fn eval(decoded: &Decoded, sources: &[Value]) -> Option<Value> {
    let [a, b] = sources else { return None };
    let ty = decoded.ty();
    let is_integer = !ty.is_float()
        && !matches!(ty, Type::Other | Type::Pred | Type::U16x2 | Type::S16x2 | Type::B128);
    let is_low = decoded
        .modifiers
        .first_of(&[Modifier::Sat, Modifier::Cc, Modifier::Hi, Modifier::Wide])
        .is_none();
    if !is_integer || !is_low || a.open_lanes() | b.open_lanes() != 0 {
        return None;
    }
    let operation: fn(u64, u64) -> u64 = match decoded.row.opcode {
        Opcode::Add => u64::wrapping_add,
        Opcode::Sub => u64::wrapping_sub,
        Opcode::Mul => u64::wrapping_mul,
        Opcode::And => |a, b| a & b,
        Opcode::Or => |a, b| a | b,
        Opcode::Xor => |a, b| a ^ b,
        _ => return None,
    };
    let (a, b, bits) = (a.to_array(), b.to_array(), ty.bits());
    let lane = |lane: usize| truncate(operation(a[lane], b[lane]), bits);
    Some(Value::each(std::array::from_fn(lane)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulate::value::WARP;
    use crate::ptx::isa;

    /// Wherever it answers, it answers what each lane by itself would.
    #[test]
    fn agrees_with_every_lane() {
        const MNEMONICS: [&str; 13] = [
            "add.u16",
            "add.s32",
            "add.u64",
            "sub.s16",
            "sub.u32",
            "sub.s64",
            "mul.lo.u16",
            "mul.lo.s32",
            "mul.lo.u64",
            "and.b16",
            "or.b32",
            "xor.b64",
            "and.b64",
        ];
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = || {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            // Some of few bits, and some that fill the register.
            seed.rotate_left(20) >> (seed % 64)
        };
        for mnemonic in MNEMONICS {
            let decoded = isa::decode(mnemonic).unwrap();
            for _ in 0..50 {
                let [a, b] = [(); 2].map(|()| Value::each(std::array::from_fn(|_| random())));
                let sources = [a, b];
                let result = eval(&decoded, &sources).unwrap();
                for lane in 0..WARP {
                    let args = sources.each_ref().map(|source| source.lane(lane));
                    let (expected, _) = super::super::eval(&decoded, &args).unwrap();
                    assert_eq!(result.lane(lane), expected, "{mnemonic} {args:x?}");
                }
            }
        }
        for mnemonic in ["add.sat.s32", "add.cc.u32", "mul.hi.u32", "mul.wide.u32", "add.f32"] {
            let decoded = isa::decode(mnemonic).unwrap();
            assert_eq!(eval(&decoded, &[Value::affine(1, 2), Value::uniform(3)]), None);
        }
    }
}
