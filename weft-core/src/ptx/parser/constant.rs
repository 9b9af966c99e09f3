//! Evaluates constant expressions (PTX ISA §4.5.4 to §4.5.7): literals and operators with the precedence of C, in 64
//! bits.
//!
//! Whole numbers are signed or unsigned, which decides how an operator works. Where the manual is silent, or `ptxas`
//! differs from it, this follows `ptxas`: shift counts are taken modulo 64, and `?:` keeps the type of the operand that
//! it selects.

use super::super::ReadErrorKind;
use super::super::tree::{Float, ParsedOperand};
use super::{NumberLiteral, Parser, Read, TokenKind, literal};

/// The deepest nesting of parentheses, signs and conditions; real PTX needs a few levels.
const MAX_DEPTH: u32 = 32;

/// The value of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Constant {
    Signed(i64),
    Unsigned(u64),
    Float(Float),
}

/// A binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Binary {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Gt,
    Le,
    Ge,
    Equal,
    Unequal,
    And,
    Xor,
    Or,
    Both,
    Either,
}

use Binary::{
    Add, And, Both, Div, Either, Equal, Ge, Gt, Le, Lt, Mul, Or, Rem, Shl, Shr, Sub, Unequal, Xor,
};

/// Binary operators with their precedence levels: a higher level binds more tightly. Longer spellings stand before
/// their prefixes.
static OPERATORS: [(&str, Binary, u8); 18] = [
    ("<<", Shl, 7),
    (">>", Shr, 7),
    ("<=", Le, 6),
    (">=", Ge, 6),
    ("==", Equal, 5),
    ("!=", Unequal, 5),
    ("&&", Both, 1),
    ("||", Either, 0),
    ("*", Mul, 9),
    ("/", Div, 9),
    ("%", Rem, 9),
    ("+", Add, 8),
    ("-", Sub, 8),
    ("<", Lt, 6),
    (">", Gt, 6),
    ("&", And, 4),
    ("^", Xor, 3),
    ("|", Or, 2),
];

impl Constant {
    const ZERO: Self = Self::Signed(0);

    /// Converts a literal; it is signed unless it needs the top bit or ends in `U`.
    fn of(literal: NumberLiteral, text: &str) -> Self {
        match literal {
            NumberLiteral::Float(float) => Self::Float(float),
            NumberLiteral::Integer(bits) => match i64::try_from(bits) {
                Ok(value) if !text.ends_with('U') => Self::Signed(value),
                _ => Self::Unsigned(bits),
            },
        }
    }

    /// Returns the bits of a whole number; `None` for a floating-point number.
    pub(super) const fn bits(self) -> Option<u64> {
        match self {
            Self::Signed(value) => Some(value.cast_unsigned()),
            Self::Unsigned(bits) => Some(bits),
            Self::Float(_) => None,
        }
    }

    pub(super) const fn operand(self) -> ParsedOperand {
        match self {
            Self::Signed(value) => ParsedOperand::Integer(value.cast_unsigned()),
            Self::Unsigned(bits) => ParsedOperand::Integer(bits),
            Self::Float(float) => ParsedOperand::Float(float),
        }
    }

    /// Returns a whole number with these bits and the type of `self`.
    const fn like(self, bits: u64) -> Self {
        match self {
            Self::Unsigned(_) => Self::Unsigned(bits),
            _ => Self::Signed(bits.cast_signed()),
        }
    }

    fn negated(self) -> Self {
        match self {
            Self::Signed(value) => Self::Signed(value.wrapping_neg()),
            Self::Unsigned(bits) => Self::Unsigned(bits.wrapping_neg()),
            Self::Float(float) => Self::Float(float.negated()),
        }
    }

