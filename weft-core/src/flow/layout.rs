//! Assigns addresses to variables: offsets within the shared, local, global and constant spaces and in the parameter
//! bank.

use std::sync::Arc;

use super::addresses::{
    CONST_SLOT, GLOBAL_SYMBOLS, NARROW_END, NEAR_OBJECT_SLOT, NEAR_OBJECTS, OBJECT_REACH,
    OBJECT_SLOT, OBJECTS, WINDOW,
};
use super::declared::{Param, Symbol};
use super::placement::Placement;
use crate::launch::MAX_SHARED;
use crate::ptx::{Module, Space, Variable};

/// The most bytes of local memory that a thread can have (CUDA programming guide, technical specifications).
const MAX_LOCAL: u64 = 512 << 10;
/// The least alignment of dynamic shared memory behind static variables, whatever its declaration states.
const DYNAMIC_ALIGN: u64 = 16;

/// Returns the object that a parameter points to; `at` is its index among the objects of parameters.
pub(super) fn object(
    at: u64,
    space: Space,
    param: &Param,
    parameter: usize,
    placement: &Placement,
) -> Symbol {
    let (objects, slot, reach) = if placement.is_near {
        (NEAR_OBJECTS, NEAR_OBJECT_SLOT, NEAR_OBJECT_SLOT / 2)
    } else {
        (OBJECTS, OBJECT_SLOT, OBJECT_REACH)
    };
    let pointer = objects + at * slot + slot / 2 + placement.argument(parameter);
    let (name, size, align) = (param.name.clone(), 2 * reach, param.pointee_align.unwrap_or(1));
    let address = pointer - reach;
    Symbol { name, space, address, size, align, init: None, parameter: Some(parameter) }
}

/// The addresses assigned so far, and the next free address of each space.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) symbols: Vec<Symbol>,
    placement: Placement,
    /// Bytes of static shared variables as if they were packed.
    shared_bytes: u64,
    dynamic_align: u64,
    shared: u64,
    local: u64,
    global: u64,
    constant: u64,
    param: u64,
}

impl Layout {
    pub(super) fn new(placement: &Placement) -> Self {
        Self {
            symbols: Vec::new(),
            shared_bytes: 0,
            dynamic_align: 1,
            shared: placement.first_shared(),
            placement: placement.clone(),
            local: 0,
            global: GLOBAL_SYMBOLS,
            constant: 0,
            param: 0,
        }
    }

    /// Returns the bytes of static shared memory, rounded up to the alignment of dynamic shared memory.
    pub(super) fn static_shared(&self) -> u64 {
        align(self.shared_bytes, self.dynamic_align.max(DYNAMIC_ALIGN))
    }

    /// Returns an address behind all shared variables, dynamic shared memory included.
    pub(super) fn shared_end(&self) -> u64 {
        self.shared.saturating_add(MAX_SHARED)
    }

    /// Takes the alignment of a name of dynamic shared memory into account: the strictest alignment of all its names
    /// counts.
    pub(super) fn align_dynamic(&mut self, variable: &Variable) {
        self.dynamic_align = self.dynamic_align.max(u64::from(variable.alignment()));
    }

