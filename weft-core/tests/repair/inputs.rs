//! Inputs that a kernel failed with are tried before others are searched.

use std::cell::RefCell;

use weft_core::finding::Verdict;
use weft_core::launch::Launch;
use weft_core::repair::{CheckDepth, Counterexamples};
use weft_core::{CheckError, check};

use crate::support::kernel;

#[test]
fn an_input_that_failed_is_tried_first_unless_all_are_asked_for() {
    let module = kernel("st.shared.u32 [%r2], %r1;\nld.shared.u32 %r6, [%r3];");
    let function = module.kernel("k").expect("the kernel is there");
    let tried = RefCell::new(Vec::new());
    let check = |launch: &Launch| -> Result<_, CheckError> {
        tried.borrow_mut().push(launch.clone());
        check(&module, function, launch)
    };
    let mut any = Launch::default();
    any.options.witness = 8;
    let mut failed = Counterexamples::default();
    let mut verdict = |depth| failed.check(&any, depth, check).expect("the launch fits").verdict();
    // Nobody states a block, so that a race for a chosen one is open; with this block it is a defect.
    assert_eq!(verdict(CheckDepth::FirstDefect), Verdict::Open);
    assert_eq!(verdict(CheckDepth::FirstDefect), Verdict::Defect);
    assert_eq!(verdict(CheckDepth::Whole), Verdict::Open);
    let tried = tried.borrow();
    let kinds = tried.iter().map(|launch| (launch.block.is_some(), launch.options.witness));
    // A kernel that failed before might be clean now: that is asked first, without a search.
    assert_eq!(kinds.collect::<Vec<_>>(), [(false, 8), (false, 0), (true, 8), (false, 8)]);
}
