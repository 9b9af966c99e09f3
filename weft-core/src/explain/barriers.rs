//! Findings about barriers: deadlock, misuse, divergence, and reuse that is too early.

use std::collections::{BTreeMap, BTreeSet};

use super::defects::defect;
use super::mbarriers;
use super::names::Names;
use super::tensor_memory;
use crate::emulate::{
    BarrierExit, BarrierId, BarrierNeed, Cta, DivergedThreads, Divergence, End, LaneMask, Misuse,
    Stuck, StuckAt, WARP, WarpId, WarpSet,
};
use crate::finding::{Code, Finding, Role, Site};
use crate::flow::Pc;
use crate::order::{PhaseIssue, Recycling};

/// Whether a run ended in a defect.
pub(crate) const fn is_defect(end: &End) -> bool {
    !matches!(end, End::Finished | End::Undecided(_))
}

/// Returns the findings about barriers whose generations, and mbarrier objects whose phases, depend on the schedule.
pub(crate) fn unsettled(
    names: &Names<'_>,
    cta: Cta,
    recycled: &[Recycling],
    phases: &[PhaseIssue],
) -> Vec<Finding> {
    let recycled = recycled.iter().map(|found| recycling(names, cta, found));
    recycled.chain(phases.iter().map(|found| mbarriers::phase(names, cta, found))).collect()
}

/// Returns the finding about how a run ended; `None` if it finished or was not decided.
pub(crate) fn end(names: &Names<'_>, cta: Cta, end: &End) -> Option<Finding> {
    Some(match end {
        End::Finished | End::Undecided(_) => return None,
        End::Deadlock(stuck) => deadlock(names, cta, stuck),
        End::Misuse { misuse, warp, lanes, pc } => count(names, cta, misuse, *warp, *lanes, *pc),
        End::MbarrierMisuse { misuse, object, warp, lanes, pc } => {
            mbarriers::misuse(names, cta, (*misuse, *object), (*warp, *lanes, *pc))
        }
        End::TensorMisuse { misuse, warp, lanes, pc } => {
            tensor_memory::misuse(names, cta, *misuse, (*warp, *lanes, *pc))
        }
        End::Diverged { divergence, sides } => diverged(names, cta, *divergence, sides),
        End::Mask { warp, lanes, pc } => mask(names, cta, *warp, *lanes, *pc),
    })
}

/// Returns what a generation of a barrier needs.
pub(crate) fn need(barrier: BarrierId, need: BarrierNeed) -> String {
    match need.expected {
        Some(expected) => {
            format!("barrier {barrier} expects {expected} threads, {} have come", need.arrived)
        }
        None => format!(
            "barrier {barrier} expects all threads that have not ended, {} have come",
            need.arrived
        ),
    }
}

/// Returns what threads lack that wait in vain.
fn waits_for(names: &Names<'_>, own: &Stuck) -> String {
    match own.at {
        StuckAt::Barrier(barrier, needed) => need(barrier, needed),
        StuckAt::Phase(object, phase, needed) => mbarriers::need(names, object, phase, needed),
        StuckAt::Registers(need) => {
            format!("asks for {} more registers for its warp, {} are free", need.asked, need.free)
        }
        StuckAt::Columns(need) => {
            format!("asks for {} columns of tensor memory, {} are free", need.asked, need.free)
        }
        StuckAt::Warp if is_barrier(names, own.pc) => {
            "waits for the other lanes of its warp".to_owned()
        }
        StuckAt::Warp => "waits for lanes of its mask".to_owned(),
    }
}