    /// Assigns an address to a variable and returns it; `None` if the variable does not fit into its space.
    pub(super) fn place(&mut self, module: &Module, variable: &Variable) -> Option<u64> {
        let is_shared = variable.space == Space::Shared;
        if is_shared && variable.size() == 0 {
            return Some(self.dynamic(module, variable));
        }
        let cursor = match variable.space {
            Space::Shared => &mut self.shared,
            Space::Local | Space::Param => &mut self.local,
            Space::Const => &mut self.constant,
            _ => &mut self.global,
        };
        let alignment = u64::from(variable.alignment().max(1));
        let slot = self.placement.slot(variable.space, *cursor);
        let first = align(*cursor, alignment.max(slot));
        let is_narrow = !matches!(variable.space, Space::Global);
        let is_own = matches!(variable.space, Space::Local | Space::Param);
        let size = match variable.size() {
            // An array of unknown size is declared elsewhere: leave room for a large one.
            0 if is_narrow => CONST_SLOT,
            0 => WINDOW,
            size if is_own && size > MAX_LOCAL => return None,
            size => size,
        };
        let most = if is_narrow { NARROW_END } else { first.saturating_add(WINDOW) };
        let end = first.checked_add(size).filter(|end| *end <= most)?;
        // The next variable begins at a slot of its own.
        let room = if variable.space == Space::Global { 0 } else { self.placement.room(size) };
        *cursor = align(end.saturating_add(room), slot);
        if is_shared {
            self.shared_bytes = align(self.shared_bytes, alignment).saturating_add(size);
        }
        let name = module.name(variable.name).to_owned();
        let (space, shift) = match variable.space {
            Space::Param => (Space::Local, 0),
            space => (space, self.placement.shift(&name)),
        };
        let address = first.wrapping_add(shift);
        let init = initial_bytes(variable);
        self.symbols.push(Symbol {
            name,
            space,
            address,
            size,
            align: alignment,
            init,
            parameter: None,
        });
        Some(address)
    }

    /// Assigns the address of an `extern .shared` variable. All of them share the memory behind the static variables,
    /// which must have been placed before.
    fn dynamic(&mut self, module: &Module, variable: &Variable) -> u64 {
        let known = self.symbols.iter().find(|symbol| symbol.is_dynamic()).map(|own| own.address);
        let name = module.name(variable.name).to_owned();
        let first = if self.placement.is_packed { self.static_shared() } else { self.shared };
        let address = known.unwrap_or(first.wrapping_add(self.placement.shift(&name)));
        let (space, align, size, init) = (Space::Shared, self.dynamic_align, 0, None);
        self.symbols.push(Symbol { name, space, address, size, align, init, parameter: None });
        address
    }

    /// Gives a variable that has an address its contents before the launch.
    pub(super) fn initialise(&mut self, (space, address): (Space, u64), bytes: &Arc<[u8]>) {
        let is_it = |symbol: &&mut Symbol| (symbol.space, symbol.address) == (space, address);
        if let Some(symbol) = self.symbols.iter_mut().find(is_it) {
            symbol.init = Some(Arc::clone(bytes));
        }
    }

    /// Adds a symbol for a function whose address is taken.
    pub(super) fn function(&mut self, name: String, address: u64) {
        let space = Space::Generic;
        if !self
            .symbols
            .iter()
            .any(|variable| (variable.space, variable.address) == (space, address))
        {
            let (size, align, init, parameter) = (0, 1, None, None);
            self.symbols.push(Symbol { name, space, address, size, align, init, parameter });
        }
    }

    /// Returns the bytes that the kernel's parameters take so far.
    pub(super) const fn parameters(&self) -> u64 {
        self.param
    }

    /// Assigns an offset to the next parameter of the kernel.
    pub(super) fn param(&mut self, module: &Module, variable: &Variable) -> Param {
        let offset = align(self.param, u64::from(variable.alignment().max(1)));
        let pointee_align = variable.pointee_align.map(u64::from);
        self.param = offset.saturating_add(variable.size());
        Param {
            name: module.name(variable.name).to_owned(),
            source_name: None,
            offset,
            size: variable.size(),
            is_float: variable.ty.is_float(),
            is_signed: variable.ty.is_signed(),
            is_scalar: !variable.is_array,
            pointee: variable.pointee,
            pointee_align,
            object: None,
        }
    }
}

const fn align(address: u64, to: u64) -> u64 {
    address.div_ceil(to).saturating_mul(to)
}

/// Returns the bytes of an initialiser. `None`, open, if there is none (the host might fill the variable before the
/// launch) or if it holds addresses, which [`Layout::initialise`] gives.
fn initial_bytes(variable: &Variable) -> Option<Arc<[u8]>> {
    variable.init.as_ref().filter(|init| init.addresses.is_empty())?.bytes.clone()
}
