//! The launch of a kernel, and the line of a kernel and launch that would be checked.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Head, Subject, line};
use crate::finding::Report;
use crate::launch::requires::Requirement;
use crate::launch::{
    Allocation, Arg, Atomics, BarrierDivergence, Dim3, Dimensions, Fields, Launch, TensorBox,
    Within,
};

/// Returns the `weft-launch` line of a kernel and launch, without the line break. `name`: that of reports; `kernel`: the
/// name in the PTX; `block`: the size that the launch or the kernel states, or a guess within the kernel's bound; `skip`:
/// the reason for which it is not checked.
pub fn launch(
    name: &str,
    kernel: &str,
    subject: Subject<'_>,
    launch: &Launch,
    block: Option<Dim3>,
    skip: Option<&str>,
) -> String {
    line(&StatedLine {
        head: Head::of("weft-launch"),
        name,
        package: subject.package,
        kernel,
        demangled: subject.demangled,
        file: subject.file,
        launch: line_of(launch, block, launch.grid, subject.label),
        skip,
    })
}

#[derive(Serialize)]
struct StatedLine<'a> {
    #[serde(flatten)]
    head: Head,
    name: &'a str,
    package: Option<&'a str>,
    kernel: &'a str,
    demangled: &'a str,
    file: &'a str,
    launch: LaunchLine<'a>,
    skip: Option<&'a str>,
}

#[derive(Serialize)]
pub(super) struct LaunchLine<'a> {
    label: Option<&'a str>,
    /// Null if no grid is stated and none was used; so is `block`.
    grid: Option<DimensionsLine>,
    block: Option<DimensionsLine>,
    /// Null if the launch states no clusters.
    cluster: Option<[u32; 3]>,
    shared: Option<u32>,
    args: BTreeMap<usize, ArgLine>,
    /// The stated buffers, by name.
    buffers: BTreeMap<&'a str, StatedBufferLine>,
    requires: Vec<String>,
    options: OptionsLine,
}

/// The size used, or `"any"`.
#[derive(Serialize)]
#[serde(untagged)]
enum DimensionsLine {
    Is([u32; 3]),
    Any(&'static str),
}

#[derive(Serialize)]
#[serde(untagged)]
enum ArgLine {
    Signed(i64),
    Unsigned(u64),
    /// A whole number beyond 64 bits.
    Wide(String),
    Float(f64),
    Buffer {
        buffer: BufferLine,
    },
    Structure {
        structure: StructureLine,
    },
    Within {
        within: WithinLine,
    },
    Tensor {
        tensor: TensorLine,
    },
}

#[derive(Serialize)]
struct StructureLine {
    /// The number of its bytes that are given; null if bytes that no field gives are open.
    bytes: Option<usize>,
    /// Given fields, by the offset of their first byte.
    fields: BTreeMap<u64, ArgLine>,
}

#[derive(Serialize)]
struct StatedBufferLine {
    /// Its size; null if it is open.
    bytes: Option<u64>,
    /// The number of its bytes that are given.
    given: usize,
}

/// A pointer into a stated buffer.
#[derive(Serialize)]
struct WithinLine {
    buffer: String,
    /// In bytes.
    offset: u64,
}

/// A tensor map.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct TensorLine {
    box_bytes: u32,
}

#[derive(Serialize)]
struct BufferLine {
    /// The size of the contents; null if they are open.
    bytes: Option<usize>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct OptionsLine {
    warp_synchronous: bool,
    atomics: &'static str,
    barrier_divergence: &'static str,
}

/// Returns the launch of a report, with the block and grid that were used.
pub(super) fn launch_line<'a>(report: &'a Report, label: Option<&'a str>) -> LaunchLine<'a> {
    let grid = report.launch.grid.unwrap_or(Dimensions::Is(report.grid));
    line_of(&report.launch, report.block, Some(grid), label)
}

/// Returns a launch. `block`: the block that is known, if it is not only that of the launch.
fn line_of<'a>(
    launch: &'a Launch,
    block: Option<Dim3>,
    grid: Option<Dimensions>,
    label: Option<&'a str>,
) -> LaunchLine<'a> {
    let Launch { cluster, shared, args, buffers, requires, options, .. } = launch;
    LaunchLine {
        label,
        grid: grid.map(dimensions_line),
        block: block.map(Dimensions::Is).or(launch.block).map(dimensions_line),
        cluster: cluster.map(|Dim3 { x, y, z }| [x, y, z]),
        shared: *shared,
        args: args.iter().map(|(&position, arg)| (position, arg_line(arg))).collect(),
        buffers: buffers
            .iter()
            .map(|(name, buffer)| (name.as_str(), buffer_line(buffer)))
            .collect(),
        requires: requires.iter().map(Requirement::to_string).collect(),
        options: OptionsLine {
            warp_synchronous: options.warp_synchronous,
            atomics: match options.atomics {
                Atomics::Auto => "auto",
                Atomics::Abstract => "abstract",
                Atomics::Unique => "unique",
                Atomics::Off => "off",
            },
            barrier_divergence: match options.barrier_divergence {
                BarrierDivergence::Cta => "cta",
                BarrierDivergence::Warp => "warp",
                BarrierDivergence::Off => "off",
            },
        },
    }
}

const fn dimensions_line(dimensions: Dimensions) -> DimensionsLine {
    match dimensions {
        Dimensions::Any => DimensionsLine::Any(Dimensions::ANY),
        Dimensions::Is(Dim3 { x, y, z }) => DimensionsLine::Is([x, y, z]),
    }
}

fn buffer_line(buffer: &Allocation) -> StatedBufferLine {
    StatedBufferLine { bytes: buffer.size, given: buffer.known() }
}

fn arg_line(arg: &Arg) -> ArgLine {
    match arg {
        Arg::Integer(value) => match (i64::try_from(*value), u64::try_from(*value)) {
            (Ok(value), _) => ArgLine::Signed(value),
            (_, Ok(value)) => ArgLine::Unsigned(value),
            _ => ArgLine::Wide(value.to_string()),
        },
        Arg::Float(value) => ArgLine::Float(*value),
        Arg::Buffer(buffer) => {
            ArgLine::Buffer { buffer: BufferLine { bytes: buffer.contents.as_ref().map(Vec::len) } }
        }
        Arg::Tensor(TensorBox { bytes }) => {
            ArgLine::Tensor { tensor: TensorLine { box_bytes: *bytes } }
        }
        Arg::Within(Within { buffer, offset }) => {
            ArgLine::Within { within: WithinLine { buffer: buffer.clone(), offset: *offset } }
        }
        Arg::Fields(Fields { bytes, fields }) => {
            let fields = fields.iter().map(|(first, field)| (*first, arg_line(field))).collect();
            let bytes = bytes.as_ref().map(Vec::len);
            ArgLine::Structure { structure: StructureLine { bytes, fields } }
        }
    }
}