fn deadlock(names: &Names<'_>, cta: Cta, stuck: &[Stuck]) -> Finding {
    // If all waiting lanes wait at warp-level instructions, lanes of their masks never arrive.
    let is_mask = stuck.iter().all(|group| group.at == StuckAt::Warp);
    let mut sites: Vec<Site> = Vec::new();
    let mut notes = Vec::new();
    for own in stuck {
        let thread = names.first_thread(cta.index, own.warp, own.lanes);
        let label = waits_for(names, own);
        let site = names.site(Role::Waits, own.pc, vec![thread], label);
        match sites.iter_mut().find(|known| known.span == site.span) {
            Some(known) => known.threads.push(thread),
            None => sites.push(site),
        }
    }
    if let Some(cycle) = cycle(stuck) {
        let names: Vec<_> = cycle.iter().map(|barrier| format!("barrier {barrier}")).collect();
        notes.push(format!("each waits for threads that wait at the next: {}", names.join(" -> ")));
    }
    let waiting = stuck.iter().map(|group| group.warp).collect::<WarpSet>().count();
    let all = names.block.count().div_ceil(32) * names.program.clusters.size().count();
    let others = if u64::from(waiting) < all { ", the others have ended" } else { "" };
    notes.push(format!("{waiting} of {all} warps wait{others}"));
    if is_mask {
        let message = "lanes wait for lanes of their mask that never come".to_owned();
        let help = "let every lane that the mask names reach the instruction";
        return defect(Code::WarpMask, message, sites, notes, help);
    }
    let message = "no thread can run and not all have ended".to_owned();
    let waits_for_registers = |group: &Stuck| matches!(group.at, StuckAt::Registers(_));
    let waits_for_columns = |group: &Stuck| matches!(group.at, StuckAt::Columns(_));
    let (code, help) = if stuck.iter().any(waits_for_registers) {
        if let Some(each) = names.program.thread_registers {
            notes.push(format!("the kernel starts with {each} registers a thread"));
        }
        (
            Code::RegisterPool,
            "let the warps ask for no more registers than the others have released before, all threads together",
        )
    } else if stuck.iter().any(waits_for_columns) {
        (
            Code::TensorMemory,
            "let the warps of a cta allocate at most 512 columns at a time, and free them before others ask for more",
        )
    } else {
        (Code::Deadlock, "let all participants that a barrier counts reach it, in one order")
    };
    defect(code, message, sites, notes, help)
}

/// Returns a cycle of barriers of which each waits for threads that wait at the next one, where at least as many threads
/// wait as the barrier lacks. `None` if none is found.
fn cycle(stuck: &[Stuck]) -> Option<Vec<BarrierId>> {
    let mut waiting: BTreeMap<BarrierId, (BarrierNeed, BTreeSet<WarpId>)> = BTreeMap::new();
    for group in stuck {
        if let Some((barrier, need)) = group.barrier() {
            waiting.entry(barrier).or_insert((need, BTreeSet::new())).1.insert(group.warp);
        }
    }
    let next = |here: BarrierId| {
        let (need, _) = &waiting[&here];
        // Without a count a barrier waits for all threads that have not ended, so for all that wait elsewhere.
        let lacking = need.expected.map_or(1, |expected| expected.saturating_sub(need.arrived));
        let mut others = waiting.iter().filter(|(other, _)| **other != here);
        let next = others.find(|(_, (_, warps))| warps.len() * WARP >= lacking as usize);
        next.map(|(other, _)| *other)
    };
    let mut path = vec![*waiting.keys().next()?];
    loop {
        let next = next(*path.last()?)?;
        if let Some(start) = path.iter().position(|barrier| *barrier == next) {
            path.drain(..start);
            path.push(next);
            return Some(path);
        }
        path.push(next);
    }
}

