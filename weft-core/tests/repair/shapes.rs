//! The shapes of the paper's micro-benchmarks (FMCAD'18, Table I), written anew: each with the least cost, reasoned out by
//! hand.

use weft_core::finding::Code;
use weft_core::repair::{Aim, Obstacle, RepairOutcome};

use crate::support::{kernel, kernel_with, mend, places, refused, repaired};

fn cost_and_places(body: &str) -> (f64, Vec<String>) {
    let module = kernel(body);
    let mend = mend(&module, Aim::Insert);
    assert!(mend.is_least);
    (mend.cost, places(&module, &mend))
}

#[test]
fn a_straight_line_needs_one_barrier() {
    let body = "st.shared.u32 [%r2], %r1;\nmov.u32 %r5, 1;\nld.shared.u32 %r6, [%r3];";
    let after = "bar.sync 0; After st.shared.u32 [%r2], %r1;".to_owned();
    assert_eq!(cost_and_places(body), (1.0, vec![after]));
}

#[test]
fn one_barrier_cuts_two_pairs_that_overlap() {
    let body = "st.shared.u32 [%r2], %r1;\nst.shared.u32 [%r2+512], %r1;\nld.shared.u32 %r6, [%r3];\n\
                ld.shared.u32 %r7, [%r3+512];";
    let after = "bar.sync 0; After st.shared.u32 [%r2+512], %r1;".to_owned();
    assert_eq!(cost_and_places(body), (1.0, vec![after]));
}

#[test]
fn two_pairs_one_after_the_other_need_two_barriers() {
    let body = "st.shared.u32 [%r2], %r1;\nld.shared.u32 %r6, [%r3];\nst.shared.u32 [%r2+512], %r1;\n\
                ld.shared.u32 %r7, [%r3+512];";
    let (cost, places) = cost_and_places(body);
    assert_eq!((cost, places.len()), (2.0, 2));
}

#[test]
fn a_uniform_condition_makes_a_barrier_cheaper() {
    // The parameter is the same for all threads, so the barrier can stand where it is executed less often.
    let body = "setp.eq.u32 %p1, %r8, 0;\n@%p1 bra SKIP;\nst.shared.u32 [%r2], %r1;\nld.shared.u32 %r6, [%r3];\n\
                SKIP:";
    assert_eq!(cost_and_places(body).0, 0.5);
}

#[test]
fn no_barrier_stands_under_a_condition_that_differs() {
    // The store is under a condition on the thread: the barrier has to stand behind it.
    let body = "setp.gt.u32 %p1, %r1, 40;\n@%p1 bra SKIP;\nst.shared.u32 [%r2], %r1;\nSKIP:\nmov.u32 %r5, 1;\n\
                ld.shared.u32 %r6, [%r3];";
    let (cost, places) = cost_and_places(body);
    assert_eq!(cost, 1.0);
    assert_eq!(places, ["bar.sync 0; Before ld.shared.u32 %r6, [%r3];"].map(str::to_owned));
    // Both are under it: nothing helps.
    let body = "setp.gt.u32 %p1, %r1, 40;\n@%p1 bra SKIP;\nst.shared.u32 [%r2], %r1;\nld.shared.u32 %r6, [%r3];\nSKIP:\n\
                st.shared.u32 [%r2+512], %r1;";
    assert_eq!(refused(&kernel(body)), ["shared-race"]);
    // Threads that skip them only end: PTX does not wait for these.
    let body = "setp.gt.u32 %p1, %r1, 40;\n@%p1 bra SKIP;\nst.shared.u32 [%r2], %r1;\nld.shared.u32 %r6, [%r3];\nSKIP:";
    let module = kernel(body);
    let mend = mend(&module, Aim::Insert);
    assert!(mend.changes.iter().all(|change| change.is_skipped), "{:?}", mend.changes);
}

/// A loop of four iterations.
fn looped(body: &str) -> String {
    format!(
        "mov.u32 %r9, 0;\nLOOP:\n{body}\nadd.s32 %r9, %r9, 1;\nsetp.lt.u32 %p2, %r9, 4;\n@%p2 bra LOOP;"
    )
}

#[test]
fn a_loop_that_races_in_one_iteration_needs_a_barrier_inside() {
    // Each iteration has words of its own.
    let body = looped(
        "mul.lo.u32 %r10, %r9, 512;\nadd.s32 %r11, %r2, %r10;\nst.shared.u32 [%r11], %r1;\nld.shared.u32 %r6, [%r11+4];",
    );
    let (cost, places) = cost_and_places(&body);
    assert_eq!(cost, 100.0);
    assert_eq!(places, ["bar.sync 0; After st.shared.u32 [%r11], %r1;"].map(str::to_owned));
}

