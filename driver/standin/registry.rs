//! What compiled programs tell the runtime library as they are loaded: their fat binaries, and at which addresses of the host their
//! kernels and variables are found.
//!
//! Nothing is loaded here: a fat binary that no kernel is launched of is never read.

use std::collections::BTreeMap;

use crate::foreign::Host;

/// A fat binary of the program.
#[derive(Debug)]
pub(crate) struct FatBinary {
    /// The structure that points to it.
    pub(crate) image: Host,
    /// Its modules, once they are loaded.
    pub(crate) modules: Option<Vec<u64>>,
    /// Managed variables: their names, and where the host keeps their addresses.
    pub(crate) managed: Vec<(String, Host)>,
}

/// A kernel or a variable of a fat binary, by an address of the host.
#[derive(Debug, Clone)]
pub(crate) struct HostSymbol {
    /// The fat binary.
    pub(crate) binary: u64,
    /// The name in the module.
    pub(crate) name: String,
}

/// All that is registered.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    binaries: BTreeMap<u64, FatBinary>,
    kernels: BTreeMap<u64, HostSymbol>,
    variables: BTreeMap<u64, HostSymbol>,
    /// Handles of the kernels that were used, by the addresses of the host.
    used: BTreeMap<u64, u64>,
}

impl Registry {
    /// Adds a fat binary under a handle.
    pub(crate) fn add(&mut self, handle: u64, image: Host) {
        let binary = FatBinary { image, modules: None, managed: Vec::new() };
        self.binaries.insert(handle, binary);
    }

    /// Returns a fat binary.
    pub(crate) fn binary(&mut self, handle: u64) -> Option<&mut FatBinary> {
        self.binaries.get_mut(&handle)
    }

    /// Adds a kernel.
    pub(crate) fn add_kernel(&mut self, address: Host, symbol: HostSymbol) {
        self.used.remove(&address.number());
        self.kernels.insert(address.number(), symbol);
    }

    /// Adds a variable.
    pub(crate) fn add_variable(&mut self, address: Host, symbol: HostSymbol) {
        self.variables.insert(address.number(), symbol);
    }

    /// Returns the kernel at an address of the host.
    pub(crate) fn kernel(&self, address: u64) -> Option<&HostSymbol> {
        self.kernels.get(&address)
    }

    /// Returns the variable at an address of the host.
    pub(crate) fn variable(&self, address: u64) -> Option<&HostSymbol> {
        self.variables.get(&address)
    }

    /// Returns the handle of a kernel that was used before.
    pub(crate) fn handle(&self, address: u64) -> Option<u64> {
        self.used.get(&address).copied()
    }

    /// Notes the handle of a kernel.
    pub(crate) fn use_kernel(&mut self, address: u64, handle: u64) {
        self.used.insert(address, handle);
    }

    /// Removes a fat binary with all that is in it, and returns its modules.
    pub(crate) fn remove(&mut self, handle: u64) -> Vec<u64> {
        let binary = self.binaries.remove(&handle);
        self.kernels.retain(|_, symbol| symbol.binary != handle);
        self.variables.retain(|_, symbol| symbol.binary != handle);
        let Registry { kernels, used, .. } = self;
        used.retain(|address, _| kernels.contains_key(address));
        binary.and_then(|binary| binary.modules).unwrap_or_default()
    }
}
