use super::*;
use crate::emulate::CtaRank;
use crate::flow::Pc;

/// A warp that waits at a barrier alone.
fn synchronize_alone(order: &mut Order, warp: WarpId) {
    let barrier = BarrierId::named(CtaRank::default(), 1).expect("one of sixteen");
    order.arrive(Arrival { warp, barrier, waits: true, releases: LaneMask::MAX, pc: Pc(0) });
    order.complete(barrier);
}

#[test]
fn all_that_live_have_to_know() {
    let all = LaneMask::MAX;
    let [first, second] = [0, 1].map(WarpId::new);
    let mut order = Order::new(&[1, all].into_iter().collect());
    assert!(!order.is_before_all(second, Epoch::default(), all), "it does not know itself");
    synchronize_alone(&mut order, second);
    assert!(!order.is_before_all(second, Epoch::default(), all), "the first warp does not know");
    order.exit(first, 1);
    assert!(order.is_before_all(second, Epoch::default(), all), "nobody else is left");
}
