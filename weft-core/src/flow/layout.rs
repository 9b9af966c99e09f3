//! Where variables live: offsets within the shared, local, global and constant spaces and in the parameter bank.

use std::sync::Arc;

use super::program::{Param, Symbol};
use crate::ptx::{Module, Space, Variable};

/// The generic window of the shared space; a shared address counts from 0.
pub(crate) const SHARED_WINDOW: u64 = 0x7f00_0000_0000_0000;
/// The generic window of each thread's local space.
pub(crate) const LOCAL_WINDOW: u64 = 0x7e00_0000_0000_0000;
/// The generic window of the kernel's parameters.
pub(crate) const PARAM_WINDOW: u64 = 0x7d00_0000_0000_0000;
/// The generic window of the constant space.
pub(crate) const CONST_WINDOW: u64 = 0x7c00_0000_0000_0000;
/// Where the addresses of functions start.
pub(super) const FUNCTION_WINDOW: u64 = 0x7b00_0000_0000_0000;
/// Bytes of each window.
pub(crate) const WINDOW: u64 = 1 << 40;
/// The first address of global variables; buffers of arguments lie below.
const GLOBAL_SYMBOLS: u64 = 0x6000_0000_0000_0000;

/// Where the objects lie that `.ptr .shared` and `.ptr .const` parameters point to: behind all variables, a slot each.
pub(crate) const OBJECTS: u64 = 1 << 30;
const OBJECT_SLOT: u64 = 1 << 20;
/// An object of open size reaches so far on both sides of the pointer, which may point into its middle: no more shared
/// memory is there.
const OBJECT_REACH: u64 = crate::launch::MAX_SHARED;

/// The object that a parameter points to, at its place among them.
pub(super) fn object(at: u64, space: Space, param: &Param, parameter: usize) -> Symbol {
    let address = OBJECTS + at * OBJECT_SLOT;
    let (name, size) = (param.name.clone(), 2 * OBJECT_REACH);
    Symbol { name, space, address, size, init: None, parameter: Some(parameter) }
}

/// Assigns addresses, space by space.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) symbols: Vec<Symbol>,
    shared: u64,
    dynamic_align: u64,
    local: u64,
    global: u64,
    constant: u64,
    param: u64,
}

impl Layout {
    pub(super) const fn new() -> Self {
        Self {
            symbols: Vec::new(),
            shared: 0,
            dynamic_align: 16,
            local: 0,
            global: GLOBAL_SYMBOLS,
            constant: 0,
            param: 0,
        }
    }

    /// Bytes of static shared memory, rounded up to the alignment of dynamic shared memory.
    pub(super) const fn static_shared(&self) -> u64 {
        align(self.shared, self.dynamic_align)
    }

    /// Dynamic shared memory is as aligned as any of its names asks for.
    pub(super) fn align_dynamic(&mut self, variable: &Variable) {
        self.dynamic_align = self.dynamic_align.max(u64::from(variable.alignment()));
    }

    /// A place for a variable; `None` if it does not fit into its space.
    pub(super) fn place(&mut self, module: &Module, variable: &Variable) -> Option<u64> {
        let cursor = match variable.space {
            Space::Shared if variable.size() == 0 => return Some(self.dynamic(module, variable)),
            Space::Shared => &mut self.shared,
            Space::Local | Space::Param => &mut self.local,
            Space::Const => &mut self.constant,
            _ => &mut self.global,
        };
        let address = align(*cursor, u64::from(variable.alignment().max(1)));
        // An array of unknown size is declared elsewhere: room for a large one.
        let size = if variable.size() == 0 { WINDOW } else { variable.size() };
        let end = address.checked_add(size).filter(|_| size <= WINDOW)?;
        *cursor = end;
        let space = if variable.space == Space::Param { Space::Local } else { variable.space };
        let name = module.name(variable.name).to_owned();
        let init = initial_bytes(variable);
        self.symbols.push(Symbol { name, space, address, size, init, parameter: None });
        Some(address)
    }

    /// `extern .shared`: all of them share the place behind the static variables, known once these are placed.
    fn dynamic(&mut self, module: &Module, variable: &Variable) -> u64 {
        let address = self.static_shared();
        let name = module.name(variable.name).to_owned();
        let (space, size, init) = (Space::Shared, 0, None);
        self.symbols.push(Symbol { name, space, address, size, init, parameter: None });
        address
    }

    /// Bytes of the kernel's parameters so far.
    pub(super) const fn parameters(&self) -> u64 {
        self.param
    }

    /// The next parameter of the kernel.
    pub(super) fn param(&mut self, module: &Module, variable: &Variable) -> Param {
        let offset = align(self.param, u64::from(variable.alignment().max(1)));
        self.param = offset.saturating_add(variable.size());
        Param {
            name: module.name(variable.name).to_owned(),
            offset,
            size: variable.size(),
            is_float: variable.ty.is_float(),
            is_scalar: !variable.is_array,
            pointee: variable.pointee,
            object: None,
        }
    }
}

const fn align(address: u64, to: u64) -> u64 {
    address.div_ceil(to).saturating_mul(to)
}

/// The bytes of an initialiser. `None`, open, where there is none (the host may fill the variable before the launch) and
/// where it holds addresses.
fn initial_bytes(variable: &Variable) -> Option<Arc<[u8]>> {
    variable.init.as_ref().filter(|init| init.values > 0)?.bytes.clone()
}
