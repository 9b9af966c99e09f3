//! The space of placements of a kernel: its points, what a barrier costs at each, and which accesses it could separate.

use std::collections::{BTreeMap, BTreeSet};

use super::costs::{Cost, Costs, Nesting, Nestings};
use super::cuts::Cuts;
use super::existing::{existing, first_word, has_objects, has_partial};
use super::kind::BarrierKind;
use super::patch::{BarrierPlacement, Patched, patched};
use super::placement_report::{PlacementReport, RacingPair};
use super::points::{Anchor, Point, PointId, chains, later_labels, points};
use super::request::RepairRequest;
use crate::explain::site_at;
use crate::finding::{Code, Report, Role, Site, SourceLine};
use crate::flow::{self, BlockId, Program};
use crate::ptx::{Module, Span};

/// The points of a kernel.
pub(super) struct PlacementSpace<'m> {
    module: &'m Module,
    pub(super) points: Vec<Point>,
    pub(super) nestings: Vec<Nesting>,
    pub(super) cuts: Cuts,
    /// Whether threads of one warp can tell another warp, at a barrier between some threads or through an mbarrier object, what
    /// they learnt at a barrier of their own.
    pub(super) has_partial: bool,
    /// Whether threads wait at mbarrier objects: which races are seen then depends on phases, and one barrier more can be a
    /// deadlock.
    pub(super) has_objects: bool,
    /// The accesses that points are told apart by.
    pub(super) accesses: BTreeSet<Span>,
    /// For each point, the run of blocks without a branch that it lies in; `None` if it lies in several.
    runs: Vec<Option<usize>>,
    /// For each branch, the points between it and the place where its sides converge, and in the innermost loop that it leaves.
    branches: BTreeMap<Span, BTreeSet<PointId>>,
    /// For each point, the first point of the same source line: these get a barrier together.
    leader: Vec<PointId>,
    /// For each point, its line in a file that the author can change.
    lines: Vec<Option<SourceLine>>,
    /// The instructions of the kernel, with their lines, and the labels that points stand in front of.
    sites: BTreeMap<Span, Site>,
    /// Instructions of functions that are called from several places: their lines differ in those of the calls.
    repeated: BTreeSet<Span>,
    is_source: &'m dyn Fn(&str) -> bool,
    costs: Costs,
}

/// Most points, and most blocks of a kernel without them, that are searched.
const MOST_POINTS: usize = 4000;

impl<'m> PlacementSpace<'m> {
    /// `accesses`: the instructions that race; `through_objects`: whether what a thread learns at a barrier is taken to reach
    /// others through mbarrier objects.
    ///
    /// # Errors
    /// More points or blocks than are searched: their number.
    pub(super) fn new(
        request: &RepairRequest<'m>,
        accesses: &BTreeSet<Span>,
        through_objects: bool,
    ) -> Result<Self, usize> {
        let RepairRequest { module, kernel, aim, costs, .. } = *request;
        let program = link(module, kernel);
        let existing = existing(&program, aim);
        let has_objects = has_objects(&program);
        let has_partial = through_objects && has_objects || has_partial(&program, &existing);
        let points = points(module, &program, accesses, &existing);
        let size = points.len().max(program.blocks.len());
        if size > MOST_POINTS {
            return Err(size);
        }
        let everywhere = points.iter().enumerate().map(|(at, point)| {
            let kind = match point.anchor {
                Anchor::At(_, kind) => kind,
                _ => BarrierKind::Cta,
            };
            (PointId(at), kind)
        });
        let full = patched(module, &points, &everywhere.collect());
        let full_program = link(&full.module, kernel);
        let cuts = Cuts::of(&full_program, |span| full.place(span));
        let nestings = Nestings::of(&full_program);
        let of_point = |at: usize| {
            cuts.blocks(PointId(at)).map(|block| nestings.block(block)).max().unwrap_or_default()
        };
        let runs = runs(&full_program, &cuts, points.len());
        let branches = branches(&full_program, &full, &cuts, &nestings, points.len());
        let sites = sites(module, &program);
        let mut seen = BTreeSet::new();
        let repeated = instruction_spans(&program).filter(|span| !seen.insert(*span)).collect();
        let line = |point: &Point| {
            let site = sites.get(&point.anchor.span())?;
            site.source.iter().find(|line| (request.is_source)(&line.file)).cloned()
        };
        let lines: Vec<Option<SourceLine>> = points.iter().map(line).collect();
        let nesting: Vec<Nesting> = (0..points.len()).map(of_point).collect();
        let leader = leaders(module, &points, &lines, &nesting);
        Ok(Self {
            module,
            points,
            has_partial,
            has_objects,
            accesses: accesses.clone(),
            nestings: nesting,
            cuts,
            runs,
            branches,
            leader,
            lines,
            sites,
            repeated,
            is_source: request.is_source,
            costs,
        })
    }

    /// Whether some points get a barrier only together.
    pub(super) fn has_copies(&self) -> bool {
        self.leaders().count() < self.points.len()
    }

