//! Modules that the program has loaded, their kernels and variables.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;
use std::sync::Arc;

use crate::allocation::{Kind, Passed, Reach};
use crate::fatbin::{self, MACHINE_CODE};
use crate::foreign::Host;
use crate::memory::Memory;
use crate::record::Record;
use crate::signature::{self, Signature, Signatures};
use crate::status::{Answer, Refusal, Status, refuse};

/// First bytes of machine code.
const ELF: u32 = 0x464c_457f;

/// A module.
#[derive(Debug, Default)]
pub(crate) struct Module {
    /// Its name in the record; `None` if nothing of it is kept.
    pub(crate) name: Option<String>,
    signatures: Signatures,
    /// Why nothing is known of its kernels.
    pub(crate) opaque: Option<String>,
    /// The context with which it ends; 0 for none.
    pub(crate) context: u64,
    /// Kernels that were asked for, by name.
    kernels: BTreeMap<String, u64>,
    /// Variables that were asked for: base and size.
    pub(crate) variables: BTreeMap<String, (u64, u64)>,
    /// How many launches there had been when it was loaded.
    loaded: u64,
    /// Its kernels that were launched.
    launched: BTreeSet<String>,
}

/// A kernel that was asked for.
#[derive(Debug, Clone)]
pub(crate) struct Kernel {
    /// Its module.
    pub(crate) module: u64,
    /// Its name.
    pub(crate) name: String,
    /// The name for programs that ask for it. It lives as long as the kernel.
    pub(crate) text: Arc<CString>,
    /// What is known of it; `None` in a module of machine code.
    pub(crate) signature: Option<Arc<Signature>>,
    /// Attributes that the program has set, by number.
    pub(crate) attributes: BTreeMap<i32, i32>,
}

/// All modules and kernels, by handle.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    modules: BTreeMap<u64, Module>,
    kernels: BTreeMap<u64, Kernel>,
}

/// What an image holds.
#[derive(Debug)]
pub(crate) enum Source {
    /// PTX.
    Text(Vec<u8>),
    /// Nothing that is read: its bytes, where their number is known, and why.
    Opaque(Option<u64>, String),
}

/// Reads the image at an address: PTX text, a fat binary, or machine code.
pub(crate) fn image(at: Host, record: &mut Record) -> Result<Module, Refusal> {
    let source = source(at, record.device())?;
    module(source, record)
}

/// Returns the module that an image holds.
pub(crate) fn module(source: Source, record: &mut Record) -> Result<Module, Refusal> {
    match source {
        Source::Text(ptx) => text(&ptx, record),
        Source::Opaque(bytes, reason) => Ok(opaque(bytes, &reason, record)),
    }
}

/// Returns what the image at an address holds for a device such as 90.
pub(crate) fn source(at: Host, device: u32) -> Result<Source, Refusal> {
    let first = at.values::<u32>();
    // The smallest text is one NUL: the bytes of a longer head are read only as far as they fit.
    let letters = at.values::<u8>();
    let is = |magic: u32| -> Result<bool, Refusal> {
        for (index, byte) in magic.to_le_bytes().into_iter().enumerate() {
            if letters.at(index)? != byte {
                return Ok(false);
            }
        }
        Ok(true)
    };
    if is(fatbin::WRAPPER)? {
        let pointer = first.at(2)?;
        let high = first.at(3)?;
        return source(Host::at(u64::from(high) << 32 | u64::from(pointer)), device);
    }
    if is(fatbin::MAGIC)? {
        let header = at.read(fatbin::HEADER)?;
        let length = fatbin::length(&header)
            .ok_or_else(|| refuse(Status::InvalidImage, "a fat binary is damaged"))?;
        return Ok(container(&at.read(length)?, device));
    }
    if is(ELF)? {
        return Ok(Source::Opaque(None, MACHINE_CODE.to_owned()));
    }
    Ok(Source::Text(at.text().bytes()?))
}

/// Reads the image in a file.
pub(crate) fn file(bytes: &[u8], record: &mut Record) -> Result<Module, Refusal> {
    let source = match fatbin::u32_at(bytes, 0) {
        Some(fatbin::MAGIC) => container(bytes, record.device()),
        Some(ELF) => Source::Opaque(Some(bytes.len() as u64), MACHINE_CODE.to_owned()),
        _ => {
            let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
            Source::Text(bytes[..end].to_vec())
        }
    };
    module(source, record)
}

fn container(bytes: &[u8], device: u32) -> Source {
    match fatbin::ptx(bytes, device) {
        Ok(ptx) => Source::Text(ptx),
        Err(reason) => Source::Opaque(Some(bytes.len() as u64), reason),
    }
}

fn opaque(bytes: Option<u64>, reason: &str, record: &mut Record) -> Module {
    record.opaque_module(bytes, reason);
    Module { opaque: Some(reason.to_owned()), ..Module::default() }
}

/// Reads PTX text.
pub(crate) fn text(ptx: &[u8], record: &mut Record) -> Result<Module, Refusal> {
    let text = String::from_utf8_lossy(ptx);
    let signatures = signature::read(&text).map_err(|reason| refuse(Status::InvalidPtx, reason))?;
    let kernels = signatures.kernels.iter().map(|kernel| kernel.name.as_str());
    let name = record.is_on().then(|| record.module(ptx, kernels));
    Ok(Module { name, signatures, ..Module::default() })
}

