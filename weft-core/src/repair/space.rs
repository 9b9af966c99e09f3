//! The space of placements of a kernel: its points, what a barrier costs at each, and which accesses it could separate.

use std::collections::{BTreeMap, BTreeSet};

use super::costs::{Cost, Costs, Nesting, Nestings};
use super::cuts::Cuts;
use super::existing::{existing, first_word, has_objects, has_partial};
use super::groups::{GroupId, GroupPlacement, PointGroups};
use super::kind::BarrierKind;
use super::levels::{LevelSource, Levels, levels};
use super::patch::{BarrierPlacement, Patched, is_more, patched};
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
    pub(super) groups: PointGroups,
    pub(super) levels: Levels,
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
        let full = patched(module, &points, &everywhere(&points));
        let full_program = link(&full.module, kernel);
        let cuts = Cuts::of(&full_program, |span| full.place(span));
        let nestings = Nestings::of(&full_program);
        let runs = runs(&full_program, &cuts, points.len());
        let branches = branches(&full_program, &full, &cuts, &nestings, points.len());
        let sites = sites(module, &program);
        let line = |span| own_line(&sites, request.is_source, span);
        let lines: Vec<Option<SourceLine>> =
            points.iter().map(|point| line(point.anchor.span())).collect();
        let nesting = nestings_of(&cuts, &nestings, points.len());
        let place = |span: Span| full.place(span);
        let calls = |span| calls(&sites, span);
        let source = LevelSource {
            program: &full_program,
            place: &place,
            module,
            line: &line,
            calls: &calls,
            accesses,
            existing: &existing,
        };
        let levels = levels(&source, points.len());
        let groups = PointGroups::of(&source, &points, &lines, &nesting, &levels);
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
            groups,
            levels,
            lines,
            sites,
            repeated: repeated(&program),
            is_source: request.is_source,
            costs,
        })
    }

    /// Whether some points get a barrier only together with others, or none since they are no place of the source.
    pub(super) fn has_copies(&self) -> bool {
        let is_no_place = |at| self.groups.of_point(PointId(at)).is_empty();
        self.groups.all().any(|group| self.groups.members(group).len() > 1)
            || (0..self.points.len()).any(is_no_place)
    }

    /// Writes a placement into the text.
    pub(super) fn patched(&self, placement: &GroupPlacement) -> Patched {
        patched(self.module, &self.points, &self.expanded(placement))
    }

    /// Returns the barriers at the points of the groups, the stronger one at a point of two.
    pub(super) fn expanded(&self, placement: &GroupPlacement) -> BarrierPlacement {
        let mut expanded = BarrierPlacement::new();
        for (group, kind) in placement {
            for point in self.groups.members(*group) {
                if is_more(&expanded, *point, *kind) {
                    expanded.insert(*point, *kind);
                }
            }
        }
        expanded
    }

    /// Returns the groups that some of these points are in.
    pub(super) fn groups_of<'p>(
        &self,
        points: impl IntoIterator<Item = &'p PointId>,
    ) -> BTreeSet<GroupId> {
        points.into_iter().flat_map(|point| self.groups.of_point(*point)).copied().collect()
    }

    pub(super) fn line(&self, point: PointId) -> Option<&SourceLine> {
        self.lines[point.0].as_ref()
    }

    pub(super) fn report(&self, patched: &Patched, reports: &[Report]) -> PlacementReport {
        PlacementReport::of(self.module, patched, reports)
    }

    /// Returns the points that could separate two accesses.
    pub(super) fn cut(&self, pair: &RacingPair) -> BTreeSet<PointId> {
        if self.has_partial || pair.finding.code == Code::DependsOnInput {
            return (0..self.points.len()).map(PointId).collect();
        }
        self.cuts.between(pair.accesses[0], pair.accesses[1])
    }

    /// Returns the groups of sets of points that might be such sets for one iteration of a loop or for two
    /// ([`Cuts::guesses`]).
    pub(super) fn guesses(&self, pair: &RacingPair) -> impl Iterator<Item = BTreeSet<GroupId>> {
        let [first, second] = pair.accesses;
        let others = match pair.finding.code {
            Code::DependsOnInput => self.accesses.iter().copied().collect(),
            _ => vec![second],
        };
        let guesses = others.into_iter().flat_map(move |other| {
            let cut = self.cuts.between(first, other);
            self.cuts.guesses(first, other).into_iter().chain([cut])
        });
        guesses.filter(|guess| !guess.is_empty()).map(|all| self.groups_of(&all))
    }

    /// Returns the groups of the points of segments that end at an access.
    pub(super) fn in_front_of(&self, access: Span) -> BTreeSet<GroupId> {
        let ends = |point: &PointId| self.points[point.0].right == Some(access);
        let points: Vec<PointId> = (0..self.points.len()).map(PointId).filter(ends).collect();
        self.groups_of(&points)
    }

    /// Returns the cost of a barrier at the points of a group, and at the copies of their place without a point: each of those
    /// costs what the dearest of the others does.
    pub(super) fn cost(&self, group: GroupId, kind: BarrierKind) -> Cost {
        let members = self.groups.members(group).iter();
        let costs = members.map(|point| self.costs.of(kind, self.nestings[point.0]));
        let (sum, most) = costs.fold((0.0, 0.0), |(sum, most), own| (sum + own, own.max(most)));
        (0..self.groups.missing(group).all).fold(sum, |sum, _| sum + most)
    }

    /// Returns the cost of a placement. A point of two groups counts twice: the source has two barriers then.
    pub(super) fn cost_of(&self, placement: &GroupPlacement) -> Cost {
        placement.iter().fold(0.0, |sum, (group, kind)| sum + self.cost(*group, *kind))
    }

    /// Returns the barriers that the kernel has at its points.
    pub(super) fn given(&self) -> GroupPlacement {
        let kind = |group| Some((group, self.given_at(group)?));
        self.groups.all().filter_map(kind).collect()
    }

    /// Returns the kind of the barriers that the kernel has at the points of a group.
    pub(super) fn given_at(&self, group: GroupId) -> Option<BarrierKind> {
        match self.anchor(group) {
            Anchor::At(_, kind) => Some(kind),
            Anchor::Before(_) | Anchor::After(_) => None,
        }
    }

    /// Returns where the first point of a group lies.
    pub(super) fn anchor(&self, group: GroupId) -> Anchor {
        self.points[self.groups.members(group)[0].0].anchor
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

/// Returns the line of an instruction in a file that the author can change.
fn own_line(
    sites: &BTreeMap<Span, Site>,
    is_source: &dyn Fn(&str) -> bool,
    span: Span,
) -> Option<SourceLine> {
    let site = sites.get(&span)?;
    site.source.iter().find(|line| is_source(&line.file)).cloned()
}

/// Returns the lines of the calls that an instruction is inlined in, innermost first.
fn calls(sites: &BTreeMap<Span, Site>, span: Span) -> Vec<SourceLine> {
    let lines = sites.get(&span).into_iter().flat_map(|site| &site.source);
    lines.skip(1).cloned().collect()
}

/// Returns the instructions that a program has several times.
fn repeated(program: &Program) -> BTreeSet<Span> {
    let mut seen = BTreeSet::new();
    let spans = program.places.iter().map(|place| place.span);
    spans.filter(|span| !seen.insert(*span)).collect()
}

/// Returns the placement with a barrier at every point.
fn everywhere(points: &[Point]) -> BarrierPlacement {
    let kind = |point: &Point| match point.anchor {
        Anchor::At(_, kind) => kind,
        Anchor::Before(_) | Anchor::After(_) => BarrierKind::Cta,
    };
    points.iter().enumerate().map(|(at, point)| (PointId(at), kind(point))).collect()
}

pub(super) fn link(module: &Module, kernel: &str) -> Program {
    let kernel = module.kernel(kernel).expect("the kernel was checked");
    flow::build(module, kernel).expect("a kernel that was checked links")
}

/// Returns the nesting of each point.
fn nestings_of(cuts: &Cuts, nestings: &Nestings<'_>, count: usize) -> Vec<Nesting> {
    let of_point = |at| cuts.blocks(PointId(at)).map(|block| nestings.block(block)).max();
    (0..count).map(|at| of_point(at).unwrap_or_default()).collect()
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
