//! Reads numeric literals as PTX writes them (PTX ISA §4.5).

use super::Float;

/// A literal's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NumberLiteral {
    /// The bits of a 64-bit integer in two's complement.
    Integer(u64),
    Float(Float),
}

/// Reads a literal; `None` if it is malformed or does not fit into 64 bits.
pub(super) fn read(text: &str) -> Option<NumberLiteral> {
    let digits = |from: usize, radix: u32| {
        let text = text.get(from..)?;
        u64::from_str_radix(text.strip_suffix('U').unwrap_or(text), radix).ok()
    };
    match text.as_bytes() {
        [b'0', b'f' | b'F', ..] => {
            let bits = (text.len() == 10).then(|| digits(2, 16)).flatten()?;
            u32::try_from(bits).ok().map(|bits| NumberLiteral::Float(Float::Single(bits)))
        }
        [b'0', b'd' | b'D', ..] => {
            let bits = (text.len() == 18).then(|| digits(2, 16)).flatten()?;
            Some(NumberLiteral::Float(Float::Double(f64::from_bits(bits))))
        }
        [b'0', b'x' | b'X', ..] => digits(2, 16).map(NumberLiteral::Integer),
        [b'0', b'b' | b'B', ..] => digits(2, 2).map(NumberLiteral::Integer),
        bytes if bytes.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) => {
            text.parse().ok().map(|value| NumberLiteral::Float(Float::Double(value)))
        }
        [b'0', b'0'..=b'9', ..] => digits(1, 8).map(NumberLiteral::Integer),
        _ => digits(0, 10).map(NumberLiteral::Integer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_have_the_values_of_the_manual() {
        let integer = |text| match read(text) {
            Some(NumberLiteral::Integer(value)) => Some(value),
            _ => None,
        };
        assert_eq!(integer("0"), Some(0));
        assert_eq!(integer("017"), Some(15));
        assert_eq!(integer("0x1fU"), Some(31));
        assert_eq!(integer("0b101"), Some(5));
        assert_eq!(integer("18446744073709551615"), Some(u64::MAX));
        assert_eq!(integer("18446744073709551616"), None);
        assert_eq!(read("0f3F800000"), Some(NumberLiteral::Float(Float::Single(0x3f80_0000))));
        assert_eq!(read("0d3FF0000000000000"), Some(NumberLiteral::Float(Float::Double(1.0))));
        assert_eq!(read("1.5e3"), Some(NumberLiteral::Float(Float::Double(1500.0))));
        assert_eq!(read("0f3F8"), None);
    }
}
