//! The device's side of the comparison: runs a kernel in the emulator and collects its stores.

use std::collections::{BTreeMap, BTreeSet};

use weft_core::emulate::{
    self, Access, Arrival, AwaitedSignal, BarrierExit, BarrierId, BulkGroup, CopyAgent,
    CopyCommand, Cta, End, Events, Facts, Fault, Fence, Inputs, Iteration, LaneMask, MbarrierEvent,
    MbarrierId, OpenAccess, OrderQuery, ProxyFence, SentSignal, SignalKey, Symbolics, WarpId,
};
use weft_core::flow::{self, Pc, PlaceId};
use weft_core::launch::{Arg, Buffer, Dim3, Launch};
use weft_core::ptx::isa::Effect;
use weft_core::slice::{Dependences, Floats};
use weft_core::{ptx, slice};

use super::{COUNT, OPERANDS};

/// Results by operation and thread; `None`: open.
type Results = Vec<Vec<Option<u64>>>;

/// Collects the stores to the buffer of the second argument.
struct Stores {
    results: Results,
    /// Number of stored words.
    count: usize,
}

impl OrderQuery for Stores {
    fn is_separated(&self, _: WarpId, _: Iteration) -> bool {
        true
    }

    fn knows_completion(&self, _: MbarrierId, _: WarpId, _: LaneMask) -> LaneMask {
        0
    }

    fn knows_work(&self, _: WarpId, _: WarpId, _: LaneMask) -> bool {
        true
    }

    fn awaited_before(&self) -> Vec<SignalKey> {
        Vec::new()
    }
}

impl Events for Stores {
    fn access(&mut self, access: &Access<'_>, _: &Symbolics) {
        let [value] = access.stored else { return };
        for lane in emulate::lanes(access.lanes) {
            let offset = flow::offset_in_buffer(1, access.addresses.bits_of(lane));
            let word = usize::try_from(offset / 8).expect("stores are within the buffer");
            let is_open = value.open_lanes() >> lane & 1 == 1;
            self.results[word / COUNT][word % COUNT] = (!is_open).then(|| value.bits_of(lane));
            self.count += 1;
        }
    }

    fn open_access(&mut self, _: WarpId, _: LaneMask, _: OpenAccess) {
        unreachable!("all addresses are known");
    }

    fn fault(&mut self, fault: Fault) {
        unreachable!("{fault:?}");
    }

    fn copies(&mut self, _: WarpId, _: LaneMask, _: CopyCommand, _: &Symbolics) {
        unreachable!("nothing is copied");
    }

    fn bulk_group(&mut self, _: BulkGroup) {}

    fn lend(&mut self, _: CopyAgent) {}

    fn mbarrier(&mut self, _: MbarrierEvent) {}

    fn fence(&mut self, _: Fence) {}
    fn signal(&mut self, _: SentSignal) {}
    fn await_signal(&mut self, _: AwaitedSignal) {}
    fn proxy_fence(&mut self, _: ProxyFence) {}

    fn converge(&mut self, _: WarpId, _: LaneMask) {}
    fn meet(&mut self, _: WarpId, _: LaneMask) {}

    fn arrive(&mut self, _: Arrival) {}

    fn barrier_exit(&mut self, _: BarrierExit) {}

    fn possible_bypass(&mut self, _: PlaceId) {}

    fn see_cluster(&mut self, _: WarpId) {}
    fn iteration(&mut self, _: WarpId, _: Iteration) {}

    fn complete(&mut self, _: BarrierId) {}

    fn exit(&mut self, _: WarpId, _: LaneMask) {}
}

/// Runs the kernel `group` and returns the results of its `operations` operations for each thread.
pub(crate) fn run(
    text: &str,
    group: &str,
    samples: &[[u64; OPERANDS]],
    operations: usize,
) -> Results {
    let module = ptx::parse(text);
    assert!(module.errors.is_empty(), "{:?}", module.errors);
    let kernel = module.kernel(group).unwrap_or_else(|| panic!("no kernel `{group}` in the PTX"));
    let program = flow::build(&module, kernel).unwrap_or_else(|error| panic!("{group}: {error}"));
    let contents = samples.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
    let launch = Launch {
        args: BTreeMap::from([(0, Arg::Buffer(Buffer { contents: Some(contents) }))]),
        ..Launch::default()
    };
    let block = Dim3::line(u32::try_from(COUNT).expect("a cta has few threads"));
    let dependences = Dependences::of(&program, &emulate::pointers(&program, &launch));
    let inputs = Inputs::new(&program, &launch, block, Dim3::line(1), &dependences)
        .expect("the launch fits");
    let stores: BTreeSet<Pc> = (0_u32..)
        .zip(&program.code)
        .filter(|(_, instr)| instr.effect() == Effect::Store)
        .map(|(at, _)| Pc(at))
        .collect();
    let slice = slice::mark(&program, &stores, Floats::Computed);
    let mut found = Stores { results: vec![vec![None; COUNT]; operations], count: 0 };
    let cta = Cta { at: [0; 3], index: 0 };
    let mut reached = vec![false; program.code.len()];
    let facts = &mut Facts::new();
    let run = emulate::run(&program, &slice, &inputs, cta, facts, &mut found, &mut reached);
    assert_eq!(run.end, End::Finished, "{group}");
    assert_eq!(found.count, operations * COUNT, "{group}: is the saved PTX that of the source?");
    found.results
}
