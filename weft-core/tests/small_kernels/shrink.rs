//! Shrinks a kernel as long as it shows the same disagreement.

use crate::judge::{Case, Disagreement, judge};
use crate::kernel::{Instr, Stmt};

/// Returns the smallest case that was found for the claim, and the disagreement that it shows.
pub(crate) fn shrink(mut case: Case, mut shown: Box<Disagreement>) -> (Case, Box<Disagreement>) {
    case.inputs = vec![shown.inputs.clone()];
    let mut is_smaller = true;
    while is_smaller {
        is_smaller = false;
        for smaller in smaller(&case) {
            if let Err(disagreement) = judge(&smaller)
                && disagreement.claim == shown.claim
            {
                (case, shown, is_smaller) = (smaller, disagreement, true);
                break;
            }
        }
    }
    (case, shown)
}

fn smaller(case: &Case) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut with = |change: &dyn Fn(&mut Case)| {
        let mut smaller = case.clone();
        change(&mut smaller);
        if smaller.kernel != case.kernel || smaller.open != case.open {
            cases.push(smaller);
        }
    };
    for body in shorter(&case.kernel.body) {
        with(&|case| case.kernel.body.clone_from(&body));
    }
    with(&|case| case.kernel.grid = 1);
    for block in [2, 3, 4, 32, 33, 34] {
        with(&|case| case.kernel.block = block.min(case.kernel.block));
    }
    with(&|case| case.open.number = false);
    with(&|case| case.open.data = false);
    with(&|case| case.open.out = false);
    cases
}

/// Returns the bodies with one statement removed or simplified.
fn shorter(body: &[Stmt]) -> Vec<Vec<Stmt>> {
    let mut found = Vec::new();
    for (at, stmt) in body.iter().enumerate() {
        let replaced = |by: Vec<Stmt>| {
            let mut body = body.to_vec();
            body.splice(at..=at, by);
            body
        };
        found.push(replaced(Vec::new()));
        match stmt {
            Stmt::Do(Instr { guard: Some(_), what }) => {
                found.push(replaced(vec![Stmt::Do(Instr { guard: None, what: *what })]));
            }
            Stmt::Do(_) | Stmt::Label(_) | Stmt::Jump(..) => {}
            Stmt::Switch { index, arms } => {
                let index = *index;
                found.extend(arms.iter().map(|arm| replaced(arm.clone())));
                for (at, arm) in arms.iter().enumerate() {
                    for arm in shorter(arm) {
                        let mut arms = arms.clone();
                        arms[at] = arm;
                        found.push(replaced(vec![Stmt::Switch { index, arms }]));
                    }
                }
            }
            Stmt::Return(guard) | Stmt::Break(guard) => {
                if guard.is_some() {
                    found.push(replaced(vec![Stmt::Return(None)]));
                }
            }
            Stmt::If { pred, negated, then, otherwise } => {
                found.push(replaced(then.clone()));
                found.push(replaced(otherwise.clone()));
                let (pred, negated) = (*pred, *negated);
                for then in shorter(then) {
                    let otherwise = otherwise.clone();
                    found.push(replaced(vec![Stmt::If { pred, negated, then, otherwise }]));
                }
                for otherwise in shorter(otherwise) {
                    let then = then.clone();
                    found.push(replaced(vec![Stmt::If { pred, negated, then, otherwise }]));
                }
            }
            Stmt::Loop { count, tests_first, body } => {
                found.push(replaced(body.clone()));
                let (count, tests_first) = (*count, *tests_first);
                for body in shorter(body) {
                    found.push(replaced(vec![Stmt::Loop { count, tests_first, body }]));
                }
            }
        }
    }
    found
}
