//! Where variables and buffers lie. No PTX says so: only that each begins at a multiple of its alignment, and that none
//! overlaps another. Whatever else a verdict depends on is an assumption.
//!
//! By default each lies by itself, far from the next, at a multiple of more than any alignment: what is accessed beyond
//! its end is in nothing else.

use std::collections::BTreeMap;

use super::addresses::{CONST_SLOT, LAST_APART, LOCAL_SLOT, NEAR_SLOT, SHARED_SLOT};
use crate::ptx::Space;

/// Where variables and buffers lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// Shared variables lie one behind the other from address 0 on, in the order in which they are declared.
    pub is_packed: bool,
    /// Shared, local and constant variables lie where devices have them: in the first bytes of their spaces, each with as much
    /// room behind it as it has bytes.
    pub is_near: bool,
    /// By name: by how many bytes variables of the kernel are moved, in 64-bit wrapping arithmetic. They must not overlap,
    /// and slots of 2^20 bytes of shared memory and 2^42 of global memory must hold one each.
    pub variables: BTreeMap<String, u64>,
    /// By position, fields of structures behind the last parameter: by how many bytes the buffer of a pointer argument is
    /// moved, below 2^40, or its object, below 2^18.
    pub arguments: BTreeMap<usize, u64>,
}

impl Placement {
    /// How far a variable of this name is moved.
    pub(super) fn shift(&self, name: &str) -> u64 {
        self.variables.get(name).copied().unwrap_or(0)
    }

    /// How far the buffer of a pointer argument is moved.
    pub(crate) fn argument(&self, position: usize) -> u64 {
        self.arguments.get(&position).copied().unwrap_or(0)
    }

    /// Where the first shared variable lies.
    pub(super) const fn first_shared(&self) -> u64 {
        match (self.is_packed, self.is_near) {
            (true, _) => 0,
            (_, true) => NEAR_SLOT,
            _ => SHARED_SLOT,
        }
    }

    /// Bytes that nothing lies in behind a shared, local or constant variable.
    pub(super) const fn room(&self, size: u64) -> u64 {
        if self.is_near && !self.is_packed { size } else { 0 }
    }

    /// What the place of a variable is a multiple of beside its alignment, if the cursor stands here.
    pub(super) const fn slot(&self, space: Space, cursor: u64) -> u64 {
        match space {
            // Parameters of functions have no address that a kernel could compute with.
            Space::Param => 1,
            Space::Shared if self.is_packed => 1,
            Space::Shared | Space::Local | Space::Const if cursor > LAST_APART => 1,
            Space::Shared | Space::Local | Space::Const if self.is_near => NEAR_SLOT,
            Space::Shared => SHARED_SLOT,
            Space::Local => LOCAL_SLOT,
            Space::Const => CONST_SLOT,
            _ => 1 << 42,
        }
    }
}
