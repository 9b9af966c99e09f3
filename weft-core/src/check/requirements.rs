//! Applies the requirements of a launch: resolves their names, rejects those that the kernel and the launch cannot fulfil,
//! and gives what they determine (arguments, block, grid) the values that they leave.
//!
//! Whatever else they say restricts the launches that are meant, but no run of the emulator: its proofs hold for every
//! value of an open argument, and so for those that are meant.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::convert::Infallible;

use crate::explain::setting::shown_name;
use crate::flow::{Param, Program};
use crate::launch::requires::{
    Axis, Contradiction, Interval, LaunchVariable, Requirement, bounds, nearest,
};
use crate::launch::{Arg, Dim3, Dimensions, Launch};
use crate::ptx::Function;

/// Why a kernel cannot be launched as `requires` states.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequirementMisfit {
    /// A name that no parameter has.
    #[error("`{requirement}` is required, but the kernel has no parameter `{name}`; {remedy}")]
    Name {
        /// The requirement.
        requirement: String,
        /// The name.
        name: String,
        /// The nearest right name.
        remedy: String,
    },
    /// A position beyond the kernel's parameters.
    #[error(
        "`{requirement}` is required, but the kernel has {count} parameters, numbered from 0: there is no #{position}"
    )]
    Position {
        /// The requirement.
        requirement: String,
        /// The position.
        position: usize,
        /// The number of parameters.
        count: usize,
    },
    /// A parameter that holds no integer.
    #[error("`{requirement}` is required, but `{name}` is {what}; requirements are about integers")]
    Kind {
        /// The requirement.
        requirement: String,
        /// The parameter's name.
        name: String,
        /// What it holds.
        what: &'static str,
    },
    /// A requirement that the launch does not fulfil.
    #[error(
        "`{requirement}` is required, but it is false{values}; correct the launch or the requirement"
    )]
    Refuted {
        /// The requirement.
        requirement: String,
        /// The values for which it is false, as ` for n = 2048`; empty if it is false for all.
        values: String,
    },
    /// A requirement that no value fulfils.
    #[error("`{requirement}` is required, but `{name}` has the values {low} to {high} at most")]
    Never {
        /// The requirement.
        requirement: String,
        /// The variable.
        name: String,
        /// Its least value.
        low: i128,
        /// Its greatest value.
        high: i128,
    },
    /// Requirements that exclude each other.
    #[error("`{first}` and `{second}` are required, but they exclude each other")]
    Both {
        /// The first requirement.
        first: String,
        /// The second one.
        second: String,
    },
    /// A block that is too large.
    #[error("a block with at least {0} threads is required: a cta has 1 to 1024 threads")]
    Threads(i128),
}

/// Returns the launch as its requirements leave it, with names in them replaced by positions: arguments, block and grid
/// that have one value left are given. A block or grid that is required to be something, but not stated, can be any.
///
/// # Errors
/// Requirements that the kernel and the launch cannot fulfil.
pub fn applied<'l>(
    program: &Program,
    kernel: &Function,
    launch: &'l Launch,
) -> Result<Cow<'l, Launch>, RequirementMisfit> {
    if launch.requires.is_empty() {
        return Ok(Cow::Borrowed(launch));
    }
    let resolved = |requirement| resolve(program, launch, requirement);
    let requires: Vec<_> = launch.requires.iter().map(resolved).collect::<Result<_, _>>()?;
    let domain = domains(program, kernel, launch);
    let bounds = bounds(&requires, &domain).map_err(|reason| misfit(program, launch, reason))?;
    let mut args = launch.args.clone();
    for (variable, range) in bounds.all() {
        if let (LaunchVariable::Argument(at), Some(value)) = (variable, range.known()) {
            args.entry(*at).or_insert(Arg::Integer(value));
        }
    }
    let is_read = |variable: &LaunchVariable| match variable {
        LaunchVariable::Block(axis) => program.distinguishes_threads(axis.number()),
        LaunchVariable::Grid(axis) => program.distinguishes_ctas(axis.number()),
        LaunchVariable::Named(_) | LaunchVariable::Argument(_) => true,
    };
    let size = |of: fn(Axis) -> LaunchVariable| {
        let is_named = |axis: Axis| {
            requires.iter().flat_map(Requirement::variables).any(|named| *named == of(axis))
        };
        let extent = |axis| {
            // A dimension that neither the kernel nor a requirement distinguishes has one row.
            if axis != Axis::X && !is_read(&of(axis)) && !is_named(axis) {
                return Some(1);
            }
            u32::try_from(bounds.known(&of(axis))?).ok()
        };
        let (x, y, z) = (extent(Axis::X)?, extent(Axis::Y)?, extent(Axis::Z)?);
        Some(Dimensions::Is(Dim3 { x, y, z }))
    };
    let mentions = |of: fn(Axis) -> LaunchVariable| {
        Axis::ALL.into_iter().any(|axis| bounds.of(&of(axis)).is_some())
    };
    let stated = |stated: Option<Dimensions>, of: fn(Axis) -> LaunchVariable| match stated {
        Some(Dimensions::Is(_)) => stated,
        None if !mentions(of) => None,
        None | Some(Dimensions::Any) => Some(size(of).unwrap_or(Dimensions::Any)),
    };
    Ok(Cow::Owned(Launch {
        block: stated(launch.block, LaunchVariable::Block),
        grid: stated(launch.grid, LaunchVariable::Grid),
        args,
        requires,
        ..launch.clone()
    }))
}

