//! Operations that keep an open value a sum of atoms: sums, products with a known factor, and changes of width. The
//! operands are brought to the width of the result first. Then the symbolic values and the numbers that are added to
//! them go through the operation separately.

use smallvec::{SmallVec, smallvec};

use super::kind::{is_integer, is_modular};
use crate::emulate::value::lane::{Lane, LaneMask, SymbolId, WARP, lanes, truncate};
use crate::emulate::value::origin::Region;
use crate::emulate::value::register::Value;
use crate::emulate::value::symbolics::Symbolics;
use crate::flow::window;
use crate::ptx::Type;
use crate::ptx::isa::{Decoded, Modifier, Opcode};

/// Returns the result if it is a sum of atoms in all lanes of `mask`, and at least one of these lanes is open.
pub(super) fn eval(
    symbolics: &mut Symbolics,
    decoded: &Decoded,
    sources: &[&Value],
    mask: LaneMask,
) -> Option<Value> {
    if sources.iter().all(|source| source.open_lanes() & mask == 0) {
        return None;
    }
    if decoded.ty() == Type::Pred {
        return absorbed(decoded, sources, mask);
    }
    if !is_modular(decoded) {
        return None;
    }
    let (sum, bits) = sum_of(decoded, sources.len())?;
    let widen = |symbolics: &mut Symbolics, at: usize| {
        let source: &Value = sources.get(at)?;
        Some(widened(symbolics, source, operand_width(decoded, at, bits), mask))
    };
    let operands: SmallVec<[Value; 3]> =
        (0..sources.len()).map(|at| widen(symbolics, at)).collect::<Option<_>>()?;
    match sum {
        LinearForm::One => operands.into_iter().next(),
        LinearForm::Bits => below(symbolics, decoded, &operands, bits, mask),
        LinearForm::Of(addends) => total(symbolics, &addends, &operands, bits, mask),
        LinearForm::Generic => {
            let value = operands.into_iter().next()?;
            let base = window(decoded.space);
            let is_to = decoded.modifiers.has(Modifier::To);
            Some(value.plus(if is_to { base.wrapping_neg() } else { base }, 64).based_on(&value))
        }
    }
}

/// `and` or `or` of predicates where, in every lane, a known operand decides the result.
fn absorbed(decoded: &Decoded, sources: &[&Value], mask: LaneMask) -> Option<Value> {
    let absorbing = match decoded.row.opcode {
        Opcode::And => 0,
        Opcode::Or => 1,
        _ => return None,
    };
    let absorbs = |source: &&Value, lane: usize| {
        source.symbol_of(lane).is_none() && source.bits_of(lane) & 1 == absorbing
    };
    let is_absorbed = |lane: usize| sources.iter().any(|source| absorbs(source, lane));
    lanes(mask).all(is_absorbed).then(|| Value::uniform(absorbing))
}

/// One addend: an operand times a factor.
#[derive(Clone, Copy)]
struct Addend {
    operand: usize,
    by: Factor,
}

/// What an addend's operand is multiplied by.
#[derive(Clone, Copy)]
enum Factor {
    Known(u64),
    Operand(usize),
    /// Two to the power of this operand.
    Shift(usize),
}

/// The form of the sum that an operation computes.
enum LinearForm {
    /// The operand itself, at another width.
    One,
    /// The operand plus the start of a state space's window, or minus it.
    Generic,
    /// `or` or `and` with a known operand whose bits lie below all bits that are open.
    Bits,
    Of(SmallVec<[Addend; 2]>),
}

