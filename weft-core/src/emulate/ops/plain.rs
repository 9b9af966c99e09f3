//! Common operations on known integers whose lanes are neither equal nor affine: all lanes in one loop.

use super::kind::{is_integer, is_modular};
use crate::emulate::value::lane::{WARP, signed, truncate};
use crate::emulate::value::register::Value;
use crate::ptx::isa::{Decoded, Modifier, Opcode};

/// Returns the result if all operands are known; `None` if the lanes have to be computed one by one.
pub(super) fn eval(decoded: &Decoded, sources: &[&Value]) -> Option<Value> {
    let (to, from) = (decoded.ty(), decoded.source_type());
    let is_wide = decoded.modifiers.has(Modifier::Wide);
    let is_known = |source: &&Value| source.open_lanes() == 0;
    if !is_modular(decoded) || !is_integer(from) || !sources.iter().all(is_known) {
        return None;
    }
    // A product at twice the width needs its factors extended by their sign; other results use only the low bits.
    let whole = |at: usize| {
        let bits = from.bits();
        let extended = |bits_in| {
            if from.is_signed() {
                signed(bits_in, bits).cast_unsigned()
            } else {
                truncate(bits_in, bits)
            }
        };
        sources.get(at).map(|source| source.to_array().map(extended))
    };
    let bits = if is_wide { to.bits() * 2 } else { to.bits() };
    if bits > 64 {
        return None;
    }
    let raw = |at: usize| sources.get(at).map(|source| source.to_array());
    let amount = |shift: u64| u32::try_from(truncate(shift, 32)).expect("32 bits");
    let result: [u64; WARP] = match (decoded.row.opcode, sources.len()) {
        (Opcode::Add, 2) => each(raw(0)?, raw(1)?, u64::wrapping_add),
        (Opcode::Sub, 2) => each(raw(0)?, raw(1)?, u64::wrapping_sub),
        (Opcode::Mul, 2) => each(whole(0)?, whole(1)?, u64::wrapping_mul),
        (Opcode::Mad, 3) => {
            each(each(whole(0)?, whole(1)?, u64::wrapping_mul), raw(2)?, u64::wrapping_add)
        }
        (Opcode::And, 2) => each(raw(0)?, raw(1)?, |a, b| a & b),
        (Opcode::Or, 2) => each(raw(0)?, raw(1)?, |a, b| a | b),
        (Opcode::Xor, 2) => each(raw(0)?, raw(1)?, |a, b| a ^ b),
        (Opcode::Shl, 2) => each(raw(0)?, raw(1)?, |a, b| a.checked_shl(amount(b)).unwrap_or(0)),
        (Opcode::Shr, 2) if from.is_signed() => {
            each(whole(0)?, raw(1)?, |a, b| (a.cast_signed() >> amount(b).min(63)).cast_unsigned())
        }
        (Opcode::Shr, 2) => each(whole(0)?, raw(1)?, |a, b| a.checked_shr(amount(b)).unwrap_or(0)),
        // A signed result is extended, because the register can be wider than the type.
        (Opcode::Cvt, 1) if to.is_signed() => {
            return Some(Value::each(whole(0)?.map(|number| signed(number, bits).cast_unsigned())));
        }
        (Opcode::Cvt, 1) => whole(0)?,
        _ => return None,
    };
    Some(Value::each(result.map(|number| truncate(number, bits))))
}

fn each(a: [u64; WARP], b: [u64; WARP], of: impl Fn(u64, u64) -> u64) -> [u64; WARP] {
    std::array::from_fn(|lane| of(a[lane], b[lane]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::isa;

    /// Instructions that are computed for a whole warp.
    const MNEMONICS: &str = "add.u16 add.s32 add.u64 sub.s16 sub.u32 sub.s64 mul.lo.u16 mul.lo.s32 mul.lo.u64 \
        mul.wide.u16 mul.wide.s16 mul.wide.u32 mul.wide.s32 mad.lo.u16 mad.lo.s32 mad.lo.s64 \
        mad.wide.u32 mad.wide.s32 and.b16 or.b32 xor.b64 and.b64 shl.b16 shl.b32 shl.b64 shr.u16 \
        shr.u32 shr.s32 shr.s64 cvt.s64.s32 cvt.u64.u32 cvt.s16.u32 cvt.u32.s8";

    /// Where `eval` returns a result, every lane of it is what that lane computes by itself.
    #[test]
    fn agrees_with_every_lane() {
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = || {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            // Some numbers of few bits, and some that fill the register.
            seed.rotate_left(20) >> (seed % 64)
        };
        for mnemonic in MNEMONICS.split_whitespace() {
            let decoded = isa::decode(mnemonic).unwrap();
            let count = decoded.row.shape.matches('s').count();
            for _ in 0..50 {
                let sources = [(); 3].map(|()| Value::each(std::array::from_fn(|_| random())));
                let result = eval(&decoded, &sources.each_ref()[..count]).unwrap();
                for lane in 0..WARP {
                    let args = sources.each_ref().map(|source| source.bits_of(lane));
                    let (expected, _) = super::super::eval(&decoded, &args[..count]).unwrap();
                    assert_eq!(result.bits_of(lane), expected, "{mnemonic} {args:x?}");
                }
            }
        }
        for mnemonic in ["add.sat.s32", "add.cc.u32", "mul.hi.u32", "cvt.sat.u8.s32", "add.f32"] {
            let decoded = isa::decode(mnemonic).unwrap();
            let count = decoded.row.shape.matches('s').count();
            let sources = [Value::affine(1, 2), Value::uniform(3)];
            assert_eq!(eval(&decoded, &sources.each_ref()[..count]), None, "{mnemonic}");
        }
    }
}
