//! One launch of a record.

use weft_core::flow::Param;
use weft_core::launch::TensorBox;
use weft_core::launch::allocation::{BUFFER_ALIGN, POINTER};

use super::boxes;
use super::earlier::{EarlierKernels, ProcessKernels};
use super::folder::{RecordError, is_name};
use super::line::{
    self, AllocationLine, GlobalLine, MapLine, PassedLine, PointerLine, RecordArgLine,
    RecordLaunchLine,
};
use super::used::UsedBytes;

/// One launch of a record, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordedLaunch {
    /// The name of the kernel in the PTX.
    pub kernel: String,
    /// The name of the module; `None`: it is not kept.
    pub module: Option<String>,
    /// Threads of a cta in x, y and z.
    pub block: [u32; 3],
    /// Ctas of the grid in x, y and z.
    pub grid: [u32; 3],
    /// Ctas of a cluster, if the launch states that.
    pub cluster: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// The arguments; `None`: their sizes were not known.
    pub(super) args: Option<Vec<RecordedArg>>,
    pub(super) allocations: Vec<RecordedAllocation>,
    /// The names of the variables of the module whose addresses the host has asked for, so that it might have changed them.
    pub(super) variables: Vec<String>,
}

/// What of a recorded launch is left open, or might have been another one on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchDoubts {
    /// The program had read memory before that a kernel might have changed, and kernels do not run where launches are recorded.
    pub after_read: bool,
    /// An argument holds a tensor map: all but its box is left open, and with it what is accessed through the map.
    pub has_maps: bool,
    /// An argument holds a pointer to a variable of the module, which is left open.
    pub leads_to_variables: bool,
    /// The bytes of its largest allocation whose contents are not kept, if so large ones are only kept on request.
    pub unkept: Option<u64>,
}

/// The bytes of the largest allocation whose contents are kept without a request.
const KEPT: u64 = 64 << 10;

/// The bytes of an argument.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RecordedArg {
    /// Zeros where pointers are.
    pub(super) bytes: Vec<u8>,
    pub(super) pointers: Vec<RecordedPointer>,
    /// Where pointers to memory that was freed stand.
    pub(super) freed: Vec<u64>,
    /// Where addresses of the host stand, which the device cannot use.
    pub(super) hosts: Vec<u64>,
    /// The tensor maps in it.
    pub(super) maps: Vec<RecordedMap>,
}

/// A tensor map in an argument: what asynchronous copies of boxes access.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RecordedMap {
    /// Where it stands.
    pub(super) at: u64,
    /// The index of the allocation that it leads into, if that is live.
    pub(super) allocation: Option<usize>,
    pub(super) offset: u64,
    /// Its type of elements, sizes, strides and modes, as they are recorded.
    pub(super) description: String,
    /// The box that a copy moves with it, if that follows.
    pub(super) tensor: Option<TensorBox>,
}

/// Bytes of a tensor map.
const MAP: u64 = TensorBox::MAP;

/// What allocations are aligned to, unless the record says otherwise.
pub(super) const ALIGN: u64 = BUFFER_ALIGN;

/// A pointer into an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RecordedPointer {
    /// Where it stands.
    pub(super) at: u64,
    /// The index of the allocation.
    pub(super) allocation: usize,
    pub(super) offset: u64,
}

/// Memory that the program allocated.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RecordedAllocation {
    /// In bytes.
    pub(super) size: u64,
    /// Bytes by which it begins behind a multiple of 256.
    pub(super) behind: u64,
    /// The name of what the host put there; `None` if that is not kept.
    pub(super) contents: Option<String>,
    pub(super) pointers: Vec<RecordedPointer>,
    /// How kernels of earlier launches could reach it since.
    pub(super) passed: Vec<PassedKernel>,
    /// Whether it is a variable of the module, which kernels also reach by its name.
    pub(super) is_variable: bool,
    /// Whether the host might change it while a kernel runs.
    pub(super) is_hosts: bool,
    /// The kernels that were launched before, if at least one launch was made since the host overwrote all of it: some might find a
    /// pointer to it elsewhere than in their arguments.
    pub(super) launched: Option<EarlierKernels>,
}

