//! Asks a solver outside of this library: hands it a script, and reads what it prints.

use super::model::Model;
use super::query::Answer;
use super::smtlib::smtlib;
use crate::symbolic::atom::Atom;
use crate::symbolic::expr::{Expr, Exprs};

/// A solver of SMT-LIB 2.6 scripts over bit-vectors, such as z3, cvc5 or Bitwuzla. The library starts no programs: who
/// calls it does.
pub trait SmtSolver: Send + Sync {
    /// Returns the name that reports give the solver.
    fn name(&self) -> &str;

    /// Runs a script with one `check-sat` and one `get-value`, and returns what the solver prints; `None` if it does not
    /// answer. Called from several threads at once.
    fn run(&self, script: &str) -> Option<String>;
}

/// Asks whether all conditions can hold. What the solver says about "no" is trusted; values that it gives are tested.
pub(crate) fn ask(solver: &dyn SmtSolver, exprs: &Exprs, conditions: &[Expr]) -> Answer {
    let script = smtlib(exprs, conditions);
    let Some(printed) = solver.run(&script.text) else { return Answer::Unknown };
    // An error message before the answer makes it no answer to this script.
    let (answer, values) = printed.trim_start().split_once('\n').unwrap_or((printed.trim(), ""));
    match answer.trim_end() {
        "unsat" => Answer::Unsatisfiable,
        "sat" => model(&script.atoms, values)
            .filter(|model| model.evaluate(exprs, conditions).iter().all(|value| *value == Some(1)))
            .map_or(Answer::Unknown, Answer::Satisfiable),
        _ => Answer::Unknown,
    }
}

/// Reads the response to `get-value`: `((a0 #x0f) (a1 #b1) (a2 (_ bv7 8)))`.
fn model(atoms: &[Atom], text: &str) -> Option<Model> {
    let mut model = Model::default();
    let mut words = text.split(|own: char| own.is_whitespace() || "()".contains(own));
    let mut words = words.by_ref().filter(|word| !word.is_empty());
    for _ in atoms {
        let atom = words.next()?.strip_prefix('a')?.parse::<usize>().ok()?;
        let value = match words.next()? {
            "_" => {
                let number = words.next()?.strip_prefix("bv")?.parse().ok()?;
                words.next()?;
                number
            }
            word => match word.split_at_checked(2)? {
                ("#x", digits) => u64::from_str_radix(digits, 16).ok()?,
                ("#b", digits) => u64::from_str_radix(digits, 2).ok()?,
                _ => return None,
            },
        };
        model.set(*atoms.get(atom)?, value);
    }
    Some(model)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbolic::expr::BinaryOperator;

    /// Prints the same text whatever the script is.
    struct Parrot(&'static str);

    impl SmtSolver for Parrot {
        fn name(&self) -> &'static str {
            "parrot"
        }

        fn run(&self, _: &str) -> Option<String> {
            Some(self.0.to_owned())
        }
    }

    /// What is made of an answer to the question whether `tid + ctaid` is 7, in 8 bits.
    fn answer(printed: &'static str) -> Answer {
        let exprs = &mut Exprs::default();
        let (a, b) = (exprs.atom(Atom::Tid(0), 8), exprs.atom(Atom::Ctaid(0), 8));
        let sum = exprs.binary(BinaryOperator::Add, a, b);
        let seven = exprs.constant(7, 8);
        let is_seven = exprs.binary(BinaryOperator::Eq, sum, seven);
        ask(&Parrot(printed), exprs, &[is_seven])
    }

    #[test]
    fn values_are_read_as_each_solver_prints_them_and_tested() {
        let values = |printed| match answer(printed) {
            Answer::Satisfiable(model) => {
                Some((model.value(Atom::Tid(0)), model.value(Atom::Ctaid(0))))
            }
            _ => None,
        };
        assert_eq!(values("sat\n((a0 #x05)\n (a1 #x02))\n"), Some((5, 2)));
        assert_eq!(values("\nsat\r\n((a1 #b00000001) (a0 (_ bv6 8)))"), Some((6, 1)));
        for wrong in [
            "sat\n((a0 #x05) (a1 #x03))",
            "sat\n((a0 #x05))",
            "sat",
            "sat\n((a0 #x05) (a9 #x02))",
            "sat\n((a0 5) (a1 2))",
            "sat\n((a0 \u{e9}\u{e9}) (a1 2))",
        ] {
            assert_eq!(answer(wrong), Answer::Unknown, "{wrong}");
        }
    }

    #[test]
    fn only_the_plain_word_is_a_refutation() {
        assert_eq!(answer("unsat\n(error \"no model\")\n"), Answer::Unsatisfiable);
        assert_eq!(answer("unsat"), Answer::Unsatisfiable);
        for other in ["", "unknown", "timeout", "unsatisfiable", "(error \"line 3\")\nunsat\n"] {
            assert_eq!(answer(other), Answer::Unknown, "{other}");
        }
    }
}
