//! Findings about tensor memory: wrong use, and what its addresses are called.

use super::defects::defect;
use super::names::Names;
use crate::emulate::{Cta, CtaRank, LaneMask, TensorMisuse, WarpId, tensor_place};
use crate::finding::{Code, Finding, Role};
use crate::flow::Pc;
use crate::ptx::Space;
use crate::ptx::isa::Effect;
use crate::race::RacingAccess;

/// How products, copies, loads and stores of tensor memory are waited for.
pub(super) const REMEDY: &str = "if a product or copy comes first, wait for a phase at which `tcgen05.commit` arrives behind it; if a \
                                 load or store of tensor memory comes first, execute `tcgen05.wait` behind it, and let a barrier or a \
                                 phase order the other access after that";

/// Whether an address of shared memory, as events state it, is one of tensor memory.
pub(super) fn is_tensor_memory(address: u64) -> bool {
    tensor_place(CtaRank::of_address(address).1).is_some()
}

/// Whether an access is a part of what a tensor core does, or a load or store of tensor memory.
pub(super) fn is_by_tensor_core(names: &Names<'_>, access: &RacingAccess) -> bool {
    names.program.code[access.pc.index()].effect() == Effect::TensorMemory
}

/// Whether an access is one of tensor memory.
pub(super) fn is_of_tensor_memory(names: &Names<'_>, access: &RacingAccess) -> bool {
    is_by_tensor_core(names, access) && is_tensor_memory(access.address)
}

/// Returns the name of an address of tensor memory in a cta; `None` for one in other memory.
pub(super) fn place(space: Space, address: u64) -> Option<String> {
    let (column, lane) = tensor_place(address).filter(|_| space == Space::Shared)?;
    Some(format!("column {column}, lane {lane} of tensor memory"))
}

/// Returns the finding that tensor memory was used wrongly.
pub(super) fn misuse(
    names: &Names<'_>,
    cta: Cta,
    misuse: TensorMisuse,
    (warp, lanes, pc): (WarpId, LaneMask, Pc),
) -> Finding {
    let what = names.mnemonic(names.program.code[pc.index()].place);
    let (message, help) = match misuse {
        TensorMisuse::Count(count) => (
            format!("{what} asks for {count} columns of tensor memory"),
            "ask for 32, 64, 128, 256 or 512 columns",
        ),
        TensorMisuse::Closed => (
            format!("{what} follows `tcgen05.relinquish_alloc_permit`"),
            "allocate all tensor memory of the cta before a warp gives up to allocate more",
        ),
        TensorMisuse::NotHeld(first, count) => (
            format!(
                "{what} frees {count} columns from column {first} on, where no allocation of as many begins"
            ),
            "free each allocation once, with its address and its number of columns",
        ),
        TensorMisuse::Outside(first, count) => (
            format!(
                "{what} accesses {count} columns of tensor memory from column {first} on, which are not all allocated"
            ),
            "allocate as many columns as are accessed, and free them after the last access",
        ),
        TensorMisuse::Lanes(lane) => (
            format!("{what} accesses tensor memory from lane {lane} on, which its warp cannot"),
            "let each warp access the 32 lanes that its index in its warpgroup gives it: add the index times 32 shifted left by 16 to \
             the address",
        ),
        TensorMisuse::Rows(lane) => (
            format!(
                "{what} has the first row of a matrix in lane {lane} of tensor memory, which no matrix of its size has"
            ),
            "let the matrix begin in lane 0, or in lane 16 if it has 64 rows",
        ),
        TensorMisuse::Kept(count) => (
            format!("the cta ends although {count} columns of tensor memory are still allocated"),
            "let a warp free them by `tcgen05.dealloc` before it ends",
        ),
    };
    let thread = names.first_thread(cta.index, warp, lanes);
    let label = if matches!(misuse, TensorMisuse::Kept(_)) { "allocated here" } else { "here" };
    let sites = vec![names.site(Role::Here, pc, vec![thread], label.to_owned())];
    defect(Code::TensorMemory, message, sites, Vec::new(), help)
}
