//! Placements: where variables and buffers lie. PTX states only that each begins at a multiple of its alignment and
//! that none overlaps another. If a verdict depends on anything else, that is an assumption.
//!
//! By default each variable lies by itself, far from the next one, at a multiple of more than any alignment: an access
//! beyond its end is in no other variable.

use std::collections::BTreeMap;

use super::addresses::{CONST_SLOT, LAST_SEPARATE, LOCAL_SLOT, NEAR_SLOT, SHARED_SLOT};
use crate::ptx::Space;

/// A choice of where variables and buffers lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// Whether shared variables are packed from address 0 on, in the order in which they are declared.
    pub is_packed: bool,
    /// Whether shared, local and constant variables lie as on devices: in the first bytes of their spaces, each
    /// followed by as much free room as it has bytes.
    pub is_near: bool,
    /// By name: the number of bytes that variables of the kernel are moved by, in 64-bit wrapping arithmetic. Variables
    /// must not overlap, and each slot (2^20 bytes of shared memory, 2^42 of global memory) must hold only one.
    pub variables: BTreeMap<String, u64>,
    /// By position, with fields of structures numbered after the last parameter, and buffers that the launch states
    /// after the last field: the number of bytes that the buffer of a pointer argument is moved by, below 2^40, or its
    /// object, below 2^18.
    pub arguments: BTreeMap<usize, u64>,
}

impl Placement {
    /// Returns the number of bytes that a variable of this name is moved by.
    pub(super) fn shift(&self, name: &str) -> u64 {
        self.variables.get(name).copied().unwrap_or(0)
    }

    /// Returns the number of bytes that the buffer with this number is moved by.
    pub(crate) fn argument(&self, number: usize) -> u64 {
        self.arguments.get(&number).copied().unwrap_or(0)
    }

    /// Returns the address of the first shared variable.
    pub(super) const fn first_shared(&self) -> u64 {
        match (self.is_packed, self.is_near) {
            (true, _) => 0,
            (_, true) => NEAR_SLOT,
            _ => SHARED_SLOT,
        }
    }

    /// Returns the free bytes that follow a shared, local or constant variable of this size.
    pub(super) const fn room(&self, size: u64) -> u64 {
        if self.is_near && !self.is_packed { size } else { 0 }
    }

    /// Returns the number of bytes that the address of the next variable must be a multiple of, beyond the variable's
    /// alignment. `cursor`: the next free address of the space.
    pub(super) const fn slot(&self, space: Space, cursor: u64) -> u64 {
        match space {
            // A kernel cannot compute with the addresses of parameters of functions.
            Space::Param => 1,
            Space::Shared if self.is_packed => 1,
            Space::Shared | Space::Local | Space::Const if cursor > LAST_SEPARATE => 1,
            Space::Shared | Space::Local | Space::Const if self.is_near => NEAR_SLOT,
            Space::Shared => SHARED_SLOT,
            Space::Local => LOCAL_SLOT,
            Space::Const => CONST_SLOT,
            _ => 1 << 42,
        }
    }
}
