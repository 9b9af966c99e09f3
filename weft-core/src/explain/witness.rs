//! The finding of a witness search: a race, or a defective barrier, for an input that the search has chosen, and the part
//! of weft.toml that states this input.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::names::param_of;
use super::setting::{ElementType, argument};
use crate::finding::{Code, Finding};
use crate::flow::Program;
use crate::launch::{Arg, Buffer, Dim3, Dimensions, Fields, Launch};

/// A value that the search has chosen for an input.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ChosenValue {
    /// A whole number.
    Integer(i128),
    /// A floating-point number.
    Float(f64),
    /// The contents of a buffer.
    Contents(ElementType, Vec<u8>),
}

impl ChosenValue {
    fn arg(&self) -> Arg {
        match self {
            Self::Integer(value) => Arg::Integer(*value),
            Self::Float(value) => Arg::Float(*value),
            Self::Contents(_, bytes) => Arg::Buffer(Buffer { contents: Some(bytes.clone()) }),
        }
    }

    /// Returns the value as weft.toml has it.
    fn text(&self) -> String {
        match self {
            Self::Integer(value) => value.to_string(),
            Self::Float(value) => format!("{value:?}"),
            Self::Contents(element, bytes) => element.list(bytes),
        }
    }
}

/// What the search has chosen of an input; the launch states the rest, or leaves it open.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ChosenInput {
    /// The block, if nobody states one.
    pub(crate) block: Option<Dim3>,
    /// The grid, if the launch states none.
    pub(crate) grid: Option<Dim3>,
    /// Arguments and fields by position; fields are numbered after the last parameter.
    pub(crate) values: BTreeMap<usize, ChosenValue>,
}

impl ChosenInput {
    /// Whether nothing is chosen.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the launch with this input.
    pub(crate) fn launch(&self, program: &Program, launch: &Launch) -> Launch {
        let mut concrete = launch.clone();
        concrete.block = self.block.map(Dimensions::Is).or(launch.block);
        concrete.grid = self.grid.map(Dimensions::Is).or(launch.grid);
        for (at, value) in &self.values {
            let (position, arg) = match program.field(*at) {
                Some(field) => {
                    let first = field.offset - program.params[field.param].offset;
                    let fields = BTreeMap::from([(first, value.arg())]);
                    (field.param, Arg::Fields(Fields { bytes: None, fields }))
                }
                None => (*at, value.arg()),
            };
            let arg = arg.over(concrete.args.get(&position));
            concrete.args.insert(position, arg);
        }
        concrete
    }

    /// Returns the input as a part of a sentence.
    pub(crate) fn words(&self, program: &Program) -> String {
        let dims = [("block", self.block), ("grid", self.grid)];
        let dims = dims.into_iter().filter_map(|(key, dim)| Some(format!("{key} = {}", dim?)));
        let value = |(at, value): (&usize, &ChosenValue)| {
            let name = param_of(program, *at);
            match value {
                ChosenValue::Contents(element, bytes) => {
                    let count = bytes.len() / element.bytes;
                    let kind = if element.are_small(bytes) { "small" } else { "chosen" };
                    format!("{name} has {count} elements with {kind} values")
                }
                _ => format!("{name} = {}", value.text()),
            }
        };
        let mut all: Vec<_> = dims.chain(self.values.iter().map(value)).collect();
        match all.pop() {
            Some(last) if all.is_empty() => last,
            Some(last) => format!("{} and {last}", all.join(", ")),
            None => String::new(),
        }
    }

    /// Returns the table of weft.toml that states the input for a kernel.
    fn table(&self, program: &Program, kernel: &str) -> String {
        let mut table = selector(kernel);
        for (key, dim) in [("block", self.block), ("grid", self.grid)] {
            if let Some(dim) = dim {
                let _ = write!(table, "\n{}", setting(key, dim));
            }
        }
        let mut args: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for (at, value) in &self.values {
            match program.field(*at) {
                Some(field) => {
                    let first = field.offset - program.params[field.param].offset;
                    let fields = args.entry(field.param).or_default();
                    fields.push(format!("{first} = {}", value.text()));
                }
                None => drop(args.insert(*at, vec![value.text()])),
            }
        }
        if !args.is_empty() {
            let one = |(at, texts): (&usize, &Vec<String>)| {
                if program.params[*at].is_scalar {
                    argument(program, *at, &texts.join(""))
                } else {
                    argument(program, *at, &format!("{{ {} }}", texts.join(", ")))
                }
            };
            let args: Vec<_> = args.iter().map(one).collect();
            let _ = write!(table, "\nargs = {{ {} }}", args.join(", "));
        }
        table
    }
}

/// Returns the head of the table of weft.toml for a kernel.
pub(crate) fn selector(kernel: &str) -> String {
    format!("[[kernel]]\nname = '^{}$'", kernel.replace('$', r"\$"))
}

/// Returns the line of weft.toml that states a block or a grid.
pub(crate) fn setting(key: &str, Dim3 { x, y, z }: Dim3) -> String {
    match (y, z) {
        (1, 1) => format!("{key} = {x}"),
        _ => format!("{key} = [{x}, {y}, {z}]"),
    }
}

/// Returns the finding for a defect that occurs with a chosen input. `others`: the number of further defects with this
/// input. `permitted_by`: what in the launch says that the host might pass it, so that it is a defect of the kernel.
pub(crate) fn finding(
    program: &Program,
    kernel: &str,
    input: &ChosenInput,
    defect: &Finding,
    (others, permitted_by): (usize, Option<&str>),
) -> Finding {
    let mut finding = defect.clone();
    if input.is_empty() {
        return finding;
    }
    let code = defect.code;
    finding.message = format!("{}, if {}", defect.message, input.words(program));
    let is_meant_at_times = matches!(code, Code::BenignRace | Code::UnorderedStrong);
    let advice = match &defect.help {
        // The code to allow would be that of this finding.
        Some(_) if is_meant_at_times && permitted_by.is_none() => {
            format!(
                "; if that is intended, allow `{}` in weft.toml with a reason",
                Code::RaceForInput
            )
        }
        Some(help) => format!(": {help}"),
        None => String::new(),
    };
    let article = if code.name().starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    let what = match permitted_by {
        Some(by) => format!("the launch permits this input, by {by}"),
        None => format!("with this input it is {article} `{code}`"),
    };
    finding.notes.push(what + &advice);
    if others > 0 {
        finding.notes.push(format!("number of further defects with this input: {others}"));
    }
    let table = input.table(program, kernel);
    finding.help = Some(format!("this in weft.toml reproduces it:\n{table}"));
    if permitted_by.is_none() {
        let way_out = "if the host never passes such an input, state in weft.toml what it passes: `requires`, `args` or a launch; \
                       if it might, `inputs = \"any\"`, with `block` and `grid`, makes this a defect";
        finding.notes.push(way_out.to_owned());
        finding.code = Code::RaceForInput;
    }
    finding
}
