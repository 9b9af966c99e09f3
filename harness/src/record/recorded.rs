//! One launch of a record.

use super::folder::{RecordError, is_name};
use super::line::{self, AllocationLine, ArgLine, LaunchLine, PassedLine, PointerLine};

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
}

/// The bytes of an argument.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RecordedArg {
    /// Zeros where pointers are.
    pub(super) bytes: Vec<u8>,
    pub(super) pointers: Vec<RecordedPointer>,
}

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
    /// What the host put there; empty if that is not kept.
    pub(super) contents: Vec<Option<u8>>,
    pub(super) pointers: Vec<RecordedPointer>,
    /// How kernels of earlier launches could reach it since.
    pub(super) passed: Vec<Passing>,
}

/// A parameter of an earlier launch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Passing {
    /// The name of the module.
    pub(super) module: Option<String>,
    pub(super) kernel: String,
    /// The position of the parameter; `None`: it was not by a parameter.
    pub(super) arg: Option<usize>,
}

impl RecordedLaunch {
    /// Makes a launch of its line. `contents`: returns the contents with a name. What contradicts itself is told in the inner
    /// result.
    pub(super) fn of(
        line: LaunchLine,
        contents: &dyn Fn(&str) -> Result<Vec<Option<u8>>, RecordError>,
    ) -> Result<Result<Self, &'static str>, RecordError> {
        let count = line.allocations.len();
        let mut allocations = Vec::with_capacity(count);
        for own in line.allocations {
            let bytes = match &own.contents {
                Some(name) if is_name(name) => contents(name)?,
                Some(_) => return Ok(Err("contents are named by 32 hexadecimal digits")),
                None => Vec::new(),
            };
            if bytes.len() as u64 > own.size {
                return Ok(Err("contents have more bytes than their allocation"));
            }
            allocations.push(allocation(own, bytes));
        }
        let args = line.args.map(|args| args.into_iter().map(arg).collect::<Option<Vec<_>>>());
        let args = match args {
            Some(None) => return Ok(Err("bytes of an argument are pairs of hexadecimal digits")),
            Some(Some(args)) => Some(args),
            None => None,
        };
        let of_args = args.iter().flatten().flat_map(|arg| &arg.pointers);
        let mut pointers = of_args.chain(allocations.iter().flat_map(|own| &own.pointers));
        let fits = |pointer: &RecordedPointer| {
            allocations.get(pointer.allocation).is_some_and(|own| pointer.offset <= own.size)
        };
        if !pointers.all(fits) {
            return Ok(Err("a pointer leads out of the allocations of the launch"));
        }
        if line.module.as_deref().is_some_and(|name| !is_name(name)) {
            return Ok(Err("modules are named by 32 hexadecimal digits"));
        }
        let LaunchLine { kernel, module, grid, block, cluster, shared, .. } = line;
        Ok(Ok(Self { kernel, module, block, grid, cluster, shared, args, allocations }))
    }

    /// Returns a name of the launch that depends on nothing else: six hexadecimal digits.
    pub fn name(&self) -> String {
        // The text of the derived representation names every field.
        blake3::hash(format!("{self:?}").as_bytes()).to_hex()[..6].to_owned()
    }

    /// Returns the sizes of the arguments in bytes; `None` if they are not known.
    pub(super) fn sizes(&self) -> Option<Vec<u64>> {
        self.args.as_ref().map(|args| args.iter().map(|arg| arg.bytes.len() as u64).collect())
    }
}

fn allocation(line: AllocationLine, contents: Vec<Option<u8>>) -> RecordedAllocation {
    let passing = |PassedLine { module, kernel, arg }: PassedLine| {
        let arg = arg.as_u64().and_then(|arg| usize::try_from(arg).ok());
        Passing { module, kernel, arg }
    };
    RecordedAllocation {
        size: line.size,
        contents,
        pointers: line.pointers.into_iter().map(pointer).collect(),
        passed: line.passed.into_iter().map(passing).collect(),
    }
}

/// Returns an argument; `None` for a text that is not bytes, all known.
fn arg(line: ArgLine) -> Option<RecordedArg> {
    let bytes = line::bytes(&line.bytes)?.into_iter().collect::<Option<Vec<u8>>>()?;
    let pointers: Vec<_> = line.pointers.into_iter().map(pointer).collect();
    let fits =
        |own: &RecordedPointer| own.at.checked_add(8).is_some_and(|end| end <= bytes.len() as u64);
    pointers.iter().all(fits).then_some(RecordedArg { bytes, pointers })
}

fn pointer(PointerLine { at, allocation, offset }: PointerLine) -> RecordedPointer {
    RecordedPointer { at, allocation, offset }
}
