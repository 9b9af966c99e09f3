//! The names of files in a record: hashes of their contents.

/// Returns the name of a module with this text: FNV-1a of 128 bits, as 32 hexadecimal digits.
pub fn module_name(text: &str) -> String {
    hash_name(text.as_bytes())
}

/// Returns the name of bytes: FNV-1a of 128 bits, as 32 hexadecimal digits.
pub(super) fn hash_name(bytes: &[u8]) -> String {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0100_0000_0000_0000_0000_013b;
    let hash =
        bytes.iter().fold(OFFSET, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME));
    format!("{hash:032x}")
}

#[cfg(test)]
mod tests {
    use super::module_name;

    /// The values are those of the definition's reference page (draft-eastlake-fnv, appendix).
    #[test]
    fn it_is_fnv_1a() {
        assert_eq!(module_name(""), "6c62272e07bb014262b821756295c58d");
        assert_eq!(module_name("a"), "d228cb696f1a8caf78912b704e4a8964");
    }
}
