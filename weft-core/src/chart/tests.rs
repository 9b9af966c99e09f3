//! Charts of small kernels, thought through.

use super::{ChartError, ChartedKernel};
use crate::finding::{
    Chart, ChartFold, ChartGeneration, ChartRow, Disorder, GenerationFate, Verdict,
};
use crate::launch::{Dim3, Dimensions, Launch};
use crate::ptx;

/// Returns the chart of a kernel of two warps or more. `first` is what warp 0 does, `others` what the others do.
fn chart_of(threads: u32, first: &str, others: &str) -> Chart {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{{\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n\
         .shared .align 4 .b8 word[4];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, word;\nsetp.ge.u32 %p1, %r1, 32;\n\
         @%p1 bra $others;\n{first}\nret;\n$others:\n{others}\nret;\n}}\n"
    );
    let module = ptx::parse(&text);
    let kernel = module.kernels().next().expect("there is one");
    let launch = Launch { block: Some(Dimensions::Is(Dim3::line(threads))), ..Launch::default() };
    let charted = ChartedKernel::new(&module, kernel, &launch).expect("the launch fits");
    assert_eq!(
        charted.chart(Some(99)),
        Err(ChartError::NoFinding { number: 99, count: charted.report().told().count() })
    );
    charted.chart(None).expect("there is a chart")
}

fn generations(chart: &Chart) -> Vec<&ChartGeneration> {
    let all = chart.rows.iter().filter_map(|row| match row {
        ChartRow::Generation(own) => Some(own),
        _ => None,
    });
    all.collect()
}

/// Returns where in the chart the mark of a lane is.
fn mark_in(chart: &Chart, lane: usize) -> usize {
    let is_it = |row: &ChartRow| matches!(row, ChartRow::Mark(mark) if mark.lane == lane);
    chart.rows.iter().position(is_it).expect("it is marked")
}

/// Only one lane of the first warp stores, so that it races with nothing in its own warp.
const STORE: &str = "setp.eq.u32 %p2, %r1, 0;\n@%p2 st.shared.u32 [%r2], %r1;";
const ARRIVE: &str = "bar.arrive 1, 64;";
const SYNC: &str = "bar.sync 1, 64;";
const LOAD: &str = "ld.shared.u32 %r3, [%r2];";

#[test]
fn a_warp_that_arrives_goes_on_and_one_that_syncs_waits() {
    let chart = chart_of(64, &format!("{STORE}\n{ARRIVE}"), &format!("{SYNC}\n{LOAD}"));
    assert_eq!((chart.verdict, chart.lanes.len(), chart.disorder), (Verdict::Clean, 2, None));
    let [generation] = generations(&chart)[..] else { panic!("{chart:#?}") };
    assert_eq!((generation.barrier, generation.number), (1, 0));
    assert_eq!(generation.fate, GenerationFate::Complete);
    let [arrives, waits] = &generation.participants[..] else { panic!("{chart:#?}") };
    assert_eq!((arrives.lane, arrives.waits, waits.lane, waits.waits), (0, false, 1, true));
    let row = arrives.arrival.expect("its row is shown");
    assert_eq!((&chart.rows[row], waits.arrival), (&ChartRow::Arrival { lane: 0 }, None));
    let ends = chart.rows.iter().filter(|row| matches!(row, ChartRow::End { .. }));
    assert_eq!(ends.count(), 2);
}

#[test]
fn a_store_after_the_arrival_is_not_ordered_before_the_load() {
    let chart = chart_of(64, &format!("{ARRIVE}\n{STORE}"), &format!("{SYNC}\n{LOAD}"));
    assert_eq!((chart.verdict, chart.disorder), (Verdict::Defect, Some(Disorder::Unordered)));
    let [generation] = generations(&chart)[..] else { panic!("{chart:#?}") };
    let arrival = generation.participants[0].arrival.expect("its row is shown");
    let is_generation = |row: &ChartRow| matches!(row, ChartRow::Generation(_));
    let generation = chart.rows.iter().position(is_generation).expect("it is there");
    assert!(arrival < mark_in(&chart, 0), "{chart:#?}");
    assert!(generation < mark_in(&chart, 1), "{chart:#?}");
}

#[test]
fn warps_that_wait_for_each_other_at_two_barriers_wait_for_ever() {
    let chart = chart_of(64, SYNC, "bar.sync 2, 64;");
    let all = generations(&chart);
    let stuck = |own: &&ChartGeneration| match &own.fate {
        GenerationFate::Stuck(lacks) => (own.barrier, own.participants[0].lane, lacks.clone()),
        other => panic!("{other:?}"),
    };
    let lacks = |barrier: u8| format!("barrier {barrier} expects 64 threads, 32 have come");
    let expected = [(1, 0, lacks(1)), (2, 1, lacks(2))];
    assert_eq!(all.iter().map(stuck).collect::<Vec<_>>(), expected);
}

#[test]
fn a_long_loop_is_folded() {
    let looped = |name: &str| {
        format!(
            "mov.u32 %r4, 0;\n${name}:\nbar.sync 0;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p3, %r4, 500;\n@%p3 bra ${name};"
        )
    };
    let chart = chart_of(64, &looped("a"), &looped("b"));
    assert_eq!(generations(&chart).iter().map(|own| own.number).collect::<Vec<_>>(), [0, 1]);
    let fold = ChartFold { lanes: (0, 1), generations: 498, are_alike: true };
    assert!(chart.rows.contains(&ChartRow::Fold(fold)), "{chart:#?}");
}

#[test]
fn of_many_warps_those_that_do_the_same_share_a_lane() {
    let chart = chart_of(1024, "bar.arrive 1, 1024;", "bar.sync 1, 1024;");
    let lanes: Vec<_> = chart.lanes.iter().map(|lane| (lane.first, lane.last)).collect();
    assert_eq!(lanes, [(0, 0), (1, 31)]);
    assert_eq!(generations(&chart)[0].participants.len(), 2);
    let few = chart_of(256, "bar.arrive 1, 256;", "bar.sync 1, 256;");
    assert_eq!(few.lanes.len(), 8);
}