/// The sum that an instruction computes, and its width in bits; `None` if it computes no sum.
fn sum_of(decoded: &Decoded, operands: usize) -> Option<(LinearForm, u32)> {
    let plain = |operand| Addend { operand, by: Factor::Known(1) };
    let less = |operand| Addend { operand, by: Factor::Known(u64::MAX) };
    let product = Addend { operand: 0, by: Factor::Operand(1) };
    let sum = match (decoded.row.opcode, operands) {
        (Opcode::Add, 2) => LinearForm::Of(smallvec![plain(0), plain(1)]),
        (Opcode::Sub, 2) => LinearForm::Of(smallvec![plain(0), less(1)]),
        (Opcode::Neg, 1) => LinearForm::Of(smallvec![less(0)]),
        (Opcode::Mul, 2) => LinearForm::Of(smallvec![product]),
        (Opcode::Mad, 3) => LinearForm::Of(smallvec![product, plain(2)]),
        (Opcode::Shl, 2) => LinearForm::Of(smallvec![Addend { operand: 0, by: Factor::Shift(1) }]),
        (Opcode::Or | Opcode::And, 2) => LinearForm::Bits,
        (Opcode::Cvta, 1) if decoded.ty().bits() == 64 => LinearForm::Generic,
        (Opcode::Cvt, 1) if is_integer(decoded.source_type()) => LinearForm::One,
        _ => return None,
    };
    let is_wide = decoded.modifiers.has(Modifier::Wide);
    let bits = decoded.ty().bits();
    Some((sum, if is_wide { (bits * 2).min(64) } else { bits }))
}

/// Which bits of an operand count, and how they are brought to the width of the result.
#[derive(Clone, Copy)]
enum Width {
    /// The low bits of the register, up to this width.
    Of(u32),
    /// The low bits of this width, extended to 64 by their sign (`true`) or by zeros.
    Extended(u32, bool),
    /// The low bits of the first width, extended by their sign (`true`) or by zeros; of that, the low bits of the
    /// second width.
    Through(u32, bool, u32),
}

fn operand_width(decoded: &Decoded, at: usize, bits: u32) -> Width {
    let (to, from) = (decoded.ty(), decoded.source_type());
    match decoded.row.opcode {
        Opcode::Mul | Opcode::Mad if decoded.modifiers.has(Modifier::Wide) && at < 2 => {
            Width::Through(to.bits(), to.is_signed(), bits)
        }
        // A shift amount has 32 bits, whatever the type of the shifted value.
        Opcode::Shl if at == 1 => Width::Of(32),
        // A signed result fills the register, which can be wider than its type.
        Opcode::Cvt if from.bits() < to.bits() && to.is_signed() => {
            Width::Extended(from.bits(), from.is_signed())
        }
        Opcode::Cvt if from.bits() < to.bits() => {
            Width::Through(from.bits(), from.is_signed(), to.bits())
        }
        Opcode::Cvt if to.is_signed() && to.bits() < 64 => Width::Extended(to.bits(), true),
        _ => Width::Of(bits),
    }
}

/// Brings an operand to `width`, in all lanes of `mask`.
fn widened(symbolics: &mut Symbolics, source: &Value, width: Width, mask: LaneMask) -> Value {
    if source.open_lanes() & mask == 0 {
        let bits_of = |lane| adapted(symbolics, source.whole(lane), width).bits;
        return match source.as_affine() {
            Some((_, 0)) => Value::uniform(adapted(symbolics, source.whole(0), width).bits),
            _ => Value::each(std::array::from_fn(bits_of)),
        };
    }
    if let Some(symbol) = source.one_symbol(mask) {
        if let Width::Of(bits) = width
            && symbolics.bits(symbol) == bits
        {
            return source.clone();
        }
        let first = mask.trailing_zeros() as usize % WARP;
        let is_one = lanes(mask).all(|lane| source.bits_of(lane) == source.bits_of(first));
        if is_one {
            let value = adapted(symbolics, source.whole(first), width);
            return Value::uniform(value.bits).on_one(value.symbol);
        }
        return on_one_symbol(symbolics, source, symbol, width);
    }
    Value::from_lanes(|lane| match mask >> lane & 1 {
        1 => lane_by_lane(symbolics, source, lane, width, mask),
        _ => Lane::known(0),
    })
}

/// Brings one lane to `width`: exactly, unless other lanes add other numbers to the same symbolic value.
fn lane_by_lane(
    symbolics: &mut Symbolics,
    source: &Value,
    lane: usize,
    width: Width,
    mask: LaneMask,
) -> Lane {
    let value = source.whole(lane);
    let shares = |other: usize| {
        value.symbol.is_some()
            && source.symbol_of(other) == value.symbol
            && source.bits_of(other) != value.bits
    };
    match value.symbol {
        Some(symbol) if lanes(mask).any(shares) => on_one_symbol(
            symbolics,
            &Value::uniform(value.bits).on_one(Some(symbol)),
            symbol,
            width,
        )
        .whole(0),
        _ => adapted(symbolics, value, width),
    }
}

