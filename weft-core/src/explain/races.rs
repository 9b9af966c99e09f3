//! Findings about races: one for each racing pair of instructions.

use super::access::word;
use super::names::Names;
use super::tensor_memory::{self, is_by_tensor_core, is_of_tensor_memory};
use crate::emulate::Origin;
use crate::finding::{Check, Code, Finding, Role, Site, ThreadPairs};
use crate::flow::Instr;
use crate::ptx::Space;
use crate::ptx::isa::{Effect, Opcode};
use crate::race::{Conflict, Pair, RacingAccess};
use crate::symbolic::has_lock;

/// The note on a race of two stores whose values are not known within the limits of the check.
pub(crate) const UNVALUED: &str = "whether both store the same value, so that the race is benign, was not found out within the limits of the check";

const GROUPED: &str = "`bar.warp.sync` might order the two, but its mask is that of a group of which it is not known who is in it: give it the \
     mask of all lanes that have to be ordered, or set `warp-synchronous = true` if the hardware runs the lanes of a warp in lock step";

const PATTERNS: &str = "fences, acquires and releases of this kernel might order the two; those are followed of a cta that is the last one counted, of \
     threads that wait for a count or for a value which one store leaves, and of locks that each thread takes by `atomicCAS` or `atomicExch` \
     and releases itself before the next barrier";

const NARROW: &str = "both are strong, but not for each other: let both access words of one size, and give both the scope of the device \
     (`.gpu`, `atomicCAS` instead of `atomicCAS_block`, `cuda::thread_scope_device`)";

const UNLOCKED: &str = "if a lock is to order the two, let each thread access the memory only while it has the lock, with a fence (`__threadfence()`) \
     behind the atomic that takes it and in front of the write that releases it; fences and atomics of the block (`_block`) order nothing \
     between thread blocks";

/// Whether a finding is a race of two stores whose values are not known.
pub(crate) fn is_unvalued(finding: &Finding) -> bool {
    finding.notes.iter().any(|note| note == UNVALUED)
}

/// Returns the finding for one pair. `may_order`: whether something that is not modelled might order the threads of a cta.
pub(crate) fn finding(names: &Names<'_>, space: Space, pair: &Pair, may_order: bool) -> Finding {
    let (first, second) = (pair.example.first, pair.example.second);
    let by_line =
        |side: &RacingAccess| (names.program.place(side.pc).span, side.cta, side.warp, side.lane);
    let (first, second) =
        if by_line(&first) <= by_line(&second) { (first, second) } else { (second, first) };
    let both_write = first.kind.writes && second.kind.writes;
    let is_of_copy =
        first.cta == second.cta && (first.kind.is_asynchronous() || second.kind.is_asynchronous());
    let (check, race) = match space {
        Space::Shared => (Check::Shared, Code::SharedRace),
        _ => (Check::Global, Code::GlobalRace),
    };
    let race = if is_of_copy { Code::AsyncRace } else { race };
    let unmodelled = match first.condition.or(second.condition) {
        Some(Origin::Unsupported(pc)) => Some(pc),
        _ => None,
    };
    let code = match pair.conflict {
        Conflict::Possible if unmodelled.is_some() => Code::Unsupported,
        Conflict::Possible => Code::PossibleRace,
        _ if may_order && first.cta == second.cta => Code::PossibleRace,
        Conflict::Unfenced => Code::ProxyFence,
        Conflict::Strong | Conflict::Value => Code::UnorderedStrong,
        Conflict::Race if both_write && pair.is_benign && !is_of_copy => Code::BenignRace,
        Conflict::Race => race,
    };
    let mut message = message(names, space, code, &first, &second);
    let mut sites = sites(names, space, &first, &second);
    if let Some(pc) = unmodelled.filter(|_| code == Code::Unsupported) {
        message = format!("{message}, depending on {}", names.what(pc));
        sites.insert(0, names.site(Role::Here, pc, Vec::new(), "its result is needed".into()));
    }
    let &Pair { within_warps, between_warps, between_ctas, .. } = pair;
    Finding {
        code,
        check: Some(check),
        message,
        sites,
        notes: vec![counts(pair, code)],
        help: Some(help(names, code, pair, [&first, &second])),
        pairs: Some(ThreadPairs { within_warps, between_warps, between_ctas }),
    }
}

