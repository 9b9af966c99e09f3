//! Logic, shifts, bit fields and permutes of one lane (PTX ISA §9.7.1, §9.7.8, §9.7.9.7).

use crate::emulate::value::lane::{signed, truncate};
use crate::ptx::isa::{Decoded, Modifier, Opcode};

const PERMUTES: [Modifier; 6] =
    [Modifier::F4e, Modifier::B4e, Modifier::Rc8, Modifier::Ecl, Modifier::Ecr, Modifier::Rc16];

/// Computes one lane. Returns the result and, for `lop3` with a predicate, that predicate. `None`: not modelled.
pub(super) fn eval(decoded: &Decoded, a: &[u64]) -> Option<(u64, u64)> {
    let bits = decoded.ty().bits();
    let arg = |at: usize| a.get(at).map(|value| truncate(*value, bits));
    let raw = |at: usize| a.get(at).map(|value| truncate(*value, 32));
    let value = match decoded.row.opcode {
        Opcode::And => arg(0)? & arg(1)?,
        Opcode::Or => arg(0)? | arg(1)?,
        Opcode::Xor => arg(0)? ^ arg(1)?,
        Opcode::Not => !arg(0)?,
        Opcode::Cnot => u64::from(arg(0)? == 0),
        Opcode::Lop3 => return lop3(decoded, a),
        Opcode::Shl => arg(0)?.checked_shl(u32::try_from(raw(1)?).ok()?).unwrap_or(0),
        Opcode::Shr => shift_right(decoded, arg(0)?, raw(1)?)?,
        Opcode::Shf => funnel(decoded, raw(0)?, raw(1)?, raw(2)?)?,
        Opcode::Popc => u64::from(arg(0)?.count_ones()),
        Opcode::Clz => u64::from(arg(0)?.leading_zeros() - (64 - bits)),
        Opcode::Brev => arg(0)?.reverse_bits() >> (64 - bits),
        Opcode::Bfind => bfind(decoded, arg(0)?),
        // A base beyond the mask is undefined behaviour.
        Opcode::Fns if raw(1)? > 31 => return None,
        Opcode::Fns => fns(raw(0)?, raw(1)?, signed(raw(2)?, 32)),
        Opcode::Bfe => extract(decoded, arg(0)?, raw(1)? & 0xff, raw(2)? & 0xff),
        Opcode::Bfi => insert(bits, arg(0)?, arg(1)?, raw(2)? & 0xff, raw(3)? & 0xff),
        Opcode::Szext => szext(decoded, arg(0)?, raw(1)?),
        Opcode::Bmsk => bmsk(decoded, raw(0)?, raw(1)?),
        Opcode::Prmt => permute(decoded, raw(0)?, raw(1)?, raw(2)?),
        _ => return None,
    };
    let width = match decoded.row.opcode {
        Opcode::Popc | Opcode::Clz | Opcode::Bfind => 32,
        _ => bits,
    };
    Some((truncate(value, width), 0))
}

fn lop3(decoded: &Decoded, a: &[u64]) -> Option<(u64, u64)> {
    let &[first, second, third, table, ref rest @ ..] = a else { return None };
    let minterm = |at: u64| {
        let side = |value: u64, bit: u64| if at >> bit & 1 == 1 { value } else { !value };
        if table >> at & 1 == 1 { side(first, 2) & side(second, 1) & side(third, 0) } else { 0 }
    };
    let value = truncate((0..8).map(minterm).fold(0, |all, part| all | part), 32);
    let is_set = u64::from(value != 0);
    let predicate = match (decoded.modifiers.has(Modifier::And), rest.first()) {
        (true, Some(q)) => is_set & q,
        (false, Some(q)) => is_set | q,
        _ => is_set,
    };
    Some((value, predicate & 1))
}

/// `shr`. An amount that exceeds the width shifts all bits out.
fn shift_right(decoded: &Decoded, value: u64, amount: u64) -> Option<u64> {
    let bits = decoded.ty().bits();
    let amount = u32::try_from(amount).ok()?;
    Some(if decoded.ty().is_signed() {
        (signed(value, bits) >> amount.min(63)).cast_unsigned()
    } else {
        value.checked_shr(amount).unwrap_or(0)
    })
}

fn funnel(decoded: &Decoded, low: u64, high: u64, amount: u64) -> Option<u64> {
    let amount = if decoded.modifiers.has(Modifier::Wrap) { amount & 31 } else { amount.min(32) };
    let amount = u32::try_from(amount).ok()?;
    let both = high << 32 | low;
    Some(if decoded.modifiers.has(Modifier::Left) {
        both.checked_shl(amount)? >> 32
    } else {
        both.checked_shr(amount)?
    })
}