/// Brings one lane to `width`, exactly.
fn adapted(symbolics: &mut Symbolics, lane: Lane, width: Width) -> Lane {
    match width {
        Width::Of(bits) => symbolics.at_width(lane, bits),
        Width::Extended(from, is_signed) => symbolics.extended(lane, from, is_signed),
        Width::Through(from, is_signed, bits) => {
            let whole = symbolics.extended(lane, from, is_signed);
            symbolics.at_width(whole, bits)
        }
    }
}

/// Brings lanes that add different numbers to one symbolic value to `width`.
fn on_one_symbol(
    symbolics: &mut Symbolics,
    source: &Value,
    symbol: SymbolId,
    width: Width,
) -> Value {
    let symbol_bits = symbolics.bits(symbol);
    let (from, is_signed, bits) = match width {
        Width::Of(bits) if symbol_bits < bits => (symbol_bits, false, bits),
        Width::Of(bits) => {
            let low = symbolics.low(Lane::open(symbol), bits);
            return source.plus(low.bits, bits).on_one(low.symbol);
        }
        Width::Extended(from, is_signed) => (from, is_signed, 64),
        Width::Through(from, is_signed, bits) => (from, is_signed, bits),
    };
    let (shared, from) = symbolics.shared_extension(symbol, from, is_signed);
    let numbers = source.plus(shared.bits, from);
    let Some(open) = shared.symbol else {
        return if is_signed { numbers.signed(from).plus(0, bits) } else { numbers };
    };
    let low = symbolics.low(Lane::open(open), bits);
    numbers.signed(from).plus(low.bits, bits).on_one(low.symbol)
}

/// The sum, in all lanes of `mask`; `None` if an open operand is multiplied by an open one.
fn total(
    symbolics: &mut Symbolics,
    addends: &[Addend],
    operands: &[Value],
    bits: u32,
    mask: LaneMask,
) -> Option<Value> {
    let numbers = numbers(addends, operands, bits, mask)?;
    let has_one = |value: &Value| value.one_symbol(mask).is_some();
    let is_known = |value: &Value| value.open_lanes() & mask == 0;
    let is_factor = |at: usize| addends.iter().any(|addend| addend.is_factor(at));
    // The addends' bits do not change the symbolic value of the sum; known factors do.
    let is_one = |(at, value): (usize, &Value)| {
        has_one(value) || is_known(value) && (!is_factor(at) || value.as_uniform().is_some())
    };
    if operands.iter().enumerate().all(is_one) {
        let lane = mask.trailing_zeros() as usize % WARP;
        let open = open_parts(addends, operands, bits, lane)?;
        return Some(numbers.on_one(symbolic_sum(symbolics, bits, &open)));
    }
    let (mut all, mut last) = ([None; WARP], None);
    for lane in lanes(mask) {
        let open = open_parts(addends, operands, bits, lane)?;
        // Lanes beside each other often add the same open values.
        all[lane] = match &last {
            Some((same, symbol)) if *same == open => *symbol,
            _ => symbolic_sum(symbolics, bits, &open),
        };
        last = Some((open, all[lane]));
    }
    Some(numbers.on(all))
}

impl Addend {
    /// Whether the operand at `at` is one of the factors of a product.
    fn is_factor(self, at: usize) -> bool {
        match self.by {
            Factor::Known(_) => false,
            Factor::Operand(other) | Factor::Shift(other) => at == self.operand || at == other,
        }
    }

