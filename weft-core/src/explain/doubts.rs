//! Open findings: what could not be decided, where it comes from, and what would settle it.

use super::names::Names;
use super::tensors;
use super::witness;
use crate::emulate::{Doubt, DoubtKind, MAX_AGENTS, MAX_REGISTERS, OpenAccess, Origin};
use crate::finding::{Check, Code, Finding, Report, Role, Site};
use crate::flow::{Pc, PlaceId};
use crate::race::MAX_PAIRS;
use crate::symbolic::Gap;

/// How far a check that reached a limit had got.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    /// The number of ctas that were run to their end.
    pub(crate) ended: u64,
    /// The instructions that were run in all passes.
    pub(crate) instructions: u64,
}

impl Progress {
    fn sentence(self, names: &Names<'_>) -> String {
        let Self { ended, instructions } = self;
        let all = names.grid.count();
        format!(
            "{ended} of {all} ctas were run to their end, with {instructions} instructions in all passes"
        )
    }
}

fn open(
    code: Code,
    check: Option<Check>,
    message: String,
    site: Site,
    help: Option<String>,
) -> Finding {
    Finding { code, check, message, sites: vec![site], notes: Vec::new(), help, pairs: None }
}

/// Returns the finding that there is no block size to run the kernel with: it is not stated, or it can be any.
pub(crate) fn no_launch(names: &Names<'_>, is_any: bool) -> Finding {
    let (message, help) = if is_any {
        (
            "the block can have several sizes, and a run needs a known one",
            "give `block` in weft.toml, as a launch for each size that is meant, or a size in each dimension in `requires`",
        )
    } else {
        (
            "the block size of this kernel is not stated",
            "give `block` in weft.toml, or state it in the kernel with `.reqntid`",
        )
    };
    let site = names.kernel_site("which block size?");
    open(Code::NoLaunch, None, message.to_owned(), site, Some(help.to_owned()))
}

/// Returns the finding that a kernel is launched with any grid, and only this many ctas were checked, as a grid of their
/// own: one, or none if `requires` does not clearly permit it.
pub(crate) fn any_grid(names: &Names<'_>, ctas: usize) -> Finding {
    let message = match ctas {
        0 => "the grid can have several sizes, and a run needs a known one",
        _ if names.program.clusters.are_of_several() => {
            "the grid can have any size, but only a grid of one cluster was checked"
        }
        _ => "the grid can have any size, but only a grid of one cta was checked",
    };
    let help = "give `grid` in weft.toml, as a launch for each size that is meant";
    let site = names.kernel_site("which grid?");
    open(Code::NoLaunch, None, message.to_owned(), site, Some(help.to_owned()))
}

/// Says in a finding, that the launch is missing or that a chosen one shows a defect, that the kernel is clean with this
/// line of weft.toml, as another report found.
pub(crate) fn clean_with(finding: &mut Finding, kernel: &str, setting: &str, found: &Report) {
    let scope = match found.proved {
        Some(proved) if found.block.is_some() => proved.beside_block(),
        Some(proved) => proved.sentence(),
        None => format!("grid {}", found.grid_in_words()),
    };
    let what = format!("clean with `{setting}` ({scope})");
    if finding.code == Code::NoLaunch {
        finding.help = Some(format!(
            "{what}: if the host launches that, state it in weft.toml:\n{}\n{setting}",
            witness::selector(kernel)
        ));
    } else {
        finding.notes.push(what);
    }
}

/// Returns where the proof for every input ended.
pub(crate) fn gap(names: &Names<'_>, gap: Gap) -> String {
    let line = |pc: Pc| names.module.position(names.program.place(pc).span).line;
    match gap {
        Gap::Size => "the kernel is too large to be proved for every launch".to_owned(),
        Gap::Unknown(pc) => {
            format!(
                "not proved for every launch: the instruction in line {} is not followed",
                line(pc)
            )
        }
        Gap::Base(pc) => format!(
            "not proved for every launch: the buffer or variable accessed in line {} is not known",
            line(pc)
        ),
        Gap::Divergence(pc) => format!(
            "not proved for every launch: some threads of a cta might come to line {} without the others",
            line(pc)
        ),
        Gap::Pair(a, b) if line(a) == line(b) => {
            format!(
                "not proved for every launch: two threads might access the same bytes in line {}",
                line(a)
            )
        }
        Gap::Pair(a, b) => format!(
            "not proved for every launch: two threads might access the same bytes in lines {} and {}",
            line(a),
            line(b)
        ),
    }
}

