//! Findings about accesses to the shared memory of other ctas of a cluster.

use super::defects::defect;
use super::names::Names;
use crate::emulate::Cta;
use crate::finding::{Check, Code, Finding, Role, point};
use crate::order::{Absence, PeerFault};

/// Returns the finding that a cta might not exist when its memory is accessed. `cta`: the first one of the cluster.
pub(crate) fn absence(names: &Names<'_>, cta: Cta, fault: &PeerFault) -> Finding {
    let PeerFault { absence, pc, thread: (warp, lane), peer, may_execute } = *fault;
    let thread = names.thread(cta.index, warp, lane);
    let home = names.member(cta, peer).at;
    let peer = format!("cta {}", point(home));
    let (when, help) = match absence {
        Absence::Before => (
            "before that cta has begun",
            "let the threads of both ctas meet at the barrier of the cluster first (`cluster.sync()`: \
             `barrier.cluster.arrive` and `barrier.cluster.wait`)",
        ),
        Absence::Either => (
            "before that cta has begun, or after it has ended",
            "let the threads of both ctas meet at the barrier of the cluster before the access and behind it \
             (`cluster.sync()`: `barrier.cluster.arrive` and `barrier.cluster.wait`)",
        ),
        Absence::After => (
            "after that cta has ended",
            "let a thread of that cta wait until the access is done before it ends: for the barrier of the cluster \
             (`cluster.sync()`), or for the phase of an mbarrier",
        ),
    };
    let what = format!("the shared memory of {peer} might be accessed {when}");
    let label = if thread.cta == home {
        "copies from the memory of its own cta".to_owned()
    } else {
        format!("accesses the memory of {peer}")
    };
    let sites = vec![names.site(Role::Here, pc, vec![thread], label)];
    if may_execute {
        let found = defect(Code::PossibleRace, what, sites, Vec::new(), help);
        return Finding { check: Some(Check::Shared), ..found };
    }
    let found = defect(Code::ClusterLifetime, what, sites, Vec::new(), help);
    Finding { check: Some(Check::Shared), ..found }
}