#[test]
fn a_loop_that_races_between_iterations_needs_a_barrier_inside() {
    // A thread reads what its neighbour wrote one iteration before.
    let body = looped(
        "and.b32 %r10, %r9, 1;\nshl.b32 %r10, %r10, 9;\nadd.s32 %r11, %r2, %r10;\nxor.b32 %r12, %r10, 512;\n\
         add.s32 %r12, %r12, %r3;\nst.shared.u32 [%r11], %r1;\nld.shared.u32 %r6, [%r12];",
    );
    assert_eq!(cost_and_places(&body).0, 100.0);
}

#[test]
fn a_loop_that_races_both_ways_needs_two_barriers() {
    let body = looped("st.shared.u32 [%r2], %r9;\nld.shared.u32 %r6, [%r3];");
    let (cost, places) = cost_and_places(&body);
    assert_eq!((cost, places.len()), (200.0, 2));
}

#[test]
fn a_barrier_stands_outside_of_a_loop_where_it_can() {
    let body = format!("st.shared.u32 [%r2], %r1;\n{}", looped("ld.shared.u32 %r6, [%r3];"));
    assert_eq!(cost_and_places(&body).0, 1.0);
}

#[test]
fn nested_loops_cost_by_their_depth() {
    let inner = "mov.u32 %r13, 0;\nINNER:\nld.shared.u32 %r6, [%r3];\nadd.s32 %r13, %r13, 1;\n\
                 setp.lt.u32 %p3, %r13, 3;\n@%p3 bra INNER;";
    let body = looped(&format!("st.shared.u32 [%r2], %r9;\n{inner}"));
    // Between the store and the inner loop, and behind the inner loop: both in the outer loop only.
    assert_eq!(cost_and_places(&body).0, 200.0);
}

#[test]
fn a_condition_in_a_loop_is_cheaper_than_the_loop() {
    let body = looped(
        "setp.eq.u32 %p1, %r9, 2;\n@!%p1 bra SKIP;\nst.shared.u32 [%r2], %r9;\nld.shared.u32 %r6, [%r3];\nSKIP:",
    );
    assert_eq!(cost_and_places(&body).0, 50.0);
}

#[test]
fn a_barrier_can_stand_in_a_function() {
    let functions = ".func swap(.param .b32 at)\n{\n.reg .b32 %r<9>;\nld.param.u32 %r1, [at];\n\
                     st.shared.u32 [%r1], %r1;\nld.shared.u32 %r2, [%r1+4];\nret;\n}\n";
    let body = "{\n.param .b32 a;\nst.param.b32 [a], %r2;\ncall.uni swap, (a);\n}";
    let module = kernel_with(functions, body);
    let mend = mend(&module, Aim::Insert);
    assert_eq!(mend.cost, 1.0);
    assert_eq!(
        places(&module, &mend),
        ["bar.sync 0; After st.shared.u32 [%r1], %r1;"].map(str::to_owned)
    );
}

#[test]
fn lanes_of_one_warp_need_a_warp_barrier() {
    let body = "and.b32 %r5, %r1, 31;\nxor.b32 %r6, %r1, 1;\nshl.b32 %r6, %r6, 2;\nadd.s32 %r6, %r6, %r4;\n\
                st.shared.u32 [%r2], %r1;\nld.shared.u32 %r7, [%r6];";
    let after = "bar.warp.sync 0xffffffff; After st.shared.u32 [%r2], %r1;".to_owned();
    assert_eq!(cost_and_places(body), (0.5, vec![after]));
}

#[test]
fn a_barrier_in_a_loop_can_move_out() {
    let body =
        format!("st.shared.u32 [%r2], %r1;\n{}", looped("bar.sync 0;\nld.shared.u32 %r6, [%r3];"));
    let module = kernel(&body);
    let mend = mend(&module, Aim::Minimize);
    assert_eq!((mend.cost_before, mend.cost, mend.is_least), (100.0, 1.0, true));
    assert_eq!(
        places(&module, &mend),
        ["bar.sync 0; After st.shared.u32 [%r2], %r1;", "Remove bar.sync 0;"].map(str::to_owned)
    );
}

#[test]
fn what_barriers_cannot_order_is_named() {
    let same = "mov.u32 %r5, words;\nst.shared.u32 [%r5], %r1;";
    assert_eq!(refused(&kernel(same)), ["shared-race"]);
}

#[test]
fn a_barrier_for_lanes_of_one_warp_can_be_a_warp_barrier() {
    let body = "st.shared.u32 [%r2], %r1;\nbar.sync 0;\nxor.b32 %r6, %r1, 1;\nshl.b32 %r6, %r6, 2;\n\
                add.s32 %r6, %r6, %r4;\nld.shared.u32 %r7, [%r6];";
    let module = kernel(body);
    let mend = mend(&module, Aim::Minimize);
    assert_eq!((mend.cost_before, mend.cost, mend.is_least), (1.0, 0.5, true));
    assert_eq!(places(&module, &mend), ["Replace(Warp) bar.sync 0;"].map(str::to_owned));
}

