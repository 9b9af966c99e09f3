//! Launches of many ctas: every cta is run, and the verdict is that of brute force.

use std::collections::BTreeSet;

use weft_core::finding::{Code, Report, Verdict};
use weft_core::launch::{Arg, Buffer, Dim3, Launch, Limit, Options};
use weft_core::{check, ptx};

/// Each thread stores its cta's number to a word in the slot that `slots` assigns to its cta.
const KERNEL: &str = "\
.version 8.0\n.target sm_80\n.address_size 64\n\
.visible .entry k(.param .u64 out, .param .u64 slots)\n{\n\
.reg .u32 %r<6>;\n.reg .u64 %rd<6>;\n\
ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [slots];\n\
mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ctaid.y;\nmov.u32 %r4, %nctaid.x;\n\
mad.lo.u32 %r2, %r3, %r4, %r2;\n\
mad.wide.u32 %rd3, %r2, 4, %rd2;\nld.global.u32 %r3, [%rd3];\n\
mad.lo.u32 %r3, %r3, 4, %r1;\nmad.wide.u32 %rd3, %r3, 4, %rd1;\nst.global.u32 [%rd3], %r2;\nret;\n}\n";

fn report(slots: &[u32], grid: Dim3, limit: Limit, past_findings: bool) -> Report {
    let module = ptx::parse(KERNEL);
    assert!(module.errors.is_empty(), "{:?}", module.errors);
    let contents = slots.iter().flat_map(|slot| slot.to_le_bytes()).collect();
    let buffer = |contents| Arg::Buffer(Buffer { contents });
    let launch = Launch {
        block: Some(Dim3::line(4).into()),
        grid: Some(grid.into()),
        args: [(0, buffer(None)), (1, buffer(Some(contents)))].into(),
        options: Options { past_findings, ..Options::default() },
        limit,
        ..Launch::default()
    };
    check(&module, module.kernel("k").expect("the text declares it"), &launch).expect("it fits")
}

/// Pseudo-random numbers (xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from(self.0 % u64::from(end)).unwrap_or(0)
    }

    /// Returns an assignment of `count` slots to ctas: a permutation in which mostly two ctas share a slot.
    fn slots(&mut self, count: u32) -> Vec<u32> {
        let mut slots: Vec<u32> = (0..count).collect();
        for at in (1..count).rev() {
            slots.swap(at as usize, self.below(at + 1) as usize);
        }
        if self.below(3) > 0 {
            slots[self.below(count) as usize] = slots[self.below(count) as usize];
        }
        slots
    }
}

#[test]
fn two_ctas_that_share_a_slot_are_found_wherever_they_are() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let (mut raced, mut late) = (0, 0);
    for _ in 0..60 {
        let (x, y) = (1 + random.below(100), 1 + random.below(3));
        let slots = random.slots(x * y);
        let distinct = |slots: &[u32]| slots.iter().collect::<BTreeSet<_>>().len() == slots.len();
        let races = !distinct(&slots);
        for past_findings in [false, true] {
            let report = report(&slots, Dim3 { x, y, z: 1 }, Limit::default(), past_findings);
            let expected = if races { Verdict::Defect } else { Verdict::Clean };
            assert_eq!(report.verdict(), expected, "{slots:?}");
            let are_all_run = report.stats.ctas == u64::from(x * y);
            let is_said = report.findings.iter().any(|finding| finding.code == Code::Limit);
            assert_eq!(are_all_run, !is_said, "{report:?}");
            assert!(are_all_run || races && !past_findings);
        }
        raced += u32::from(races);
        late += u32::from(races && distinct(&slots[..slots.len().min(64)]));
    }
    assert!((20..50).contains(&raced) && late >= 10, "{raced} race, {late} behind the first ctas");
}

#[test]
fn what_is_not_run_is_never_clean() {
    let slots: Vec<u32> = (0..300).collect();
    let grid = Dim3::line(300);
    let plain = Limit::default();
    let whole = report(&slots, grid, plain, false);
    assert_eq!((whole.verdict(), whole.stats.ctas), (Verdict::Clean, 300));
    let steps = (0..18).map(|exponent| 1_u64 << exponent);
    let instructions = steps.clone().map(|step| Limit { instructions: step, ..plain });
    let memory = steps.map(|step| Limit { memory: step << 6, ..plain });
    let (mut open, mut clean) = (0, 0);
    for limit in instructions.chain(memory) {
        let report = report(&slots, grid, limit, false);
        let is_said = report.findings.iter().any(|finding| finding.code == Code::Limit);
        match report.verdict() {
            Verdict::Clean => assert_eq!(report.stats.ctas, 300, "{limit:?}"),
            verdict => assert!(verdict == Verdict::Open && is_said, "{limit:?}: {report:?}"),
        }
        *(if is_said { &mut open } else { &mut clean }) += 1;
    }
    assert!(open >= 15 && clean >= 3, "{open} open, {clean} clean");
}
