//! Integer arithmetic of one lane (PTX ISA §9.7.1, §9.7.2).

use crate::emulate::value::{signed, truncate};
use crate::ptx::Type;
use crate::ptx::isa::{Decoded, Modifier, Opcode};

/// The result and, for `.cc` and carry forms, the carry out. `None`: unspecified or not modelled.
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

/// The low 64 bits.
#[allow(clippy::cast_possible_truncation, reason = "the low bits are meant")]
const fn low(value: u128) -> u64 {
    value as u64
}

/// An operand as a number, by the sign of its type.
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

/// `dp4a` and `dp2a`: the types are those of the two vectors, the sum is 32 bits wide.
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