pub(crate) fn vacuous(names: &Names<'_>) -> Finding {
    let message =
        "with this launch no thread reaches an access or a barrier: nothing was proved".to_owned();
    let help = "give arguments with which the kernel does its work".to_owned();
    open(Code::Vacuous, None, message, names.kernel_site("does nothing"), Some(help))
}

pub(crate) fn too_much_memory(names: &Names<'_>, progress: Progress) -> Finding {
    let message = "more memory is accessed, or raced on, than is followed".to_owned();
    let site = names.kernel_site("accesses too much");
    let notes = vec![progress.sentence(names)];
    Finding { notes, ..open(Code::Limit, None, message, site, Some(more_memory(names))) }
}

/// Returns the finding that there were too many open values to distinguish them all, which might be why something is
/// open.
pub(crate) fn too_many_values(names: &Names<'_>) -> Finding {
    let message = "there are more open values than can be distinguished".to_owned();
    let site = names.kernel_site("has too many open values");
    let help = format!("give arguments; or {}", more_memory(names));
    open(Code::Limit, None, message, site, Some(help))
}

fn more_memory(names: &Names<'_>) -> String {
    let twice = (names.limit.memory >> 20).max(1) * 2;
    format!("choose a smaller launch, or allow more: `limit = {{ memory = \"{twice} MiB\" }}`")
}

/// Returns the finding that only the first ctas were run, and that they are not clean.
pub(crate) fn first_ctas(names: &Names<'_>, ctas: u64) -> Finding {
    let all = names.grid.count();
    let message = format!("the first {ctas} of {all} ctas are not clean: {OTHER_CTAS}");
    let help = "the list of findings is incomplete: settle these first".to_owned();
    open(Code::Limit, None, message, names.kernel_site("not all ctas were run"), Some(help))
}

pub(crate) fn unsettled(names: &Names<'_>) -> Finding {
    let message = "the steps of loops with open trip counts differ in too many ways".to_owned();
    let help = "give the arguments that the trip counts depend on".to_owned();
    open(Code::Limit, None, message, names.kernel_site("is not decided"), Some(help))
}

/// Returns the finding that ctas in different cases of a split might race with each other.
pub(crate) fn other_cases(names: &Names<'_>) -> Finding {
    let message =
        "ctas that decide a condition of their own differently might race on global memory"
            .to_owned();
    let site = names.kernel_site("ctas decide differently");
    open(Code::PossibleRace, Some(Check::Global), message, site, None)
}

/// Returns the finding that accesses race that the explaining pass did not see again.
pub(crate) fn unexplained(names: &Names<'_>) -> Finding {
    let message =
        "accesses race, but there are too many open values, or too much to run again, to name them"
            .to_owned();
    let help = "give the arguments that addresses depend on".to_owned();
    open(Code::Limit, None, message, names.kernel_site("races somewhere"), Some(help))
}

/// Returns the finding that more accesses are wrong by themselves than are listed.
pub(crate) fn too_many_faults(names: &Names<'_>, most: usize) -> Finding {
    let message = format!("{most} or more accesses of a cta are out of bounds or misaligned");
    let help = "the list of findings is incomplete: correct these first".to_owned();
    open(Code::Limit, None, message, names.kernel_site("accesses what it should not"), Some(help))
}

/// Whether a finding only says that there might be more defects than those that are found, which are certain: that of
/// [`unlisted`] or of [`first_ctas`].
pub(crate) fn says_more_defects(finding: &Finding) -> bool {
    let message = &finding.message;
    finding.code == Code::Limit
        && (message.starts_with(MORE_RACES) || message.ends_with(OTHER_CTAS))
}

/// Whether a finding says that a run reached the limit of instructions.
pub(crate) fn says_too_long(finding: &Finding) -> bool {
    finding.code == Code::Limit && finding.message.contains(INSTRUCTIONS)
}

const INSTRUCTIONS: &str = "instructions of one cta";

const OTHER_CTAS: &str = "the others were not run";