fn count(
    names: &Names<'_>,
    cta: Cta,
    misuse: &Misuse,
    warp: WarpId,
    lanes: LaneMask,
    pc: Pc,
) -> Finding {
    let thread = names.first_thread(cta.index, warp, lanes);
    let arrival = |label: String| names.site(Role::Arrival, pc, vec![thread], label);
    let first = |first: Pc, warp: WarpId, label: String| {
        names.site(Role::First, first, vec![names.first_thread(cta.index, warp, 1)], label)
    };
    let wrong = |message: String, sites: Vec<Site>, help: &str| {
        defect(Code::BarrierCount, message, sites, Vec::new(), help)
    };
    match *misuse {
        Misuse::Name(name) => wrong(
            format!("barrier {name} does not exist"),
            vec![arrival(format!("names barrier {name}"))],
            "barriers are named 0 to 15",
        ),
        Misuse::Count { given, threads } => wrong(
            format!("a barrier cannot expect {given} threads"),
            vec![arrival(format!("expects {given}"))],
            &format!(
                "the count is a positive multiple of 32, at most the {threads} threads of the cta's warps"
            ),
        ),
        Misuse::Mismatch { given, configured, first: at, first_warp } => wrong(
            format!("participants of one barrier expect {configured} and {given} threads"),
            vec![
                arrival(format!("expects {given}")),
                first(at, first_warp, format!("expects {configured}")),
            ],
            "give all participants of a barrier one count",
        ),
        Misuse::Twice => by_turns(
            "a warp arrives at the barrier of the cluster again before it has waited",
            arrival("arrives again".into()),
        ),
        Misuse::NotArrived => by_turns(
            "a warp waits for the barrier of the cluster without having arrived",
            arrival("waits".into()),
        ),
        Misuse::Mixed { first: at, first_warp } => wrong(
            "a reduction shares a barrier with `sync` or `arrive`".to_owned(),
            vec![
                arrival("arrives in another way".into()),
                first(at, first_warp, "came first".into()),
            ],
            "use another barrier for the reduction",
        ),
    }
}

/// Returns the finding that a warp does not arrive at the barrier of the cluster and wait for it by turns.
fn by_turns(message: &str, site: Site) -> Finding {
    let help = "let every arrival (`barrier.cluster.arrive`) be followed by one wait (`barrier.cluster.wait`)";
    defect(Code::BarrierCount, message.to_owned(), vec![site], Vec::new(), help)
}

fn diverged(
    names: &Names<'_>,
    cta: Cta,
    divergence: Divergence,
    sides: &[DivergedThreads],
) -> Finding {
    let mut sites: Vec<Site> = Vec::new();
    for (at, side) in sides.iter().enumerate() {
        let thread = names.first_thread(cta.index, side.warp, side.lanes);
        let is_late = at > 0 && matches!(divergence, Divergence::Bypassed(_));
        let role = if is_late { Role::Here } else { Role::Waits };
        let label = label(names, divergence, side, is_late);
        let site = names.site(role, side.pc, vec![thread], label);
        match sites.iter_mut().find(|known| known.span == site.span) {
            Some(known) => {
                known.label = format!("{} and {}", known.label, site.label);
                known.threads.push(thread);
            }
            None => sites.push(site),
        }
    }
    if let Divergence::Bypassed(Some(branch)) = divergence {
        sites.push(names.site_of(Role::Branch, branch, "lanes diverge here".to_owned()));
    }
    let help = "move the barrier out of the branch or loop";
    let message = divergence_message(divergence, sides).to_owned();
    defect(Code::BarrierDivergence, message, sites, Vec::new(), help)
}

fn divergence_message(divergence: Divergence, sides: &[DivergedThreads]) -> &'static str {
    let is_one = sides.windows(2).all(|pair| pair[0].pc == pair[1].pc);
    let is_apart = sides.windows(2).any(|pair| pair[0].block != pair[1].block);
    match divergence {
        Divergence::Lanes if is_one && is_apart => {
            "lanes of one warp wait at one barrier that they reached by different calls"
        }
        Divergence::Barriers if is_one => "threads of the cta reach one barrier by different calls",
        Divergence::Lanes => "lanes of one warp wait at different barriers",
        Divergence::Barriers => "threads of the cta reach different barriers",
        Divergence::Iterations => "threads reach this barrier in different iterations of a loop",
        Divergence::Ended => "not all threads of the cta reach this barrier: some have ended",
        Divergence::Bypassed(_) => "some lanes of a warp wait at a barrier that others go around",
    }
}

