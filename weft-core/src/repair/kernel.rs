//! The repair of a kernel: searches a placement, again with more points where other accesses race, and then takes out what
//! need not stay.

use std::collections::BTreeSet;

use super::costs::Cost;
use super::groups::GroupPlacement;
use super::mend::{Optimality, mend};
use super::moves::Removals;
use super::outcome::{KernelRepair, Obstacle, RepairOutcome};
use super::placement_report::RacingPair;
use super::request::{Aim, Oracle, RepairCheck, RepairRequest, Uniformity};
use super::search::{FaultyBarriers, PlacementSearch, checked};
use super::search_end::SearchEnd;
use super::space::PlacementSpace;
use crate::explain::doubts::says_too_long;

/// Finds the cheapest barriers that make a kernel clean.
///
/// # Errors
/// Those of `check`.
pub fn repair<'c, E>(
    request: &RepairRequest<'_>,
    check: &'c mut RepairCheck<'c, E>,
) -> Result<KernelRepair, E> {
    let mut oracle = Oracle::new(check, request.most_checks);
    let mut outcome = outcome(request, &mut oracle)?;
    let mut superfluous = Vec::new();
    match (&mut outcome, request.aim) {
        (RepairOutcome::Mended(mend), Aim::Insert) => {
            let mut removals = Removals::new(request, mend.edits.clone(), &mut oracle);
            removals.of_moved()?;
            let Removals { edits, changes, assumptions, .. } = removals;
            mend.edits = edits;
            mend.assumptions = assumptions.unwrap_or_else(|| std::mem::take(&mut mend.assumptions));
            mend.changes.extend(changes);
            mend.edits.sort();
            mend.changes.sort_by_key(|change| change.site.span);
        }
        (RepairOutcome::Unchanged { .. } | RepairOutcome::Mended(_), Aim::Minimize) => {
            let edits =
                if let RepairOutcome::Mended(mend) = &outcome { &mend.edits[..] } else { &[] };
            let mut removals = Removals::new(request, edits.to_vec(), &mut oracle);
            removals.of_named()?;
            superfluous = removals.changes;
        }
        _ => {}
    }
    Ok(KernelRepair { outcome, superfluous, checks: oracle.checks })
}

/// Returns the cost of the barriers that the kernel has and that can go; `None` for a kernel that is too large to repair.
pub fn cost(request: &RepairRequest<'_>) -> Option<Cost> {
    let request = RepairRequest { aim: Aim::Minimize, ..*request };
    let space = PlacementSpace::new(&request, &BTreeSet::new(), false).ok()?;
    Some(space.cost_of(&space.given()))
}

fn outcome<E>(request: &RepairRequest<'_>, oracle: &mut Oracle<'_, E>) -> Result<RepairOutcome, E> {
    let too_many = |points| Ok(RepairOutcome::Refused(Obstacle::Points(points)));
    let space = match PlacementSpace::new(request, &BTreeSet::new(), false) {
        Ok(space) => space,
        Err(points) => return too_many(points),
    };
    let mut bare = checked(oracle, &space, &GroupPlacement::new(), Uniformity::Launch)?;
    if bare.is_clean {
        let is_least = true;
        let proof = Optimality { bare: &bare, is_least, skipped: &BTreeSet::new() };
        return Ok(mend(&space, &GroupPlacement::new(), &bare, proof));
    }
    if bare.others.iter().any(says_too_long) {
        return Ok(RepairOutcome::Refused(Obstacle::Findings(bare.others)));
    }
    let given = match request.aim {
        Aim::Insert => separated_by_given(request, oracle)?,
        Aim::Minimize => Vec::new(),
    };
    let strictest = strictest(&space, oracle)?;
    let (mut request, mut uniformity, mut through_objects) = (*request, strictest, false);
    let mut faulty = FaultyBarriers::new();
    loop {
        let accesses = bare.accesses().chain(given.iter().flat_map(|pair| pair.accesses));
        let space = match PlacementSpace::new(&request, &accesses.collect(), through_objects) {
            Ok(space) => space,
            Err(points) => return too_many(points),
        };
        let mut search = PlacementSearch::new(&space, &bare, oracle, uniformity, &mut faulty);
        search.guesses.extend(given.iter().map(|pair| space.groups_of(&space.cut(pair))));
        match search.run()? {
            // The places of one line might differ: some might be reached by all threads, and others not.
            SearchEnd::Outcome(RepairOutcome::Refused(Obstacle::Findings(_)))
                if space.has_copies() =>
            {
                request.is_source = &|_| false;
                uniformity = strictest;
                faulty.clear();
            }
            SearchEnd::Outcome(RepairOutcome::Refused(Obstacle::Findings(_)))
                if space.has_objects && !space.has_partial =>
            {
                (through_objects, uniformity) = (true, strictest);
            }
            SearchEnd::Outcome(outcome) => return Ok(outcome),
            SearchEnd::Pairs(more) => bare.pairs.extend(more),
            SearchEnd::NotUniform if space.has_objects && !space.has_partial => {
                through_objects = true;
            }
            SearchEnd::NotUniform => {
                uniformity = Uniformity::Launch;
                faulty.clear();
            }
        }
    }
}

/// Returns the strictest rule about barriers that a placement might keep: if not all threads reach the kernel's own barriers
/// together, they do so with no placement.
fn strictest<E>(space: &PlacementSpace<'_>, oracle: &mut Oracle<'_, E>) -> Result<Uniformity, E> {
    let none = GroupPlacement::new();
    let is_uniform =
        !space.has_objects || checked(oracle, space, &none, Uniformity::Cta)?.is_uniform();
    Ok(if is_uniform { Uniformity::Cta } else { Uniformity::Launch })
}

/// Returns the pairs that race without the barriers that the kernel has: where a new barrier separates them too, the old one
/// can go.
fn separated_by_given<E>(
    request: &RepairRequest<'_>,
    oracle: &mut Oracle<'_, E>,
) -> Result<Vec<RacingPair>, E> {
    let request = RepairRequest { aim: Aim::Minimize, ..*request };
    let space = PlacementSpace::new(&request, &BTreeSet::new(), false);
    match space.ok().filter(|space| !space.given().is_empty()) {
        Some(space) => {
            let none = GroupPlacement::new();
            Ok(checked(oracle, &space, &none, Uniformity::Launch)?.pairs)
        }
        None => Ok(Vec::new()),
    }
}
