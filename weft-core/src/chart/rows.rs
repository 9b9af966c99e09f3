//! The rows of a chart, from what was recorded of its ctas.

use std::collections::BTreeMap;

use super::fold::Part;
use super::log::{Entry, GenerationKind};
use crate::emulate::{BarrierId, WarpId};
use crate::finding::{
    ChartFold, ChartGeneration, ChartLane, ChartMark, ChartRow, ChartStop, GenerationFate,
    Participant,
};
use crate::flow::Pc;

/// What is shown of a cta.
pub(super) struct ShownCta {
    /// Coordinates in the grid.
    pub(super) at: [u32; 3],
    pub(super) warps: usize,
    pub(super) parts: Vec<Part>,
    pub(super) kinds: Vec<GenerationKind>,
    /// The generations that never completed, with their numbers.
    pub(super) open: Vec<(GenerationKind, u64)>,
    /// What waiting threads lack at such a generation for ever.
    pub(super) stuck: BTreeMap<BarrierId, String>,
    /// Whether the run stopped before its end, so that open generations might have completed later.
    pub(super) is_cut: bool,
    /// The points that are marked, by number.
    pub(super) marks: BTreeMap<usize, WarpMark>,
    pub(super) stops: Vec<WarpStop>,
}

/// A mark of a warp.
#[derive(Clone, Debug)]
pub(super) struct WarpMark {
    pub(super) warp: WarpId,
    pub(super) label: String,
    pub(super) place: String,
    pub(super) ends_early: bool,
}

/// Warps that stop.
#[derive(Clone, Debug)]
pub(super) struct WarpStop {
    pub(super) warps: Vec<WarpId>,
    pub(super) label: String,
    pub(super) place: String,
    pub(super) is_defect: bool,
    /// Whether these are all warps of the cta, of which it is not known which ones stop.
    pub(super) is_of_all: bool,
}

/// Returns the rows of a chart. `line`: the line of an instruction in words.
pub(super) fn rows(
    ctas: &[ShownCta],
    lanes: &[ChartLane],
    line: &dyn Fn(Pc) -> String,
) -> Vec<ChartRow> {
    let mut rows = Vec::new();
    for cta in ctas {
        let mut builder = RowBuilder { cta, lanes, line, rows, arrivals: BTreeMap::new() };
        builder.add_all();
        rows = builder.rows;
    }
    rows
}

/// Adds the rows of a cta.
struct RowBuilder<'a> {
    cta: &'a ShownCta,
    lanes: &'a [ChartLane],
    line: &'a dyn Fn(Pc) -> String,
    rows: Vec<ChartRow>,
    /// The rows of the arrivals, by warp and generation.
    arrivals: BTreeMap<(WarpId, BarrierId, u64), usize>,
}

impl RowBuilder<'_> {
    fn add_all(&mut self) {
        for part in &self.cta.parts {
            self.add(part);
        }
        for (kind, number) in &self.cta.open {
            let fate = match self.cta.stuck.get(&kind.barrier) {
                Some(lacks) => GenerationFate::Stuck(lacks.clone()),
                None if self.cta.is_cut => GenerationFate::Unknown,
                None => GenerationFate::Unused,
            };
            self.add_generation(kind, *number, fate);
        }
        for stop in &self.cta.stops {
            let WarpStop { warps, label, place, is_defect, .. } = stop;
            let mut lanes: Vec<_> = warps.iter().filter_map(|warp| self.lane(*warp)).collect();
            lanes.sort_unstable();
            lanes.dedup();
            let (label, place) = (label.clone(), place.clone());
            let is_defect = *is_defect;
            self.rows.push(ChartRow::Stop(ChartStop { lanes, label, place, is_defect }));
        }
    }

    fn add(&mut self, part: &Part) {
        match *part {
            Part::Fold { generations, are_alike } => {
                self.fold(generations, are_alike);
            }
            Part::Shown(Entry::Gap(generations)) => self.fold(generations, false),
            Part::Shown(Entry::Arrival { warp, barrier, number }) => {
                if let Some(lane) = self.lane_of_first(warp) {
                    self.arrivals.insert((warp, barrier, number), self.rows.len());
                    self.rows.push(ChartRow::Arrival { lane });
                }
            }
            Part::Shown(Entry::End(warp)) => {
                let row = self.lane_of_first(warp).map(|lane| ChartRow::End { lane });
                self.rows.extend(row);
            }
            Part::Shown(Entry::Generation { kind, number }) => {
                let cta = self.cta;
                self.add_generation(&cta.kinds[kind], number, GenerationFate::Complete);
            }
            Part::Shown(Entry::Point(number)) => {
                if let Some(WarpMark { warp, label, place, ends_early }) =
                    self.cta.marks.get(&number)
                    && let Some(lane) = self.lane(*warp)
                {
                    let (label, place) = (label.clone(), place.clone());
                    let ends_early = *ends_early;
                    self.rows.push(ChartRow::Mark(ChartMark { lane, label, place, ends_early }));
                }
            }
        }
    }

    fn fold(&mut self, generations: u64, are_alike: bool) {
        let first = self.lane(WarpId::new(0));
        let last = self.lane(WarpId::new(self.cta.warps.saturating_sub(1)));
        if let (Some(first), Some(last)) = (first, last) {
            let lanes = (first, last);
            self.rows.push(ChartRow::Fold(ChartFold { lanes, generations, are_alike }));
        }
    }

    fn add_generation(&mut self, kind: &GenerationKind, number: u64, fate: GenerationFate) {
        let mut participants = Vec::new();
        for arrival in &kind.arrivals {
            if let Some(lane) = self.lane_of_first(arrival.warp) {
                let key = (arrival.warp, kind.barrier, number);
                let row = self.arrivals.get(&key).copied().filter(|_| !arrival.waits);
                let line = (self.line)(arrival.pc);
                let waits = arrival.waits;
                participants.push(Participant { lane, waits, arrival: row, line });
            }
        }
        let barrier = kind.barrier.name();
        let generation = ChartGeneration { barrier, number, participants, fate };
        self.rows.push(ChartRow::Generation(generation));
    }

    /// Returns the lane of a warp.
    fn lane(&self, warp: WarpId) -> Option<usize> {
        let is_it = |lane: &ChartLane| {
            lane.cta == self.cta.at && (lane.first..=lane.last).contains(&warp.index())
        };
        self.lanes.iter().position(is_it)
    }

    /// Returns the lane of a warp that is the first one of its lane: the others do the same.
    fn lane_of_first(&self, warp: WarpId) -> Option<usize> {
        self.lane(warp).filter(|lane| self.lanes[*lane].first == warp.index())
    }
}
