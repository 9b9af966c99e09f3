//! What variables hold before the launch, as their declarations state it.

use std::sync::Arc;

use super::span::Span;

/// An initialiser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initial {
    /// How many values it has.
    pub values: u64,
    /// The values as bytes, in the type of the variable, with zeros for addresses; `None` if there are nested rows or
    /// single bytes of addresses, whose positions are not computed.
    pub bytes: Option<Arc<[u8]>>,
    /// The addresses among the values, ascending by position.
    pub addresses: Box<[InitialAddress]>,
}

/// An address in an initialiser: `name`, `name+4`, `generic(name)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitialAddress {
    /// Its first byte in the variable.
    pub at: u64,
    /// The variable or function.
    pub name: Span,
    /// Added to the address, in bytes.
    pub offset: i64,
    /// Whether it is the generic address of a variable.
    pub is_generic: bool,
}