const MORE_RACES: &str = "more accesses race than are compared";

/// Returns the finding that there are more races than the explaining pass lists.
pub(crate) fn unlisted(names: &Names<'_>) -> Finding {
    let message = format!("{MORE_RACES}, or more than {MAX_PAIRS} pairs of instructions");
    let help = "the list of races is incomplete: correct these first, or choose a smaller launch";
    open(Code::Limit, None, message, names.kernel_site("races elsewhere too"), Some(help.into()))
}

/// Returns the finding that the machine stopped because something was open.
pub(crate) fn explain(names: &Names<'_>, doubt: &Doubt, progress: Progress) -> Finding {
    // If the cause is an instruction that is not modelled, the finding points at that instruction.
    if let Some(Origin::Unsupported(pc)) = doubt.origin {
        let what = names.what(pc);
        let message = format!("control flow, a barrier or an address depends on {what}");
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
            let message = format!("the address of this access depends on {origin}");
            open(Code::DependsOnInput, None, message, site("depends on it"), help)
        }
        DoubtKind::Barrier => {
            let message = format!("which threads synchronize here depends on {origin}");
            open(Code::DependsOnInput, None, message, site("depends on it"), help)
        }
        DoubtKind::Target => {
            let what = names.mnemonic(doubt.place);
            let message =
                format!("{what} leads a thread to none of its targets, which is undefined");
            open(Code::Unsupported, None, message, site("leads nowhere"), None)
        }
        DoubtKind::ExchangeMask => {
            let message = "lanes of one mask exchange values at several instructions: whether they meet is not modelled";
            let help = "let all lanes of the mask execute the same instruction".to_owned();
            let label = site("some lanes wait here, others of the mask elsewhere");
            open(Code::Unsupported, None, message.to_owned(), label, Some(help))
        }
        DoubtKind::Box(map) => tensors::unknown_box(names, map, doubt.place),
        DoubtKind::Warpgroup => part_of_warpgroup(names, doubt.place),
        DoubtKind::Warp => part_of_warp(names, doubt.place),
        DoubtKind::RegisterPool => first_served(names, doubt.place),
        DoubtKind::Takeovers => untaken(names, doubt.place),
        DoubtKind::ColumnPool => first_allocated(names, doubt.place),
        DoubtKind::Unsupported => unmodelled(names, doubt.place, "some thread reaches it"),
        DoubtKind::Registers => {
            let message = format!("the warps of a cta have more than {MAX_REGISTERS} registers");
            let help = "choose a smaller block".to_owned();
            open(Code::Limit, None, message, site("the kernel starts here"), Some(help))
        }
        DoubtKind::Agents => too_many_agents(site("still running here")),
        DoubtKind::Fuel => out_of_fuel(names, site("still running here"), progress),
        DoubtKind::Memory => {
            let message = "the contents of more memory are needed than are kept".to_owned();
            let notes = vec![progress.sentence(names)];
            let site = site("still running here");
            Finding { notes, ..open(Code::Limit, None, message, site, Some(more_memory(names))) }
        }
    }
}

/// Returns the finding that a warpgroup does not come to an instruction as a whole.
fn part_of_warpgroup(names: &Names<'_>, place: PlaceId) -> Finding {
    let what = names.mnemonic(place);
    let message =
        format!("threads of a warpgroup come to {what} without the others, which is undefined");
    let help = "let all 128 threads of the warpgroup execute it together".to_owned();
    let site = names.site_of(Role::Here, place, "a part of a warpgroup".into());
    open(Code::Unsupported, None, message, site, Some(help))
}

/// Returns the finding that a warp does not execute an instruction as a whole.
fn part_of_warp(names: &Names<'_>, place: PlaceId) -> Finding {
    let what = names.mnemonic(place);
    let message = format!(
        "threads of a warp come to {what} without the others or with other operands, which is undefined"
    );
    let help =
        "let all 32 threads of the warp execute it together, with the same operands".to_owned();
    let site = names.site_of(Role::Here, place, "a part of a warp".into());
    open(Code::Unsupported, None, message, site, Some(help))
}

