//! Findings about mbarrier objects: wrong use, and phases that depend on the schedule.

use super::defects::defect;
use super::names::Names;
use crate::emulate::{Cta, LaneMask, MbarrierId, MbarrierMisuse, MbarrierNeed, WarpId};
use crate::finding::{Code, Finding, Role};
use crate::flow::Pc;
use crate::order::{PhaseDoubt, PhaseIssue};
use crate::ptx::Space;

fn name(names: &Names<'_>, object: MbarrierId) -> String {
    names.address(Space::Shared, object.cta.first() + object.address)
}

/// Returns what a phase of an object needs that threads wait for.
pub(super) fn need(
    names: &Names<'_>,
    object: MbarrierId,
    phase: u64,
    need: MbarrierNeed,
) -> String {
    let name = name(names, object);
    let lacks = match (need.arrivals, need.bytes) {
        (0, bytes) if bytes < 0 => format!("{} bytes too many were copied", -bytes),
        (0, bytes) => format!("lacks {bytes} bytes"),
        (arrivals, 0) => format!("lacks {arrivals} arrivals"),
        (arrivals, bytes) => format!("lacks {arrivals} arrivals and {bytes} bytes"),
    };
    format!("phase {phase} of the mbarrier at {name} {lacks}")
}

/// Returns the finding that an object was used wrongly.
pub(super) fn misuse(
    names: &Names<'_>,
    cta: Cta,
    (misuse, object): (MbarrierMisuse, MbarrierId),
    (warp, lanes, pc): (WarpId, LaneMask, Pc),
) -> Finding {
    let (name, what) = (name(names, object), names.mnemonic(names.program.code[pc.index()].place));
    let (message, help) = match misuse {
        MbarrierMisuse::Count(count) => (
            format!("the mbarrier at {name} cannot count {count} arrivals"),
            "counts of arrivals are 1 to 1048575",
        ),
        MbarrierMisuse::Live => (
            format!("the mbarrier at {name} is initialized although it is in use"),
            "let one thread initialize it once, or end its use with `mbarrier.inval` before",
        ),
        MbarrierMisuse::Dead => (
            format!("{what} is executed on {name}, where no mbarrier is initialized"),
            "let a thread initialize it, and a barrier order that before every use",
        ),
        MbarrierMisuse::Overrun(pending) => (
            format!(
                "more threads arrive at the mbarrier at {name} than its phase expects: it expects {pending} more"
            ),
            "initialize it with the number of arrivals of a phase, or let threads wait for the phase before they arrive again",
        ),
        MbarrierMisuse::Bytes(bytes) => (
            format!("the mbarrier at {name} cannot wait for {bytes} bytes"),
            "an mbarrier can wait for 1048575 bytes: expect fewer in a phase, and as many as are copied",
        ),
        MbarrierMisuse::Completes => (
            format!("an arrival with `.noComplete` completes the phase of the mbarrier at {name}"),
            "leave out `.noComplete`, or initialize the object with a larger count",
        ),
        MbarrierMisuse::Stale => (
            format!(
                "a wait at the mbarrier at {name} is for a phase that is long over, or never was"
            ),
            "wait with the state that an arrival of the current phase returned, or of the phase before",
        ),
    };
    let thread = names.first_thread(cta.index, warp, lanes);
    let sites = vec![names.site(Role::Here, pc, vec![thread], "here".to_owned())];
    defect(Code::MbarrierMisuse, message, sites, Vec::new(), help)
}

/// Returns the message, the labels of the two sites and the help about what might happen at an object.
fn words(doubt: PhaseDoubt, name: &str) -> (String, &'static str, &'static str, &'static str) {
    match doubt {
        PhaseDoubt::Arrival => (
            format!(
                "what a thread counts at the mbarrier at {name} might count in the phase before"
            ),
            "counts in a phase",
            "counts in the phase before; nothing orders the two",
            "let the thread wait for the phase before it arrives in the next one, or for threads that have",
        ),
        PhaseDoubt::LateWait => (
            format!(
                "a wait at the mbarrier at {name} might miss its phase: the next one might be complete before"
            ),
            "arrives in the next phase",
            "waits for a phase; nothing orders it before an arrival in the next one",
            "let every thread that waits for a phase arrive in the next one, or order its wait before such an arrival",
        ),
        PhaseDoubt::EarlyWait => (
            format!(
                "a wait at the mbarrier at {name} might see the phase two before: parity does not tell the two apart"
            ),
            "waits for a phase",
            "counts in the phase before; nothing orders the two",
            "let the thread wait for every phase, or for threads that have",
        ),
        PhaseDoubt::Last => (
            format!(
                "an arrival with `.noComplete` might complete the phase of the mbarrier at {name}"
            ),
            "arrives in the phase",
            "arrives with `.noComplete`; nothing orders it before another arrival in the phase",
            "leave out `.noComplete`",
        ),
        PhaseDoubt::Unseen => (
            format!(
                "a thread arrives at the mbarrier at {name} although no wait saw the phase before complete"
            ),
            "arrives in the next phase",
            "counts in the phase before",
            "PTX asks for a wait that sees a phase complete before a thread arrives in the next one: let a thread wait",
        ),
        PhaseDoubt::Join => late_copies(name),
        PhaseDoubt::Bytes => (
            format!(
                "a phase of the mbarrier at {name} might be complete before it expects these bytes"
            ),
            "arrives in the phase",
            "expects bytes; nothing orders it before an arrival in the phase",
            "expect the bytes with the arrival (`mbarrier.arrive.expect_tx`), or before it in the same thread",
        ),
    }
}

/// As `words`, about a phase that might be complete before it waits for copies.
fn late_copies(name: &str) -> (String, &'static str, &'static str, &'static str) {
    (
        format!(
            "a phase of the mbarrier at {name} might be complete before it waits for these asynchronous copies"
        ),
        "arrives in the phase",
        "makes the phase wait for the copies of its thread; nothing orders it before an arrival in the phase",
        "let the thread arrive itself after this, or count the arrival of the copies with `.noinc`",
    )
}

/// Returns the finding that schedules do not agree on a phase.
pub(super) fn phase(names: &Names<'_>, cta: Cta, issue: &PhaseIssue) -> Finding {
    let name = name(names, issue.object);
    let (message, here, before, help) = words(issue.doubt, &name);
    let site = |role, (pc, warp, lane): (Pc, WarpId, u8), label: &str| {
        let thread = names.thread(cta.index, warp, usize::from(lane));
        names.site(role, pc, vec![thread], label.to_owned())
    };
    let sites =
        vec![site(Role::Arrival, issue.here, here), site(Role::Previous, issue.before, before)];
    let notes = vec![
        "races were not examined: their absence can only be proved once all schedules agree on phases"
            .to_owned(),
    ];
    defect(Code::MbarrierPhase, message, sites, notes, help)
}