    /// Writes a placement, which is stated for leaders, into the text.
    pub(super) fn patched(&self, placement: &BarrierPlacement) -> Patched {
        patched(self.module, &self.points, &self.expanded(placement))
    }

    /// Returns the placement with the points that follow the leaders.
    pub(super) fn expanded(&self, placement: &BarrierPlacement) -> BarrierPlacement {
        let barriers = placement
            .iter()
            .flat_map(|(leader, kind)| self.members(*leader).map(|point| (point, *kind)));
        barriers.collect()
    }

    /// Returns the first point of the source line of a point.
    pub(super) fn leader(&self, point: PointId) -> PointId {
        self.leader[point.0]
    }

    pub(super) fn leaders(&self) -> impl Iterator<Item = PointId> {
        (0..self.points.len()).map(PointId).filter(|point| self.leader(*point) == *point)
    }

    /// Returns the points of a leader, itself included.
    pub(super) fn members(&self, leader: PointId) -> impl Iterator<Item = PointId> {
        (leader.0..self.points.len())
            .map(PointId)
            .filter(move |point| self.leader(*point) == leader)
    }

    pub(super) fn line(&self, point: PointId) -> Option<&SourceLine> {
        self.lines[point.0].as_ref()
    }

    pub(super) fn report(&self, patched: &Patched, reports: &[Report]) -> PlacementReport {
        PlacementReport::of(self.module, patched, reports)
    }

    /// Returns the leaders of the points that could separate two accesses.
    pub(super) fn cut(&self, pair: &RacingPair) -> BTreeSet<PointId> {
        if self.has_partial || pair.finding.code == Code::DependsOnInput {
            return self.leaders().collect();
        }
        let cut = self.cuts.between(pair.accesses[0], pair.accesses[1]);
        cut.into_iter().map(|point| self.leader(point)).collect()
    }

    /// Returns sets of leaders that might be such sets for one iteration of a loop or for two ([`Cuts::guesses`]).
    pub(super) fn guesses(&self, pair: &RacingPair) -> impl Iterator<Item = BTreeSet<PointId>> {
        let [first, second] = pair.accesses;
        let others = match pair.finding.code {
            Code::DependsOnInput => self.accesses.iter().copied().collect(),
            _ => vec![second],
        };
        let guesses = others.into_iter().flat_map(move |other| {
            let cut = self.cuts.between(first, other);
            self.cuts.guesses(first, other).into_iter().chain([cut])
        });
        guesses
            .filter(|guess| !guess.is_empty())
            .map(|all| all.into_iter().map(|point| self.leader(point)).collect())
    }

    /// Returns the leaders of the points of segments that end at an access.
    pub(super) fn in_front_of(&self, access: Span) -> BTreeSet<PointId> {
        let ends = |point: &PointId| self.points[point.0].right == Some(access);
        (0..self.points.len()).map(PointId).filter(ends).map(|point| self.leader(point)).collect()
    }

    /// Returns the cost of a barrier at the points of a leader.
    pub(super) fn cost(&self, leader: PointId, kind: BarrierKind) -> Cost {
        self.members(leader)
            .fold(0.0, |sum, point| sum + self.costs.of(kind, self.nestings[point.0]))
    }

    pub(super) fn cost_of(&self, placement: &BarrierPlacement) -> Cost {
        placement.iter().fold(0.0, |sum, (point, kind)| sum + self.cost(*point, *kind))
    }

    /// Returns the barriers that the kernel has at its points.
    pub(super) fn given(&self) -> BarrierPlacement {
        let kind = |(at, point): (usize, &Point)| match point.anchor {
            Anchor::At(_, kind) if self.leader[at].0 == at => Some((PointId(at), kind)),
            _ => None,
        };
        self.points.iter().enumerate().filter_map(kind).collect()
    }

    /// Returns the points that the same threads reach as this one, because no branch lies between.
    pub(super) fn in_run_of(&self, point: PointId) -> impl Iterator<Item = PointId> {
        let own = self.runs[point.0];
        let is_in = move |(_, run): &(usize, &Option<usize>)| own.is_some() && **run == own;
        self.runs.iter().enumerate().filter(is_in).map(|(at, _)| PointId(at))
    }

    /// Returns the points inside the sides of a branch, and in the innermost loop that it leaves.
    pub(super) fn inside(&self, branch: Span) -> impl Iterator<Item = PointId> {
        self.branches.get(&branch).into_iter().flatten().copied()
    }

    /// Returns an instruction of the kernel.
    pub(super) fn site(&self, span: Span) -> Site {
        self.sites.get(&span).expect("a point is beside instructions of the kernel").clone()
    }

    /// Whether the author can change the file of a line.
    pub(super) fn is_source(&self, line: &SourceLine) -> bool {
        (self.is_source)(&line.file)
    }

