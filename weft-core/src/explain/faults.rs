//! Findings about accesses that are wrong by themselves: out of bounds, misaligned, read-only or uninitialised memory.

use super::access::word;
use super::given::{GivenNumbers, is_outside};
use super::names::{Names, NearMemory};
use super::tensor_memory;
use crate::emulate::{Cta, Fault, FaultKind};
use crate::finding::{Check, Code, Finding, Role};
use crate::flow::{Pc, PlaceId};
use crate::launch::MAX_SHARED;
use crate::ptx::Space;
use crate::race::Unwritten;

/// Returns the finding for a fault. `numbers`: the numbers that the launch gives for addresses of accesses.
pub(crate) fn explain(
    names: &Names<'_>,
    cta: Cta,
    fault: &Fault,
    numbers: &GivenNumbers,
) -> Finding {
    let (check, memory) = match fault.space {
        Space::Shared => (Check::Shared, "shared variables"),
        _ => (Check::Global, "buffers and global variables"),
    };
    match fault.kind {
        FaultKind::Uninitialized(place) => return uninitialized(names, cta, fault, place),
        FaultKind::Trapped(place) => return trapped(names, cta, fault, place),
        FaultKind::OutOfBounds
        | FaultKind::Misaligned
        | FaultKind::ReadOnly
        | FaultKind::Object => {}
    }
    let (word, role) = word(fault.access);
    let address = match fault.address {
        Some(address) => names.address_within(fault.space, address),
        None => "an open address".to_owned(),
    };
    let number = numbers.get(&fault.pc).filter(|_| is_outside(fault));
    let (code, message, help) = match number {
        Some((at, value)) => of_number(names, word, *at, *value),
        None => self::message(names, fault, word, memory, &address),
    };
    let (code, message, help) = if fault.condition.is_none() {
        (code, message, help)
    } else {
        let (origin, settle) = names.origin(fault.condition);
        let message = format!("{message}; whether it happens depends on {origin}");
        (Code::DependsOnInput, message, settle.filter(|_| number.is_none()).unwrap_or(help))
    };
    let thread = names.thread(cta.index, fault.warp, fault.lane);
    let label = format!("{}-byte {word} of {address}", fault.bytes);
    Finding {
        code,
        check: Some(check),
        message,
        sites: vec![names.site(role, fault.pc, vec![thread], label)],
        notes: beside_others(fault).into_iter().collect(),
        help: Some(help),
        pairs: None,
    }
}

/// Returns why an access at an open address is wrong whatever the value is: another access has the same open part in
/// its address.
fn beside_others(fault: &Fault) -> Option<String> {
    let why = match fault.kind {
        _ if fault.address.is_some() => return None,
        FaultKind::OutOfBounds => "the two are farther apart than the memory is large",
        FaultKind::Misaligned => "where one of the two is aligned the other is not",
        _ => return None,
    };
    Some(format!("another access has the same open part in its address: whatever that is, {why}"))
}

/// Returns code, message and help for an access out of bounds whose address the launch gives as a number.
fn of_number(names: &Names<'_>, word: &str, at: usize, value: i128) -> (Code, String, String) {
    let (what, setting) = (names.param(at), names.setting(at, "\"buffer\""));
    if value == 0 {
        let message = format!("{word} at a null pointer: {what} is given as 0");
        let help = format!("test the pointer before the access, or give a buffer, `{setting}`");
        return (Code::OutOfBounds, message, help);
    }
    let message =
        format!("{word} at an address that is given as a number: {what} is given as {value}");
    let help = format!("give a buffer of its own, `{setting}`, or 0 for null");
    (Code::DependsOnInput, message, help)
}

/// The rank of the cta whose memory an access should reach, if it cannot.
fn peer(names: &Names<'_>, fault: &Fault) -> Option<u64> {
    names.peer(fault.space, fault.address?).map(|(rank, _)| rank)
}

/// Returns how to reach the memory of the cta of this rank.
fn peer_help(names: &Names<'_>, rank: u64) -> String {
    let count = names.program.clusters.size().count();
    if rank >= count {
        return format!("the cluster has {count} ctas, of ranks 0 to {}", count - 1);
    }
    "only instructions with `.shared::cluster` or a generic address reach the shared memory of other ctas, and of the \
     instructions of mbarrier objects only arrivals and those that count bytes"
        .to_owned()
}

fn message(
    names: &Names<'_>,
    fault: &Fault,
    word: &str,
    memory: &str,
    address: &str,
) -> (Code, String, String) {
    match fault.kind {
        FaultKind::OutOfBounds if is_beyond_devices(names, fault) => (
            Code::OutOfBounds,
            format!(
                "{word} of dynamic shared memory, at {address}: no device has so much of it, a cta has at most \
                 {MAX_SHARED} bytes of shared memory"
            ),
            "guard the access".to_owned(),
        ),
        FaultKind::OutOfBounds if peer(names, fault).is_some() => (
            Code::OutOfBounds,
            format!("{word} that cannot reach {address}"),
            peer_help(names, peer(names, fault).unwrap_or(0)),
        ),
        FaultKind::OutOfBounds => (
            Code::OutOfBounds,
            format!("{word} outside of all {memory} of the kernel, at {address}"),
            room(names, fault),
        ),
        FaultKind::ReadOnly => (
            Code::OutOfBounds,
            format!("{word} of {}, which a kernel may only read, at {address}", read_only(fault)),
            "write to a variable in global, shared or local memory".to_owned(),
        ),
        FaultKind::Object => (
            Code::MbarrierMisuse,
            format!("{word} of an mbarrier object that is in use, at {address}"),
            "access other memory, or end the use of the object with `mbarrier.inval` before"
                .to_owned(),
        ),
        FaultKind::Misaligned => (
            Code::Misaligned,
            format!(
                "{word} of {} bytes at an address that is no multiple of it, {address}",
                fault.bytes
            ),
            "align the array, or access it in narrower parts".to_owned(),
        ),
        FaultKind::Uninitialized(_) | FaultKind::Trapped(_) => unreachable!("reported above"),
    }
}

