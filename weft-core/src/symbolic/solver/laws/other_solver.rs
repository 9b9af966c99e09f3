//! Answers compared with those of z3, which has to be installed (`pip install z3-solver` brings it).

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::generate::Shape;
use super::{Answer, Conflicts, solve};
use crate::symbolic::expr::{Expr, Exprs};
use crate::symbolic::solver::smtlib::smtlib;
use crate::symbolic::split_mix::SplitMix;

const SHAPES: [Shape; 4] = [
    Shape { widths: &[8, 16, 32, 64], atoms: 3, mixes_widths: false },
    Shape { widths: &[1, 5, 8, 13], atoms: 3, mixes_widths: true },
    Shape { widths: &[16], atoms: 4, mixes_widths: false },
    Shape { widths: &[6, 12], atoms: 2, mixes_widths: false },
];

/// Returns z3's answer to each query, in order.
fn z3(queries: &[String]) -> Vec<String> {
    #[allow(
        clippy::disallowed_methods,
        reason = "the test asks another program; the library does not"
    )]
    let mut command = Command::new("z3");
    command.args(["-in", "-memory:4000"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("z3 is installed: pip install z3-solver");
    let mut input = child.stdin.take().expect("it is piped");
    let mut text = String::new();
    for query in queries {
        text.push_str(
            "(reset)
(set-option :timeout 1000)
",
        );
        text.push_str(query);
    }
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("z3 ends");
    writer.join().expect("no panic").expect("z3 reads all queries");
    let text = String::from_utf8(output.stdout).expect("z3 answers in words");
    text.lines().map(str::to_owned).collect()
}

#[test]
#[ignore = "needs z3 and takes minutes, to be run by name after a change to the solver"]
fn z3_gives_the_same_answers() {
    let (mut texts, mut answers) = (Vec::new(), Vec::new());
    for seed in 0..2000 {
        let mut random = SplitMix((1 << 40) + seed);
        let shape = &SHAPES[usize::try_from(seed % 4).unwrap()];
        let exprs = &mut Exprs::default();
        let depth = 1 + u32::try_from(random.below(3)).unwrap();
        let conditions: Vec<Expr> =
            (0..=random.below(4)).map(|_| shape.predicate(exprs, &mut random, depth)).collect();
        texts.push(smtlib(exprs, &conditions));
        answers.push(solve(exprs, &conditions, Conflicts(300)));
    }
    let others = z3(&texts);
    assert_eq!(others.len(), answers.len(), "one answer each: {others:?}");
    let (mut satisfiable, mut unsatisfiable) = (0, 0);
    for (seed, (answer, other)) in answers.iter().zip(&others).enumerate() {
        let text = &texts[seed];
        match (answer, other.as_str()) {
            (Answer::Satisfiable(_), "sat") => satisfiable += 1,
            (Answer::Unsatisfiable, "unsat") => unsatisfiable += 1,
            (Answer::Unknown, "sat" | "unsat") | (_, "unknown" | "timeout") => {}
            _ => panic!("seed {seed}: {answer:?}, but z3 says {other}\n{text}"),
        }
    }
    assert!(satisfiable > 500 && unsatisfiable > 200, "{satisfiable} and {unsatisfiable}");
}