fn message(
    names: &Names<'_>,
    space: Space,
    code: Code,
    first: &RacingAccess,
    second: &RacingAccess,
) -> String {
    let kinds = match (first.kind, second.kind) {
        (a, b) if a.is_atomic() != b.is_atomic() => "atomic-plain",
        (a, b) if a.is_atomic() && b.is_atomic() => "atomic-atomic",
        (a, b) if a.writes && b.writes => "write-write",
        _ => "read-write",
    };
    let thread = |side: &RacingAccess| (side.cta, side.warp, side.lane);
    let is_of_tensor = is_of_tensor_memory(names, first);
    let level = if first.cta != second.cta {
        "ctas"
    } else if are_peers(names, [first, second]) {
        "ctas of a cluster"
    } else if is_of_tensor && first.warp == second.warp {
        "operations of a warp"
    } else if first.warp == second.warp && is_of_product(names, [first, second]) {
        "a warp and its own product of matrices"
    } else if thread(first) == thread(second) {
        if first.kind.is_asynchronous() && second.kind.is_asynchronous() {
            "two copies of a thread"
        } else {
            "a thread and its own copy"
        }
    } else if first.warp == second.warp {
        "lanes of a warp"
    } else {
        "warps"
    };
    let what = match code {
        Code::BenignRace => "benign race: the same value is stored",
        Code::UnorderedStrong => "unordered strong accesses",
        Code::PossibleRace | Code::Unsupported => "possible race",
        Code::ProxyFence => "pair without a proxy fence",
        _ => "race",
    };
    let memory = match space {
        _ if is_of_tensor => "tensor",
        Space::Shared => "shared",
        _ => "global",
    };
    let address = names.address(space, first.address.max(second.address));
    format!("{kinds} {what} between {level} on {memory} memory, at {address}")
}

fn sites(
    names: &Names<'_>,
    space: Space,
    first: &RacingAccess,
    second: &RacingAccess,
) -> Vec<Site> {
    let thread = |side: &RacingAccess| names.thread(side.cta, side.warp, usize::from(side.lane));
    let site = |side: &RacingAccess| {
        let (word, role) = word(side.kind);
        let address = names.address(space, side.address);
        let label = if is_of_tensor_memory(names, side) {
            format!("{word} of {address}")
        } else {
            format!("{}-byte {word} of {address}", side.bytes)
        };
        names.site(role, side.pc, vec![thread(side)], label)
    };
    if first.pc != second.pc {
        return vec![site(first), site(second)];
    }
    let mut both = site(first);
    both.threads.push(thread(second));
    vec![both]
}

fn counts(pair: &Pair, code: Code) -> String {
    let mut parts = Vec::new();
    let mut part = |count: u64, text: &str| {
        if count > 0 {
            parts.push(format!("{count} {text}"));
        }
    };
    part(pair.within_warps, "within a warp");
    part(pair.between_warps, "between warps");
    part(pair.between_ctas, "or more between ctas");
    let which = if code == Code::ProxyFence { "unfenced" } else { "racing" };
    format!("{which} pairs of threads: {}", parts.join(", "))
}

