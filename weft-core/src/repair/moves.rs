//! Barriers that can go besides those of the search: those that an insertion makes superfluous, and uses of named barriers.

use std::collections::BTreeMap;

use super::existing::{BarrierRole, existing};
use super::outcome::{Action, Change};
use super::patch::{Edit, edited};
use super::placement_report::assumptions;
use super::request::{Aim, CheckDepth, Oracle, RepairRequest, Uniformity};
use super::space::link;
use crate::explain::site_at;
use crate::finding::{Assumption, Report, Role, Site, SourceLine, Verdict};
use crate::flow::{Operand, Program};
use crate::ptx::isa::{Effect, Modifier};
use crate::ptx::{self, Module, Span};

/// Most barriers, or sets of uses of named barriers, that are examined.
const MOST: usize = 8;

/// Changes of a module that are made one after the other.
pub(super) struct Removals<'r, 'm, 'o, 'c, E> {
    request: &'r RepairRequest<'m>,
    program: Program,
    oracle: &'o mut Oracle<'c, E>,
    /// All changes of the text so far.
    pub(super) edits: Vec<Edit>,
    /// The removals.
    pub(super) changes: Vec<Change>,
    /// What the verdict with the last removal rests on, if there is one.
    pub(super) assumptions: Option<Vec<Assumption>>,
}

impl<'r, 'm, 'o, 'c, E> Removals<'r, 'm, 'o, 'c, E> {
    /// `edits`: the changes that a repair makes.
    pub(super) fn new(
        request: &'r RepairRequest<'m>,
        edits: Vec<Edit>,
        oracle: &'o mut Oracle<'c, E>,
    ) -> Self {
        let program = link(request.module, request.kernel);
        Self { request, program, oracle, edits, changes: Vec::new(), assumptions: None }
    }

    /// Removes each barrier that the kernel needed before the changes, but does not need with them: it has moved.
    ///
    /// # Errors
    /// Those of the check.
    pub(super) fn of_moved(&mut self) -> Result<(), E> {
        // With this aim, what could go is optional.
        let barriers = existing(&self.program, Aim::Minimize);
        let optional = barriers.iter().filter(|(_, own)| own.role == BarrierRole::Optional);
        let optional = self.by_line(optional.map(|(span, _)| *span));
        if optional.is_empty() {
            return Ok(());
        }
        let before = races(&self.whole(self.request.module)?);
        for copies in optional.iter().take(MOST) {
            let gone: Vec<Edit> = copies.iter().map(|span| removal(*span)).collect();
            let without = edited(self.request.module.text(), &gone);
            let reports = self.whole(&ptx::parse(&without))?;
            if races(&reports) > before {
                self.remove(copies)?;
            }
        }
        Ok(())
    }

    /// Returns barriers in the order of the text, with those of one source line together: its copies, where a loop is
    /// unrolled or a function inlined.
    fn by_line(&self, barriers: impl Iterator<Item = Span>) -> Vec<Vec<Span>> {
        let mut found: Vec<(Option<SourceLine>, Vec<Span>)> = Vec::new();
        for span in barriers {
            let line = self.line(span);
            match found.iter_mut().find(|(known, _)| known.is_some() && *known == line) {
                Some((_, copies)) => copies.push(span),
                None => found.push((line, vec![span])),
            }
        }
        found.into_iter().map(|(_, copies)| copies).collect()
    }

    /// Returns the line of an instruction in a file that the author can change.
    fn line(&self, span: Span) -> Option<SourceLine> {
        let site = self.site(span)?;
        site.source.into_iter().find(|line| (self.request.is_source)(&line.file))
    }

    fn site(&self, span: Span) -> Option<Site> {
        let place = self.program.places.iter().find(|place| place.span == span)?;
        Some(site_at(self.request.module, Role::Here, place, String::new()))
    }

    fn whole(&mut self, module: &Module) -> Result<Vec<Report>, E> {
        self.oracle.reports(module, Uniformity::Launch, CheckDepth::Whole)
    }

    /// Removes the uses of each named barrier together, or of an arrival and a wait of it, if the kernel is clean without
    /// them.
    ///
    /// # Errors
    /// Those of the check.
    pub(super) fn of_named(&mut self) -> Result<(), E> {
        for uses in named(&self.program).into_values() {
            let all: Vec<Span> = uses.iter().map(|(span, _)| *span).collect();
            if all.len() > 1 && self.remove(&all)? {
                continue;
            }
            let pairs = uses.iter().filter(|(_, waits)| !waits).flat_map(|(arrival, _)| {
                uses.iter().filter(|(_, waits)| *waits).map(move |(wait, _)| [*arrival, *wait])
            });
            for pair in pairs.take(MOST).collect::<Vec<_>>() {
                if self.remove(&pair)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Removes some instructions if the kernel is clean without them. Returns whether it is.
    fn remove(&mut self, spans: &[Span]) -> Result<bool, E> {
        if self.oracle.is_spent() {
            return Ok(false);
        }
        let module = self.request.module;
        let gone = spans.iter().map(|span| removal(*span));
        let all: Vec<Edit> = self.edits.iter().cloned().chain(gone).collect();
        let changed = ptx::parse(&edited(module.text(), &all));
        let reports = self.oracle.reports(&changed, Uniformity::Launch, CheckDepth::FirstDefect)?;
        let is_clean = reports.iter().all(|report| report.verdict() == Verdict::Clean);
        if is_clean {
            self.edits = all;
            self.assumptions = Some(assumptions(&reports));
            for copies in self.by_line(spans.iter().copied()) {
                let line = self.line(copies[0]);
                let change = |site| Change::of_barrier(Action::Remove, site, line, copies.len());
                self.changes.extend(self.site(copies[0]).map(change));
            }
        }
        Ok(is_clean)
    }
}

fn removal(span: Span) -> Edit {
    Edit { range: (span.start as usize, span.end as usize), text: String::new() }
}

/// Returns the uses of each named barrier with a thread count, with whether they wait. A use of a barrier that a register
/// names is of no known barrier.
fn named(program: &Program) -> BTreeMap<u64, Vec<(Span, bool)>> {
    let mut found: BTreeMap<u64, Vec<(Span, bool)>> = BTreeMap::new();
    for instr in program.code.iter().filter(|instr| instr.effect() == Effect::Barrier) {
        let is_plain = instr.dests.is_empty() && instr.guard.is_none() && instr.sources.len() == 2;
        if let (Some(Operand::Constant(name)), true) = (instr.sources.first(), is_plain) {
            let span = program.places[instr.place.0 as usize].span;
            let arrives = instr.decoded().is_some_and(|own| own.modifiers.has(Modifier::Arrive));
            let uses = found.entry(*name).or_default();
            if !uses.contains(&(span, !arrives)) {
                uses.push((span, !arrives));
            }
        }
    }
    found
}

/// The number of findings about racing pairs.
fn races(reports: &[Report]) -> usize {
    reports.iter().flat_map(|report| &report.findings).filter(|own| own.pairs.is_some()).count()
}
