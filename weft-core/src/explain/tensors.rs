//! The names of tensor maps in findings, and what is not known of them.

use super::names::{Names, param_of};
use super::setting;
use crate::finding::{Check, Code, Finding, Role};
use crate::flow::{Param, PlaceId, argument_of, offset_in_buffer, space_of};
use crate::launch::TensorBox;
use crate::ptx::Space;

/// The value that a help proposes for a tensor map.
const BOX: &str = "{ tensor = { box-bytes = 4096 } }";

/// Where a tensor map lies: in a parameter, from a byte on, or at the place that a parameter points to.
enum MapPlace<'p> {
    In(usize, &'p Param, u64),
    Behind(usize),
}

/// Returns where a tensor map lies, if the launch can state it there.
fn place<'p>(names: &Names<'p>, map: u64) -> Option<MapPlace<'p>> {
    let program = names.program;
    let (space, offset) = space_of(map);
    if space == Space::Param {
        let mut all = program.params.iter().enumerate();
        let holds = |own: &Param| (own.offset..own.offset + own.size).contains(&offset);
        let (at, param) = all.find(|(_, own)| holds(own))?;
        return Some(MapPlace::In(at, param, offset - param.offset));
    }
    let at = argument_of(map).filter(|at| *at < program.params.len())?;
    (space == Space::Global && map == program.pointer(at)).then_some(MapPlace::Behind(at))
}

/// Returns the name of a tensor map: where it lies.
pub(crate) fn name(names: &Names<'_>, map: u64) -> String {
    match place(names, map) {
        Some(MapPlace::In(at, param, 0)) if param.size == TensorBox::MAP => {
            format!("the tensor map in {}", param_of(names.program, at))
        }
        Some(MapPlace::In(at, _, first)) => {
            format!("the tensor map at byte {first} of {}", param_of(names.program, at))
        }
        Some(MapPlace::Behind(at)) => {
            format!("the tensor map behind {}", param_of(names.program, at))
        }
        None => match (space_of(map), argument_of(map)) {
            ((Space::Global, _), Some(at)) if at < names.program.params.len() => {
                let offset = offset_in_buffer(at, map);
                format!("the tensor map {offset} bytes behind {}", param_of(names.program, at))
            }
            ((space, offset), _) => format!("the tensor map at {}", names.address(space, offset)),
        },
    }
}

/// Returns the finding that a copy moves a box whose bytes are not known.
pub(super) fn unknown_box(names: &Names<'_>, map: u64, at: PlaceId) -> Finding {
    let message = format!(
        "how many bytes this copies is not known: the box of {}, which the launch does not state, does not follow \
         from what the phases of mbarriers expect",
        name(names, map)
    );
    let line = match place(names, map) {
        Some(MapPlace::In(at, param, 0)) if param.size == TensorBox::MAP => {
            Some(setting::line(names.program, at, BOX))
        }
        Some(MapPlace::In(at, _, first)) => {
            Some(setting::line(names.program, at, &format!("{{ {first} = {BOX} }}")))
        }
        Some(MapPlace::Behind(at)) => Some(setting::line(names.program, at, BOX)),
        None => None,
    };
    let help = line.map(|line| format!("give the bytes of the box in weft.toml: `{line}`"));
    let site = names.site_of(Role::Here, at, "copies a box".into());
    let (code, sites) = (Code::DependsOnInput, vec![site]);
    Finding { code, check: None, message, sites, notes: Vec::new(), help, pairs: None }
}

/// Returns the finding that copies use a tensor in two ways of which one changes it.
pub(crate) fn mixed(names: &Names<'_>, map: u64, [at, other]: [PlaceId; 2]) -> Finding {
    let message = format!(
        "copies read and write the tensor of {}: which of its elements each accesses is not followed",
        name(names, map)
    );
    let site = names.site_of(Role::Here, at, "changes the tensor".into());
    let note = format!("the instruction in line {} accesses it too", names.line_of(other));
    let (code, check, sites) = (Code::Unsupported, Some(Check::Global), vec![site]);
    Finding { code, check, message, sites, notes: vec![note], help: None, pairs: None }
}
