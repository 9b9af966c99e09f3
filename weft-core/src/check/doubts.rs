//! Open findings: what could not be decided, where it comes from, and what would settle it.

use super::detector::MAX_FAULTS;
use super::names::Names;
use crate::emulate::{
    Doubt, DoubtKind, MAX_INSTRUCTIONS, MAX_REGISTERS, MAX_WARP_INSTRUCTIONS, OpenAccess, Origin,
};
use crate::finding::{Check, Code, Finding, Role, Site};
use crate::race::MAX_PAIRS;

fn open(
    code: Code,
    check: Option<Check>,
    message: String,
    site: Site,
    help: Option<String>,
) -> Finding {
    Finding { code, check, message, sites: vec![site], notes: Vec::new(), help, pairs: None }
}

pub(super) fn no_launch(names: &Names<'_>) -> Finding {
    let message = "the block size of this kernel is not stated".to_owned();
    let help = "give `block` in weft.toml, or state it in the kernel with `__launch_bounds__` or `.reqntid`".to_owned();
    open(Code::NoLaunch, None, message, names.kernel_site("which block size?"), Some(help))
}

pub(super) fn vacuous(names: &Names<'_>) -> Finding {
    let message =
        "with this launch no thread reaches an access or a barrier: nothing was proved".to_owned();
    let help = "give arguments with which the kernel does its work".to_owned();
    open(Code::Vacuous, None, message, names.kernel_site("does nothing"), Some(help))
}

pub(super) fn too_much_memory(names: &Names<'_>) -> Finding {
    let message = "more memory is accessed, or raced on, than is followed".to_owned();
    let help = "choose a smaller launch".to_owned();
    open(Code::Limit, None, message, names.kernel_site("accesses too much"), Some(help))
}

pub(super) fn unsettled(names: &Names<'_>) -> Finding {
    let message = "the steps of loops on open trip counts differ in too many ways".to_owned();
    let help = "give the arguments that the trip counts depend on".to_owned();
    open(Code::Limit, None, message, names.kernel_site("is not decided"), Some(help))
}

/// Ctas may race that go different ways.
pub(super) fn other_ways(names: &Names<'_>) -> Finding {
    let message =
        "ctas that go different ways at conditions of their own may race on global memory"
            .to_owned();
    let site = names.kernel_site("ctas go different ways");
    open(Code::PossibleRace, Some(Check::Global), message, site, None)
}

/// A race that the explaining pass did not meet again.
pub(super) fn unexplained(names: &Names<'_>) -> Finding {
    let message =
        "accesses race, but there are too many open values, or too much to run again, to name them"
            .to_owned();
    let help = "give the arguments that addresses depend on".to_owned();
    open(Code::Limit, None, message, names.kernel_site("races somewhere"), Some(help))
}

/// Too many accesses are wrong by themselves.
pub(super) fn too_many_faults(names: &Names<'_>) -> Finding {
    let message = format!("{MAX_FAULTS} or more accesses of a cta are out of bounds or misaligned");
    let help = "those that are told are no complete list: correct them first".to_owned();
    open(Code::Limit, None, message, names.kernel_site("accesses what it should not"), Some(help))
}

/// More races than the explaining pass names.
pub(super) fn unlisted(names: &Names<'_>) -> Finding {
    let message = format!(
        "more accesses race than are compared, or more than {MAX_PAIRS} pairs of instructions"
    );
    let help =
        "the races that are named are no complete list: correct them, or choose a smaller launch";
    open(Code::Limit, None, message, names.kernel_site("races elsewhere too"), Some(help.into()))
}

/// The machine stopped because something was open.
pub(super) fn explain(names: &Names<'_>, doubt: &Doubt) -> Finding {
    // What an instruction that is not modelled decides is told at that instruction.
    if let Some(Origin::Unsupported(pc)) = doubt.origin {
        let why = names.why_open(pc);
        let message = format!(
            "control flow, a barrier or an address depends on this instruction, which {why}"
        );
        let site = names.site(Role::Here, pc, Vec::new(), "its result is needed".into());
        return open(Code::Unsupported, None, message, site, None);
    }
    let (origin, help) = names.origin(doubt.origin);
    let site = |label: &str| names.site_of(Role::Here, doubt.place, label.into());
    match doubt.kind {
        DoubtKind::Branch => {
            let message = format!("which way this goes depends on {origin}");
            open(Code::DependsOnInput, None, message, site("depends on it"), help)
        }
        DoubtKind::Address => {
            let message = format!("where this access goes depends on {origin}");
            open(Code::DependsOnInput, None, message, site("depends on it"), help)
        }
        DoubtKind::Barrier => {
            let message = format!("which threads meet here depends on {origin}");
            open(Code::DependsOnInput, None, message, site("depends on it"), help)
        }
        DoubtKind::Unsupported => {
            let message = "this instruction is not modelled".to_owned();
            open(Code::Unsupported, None, message, site("some thread reaches it"), None)
        }
        DoubtKind::Registers => {
            let message = format!("the warps of a cta have more than {MAX_REGISTERS} registers");
            let help = "choose a smaller block".to_owned();
            open(Code::Limit, None, message, site("the kernel starts here"), Some(help))
        }
        DoubtKind::Fuel => {
            let message = format!(
                "more than {MAX_WARP_INSTRUCTIONS} instructions of one cta, or {MAX_INSTRUCTIONS} in all ctas and \
                 passes, counted once a warp"
            );
            let help = "choose a smaller launch or smaller trip counts; a loop that waits for another thread through \
                        memory may never end here";
            open(Code::Limit, None, message, site("still running here"), Some(help.into()))
        }
    }
}

/// An access at an open address that may conflict with another.
pub(super) fn open_access(names: &Names<'_>, access: &OpenAccess) -> Finding {
    let check = Some(if access.is_global { Check::Global } else { Check::Shared });
    if let Some(Origin::Unsupported(pc)) = access.origin {
        let message =
            format!("an address depends on this instruction, which {}", names.why_open(pc));
        let site = names.site(Role::Here, pc, Vec::new(), "its result is needed".into());
        return open(Code::Unsupported, check, message, site, None);
    }
    let (origin, help) = names.origin(access.origin);
    let help = help.map(|help| match access.origin {
        Some(Origin::Argument(position)) => {
            format!("{help}, or `{position} = \"buffer\"` if it points to a buffer of its own")
        }
        _ => help,
    });
    let message = format!("where this access goes depends on {origin}; it may race with others");
    let site = names.site(Role::Here, access.pc, Vec::new(), "its address is open".into());
    open(Code::DependsOnInput, check, message, site, help)
}
