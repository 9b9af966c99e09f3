//! What kind of arithmetic an instruction does.

use crate::ptx::Type;
use crate::ptx::isa::{Decoded, Modifier};

/// Whether a register of this type holds one whole number.
pub(super) fn is_integer(ty: Type) -> bool {
    let is_other = matches!(ty, Type::Other | Type::Pred | Type::B128);
    !(ty.is_float() || ty.is_packed() || is_other)
}

/// Whether the instruction computes modulo 2^n, where n is the width of its type or, for a wide product, twice that.
pub(super) fn is_modular(decoded: &Decoded) -> bool {
    let others = decoded.modifiers.first_of(&[Modifier::Sat, Modifier::Cc, Modifier::Hi]);
    is_integer(decoded.ty()) && others.is_none()
}
