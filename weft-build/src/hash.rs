//! The hash by which texts are compared: FNV-1a with 64 bits. It finds changes, and is no protection against forgery.

/// Returns the hash of a text. Line ends count as `\n`, since checkouts on Windows can have others.
pub(crate) fn of_text(bytes: &[u8]) -> u64 {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let is_kept = |(at, byte): &(usize, &u8)| **byte != b'\r' || bytes.get(at + 1) != Some(&b'\n');
    let kept = bytes.iter().enumerate().filter(is_kept);
    kept.fold(START, |hash, (_, byte)| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::of_text;

    #[test]
    fn it_is_fnv_1a() {
        // The test vectors of the authors of FNV.
        assert_eq!(of_text(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(of_text(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(of_text(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn only_the_form_of_line_ends_does_not_count() {
        assert_eq!(of_text(b"a\r\nb\r\n"), of_text(b"a\nb\n"));
        assert_ne!(of_text(b"a\rb"), of_text(b"ab"));
        assert_ne!(of_text(b"a\nb"), of_text(b"a b"));
    }
}