    /// The operand that can be open, and the known factor; `None` if both are open or the product is no sum of atoms.
    fn parts(self, operands: &[Value], bits: u32, lane: usize) -> Option<(Lane, u64)> {
        let value = operands.get(self.operand)?.whole(lane);
        match self.by {
            Factor::Known(factor) => Some((value, factor)),
            Factor::Shift(at) => {
                let amount = operands.get(at)?.whole(lane);
                let amount = amount.symbol.is_none().then_some(amount.bits)?;
                Some((value, if amount < u64::from(bits) { 1 << amount } else { 0 }))
            }
            Factor::Operand(at) => {
                let (x, y) = (value, operands.get(at)?.whole(lane));
                let (open, factor) = match (x.symbol, y.symbol) {
                    (_, None) => (x, y.bits),
                    (None, _) => (y, x.bits),
                    _ => return None,
                };
                // A multiple of an address is no address, and a multiple of a distance between buffers can lead to
                // other buffers.
                let is_number = |number: u64| bits <= 32 || Region::of(number) == Region::Number;
                let is_multiple = is_number(open.bits) && is_number(factor) || factor == 1;
                (open.symbol.is_none() || is_multiple).then_some((open, factor))
            }
        }
    }
}

/// Symbolic values and the factors that they are multiplied by.
type OpenParts = SmallVec<[(SymbolId, u64); 3]>;

/// The open parts of a sum in one lane. `None`: it is no sum of atoms.
fn open_parts(addends: &[Addend], operands: &[Value], bits: u32, lane: usize) -> Option<OpenParts> {
    let mut open = OpenParts::new();
    for addend in addends {
        let (value, factor) = addend.parts(operands, bits, lane)?;
        open.extend(value.symbol.map(|symbol| (symbol, factor)));
    }
    Some(open)
}

/// The symbolic value of a sum; `None`: it is known.
fn symbolic_sum(symbolics: &mut Symbolics, bits: u32, open: &OpenParts) -> Option<SymbolId> {
    if open.is_empty() { None } else { symbolics.sum(bits, open, 0) }
}

/// The known part of the sum, lane by lane: what is added to its symbolic value.
fn numbers(addends: &[Addend], operands: &[Value], bits: u32, mask: LaneMask) -> Option<Value> {
    let mut sum: Option<Value> = None;
    for addend in addends {
        let value = operands.get(addend.operand)?.bits_alone();
        let product = match addend.by {
            Factor::Known(factor) => value.times(factor, bits),
            Factor::Operand(at) => {
                let other = operands.get(at)?.bits_alone();
                match (value.as_uniform(), other.as_uniform()) {
                    (_, Some(factor)) => value.times(factor, bits),
                    (Some(factor), _) => other.times(factor, bits),
                    _ => by_lane(mask, |lane| {
                        Some(truncate(value.bits_of(lane).wrapping_mul(other.bits_of(lane)), bits))
                    })?,
                }
            }
            Factor::Shift(_) => by_lane(mask, |lane| {
                let (_, factor) = addend.parts(operands, bits, lane)?;
                Some(truncate(value.bits_of(lane).wrapping_mul(factor), bits))
            })?,
        };
        sum = Some(match sum {
            Some(sum) => sum.sum(&product, bits),
            None => product,
        });
    }
    sum
}

fn by_lane(mask: LaneMask, mut of: impl FnMut(usize) -> Option<u64>) -> Option<Value> {
    let mut all = [0; WARP];
    for lane in lanes(mask) {
        all[lane] = of(lane)?;
    }
    Some(Value::each(all))
}

/// `or` and `and` with a known operand whose bits all lie below the lowest bit that the symbolic value can set: `or`
/// keeps the symbolic value whole, `and` drops it.
fn below(
    symbolics: &Symbolics,
    decoded: &Decoded,
    operands: &[Value],
    bits: u32,
    mask: LaneMask,
) -> Option<Value> {
    let [x, y] = operands else { return None };
    let is_kept = decoded.row.opcode == Opcode::Or;
    let mut all = [Lane::known(0); WARP];
    for lane in lanes(mask) {
        let (first, second) = (x.whole(lane), y.whole(lane));
        let (open, low) = if second.symbol.is_none() { (first, second) } else { (second, first) };
        if low.symbol.is_some() {
            return None;
        }
        let low = low.bits;
        let zeros = open.symbol.map_or(63, |symbol| symbolics.zeros(symbol).min(63));
        if truncate(low, bits) >= 1 << zeros {
            return None;
        }
        all[lane] = if is_kept {
            Lane { bits: open.bits | low, ..open }
        } else {
            Lane::known(open.bits & low)
        };
    }
    Some(Value::from_lanes(|lane| all[lane]))
}
