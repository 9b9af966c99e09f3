//! Accesses outside of all memory, and misaligned ones.

use super::names::Names;
use super::races::word;
use crate::emulate::{Cta, Fault, FaultKind};
use crate::finding::{Check, Code, Finding, Role};
use crate::flow::{Pc, PlaceId, Symbol};
use crate::ptx::Space;
use crate::race::Unwritten;

pub(super) fn explain(names: &Names<'_>, cta: Cta, fault: &Fault) -> Finding {
    let (check, memory) = match fault.space {
        Space::Shared => (Check::Shared, "shared"),
        _ => (Check::Global, "global"),
    };
    match fault.kind {
        FaultKind::Uninitialized(place) => return uninitialized(names, cta, fault, place),
        FaultKind::Trapped(place) => return trapped(names, cta, fault, place),
        FaultKind::OutOfBounds | FaultKind::Misaligned | FaultKind::ReadOnly => {}
    }
    let (word, role) = word(fault.access);
    let address = match fault.address {
        Some(address) => names.address(fault.space, address),
        None => "an open address".to_owned(),
    };
    let (code, message, help) = match fault.kind {
        FaultKind::OutOfBounds if is_unstated(names, fault) => (
            Code::DependsOnInput,
            format!(
                "{word} of dynamic shared memory, at {address}, whose size the launch does not state"
            ),
            "give the bytes of dynamic shared memory, as in `shared = 4096`",
        ),
        FaultKind::OutOfBounds => (
            Code::OutOfBounds,
            format!("{word} outside of all {memory} memory of the kernel, at {address}"),
            "state the size of the dynamic shared memory or of the buffer in the launch, or guard the access",
        ),
        FaultKind::ReadOnly => (
            Code::OutOfBounds,
            format!("{word} of {}, which a kernel may only read, at {address}", read_only(fault)),
            "write to a variable in global, shared or local memory",
        ),
        FaultKind::Misaligned => (
            Code::Misaligned,
            format!(
                "{word} of {} bytes at an address that is no multiple of it, {address}",
                fault.bytes
            ),
            "align the array, or access it in narrower parts",
        ),
        FaultKind::Uninitialized(_) | FaultKind::Trapped(_) => unreachable!("told above"),
    };
    let (code, message, help) = if fault.maybe.is_none() {
        (code, message, help.to_owned())
    } else {
        let (origin, settle) = names.origin(fault.maybe);
        let message = format!("{message}; whether it happens depends on {origin}");
        (Code::DependsOnInput, message, settle.unwrap_or_else(|| help.to_owned()))
    };
    let thread = names.thread(cta.index, fault.warp, fault.lane);
    let label = format!("{}-byte {word} of {address}", fault.bytes);
    Finding {
        code,
        check: Some(check),
        message,
        sites: vec![names.site(role, fault.pc, vec![thread], label)],
        notes: Vec::new(),
        help: Some(help),
        pairs: None,
    }
}

fn read_only(fault: &Fault) -> &'static str {
    if fault.space == Space::Param { "the kernel's parameters" } else { "constant memory" }
}

/// Whether an access lies in dynamic shared memory that the kernel declares and the launch does not mention.
fn is_unstated(names: &Names<'_>, fault: &Fault) -> bool {
    let is_dynamic = |symbol: &Symbol| symbol.space == Space::Shared && symbol.size == 0;
    fault.space == Space::Shared
        && names.dynamic_shared == 0
        && fault.address.is_some_and(|address| address >= names.program.static_shared)
        && names.program.symbols.iter().any(is_dynamic)
}

const STORE_FIRST: &str = "store there first, and put a barrier between";

/// A branch, an address or a barrier depends on shared memory that nothing wrote.
fn uninitialized(names: &Names<'_>, cta: Cta, fault: &Fault, place: PlaceId) -> Finding {
    let thread = names.thread(cta.index, fault.warp, fault.lane);
    let label = "reads shared memory that nothing wrote".to_owned();
    let sites = vec![
        names.site(Role::Read, fault.pc, vec![thread], label),
        names.site_of(Role::Here, place, "depends on it".into()),
    ];
    let message =
        "control flow, an address or a barrier depends on shared memory that nothing wrote";
    Finding {
        code: Code::Uninitialized,
        check: Some(Check::Shared),
        message: message.to_owned(),
        sites,
        notes: Vec::new(),
        help: Some(STORE_FIRST.to_owned()),
        pairs: None,
    }
}

/// A thread aborts the launch.
fn trapped(names: &Names<'_>, cta: Cta, fault: &Fault, place: PlaceId) -> Finding {
    let thread = names.thread(cta.index, fault.warp, fault.lane);
    let mut site = names.site_of(Role::Here, place, "aborts the launch".into());
    site.threads.push(thread);
    Finding {
        code: Code::Trap,
        check: None,
        message: "a thread executes `trap`, which aborts the launch".to_owned(),
        sites: vec![site],
        notes: vec!["what comes after it in other threads was examined as far as they get".into()],
        help: None,
        pairs: None,
    }
}

/// Shared memory that nothing wrote is read.
pub(super) fn unwritten(names: &Names<'_>, cta: Cta, pc: Pc, read: &Unwritten) -> Finding {
    let address = names.address(Space::Shared, read.address);
    let thread = names.thread(cta.index, read.warp, read.lane);
    let label = format!("{}-byte read of {address}", read.bytes);
    Finding {
        code: Code::UninitializedValue,
        check: Some(Check::Shared),
        message: format!("read of shared memory that nothing wrote, at {address}"),
        sites: vec![names.site(Role::Read, pc, vec![thread], label)],
        notes: Vec::new(),
        help: Some(STORE_FIRST.to_owned()),
        pairs: None,
    }
}