impl Module {
    /// Returns the names of its kernels.
    pub(crate) fn kernel_names(&self) -> Vec<String> {
        self.signatures.kernels.iter().map(|kernel| kernel.name.clone()).collect()
    }

    /// Returns the architecture that it is compiled for, such as 90.
    pub(crate) fn target(&self) -> u32 {
        self.signatures.target
    }
}

impl Modules {
    /// Adds a module under a handle, loaded after so many launches.
    pub(crate) fn add(&mut self, handle: u64, module: Module, launches: u64) {
        self.modules.insert(handle, Module { loaded: launches, ..module });
    }

    /// Notes that a kernel of a module was launched.
    pub(crate) fn launched(&mut self, module: u64, kernel: &str) {
        if let Some(own) = self.modules.get_mut(&module)
            && !own.launched.contains(kernel)
        {
            own.launched.insert(kernel.to_owned());
        }
    }

    /// Returns a module by its handle.
    pub(crate) fn module(&self, handle: u64) -> Result<&Module, Refusal> {
        let wrong = || refuse(Status::InvalidHandle, "the module is not loaded");
        self.modules.get(&handle).ok_or_else(wrong)
    }

    /// Returns a kernel by its handle.
    pub(crate) fn kernel(&self, handle: u64) -> Result<&Kernel, Refusal> {
        let wrong = || refuse(Status::InvalidHandle, "the kernel is of no loaded module");
        self.kernels.get(&handle).ok_or_else(wrong)
    }

    /// Returns a kernel by its handle, to change its attributes.
    pub(crate) fn kernel_mut(&mut self, handle: u64) -> Result<&mut Kernel, Refusal> {
        let wrong = || refuse(Status::InvalidHandle, "the kernel is of no loaded module");
        self.kernels.get_mut(&handle).ok_or_else(wrong)
    }

    /// Returns the handle of a kernel of a module, which is `fresh` if it is asked for the first time.
    pub(crate) fn find(&mut self, module: u64, name: &str, fresh: u64) -> Result<u64, Refusal> {
        self.module(module)?;
        let Some(own) = self.modules.get_mut(&module) else {
            return Err(Status::InvalidHandle.into());
        };
        if let Some(handle) = own.kernels.get(name) {
            return Ok(*handle);
        }
        let signature = own.signatures.kernels.iter().find(|kernel| kernel.name == name);
        if signature.is_none() && own.opaque.is_none() {
            let reason = format!("the module has no kernel {name}");
            return Err(Refusal {
                kernel: Some(name.to_owned()),
                ..refuse(Status::NotFound, reason)
            });
        }
        let kernel = Kernel {
            module,
            name: name.to_owned(),
            text: Arc::new(CString::new(name).map_err(|_| Status::NotFound)?),
            signature: signature.cloned().map(Arc::new),
            attributes: BTreeMap::new(),
        };
        own.kernels.insert(name.to_owned(), fresh);
        self.kernels.insert(fresh, kernel);
        Ok(fresh)
    }

    /// Returns base and size of a variable, which is allocated when it is asked for the first time. Kernels of the module that were launched
    /// before might have stored into it by its name.
    pub(crate) fn variable(
        &mut self,
        module: u64,
        name: &str,
        memory: &mut Memory,
    ) -> Result<(u64, u64), Refusal> {
        self.module(module)?;
        let Some(own) = self.modules.get_mut(&module) else {
            return Err(Status::InvalidHandle.into());
        };
        if let Some(found) = own.variables.get(name) {
            return Ok(*found);
        }
        let missing = || refuse(Status::NotFound, format!("the module has no variable {name}"));
        let variable = own
            .signatures
            .variables
            .iter()
            .find(|variable| variable.name == name)
            .ok_or_else(missing)?;
        let kind = if variable.managed { Kind::Managed } else { Kind::Variable };
        let base = memory.allocate(variable.size.max(1), kind, 0)?;
        if let Some(contents) = &variable.contents {
            memory.initialise(base, contents);
        }
        if let Some(allocation) = memory.at(base) {
            allocation.since = own.loaded;
            allocation.was_passed = !own.launched.is_empty();
            let passed = |kernel: &String| Passed {
                module: own.name.clone(),
                kernel: kernel.clone(),
                reach: Reach::Variable(name.to_owned()),
            };
            allocation.passed.extend(own.launched.iter().map(passed));
        }
        own.variables.insert(name.to_owned(), (base, variable.size));
        Ok((base, variable.size))
    }

    /// Ends the modules of a context that has ended.
    pub(crate) fn end_context(&mut self, context: u64, memory: &mut Memory) -> Answer {
        let is_own = |(handle, own): (&u64, &Module)| {
            (own.context == context && context != 0).then_some(*handle)
        };
        let all: Vec<u64> = self.modules.iter().filter_map(is_own).collect();
        all.into_iter().try_for_each(|handle| self.unload(handle, memory))
    }

    /// Ends a module with its kernels and variables.
    pub(crate) fn unload(&mut self, handle: u64, memory: &mut Memory) -> Answer {
        self.module(handle)?;
        let Some(own) = self.modules.remove(&handle) else { return Ok(()) };
        for kernel in own.kernels.values() {
            self.kernels.remove(kernel);
        }
        for (base, _) in own.variables.values() {
            memory.free(*base, &[Kind::Variable, Kind::Managed])?;
        }
        Ok(())
    }
}