/// A parameter of an earlier launch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PassedKernel {
    /// The name of the module.
    pub(super) module: Option<String>,
    pub(super) kernel: String,
    /// The position of the parameter; `None`: it was not by a parameter.
    pub(super) arg: Option<usize>,
}

impl RecordedLaunch {
    /// Makes a launch of its line. `given`: returns how many bytes the contents with a name have. What contradicts itself is told
    /// in the inner result.
    pub(super) fn of(
        line: RecordLaunchLine,
        kernels: &ProcessKernels,
        given: &mut dyn FnMut(&str) -> Result<usize, RecordError>,
    ) -> Result<Result<Self, &'static str>, RecordError> {
        if !line.names().all(is_name) {
            return Ok(Err("modules and contents are named by 32 hexadecimal digits"));
        }
        for own in &line.allocations {
            if own.contents.as_deref().map_or(Ok(0), &mut *given)? as u64 > own.size {
                return Ok(Err("contents have more bytes than their allocation"));
            }
        }
        Ok(Self::joined(line, kernels))
    }

    fn joined(line: RecordLaunchLine, kernels: &ProcessKernels) -> Result<Self, &'static str> {
        let RecordLaunchLine { kernel, module, grid, block, cluster, shared, args, .. } = line;
        let allocations = line.allocations.into_iter().map(|own| allocation(own, kernels));
        let allocations: Option<Vec<_>> = allocations.collect();
        let mut allocations = allocations.ok_or("fewer kernels were launched before")?;
        let mut variables = Vec::new();
        for GlobalLine { name, allocation } in line.globals {
            let own = allocations.get_mut(allocation);
            variables.push(name);
            own.ok_or("a variable is none of the allocations of the launch")?.is_variable = true;
        }
        let args = args.map(|args| args.into_iter().map(arg).collect::<Option<Vec<_>>>());
        if args == Some(None) {
            return Err(
                "bytes of an argument are pairs of hexadecimal digits, with its pointers and maps among them",
            );
        }
        let args = args.flatten();
        let launch =
            Self { kernel, module, block, grid, cluster, shared, args, allocations, variables };
        launch.misfit().map_or(Ok(launch), Err)
    }

    /// Returns what is wrong about the allocations and the pointers; `None` if nothing is.
    fn misfit(&self) -> Option<&'static str> {
        let held = self.allocations.iter();
        let of_args = self.args.iter().flatten().flat_map(|arg| &arg.pointers);
        let mut pointers = of_args.chain(held.clone().flat_map(|own| &own.pointers));
        let leads_to = |allocation: usize, offset: u64| {
            self.allocations.get(allocation).is_some_and(|own| offset <= own.size)
        };
        let leads = |own: &RecordedPointer| leads_to(own.allocation, own.offset);
        let mut maps = self.args.iter().flatten().flat_map(|arg| &arg.maps);
        let is_placed =
            |own: &RecordedMap| own.allocation.is_none_or(|number| leads_to(number, own.offset));
        if !pointers.all(leads) || !maps.all(is_placed) {
            return Some("a pointer leads out of the allocations of the launch");
        }
        if self.allocations.iter().any(|own| own.behind >= ALIGN) {
            return Some("an allocation begins no more than 255 bytes behind a multiple of 256");
        }
        if self.allocations.iter().any(|own| own.size.checked_add(own.behind).is_none()) {
            return Some("an allocation is larger than all addresses");
        }
        let mut places =
            held.flat_map(|own| own.pointers.iter().map(|pointer| (pointer.at, own.size)));
        (!places.all(|(at, size)| is_within(at, size)))
            .then_some("a pointer stands at no multiple of 8 within its allocation")
    }

    /// Returns the launch as far as it decides anything, so that two launches under which a kernel is checked alike are equal.
    /// `is_given`: whether an allocation still holds what the host put there.
    pub(super) fn settled(&self, is_given: &mut dyn FnMut(&RecordedAllocation) -> bool) -> Self {
        let settled = |own: &RecordedAllocation| {
            let mut settled = RecordedAllocation {
                passed: Vec::new(),
                is_hosts: false,
                launched: None,
                ..own.clone()
            };
            if !is_given(own) {
                settled.contents = None;
                settled.pointers.clear();
            }
            settled
        };
        let allocations = self.allocations.iter().map(settled).collect();
        Self { module: None, allocations, ..self.clone() }
    }

    /// Makes those bytes of structures zeros that the kernel with these parameters does not read.
    pub(super) fn clear_unread(&mut self, (params, used): (&[Param], &UsedBytes)) {
        for (arg, param) in self.args.iter_mut().flatten().zip(params) {
            used.clear_others(param, &mut arg.bytes);
            let is_read = |at: &u64| used.reads(param, (*at, POINTER));
            arg.freed.retain(is_read);
            arg.hosts.retain(is_read);
        }
    }

    /// Returns a name of a settled launch that depends on nothing else: six hexadecimal digits.
    pub(super) fn name(&self) -> String {
        // The text of the derived representation names every field.
        let text = format!("{self:?}");
        blake3::hash(text.as_bytes()).to_hex()[..6].to_owned()
    }

    /// Returns what of the launch is left open, or might have been another one on a device.
    pub(super) fn doubts(&self, after_read: bool) -> LaunchDoubts {
        let args = || self.args.iter().flatten();
        let is_variable = |own: &RecordedPointer| self.allocations[own.allocation].is_variable;
        let is_unkept = |own: &&RecordedAllocation| own.contents.is_none() && own.size > KEPT;
        LaunchDoubts {
            after_read,
            has_maps: args().any(|arg| !arg.maps.is_empty()),
            leads_to_variables: args().flat_map(|arg| &arg.pointers).any(is_variable),
            unkept: self.allocations.iter().filter(is_unkept).map(|own| own.size).max(),
        }
    }

    /// Whether two launches are of kernels with one name and parameters of the same sizes.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        self.kernel == other.kernel && self.sizes() == other.sizes()
    }

    /// Returns the sizes of the arguments in bytes; `None` if they are not known.
    pub(super) fn sizes(&self) -> Option<Vec<u64>> {
        self.args.as_ref().map(|args| args.iter().map(|arg| arg.bytes.len() as u64).collect())
    }
}