/// `bfind`: the most significant bit that differs from the sign; all ones if there is none.
fn bfind(decoded: &Decoded, value: u64) -> u64 {
    let bits = decoded.ty().bits();
    let is_negative = decoded.ty().is_signed() && signed(value, bits) < 0;
    let value = if is_negative { truncate(!value, bits) } else { value };
    if value == 0 {
        return u64::from(u32::MAX);
    }
    let at = 63 - u64::from(value.leading_zeros());
    if decoded.modifiers.has(Modifier::Shiftamt) { u64::from(bits) - 1 - at } else { at }
}

/// `fns`: the position of the n-th set bit from `base`, upwards for a positive n, downwards for a negative one.
fn fns(mask: u64, base: u64, n: i64) -> u64 {
    let is_set = |at: &u64| mask >> at & 1 == 1;
    let count = |n: i64| usize::try_from(n.abs() - 1).unwrap_or(usize::MAX);
    let found = match n {
        0 => Some(base).filter(is_set),
        1.. => (base..32).filter(is_set).nth(count(n)),
        _ => (0..=base).rev().filter(is_set).nth(count(n)),
    };
    found.unwrap_or(u64::from(u32::MAX))
}

fn extract(decoded: &Decoded, value: u64, position: u64, length: u64) -> u64 {
    let bits = u64::from(decoded.ty().bits());
    let is_signed = decoded.ty().is_signed();
    let sign_at = (position + length).saturating_sub(1).min(bits - 1);
    let fill = is_signed && length > 0 && value >> sign_at & 1 == 1;
    let (shift, count) = field(bits, position, length);
    let shifted = truncate(value.checked_shr(shift).unwrap_or(0), count);
    if fill { shifted | !truncate(u64::MAX, count) } else { shifted }
}

fn insert(bits: u32, from: u64, into: u64, position: u64, length: u64) -> u64 {
    let (shift, count) = field(u64::from(bits), position, length);
    let mask = truncate(u64::MAX, count).checked_shl(shift).unwrap_or(0);
    into & !mask | from.checked_shl(shift).unwrap_or(0) & mask
}

/// Where a bit field begins, and how many of its bits lie within the value.
fn field(bits: u64, position: u64, length: u64) -> (u32, u32) {
    let count = length.min(bits.saturating_sub(position));
    (u32::try_from(position).unwrap_or(u32::MAX), u32::try_from(count).unwrap_or(0))
}

/// `szext`: extends the low `count` bits by their sign or by zeros.
fn szext(decoded: &Decoded, value: u64, count: u64) -> u64 {
    let count = if decoded.modifiers.has(Modifier::Wrap) { count & 31 } else { count.min(32) };
    match u32::try_from(count) {
        Ok(0) => 0,
        Ok(count @ 1..=31) if decoded.ty().is_signed() => signed(value, count).cast_unsigned(),
        Ok(count @ 1..=31) => truncate(value, count),
        _ => value,
    }
}

fn bmsk(decoded: &Decoded, position: u64, width: u64) -> u64 {
    let limit =
        |value: u64| if decoded.modifiers.has(Modifier::Wrap) { value & 31 } else { value.min(32) };
    let (position, width) = (limit(position), limit(width));
    truncate(((1_u64 << width) - 1) << position, 32)
}

fn permute(decoded: &Decoded, low: u64, high: u64, selector: u64) -> u64 {
    let both = high << 32 | low;
    let byte = |at: u64| both >> (8 * at) & 0xff;
    let by_selector = |slot: u64| {
        let nibble = selector >> (4 * slot);
        let value = byte(nibble & 7);
        if nibble & 8 == 0 { value } else { (value >> 7) * 0xff }
    };
    let s = selector & 3;
    let source = |slot: u64| match decoded.modifiers.first_of(&PERMUTES) {
        Some(Modifier::F4e) => byte(s + slot),
        Some(Modifier::B4e) => byte((s + 8 - slot) & 7),
        Some(Modifier::Rc8) => byte(s),
        Some(Modifier::Ecl) => byte(slot.max(s)),
        Some(Modifier::Ecr) => byte(slot.min(s)),
        Some(Modifier::Rc16) => byte((s & 1) * 2 + (slot & 1)),
        _ => by_selector(slot),
    };
    (0..4).fold(0, |all, slot| all | source(slot) << (8 * slot))
}