    /// Returns an instruction with its lines from the first one on that the author can change; with all if there is none.
    pub(super) fn shown(&self, span: Span) -> Site {
        let mut site = self.site(span);
        let own = site.source.iter().position(|line| self.is_source(line));
        site.source.drain(..own.unwrap_or(0));
        site
    }

    /// Returns the lines of an instruction, innermost first; none if they differ from call to call.
    pub(super) fn lines_of(&self, span: Span) -> &[SourceLine] {
        let site = self.sites.get(&span).filter(|_| self.has_one_place(span));
        site.map_or(&[], |site| &site.source)
    }

    /// Whether an instruction is of no function that is called from several places.
    pub(super) fn has_one_place(&self, span: Span) -> bool {
        !self.repeated.contains(&span)
    }

    /// Returns the instructions that come from a line, by themselves or in a function that is called there.
    pub(super) fn spans_of(&self, line: &SourceLine) -> impl Iterator<Item = Span> {
        let is_own = |own: &SourceLine| own.line == line.line && own.file == line.file;
        let of_line = self.sites.iter().filter(move |(_, site)| site.source.iter().any(is_own));
        of_line.map(|(span, _)| *span)
    }

    /// Whether the mnemonics of two instructions begin with the same word.
    pub(super) fn is_alike(&self, one: Span, other: Span) -> bool {
        let word = |span| first_word(self.module.mnemonic_in(span));
        word(one) == word(other)
    }

    /// Whether an instruction is under a predicate.
    pub(super) fn is_guarded(&self, span: Span) -> bool {
        self.module.name(span).starts_with('@')
    }
}

/// Returns the instructions of a program, and the labels that points stand in front of.
fn sites(module: &Module, program: &Program) -> BTreeMap<Span, Site> {
    let label = |span| flow::Place { span, source: Vec::new() };
    let labels: Vec<_> = later_labels(module, program).map(label).collect();
    let places = program.places.iter().chain(&labels);
    places.map(|place| (place.span, site_at(module, Role::Here, place, String::new()))).collect()
}

fn instruction_spans(program: &Program) -> impl Iterator<Item = Span> {
    program.places.iter().map(|place| place.span)
}

pub(super) fn link(module: &Module, kernel: &str) -> Program {
    let kernel = module.kernel(kernel).expect("the kernel was checked");
    flow::build(module, kernel).expect("a kernel that was checked links")
}

/// What the copies of a point have in common: the line, the side, the first word of the instruction, and the loops and
/// conditions around it. The rest of an instruction can differ: compilers compare with zero in the last copy of a loop.
type PointKey<'p> = (&'p SourceLine, u8, &'p str, Nesting);

/// Returns for each point the first one that is a copy of the same place in the source.
fn leaders(
    module: &Module,
    points: &[Point],
    lines: &[Option<SourceLine>],
    nestings: &[Nesting],
) -> Vec<PointId> {
    let mut first: BTreeMap<PointKey<'_>, PointId> = BTreeMap::new();
    let mut leaders = Vec::with_capacity(points.len());
    for (at, ((point, line), nesting)) in points.iter().zip(lines).zip(nestings).enumerate() {
        let side = match point.anchor {
            Anchor::Before(_) => 0,
            Anchor::After(_) => 1,
            Anchor::At(_, BarrierKind::Cta) => 2,
            Anchor::At(_, BarrierKind::Warp) => 3,
        };
        let word = first_word(module.mnemonic_in(point.anchor.span()));
        let own = PointId(at);
        let key = line.as_ref().map(|line| (line, side, word, *nesting));
        leaders.push(key.map_or(own, |key| *first.entry(key).or_insert(own)));
    }
    leaders
}

/// Returns for each point the run of blocks without a branch that it lies in, if there is only one.
fn runs(program: &Program, cuts: &Cuts, count: usize) -> Vec<Option<usize>> {
    let runs = chains(program);
    let run_of = |block| runs.iter().position(|run| run.contains(&block));
    let of_point = |at| {
        let mut blocks = cuts.blocks(PointId(at));
        let first = blocks.next().filter(|_| blocks.next().is_none())?;
        run_of(first)
    };
    (0..count).map(of_point).collect()
}

/// Returns for each branch the points inside its sides, and in the innermost loop that it leaves.
fn branches(
    program: &Program,
    full: &Patched,
    cuts: &Cuts,
    nestings: &Nestings<'_>,
    count: usize,
) -> BTreeMap<Span, BTreeSet<PointId>> {
    let mut found: BTreeMap<Span, BTreeSet<PointId>> = BTreeMap::new();
    for (at, block) in program.blocks.iter().enumerate() {
        if block.terminator.successors().len() < 2 {
            continue;
        }
        let Ok(span) = full.place(program.places[block.place.0 as usize].span) else { continue };
        let is_inside = |point: &PointId| {
            cuts.blocks(*point).any(|own| nestings.is_decided_by(BlockId::at(at), own))
        };
        found.entry(span).or_default().extend((0..count).map(PointId).filter(is_inside));
    }
    found
}