/// Returns an allocation; `None` if more kernels are said to have been launched before than there were.
fn allocation(line: AllocationLine, kernels: &ProcessKernels) -> Option<RecordedAllocation> {
    let passing = |PassedLine { module, kernel, arg }: PassedLine| {
        let arg = arg.as_u64().and_then(|arg| usize::try_from(arg).ok());
        PassedKernel { module, kernel, arg }
    };
    let launched = match line.launched {
        Some(count) => Some(kernels.first(count)?),
        None => None,
    };
    Some(RecordedAllocation {
        size: line.size,
        behind: line.behind,
        contents: line.contents,
        pointers: line.pointers.into_iter().map(pointer).collect(),
        passed: line.passed.into_iter().map(passing).collect(),
        is_variable: false,
        is_hosts: line.host,
        launched,
    })
}

/// Returns an argument; `None` for a text that is not bytes, all known.
fn arg(line: RecordArgLine) -> Option<RecordedArg> {
    let bytes = line::bytes(&line.bytes)?.into_iter().collect::<Option<Vec<u8>>>()?;
    let pointers: Vec<_> = line.pointers.into_iter().map(pointer).collect();
    let mut places = pointers
        .iter()
        .map(|own| own.at)
        .chain(line.freed.iter().copied())
        .chain(line.hosts.iter().copied());
    let size = bytes.len() as u64;
    let holds = |own: &MapLine| own.at.checked_add(MAP).is_some_and(|end| end <= size);
    let fits = places.all(|at| is_within(at, size)) && line.maps.iter().all(holds);
    let maps = line.maps.into_iter().map(map).collect();
    let (freed, hosts) = (line.freed, line.hosts);
    fits.then_some(RecordedArg { bytes, pointers, freed, hosts, maps })
}

fn map(line: MapLine) -> RecordedMap {
    let MapLine { at, allocation, offset, rest } = line;
    let tensor = boxes::of(&rest);
    let description = serde_json::Value::from(rest).to_string();
    RecordedMap { at, allocation, offset, description, tensor }
}

/// Whether a pointer can stand at `at` among so many bytes.
fn is_within(at: u64, size: u64) -> bool {
    at.is_multiple_of(POINTER) && at.checked_add(POINTER).is_some_and(|end| end <= size)
}

fn pointer(PointerLine { at, allocation, offset }: PointerLine) -> RecordedPointer {
    RecordedPointer { at, allocation, offset }
}
