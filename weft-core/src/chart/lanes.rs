//! The lanes of a chart: the warps of a cta, or where there are many, neighbouring warps that do the same as one lane.

use super::fold::Part;
use super::log::{Entry, GenerationKind};
use super::rows::ShownCta;
use crate::emulate::{BarrierId, WarpId};
use crate::finding::ChartLane;
use crate::flow::Pc;

/// Of more warps than this, neighbours that do the same share a lane.
const MOST_SINGLE: usize = 8;

/// What a warp does in a shown part of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Arrives(BarrierId, u64),
    TakesPart { barrier: BarrierId, number: u64, waits: bool, pc: Pc },
    IsMarked(usize),
    Stops(usize),
    Ends,
}

/// Returns the lanes of ctas, from left to right.
pub(super) fn lanes(ctas: &[ShownCta]) -> Vec<ChartLane> {
    let are_many = ctas.iter().map(|cta| cta.warps).sum::<usize>() > MOST_SINGLE;
    ctas.iter().flat_map(|cta| of_cta(cta, are_many)).collect()
}

fn of_cta(cta: &ShownCta, may_share: bool) -> Vec<ChartLane> {
    let mut lanes: Vec<ChartLane> = Vec::new();
    let mut last = None;
    for warp in 0..cta.warps {
        let deeds = may_share.then(|| deeds(cta, WarpId::new(warp)));
        match lanes.last_mut() {
            Some(lane) if may_share && last == deeds => lane.last = warp,
            _ => lanes.push(ChartLane { cta: cta.at, first: warp, last: warp }),
        }
        last = deeds;
    }
    lanes
}

/// Returns what a warp does, in order.
fn deeds(cta: &ShownCta, warp: WarpId) -> Vec<Deed> {
    let mut deeds = Vec::new();
    let mut take_part = |GenerationKind { barrier, arrivals }: &GenerationKind, number: u64| {
        let own = arrivals.iter().filter(|arrival| arrival.warp == warp);
        deeds.extend(own.map(|arrival| Deed::TakesPart {
            barrier: *barrier,
            number,
            waits: arrival.waits,
            pc: arrival.pc,
        }));
    };
    for (kind, number) in &cta.open {
        take_part(kind, *number);
    }
    for part in &cta.parts {
        if let Part::Shown(Entry::Generation { kind, number }) = part {
            take_part(&cta.kinds[*kind], *number);
        }
    }
    let others = cta.parts.iter().filter_map(|part| match part {
        Part::Shown(Entry::Arrival { warp: own, barrier, number }) if *own == warp => {
            Some(Deed::Arrives(*barrier, *number))
        }
        Part::Shown(Entry::End(own)) if *own == warp => Some(Deed::Ends),
        Part::Shown(Entry::Point(number)) => {
            cta.marks.get(number).filter(|mark| mark.warp == warp).map(|_| Deed::IsMarked(*number))
        }
        _ => None,
    });
    deeds.extend(others);
    let stops = cta.stops.iter().enumerate();
    let own = stops.filter(|(_, stop)| stop.warps.contains(&warp) && !stop.is_of_all);
    deeds.extend(own.map(|(at, _)| Deed::Stops(at)));
    deeds
}
