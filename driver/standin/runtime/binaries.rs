//! Loading what is registered: kernels and variables by the addresses that the host has for them.

use crate::allocation::Kind;
use crate::fatbin;
use crate::foreign::Host;
use crate::linking;
use crate::modules::{self, Module, Source};
use crate::state::State;
use crate::status::{Answer, Refusal, Status, refuse};

/// Where the structure that points to a fat binary has the list of those that were linked into it, and its version then.
const LINKED: usize = 2;
const WITH_LINKED: u32 = 2;

/// Returns the handle of the kernel that a host's function stands for. A handle stands for itself.
pub(super) fn kernel(state: &mut State, function: Host) -> Result<u64, Refusal> {
    let address = function.number();
    if let Some(handle) = state.registry.handle(address) {
        return Ok(handle);
    }
    let Some(symbol) = state.registry.kernel(address).cloned() else {
        if state.modules.kernel(address).is_ok() {
            return Ok(address);
        }
        let reason = "the function is no kernel that the program has registered";
        return Err(refuse(Status::InvalidDeviceFunction, reason));
    };
    let handles = load(state, symbol.binary)?;
    let has = |module: &Module| module.kernel_names().contains(&symbol.name);
    let of = |state: &State, test: &dyn Fn(&Module) -> bool| {
        handles.iter().copied().find(|handle| state.modules.module(*handle).is_ok_and(test))
    };
    // A module of machine code might have it.
    let module = of(state, &has).or_else(|| of(state, &|module| module.opaque.is_some()));
    let missing = || Refusal {
        kernel: Some(symbol.name.clone()),
        ..refuse(Status::InvalidDeviceFunction, format!("no module has the kernel {}", symbol.name))
    };
    let module = module.ok_or_else(missing)?;
    let fresh = state.handle();
    let handle = state.modules.find(module, &symbol.name, fresh)?;
    state.registry.use_kernel(address, handle);
    Ok(handle)
}

/// Returns base and size of the variable that a host's variable stands for. A managed variable stands for itself.
pub(super) fn variable(state: &mut State, variable: Host) -> Result<(u64, u64), Refusal> {
    let address = variable.number();
    let Some(symbol) = state.registry.variable(address).cloned() else {
        let own = state.memory.inside(address).filter(|(_, own)| own.kind == Kind::Managed);
        let wrong =
            || refuse(Status::InvalidSymbol, "the address is of no variable that is registered");
        return own.map(|(base, own)| (base, own.size)).ok_or_else(wrong);
    };
    let handles = load(state, symbol.binary)?;
    named(state, &handles, &symbol.name)
}

/// Returns base and size of a variable of one of these modules.
fn named(state: &mut State, handles: &[u64], name: &str) -> Result<(u64, u64), Refusal> {
    let State { modules, memory, .. } = state;
    let mut found =
        Err(refuse(Status::InvalidSymbol, format!("no module has the variable {name}")));
    for handle in handles {
        let is_opaque = modules.module(*handle).is_ok_and(|module| module.opaque.is_some());
        match modules.variable(*handle, name, memory) {
            Ok(own) => return Ok(own),
            // What machine code declares is not known: that it is not found is no mistake of the program.
            Err(_) if is_opaque => found = Err(Status::InvalidSymbol.into()),
            Err(refusal) if refusal.status != Status::NotFound => return Err(refusal),
            Err(_) => {}
        }
    }
    found
}

/// Loads the modules of a fat binary, if they are not loaded, and returns their handles. Managed variables get their addresses then.
pub(super) fn load(state: &mut State, binary: u64) -> Result<Vec<u64>, Refusal> {
    let wrong = || refuse(Status::InvalidHandle, "the fat binary is not registered");
    let own = state.registry.binary(binary).ok_or_else(wrong)?;
    if let Some(modules) = &own.modules {
        return Ok(modules.clone());
    }
    let mut handles = Vec::new();
    for module in read(state, binary)? {
        let fresh = state.handle();
        let launches = state.memory.launches;
        state.modules.add(fresh, module, launches);
        handles.push(fresh);
    }
    let Some(own) = state.registry.binary(binary) else { return Ok(handles) };
    own.modules = Some(handles.clone());
    for (name, place) in own.managed.clone() {
        let (base, _) = named(state, &handles, &name)?;
        place.result().give(base)?;
    }
    Ok(handles)
}

/// Reads the modules of a fat binary. One that was linked from several has the PTX of each, and machine code of all together: the
/// texts are linked again.
fn read(state: &mut State, binary: u64) -> Result<Vec<Module>, Refusal> {
    let Some(own) = state.registry.binary(binary) else { return Ok(Vec::new()) };
    let (image, device) = (own.image, state.record.device());
    let words = image.values::<u32>();
    let list = image.values::<Host>().at(LINKED)?;
    let has_list = words.at(0)? == fatbin::WRAPPER && words.at(1)? == WITH_LINKED;
    let (mut texts, mut opaque) = (Vec::new(), Vec::new());
    if has_list && !list.is_null() {
        for index in 0.. {
            let container = list.values::<Host>().at(index)?;
            if container.is_null() {
                break;
            }
            match modules::source(container, device)? {
                Source::Text(text) => texts.push(String::from_utf8_lossy(&text).into_owned()),
                source @ Source::Opaque(..) => opaque.push(source),
            }
        }
    }
    for source in opaque {
        modules::module(source, &mut state.record)?;
    }
    if texts.is_empty() {
        return Ok(vec![modules::image(image, &mut state.record)?]);
    }
    // Kernels of texts that cannot be linked are found in their own text.
    let texts = linking::link(&texts).map_or(texts, |linked| vec![linked]);
    texts.iter().map(|text| modules::text(text.as_bytes(), &mut state.record)).collect()
}

/// Unloads the modules of a fat binary.
pub(super) fn unload(state: &mut State, binary: u64) -> Answer {
    let State { registry, modules, memory, .. } = state;
    for module in registry.remove(binary) {
        modules.unload(module, memory)?;
    }
    Ok(())
}
