//! What a repair claims of its cost where placements leave questions open.

use weft_core::repair::Aim;

use crate::support::{kernel, mend};

/// A single barrier behind the loop is clean. With a second one under the condition `%p1`, which all threads fulfil, the check
/// leaves a question open.
#[test]
fn an_open_question_of_many_barriers_says_nothing_about_few() {
    let module = kernel(
        "xor.b32 %r5, %r1, 1;\nshl.b32 %r5, %r5, 2;\nadd.s32 %r5, %r5, %r4;\nmov.u32 %r9, 0;\nL1:\n\
         setp.ge.u32 %p3, %r9, %r8;\n@%p3 bra M1;\nand.b32 %r10, %r9, 1;\nshl.b32 %r10, %r10, 9;\n\
         add.s32 %r10, %r10, %r5;\nst.shared.u32 [%r10], %r1;\nadd.s32 %r9, %r9, 1;\nbra.uni L1;\nM1:\n\
         st.shared.u32 [%r5+1024], %r1;\nsetp.lt.u32 %p1, %r1, 4096;\n@!%p1 bra E4;\n\
         ld.shared.u32 %r12, [%r3];\nE4:\nst.shared.u32 [%r2+1024], %r1;",
    );
    let mend = mend(&module, Aim::Insert);
    assert_eq!((mend.cost, mend.is_least), (1.0, true));
}
