//! Predicates as conjunctions, and what follows of two of them where others are known.

use std::collections::BTreeSet;

use super::expr::BinaryOperator::{And, Or};
use super::expr::{Expr, ExprNode, Exprs};

/// A predicate, and whether it is true.
pub(super) type Claim = (Expr, bool);

/// The predicates whose conjunction a predicate is.
pub(super) fn conjuncts(exprs: &Exprs, of: Expr) -> Vec<Expr> {
    let (mut parts, mut work, mut seen) = (Vec::new(), vec![of], BTreeSet::new());
    while let Some(part) = work.pop() {
        if !seen.insert(part) {
            continue;
        }
        match exprs.node(part) {
            ExprNode::Binary(And, a, b) if exprs.bits(part) == 1 => work.extend([a, b]),
            _ => parts.push(part),
        }
    }
    parts
}

/// The conjunction of predicates.
pub(super) fn conjunction(exprs: &mut Exprs, of: impl IntoIterator<Item = Expr>) -> Expr {
    let always = exprs.truth(true);
    of.into_iter().fold(always, |all, part| exprs.binary(And, all, part))
}

/// The disjunction of two predicates, as a conjunction of what both have in common and the rest.
pub(super) fn disjunction(exprs: &mut Exprs, a: Expr, b: Expr) -> Expr {
    let plain = exprs.binary(Or, a, b);
    if !matches!(exprs.node(plain), ExprNode::Binary(Or, ..)) {
        return plain;
    }
    let of_b: BTreeSet<Expr> = conjuncts(exprs, b).into_iter().collect();
    let (common, rest_a): (BTreeSet<Expr>, BTreeSet<Expr>) =
        conjuncts(exprs, a).into_iter().partition(|part| of_b.contains(part));
    if common.is_empty() {
        return plain;
    }
    let rest_b: Vec<Expr> = of_b.difference(&common).copied().collect();
    let (rest_a, rest_b) = (conjunction(exprs, rest_a), conjunction(exprs, rest_b));
    let rest = exprs.binary(Or, rest_a, rest_b);
    conjunction(exprs, common.into_iter().chain([rest]))
}

/// Of two claims of which at least one holds, returns one that surely holds: the other contradicts what is known, or it holds
/// in both cases of a known disjunction whose other case contradicts the other claim (resolution).
pub(super) fn resolved(
    exprs: &Exprs,
    [a, b]: [Claim; 2],
    known: impl IntoIterator<Item = Expr>,
) -> Option<Claim> {
    let known: Vec<Claim> = known.into_iter().map(|own| plain(exprs, own)).collect();
    let is_same = |x: Claim, y: Claim| {
        (x.0 == y.0 && x.1 == y.1) || (x.1 != y.1 && exprs.are_complements(x.0, y.0))
    };
    let contradict = |x: Claim, y: Claim| is_same((x.0, !x.1), y);
    [(a, b), (b, a)].into_iter().find_map(|(own, other)| {
        let settles = |known: Claim| {
            let cases = cases(exprs, known);
            contradict(known, other)
                || cases.is_some_and(|[x, y]| is_same(x, own) && contradict(y, other))
                || cases.is_some_and(|[x, y]| is_same(y, own) && contradict(x, other))
        };
        known.iter().any(|known| settles(*known)).then_some(own)
    })
}

/// The claim that a predicate holds, without negations around the predicate.
fn plain(exprs: &Exprs, mut of: Expr) -> Claim {
    let mut holds = true;
    while let ExprNode::Not(inner) = exprs.node(of) {
        (of, holds) = (inner, !holds);
    }
    (of, holds)
}

/// The two claims of which at least one holds, if the claim is that of a disjunction, or of a conjunction that does not hold.
fn cases(exprs: &Exprs, (of, holds): Claim) -> Option<[Claim; 2]> {
    match exprs.node(of) {
        ExprNode::Binary(Or, a, b) if holds => Some([(a, true), (b, true)]),
        ExprNode::Binary(And, a, b) if !holds => Some([(a, false), (b, false)]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::atom::Atom;
    use super::super::split_mix::SplitMix;
    use super::*;

    /// How many predicates the others are made of.
    const PLAIN: u8 = 3;

    fn random(exprs: &mut Exprs, dice: &mut SplitMix, depth: u32) -> Expr {
        if depth == 0 || dice.below(4) == 0 {
            let own = u8::try_from(dice.below(PLAIN.into())).unwrap();
            return exprs.atom(Atom::Tid(own), 1);
        }
        let a = random(exprs, dice, depth - 1);
        match dice.below(3) {
            0 => exprs.not(a),
            1 => {
                let b = random(exprs, dice, depth - 1);
                exprs.binary(And, a, b)
            }
            _ => {
                let b = random(exprs, dice, depth - 1);
                exprs.binary(Or, a, b)
            }
        }
    }

    #[test]
    fn what_is_resolved_holds_wherever_the_rest_does() {
        let (mut dice, mut found) = (SplitMix(5), 0);
        for round in 0..20_000 {
            let exprs = &mut Exprs::default();
            let claims = [0, 1].map(|_| (random(exprs, &mut dice, 1), dice.below(2) == 0));
            let known: Vec<Expr> =
                (0..=dice.below(3)).map(|_| random(exprs, &mut dice, 2)).collect();
            let Some(claim) = resolved(exprs, claims, known.iter().copied()) else { continue };
            found += 1;
            for values in 0..1_u8 << PLAIN {
                let of = |atom: Atom| {
                    let Atom::Tid(own) = atom else { unreachable!("there are no others") };
                    u64::from(values >> own & 1)
                };
                let holds = |(of_claim, is_true): Claim| {
                    exprs.value(of_claim, &of) == Some(u64::from(is_true))
                };
                let is_known = known.iter().all(|own| holds((*own, true)));
                if is_known && claims.into_iter().any(holds) {
                    assert!(holds(claim), "round {round}, values {values:b}");
                }
            }
        }
        assert!(found > 2000, "{found}");
    }
}