fn help(names: &Names<'_>, code: Code, pair: &Pair, [first, second]: [&RacingAccess; 2]) -> String {
    let open = first.condition.or(second.condition);
    match code {
        Code::PossibleRace
            if open.is_none()
                && !names.program.hands_over
                && names.program.synchronizes_groups() =>
        {
            GROUPED.into()
        }
        Code::PossibleRace if open.is_none() => PATTERNS.into(),
        Code::PossibleRace | Code::Unsupported => {
            let (origin, help) = names.origin(open);
            let settle = help.map_or_else(String::new, |help| format!("; {help}"));
            format!("whether both happen, and where, depends on {origin}{settle}")
        }
        Code::ProxyFence => {
            "let every thread execute `fence.proxy.async` after its own accesses and in front of the barrier or the arrival that \
             orders the copy or the product after them"
                .into()
        }
        Code::AsyncRace if [first, second].iter().any(|side| is_by_tensor_core(names, side)) => {
            tensor_memory::REMEDY.into()
        }
        Code::AsyncRace if is_of_product(names, [first, second]) => {
            "if the product comes first, let its warps wait for its group (`wgmma.wait_group`), and let a barrier, or a phase that \
             they arrive in, order other warps after that; if it comes second, put a barrier in front of it"
                .into()
        }
        Code::AsyncRace if [first, second].iter().any(|side| is_bulk(names, side)) => {
            bulk_remedy(names, [first, second]).into()
        }
        Code::AsyncRace if follows_copies(names) => followed_remedy(first, second).into(),
        Code::AsyncRace => copy_remedy(first, second).into(),
        _ if [first, second].iter().any(|side| names.is_of_object(side.pc)) => {
            object_remedy(names).into()
        }
        Code::UnorderedStrong => "if this is intended, make both relaxed (`cuda::atomic_ref`), which is meant for memory that \
             threads share at one time, or allow it in weft.toml with a reason"
            .into(),
        Code::BenignRace => {
            "if this is intended, allow it in weft.toml with a reason".into()
        }
        _ if are_peers(names, [first, second]) => peer_remedy([first, second]).into(),
        _ if first.cta != second.cta && first.kind.is_strong() && second.kind.is_strong() => NARROW.into(),
        _ if [first, second].iter().any(|side| has_lock(names.program, side.pc)) => UNLOCKED.into(),
        _ if first.cta != second.cta && names.program.hands_over => {
            "put a fence of the device (`__threadfence()`) behind the earlier access, then a barrier if another thread of its cta \
             signals, and then the atomic; behind the atomic by which the other cta finds out that it is the last, put a fence \
             again, and then the later access"
                .into()
        }
        _ => remedy(pair, [first, second]),
    }
}

/// Returns how to order the initialization of an mbarrier object and its uses.
fn object_remedy(names: &Names<'_>) -> &'static str {
    if names.program.publishes() {
        "let a barrier order the initialization of the object before every use of it, and its last use before `mbarrier.inval`; behind \
         `barrier.cluster.arrive.relaxed`, the thread that initializes it has to execute `fence.mbarrier_init` before"
    } else {
        "let a barrier order the initialization of the object before every use of it, and its last use before `mbarrier.inval`"
    }
}

/// Whether two accesses are by threads of different ctas of one cluster.
fn are_peers(names: &Names<'_>, [first, second]: [&RacingAccess; 2]) -> bool {
    first.cta == second.cta && names.rank(first.warp) != names.rank(second.warp)
}

/// Returns how to order accesses of two ctas of a cluster.
fn peer_remedy(sides: [&RacingAccess; 2]) -> &'static str {
    if sides.iter().all(|side| side.kind.is_atomic()) {
        "give both atomics the scope of the cluster or a larger one (`.cluster`, `cuda::thread_scope_device`)"
    } else {
        "put the barrier of the cluster between the two (`cluster.sync()`: `barrier.cluster.arrive` and `barrier.cluster.wait`), \
         whose arrival must not be `.relaxed`, or let the later thread wait for an mbarrier at which the earlier one arrives behind \
         its access"
    }
}

/// Whether one of the accesses is a part of a product of matrices.
fn is_of_product(names: &Names<'_>, sides: [&RacingAccess; 2]) -> bool {
    let is_it =
        |side: &RacingAccess| names.program.code[side.pc.index()].effect() == Effect::Multiply;
    sides.into_iter().any(is_it)
}

fn is_bulk(names: &Names<'_>, side: &RacingAccess) -> bool {
    matches!(names.program.code[side.pc.index()].effect(), Effect::BulkCopy | Effect::TakeOver)
}

