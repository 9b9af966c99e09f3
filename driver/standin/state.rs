//! All that the stand-in knows, behind one lock.

use std::cell::UnsafeCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;
use std::process;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use crate::arrays::Arrays;
use crate::contexts::Contexts;
use crate::device::Device;
use crate::graphs::Graphs;
use crate::handles::Handles;
use crate::memory::Memory;
use crate::modules::Modules;
use crate::pools::Pools;
use crate::record::Record;
use crate::regions::Regions;
use crate::registry::Registry;
use crate::status::{Answer, Status, refuse};
use crate::streams::Streams;

/// Everything.
#[derive(Debug)]
pub(crate) struct State {
    /// The process that called `cuInit`.
    pub(crate) initialised: Option<u32>,
    /// The device.
    pub(crate) device: Device,
    /// Allocations.
    pub(crate) memory: Memory,
    /// Reserved addresses, and memory that lies there.
    pub(crate) regions: Regions,
    /// Arrays, textures and surfaces.
    pub(crate) arrays: Arrays,
    /// Contexts.
    pub(crate) contexts: Contexts,
    /// Streams and events.
    pub(crate) streams: Streams,
    /// Captures and graphs.
    pub(crate) graphs: Graphs,
    /// Memory pools.
    pub(crate) pools: Pools,
    /// Modules and kernels.
    pub(crate) modules: Modules,
    /// The kernels that were launched, by the names of their modules.
    pub(crate) launched: BTreeSet<(String, String)>,
    /// What compiled programs have registered.
    pub(crate) registry: Registry,
    /// What is being linked, by handle.
    pub(crate) links: BTreeMap<u64, OpenLink>,
    /// What the libraries beside the driver have made.
    pub(crate) library: Handles,
    /// The record.
    pub(crate) record: Record,
    handles: u64,
}

/// Texts that are being linked.
#[derive(Debug, Default)]
pub(crate) struct OpenLink {
    pub(crate) texts: Vec<String>,
    /// The results that the program was given, each with a NUL at its end. They live as long as the link.
    pub(crate) images: Vec<Vec<u8>>,
}

impl State {
    fn new() -> Self {
        let device = Device::from_environment();
        State {
            initialised: None,
            device,
            memory: Memory::default(),
            regions: Regions::default(),
            arrays: Arrays::default(),
            contexts: Contexts::default(),
            streams: Streams::default(),
            graphs: Graphs::default(),
            pools: Pools::default(),
            modules: Modules::default(),
            launched: BTreeSet::new(),
            registry: Registry::default(),
            links: BTreeMap::new(),
            library: Handles::default(),
            record: Record::from_environment(device),
            handles: 0x1000,
        }
    }

    /// Returns a handle that nothing else has.
    pub(crate) fn handle(&mut self) -> u64 {
        self.handles += 0x10;
        self.handles
    }

    /// Refuses calls of a process that was forked from the one that called `cuInit`.
    pub(crate) fn refuse_fork(&self) -> Answer {
        if self.initialised.is_none_or(|pid| pid == process::id()) {
            return Ok(());
        }
        let reason = "the process was forked after cuInit, which the first call of other libraries makes too: CUDA works in its \
                      parent alone";
        Err(refuse(Status::NotInitialized, reason))
    }

    /// Begins the use of the driver, as `cuInit` does.
    pub(crate) fn begin(&mut self) {
        self.initialised = Some(process::id());
        self.record.begin();
    }
}

/// The one state of the process.
static STATE: LazyLock<Mutex<State>> = LazyLock::new(|| {
    // SAFETY: the functions are of this library, which is linked so that it is never unloaded; registering has no other condition. If
    // it fails, only a fork beside a call of another thread is affected.
    unsafe { pthread_atfork(Some(before_fork), Some(after_fork), Some(after_fork)) };
    Mutex::new(State::new())
});

/// Locks the state. A call that panicked has left it whole as far as memory goes, so that the next one can go on.
pub(crate) fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

unsafe extern "C" {
    fn pthread_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> c_int;
}

/// The lock while the process forks: so that the child does not get it from a thread that it does not have.
struct Held(UnsafeCell<Option<MutexGuard<'static, State>>>);

// SAFETY: it is touched by the thread alone that forks, between `before_fork` and `after_fork`, and has the lock in between; a second
// thread that forks waits in `before_fork` for the lock before it touches this.
unsafe impl Sync for Held {}

static HELD: Held = Held(UnsafeCell::new(None));

extern "C" fn before_fork() {
    let guard = lock();
    // SAFETY: this thread has the lock (see `Held`).
    unsafe { *HELD.0.get() = Some(guard) };
}

extern "C" fn after_fork() {
    // SAFETY: this thread has the lock, in the parent and in the child, whose only thread it is.
    let guard = unsafe { (*HELD.0.get()).take() };
    drop(guard);
}