    /// Returns the result of an operator; `None` if it has none: on a division by zero, or with operands that it does
    /// not take.
    fn binary(self, operator: Binary, other: Self) -> Option<Self> {
        if let (Self::Float(Float::Double(a)), Self::Float(Float::Double(b))) = (self, other) {
            return floats(operator, a, b);
        }
        let (a, b) = (self.bits()?, other.bits()?);
        let is_unsigned = matches!((self, other), (Self::Unsigned(_), _) | (_, Self::Unsigned(_)));
        let common = if is_unsigned { Self::Unsigned(0) } else { Self::ZERO };
        let (signed_a, signed_b) = (a.cast_signed(), b.cast_signed());
        let order = if is_unsigned { a.cmp(&b) } else { signed_a.cmp(&signed_b) };
        let shift = u32::try_from(b % 64).expect("below 64");
        Some(match operator {
            Mul => common.like(a.wrapping_mul(b)),
            Add => common.like(a.wrapping_add(b)),
            Sub => common.like(a.wrapping_sub(b)),
            Div if b == 0 => return None,
            Div if is_unsigned => Self::Unsigned(a / b),
            Div => Self::Signed(signed_a.wrapping_div(signed_b)),
            Rem => Self::Unsigned(a.checked_rem(b)?),
            Shl => self.like(a << shift),
            Shr if matches!(self, Self::Signed(_)) => Self::Signed(signed_a >> shift),
            Shr => Self::Unsigned(a >> shift),
            And => common.like(a & b),
            Xor => common.like(a ^ b),
            Or => common.like(a | b),
            Both => truth(a != 0 && b != 0),
            Either => truth(a != 0 || b != 0),
            Equal => truth(a == b),
            Unequal => truth(a != b),
            Lt => truth(order.is_lt()),
            Gt => truth(order.is_gt()),
            Le => truth(order.is_le()),
            Ge => truth(order.is_ge()),
        })
    }
}

fn truth(holds: bool) -> Constant {
    Constant::Signed(i64::from(holds))
}

#[allow(clippy::float_cmp, reason = "the manual's comparison is exact")]
fn floats(operator: Binary, a: f64, b: f64) -> Option<Constant> {
    let double = |value| Constant::Float(Float::Double(value));
    Some(match operator {
        Mul => double(a * b),
        Div => double(a / b),
        Add => double(a + b),
        Sub => double(a - b),
        Lt => truth(a < b),
        Gt => truth(a > b),
        Le => truth(a <= b),
        Ge => truth(a >= b),
        Equal => truth(a == b),
        Unequal => truth(a != b),
        _ => return None,
    })
}