fn label(
    names: &Names<'_>,
    divergence: Divergence,
    side: &DivergedThreads,
    is_late: bool,
) -> String {
    let lanes = format!("{} of warp {}", lanes_of(side.lanes), side.warp);
    let is_barrier = is_barrier(names, side.pc);
    match divergence {
        Divergence::Iterations => {
            let iterations: Vec<_> = side.iterations.iter().map(u32::to_string).collect();
            format!("iteration {}", iterations.join(" of iteration "))
        }
        // The lanes that bypassed the barrier might wait at the same barrier now; if they wait at another one, the
        // message says so.
        Divergence::Bypassed(_) if is_late && is_barrier => {
            format!("{lanes} that went around it before")
        }
        Divergence::Bypassed(_) if is_late => format!("{lanes} did this without it"),
        Divergence::Lanes | Divergence::Bypassed(_) => lanes,
        Divergence::Barriers | Divergence::Ended => "waits here".to_owned(),
    }
}

/// Whether an instruction is one of a barrier of a cta or of a cluster.
fn is_barrier(names: &Names<'_>, pc: Pc) -> bool {
    names.program.code[pc.index()].effect().is_barrier()
}

fn lanes_of(mask: LaneMask) -> String {
    match mask.count_ones() {
        1 => "1 lane".to_owned(),
        count => format!("{count} lanes"),
    }
}

/// Returns the finding that a warp came to an aligned barrier after some of its lanes had ended.
pub(crate) fn barrier_exit(names: &Names<'_>, cta: Cta, exit: &BarrierExit) -> Finding {
    let BarrierExit { warp, ended, pc } = *exit;
    let thread = names.first_thread(cta.index, warp, ended);
    let label = format!("waits without {} of warp {warp}", lanes_of(ended));
    let message = "lanes of a warp have ended before this aligned barrier".to_owned();
    ended_before(message, vec![names.site(Role::Waits, pc, vec![thread], label)])
}

/// Returns the finding that some lanes of a warp might end before the others come to an aligned barrier.
pub(crate) fn possible_barrier_exit(names: &Names<'_>, pc: Pc) -> Finding {
    let message = "lanes of a warp might end before this aligned barrier".to_owned();
    let label = "waits without them".to_owned();
    ended_before(message, vec![names.site(Role::Waits, pc, Vec::new(), label)])
}

/// The warning about a barrier that is the site.
fn ended_before(message: String, sites: Vec<Site>) -> Finding {
    let notes = vec!["PTX does not wait for threads that have exited".to_owned()];
    let help = "let the lanes that have nothing to do reach the barrier, as CUDA asks of `__syncthreads`; \
                with `barrier-divergence = \"cta\"` this is a defect";
    defect(Code::BarrierExit, message, sites, notes, help)
}

fn mask(names: &Names<'_>, cta: Cta, warp: WarpId, lanes: LaneMask, pc: Pc) -> Finding {
    let message = "a lane executes a warp instruction whose mask does not hold it".to_owned();
    let thread = names.first_thread(cta.index, warp, lanes);
    let sites = vec![names.site(Role::Here, pc, vec![thread], "is not in its mask".into())];
    defect(
        Code::WarpMask,
        message,
        sites,
        Vec::new(),
        "compute the mask before the branch, from all lanes that take it",
    )
}

fn recycling(names: &Names<'_>, cta: Cta, found: &Recycling) -> Finding {
    let Recycling { barrier, previous, previous_warp, arrival, arrival_warp } = *found;
    let message =
        format!("barrier {barrier} is used again before its last use is known to be complete");
    let site = |role, pc, warp, label: &str| {
        names.site(role, pc, vec![names.first_thread(cta.index, warp, 1)], label.to_owned())
    };
    let sites = vec![
        site(Role::Arrival, arrival, arrival_warp, "takes part in the next generation"),
        site(
            Role::Previous,
            previous,
            previous_warp,
            "takes part in the generation before; nothing orders the two",
        ),
    ];
    let notes = vec![
        "under another schedule the arrival counts for the other generation".to_owned(),
        "races were not examined: their absence can only be proved once barriers are safely recycled".to_owned(),
    ];
    let help = "let the warp wait for the generation before, or use a second barrier";
    defect(Code::BarrierRecycling, message, sites, notes, help)
}