/// Returns what to do about an access beyond the memory that is nearest to it: the launch states the size of dynamic shared
/// memory and of buffers, the source that of arrays.
fn room(names: &Names<'_>, fault: &Fault) -> String {
    let symbols = &names.program.symbols;
    let remedy = match fault.address.map(|address| names.memory(fault.space, address)) {
        Some(NearMemory::Variable(at)) if symbols[at].is_dynamic() => {
            names.dynamic_shared.map(|_| "correct the size of dynamic shared memory in the launch")
        }
        Some(NearMemory::Variable(_)) => Some("make the array larger"),
        Some(NearMemory::Buffer) => Some("correct the buffer that the launch states"),
        Some(NearMemory::Unknown) | None => None,
    };
    match remedy {
        Some(remedy) => format!("guard the access, or {remedy}"),
        None => "guard the access".to_owned(),
    }
}

fn read_only(fault: &Fault) -> &'static str {
    if fault.space == Space::Param { "the kernel's parameters" } else { "constant memory" }
}

/// Whether an access lies in dynamic shared memory whose size the launch does not state, so that only devices limit it.
fn is_beyond_devices(names: &Names<'_>, fault: &Fault) -> bool {
    let Some(address) = fault.address else { return false };
    let at = names.program.shared_variable(address, address.saturating_add(1));
    let is_dynamic = |at: usize| names.program.symbols[at].is_dynamic();
    fault.space == Space::Shared && names.dynamic_shared.is_none() && at.is_some_and(is_dynamic)
}

const STORE_FIRST: &str = "store there first, and put a barrier between";

/// Returns the finding that a branch, an address or a barrier depends on shared memory that nothing wrote.
fn uninitialized(names: &Names<'_>, cta: Cta, fault: &Fault, place: PlaceId) -> Finding {
    let thread = names.thread(cta.index, fault.warp, fault.lane);
    let label = "reads shared memory that nothing wrote".to_owned();
    let sites = vec![
        names.site(Role::Read, fault.pc, vec![thread], label),
        names.site_of(Role::Here, place, "depends on it".into()),
    ];
    let what = "control flow, an address or a barrier";
    let on = "on shared memory that nothing wrote";
    let (code, message) = match fault.condition {
        None => (Code::Uninitialized, format!("{what} depends {on}")),
        Some(origin) if origin.unwritten() == Some(fault.pc) => {
            (Code::DependsOnInput, format!("{what} might depend {on}"))
        }
        Some(origin) => {
            let (origin, _) = names.origin(Some(origin));
            (
                Code::DependsOnInput,
                format!("{what} depends {on}, if it is read: that depends on {origin}"),
            )
        }
    };
    Finding {
        code,
        check: Some(Check::Shared),
        message,
        sites,
        notes: Vec::new(),
        help: Some(STORE_FIRST.to_owned()),
        pairs: None,
    }
}

/// Returns the finding that a thread aborts the launch.
fn trapped(names: &Names<'_>, cta: Cta, fault: &Fault, place: PlaceId) -> Finding {
    let thread = names.thread(cta.index, fault.warp, fault.lane);
    let mut site = names.site_of(Role::Here, place, "aborts the launch".into());
    site.threads.push(thread);
    Finding {
        code: Code::Trap,
        check: None,
        message: format!("a thread {}, which aborts the launch", names.abort(place)),
        sites: vec![site],
        notes: vec!["what comes after it in other threads was examined as far as they get".into()],
        help: None,
        pairs: None,
    }
}

/// Returns the finding that shared memory is read that nothing wrote.
pub(crate) fn unwritten(names: &Names<'_>, cta: Cta, pc: Pc, read: &Unwritten) -> Finding {
    let address = names.address(Space::Shared, read.address);
    let thread = names.thread(cta.index, read.warp, read.lane);
    let is_of_tensor = tensor_memory::is_tensor_memory(read.address);
    let (label, memory) = if is_of_tensor {
        (format!("read of {address}"), "tensor")
    } else {
        (format!("{}-byte read of {address}", read.bytes), "shared")
    };
    Finding {
        code: Code::UninitializedValue,
        check: Some(Check::Shared),
        message: format!("read of {memory} memory that nothing wrote, at {address}"),
        sites: vec![names.site(Role::Read, pc, vec![thread], label)],
        notes: Vec::new(),
        help: Some(STORE_FIRST.to_owned()),
        pairs: None,
    }
}