impl Parser<'_> {
    /// Reads a whole constant expression.
    pub(super) fn constant(&mut self) -> Read<Constant> {
        self.conditional(0)
    }

    /// Reads a whole constant expression whose leading `!` has already been read.
    pub(super) fn constant_behind_not(&mut self) -> Read<Constant> {
        let operand = self.unary(1)?;
        let first = self.complemented(operand)?;
        let left = self.operators(first, 0, 0)?;
        self.chosen(left, 0)
    }

    /// Reads a constant expression whose value is a whole number.
    pub(super) fn whole_constant(&mut self) -> Read<i64> {
        match self.constant()?.bits() {
            Some(bits) => Ok(bits.cast_signed()),
            None => Err(self.bad_constant()),
        }
    }

    /// Whether the current token is `WARP_SZ`, the only constant that has a name.
    pub(super) fn is_warp_size(&self) -> bool {
        self.token.kind == TokenKind::Word && self.word() == "WARP_SZ"
    }

    fn bad_constant(&mut self) -> super::Recorded {
        self.error(ReadErrorKind::Constant, self.token.span)
    }

    fn complemented(&mut self, operand: Constant) -> Read<Constant> {
        let bits = operand.bits().ok_or_else(|| self.bad_constant())?;
        Ok(truth(bits == 0))
    }

    fn conditional(&mut self, depth: u32) -> Read<Constant> {
        let first = self.unary(depth)?;
        let condition = self.operators(first, 0, depth)?;
        self.chosen(condition, depth)
    }

    /// Reads the two alternatives behind a condition, if a `?` follows, and returns the selected one.
    fn chosen(&mut self, condition: Constant, depth: u32) -> Read<Constant> {
        if !self.eat(b'?') {
            return Ok(condition);
        }
        let holds = condition.bits().ok_or_else(|| self.bad_constant())? != 0;
        let then = self.conditional(depth + 1)?;
        self.expect(b':', "`:` of a condition")?;
        let otherwise = self.conditional(depth + 1)?;
        if then.bits().is_some() != otherwise.bits().is_some() {
            return Err(self.bad_constant());
        }
        Ok(if holds { then } else { otherwise })
    }

    /// Reads operators of at least the level `least` with their right operands.
    fn operators(&mut self, left: Constant, least: u8, depth: u32) -> Read<Constant> {
        let mut left = left;
        while let Some((text, operator, level)) = self.operator().filter(|found| found.2 >= least) {
            // Each character of an operator is a token of its own.
            for _ in text.bytes() {
                self.advance();
            }
            let operand = self.unary(depth)?;
            let right = self.operators(operand, level + 1, depth)?;
            let result = left.binary(operator, right);
            left = result.ok_or_else(|| self.bad_constant())?;
        }
        Ok(left)
    }

    /// Returns the operator at the current token.
    fn operator(&self) -> Option<(&'static str, Binary, u8)> {
        // A percent sign can start a name: it is an operator only if it stands alone.
        let first = match self.token.kind {
            TokenKind::Punct(first) => first,
            TokenKind::Word if self.word() == "%" => b'%',
            _ => return None,
        };
        let rest = self.text.as_bytes().get(self.token.span.start as usize..)?;
        // Mostly a comma follows, in long tables of numbers.
        let mut alike = OPERATORS.iter().filter(|(text, ..)| text.as_bytes()[0] == first);
        alike.find(|(text, ..)| rest.starts_with(text.as_bytes())).copied()
    }

    /// Reads a literal, an expression in parentheses, or one of these behind signs and casts.
    fn unary(&mut self, depth: u32) -> Read<Constant> {
        if depth > MAX_DEPTH {
            return Err(self.error(ReadErrorKind::Depth(MAX_DEPTH), self.token.span));
        }
        match self.token.kind {
            TokenKind::Punct(b'(') => self.parentheses(depth),
            TokenKind::Punct(sign @ (b'-' | b'+' | b'~' | b'!')) => {
                self.advance();
                let operand = self.unary(depth + 1)?;
                match (sign, operand.bits()) {
                    (b'-', _) => Ok(operand.negated()),
                    (b'~', Some(bits)) => Ok(Constant::Unsigned(!bits)),
                    (b'!' | b'~', _) => self.complemented(operand),
                    _ => Ok(operand),
                }
            }
            TokenKind::Word if self.is_warp_size() => {
                self.advance();
                Ok(Constant::Signed(32))
            }
            TokenKind::Number => {
                let Some(value) = literal::read(self.word()) else {
                    return Err(self.bad_number(self.token.span));
                };
                let value = Constant::of(value, self.word());
                self.advance();
                Ok(value)
            }
            _ => Err(self.unexpected("a constant")),
        }
    }

    fn parentheses(&mut self, depth: u32) -> Read<Constant> {
        self.advance();
        let (is_signed, is_unsigned) = (self.is_dot(".s64"), self.is_dot(".u64"));
        if !is_signed && !is_unsigned {
            let inner = self.conditional(depth + 1)?;
            self.expect(b')', "`)` of a constant")?;
            return Ok(inner);
        }
        self.advance();
        self.expect(b')', "`)` of a cast")?;
        let bits = self.unary(depth + 1)?.bits().ok_or_else(|| self.bad_constant())?;
        Ok(if is_signed { Constant::Signed(bits.cast_signed()) } else { Constant::Unsigned(bits) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Constant> {
        let mut parser = Parser::new(text);
        let value = parser.constant().ok()?;
        (parser.token.kind == TokenKind::End && parser.lexer.errors.is_empty()).then_some(value)
    }

    /// Expressions and the bits that `ptxas` 12.8 computes for them.
    const WHOLE: [(&str, u64); 66] = [
        ("(0x10>>2)", 4),
        ("~1", 0xffff_ffff_ffff_fffe),
        ("-8>>1", 0xffff_ffff_ffff_fffc),
        ("-8U>>1", 0x7fff_ffff_ffff_fffc),
        ("1<<64", 1),
        ("1<<65", 2),
        ("1<<-1", 1 << 63),
        ("-1>>64", u64::MAX),
        ("-7/2", 0xffff_ffff_ffff_fffd),
        ("-7/2U", 0x7fff_ffff_ffff_fffc),
        ("-7 % 4", 1),
        ("-7 % -3", 0xffff_ffff_ffff_fff9),
        ("5 % -3", 5),
        ("!5", 0),
        ("!!5", 1),
        ("-(-42)", 42),
        ("1?2:3", 2),
        ("0?2:3", 3),
        ("(1)?(2):3U", 2),
        ("1 ? 2 : 0 ? 4 : 5", 2),
        ("0 ? 2 : 0 ? 4 : 5", 5),
        ("1?0?3:4:5", 4),
        ("-1<0U", 0),
        ("-1<0", 1),
        ("-1>0U", 1),
        ("-1>=0", 0),
        ("1&&2", 1),
        ("0||3", 1),
        ("0||0", 0),
        ("2==2U", 1),
        ("-1==0xffffffffffffffff", 1),
        ("1!=1", 0),
        ("6&3|8^1", 0xb),
        ("(.s64)-1>>1", u64::MAX),
        ("(.u64)-1>>1", u64::MAX >> 1),
        ("(.s64)0xfffffffffffffff0>>2", 0xffff_ffff_ffff_fffc),
        ("0xfffffffffffffff0>>2", 0x3fff_ffff_ffff_fffc),
        ("9223372036854775808>>63", 1),
        ("-9223372036854775808/-1", 0),
        ("1+2*3", 7),
        ("(1+2)*3", 9),
        ("10-4-3", 3),
        ("2<<1+1", 8),
        ("1<2<3", 1),
        ("3>2>1", 0),
        ("WARP_SZ*2", 64),
        ("(1 ? -1 : 2U)>>1", u64::MAX),
        ("- - 3", 3),
        ("+3", 3),
        ("017", 15),
        ("0b11", 3),
        ("5 % 3", 2),
        ("(~1)>>1", u64::MAX >> 1),
        ("(~0)/2", u64::MAX >> 1),
        ("(!0)-2>>1", u64::MAX),
        ("!0U-2>>1", u64::MAX),
        ("(1<2)-2>>1", u64::MAX),
        ("(-5)*1U>>1", 0x7fff_ffff_ffff_fffd),
        ("-(5U)>>1", 0x7fff_ffff_ffff_fffd),
        ("+(5U)-6>>1", u64::MAX >> 1),
        ("7&-1>>1", 7),
        ("(7U&-1)>>1", 3),
        ("(-1^0U)>>1", u64::MAX >> 1),
        ("(1U<<1)-3>>1", u64::MAX >> 1),
        ("(1<<1U)-3>>1", u64::MAX),
        ("(1.0<2.0)+1", 2),
    ];

    #[test]
    fn whole_numbers_are_what_the_assembler_makes_of_them() {
        for (text, bits) in WHOLE {
            assert_eq!(read(text).and_then(Constant::bits), Some(bits), "{text}");
        }
    }

    #[test]
    fn floating_point_numbers_stay_among_themselves() {
        let double = |value| Some(Constant::Float(Float::Double(value)));
        assert_eq!(read("1.5+2.0*3.0"), double(7.5));
        assert_eq!(read("-(1.5)/0.5"), double(-3.0));
        assert_eq!(read("1.0<2.0?2.5:3.5"), double(2.5));
        assert_eq!(read("-0f3F800000"), Some(Constant::Float(Float::Single(0xbf80_0000))));
        for text in ["1+1.5", "~1.5", "!1.5", "1.5%2.0", "1.5?2:3", "1.5&&1", "1?2:3.0"] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read("0f3F800000+0f3F800000"), None);
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for text in ["7/0", "7 % 0", "5%3", "1 < < 2", "1 & & 2", "1+", "(1", "1?2", "()", "2 3"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        for (open, close) in [("(", ")"), ("-", ""), ("1?", ":1"), ("1?1:", ""), ("(.s64)", "")] {
            let nested = |depth| format!("{}1{}", open.repeat(depth), close.repeat(depth));
            assert!(read(&nested(20)).is_some(), "{open}");
            assert_eq!(read(&nested(100_000)), None, "{open}");
        }
        assert!(read(&format!("1{}", "+1".repeat(100_000))).is_some());
    }
}
