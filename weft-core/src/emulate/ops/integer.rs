//! Integer arithmetic of one lane (PTX ISA §9.7.1, §9.7.2).

use crate::emulate::value::lane::{signed, truncate};
use crate::ptx::Type;
use crate::ptx::isa::{Decoded, Modifier, Opcode};

/// Computes one lane. Returns the result and, for `.cc` and carry forms, the carry out. `None`: unspecified or not
/// modelled.
pub(super) fn eval(decoded: &Decoded, a: &[u64]) -> Option<(u64, u64)> {
    let ty = decoded.ty();
    match ty {
        Type::U16x2 | Type::S16x2 => return packed(decoded, a).map(|bits| (bits, 0)),
        _ if ty.is_float() || ty == Type::Other => return None,
        _ => {}
    }
    let bits = ty.bits();
    let arg = |at: usize| a.get(at).copied().unwrap_or(0);
    match decoded.row.opcode {
        Opcode::Add | Opcode::Addc => {
            let carry = if decoded.row.opcode == Opcode::Addc { u128::from(arg(2) & 1) } else { 0 };
            Some(sum(decoded, truncate(arg(0), bits), truncate(arg(1), bits), carry))
        }
        Opcode::Sub | Opcode::Subc => {
            let borrow = if decoded.row.opcode == Opcode::Subc { arg(2) & 1 } else { 0 };
            Some(difference(decoded, truncate(arg(0), bits), truncate(arg(1), bits), borrow))
        }
        Opcode::Mad | Opcode::Madc => mad(decoded, a),
        Opcode::Mul => Some((product(decoded, arg(0), arg(1)), 0)),
        Opcode::Mul24 | Opcode::Mad24 => mul24(decoded, a),
        opcode => simple(opcode, decoded, a).map(|value| (truncate(value, bits), 0)),
    }
}

fn sum(decoded: &Decoded, a: u64, b: u64, carry: u128) -> (u64, u64) {
    let bits = decoded.ty().bits();
    if decoded.modifiers.has(Modifier::Sat) {
        return (saturate(decoded.ty(), wide(decoded.ty(), a) + wide(decoded.ty(), b)), 0);
    }
    let exact = u128::from(a) + u128::from(b) + carry;
    (truncate(low(exact), bits), u64::from(exact >> bits != 0))
}

fn difference(decoded: &Decoded, a: u64, b: u64, borrow: u64) -> (u64, u64) {
    let bits = decoded.ty().bits();
    if decoded.modifiers.has(Modifier::Sat) {
        return (saturate(decoded.ty(), wide(decoded.ty(), a) - wide(decoded.ty(), b)), 0);
    }
    let is_borrowed = u128::from(a) < u128::from(b) + u128::from(borrow);
    (truncate(a.wrapping_sub(b).wrapping_sub(borrow), bits), u64::from(is_borrowed))
}

/// The low 64 bits of a number.
#[allow(clippy::cast_possible_truncation, reason = "the low bits are meant")]
const fn low(value: u128) -> u64 {
    value as u64
}

/// An operand as a number, signed or unsigned by its type.
fn wide(ty: Type, value: u64) -> i128 {
    let bits = ty.bits();
    if ty.is_signed() { i128::from(signed(value, bits)) } else { i128::from(truncate(value, bits)) }
}