/// Returns how to order a bulk copy and another access of its cta.
fn bulk_remedy(names: &Names<'_>, sides: [&RacingAccess; 2]) -> &'static str {
    let is_grouped = |side: &RacingAccess| {
        is_bulk(names, side) && names.program.code[side.pc.index()].address.is_none()
    };
    if sides.into_iter().any(is_grouped) {
        "if the copy comes first, let its thread wait for its bulk group (`cp.async.bulk.wait_group`, with `.read` if the other \
         access overwrites what the copy reads), and a barrier order other threads after that; if it comes second, put a \
         barrier in front of it"
    } else {
        "if the copy comes first, let every thread that accesses the memory wait for the phase of the mbarrier that counts the \
         copy's bytes; if it comes second, let its thread wait until the others are done: for a phase that they arrive in, or \
         at a barrier"
    }
}

/// Returns how to order an asynchronous copy and another access of its cta.
fn copy_remedy(first: &RacingAccess, second: &RacingAccess) -> &'static str {
    let are_copies = first.kind.is_asynchronous() && second.kind.is_asynchronous();
    match ((first.warp, first.lane) == (second.warp, second.lane), are_copies) {
        (true, true) => {
            "let the thread wait for the first copy before it issues the second (`cp.async.wait_group`, `cp.async.wait_all`), or \
             copy to another place"
        }
        (true, false) => {
            "let the thread wait for its copy between the two: `cp.async.wait_group` or `cp.async.wait_all`"
        }
        _ => {
            "if the copy comes first, let its thread wait for it (`cp.async.wait_group`, `cp.async.wait_all`) and put a barrier \
             behind the wait; if it comes second, put a barrier in front of it"
        }
    }
}

/// Whether the kernel makes mbarriers wait for asynchronous copies.
fn follows_copies(names: &Names<'_>) -> bool {
    let mut all = names.program.code.iter().filter_map(Instr::decoded);
    all.any(|decoded| decoded.row.opcode == Opcode::CpAsyncArrive)
}

/// As `copy_remedy`, where mbarriers wait for copies.
fn followed_remedy(first: &RacingAccess, second: &RacingAccess) -> &'static str {
    if (first.warp, first.lane) == (second.warp, second.lane) {
        "let the thread wait for the copy between the two: for the phase of an mbarrier at which it \
         executes `cp.async.mbarrier.arrive` behind the copy, or for its own copies (`cp.async.wait_group`, `cp.async.wait_all`)"
    } else {
        "if the copy comes first, let its thread execute `cp.async.mbarrier.arrive` behind it, and every other thread wait for \
         that phase of the mbarrier; if it comes second, let its thread wait until the others are done: for a phase that they \
         arrive in, or at a barrier"
    }
}

/// Returns how to order, or to keep apart, the accesses of all racing pairs: a barrier orders only threads of one cta.
fn remedy(pair: &Pair, [first, second]: [&RacingAccess; 2]) -> String {
    let are_within = pair.within_warps > 0 || pair.between_warps > 0;
    let are_between = pair.between_ctas > 0;
    let are_unlike = first.kind.is_atomic()
        && second.kind.is_atomic()
        && first.kind.element != second.kind.element;
    let text = match (are_within, are_between, first.pc == second.pc) {
        (_, true, _) if are_unlike => {
            "atomics of different sizes do not protect each other: use one size"
        }
        _ if are_unlike => {
            "atomics of different sizes do not protect each other: use one size, or put a barrier between the two"
        }
        (false, true, true) => {
            "nothing orders ctas of one launch: give each its own part of the memory, or use an atomic"
        }
        (false, true, false) => {
            "nothing orders ctas of one launch: give each its own part of the memory, or make both atomic"
        }
        (_, true, true) => {
            "both are one instruction, and nothing orders ctas: give each thread of the grid memory of its own, let one thread \
             of the grid alone do it, or use an atomic"
        }
        (_, true, false) => {
            "make both atomic, or give each cta its own part of the memory and put a barrier between the two: a barrier orders \
             only threads of one cta"
        }
        (_, false, true) => {
            "both are one instruction: give each thread memory of its own, let one thread alone do it, or use an atomic; in a loop, a barrier between two iterations might do"
        }
        (_, false, false) => {
            "put a barrier between the two that both threads take part in, or make both atomic"
        }
    };
    text.to_owned()
}