#[test]
fn an_arrival_and_its_wait_can_go_together() {
    // The first warp passes words to the second by barrier 1; nothing is passed by barrier 2.
    let body = "setp.ge.u32 %p1, %r1, 32;\n@%p1 bra SECOND;\nst.shared.u32 [%r2], %r1;\nbar.arrive 1, 64;\n\
                bar.arrive 2, 64;\nret;\nSECOND:\nbar.sync 1, 64;\nld.shared.u32 %r6, [%r2+-128];\nbar.sync 2, 64;";
    let module = kernel(body);
    let repair = repaired(&module, Aim::Minimize);
    assert_eq!(repair.outcome, RepairOutcome::Unchanged { is_least: true });
    let gone = repair.superfluous.iter().map(|change| module.name(change.site.span));
    assert_eq!(gone.collect::<Vec<_>>(), ["bar.arrive 2, 64;", "bar.sync 2, 64;"]);
}

#[test]
fn a_barrier_at_the_wrong_place_moves() {
    let body = "bar.sync 0;\nst.shared.u32 [%r2], %r1;\nmov.u32 %r5, 1;\nld.shared.u32 %r6, [%r3];\n\
                st.shared.u32 [%r2+512], %r1;\nbar.sync 0;\nst.shared.u32 [%r3+512], %r1;";
    // The first barrier is needed neither before nor after; the second one stays where it is.
    let module = kernel(body);
    let stays = mend(&module, Aim::Insert);
    let after = "bar.sync 0; After st.shared.u32 [%r2], %r1;".to_owned();
    assert_eq!(places(&module, &stays), [after]);
    // In a loop, a barrier behind the store makes the one behind the load superfluous only if it also separates what that
    // one does: two pairs of one store each need one barrier between the stores.
    let body = "st.shared.u32 [%r2], %r1;\nst.shared.u32 [%r2+512], %r1;\nld.shared.u32 %r6, [%r3];\nbar.sync 0;\n\
                ld.shared.u32 %r6, [%r3+512];";
    let module = kernel(body);
    let moved = mend(&module, Aim::Insert);
    let after = "bar.sync 0; After st.shared.u32 [%r2+512], %r1;".to_owned();
    assert_eq!(places(&module, &moved), [after, "Remove bar.sync 0;".to_owned()]);
}

#[test]
fn a_barrier_can_be_all_that_a_side_of_a_branch_is_for() {
    // The other side has a barrier. On this one there is nothing, or nothing but a jump.
    let condition = "st.shared.u32 [%r2], %r1;\nsetp.eq.u32 %p1, %r8, 0;\n@%p1 bra OTHER;\n";
    let (other, load) = ("OTHER:\nbar.sync 0;\n", "DONE:\nld.shared.u32 %r6, [%r3];\n");
    for body in [
        format!("{condition}{load}ret;\n{other}bra.uni DONE;"),
        format!("{condition}bra.uni DONE;\n{other}{load}"),
    ] {
        assert_eq!(cost_and_places(&body).0, 0.5, "{body}");
    }
}

#[test]
fn a_barrier_can_stand_between_two_labels() {
    // One thread has nothing to store and comes by the first label, which is in front of the loop of the second.
    let body = "mov.u32 %r5, 0;\nsetp.eq.u32 %p1, %r1, 7;\n@%p1 bra READY;\nst.shared.u32 [%r2], %r1;\nREADY:\nLOOP:\n\
                ld.shared.u32 %r6, [%r3];\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 3;\n@%p2 bra LOOP;";
    assert_eq!(cost_and_places(body).0, 1.0);
}

#[test]
fn a_scope_is_entered_without_an_instruction() {
    // In each iteration, what `q` holds is anything: that has no place but the name of the function.
    let body = "mov.u32 %r5, 0;\nLOOP:\nsetp.ge.u32 %p2, %r5, %r8;\n@%p2 bra END;\n{\n.reg .pred q;\nselp.u32 %r7, 1, 0, q;\n\
                setp.ne.u32 q, %r7, 0;\n}\nsetp.ge.u32 %p3, %r8, 4;\n@%p3 bra NEXT;\nst.shared.u32 [%r2], %r1;\n\
                ld.shared.u32 %r6, [%r3];\nNEXT:\nadd.u32 %r5, %r5, 1;\nbra LOOP;\nEND:";
    let module = kernel(body);
    let repair = repaired(&module, Aim::Insert);
    assert!(repair.checks > 1, "{:?}", repair.outcome);
}

#[test]
fn a_kernel_that_does_not_end_is_checked_once() {
    let body = "LOOP:\nst.shared.u32 [%r2], %r1;\nld.shared.u32 %r6, [%r3];\nbra LOOP;";
    let repair = repaired(&kernel(body), Aim::Insert);
    assert_eq!(repair.checks, 1, "{:?}", repair.outcome);
    let RepairOutcome::Refused(Obstacle::Findings(findings)) = repair.outcome else {
        panic!("{:?}", repair.outcome)
    };
    assert!(findings.iter().any(|finding| finding.code == Code::Limit), "{findings:?}");
}
