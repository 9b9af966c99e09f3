//! Bounds of the values that loops carry from one iteration to the next, and that are known in no other way. They are
//! guessed, and those are kept that hold where the loop begins and, if all of them hold before an iteration, after it
//! (Flanagan, Leino: Houdini, an annotation assistant for ESC/Java, FME 2001).

use std::cell::RefCell;

use super::atom::{Atom, Expr, Variance};
use super::launched::LaunchedValues;
use super::ordinary_range::OrdinaryRanges;
use super::poly::Poly;
use super::required::RequiredFacts;
use super::thread::{CarriedBounds, SymbolicLoop, SymbolicThread};
use super::var_bounds::VarBounds;
use super::variance::Variances;
use super::view::{Copy, Views};

/// The most values of a kernel that bounds are guessed for.
const MOST: usize = 32;

/// Finds bounds of the values that the loops of a thread carry. They rest on no assumption about arithmetic.
pub(super) fn bound(
    thread: &mut SymbolicThread,
    launched: &LaunchedValues,
    variances: &Variances,
    required: &RequiredFacts,
) {
    thread.carried = guessed(thread);
    let induction = Induction { launched, variances, required };
    while !thread.carried.is_empty() {
        let kept = induction.kept(thread);
        if kept == thread.carried {
            return;
        }
        thread.carried = kept;
    }
}

/// A value that begins with a number might only grow, or only fall; any other might never be zero.
fn guessed(thread: &SymbolicThread) -> CarriedBounds {
    let carried = thread.loops.values().flat_map(|own| &own.carried);
    let guess = |(atom, values): (&Atom, &Vec<Expr>)| {
        let first = values.first().and_then(|first| thread.exprs.as_constant(*first));
        let first = first.map(i128::from);
        (*atom, VarBounds { least: first.or(Some(1)), most: first })
    };
    carried.take(MOST).map(guess).collect()
}

/// The proof that bounds hold in every iteration.
struct Induction<'a> {
    launched: &'a LaunchedValues,
    variances: &'a Variances,
    required: &'a RequiredFacts,
}

impl Induction<'_> {
    /// Returns those of the present bounds that hold where each loop begins, and after an iteration if all present ones
    /// hold before it.
    fn kept(&self, thread: &SymbolicThread) -> CarriedBounds {
        let mut kept = thread.carried.clone();
        for own in thread.loops.values() {
            let ways = std::iter::once(&own.entry).chain(&own.again);
            for (way, reach) in ways.enumerate() {
                self.keep(thread, (own, way), reach.holds, &mut kept);
            }
        }
        kept
    }

    /// Drops the bounds that might not hold where a loop is entered (way 0), or behind one of its back edges.
    fn keep(
        &self,
        thread: &SymbolicThread,
        (own, way): (&SymbolicLoop, usize),
        reach: Expr,
        kept: &mut CarriedBounds,
    ) {
        if !own.carried.keys().any(|atom| kept.contains_key(atom)) {
            return;
        }
        let Self { launched, variances, required } = *self;
        let ordinary = RefCell::new(OrdinaryRanges::of(thread, launched));
        let mut views =
            Views::new(thread, launched, variances, Variance::Launch, u64::MAX, &ordinary);
        views.require(required);
        views.assume(reach, Copy::First);
        for (atom, values) in &own.carried {
            let Some(bounds) = kept.get_mut(atom) else { continue };
            let value = values.get(way).map(|value| views.exact(*value, false, Copy::First));
            let holds = |room: Option<Poly>, views: &mut Views<'_>| {
                room.is_some_and(|room| views.is_positive(&room)) && views.assumed.is_empty()
            };
            bounds.least = bounds.least.filter(|least| {
                let room = value.as_ref().and_then(|own| own.minus(&Poly::constant(*least)));
                holds(room, &mut views)
            });
            bounds.most = bounds.most.filter(|most| {
                let room = value.as_ref().and_then(|own| Poly::constant(*most).minus(own));
                holds(room, &mut views)
            });
        }
        kept.retain(|_, bounds| bounds.least.is_some() || bounds.most.is_some());
    }
}
