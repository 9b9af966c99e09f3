//! What a kernel's PTX tells about its launches, as lines of weft.toml.

use weft_core::finding::Report;
use weft_core::ptx::{Function, Module, Space, Variable};
use weft_core::report::escape;
use weft_harness::signature::{DefinitionShape, Parameter};

use crate::body;
use crate::unlaunched::clean_settings_of;

/// The most threads of a block that is proposed where the kernel states no bound.
const THREADS: u32 = 256;

/// A kernel with what its source says of its parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernel<'k> {
    /// The module that has it.
    pub(super) module: &'k Module,
    /// The kernel.
    pub(super) function: &'k Function,
    /// Its parameters in the source, if they are certain.
    pub(super) source: Option<&'k [Parameter]>,
}

impl Kernel<'_> {
    /// Returns the lines of a table that state a launch; sizes are guesses, in comments, since a guess decides nothing.
    /// `report`: that of the kernel without a launch.
    pub(super) fn lines(&self, report: &Report) -> Vec<String> {
        let [block, requires] = clean_settings_of(report);
        let mut lines = vec![self.block(block), self.grid()];
        lines.extend(
            requires
                .map(|line| format!("# {line}  # if the host keeps to that, the kernel is clean")),
        );
        lines.extend(self.shared());
        lines.extend(self.arguments());
        lines
    }

    /// Returns the parameters as they are declared in the source, or else in the PTX.
    pub(super) fn declarations(&self) -> String {
        let all: Vec<String> = match self.source {
            Some(source) => source.iter().map(|own| own.declaration.clone()).collect(),
            None => self.function.params.iter().map(ptx_type).collect(),
        };
        escape(&all.join(", ")).into_owned()
    }

    /// Returns the text of the kernel. Functions that it calls are not looked at.
    fn text(&self) -> &str {
        body::span(self.function).map_or("", |span| self.module.name(span))
    }

    /// Returns the last dimension, from 0, of which the kernel reads one of these registers.
    fn dimension(&self, registers: [&str; 2]) -> usize {
        let text = self.text();
        let reads =
            |axis: &str| registers.iter().any(|own| text.contains(&format!("{own}.{axis}")));
        ["x", "y", "z"].into_iter().rposition(reads).unwrap_or(0)
    }

    /// `clean`: a line that states a block with which the kernel is clean.
    fn block(&self, clean: Option<&str>) -> String {
        if let Some(size) = self.function.reqntid {
            return format!("# block = {size:?}  # the kernel states it itself (.reqntid)");
        }
        let dimension = self.dimension(["%tid", "%ntid"]);
        let axes =
            ["", "; the kernel reads threadIdx.y", "; the kernel reads threadIdx.z"][dimension];
        let bound = self.function.maxntid.map(|size| size.into_iter().fold(1, u32::saturating_mul));
        if let Some(line) = clean {
            return format!("# {line}  # a guess, with which the kernel is clean");
        }
        let most = bound.unwrap_or(THREADS).clamp(1, 1024);
        let block = match dimension {
            0 => most.to_string(),
            1 => {
                let x = most.min(32);
                format!("[{x}, {}]", most / x)
            }
            _ => {
                let x = most.min(8);
                let y = (most / x).min(8);
                format!("[{x}, {y}, {}]", (most / x / y).min(64))
            }
        };
        let bound =
            bound.map(|most| format!("; at most {most} threads (.maxntid)")).unwrap_or_default();
        format!("# block = {block}  # a guess{axes}{bound}")
    }

    fn grid(&self) -> String {
        let dimension = self.dimension(["%ctaid", "%nctaid"]);
        let grid = ["4", "[4, 4]", "[2, 2, 2]"][dimension];
        let axes =
            ["", "; the kernel reads blockIdx.y", "; the kernel reads blockIdx.z"][dimension];
        if dimension == 0 && !self.text().contains("%ctaid") {
            return "# grid = 1  # a guess; the kernel does not read blockIdx".to_owned();
        }
        format!("# grid = {grid}  # a guess{axes}")
    }

    fn shared(&self) -> Option<String> {
        let text = self.text();
        let is_used = |own: &&Variable| {
            own.space == Space::Shared && own.is_extern && text.contains(self.module.name(own.name))
        };
        self.module.variables.iter().find(is_used)?;
        Some("# shared = 4096  # bytes of dynamic shared memory; without it, as many as the accesses need".to_owned())
    }

    /// Returns a proposal for the arguments that are no pointers: those need none.
    pub(super) fn arguments(&self) -> Option<String> {
        let (mut given, mut types) = (Vec::new(), Vec::new());
        for (at, param) in self.function.params.iter().enumerate() {
            let shape = self.source.map_or_else(|| shape(param), |own| own[at].shape);
            let key = self.source.map_or_else(|| at.to_string(), |own| key(&own[at].name));
            let value = match shape {
                DefinitionShape::Integer(_) => "1024",
                DefinitionShape::Float(_) => "1.0",
                DefinitionShape::Other if param.is_array => {
                    given.push(format!("{key} = {{ 0 = 1024, 8 = \"buffer\" }}"));
                    let size = param.size();
                    types.push(format!(
                        "{key} is a structure of {size} bytes, its fields by their first bytes"
                    ));
                    continue;
                }
                DefinitionShape::Pointer | DefinitionShape::Other => continue,
            };
            given.push(format!("{key} = {value}"));
            types.push(format!("{key} is {}", ptx_type(param)));
        }
        let (given, types) = (given.join(", "), types.join(", "));
        let line = format!("# args = {{ {given} }}  # {types}; pointers need not be given");
        (!given.is_empty()).then_some(line)
    }
}

/// Returns a parameter's type as the PTX has it.
fn ptx_type(param: &Variable) -> String {
    if param.is_array {
        return format!("{} bytes", param.size());
    }
    let declared = format!("{:?}", param.ty).to_lowercase();
    let pointer = if param.pointee.is_some() { " .ptr" } else { "" };
    format!(".{declared}{pointer}")
}

/// Returns what is known of a parameter without its source. An integer of 64 bits can be a pointer.
fn shape(param: &Variable) -> DefinitionShape {
    match param.ty {
        _ if param.is_array || param.vector != 1 => DefinitionShape::Other,
        ty if ty.is_float() => DefinitionShape::Float(ty.bytes()),
        ty if ty.bytes() < 8 => DefinitionShape::Integer(&[4]),
        _ => DefinitionShape::Pointer,
    }
}

/// Returns a name as a key of TOML.
pub(super) fn key(name: &str) -> String {
    let is_bare = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_bare { name.to_owned() } else { format!("'{name}'") }
}