/// Returns the values that each variable can have under a launch, requirements aside.
pub(super) fn domains<'a>(
    program: &'a Program,
    kernel: &Function,
    launch: &'a Launch,
) -> impl Fn(&LaunchVariable) -> Interval + use<'a> {
    let block = launch.block.and_then(Dimensions::known);
    let required = kernel.reqntid.map(|[x, y, z]| Dim3 { x, y, z });
    let sizes = Sizes { block: block.or(required), grid: launch.grid.and_then(Dimensions::known) };
    move |variable| domain(program, launch, sizes, variable)
}

/// Whether every requirement about the grid holds of a launch with this block and one cta. `launch` is an applied one.
pub(super) fn permit_one_cta(program: &Program, launch: &Launch, block: Dim3) -> bool {
    let sizes = Sizes { block: Some(block), grid: Some(Dim3::line(1)) };
    let known = |variable: &LaunchVariable| domain(program, launch, sizes, variable).known();
    let is_of_grid = |requirement: &&Requirement| {
        requirement.variables().iter().any(|each| matches!(each, LaunchVariable::Grid(_)))
    };
    launch.requires.iter().filter(is_of_grid).all(|each| each.holds(&known) == Some(true))
}

/// The sizes that are known.
#[derive(Clone, Copy)]
struct Sizes {
    block: Option<Dim3>,
    grid: Option<Dim3>,
}

impl Sizes {
    fn of(self, variable: &LaunchVariable) -> Option<u32> {
        match variable {
            LaunchVariable::Block(axis) => Some(axis.of(self.block?)),
            LaunchVariable::Grid(axis) => Some(axis.of(self.grid?)),
            LaunchVariable::Named(_) | LaunchVariable::Argument(_) => None,
        }
    }
}

/// Returns the values that a variable can have without requirements.
fn domain(program: &Program, launch: &Launch, sizes: Sizes, variable: &LaunchVariable) -> Interval {
    let LaunchVariable::Argument(at) = variable else {
        let known = sizes.of(variable).map(|extent| Interval::point(i128::from(extent)));
        return known
            .or_else(|| Interval::of_extent(variable))
            .unwrap_or(Interval::of_integer(64, false));
    };
    let param = program.params.get(*at);
    let bits = param.map_or(64, |param| u32::try_from(param.size * 8).unwrap_or(64).min(64));
    let all = Interval::of_integer(bits, param.is_some_and(|param| param.is_signed));
    match launch.args.get(at) {
        // The launch can give the bits of a negative number as an unsigned one, and the other way round.
        Some(Arg::Integer(value)) => {
            let values = all.high - all.low + 1;
            let above = value.rem_euclid(values) - all.low.rem_euclid(values);
            Interval::point(all.low + above.rem_euclid(values))
        }
        _ => all,
    }
}

