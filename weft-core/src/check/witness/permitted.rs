//! Inputs that the requirements of a launch permit.

use std::collections::BTreeMap;

use crate::check::requirements;
use crate::explain::witness::{ChosenInput, ChosenValue};
use crate::flow::Program;
use crate::launch::requires::{Axis, Interval, LaunchVariable, bounds};
use crate::launch::{Dim3, Launch};
use crate::ptx::Function;

/// The most values above the wanted one that are tried.
const ABOVE: i128 = 256;
/// The value that is wanted of a variable that the search does not choose otherwise.
const WANTED: i128 = 1;

/// A kernel and the launch whose requirements, with positions for names, an input has to fulfil.
#[derive(Clone, Copy)]
pub(super) struct Permission<'a> {
    pub(super) program: &'a Program,
    pub(super) kernel: &'a Function,
    pub(super) launch: &'a Launch,
}

impl Permission<'_> {
    /// Whether all requirements are true of the launch with this input. A requirement about something that neither states
    /// is not known to be.
    pub(super) fn permits(self, input: &ChosenInput) -> bool {
        if self.launch.requires.is_empty() {
            return true;
        }
        let concrete = input.launch(self.program, self.launch);
        let domain = requirements::domains(self.program, self.kernel, &concrete);
        let known = |variable: &LaunchVariable| domain(variable).known();
        self.launch.requires.iter().all(|requirement| requirement.holds(&known) == Some(true))
    }

    /// Returns an input that is permitted, with values at or near those of `wanted`; `None` if the search finds none.
    pub(super) fn nearest(self, wanted: &ChosenInput) -> Option<ChosenInput> {
        let requires = &self.launch.requires;
        let domain = requirements::domains(self.program, self.kernel, self.launch);
        let mut fixed: BTreeMap<LaunchVariable, i128> = BTreeMap::new();
        for variable in requires.iter().flat_map(|requirement| requirement.variables()) {
            let known = fixed.clone();
            let of = |each: &LaunchVariable| {
                known.get(each).map_or_else(|| domain(each), |value| Interval::point(*value))
            };
            let range = bounds(requires, &of).ok()?.of(variable)?;
            let own = value(wanted, variable).unwrap_or(WANTED).clamp(range.low, range.high);
            let above = (own..=range.high.min(own.saturating_add(ABOVE))).chain([range.low]);
            let is_left = |value: &i128| {
                let with = |each: &LaunchVariable| {
                    if each == variable { Interval::point(*value) } else { of(each) }
                };
                bounds(requires, &with).is_ok()
            };
            fixed.insert(variable.clone(), above.chain([range.high]).find(is_left)?);
        }
        let nearest = self.with(wanted, &fixed);
        self.permits(&nearest).then_some(nearest)
    }

    /// Returns an input with these values; those that the launch states are left out.
    fn with(self, input: &ChosenInput, fixed: &BTreeMap<LaunchVariable, i128>) -> ChosenInput {
        let mut input = input.clone();
        let size = |own: Option<Dim3>, of: fn(Axis) -> LaunchVariable| {
            own.map(|own| {
                let extent = |axis: Axis| {
                    let fixed = fixed.get(&of(axis)).and_then(|value| u32::try_from(*value).ok());
                    fixed.unwrap_or(axis.of(own))
                };
                Dim3 { x: extent(Axis::X), y: extent(Axis::Y), z: extent(Axis::Z) }
            })
        };
        input.block = size(input.block, LaunchVariable::Block);
        input.grid = size(input.grid, LaunchVariable::Grid);
        for (variable, value) in fixed {
            if let LaunchVariable::Argument(at) = variable
                && !self.launch.args.contains_key(at)
            {
                input.values.insert(*at, ChosenValue::Integer(*value));
            }
        }
        input
    }
}

/// Returns the value that an input has for a variable.
fn value(input: &ChosenInput, variable: &LaunchVariable) -> Option<i128> {
    match variable {
        LaunchVariable::Argument(at) => match input.values.get(at)? {
            ChosenValue::Integer(value) => Some(*value),
            ChosenValue::Float(_) | ChosenValue::Contents(..) => None,
        },
        LaunchVariable::Block(axis) => Some(axis.of(input.block?).into()),
        LaunchVariable::Grid(axis) => Some(axis.of(input.grid?).into()),
        LaunchVariable::Named(_) => None,
    }
}
