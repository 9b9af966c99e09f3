//! Answers compared with those of z3, which has to be installed (`pip install z3-solver` brings it).

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::generate::Shape;
use super::{Answer, Conflicts, solve};
use crate::symbolic::expr::{Expr, Exprs};
use crate::symbolic::solver::smtlib::smtlib;
use crate::symbolic::solver::{SmtSolver, ask};
use crate::symbolic::split_mix::SplitMix;

const SHAPES: [Shape; 4] = [
    Shape { widths: &[8, 16, 32, 64], atoms: 3, mixes_widths: false },
    Shape { widths: &[1, 5, 8, 13], atoms: 3, mixes_widths: true },
    Shape { widths: &[16], atoms: 4, mixes_widths: false },
    Shape { widths: &[6, 12], atoms: 2, mixes_widths: false },
];

/// Runs z3 for each script.
struct Z3;

impl SmtSolver for Z3 {
    fn name(&self) -> &'static str {
        "z3"
    }

    fn run(&self, script: &str) -> Option<String> {
        #[allow(
            clippy::disallowed_methods,
            reason = "the test asks another program; the library does not"
        )]
        let mut command = Command::new("z3");
        command.args(["-in", "-memory:4000", "timeout=1000"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("z3 is installed: pip install z3-solver");
        let mut input = child.stdin.take().expect("it is piped");
        input.write_all(script.as_bytes()).expect("z3 reads the script");
        drop(input);
        let output = child.wait_with_output().expect("z3 ends");
        Some(String::from_utf8(output.stdout).expect("z3 answers in words"))
    }
}

#[test]
#[ignore = "needs z3 and takes minutes, to be run by name after a change to the solver"]
fn z3_gives_the_same_answers() {
    let (mut satisfiable, mut unsatisfiable) = (0, 0);
    for seed in 0..2000 {
        let mut random = SplitMix((1 << 40) + seed);
        let shape = &SHAPES[usize::try_from(seed % 4).unwrap()];
        let exprs = &mut Exprs::default();
        let depth = 1 + u32::try_from(random.below(3)).unwrap();
        let conditions: Vec<Expr> =
            (0..=random.below(4)).map(|_| shape.predicate(exprs, &mut random, depth)).collect();
        let own = solve(exprs, &conditions, Conflicts(300));
        match (&own, ask(&Z3, exprs, &conditions)) {
            (Answer::Satisfiable(_), Answer::Satisfiable(_)) => satisfiable += 1,
            (Answer::Unsatisfiable, Answer::Unsatisfiable) => unsatisfiable += 1,
            (Answer::Unknown, _) | (_, Answer::Unknown) => {}
            (own, other) => {
                let text = smtlib(exprs, &conditions).text;
                panic!("seed {seed}: {own:?}, but z3 says {other:?}\n{text}")
            }
        }
    }
    assert!(satisfiable > 500 && unsatisfiable > 200, "{satisfiable} and {unsatisfiable}");
}