fn saturate(ty: Type, value: i128) -> u64 {
    let bits = ty.bits();
    let (least, greatest) = if ty.is_signed() {
        (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
    } else {
        (0, (1_i128 << bits) - 1)
    };
    truncate(low(value.clamp(least, greatest).cast_unsigned()), bits)
}

fn product(decoded: &Decoded, a: u64, b: u64) -> u64 {
    let ty = decoded.ty();
    let exact = wide(ty, a).wrapping_mul(wide(ty, b)).cast_unsigned();
    let bits = ty.bits();
    if decoded.modifiers.has(Modifier::Wide) {
        truncate(low(exact), bits * 2)
    } else if decoded.modifiers.has(Modifier::Hi) {
        truncate(low(exact >> bits), bits)
    } else {
        truncate(low(exact), bits)
    }
}

fn mad(decoded: &Decoded, a: &[u64]) -> Option<(u64, u64)> {
    let &[x, y, z, ref carry @ ..] = a else { return None };
    let ty = decoded.ty();
    let bits =
        if decoded.modifiers.has(Modifier::Wide) { (ty.bits() * 2).min(64) } else { ty.bits() };
    let carry = if decoded.row.opcode == Opcode::Madc { carry.first()? & 1 } else { 0 };
    let product = product(decoded, x, y);
    if decoded.modifiers.has(Modifier::Sat) {
        return Some((saturate(ty, i128::from(signed(product, bits)) + wide(ty, z)), 0));
    }
    let exact = u128::from(product) + u128::from(truncate(z, bits)) + u128::from(carry);
    Some((truncate(low(exact), bits), u64::from(exact >> bits != 0)))
}

fn mul24(decoded: &Decoded, a: &[u64]) -> Option<(u64, u64)> {
    let is_signed = decoded.ty().is_signed();
    let operand = |value: u64| {
        if is_signed { i128::from(signed(value, 24)) } else { i128::from(truncate(value, 24)) }
    };
    let exact = operand(*a.first()?) * operand(*a.get(1)?);
    let part = if decoded.modifiers.has(Modifier::Hi) { exact >> 16 } else { exact };
    let part = truncate(low(part.cast_unsigned()), 32);
    if decoded.row.opcode == Opcode::Mul24 {
        return Some((part, 0));
    }
    let addend = *a.get(2)?;
    if decoded.modifiers.has(Modifier::Sat) {
        return Some((
            saturate(Type::S32, i128::from(signed(part, 32)) + i128::from(signed(addend, 32))),
            0,
        ));
    }
    Some((truncate(part.wrapping_add(addend), 32), 0))
}

fn simple(opcode: Opcode, decoded: &Decoded, a: &[u64]) -> Option<u64> {
    let ty = decoded.ty();
    let number = |at: usize| a.get(at).map(|value| wide(ty, *value));
    let relu =
        |value: i128| if decoded.modifiers.has(Modifier::Relu) { value.max(0) } else { value };
    let bits = |value: i128| low(value.cast_unsigned());
    Some(match opcode {
        // Division by zero gives an unspecified value.
        Opcode::Div => bits(number(0)?.checked_div(number(1)?)?),
        Opcode::Rem => bits(number(0)?.checked_rem(number(1)?)?),
        Opcode::Abs => bits(number(0)?.abs()),
        Opcode::Neg => bits(-number(0)?),
        Opcode::Min => bits(relu(number(0)?.min(number(1)?))),
        Opcode::Max => bits(relu(number(0)?.max(number(1)?))),
        Opcode::Sad => bits(number(2)? + (number(0)? - number(1)?).abs()),
        Opcode::Dp4a => dot(decoded, a, 4, 8)?,
        Opcode::Dp2a => dot(decoded, a, 2, 16)?,
        _ => return None,
    })
}

/// `dp4a` and `dp2a`: the types are those of the two vectors; the sum has 32 bits.
fn dot(decoded: &Decoded, a: &[u64], parts: u32, width: u32) -> Option<u64> {
    let &[x, y, c, ..] = a else { return None };
    let part = |value: u64, at: u32, width: u32, is_signed: bool| {
        let value = value >> (at * width);
        if is_signed {
            i128::from(signed(value, width))
        } else {
            i128::from(truncate(value, width))
        }
    };
    // `dp2a.hi` takes the upper two bytes of its second operand.
    let offset = if parts == 2 && decoded.modifiers.has(Modifier::Hi) { 2 } else { 0 };
    let (first, second) = (decoded.ty().is_signed(), decoded.source_type().is_signed());
    let sum: i128 =
        (0..parts).map(|at| part(x, at, width, first) * part(y, at + offset, 8, second)).sum();
    Some(low((sum + i128::from(signed(c, 32))).cast_unsigned()))
}

fn packed(decoded: &Decoded, a: &[u64]) -> Option<u64> {
    let half = if decoded.ty() == Type::S16x2 { Type::S16 } else { Type::U16 };
    let one = Decoded { types: [Some(half), None, None], ..*decoded };
    let part = |at: u32| {
        let args: Vec<u64> = a.iter().map(|value| value >> (16 * at)).collect();
        eval(&one, &args).map(|(bits, _)| truncate(bits, 16))
    };
    Some(part(0)? | part(1)? << 16)
}

#[cfg(test)]
mod tests {
    use super::super::eval;
    use crate::ptx::isa;

    fn run(mnemonic: &str, args: &[u64]) -> (u64, u64) {
        eval(&isa::decode(mnemonic).unwrap(), args).unwrap()
    }

    fn samples() -> Vec<u64> {
        let mut samples = vec![
            0,
            1,
            2,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_ffff,
            i64::MAX as u64,
            1 << 63,
            u64::MAX,
        ];
        let mut x = 0x0123_4567_89ab_cdef_u64;
        for _ in 0..40 {
            x = x.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            samples.push(x.rotate_left(17));
        }
        samples
    }

    #[test]
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss,
        reason = "by design"
    )]
    fn agrees_with_the_arithmetic_of_rust() {
        for a in samples() {
            for b in samples() {
                let (x, y, i, j) = (a as u32, b as u32, a as i32, b as i32);
                let full = (i64::from(i)).wrapping_mul(i64::from(j));
                assert_eq!(run("add.u32", &[a, b]).0, u64::from(x.wrapping_add(y)));
                assert_eq!(run("sub.s64", &[a, b]).0, a.wrapping_sub(b));
                assert_eq!(run("mul.lo.s32", &[a, b]).0, u64::from(i.wrapping_mul(j) as u32));
                assert_eq!(run("mul.hi.s32", &[a, b]).0, u64::from((full >> 32) as u32));
                assert_eq!(
                    run("mul.hi.u64", &[a, b]).0,
                    ((u128::from(a) * u128::from(b)) >> 64) as u64
                );
                assert_eq!(run("mul.wide.s32", &[a, b]).0, full as u64);
                assert_eq!(
                    run("mad.lo.u32", &[a, b, a]).0,
                    u64::from(x.wrapping_mul(y).wrapping_add(x))
                );
                assert_eq!(run("add.sat.s32", &[a, b]).0, u64::from(i.saturating_add(j) as u32));
                assert_eq!(run("sub.sat.s32", &[a, b]).0, u64::from(i.saturating_sub(j) as u32));
                assert_eq!(run("min.s32", &[a, b]).0, u64::from(i.min(j) as u32));
                assert_eq!(run("max.u64", &[a, b]).0, a.max(b));
                if let Some(quotient) = i.checked_div(j) {
                    assert_eq!(run("div.s32", &[a, b]).0, u64::from(quotient as u32));
                    assert_eq!(run("rem.s32", &[a, b]).0, u64::from((i % j) as u32));
                }
                // A chain of 32-bit sums and differences is one of 64 bits.
                let (low, carry) = run("add.cc.u32", &[a, b]);
                assert_eq!(
                    low | run("addc.u32", &[a >> 32, b >> 32, carry]).0 << 32,
                    a.wrapping_add(b)
                );
                let (low, borrow) = run("sub.cc.u32", &[a, b]);
                assert_eq!(
                    low | run("subc.u32", &[a >> 32, b >> 32, borrow]).0 << 32,
                    a.wrapping_sub(b)
                );
            }
        }
    }

    #[test]
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss,
        reason = "by design"
    )]
    fn bits_agree_with_those_of_rust() {
        for a in samples() {
            let (x, i) = (a as u32, a as i32);
            assert_eq!(run("popc.b64", &[a]).0, u64::from(a.count_ones()));
            assert_eq!(run("clz.b32", &[a]).0, u64::from(x.leading_zeros()));
            assert_eq!(run("brev.b32", &[a]).0, u64::from(x.reverse_bits()));
            assert_eq!(run("not.b16", &[a]).0, u64::from(!(a as u16)));
            for at in 0..70_u64 {
                let shift = at as u32;
                assert_eq!(
                    run("shl.b32", &[a, at]).0,
                    u64::from(x.checked_shl(shift).unwrap_or(0))
                );
                assert_eq!(run("shr.s32", &[a, at]).0, u64::from((i >> shift.min(31)) as u32));
                assert_eq!(run("shr.u64", &[a, at]).0, a.checked_shr(shift).unwrap_or(0));
                let wrapped = (a >> 32 << 32 | u64::from(x)) >> (at & 31);
                assert_eq!(
                    run("shf.r.wrap.b32", &[a & 0xffff_ffff, a >> 32, at]).0,
                    wrapped & 0xffff_ffff
                );
                for length in 1..=(31_u64.saturating_sub(at)) {
                    let field = x >> at & ((1 << length) - 1);
                    assert_eq!(run("bfe.u32", &[a, at, length]).0, u64::from(field));
                    let sign = 32 - length as u32;
                    assert_eq!(
                        run("bfe.s32", &[a, at, length]).0,
                        u64::from(((field as i32) << sign >> sign) as u32)
                    );
                    let into = run("bfi.b32", &[u64::from(field), 0, at, length]).0;
                    assert_eq!(into, u64::from(field) << at);
                }
            }
            assert_eq!(run("prmt.b32", &[a, a >> 32, 0x3210]).0, u64::from(x));
            assert_eq!(run("prmt.b32", &[a, a >> 32, 0x0123]).0, u64::from(x.swap_bytes()));
            let (y, z) = (x.rotate_left(5), x.rotate_left(11));
            let args = |table| [u64::from(x), u64::from(y), u64::from(z), table];
            assert_eq!(run("lop3.b32", &args(0x96)).0, u64::from(x ^ y ^ z));
            assert_eq!(run("lop3.b32", &args(0xe8)).0, u64::from(x & y | y & z | x & z));
        }
    }
}