/// Returns the finding that it depends on the schedule whether warps are given the registers that they ask for.
fn first_served(names: &Names<'_>, place: PlaceId) -> Finding {
    let message = "whether warps are given the registers that they ask for depends on which of them are given theirs \
                   first, or on whether warps that have ended keep theirs";
    let help =
        "let warps release as many registers as others ask for before these ask, or state fewer";
    let site = names.site_of(Role::Here, place, "asks for registers".into());
    open(Code::Unsupported, None, message.to_owned(), site, Some(help.to_owned()))
}

/// Returns the finding that ctas do not ask for all the work that they could take over.
fn untaken(names: &Names<'_>, place: PlaceId) -> Finding {
    let message = "ctas end before a request to take over the work of others has failed: which ctas run then is not followed";
    let help = "let a cta ask until `clusterlaunchcontrol.query_cancel.is_canceled` is false";
    let site = names.site_of(Role::Here, place, "asks for work".into());
    open(Code::Unsupported, None, message.to_owned(), site, Some(help.to_owned()))
}

/// Returns the finding that it is open which warps are given tensor memory.
fn first_allocated(names: &Names<'_>, place: PlaceId) -> Finding {
    let message =
        "which warps are given the tensor memory that they ask for first depends on the schedule";
    let help = "let one warp allocate the tensor memory of the cta";
    let site = names.site_of(Role::Here, place, "the kernel starts here".into());
    open(Code::Unsupported, None, message.to_owned(), site, Some(help.to_owned()))
}

/// Returns the finding that the limit of asynchronous work that is kept apart was reached.
fn too_many_agents(site: Site) -> Finding {
    let message = format!(
        "the ctas of a cluster have more than {MAX_AGENTS} mbarriers, threads with bulk copies and the like"
    );
    let help = "check a smaller cluster, or one whose mbarriers are fewer".to_owned();
    open(Code::Limit, None, message, site, Some(help))
}

/// Returns the finding that the limit of instructions was reached.
fn out_of_fuel(names: &Names<'_>, site: Site, progress: Progress) -> Finding {
    let (one, all) = (names.limit.of_a_cta(), names.limit.instructions);
    let message = format!(
        "more than {one} {INSTRUCTIONS}, or {all} in all ctas and passes, counted once a warp"
    );
    let twice = all.saturating_mul(2);
    let help = format!(
        "choose a smaller launch or smaller trip counts, or allow more: `limit = {{ instructions = {twice} }}`; \
         a loop that waits for another thread through memory might never end here"
    );
    let notes = vec![progress.sentence(names)];
    Finding { notes, ..open(Code::Limit, None, message, site, Some(help)) }
}

/// Returns the finding that a thread reaches an instruction that is not modelled.
pub(crate) fn unmodelled(names: &Names<'_>, place: PlaceId, label: &str) -> Finding {
    let message = format!("a thread reaches {}", names.what_at(place));
    let site = names.site_of(Role::Here, place, label.into());
    open(Code::Unsupported, None, message, site, None)
}

/// Returns the finding that lanes executed a branch at different times, and might have bypassed an aligned barrier
/// there.
pub(crate) fn possible_bypass(names: &Names<'_>, branch: PlaceId) -> Finding {
    let message = "lanes of one warp execute this branch at different times: some might go around an aligned barrier \
                   that others wait at";
    let help = "let no warp-level instruction hold up a part of the warp before this branch";
    let site = names.site_of(Role::Here, branch, "lanes diverge here".into());
    open(Code::Limit, Some(Check::Barriers), message.to_owned(), site, Some(help.into()))
}

/// Returns the finding that an access at an open address might conflict with another access.
pub(crate) fn open_access(names: &Names<'_>, access: &OpenAccess) -> Finding {
    let check = Some(if access.region.is_global { Check::Global } else { Check::Shared });
    if let Some(Origin::Unsupported(pc)) = access.origin {
        let message = format!("an address depends on {}", names.what(pc));
        let site = names.site(Role::Here, pc, Vec::new(), "its result is needed".into());
        return open(Code::Unsupported, check, message, site, None);
    }
    let (origin, help) = names.origin(access.origin);
    let message =
        format!("the address of this access depends on {origin}; it might race with others");
    let site = names.site(Role::Here, access.pc, Vec::new(), "its address is open".into());
    open(Code::DependsOnInput, check, message, site, help)
}