/// Returns a requirement with names replaced by positions.
fn resolve(
    program: &Program,
    launch: &Launch,
    requirement: &Requirement,
) -> Result<Requirement, RequirementMisfit> {
    let params = &program.params;
    let position = |name: &String| {
        let in_source = || launch.names.iter().map(String::as_str);
        let in_ptx = || params.iter().map(|param| param.name.as_str());
        let at = in_source().position(|own| own == name);
        at.or_else(|| in_ptx().position(|own| own == name)).ok_or_else(|| RequirementMisfit::Name {
            requirement: requirement.to_string(),
            name: name.clone(),
            remedy: nearest(name, in_source().chain(in_ptx())).map_or_else(
                || "it has none".to_owned(),
                |name| format!("the nearest name is `{name}`"),
            ),
        })
    };
    requirement.replaced(&|variable| {
        let at = match variable {
            LaunchVariable::Named(name) => position(name)?,
            LaunchVariable::Argument(at) => *at,
            LaunchVariable::Block(_) | LaunchVariable::Grid(_) => return Ok(variable.clone()),
        };
        let requirement = requirement.to_string();
        let Some(param) = params.get(at) else {
            let count = params.len();
            return Err(RequirementMisfit::Position { requirement, position: at, count });
        };
        match kind(param, launch.args.get(&at)) {
            Some(what) => {
                Err(RequirementMisfit::Kind { requirement, name: name(launch, param, at), what })
            }
            None => Ok(LaunchVariable::Argument(at)),
        }
    })
}

/// Returns what a parameter holds instead of an integer; `None` if it holds one.
fn kind(param: &Param, arg: Option<&Arg>) -> Option<&'static str> {
    let is_buffer = matches!(arg, Some(Arg::Buffer(_) | Arg::Within(_) | Arg::Tensor(_)));
    match param {
        _ if !param.is_scalar => Some("a structure"),
        _ if param.is_float => Some("a floating-point number"),
        _ if param.pointee.is_some() || is_buffer => Some("a pointer"),
        _ if param.size > 8 => Some("wider than 64 bits"),
        _ => None,
    }
}

/// Returns the name of a parameter: in the source if it is known, else in the PTX.
fn name(launch: &Launch, param: &Param, at: usize) -> String {
    launch.names.get(at).unwrap_or(&param.name).clone()
}

/// Returns a requirement with names for positions, as messages show them; those without a name keep their positions.
pub(super) fn named(program: &Program, requirement: &Requirement) -> Requirement {
    let named = requirement.replaced::<Infallible>(&|variable| {
        let name = match variable {
            LaunchVariable::Argument(at) => shown_name(program, *at),
            _ => None,
        };
        // Other names are no names in a requirement.
        let name = name.filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
        Ok(name.map_or(variable.clone(), |name| LaunchVariable::Named(name.to_owned())))
    });
    named.unwrap_or_else(|never| match never {})
}

/// Returns the names of the arguments in a requirement that are signed numbers, as messages show them. The requirement names
/// arguments by position.
pub(super) fn signed(program: &Program, requirement: &Requirement) -> BTreeSet<String> {
    let named = named(program, requirement);
    let is_signed = |variable: &LaunchVariable| {
        let LaunchVariable::Argument(at) = variable else { return false };
        program.params.get(*at).is_some_and(|param| param.is_signed)
    };
    let variables = requirement.variables().into_iter().zip(named.variables());
    let signed = variables.filter(|(variable, _)| is_signed(variable));
    signed.map(|(_, name)| name.to_string()).collect()
}

/// Words a contradiction among the requirements of a launch, which are as the user wrote them.
fn misfit(program: &Program, launch: &Launch, reason: Contradiction) -> RequirementMisfit {
    let text = |at: usize| launch.requires.get(at).map(Requirement::to_string).unwrap_or_default();
    let name = |variable: &LaunchVariable| match variable {
        LaunchVariable::Argument(at) => {
            program.params.get(*at).map(|param| self::name(launch, param, *at))
        }
        _ => None,
    };
    let name = |variable: &LaunchVariable| name(variable).unwrap_or_else(|| variable.to_string());
    match reason {
        Contradiction::Refuted { requirement, values } => {
            let one = |(variable, value): &(_, i128)| format!("{} = {value}", name(variable));
            let all = values.iter().map(one).collect::<Vec<_>>().join(", ");
            let values = if all.is_empty() { all } else { format!(" for {all}") };
            RequirementMisfit::Refuted { requirement: text(requirement), values }
        }
        Contradiction::Never { requirement, variable, range: Interval { low, high } } => {
            let requirement = text(requirement);
            RequirementMisfit::Never { requirement, name: name(&variable), low, high }
        }
        Contradiction::Both { first, second } => {
            RequirementMisfit::Both { first: text(first), second: text(second) }
        }
        Contradiction::Threads(threads) => RequirementMisfit::Threads(threads),
    }
}
